"""What must hold of a history, whatever went wrong on the way, and the shortest proof when it does not.

Each property is judged over the steps alone. A broken one brings a witness: the fewest steps that prove it. Where a
property says that something must have happened, its absence is judged over the whole history, and the witness is
the step that should not have been without it. The idea of a recorded history, a checker, and a smallest failing
part of it: Kingsbury's Jepsen and Maelstrom; Wing and Gong, "Testing and Verifying Concurrent Objects" (1993).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from helpers.lab.history import History, Step

Outcome = Literal["holds", "broken", "cannot-tell"]

RETENTION = 4 * 24 * 3600.0
"""Seconds that a queue keeps a message by default (SQS Developer Guide): later it may be gone without a trace."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a history says about one property. `witness` is empty unless the outcome is "broken"."""

    property: str
    outcome: Outcome
    witness: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts on one history, one for each property."""

    verdicts: tuple[Verdict, ...]
    steps: int

    def __getitem__(self, name: str) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.property == name)

    @property
    def broken(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.outcome == "broken")


def judge(history: History) -> Report:
    """A verdict on each property. No property holds of an incomplete history, nor of one in which nothing happened."""
    return Report(tuple(_judge(name, history) for name in PROPERTIES), len(history.steps))


def witnesses(name: str, history: History) -> Iterator[tuple[Step, ...]]:
    """The proofs, each as short as can be, that this property is broken in this history."""
    return _WITNESSES[name](history.steps)


def _judge(name: str, history: History) -> Verdict:
    proof = min(witnesses(name, history), key=lambda steps: (len(steps), steps[-1].number), default=None)
    # What cannot be seen could be the very step that is missed; a proof of presence needs nothing else.
    unclear = name in _UNATTRIBUTED and any(map(_unattributed, history.steps))
    blind = unclear or not history.complete or not history.steps
    if proof is not None and not (blind and name in _BY_ABSENCE):
        return Verdict(name, "broken", proof)
    if blind or (name == "nothing-lost" and _may_have_expired(history.steps)):
        return Verdict(name, "cannot-tell")
    return Verdict(name, "holds")


def _charged_twice(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    first: dict[str, Step] = {}
    for step in steps:
        if step.kind == "stored" and step.order is not None:
            if step.order in first:
                yield first[step.order], step
            first.setdefault(step.order, step)


def _acknowledged_unstored(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    stored: set[tuple[str | None, int | None]] = set()
    for step in steps:
        if step.kind == "stored":
            stored.add((step.order, step.quantity))
        elif step.kind == "acknowledged" and (step.order, step.quantity) not in stored:
            yield (step,)


def _lost(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    stored = {(step.order, step.quantity) for step in steps if step.kind == "stored"}
    waiting: set[int] = set()
    for step in steps:
        if step.kind in {"sent", "received"}:
            waiting.add(step.message)
        elif step.kind == "dead-lettered":
            waiting.discard(step.message)
        elif step.kind == "acknowledged":
            waiting.discard(step.message)
            if (step.order, step.quantity) not in stored:
                yield (step,)
        elif step.kind == "removed" and waiting:
            waiting.clear()
            yield (step,)


def _changed(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    return ((step,) for step in steps if step.kind in {"stored", "written"} and step.changed)


def _other_details(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    first: dict[str, Step] = {}
    for step in steps:
        if step.kind == "stored" and step.order is not None:
            if not step.valid:
                yield (step,)
            elif step.quantity != first.setdefault(step.order, step).quantity:
                yield first[step.order], step


def _failed_but_acknowledged(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    # A worker can delete its message by itself, before or after it fails.
    ends = {step.run: step for step in steps if step.kind in {"failed", "timeout", "crash"}}
    for step in steps:
        if step.kind == "acknowledged" and step.run in ends:
            end = ends[step.run]
            yield (step, end) if step.number < end.number else (end, step)


def _unattributed(step: Step) -> bool:
    return step.kind == "stored" and step.order is None


def _may_have_expired(steps: Sequence[Step]) -> bool:
    """Whether a message may have been in its queue for so long that the queue has dropped it."""
    ended = {step.message for step in steps if step.kind in {"acknowledged", "dead-lettered"}}
    last = max((step.at for step in steps), default=0.0)
    return any(step.kind == "sent" and step.message not in ended and last - step.at > RETENTION for step in steps)


_WITNESSES: dict[str, Callable[[Sequence[Step]], Iterator[tuple[Step, ...]]]] = {
    "charged-once": _charged_twice,
    "stored-first": _acknowledged_unstored,
    "nothing-lost": _lost,
    "unchanged": _changed,
    "first-details": _other_details,
    "failure-returns": _failed_but_acknowledged,
}
_BY_ABSENCE = frozenset({"stored-first", "nothing-lost"})
_UNATTRIBUTED = frozenset({"charged-once", "stored-first", "nothing-lost", "first-details"})

PROPERTIES: tuple[str, ...] = tuple(_WITNESSES)
