"""A snapshot of a lesson's account: resources read back from the services, history read from the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from helpers.lab.evidence import Evidence, Job, Order, Run

if TYPE_CHECKING:
    from helpers.lab.lesson_world import LessonWorld

MessageState = Literal["visible", "in flight", "acknowledged", "dead-lettered", "gone"]


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue that exists, with its counters as GetQueueAttributes gives them."""

    name: str
    visible: int
    in_flight: int
    delayed: int


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One write decision. `before` and `after` are items as plain values ({"id": "a", "quantity": 4}) or
    None."""

    number: int
    table: str
    key: str
    action: str
    condition: str | None
    accepted: bool
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RunView:
    """One run of the function: `messages` are the numbers of the messages that it handled.

    `result` is what it returned when it succeeded, `reason` the type of the error that it raised, `execution` the name
    of the execution of a workflow that invoked it.
    """

    number: int
    function: str
    messages: tuple[int, ...]
    outcome: str
    result: Any
    reason: str
    execution: str = ""


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message: `number` counts in the order of sending, `deliveries` how often it was received."""

    number: int
    body: str
    deliveries: int
    state: MessageState


@dataclass(frozen=True, slots=True)
class ExecutionView:
    """One execution of the lesson's state machine; `runs` counts the runs of the function that it caused."""

    name: str
    status: str
    input: str
    output: str | None
    runs: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the live view shows. `reference` is the note of the reference item, None when it is
    gone.

    Runs and decisions stand in the order in which their messages were sent, so the same lesson gives the
    same view. `executions` is None in a lesson without a workflow.
    """

    queues: tuple[QueueView, ...]
    orders: tuple[Order, ...]
    decisions: tuple[DecisionView, ...]
    runs: tuple[RunView, ...]
    messages: tuple[MessageView, ...]
    reference: str | None
    executions: tuple[ExecutionView, ...] | None = None


def take(lesson: LessonWorld) -> View:
    """The view now. Errors of the services are botocore's own."""
    evidence = lesson.evidence()
    jobs = evidence.jobs(lesson.queue)
    places = {job.message_id: place for place, job in enumerate(jobs, start=1)}
    runs = sorted(evidence.runs(lesson.function), key=lambda run: (_place(run, places), run.number))
    rank = {run.request_id: place for place, run in enumerate(runs)}
    rank[""] = -1  # what the learner wrote by hand comes first
    made = lesson.decisions(evidence)
    decisions = sorted(made, key=lambda one: (rank.get(one.caller.request_id, len(rank)), one.number))
    return View(
        queues=tuple(view for name in lesson.queues if (view := _queue(lesson, name))),
        orders=lesson.stored_orders(),
        decisions=tuple(
            DecisionView(
                number,
                lesson.orders,
                str(plain(one.key).get("id", "")),
                one.action,
                one.condition,
                one.accepted,
                plain(one.before) if one.before else None,
                plain(one.after) if one.after else None,
            )
            for number, one in enumerate(decisions, start=1)
        ),
        runs=tuple(_run(lesson, number, run, places) for number, run in enumerate(runs, start=1)),
        messages=_messages(evidence, lesson, jobs),
        reference=lesson.reference_note(),
    )


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    """DynamoDB JSON of text and numbers as plain values, by name; other types stay as they are."""
    return {name: _value(member) for name, member in sorted(item.items())}


def _value(member: Mapping[str, Any]) -> Any:
    if "N" in member:
        text = str(member["N"])
        return int(text) if text.lstrip("-").isdigit() else float(text)
    return member.get("S", member)


def _place(run: Run, places: Mapping[str, int]) -> int:
    return min((places[message] for message in run.message_ids if message in places), default=len(places) + 1)


def _queue(lesson: LessonWorld, name: str) -> QueueView | None:
    attributes = lesson.services.queue_attributes(name)
    if attributes is None:
        return None
    counters = ("Messages", "MessagesNotVisible", "MessagesDelayed")
    return QueueView(name, *(int(attributes[f"ApproximateNumberOf{counter}"]) for counter in counters))


def _run(lesson: LessonWorld, number: int, run: Run, places: Mapping[str, int]) -> RunView:
    messages = tuple(sorted(places[message] for message in run.message_ids if message in places))
    result = lesson.result_shown(run.result, places) if run.outcome == "succeeded" else None
    reason = run.error_type or "" if run.outcome == "error" else ""
    return RunView(number, lesson.function, messages, run.outcome, result, reason)


def _messages(evidence: Evidence, lesson: LessonWorld, jobs: list[Job]) -> tuple[MessageView, ...]:
    received: dict[str, int] = {}
    for event in evidence.received(lesson.queue):
        received[event.message_id] = received.get(event.message_id, 0) + 1
    acknowledged = {event.message_id for event in evidence.acknowledged(lesson.queue)}
    dead = {event.message_id for event in evidence.dead_lettered(lesson.queue)}
    gone = bool(evidence.calls("sqs", "DeleteQueue", "PurgeQueue"))

    def state(message_id: str) -> MessageState:
        if message_id in dead:
            return "dead-lettered"
        if message_id in acknowledged:
            return "acknowledged"
        if gone:
            return "gone"
        return "in flight" if message_id in received else "visible"

    return tuple(
        MessageView(number, lesson.body_shown(job.body), received.get(job.message_id, 0), state(job.message_id))
        for number, job in enumerate(jobs, start=1)
    )
