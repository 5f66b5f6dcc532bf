"""Every schedule of two deliveries, driven with a real worker: which properties does a guard keep?

A handler's file is deployed as it is. Its runs begin; then one call after the other is let go, in every possible
sequence, and at every point a worker may die. What each schedule did is read from the journal and judged.

What is bounded: one or two deliveries for one order – a single message, the same message twice, a copy from the
producer, or a second message with other details – and one more delivery of the message whose worker died; at most
one death; at most `MOST_CALLS` calls of a run and `MOST_SCHEDULES` sequences of a scenario. A message that returns
after a failed run stays in the queue until the end. No call fails by itself, and no answer is lost.

What is left out because it can be told from the rest, each with the reason why no violation is lost:

* The order of neighbouring actions that are independent (see `independent` and helpers.lab.schedule_search): two
  reads; an acknowledgement and a read; acknowledgements of different messages; the death of one worker and
  anything that another one does.
* The death of a worker for which no write was accepted: it leaves nothing behind, and its message comes back. The
  run that then handles it is a run of a schedule without that death; where the message does not come back because
  the other delivery was acknowledged, the schedule is one of a single message.
* Where both deliveries carry the same job, schedules in which the second one moves first: they are the others
  with the two names exchanged. This and the reason before it take for granted that a handler does not look at the
  receive count or at the text of a message id.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.lab.deliveries import Action, CannotDrive, Deliveries, Reason, Scenario, independent
from helpers.lab.history import History, Step
from helpers.lab.properties import PROPERTIES, Outcome, judge
from helpers.lab.schedule_search import Search, every

if TYPE_CHECKING:
    from helpers.cloud.journal import Journal
    from helpers.cloud.schedules import Conductor
    from helpers.lab.bench import Bench

SCENARIOS: tuple[Scenario, ...] = ("alone", "same-message", "producer-copy", "other-details")
MOST_SCHEDULES = 400


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The shortest schedule that breaks a property, up to the step that breaks it."""

    property: str
    scenario: Scenario
    steps: tuple[Step, ...]
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Exploration:
    """What the schedules of one worker say. `outcomes` has one entry for each property, in their order.

    `reason` says why not all schedules could be driven, and is empty when they were.
    """

    worker: str
    schedules: int
    outcomes: tuple[tuple[str, Outcome], ...]
    counterexamples: tuple[Counterexample, ...]
    reason: Reason = ""
    error: str = ""

    def __getitem__(self, name: str) -> Outcome:
        return dict(self.outcomes)[name]

    def counterexample(self, name: str) -> Counterexample | None:
        """The shortest schedule that breaks a property; None where none does."""
        return next((one for one in self.counterexamples if one.property == name), None)


@dataclass(frozen=True, slots=True)
class GuardTable:
    """The explorations of several guards, in order."""

    rows: tuple[Exploration, ...]

    def __getitem__(self, guard: str) -> Exploration:
        return next(row for row in self.rows if row.worker == guard)


def _drive_alone(deliveries: Deliveries) -> None:
    """Drive one delivery of a simple job to its end. Raises CannotDrive when the worker cannot even do that."""
    deliveries.begin()
    while actions := [action for action in deliveries.enabled() if action.kind != "death"]:
        deliveries.do(actions[0])
    error = deliveries.failed_with()
    deliveries.end()
    if error is not None:
        raise CannotDrive("fails", error)


@contextlib.contextmanager
def _cleared(deliveries: Deliveries) -> Iterator[Deliveries]:
    try:
        yield deliveries
    finally:
        deliveries.clear()


def explore(
    bench: Bench,
    conductor: Conductor,
    journal: Journal,
    worker: str,
    prune: bool = True,
    stop: Callable[[], bool] = lambda: False,
) -> Exploration:
    """Drive all schedules of all scenarios. The bench is ready, the conductor at work.

    `stop` is asked before each schedule; raises Stopped when it says so.
    """
    found: dict[str, Counterexample] = {}
    count = 0
    reason: Reason = ""
    error = ""
    try:
        for scenario in SCENARIOS:
            with _cleared(Deliveries(bench, conductor, journal, scenario, prune, stop)) as deliveries:
                if scenario == "alone":
                    _drive_alone(deliveries)
                search = Search(deliveries, independent if prune else every, MOST_SCHEDULES)
                for actions in search:
                    count += 1
                    _note(found, scenario, actions, deliveries.told())
            if not search.exhausted:
                reason = "too-many-schedules"
    except CannotDrive as problem:
        reason, error = problem.reason, problem.error
    outcomes: list[tuple[str, Outcome]] = [
        (name, "broken" if name in found else "cannot-tell" if reason else "holds") for name in PROPERTIES
    ]
    counterexamples = tuple(found[name] for name in PROPERTIES if name in found)
    return Exploration(worker, count, tuple(outcomes), counterexamples, reason, error)


def _note(found: dict[str, Counterexample], scenario: Scenario, actions: Sequence[Action], told: History) -> None:
    for verdict in judge(told).broken:
        # Whether a message is lost is not known before the end.
        last = len(told.steps) if verdict.property == "nothing-lost" else verdict.witness[-1].number
        steps = tuple(step for step in told.steps if step.number <= last)
        known = found.get(verdict.property)
        if known is None or len(steps) < len(known.steps):
            found[verdict.property] = Counterexample(verdict.property, scenario, steps, tuple(actions))
