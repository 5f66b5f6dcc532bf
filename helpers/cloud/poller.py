"""Delivery from queues to functions, as an event source mapping of AWS does it.

One thread looks for messages: when a call may have changed a queue, when a run ended, when time was skipped,
and when the next message becomes visible. Each batch runs in a thread of its own, which then fetches the next
batch of its mapping. Behaviour: the facts' table "Queue to function", and the Lambda Developer Guide,
"Using Lambda with Amazon SQS".
"""

from __future__ import annotations

import os
import queue as queues
import threading
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from moto.moto_api._internal import mock_random
from moto.sqs.models import Message, Queue

from . import event_filter, permissions, sqs_queue, sqs_records
from .boundary import READS, Boundary, Changed
from .clock import Clock
from .environment import REGION
from .exchange import Exchange
from .journal import (
    Caller,
    Journal,
    MessageAcknowledged,
    MessageDeadLettered,
    MessageReceived,
    MessageReturned,
)
from .mapping import REPORT, TRANSITIONS, Mapping, find_function
from .responses import Response

if TYPE_CHECKING:
    from .lambda_runtime import RunResult

# Calls of these services put no message into a queue, and handlers make many of them.
_UNRELATED = {"dynamodb", "logs", "sts"}

# What happens to single messages: it changes nothing for mappings that are at work already.
_MESSAGES = {"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"}

# Seconds added to a timed wake, so that it never comes just before the moment it waits for.
_AFTER = 0.002


# Seconds without the start or the end of a run after which a mapping with waiting messages starts one run more.
# Runs that end quickly are followed by the next in the same warm worker: five cold workers at once would take
# the machine away from the messages. Five slow runs are under way after half a second.
_PATIENCE = 0.1

# Runs take longer on a machine that is busy with something else; then more workers only make it worse. So a mapping
# waits for several times what its runs have lately taken, up to this many times the patience.
_RUNS = 8
_MOST_PATIENT = 4

# Seconds for which messages must wait before quick runs get company too, up to one for each core.
_CROWDED = 2.0
_CORES = os.cpu_count() or 1

# Reasons of MessageReturned when the runtime did not start a run, by its exception.
_NOT_RUN = {"Throttled": "throttled", "FunctionMissing": "no function"}


class Invoker(Protocol):
    """The part of the runtime that the poller uses."""

    def invoke(self, function_name: str, payload: bytes, source: str, request_id: str | None) -> RunResult: ...


@dataclass(slots=True)
class Entry:
    """A message of a batch, the handle it was received with, and its record as JSON text."""

    message: Message
    handle: str
    text: bytes


@dataclass(slots=True)
class Batch:
    """Messages that one run gets, by id. `deadline` is when its batching window ends, in milliseconds."""

    request_id: str
    deadline: float
    entries: dict[str, Entry] = field(default_factory=dict)
    size: int = 0

    def add(self, entry: Entry) -> None:
        """Take a message in. One that came again while the window was open replaces what came before."""
        self.entries[entry.message.id] = entry
        self.size += len(entry.text)


@dataclass(slots=True)
class Lane:
    """A mapping at work: its batches under way, and the one that it gathers in its batching window.

    `width` is how many batches it runs at once without hesitation, `moved` when a run last started or ended, and
    `crowded` since when messages have been waiting for a run to end (both in seconds of `time.monotonic`). `pace` is
    how many seconds its runs have lately taken.
    """

    mapping: Mapping
    running: int = 0
    gathering: Batch | None = None
    width: int = 1
    moved: float = 0.0
    crowded: float | None = None
    pace: float = 0.0

    def ran(self, seconds: float) -> None:
        """Take note of how long a run took."""
        self.pace += (seconds - self.pace) / 4 if self.pace else seconds

    @property
    def patience(self) -> float:
        """Seconds without the start or the end of a run after which another one may start beside."""
        return min(max(_PATIENCE, _RUNS * self.pace), _MOST_PATIENT * _PATIENCE)

    def has_room(self) -> bool:
        """Whether a batch may start now. May widen the lane."""
        if self.running >= self.mapping.settings.concurrency:
            return False
        if self.running < self.width:
            return True
        now = time.monotonic()
        self.crowded = self.crowded or now
        stuck = now - self.moved >= self.patience
        crowded = now - self.crowded >= _CROWDED and self.width < _CORES
        if stuck or crowded:
            self.width, self.crowded = self.running + 1, None
        return stuck or crowded

    def hesitates(self) -> float:
        """Milliseconds until `has_room` may say something else although no run ends."""
        left = self.moved + self.patience - time.monotonic() if self.running >= self.width else 0.0
        return max(0.0, left) * 1000


class Poller:
    """Delivers messages for the mappings it was given, until `close`.

    `lanes` and everything in them belong to the boundary's lock.
    """

    def __init__(
        self,
        boundary: Boundary,
        journal: Journal,
        clock: Clock,
        runtime: Invoker,
        loses_acknowledgement: Callable[[str, Caller, str], bool],
    ) -> None:
        self.lanes: dict[str, Lane] = {}
        self._boundary = boundary
        self._journal = journal
        self._clock = clock
        self._runtime = runtime
        self._loses_acknowledgement = loses_acknowledgement
        self._wake = Changed()
        self._jobs: queues.SimpleQueue[tuple[Lane, Batch] | None] = queues.SimpleQueue()
        self._workers: list[threading.Thread] = []
        self._closed = False
        self._at_work = False
        self._rights: dict[tuple[str, str, str], bool] = {}
        self._rights_at = 0
        boundary.after_answer.append(self._look_after)
        clock.on_skip(self._wake.notify)
        self._thread = threading.Thread(target=self._watch, name="once-poller", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Say that a mapping or a queue may have changed."""
        self._wake.notify()

    def close(self) -> None:
        """Deliver nothing more. Runs under way end with the runtime; their messages stay hidden."""
        self._closed = True
        self._wake.notify()
        for _ in self._workers:
            self._jobs.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def gathered(self, lane: Lane) -> int:
        """How many messages a mapping holds in its batching window."""
        return len(lane.gathering.entries) if lane.gathering else 0

    def waiting(self, lane: Lane) -> int:
        """How many messages the mapping would take now, were its concurrency not used up."""
        queue = self._source(lane)
        return sqs_queue.waiting(queue, self._now()) if queue is not None else 0

    def _look_after(self, exchange: Exchange, response: Response) -> None:
        if exchange.service in _UNRELATED or exchange.action.startswith(READS):
            return
        if exchange.service == "iam":
            self._rights_at = 0
        if not (self._at_work and exchange.action in _MESSAGES):
            self._wake.notify()

    def _now(self) -> float:
        return self._clock.now() * 1000

    def _watch(self) -> None:
        while not self._closed:
            seen = self._wake.count
            try:
                timeout = self._deliver()
            except Exception:
                # Silence would look like an empty queue. The next change tries again.
                traceback.print_exc()
                timeout = 1.0
            self._wake.wait(seen, timeout)

    def _deliver(self) -> float | None:
        """Start every batch that may start. Returns the seconds until time brings more to do, or None."""
        moved = False
        with self._boundary.lock:
            for lane in list(self.lanes.values()):
                moved |= self._move(lane)
                while not self._closed and (batch := self._take(lane)) is not None:
                    self._start(lane, batch)
            times = [moment for lane in self.lanes.values() if (moment := self._next(lane)) is not None]
            timeout = max(0.0, (min(times) - self._now()) / 1000) + _AFTER if times else None
            # The end of a run takes the next batch along. Until then a message that comes wakes nobody, and whether
            # the run is slow is asked when its patience is over.
            self._at_work = bool(self.lanes) and all(lane.running >= lane.width for lane in self.lanes.values())
            if self._at_work:
                patience = min(lane.patience for lane in self.lanes.values()) + _AFTER
                timeout = patience if timeout is None else min(timeout, patience)
        if moved:
            self._boundary.changed.notify()
        return timeout

    def _move(self, lane: Lane) -> bool:
        """Let a mapping arrive where its transition leads, once nothing of what went before is under way."""
        mapping = lane.mapping
        if mapping.state not in TRANSITIONS:
            return False
        if mapping.enabled and mapping.state != "Deleting":
            mapping.state = "Enabled"
            return True
        # What was gathered is not delivered any more: it comes again after its visibility timeout.
        lane.gathering = None
        if lane.running:
            return False
        if mapping.state == "Deleting":
            del self.lanes[mapping.uuid]
        mapping.state = "Disabled" if mapping.state != "Deleting" else "Deleted"
        return True

    def _source(self, lane: Lane) -> Queue | None:
        """The queue, if messages are delivered from it: the mapping is on, queue and function exist, its role may."""
        mapping = lane.mapping
        if mapping.state != "Enabled" or not mapping.enabled or not self._may(mapping, "ReceiveMessage"):
            return None
        return sqs_queue.find(mapping.queue_arn)

    def _may(self, mapping: Mapping, action: str) -> bool:
        """Whether the function exists and its role has a right on the queue.

        It is asked for each message, so an answer holds until somebody changes a policy, at most for a second.
        """
        function = find_function(mapping.settings.function_arn)
        if function is None:
            return False
        second = int(self._clock.now())
        if second != self._rights_at:
            self._rights.clear()
            self._rights_at = second
        asked = (function.role, action, mapping.queue_arn)
        if asked not in self._rights:
            decision = permissions.decide(function.role, f"sqs:{action}", mapping.queue_arn, self._clock.now())
            self._rights[asked] = decision == "allowed"
        return self._rights[asked]

    def _take(self, lane: Lane) -> Batch | None:
        """The mapping's next batch, if it is complete and may run. Counts it as running."""
        settings = lane.mapping.settings
        queue = self._source(lane)
        now = self._now()
        if queue is None or not sqs_queue.has_delivery(queue, now):
            lane.crowded = None
            if queue is None or lane.gathering is None:
                return None
        if not lane.has_room():
            return None
        batch = lane.gathering or Batch("", now + settings.window * 1000)
        full = self._fill(lane, queue, batch, now)
        if not batch.entries:
            return None
        if not full and now < batch.deadline:
            lane.gathering = batch
            return None
        lane.gathering = None
        lane.running += 1
        lane.moved = time.monotonic()
        return batch

    def _fill(self, lane: Lane, queue: Queue, batch: Batch, now: float) -> bool:
        """Receive into a batch. Returns whether it can take no more."""
        settings = lane.mapping.settings
        full, accepted, size = False, bool(batch.entries), batch.size

        def fits(message: Message) -> bool:
            nonlocal full, accepted, size
            size += sqs_records.largest_size(message)
            full = accepted and size > sqs_records.MAXIMUM_PAYLOAD
            accepted = True
            return not full

        while not full and len(batch.entries) < settings.batch_size:
            received = sqs_queue.receive(queue, settings.batch_size - len(batch.entries), now, fits)
            self._record_dead_lettered(queue, received)
            if not received.messages:
                break
            batch.request_id = batch.request_id or str(mock_random.uuid4())
            for message in received.messages:
                self._add(lane, queue, batch, message, now)
            size = batch.size
        return full or len(batch.entries) >= settings.batch_size

    def _add(self, lane: Lane, queue: Queue, batch: Batch, message: Message, now: float) -> None:
        """Put a message that was received into the batch, or delete it when no filter lets it pass."""
        mapping, handle = lane.mapping, str(message.receipt_handle)
        caller = self._caller(mapping, batch)
        self._journal.record(
            MessageReceived,
            queue=queue.name,
            message_id=message.id,
            receive_count=message.approximate_receive_count,
            caller=caller,
        )
        members = sqs_records.record(message, mapping.queue_arn, REGION, mapping.fifo)
        if event_filter.matches(mapping.settings.patterns, members):
            batch.add(Entry(message, handle, sqs_records.encode(members)))
        elif sqs_queue.delete(queue, message, handle, now):
            self._journal.record(MessageAcknowledged, queue=queue.name, message_id=message.id, caller=caller)

    def _record_dead_lettered(self, queue: Queue, received: sqs_queue.Received) -> None:
        for message in received.dead_lettered:
            self._journal.record(
                MessageDeadLettered,
                queue=queue.name,
                message_id=message.id,
                dead_letter_queue=received.dead_letter_queue,
            )
        if received.dead_lettered:
            # The dead-letter queue may have a mapping of its own, and long polls may wait for it.
            self._wake.notify()
            self._boundary.changed.notify()

    def _caller(self, mapping: Mapping, batch: Batch) -> Caller:
        return Caller("service", mapping.uuid, batch.request_id)

    def _next(self, lane: Lane) -> float | None:
        """When time alone brings the mapping more to do, in milliseconds; None if it does not."""
        if lane.running >= lane.mapping.settings.concurrency:
            return None
        queue = self._source(lane)
        if queue is None:
            return None
        times = [lane.gathering.deadline] if lane.gathering else []
        delivery = sqs_queue.next_delivery(queue, self._now())
        if delivery is not None:
            times.append(delivery + lane.hesitates())
        return min(times, default=None)

    def _start(self, lane: Lane, batch: Batch) -> None:
        if sum(each.running for each in self.lanes.values()) > len(self._workers):
            worker = threading.Thread(target=self._work, name=f"once-poller-{len(self._workers)}", daemon=True)
            self._workers.append(worker)
            worker.start()
        self._jobs.put((lane, batch))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            lane, batch = job
            following: Batch | None = batch
            while following is not None:
                try:
                    following = self._run(lane, following)
                except Exception:
                    traceback.print_exc()
                    following = None

    def _run(self, lane: Lane, batch: Batch) -> Batch | None:
        """Run one batch and settle its messages. Returns the next batch, which then runs in this thread."""
        settings = lane.mapping.settings
        payload = sqs_records.event(entry.text for entry in batch.entries.values())
        begun = time.monotonic()
        try:
            result = self._runtime.invoke(settings.function, payload, source="mapping", request_id=batch.request_id)
            failed, reason = verdict(result, REPORT in settings.response_types, batch.entries)
        except Exception as nothing_ran:
            # The function was throttled or deleted, or the account is closing: the messages come again.
            if self._closed:
                return None
            failed, reason = set(batch.entries), _NOT_RUN.get(type(nothing_ran).__name__, "not run")
        following = None
        with self._boundary.lock:
            try:
                self._settle(lane, batch, failed, reason)
            finally:
                lane.running -= 1
                lane.moved = time.monotonic()
                lane.ran(lane.moved - begun)
                if not self._closed:
                    following = self._take(lane)
        self._boundary.changed.notify()
        if following is None or failed:
            self._wake.notify()
        return following

    def _settle(self, lane: Lane, batch: Batch, failed: set[str], reason: str) -> None:
        """Delete what succeeded; what failed stays hidden until its visibility timeout ends."""
        queue = sqs_queue.find(lane.mapping.queue_arn)
        if queue is None:
            return
        now = self._now()
        caller = self._caller(lane.mapping, batch)
        # A function that was deleted meanwhile had the right when its run began.
        exists = find_function(lane.mapping.settings.function_arn) is not None
        if exists and len(failed) < len(batch.entries) and not self._may(lane.mapping, "DeleteMessage"):
            failed, reason = set(batch.entries), "no permission"
        for message_id, entry in batch.entries.items():
            if message_id in failed:
                if entry.message in queue.pending_messages:
                    self._journal.record(MessageReturned, queue=queue.name, message_id=message_id, reason=reason)
            elif entry.message in queue.pending_messages and self._loses_acknowledgement(
                queue.name, caller, entry.message.body
            ):
                continue
            elif sqs_queue.delete(queue, entry.message, entry.handle, now):
                self._journal.record(MessageAcknowledged, queue=queue.name, message_id=message_id, caller=caller)


def verdict(result: RunResult, reports: bool, entries: Collection[str]) -> tuple[set[str], str]:
    """The ids of the messages that a run did not handle, and why: the run's outcome, or ``reported``."""
    if result.function_error or result.outcome != "succeeded":
        return set(entries), str(result.outcome)
    if not reports:
        return set(), ""
    reported = sqs_records.failed_messages(result.payload, entries)
    return (set(entries), "bad report") if reported is None else (reported, "reported")
