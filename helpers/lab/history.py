"""The history of one queue, its function and its table: the journal's events as numbered steps.

A step stands by itself: it names its message, its delivery and its run by numbers that count from 1 in order of
appearance, so that a sequence of steps reads the same in each run of a lesson, whatever ids the services gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from helpers.cloud.journal import (
    Call,
    Caller,
    Event,
    Item,
    MessageAcknowledged,
    MessageDeadLettered,
    MessageReceived,
    MessageReturned,
    MessageSent,
    RunEnded,
    RunStarted,
    WriteDecision,
)
from helpers.lab.evidence import order_of, read_job, records_of

Kind = Literal[
    "sent",
    "received",
    "read",
    "stored",
    "written",
    "refused",
    "acknowledged",
    "returned",
    "dead-lettered",
    "failed",
    "timeout",
    "crash",
    "removed",
]

_READS = ("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems")
_REMOVALS = ("DeleteQueue", "PurgeQueue")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened.

    `message`, `delivery` and `run` count from 1; 0 where there is none. `order` and `quantity` are those of the
    message's job (of the stored item for "stored"), None when the body is no valid job. "stored" is an accepted
    write of an order, that is of an item with a quantity; "written" is an accepted write of anything else. `valid`
    is False when a write was made for a job that is not valid. `before` is the order's quantity before a write,
    `known` whether an order was there before. `changed` says that an order was there and is not the same any more.
    """

    kind: Kind
    number: int
    at: float = 0.0
    message: int = 0
    delivery: int = 0
    run: int = 0
    order: str | None = None
    quantity: int | None = None
    before: int | None = None
    known: bool | None = None
    changed: bool = False
    valid: bool = True


@dataclass(frozen=True, slots=True)
class History:
    """Steps in the order in which they happened. `complete` is False when the journal dropped some of the events."""

    steps: tuple[Step, ...]
    complete: bool = True


def history(
    events: Iterable[Event], queue: str, function: str, table: str, complete: bool = True, fresh: bool = False
) -> History:
    """The history that events of the journal tell.

    `complete`: no event is missing between them or before them. `fresh`: no order of these jobs was stored before.
    """
    reader = _Reader(queue, function, table, fresh)
    for event in events:
        reader.read(event)
    return History(tuple(reader.steps), complete)


@dataclass(slots=True)
class _Message:
    number: int
    job: tuple[str, int] | None
    deliveries: int = 0


@dataclass(slots=True)
class _Run:
    number: int
    deliveries: list[tuple[_Message, int]] = field(default_factory=list)
    ended: bool = False


class _Reader:
    """Reads events one after the other."""

    def __init__(self, queue: str, function: str, table: str, fresh: bool) -> None:
        self.steps: list[Step] = []
        self._fresh = fresh
        self._queue, self._function, self._table = queue, function, table
        self._messages: dict[str, _Message] = {}
        self._runs: dict[str, _Run] = {}
        self._stored: dict[str, bool] = {}

    def read(self, event: Event) -> None:
        if isinstance(event, MessageSent | MessageReceived | MessageAcknowledged | MessageReturned):
            if event.queue == self._queue:
                self._message(event)
        elif isinstance(event, MessageDeadLettered):
            if event.queue == self._queue:
                self._add("dead-lettered", event, self._known_message(event.message_id))
        elif isinstance(event, RunStarted | RunEnded):
            if event.function == self._function:
                self._run_event(event)
        elif isinstance(event, WriteDecision):
            if self._of_the_table(event.table) and event.caller.kind == "function":
                self._write(event)
        elif isinstance(event, Call) and event.error is None:
            self._call(event)

    def _message(self, event: MessageSent | MessageReceived | MessageAcknowledged | MessageReturned) -> None:
        message = self._known_message(event.message_id, getattr(event, "body", None))
        if isinstance(event, MessageSent):
            self._add("sent", event, message)
        elif isinstance(event, MessageReturned):
            self._add("returned", event, message)
        elif isinstance(event, MessageAcknowledged):
            run = self._runs.get(event.caller.request_id)
            self._add("acknowledged", event, message, run)
        else:
            message.deliveries += 1
            run = self._run_of(event.caller)
            if run is not None:
                run.deliveries.append((message, message.deliveries))
            self._add("received", event, message, run)

    def _run_event(self, event: RunStarted | RunEnded) -> None:
        run = self._runs.setdefault(event.request_id, _Run(len(self._runs) + 1))
        if isinstance(event, RunStarted):
            given = {message.number for message, _delivery in run.deliveries}
            for message_id, body in records_of(event.payload):
                message = self._known_message(message_id, body)
                if message.number not in given:
                    message.deliveries = message.deliveries or 1
                    run.deliveries.append((message, message.deliveries))
        elif not run.ended and event.outcome != "succeeded":
            run.ended = True
            kinds: dict[str, Kind] = {"crash": "crash", "timeout": "timeout"}
            self._add(kinds.get(event.outcome, "failed"), event, None, run)

    def _write(self, event: WriteDecision) -> None:
        run = self._run_of(event.caller)
        key = str(event.key.get("id", {}).get("S", ""))
        message, order = self._meant(run, key)
        job = message.job if message else None
        after = order_of(event.after) if event.after is not None else None
        before = order_of(event.before) if event.before is not None else None
        about = {"order": order, "known": before is not None, "before": before.quantity if before else None}
        invalid = message is not None and job is None
        if not event.accepted:
            quantity = job[1] if job else None
            self._add("refused", event, message, run, quantity=quantity, valid=not invalid, **about)
            return
        self._stored[key] = after is not None
        is_order = after is not None and after.quantity is not None
        changed = before is not None and before.quantity is not None and event.before != event.after
        self._add(
            "stored" if is_order else "written",
            event,
            message,
            run,
            quantity=after.quantity if after else None,
            changed=changed,
            valid=not invalid,
            **about,
        )

    def _call(self, event: Call) -> None:
        name = str(event.parameters.get("QueueUrl", "")).rpartition("/")[2]
        if event.service == "sqs" and event.action in _REMOVALS and name == self._queue:
            self._add("removed", event, None)
        elif event.service == "dynamodb" and event.action in _READS and self._by_the_function(event):
            run = self._run_of(event.caller)
            key = _key(event.parameters)
            message, order = self._meant(run, key or "")
            known = self._stored.get(key, False if self._fresh else None) if key else None
            self._add("read", event, message, run, order=order, known=known)

    def _by_the_function(self, event: Call) -> bool:
        caller, table = event.caller, str(event.parameters.get("TableName", ""))
        return caller.kind == "function" and caller.name == self._function and self._of_the_table(table)

    def _meant(self, run: _Run | None, key: str) -> tuple[_Message | None, str | None]:
        """The message and the order that a call on this key was for; no order when it cannot be told.

        The order is the key where a job of the run has this order id. Otherwise it is that of the run's only job:
        a guard may use the message id as its key.
        """
        given = run.deliveries if run else []
        named = [message for message, _ in given if message.job and message.job[0] == key]
        if named:
            return named[0], key
        if len(given) == 1:
            message = given[0][0]
            return message, message.job[0] if message.job else key
        return None, None if given else key

    def _known_message(self, message_id: str, body: str | None = None) -> _Message:
        if message_id not in self._messages:
            self._messages[message_id] = _Message(len(self._messages) + 1, None)
        message = self._messages[message_id]
        if body is not None:
            message.job = read_job(body)
        return message

    def _run_of(self, caller: Caller) -> _Run | None:
        if not caller.request_id:
            return None
        return self._runs.setdefault(caller.request_id, _Run(len(self._runs) + 1))

    def _of_the_table(self, name: str) -> bool:
        return name.rpartition("/")[2] == self._table

    def _add(self, kind: Kind, event: Event, message: _Message | None, run: _Run | None = None, **more: Any) -> None:
        if message is None and run is not None and len(run.deliveries) == 1 and kind in {"failed", "timeout", "crash"}:
            message = run.deliveries[0][0]
        job = message.job if message else None
        deliveries = {known.number: n for known, n in run.deliveries} if run else {}
        about: dict[str, Any] = {"order": job[0] if job else None, "quantity": job[1] if job else None, **more}
        if kind == "sent":
            about["valid"] = job is not None
        self.steps.append(
            Step(
                kind,
                event.number,
                event.at,
                message.number if message else 0,
                deliveries.get(message.number, 0) if message else 0,
                run.number if run else 0,
                **about,
            )
        )


def _key(parameters: Mapping[str, Any]) -> str | None:
    key: Item = parameters.get("Key") or {}
    value = key.get("id") if isinstance(key, Mapping) else None
    return str(value["S"]) if isinstance(value, Mapping) and "S" in value else None
