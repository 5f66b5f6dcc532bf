"""All schedules of a system of runs, each once: a stateless search with sleep sets.

The search keeps no states. It brings the system to its beginning again and again and drives it along another
sequence of actions each time, until every choice was made (Godefroid, "Model Checking for Programming Languages
using VeriSoft", POPL 1997). Two sequences that differ only in the order of neighbouring independent actions lead
to the same end, and no property can tell them apart; of each such class one sequence is driven to its end. Sleep
sets do this (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996, chapter 5): an
action that was tried at a point sleeps in the branches after it until an action that depends on it has happened.
They leave out no class, so they lose no violation, provided `independent` is right. That is the system's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

A = TypeVar("A")


class System(Protocol[A]):
    """Runs that can be driven step by step. After the same actions it is in the same state."""

    def begin(self) -> None:
        """Bring it to its beginning."""

    def enabled(self) -> tuple[A, ...]:
        """The actions that are possible now, always in the same order. None: the schedule is over."""

    def do(self, action: A) -> None:
        """Do one of the enabled actions."""


@dataclass(slots=True)
class _Point(Generic[A]):
    """A choice on the way: what was possible, what sleeps, and what was chosen."""

    enabled: tuple[A, ...]
    asleep: set[A]
    chosen: A


def every(action: object, other: object) -> bool:
    """Call no two actions independent: every sequence is a class of its own."""
    return False


class Search(Generic[A]):
    """Drives a system along one sequence of each class; iterate over it to get the sequences, each at its end.

    `most`: drive the system at most so often. `independent` must be symmetric: neither action enables, disables or
    changes the other, and no property looks at their order. After the iteration `exhausted` says whether all
    classes were driven.
    """

    def __init__(self, system: System[A], independent: Callable[[A, A], bool], most: int | None = None) -> None:
        self._system = system
        self._independent = independent
        self._most = most
        self.exhausted = False

    def __iter__(self) -> Iterator[tuple[A, ...]]:
        path: list[_Point[A]] = []
        driven = 0
        while self._most is None or driven < self._most:
            driven += 1
            self._system.begin()
            for point in path:
                self._system.do(point.chosen)
            if not _extend(self._system, self._independent, path):
                yield tuple(point.chosen for point in path)
            # Otherwise all that is possible sleeps: this class was driven already.
            if not _turn(path):
                self.exhausted = True
                return


def _extend(system: System[A], independent: Callable[[A, A], bool], path: list[_Point[A]]) -> tuple[A, ...]:
    """Go on from the end of `path` while an action is awake. Returns what is possible at the end."""
    while True:
        enabled = system.enabled()
        asleep = _inherited(path[-1], independent) if path else set()
        awake = [action for action in enabled if action not in asleep]
        if not awake:
            return enabled
        path.append(_Point(enabled, asleep, awake[0]))
        system.do(awake[0])


def _inherited(point: _Point[A], independent: Callable[[A, A], bool]) -> set[A]:
    return {action for action in point.asleep if independent(action, point.chosen)}


def _turn(path: list[_Point[A]]) -> bool:
    """Choose the next branch at the last point that has one. Returns whether there is any."""
    while path:
        point = path[-1]
        point.asleep.add(point.chosen)
        awake = [action for action in point.enabled if action not in point.asleep]
        if awake:
            point.chosen = awake[0]
            return True
        path.pop()
    return False
