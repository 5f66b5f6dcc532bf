"""Two deliveries for one order, as a system that can be driven along each of its schedules.

A run that dies is cut off at its next call (helpers.cloud.schedules): for the account that is what a killed process
is, and the process, whose start is slow, can be used again. `replay` really kills it. Worker processes stay warm
between schedules, as on AWS, so each schedule uses an order id that no worker has seen.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from helpers.cloud.journal import MessageSent
from helpers.lab.history import History, history

if TYPE_CHECKING:
    from moto.sqs.models import Message

    from helpers.cloud.journal import Journal
    from helpers.cloud.schedules import ConductedRun, Conductor
    from helpers.lab.bench import Bench

MOST_CALLS = 6
"""Calls of one run."""

ORDER = "demo-order"

_QUANTITY, _OTHER_QUANTITY = 4, 5
_READS = ("Get", "BatchGet", "Query", "Scan", "TransactGet", "Describe", "List")
_AT_ONCE = 10
"""Messages of one SendMessageBatch."""

Scenario = Literal["alone", "same-message", "producer-copy", "other-details"]
Reason = Literal["", "fails", "too-many-calls", "slow", "parallel", "too-many-schedules"]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can happen next. `run` counts from 0; a death and the next delivery are of the run they end
    and begin. `reads` says that a call changes nothing."""

    run: int
    kind: Literal["call", "acknowledge", "death", "delivery"]
    message: int = 0
    reads: bool = False


class Stopped(Exception):
    """Nobody waits for the result any more."""


class CannotDrive(Exception):
    """A run does something that no schedule can be made of. `error` is the run's error type, if it failed."""

    def __init__(self, reason: Reason, error: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


def independent(one: Action, other: Action) -> bool:
    """Whether two actions can be exchanged without any property, any call or any run noticing."""
    if one.run == other.run:
        return False
    kinds = {one.kind, other.kind}
    if kinds == {"death"}:
        return False  # there is one death at most
    if "death" in kinds:
        return True
    if "delivery" in kinds:
        return not ("acknowledge" in kinds and one.message == other.message)
    if kinds == {"acknowledge"}:
        return one.message != other.message
    return all(action.reads or action.kind == "acknowledge" for action in (one, other))


class Deliveries:
    """Two deliveries of one scenario as a system that can be driven (see helpers.lab.schedule_search).

    `prune` False also lets a worker die that has changed nothing, and the second delivery move first.
    """

    def __init__(
        self,
        bench: Bench,
        conductor: Conductor,
        journal: Journal,
        scenario: Scenario,
        prune: bool = True,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._bench = bench
        self._stop = stop
        self._conductor = conductor
        self._journal = journal
        self._scenario = scenario
        self._prune = prune
        self._sent: dict[str, MessageSent] = {}
        self._runs: list[ConductedRun] = []
        self._messages: list[Message] = []
        self._over: set[int] = set()
        self._wrote: set[int] = set()
        self._dead: int | None = None
        self._moved = False
        self._delivered_again = False
        self._since = 0
        self._order = ""

    # --- as a system -------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.end()
        if self._stop():
            raise Stopped
        self._runs, self._messages = [], []
        self._over, self._wrote = set(), set()
        self._dead, self._moved, self._delivered_again = None, False, False
        self._prepare_messages()
        self._since = self._journal.last
        self._receive()
        if self._scenario == "same-message":
            self._conductor.end_visibility(self._runs[0])
        if self._scenario != "alone":
            self._receive()
        for run in self._runs:
            self._wait(run)

    def enabled(self) -> tuple[Action, ...]:
        actions = [action for number in range(len(self._runs)) for action in self._next_of(number)]
        if self._dead is not None and not self._delivered_again and self._still_there(self._dead):
            actions.append(Action(len(self._runs), "delivery", self._number_of(self._dead)))
        if self._prune and not self._moved and self._scenario != "other-details":
            actions = [action for action in actions if action.run == 0]
        return tuple(actions)

    def do(self, action: Action, kill: bool = False) -> None:
        """Do one of the enabled actions. `kill`: kill the process once this call is done, before its answer arrives."""
        self._moved = True
        if action.kind == "delivery":
            assert self._dead is not None
            self._delivered_again = True
            self._conductor.end_visibility(self._runs[self._dead])
            self._wait(self._receive())
            return
        run = self._runs[action.run]
        if action.kind == "death":
            self._dead = action.run
            self._over.add(action.run)
            self._conductor.cut(run)
        elif action.kind == "acknowledge":
            self._over.add(action.run)
            self._conductor.acknowledge(run)
        else:
            if run.calls >= MOST_CALLS:
                raise CannotDrive("too-many-calls")
            with _steady():
                self._conductor.let_go(run, then_kill=kill)
            self._after_call(action, run)

    # --- what happened -----------------------------------------------------------------------------------------

    def told(self) -> History:
        """The history of this schedule so far, as if it were the only one: no number, time or name of another."""
        bench = self._bench
        # The messages of several schedules are sent at once.
        sent = [self._sent[message.id] for message in self._messages]
        events = [*sent, *self._journal.events(since=self._since)]
        told = history(events, bench.queue, bench.function, bench.table, fresh=True)
        steps = (
            replace(step, number=number, at=0.0, order=ORDER if step.order == self._order else step.order)
            for number, step in enumerate(told.steps, 1)
        )
        return History(tuple(steps))

    def failed_with(self) -> str | None:
        """The error type of the first run of this schedule that failed; None when none did."""
        results = (run.result for run in self._runs)
        return next((one.error_type or one.outcome for one in results if one and one.outcome != "succeeded"), None)

    def end(self) -> None:
        """Leave nothing of the schedule behind."""
        for run in self._runs:
            self._conductor.forget(run)
        for message in self._messages:
            self._conductor.discard(message)

    def clear(self) -> None:
        """Leave no message of the scenario behind."""
        self.end()
        for message in self._conductor.waiting():
            self._conductor.discard(message)

    # --- inside ------------------------------------------------------------------------------------------------

    def _next_of(self, number: int) -> Iterator[Action]:
        run = self._runs[number]
        if number in self._over:
            return
        message = self._number_of(number)
        if run.standing is not None:
            reads = run.standing.service == "dynamodb" and run.standing.action.startswith(_READS)
            yield Action(number, "call", message, reads)
        else:
            yield Action(number, "acknowledge", message)
        if self._dead is None and (number in self._wrote or not self._prune):
            yield Action(number, "death", message)

    def _after_call(self, action: Action, run: ConductedRun) -> None:
        if not action.reads and run.answered is not None and run.answered.status < 400:
            self._wrote.add(action.run)
        if run.ended:
            self._after_end(action.run, run)

    def _after_end(self, number: int, run: ConductedRun) -> None:
        if run.nothing_ran is not None:
            raise run.nothing_ran
        if run.dies:
            return  # it was killed, and is over when its death comes
        if run.result is not None and run.result.outcome != "succeeded":
            self._over.add(number)
            self._conductor.give_back(run)

    def _receive(self) -> ConductedRun:
        run = self._conductor.receive()
        if run.message not in self._messages:
            self._messages.append(run.message)
        self._runs.append(run)
        return run

    def _wait(self, run: ConductedRun) -> None:
        with _steady():
            self._conductor.wait(run)
        if run.ended:
            self._after_end(self._runs.index(run), run)

    def _number_of(self, number: int) -> int:
        return self._messages.index(self._runs[number].message) + 1

    def _still_there(self, number: int) -> bool:
        return self._conductor.holds(self._runs[number])

    def _prepare_messages(self) -> None:
        """See to it that the next messages of the queue are those of a schedule."""
        wanted = 1 if self._scenario in {"alone", "same-message"} else 2
        if len(waiting := self._conductor.waiting()) < wanted:
            self._send(wanted)
            waiting = self._conductor.waiting()
        self._order = json.loads(waiting[0].body)["id"]

    def _send(self, wanted: int) -> None:
        other = _OTHER_QUANTITY if self._scenario == "other-details" else _QUANTITY
        jobs = []
        for schedule in range(_AT_ONCE // wanted):
            order = f"order-{self._journal.last}-{schedule}"  # no worker and no table has seen it
            jobs += [{"id": order, "quantity": quantity} for quantity in (_QUANTITY, other)[:wanted]]
        entries = [{"Id": str(number), "MessageBody": json.dumps(job)} for number, job in enumerate(jobs)]
        before = self._journal.last
        self._bench.services.client("sqs").send_message_batch(QueueUrl=self._bench.url, Entries=entries)
        self._sent = {event.message_id: event for event in self._journal.events(MessageSent, since=before)}


def replay(deliveries: Deliveries, actions: Sequence[Action]) -> History:
    """Drive one schedule again, and kill the process of the worker that dies in it. Returns what happened."""
    deliveries.begin()
    for place, action in enumerate(actions):
        following = next((later for later in actions[place + 1 :] if later.run == action.run), None)
        deliveries.do(action, kill=following is not None and following.kind == "death")
    told = deliveries.told()
    deliveries.end()
    return told


@contextlib.contextmanager
def _steady() -> Iterator[None]:
    from helpers.cloud.schedules import Unsteady

    try:
        yield
    except Unsteady as problem:
        raise CannotDrive("slow" if problem.reason == "slow" else "parallel") from problem
