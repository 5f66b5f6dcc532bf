"""Processes for workers: how one is started, given its task, read and ended, on every system.

`Spares` keeps a process ready, which has imported boto3 already where functions need it, so that a cold start, or
the start after a crash, is fast.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import leftover_processes

WORKER = Path(__file__).with_name("worker.py")
WINDOWS = os.name == "nt"

# What a Python process needs to start, by system; nothing else of the kernel's environment reaches a worker.
_NEEDED = (
    ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "PATH", "APPDATA", "NUMBER_OF_PROCESSORS")
    if WINDOWS
    else ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
)

_REFILL_PAUSE = 0.25
_LONGEST_PAUSE = 3.0
"""Seconds between the use of a spare and the start of the next, which must not compete with the runs under way: at
least so many, and at most so many while runs go on."""

_ENOUGH = 2
"""Workers that live, beside which none is kept ready: when one of them crashes another one is warm. A process takes
40 MB."""

_RUSH = 3.0
"""Seconds. Two uses of a spare within this time, and a process that ended, are a rush: workers crash one after the
other."""


def basic_environment() -> dict[str, str]:
    """The variables without which a Python process may not start on this system."""
    kept = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    if not WINDOWS:
        kept["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"])
    return kept


class WorkerProcess:
    """One operating-system process in a process group of its own.

    `command` replaces the bundled worker (the tests run AWS's client so); it then gets its environment at the start.
    `account` is the folder of the account that it works for, `mark` what all that it starts can be known by.
    """

    def __init__(
        self,
        command: list[str] | None = None,
        early: bool = False,
        environ: Mapping[str, str] | None = None,
        folder: str | None = None,
        account: str = "",
    ) -> None:
        self.mark = f"{account}/{uuid.uuid4().hex}"
        # -P: the folder of worker.py is not a place to import from.
        own = [sys.executable, "-X", "utf8", "-P", str(WORKER), *(["--early"] if early else [])]
        groups: dict[str, Any] = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}  # type: ignore[attr-defined]
            if WINDOWS
            else {"start_new_session": True}
        )
        self._popen = subprocess.Popen(
            command or own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**(basic_environment() if environ is None else environ), leftover_processes.MARK: self.mark},
            cwd=folder,
            bufsize=0,
            **groups,
        )
        assert self._popen.stdout is not None
        self._output = self._popen.stdout.fileno()
        if not WINDOWS:
            os.set_blocking(self._output, False)
        self._ending = threading.Lock()
        self._ended = False

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._popen.poll()

    def assign(self, assignment: Mapping[str, Any]) -> None:
        """Tell the process what it is for. Raises OSError when it is gone."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(json.dumps(assignment).encode() + b"\n")

    def read_output(self) -> bytes:
        """What was written to standard output or error since the last time, without waiting."""
        pieces = []
        with contextlib.suppress(OSError):
            while (size := self._available()) and (piece := os.read(self._output, size)):
                pieces.append(piece)
                if len(pieces) >= 64:  # come back later: output must not keep the reader from the deadline
                    break
        return b"".join(pieces)

    def _available(self) -> int:
        if not WINDOWS:
            return 65536
        import _winapi
        import msvcrt

        return int(_winapi.PeekNamedPipe(msvcrt.get_osfhandle(self._output), 0)[0])  # type: ignore[attr-defined]

    def wait(self, timeout: float) -> int | None:
        """Wait for the end. Returns the exit status, None when the time is over."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the process and all that it started. May be called again and from any thread."""
        with self._ending:
            if not self._ended:
                # Once more after the process itself has ended: what it started is still in its group. Not later, when
                # its number may belong to somebody else.
                self._ended = self._popen.poll() is not None
                self._kill_group()

    def _kill_group(self) -> None:
        if not WINDOWS:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            return
        with contextlib.suppress(OSError):
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self.pid)], capture_output=True, check=False)
            self._popen.kill()

    def close(self) -> None:
        """End the process, collect its status and give its pipes back."""
        self.kill()
        self.wait(5)
        for stream in (self._popen.stdin, self._popen.stdout):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()


class Spares:
    """Keeps `count` processes ready, twice as many in a rush. They start in the background, from a thread of its own.

    None starts before `expect_runs` or the first use: an account without functions has no process but its own.
    `early` says whether the next one shall import boto3 while it waits; that takes longer than all the rest.
    So a worker that replaces a crashed one has done its imports beside the work of the others, and not while a
    message waits for it.
    """

    def __init__(
        self,
        count: int = 1,
        busy: Callable[[], bool] = lambda: False,
        account: str = "",
        early: Callable[[], bool] = lambda: True,
    ) -> None:
        self._early = early
        self._count = count
        self._busy = busy
        self._account = account
        self._ready: list[WorkerProcess] = []
        self._changed = threading.Condition()
        self._taken = 0.0
        self._in_use: list[WorkerProcess] = []
        self._expecting = False
        self._rush_until = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._keep, name="once-spares", daemon=True)
        self._thread.start()

    def take(self) -> WorkerProcess:
        """A process without a task: a spare one, or a new one when there is none."""
        with self._changed:
            now = time.monotonic()
            died = [process for process in self._in_use if process.returncode is not None]
            if died and now - self._taken < _RUSH:
                self._rush_until = now + _RUSH
            self._taken = now
            spare = self._ready.pop(0) if self._ready else None
            self._in_use = [process for process in self._in_use if process not in died]
            self._changed.notify()
        if spare is not None and spare.returncode is not None:
            spare.close()
            spare = None
        process = spare or WorkerProcess(account=self._account)
        with self._changed:
            self._in_use.append(process)
            self._changed.notify()
        return process

    def look(self) -> None:
        """Say that a process that was taken has ended."""
        with self._changed:
            self._changed.notify()

    def close(self) -> None:
        """End the spares and start no more."""
        with self._changed:
            self._closed = True
            ready, self._ready = self._ready, []
            self._changed.notify()
        self._thread.join(timeout=5)
        for spare in ready:
            spare.close()

    def expect_runs(self) -> None:
        """Say that functions will run: a first process starts."""
        with self._changed:
            self._expecting = True
            self._changed.notify()

    def _wanted(self) -> int:
        if not (self._expecting or self._taken):
            return 0
        rush = time.monotonic() < self._rush_until
        if not rush and sum(process.returncode is None for process in self._in_use) >= _ENOUGH:
            return 0
        return self._count * 2 if rush else self._count

    def _pause(self) -> None:
        """After the use of a spare, leave the machine to the runs. A rush ends the pause."""
        end = time.monotonic() + _LONGEST_PAUSE
        while self._taken and time.monotonic() < end:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._wanted() > self._count, _REFILL_PAUSE)
                if self._closed or self._wanted() > self._count:
                    return
            if not self._busy():
                return

    def _keep(self) -> None:
        """Start what is missing, end what a rush left over."""
        while self._count:
            with self._changed:
                while not self._closed and len(self._ready) == self._wanted():
                    rush = self._rush_until - time.monotonic()
                    self._changed.wait(rush if rush > 0 else None)
            self._pause()
            with self._changed:
                if self._closed:
                    return
                if len(self._ready) == self._wanted():  # the rush ended meanwhile
                    continue
                surplus = self._ready.pop() if len(self._ready) > self._wanted() else None
            if surplus is not None:
                surplus.close()
                continue
            try:
                spare = WorkerProcess(early=self._early(), account=self._account)
            except OSError:  # no more processes on this machine: a cold start will say so
                return
            with self._changed:
                if not self._closed:
                    self._ready.append(spare)
                    continue
            spare.close()  # type: ignore[unreachable]  # another thread closed the pool meanwhile
            return


def peak_memory(pid: int) -> int:
    """The largest resident size of a process so far in MB, 0 when it cannot be told."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) // 1024
    except (OSError, ValueError):
        pass
    with contextlib.suppress(Exception):
        import psutil  # comes with ipykernel

        return int(psutil.Process(pid).memory_info().rss // 1_048_576)
    return 0
