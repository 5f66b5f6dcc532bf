"""What the journal proves: jobs, runs and write decisions, put together for one queue, function or table.

Checks, the live view, the outcome and the experiments all read these; none of them looks at cells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from helpers.cloud.journal import (
    Call,
    Deployed,
    Event,
    Journal,
    MessageAcknowledged,
    MessageDeadLettered,
    MessageReceived,
    MessageSent,
    RunEnded,
    RunStarted,
    WriteDecision,
)

HIGHEST_QUANTITY = 10


@dataclass(frozen=True, slots=True)
class Order:
    """An order as it is stored. `quantity` and `total_cents` are None where the item lacks them or they are
    no numbers."""

    id: str
    quantity: int | None
    total_cents: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """A message that was sent. `order` and `quantity` are None when the body is not a job by the lesson's rule."""

    number: int
    message_id: str
    body: str
    order: str | None
    quantity: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """One invocation of a function.

    `records` are the (message id, body) pairs of its event, empty when it was not invoked for messages; `event` is
    the whole event, `execution` the name of the execution of a workflow that invoked it, or empty.
    `ended` is the number of its last event, None while it runs; then `outcome` is "running".
    """

    number: int
    request_id: str
    source: str
    records: tuple[tuple[str, str], ...]
    ended: int | None
    outcome: str
    result: Any
    error_type: str | None
    log: tuple[str, ...]
    event: Any = None
    execution: str = ""

    @property
    def message_ids(self) -> frozenset[str]:
        return frozenset(message_id for message_id, _body in self.records)


def total_cents(quantity: int) -> int:
    """The price of an order, by the rule that all lessons share."""
    return quantity * 250 + 100


def read_job(body: str) -> tuple[str, int] | None:
    """The id and quantity of a job, or None when the text is not a job: the rule that all lessons share."""
    try:
        job = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(job, dict) or set(job) != {"id", "quantity"}:
        return None
    order, quantity = job["id"], job["quantity"]
    if not isinstance(order, str) or not order or type(quantity) is not int or not 1 <= quantity <= HIGHEST_QUANTITY:
        return None
    return order, quantity


def order_of(item: Mapping[str, Any]) -> Order:
    """An item in DynamoDB JSON as an order."""
    return Order(str(item.get("id", {}).get("S", "")), _number(item, "quantity"), _number(item, "total_cents"))


def _number(item: Mapping[str, Any], name: str) -> int | None:
    text = item.get(name, {}).get("N")
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


class Evidence:
    """The journal from event `since` (exclusive) up to event `until` (inclusive, None for all)."""

    def __init__(self, journal: Journal, since: int = 0, until: int | None = None) -> None:
        self._events: list[Event] = [
            event for event in journal.events(since=since) if until is None or event.number <= until
        ]

    def of(self, *kinds: type[Event]) -> list[Any]:
        """The events of some kinds, oldest first."""
        return [event for event in self._events if isinstance(event, kinds)]

    def jobs(self, queue: str) -> list[Job]:
        """The messages that were sent to a queue, oldest first."""
        sent = [event for event in self.of(MessageSent) if event.queue == queue]
        return [Job(e.number, e.message_id, e.body, *(read_job(e.body) or (None, None))) for e in sent]

    def runs(self, function: str) -> list[Run]:
        """The runs of a function in the order in which they began."""
        ends = {event.request_id: event for event in self.of(RunEnded) if event.function == function}
        starts = [event for event in self.of(RunStarted) if event.function == function]
        return [_run(start, ends.get(start.request_id)) for start in starts]

    def decisions(self, table: str) -> list[WriteDecision]:
        """The write decisions of a table, oldest first."""
        return [event for event in self.of(WriteDecision) if event.table.rpartition("/")[2] == table]

    def received(self, queue: str) -> list[MessageReceived]:
        return [event for event in self.of(MessageReceived) if event.queue == queue]

    def acknowledged(self, queue: str) -> list[MessageAcknowledged]:
        return [event for event in self.of(MessageAcknowledged) if event.queue == queue]

    def dead_lettered(self, queue: str) -> list[MessageDeadLettered]:
        return [event for event in self.of(MessageDeadLettered) if event.queue == queue]

    def deployments(self, function: str) -> list[Deployed]:
        return [event for event in self.of(Deployed) if event.function == function]

    def calls(self, service: str, *actions: str) -> list[Call]:
        """The calls that succeeded, oldest first."""
        return [
            event
            for event in self.of(Call)
            if event.service == service and event.action in actions and event.error is None
        ]


def first_details(jobs: Iterable[Job]) -> dict[str, Job]:
    """The first valid job for each order id: its details are the ones that must stay."""
    first: dict[str, Job] = {}
    for job in jobs:
        if job.order is not None:
            first.setdefault(job.order, job)
    return first


def runs_for(order: str, jobs: Iterable[Job], runs: Iterable[Run]) -> list[Run]:
    """The runs that were given a job for this order."""
    messages = {job.message_id for job in jobs if job.order == order}
    return [run for run in runs if messages & run.message_ids]


def key_of(decision: WriteDecision) -> str:
    """The key `id` of the written item as text."""
    return str(decision.key.get("id", {}).get("S", ""))


def refused_by_condition(decision: WriteDecision) -> bool:
    return not decision.accepted and decision.error == "ConditionalCheckFailedException"


def _run(start: RunStarted, end: RunEnded | None) -> Run:
    return Run(
        number=start.number,
        request_id=start.request_id,
        source=start.source,
        records=records_of(start.payload),
        ended=end.number if end else None,
        outcome=end.outcome if end else "running",
        result=_read_json(end.payload) if end else None,
        error_type=end.error_type if end else None,
        log=end.log if end else (),
        event=_read_json(start.payload),
        execution=start.execution.rpartition(":")[2],
    )


def records_of(payload: str) -> tuple[tuple[str, str], ...]:
    """The (message id, body) pairs of an event; none when it does not come from a queue."""
    event = _read_json(payload)
    records = event.get("Records") if isinstance(event, dict) else None
    if not isinstance(records, list):
        return ()
    return tuple(
        (str(record["messageId"]), str(record.get("body", "")))
        for record in records
        if isinstance(record, dict) and "messageId" in record
    )


def _read_json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
