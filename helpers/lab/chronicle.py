"""What happened in a lesson's account so far, kept up to date by reading only what is new in the journal.

`lab.view()` reads everything each time, which is right for a snapshot. A view that follows the account reads each
event once: `Chronicle.read` takes what came since the last time.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from helpers.cloud.boundary import READS
from helpers.cloud.journal import (
    Call,
    Caller,
    Event,
    ExecutionEnded,
    ExecutionStarted,
    ExecutionStep,
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
from helpers.lab.evidence import records_of
from helpers.lab.lanes import Lane, Mark, MarkKind, Skip

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.lab.lesson_world import LessonWorld

MOST_LANES = 400
"""Lanes that are kept. Of older ones only their number is known."""

_MOST_ROWS = 200

_OF_TABLES = ("CreateTable", "DeleteTable", "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction")
"""After these, the whole table is looked at."""

_REMOVALS = ("DeleteQueue", "PurgeQueue")
_RUN_MARKS: dict[str, MarkKind] = {"error": "failed", "timeout": "timeout", "crash": "crashed"}


@dataclass(slots=True)
class RunNow:
    """One run of the function. `number` counts in the order of starting; `outcome` is "running" until it ended."""

    number: int
    source: str
    lanes: list[Lane] = field(default_factory=list)
    outcome: str = "running"
    result: Any = None
    error: str = ""
    milliseconds: float | None = None
    log: tuple[str, ...] = ()


@dataclass(slots=True)
class Steps:
    """The history of one execution, in the form of GetExecutionHistory."""

    lane: Lane
    events: list[dict[str, Any]] = field(default_factory=list)
    attempts: int = 0
    told: bool = False


class Chronicle:
    """The story of one account since its lesson was provided. `read` may be called from one thread at a time."""

    def __init__(self, cloud: Cloud, lesson: LessonWorld) -> None:
        self.cloud, self.lesson = cloud, lesson
        self.lanes: list[Lane] = []
        self.runs: list[RunNow] = []
        self.decisions: list[tuple[int, WriteDecision]] = []
        self.steps: dict[str, Steps] = {}
        self.skips: list[Skip] = []
        self._written: dict[str, Item] | None = None
        self.lanes_before = self.runs_before = self.decisions_before = 0
        """How many lanes, runs and decisions are not kept any more."""
        self.changed = True
        """Whether something has come since `changed` was set to False that can change what is shown."""
        self.lost = 0
        """How many events of the journal made room before they could be read."""
        self.lock = threading.Lock()
        self._read_to = lesson.provided_at
        self._by_key: dict[str, Lane] = {}
        self._runs: dict[str, RunNow] = {}
        cloud.clock.on_skip(self._skipped)
        self._clock_before = cloud.clock.skipped

    @property
    def read_to(self) -> int:
        """The number of the last event that was read."""
        return self._read_to

    def read(self) -> bool:
        """Take what is new. Returns whether there was something."""
        journal = self.cloud.journal
        with self.lock:
            events = journal.events(since=self._read_to)
            if not events:
                return False
            lost = max(0, events[0].number - self._read_to - 1)
            if lost:
                self.lost += lost
                self._written = None
            self._read_to = events[-1].number
            for event in events:
                self._take(event)
            self._shorten()
        return True

    def written(self) -> list[Item] | None:
        """The keys of the orders that were written since this was asked last; None: any may have changed."""
        written, self._written = self._written, {}
        return None if written is None else list(written.values())

    def _skipped(self) -> None:
        now = self.cloud.clock.skipped
        self.skips.append(Skip(self.cloud.journal.last, now - self._clock_before))
        self._clock_before = now

    # --- events -------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        lesson = self.lesson
        if not isinstance(event, Call) or not event.action.startswith(READS):
            self.changed = True
        if isinstance(event, MessageSent):
            if event.queue == lesson.queue:
                self._sent(event)
        elif isinstance(event, MessageReceived | MessageAcknowledged | MessageReturned | MessageDeadLettered):
            lane = self._by_key.get(event.message_id)
            if lane is not None:
                self._message(lane, event)
        elif isinstance(event, RunStarted | RunEnded):
            if event.function == lesson.function:
                self._run(event)
        elif isinstance(event, WriteDecision):
            if event.table.rpartition("/")[2] == lesson.orders:
                self._decided(event)
        elif isinstance(event, ExecutionStarted | ExecutionStep | ExecutionEnded):
            self._execution(event)
        elif isinstance(event, Call) and event.error is None:
            self._call(event)

    def _sent(self, event: MessageSent) -> None:
        number = self.lanes_before + len(self.lanes) + 1
        lane = Lane(
            "message",
            event.message_id,
            number,
            self.lesson.subject(event.body),
            self.lesson.body_shown(event.body),
            queue=event.queue,
        )
        self._new(lane, Mark("sent", event.number, event.at, hand=event.caller.kind == "learner"))

    def _message(
        self, lane: Lane, event: MessageReceived | MessageAcknowledged | MessageReturned | MessageDeadLettered
    ) -> None:
        if isinstance(event, MessageDeadLettered):
            lane.dead, lane.queue = True, event.dead_letter_queue
            lane.marks.append(Mark("dead-lettered", event.number, event.at, lane.deliveries, event.dead_letter_queue))
            return
        kind: MarkKind = "returned"
        if isinstance(event, MessageReceived):
            lane.deliveries += 1
            kind = "received"
        elif isinstance(event, MessageAcknowledged):
            lane.acknowledged = True
            kind = "acknowledged"
        hand = not isinstance(event, MessageReturned) and event.caller.kind == "learner"
        elsewhere = event.queue if event.queue != self.lesson.queue else ""
        lane.marks.append(Mark(kind, event.number, event.at, lane.deliveries, elsewhere, hand=hand))

    def _run(self, event: RunStarted | RunEnded) -> None:
        if isinstance(event, RunStarted):
            run = RunNow(self.runs_before + len(self.runs) + 1, event.source)
            self.runs.append(run)
            self._runs[event.request_id] = run
            keys = [event.execution] if event.execution else [key for key, _ in records_of(event.payload)]
            run.lanes = [lane for key in keys if (lane := self._by_key.get(key)) is not None]
            for lane in run.lanes:
                lane.marks.append(Mark("run", event.number, event.at, lane.deliveries))
            return
        run = self._runs.pop(event.request_id, RunNow(0, ""))
        run.outcome, run.error, run.log = event.outcome, event.error_type or "", event.log
        run.milliseconds = event.duration_ms
        run.result = _read_json(event.payload) if event.outcome == "succeeded" else None
        for lane in run.lanes:
            begun = next(one for one in reversed(lane.marks) if one.kind == "run" and one.end is None)
            begun.end, begun.outcome, begun.milliseconds = event.number, event.outcome, event.duration_ms
            if event.outcome in _RUN_MARKS:
                mark = Mark(_RUN_MARKS[event.outcome], event.number, event.at, begun.delivery, error=run.error)
                lane.marks.append(mark)
                if lane.key in self.steps:
                    self.steps[lane.key].told = True

    def _decided(self, event: WriteDecision) -> None:
        if self._written is not None:
            self._written[json.dumps(event.key, sort_keys=True)] = event.key
        number = self.decisions_before + len(self.decisions) + 1
        self.decisions.append((number, event))
        key = str(event.key.get("id", {}).get("S", ""))
        lane = self._lane_of_write(event.caller, key)
        if lane is not None:
            hand = event.caller.kind == "learner"
            kind: MarkKind = "written" if event.accepted else "refused"
            lane.marks.append(Mark(kind, event.number, event.at, lane.deliveries, key, event.error or "", hand))

    def _lane_of_write(self, caller: Caller, key: str) -> Lane | None:
        """The message or execution for which a write was made; None where that cannot be told."""
        run = self._runs.get(caller.request_id) if caller.kind == "function" else None
        if run is not None:
            named = [lane for lane in run.lanes if key in (lane.name, lane.key)]
            return named[0] if named else run.lanes[0] if len(run.lanes) == 1 else None
        if caller.kind != "learner":
            return None
        held = [lane for lane in self.lanes if lane.name == key and lane.deliveries and not lane.over]
        return held[-1] if held else None

    def _call(self, event: Call) -> None:
        if event.service == "dynamodb":
            if event.action in _OF_TABLES:
                self._written = None
        elif event.service == "sqs" and event.action in _REMOVALS:
            name = str(event.parameters.get("QueueUrl", "")).rpartition("/")[2]
            for lane in self.lanes:
                if lane.kind == "message" and lane.queue == name and not lane.over:
                    lane.removed = True
                    lane.marks.append(Mark("removed", event.number, event.at, lane.deliveries, name))

    # --- executions ---------------------------------------------------------------------------------------------

    def _execution(self, event: ExecutionStarted | ExecutionStep | ExecutionEnded) -> None:
        if isinstance(event, ExecutionStarted):
            if event.state_machine.rpartition(":")[2] == self.lesson.machine:
                number = self.lanes_before + len(self.lanes) + 1
                lane = Lane("execution", event.execution, number, event.name, event.input)
                self.steps[event.execution] = Steps(lane)
                self._new(lane, Mark("started", event.number, event.at, hand=event.caller.kind == "learner"))
            return
        steps = self.steps.get(event.execution)
        if steps is None:
            return
        if isinstance(event, ExecutionStep):
            self._step(steps, event)
            return
        lane = steps.lane
        lane.status, lane.output, lane.error = event.status, event.output, event.error or ""
        details = {name: value for name in ("error", "cause") if (value := getattr(event, name))}
        ended = {"SUCCEEDED": "ExecutionSucceeded", "TIMED_OUT": "ExecutionTimedOut", "ABORTED": "ExecutionAborted"}
        _append(steps, ended.get(event.status, "ExecutionFailed"), "execution", details)
        kind: MarkKind = "ended" if event.status == "SUCCEEDED" else "stopped"
        lane.marks.append(Mark(kind, event.number, event.at, about=event.status, error=lane.error))

    def _step(self, steps: Steps, event: ExecutionStep) -> None:
        marks = steps.lane.marks
        prefix = "state" if "StateEntered" in event.type or "StateExited" in event.type else "step"
        _append(steps, event.type, prefix, event.details)
        if event.type.endswith("StateEntered"):
            steps.attempts = 0
            marks.append(Mark("state", event.number, event.at, about=event.state))
        elif event.type.endswith("Scheduled"):
            steps.attempts, steps.told = steps.attempts + 1, False
            if steps.attempts > 1:
                marks.append(Mark("retry", event.number, event.at, steps.attempts, event.state))
        elif event.type.endswith(("Failed", "TimedOut")) and not steps.told:
            # The run itself said it already, if there was one: without the permission there is none.
            error = str(event.details.get("error", ""))
            marks.append(Mark("failed", event.number, event.at, steps.attempts, event.state, error))

    # --- bounds -------------------------------------------------------------------------------------------------

    def _new(self, lane: Lane, mark: Mark) -> None:
        lane.marks.append(mark)
        self.lanes.append(lane)
        self._by_key[lane.key] = lane

    def _shorten(self) -> None:
        for gone in self.lanes[:-MOST_LANES]:
            del self._by_key[gone.key]
            self.steps.pop(gone.key, None)
        self.lanes_before += len(self.lanes[:-MOST_LANES])
        self.runs_before += len(self.runs[:-_MOST_ROWS])
        self.decisions_before += len(self.decisions[:-_MOST_ROWS])
        del self.lanes[:-MOST_LANES], self.runs[:-_MOST_ROWS], self.decisions[:-_MOST_ROWS]


def _append(steps: Steps, kind: str, prefix: str, details: Any) -> None:
    number = len(steps.events) + 2
    steps.events.append(
        {"id": number, "type": kind, "previousEventId": number - 1, f"{prefix}EventDetails": dict(details)}
    )


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
