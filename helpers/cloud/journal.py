"""The journal: what happened in the account, in order, as typed and frozen events.

The live view, the checks and the tests read it. It is a bounded ring: when it is full the oldest events
make room, and `Journal.dropped` says how many did.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

Item = Mapping[str, Any]
"""An item or a key as DynamoDB JSON, for example ``{"id": {"S": "a"}, "quantity": {"N": "4"}}``."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who made a call.

    `kind` is one of learner, function, workflow, service. For a function, `name` is the function's name and
    `request_id` the run that called; for a workflow, the state machine's name and the execution's ARN. `role` is the
    ARN of the role whose policies decide, empty for the learner, who may do everything.
    """

    kind: Literal["learner", "function", "workflow", "service"]
    name: str = ""
    request_id: str = ""
    role: str = ""


LEARNER = Caller("learner")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events have: a number that counts from 1 without gaps, and a time in seconds of the account's clock."""

    number: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Event):
    """An API call that was answered. `status` is the HTTP status, `error` the AWS error code or None."""

    service: str
    action: str
    caller: Caller
    parameters: Mapping[str, Any]
    status: int
    error: str | None
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDecision(Event):
    """What DynamoDB decided about one write, with the item as it was before and as it is after.

    A refused write has `accepted` False, `error` the code (for example ConditionalCheckFailedException) and
    `before == after`. `reason` is the code that a cancelled transaction gives for this write, for example
    ConditionalCheckFailed, or None as text for a write that could have been done.
    """

    table: str
    key: Item
    action: str
    condition: str | None
    accepted: bool
    before: Item | None
    after: Item | None
    caller: Caller
    error: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSent(Event):
    queue: str
    message_id: str
    body: str
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived(Event):
    queue: str
    message_id: str
    receive_count: int
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAcknowledged(Event):
    """The message was deleted from its queue."""

    queue: str
    message_id: str
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReturned(Event):
    """The message was handled without success: it stays hidden until its visibility timeout ends."""

    queue: str
    message_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeadLettered(Event):
    queue: str
    message_id: str
    dead_letter_queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """One invocation of a function began. `source` says what invoked it: invoke, async, mapping, workflow.

    `execution` is the ARN of the execution that a workflow's invocation belongs to, otherwise empty.
    """

    function: str
    request_id: str
    payload: str
    source: str
    execution: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    function: str
    request_id: str
    outcome: Literal["succeeded", "error", "timeout", "crash"]
    payload: str
    error_type: str | None
    duration_ms: float
    log: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFired(Event):
    """An armed fault did its work on a call. `call` is written service:Action.

    `subject` says what the call is about, the same for each repetition: a table and a key, a queue and a body, …
    """

    fault: str
    call: str
    caller: Caller
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed(Event):
    function: str
    code_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionStarted(Event):
    """An execution of a state machine began. `input` is JSON text, `machine_type` STANDARD or EXPRESS."""

    execution: str
    state_machine: str
    name: str
    machine_type: str
    input: str
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionStep(Event):
    """One event of an execution's history between its start and its end, as GetExecutionHistory gives it.

    `id` and `previous_id` are the history's numbers, `type` is for example TaskStateEntered or TaskFailed, `state`
    the name of the state that it belongs to, and `details` the members of the event's details (`input`, `output`,
    `error`, `cause`, …), empty where it has none.
    """

    execution: str
    id: int
    previous_id: int
    type: str
    state: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnded(Event):
    """An execution ended. `status` is SUCCEEDED, FAILED, TIMED_OUT or ABORTED; `output` is JSON text."""

    execution: str
    state_machine: str
    name: str
    status: str
    output: str | None
    error: str | None
    cause: str | None


E = TypeVar("E", bound=Event)


class Journal:
    """A bounded, thread-safe list of events.

    `size` is the number of events kept, `most` how many characters they may hold together, `now` gives the time in
    seconds.
    """

    def __init__(self, size: int = 20_000, now: Callable[[], float] = time.time, most: int = 64_000_000) -> None:
        self._events: deque[Event] = deque()
        self._size, self._most = size, most
        self._weights: deque[int] = deque()
        self._weight = 0
        self._now = now
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._subscribers: tuple[Callable[[Event], None], ...] = ()
        self._aside: tuple[tuple[frozenset[str], Journal], ...] = ()
        self.last = 0

    def record(self, kind: type[E], **fields: Any) -> E:
        """Append an event of `kind` and tell the subscribers. Returns the event with its number and time."""
        for names, other in self._aside:
            if not names.isdisjoint(_subjects(fields)):
                return other.record(kind, **fields)
        weight = _weight(fields)
        if weight > _LARGE:
            fields = _shortened(fields)
            weight = _weight(fields)
        with self._lock:
            self.last = next(self._numbers)
            event = kind(number=self.last, at=self._now(), **fields)
            self._keep(event, weight)
            subscribers = self._subscribers
        for tell in subscribers:
            tell(event)
        return event

    def _keep(self, event: Event, weight: int) -> None:
        self._events.append(event)
        self._weights.append(weight)
        self._weight += weight
        while len(self._events) > self._size or (self._weight > self._most and len(self._events) > 1):
            self._events.popleft()
            self._weight -= self._weights.popleft()

    @property
    def dropped(self) -> int:
        """How many events made room for newer ones."""
        with self._lock:
            return self.last - len(self._events)

    @overload
    def events(self, *, since: int = 0) -> list[Event]: ...

    @overload
    def events(self, *kinds: type[E], since: int = 0) -> list[E]: ...

    def events(self, *kinds: type[Event], since: int = 0) -> Sequence[Event]:
        """The events after number `since`, oldest first; only those of the given kinds if any are given."""
        with self._lock:
            recent = list(itertools.takewhile(lambda event: event.number > since, reversed(self._events)))
        recent.reverse()
        return [event for event in recent if not kinds or isinstance(event, kinds)]

    def subscribe(self, tell: Callable[[Event], None]) -> Callable[[], None]:
        """Call `tell` with each new event, from the thread that recorded it: it must return at once.

        Returns a function that ends the subscription.
        """
        with self._lock:
            self._subscribers = (*self._subscribers, tell)

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers = tuple(other for other in self._subscribers if other is not tell)

        return unsubscribe

    @contextlib.contextmanager
    def aside(self, names: Collection[str], size: int = 20_000) -> Iterator[Journal]:
        """Write what happens to functions, queues and tables of these names into a journal of its own meanwhile.

        So thousands of runs that somebody makes to find something out do not push the account's own story out of
        the ring, and the subscribers do not hear of them.
        """
        other = Journal(size, self._now)
        entry = (frozenset(names), other)
        with self._lock:
            self._aside = (*self._aside, entry)
        try:
            yield other
        finally:
            with self._lock:
                self._aside = tuple(kept for kept in self._aside if kept is not entry)


_LARGE = 16_000_000
"""Characters. Larger than any message, item, event or result is only the code of a function in a request."""

_SHOWN = 1_000


def _weight(value: Any) -> int:
    """How many characters a value holds, and a little for each member."""
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, Mapping):
        return 64 + sum(len(str(name)) + _weight(inner) for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return 64 + sum(map(_weight, value))
    return 16


def _shortened(value: Any) -> Any:
    """The same with the beginning only of very large texts."""
    if isinstance(value, (str, bytes)):
        return value if len(value) <= _LARGE // 2 else f"{value[:_SHOWN]!r}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_shortened, value)) if type(value) in {list, tuple} else value
    return value


def _subjects(fields: Mapping[str, Any]) -> Iterator[str]:
    """The names of the function, the queue and the table that an event is about."""
    for name in ("function", "queue"):
        if name in fields:
            yield fields[name]
    caller = fields.get("caller")
    if caller is not None and caller.kind == "function":
        yield caller.name
    if "table" in fields:
        yield fields["table"].rpartition("/")[2]
    parameters = fields.get("parameters")
    if parameters:
        yield str(parameters.get("QueueUrl", "")).rpartition("/")[2]
        yield str(parameters.get("TableName", "")).rpartition("/")[2]
