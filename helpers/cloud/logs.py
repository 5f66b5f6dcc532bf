"""What a function prints, on its way into CloudWatch Logs.

`OutputReader` cuts the bytes of a worker's standard output into log events: a line is an event, a frame (a log
record, an unhandled exception) is one event with all its lines. What is too much is dropped, and an event says so.
`LogStream` writes events into moto's logs backend, several at a time.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from . import permissions
from .access_needs import log_arn
from .environment import ACCOUNT_ID, REGION
from .worker import FRAME as WHOLE_FRAME

if TYPE_CHECKING:
    from moto.logs.models import LogStream as MotoStream

EVENT_LIMIT = 262_144 - 26
"""Bytes of one log event (CloudWatch Logs quotas: 256 KB, of which 26 bytes are overhead)."""

RUN_LIMIT = 4 * 1024 * 1024
"""Bytes of output kept per run; a handler that prints without end must not fill the memory of the kernel."""

GROUP_LIMIT = 64 * 1024 * 1024
"""Bytes of output that a log group keeps; AWS keeps all. The kernel's memory is the learner's."""

_EVENT_COST = 64
"""Bytes that an event counts beside its text, so that short lines are bounded too."""

FRAME = WHOLE_FRAME[:3]
"""How a frame begins. The fourth byte tells AWS's platform format and level of the record."""

_HEAD = len(WHOLE_FRAME) + 12


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One log event: its time in milliseconds since the epoch, and its text with the line's end."""

    at: int
    text: str


class OutputReader:
    """Cuts the output of one worker into events. Not thread-safe: one thread feeds it."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._pending = bytearray()
        self._events: list[LogEvent] = []
        self._size = 0
        self._dropped = 0
        self._line_dropped = 0
        self._framed = 0
        self._frame_at = 0

    def feed(self, data: bytes) -> None:
        """Take in more output."""
        self._pending += data
        while self._pending:
            if self._framed:
                if not self._continue_frame():
                    return
            elif not self._next():
                return

    def take(self) -> list[LogEvent]:
        """The events that are complete and were not taken yet."""
        events, self._events = self._events, []
        return events

    def finish(self) -> list[LogEvent]:
        """The same at the end of a run: what is unfinished counts too, and the limit begins anew.

        A frame is unfinished when a process was killed while it wrote, or when a handler's bytes only look like one.
        """
        self._line(bytes(self._pending))
        self._pending.clear()
        self._framed = 0
        if self._dropped:
            self._append(self._milliseconds(), _note(self._dropped, f"a run keeps {RUN_LIMIT} bytes"))
        self._size = self._dropped = 0
        return self.take()

    def _next(self) -> bool:
        """Cut one line, or begin a frame. Returns whether there is more to do."""
        if self._pending.startswith(FRAME):
            return self._begin_frame()
        newline = self._pending.find(b"\n")
        frame = self._pending.find(FRAME, 0, newline if newline >= 0 else len(self._pending))
        end = frame if frame >= 0 else newline + 1
        if not end:
            self._shorten()
            return False
        self._line(bytes(self._pending[:end]))
        del self._pending[:end]
        return True

    def _begin_frame(self) -> bool:
        if len(self._pending) < _HEAD:
            return False
        size = int.from_bytes(self._pending[4:8], "big")
        self._frame_at = int.from_bytes(self._pending[8:16], "big") // 1000
        del self._pending[:_HEAD]
        self._framed = size
        if not size:
            self._append(self._frame_at, "")
        return True

    def _continue_frame(self) -> bool:
        """Finish the frame when all of it is there; of a very large one only the beginning is kept."""
        excess = len(self._pending) - EVENT_LIMIT
        if len(self._pending) < self._framed:
            if excess > 0:
                del self._pending[EVENT_LIMIT:]
                self._framed -= excess
                self._line_dropped += excess
            return False
        text = bytes(self._pending[: self._framed])
        del self._pending[: self._framed]
        self._framed = 0
        self._event(self._skipped(self._frame_at), text)
        return True

    def _shorten(self) -> None:
        """A line without end: keep its beginning only. The last bytes may be the first ones of a frame's mark."""
        excess = len(self._pending) - EVENT_LIMIT - len(FRAME)
        if excess > 0:
            del self._pending[EVENT_LIMIT : EVENT_LIMIT + excess]
            self._line_dropped += excess

    def _line(self, data: bytes) -> None:
        if data or self._line_dropped:
            self._event(self._milliseconds(), data)

    def _event(self, at: int, data: bytes) -> None:
        dropped, self._line_dropped = self._line_dropped, 0
        if len(data) > EVENT_LIMIT:
            dropped += len(data) - EVENT_LIMIT
            data = data[:EVENT_LIMIT]
        if self._size + len(data) + _EVENT_COST > RUN_LIMIT:
            self._dropped += len(data) + dropped
            return
        self._size += len(data) + _EVENT_COST
        self._append(at, data.decode("utf-8", "ignore" if dropped else "replace"))
        if dropped:
            self._append(at, _note(dropped, f"a log event holds {EVENT_LIMIT} bytes"))

    def _append(self, at: int, text: str) -> None:
        self._events.append(LogEvent(at, text if text.endswith("\n") else text + "\n"))

    def _milliseconds(self) -> int:
        return int(self._now() * 1000)

    def _skipped(self, at: int) -> int:
        """A worker's time in the account's time."""
        return at + int((self._now() - time.time()) * 1000)


def _note(count: int, why: str) -> str:
    return f"[once] {count} bytes of output were dropped: {why}."


# --- the lines of the platform (aws-facts: "log lines") ----------------------------------------------------


def init_line(runtime: str) -> str:
    """The line that a cold start writes. AWS gives a runtime's version and its ARN; the account has one of each."""
    version = runtime.replace("python", "python:")
    return f"INIT_START Runtime Version: {version}.v1\tRuntime Version ARN: {runtime_arn(runtime)}\n"


def runtime_arn(runtime: str) -> str:
    """The ARN of a runtime's version."""
    return f"arn:aws:lambda:{REGION}::runtime:{hashlib.sha256(runtime.encode()).hexdigest()}"


def report_line(
    request_id: str,
    milliseconds: float,
    memory: int,
    used: int,
    init: float | None,
    status: str = "",
    error_type: str = "",
) -> str:
    """The REPORT line. Since August 2025 AWS bills a cold start's initialisation too."""
    billed = -int(-(milliseconds + (init or 0)) // 1)
    fields = [
        f"REPORT RequestId: {request_id}",
        f"Duration: {milliseconds:.2f} ms",
        f"Billed Duration: {billed} ms",
        f"Memory Size: {memory} MB",
        f"Max Memory Used: {used} MB",
    ]
    if init is not None:
        fields.append(f"Init Duration: {init:.2f} ms")
    if status:
        fields.append(f"Status: {status}")
    if error_type:
        fields.append(f"Error Type: {error_type}")
    return "\t".join(fields) + "\t\n"


def stream_name(now: float, version: str, unique: str) -> str:
    """The name of a worker's log stream, as ``2026/11/29/[$LATEST]0123456789abcdef0123456789abcdef``."""
    day = datetime.fromtimestamp(now, UTC).strftime("%Y/%m/%d")
    return f"{day}/[{version}]{unique}"


def in_order(events: list[LogEvent]) -> list[LogEvent]:
    """The same events with times that do not run back.

    A line has the time at which it was read, a frame the earlier one at which it was written; who reads the log gets
    it sorted by time.
    """
    at = events[-1].at if events else 0
    ordered = []
    for event in reversed(events):
        at = min(at, event.at)
        ordered.append(event if event.at == at else LogEvent(at, event.text))
    return ordered[::-1]


def _last_written(stream: MotoStream) -> datetime:
    """When a stream that holds events got its last ones."""
    assert stream.last_ingestion_time is not None
    return stream.last_ingestion_time


def _forget_half(stream: MotoStream) -> int:
    """Drop the older half of a stream's bytes. Returns how many went."""
    count = size = 0
    for event in stream.events:
        if size >= stream.stored_bytes // 2:
            break
        size += len(event.message)
        count += 1
    if count:
        last = stream.events[count - 1]
        last.message = _note(size, f"a log group keeps {GROUP_LIMIT} bytes")
        del stream.events[: count - 1]
        stream.stored_bytes -= size - len(last.message)
    return size


class LogStream:
    """The log stream of one worker in moto's logs backend, written with the rights of the function's role.

    Without `logs:PutLogEvents`, or without the right to make what is missing, nothing arrives and the function runs
    all the same (Lambda Developer Guide, "Sending Lambda function logs to CloudWatch Logs").
    """

    def __init__(self, group: str, name: str, lock: threading.RLock, role: str) -> None:
        self.group, self.name = group, name
        self._lock = lock
        self._role = role

    def write(self, events: list[LogEvent]) -> None:
        """Append events. A group or stream that somebody deleted comes back, as on AWS."""
        if not events or not self._may("PutLogEvents"):
            return
        members = [{"timestamp": event.at, "message": event.text} for event in events]
        with self._lock:
            stream = self._stream()
            if stream is not None:
                stream.put_log_events(members)
                self._bound()

    def _bound(self) -> None:
        """Let the oldest events of the group go when it holds too much. An event in their place says so."""
        from moto.logs.models import logs_backends

        streams = logs_backends[ACCOUNT_ID][REGION].groups[self.group].streams
        held = sum(stream.stored_bytes for stream in streams.values())
        if held <= GROUP_LIMIT:
            return
        written = [stream for stream in streams.values() if stream.events]
        for stream in sorted(written, key=_last_written):
            if held <= GROUP_LIMIT // 2:
                break
            held -= _forget_half(stream)

    def _may(self, action: str) -> bool:
        return permissions.decide(self._role, f"logs:{action}", log_arn(self.group, self.name)) == "allowed"

    def _stream(self) -> MotoStream | None:
        from moto.logs.models import logs_backends

        backend = logs_backends[ACCOUNT_ID][REGION]
        group = backend.groups.get(self.group)
        if group is None:
            if not self._may("CreateLogGroup"):
                return None
            backend.create_log_group(self.group, {})
            group = backend.groups[self.group]
        if self.name not in group.streams:
            if not self._may("CreateLogStream"):
                return None
            group.create_log_stream(self.name)
        return group.streams[self.name]
