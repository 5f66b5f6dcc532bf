"""The journal as lanes: what happened to each message or execution, in the order in which it happened.

A `Lane` is one message of the lesson's queue, or one execution of its state machine; a `Mark` is one thing that
happened to it. Marks carry the event's number and time, and never a sentence: `helpers.show.timeline` tells them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

MarkKind = Literal[
    "sent",
    "received",
    "run",
    "written",
    "refused",
    "failed",
    "timeout",
    "crashed",
    "acknowledged",
    "returned",
    "dead-lettered",
    "removed",
    "started",
    "state",
    "retry",
    "ended",
    "stopped",
]


@dataclass(slots=True)
class Mark:
    """One thing that happened: `number` and `at` (seconds of the account's clock) are those of its event.

    `delivery` counts from 1. `about` names what it is about: the key of a write, a state, the queue of a message that
    moved; `error` is the name of an error. `hand` says that the learner did it, not the function or the service.
    Of a run, `end` is the number of its last event (None while it runs), `outcome` how it ended and `milliseconds` how
    long it took.
    """

    kind: MarkKind
    number: int
    at: float
    delivery: int = 0
    about: str = ""
    error: str = ""
    hand: bool = False
    end: int | None = None
    outcome: str = ""
    milliseconds: float = 0.0


@dataclass(slots=True)
class Lane:
    """One message (`number` counts in the order of sending) or one execution (`number` in the order of starting).

    `key` is the message id or the ARN, `name` the order that it is about or the execution's name.
    """

    kind: Literal["message", "execution"]
    key: str
    number: int
    name: str
    body: str
    marks: list[Mark] = field(default_factory=list)
    deliveries: int = 0
    queue: str = ""
    acknowledged: bool = False
    dead: bool = False
    removed: bool = False
    status: str = "RUNNING"
    output: str | None = None
    error: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more will happen to it."""
        if self.kind == "execution":
            return self.status != "RUNNING"
        return self.acknowledged or self.removed


@dataclass(frozen=True, slots=True)
class Skip:
    """The clock jumped `seconds` forward, after the event `number`."""

    number: int
    seconds: float


Column = tuple[Lane, Mark, Literal["begin", "end"]]


def in_order(lanes: list[Lane]) -> list[Column]:
    """All marks of the lanes in the order of their events; a run comes twice, for its begin and for its end."""
    found = [(number, lane, mark, which) for lane in lanes for number, mark, which in places(lane)]
    found.sort(key=lambda one: one[0])
    return [(lane, mark, which) for _number, lane, mark, which in found]


def places(lane: Lane) -> Iterator[tuple[int, Mark, Literal["begin", "end"]]]:
    """The numbers of a lane's marks, and those at which its runs end."""
    for mark in lane.marks:
        yield mark.number, mark, "begin"
        if mark.end is not None:
            yield mark.end, mark, "end"
