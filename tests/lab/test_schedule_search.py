"""The search drives every class of schedules, and each once: compared with all sequences of small systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.lab import deliveries, explorer
from helpers.lab.explorer import Exploration
from helpers.lab.properties import PROPERTIES
from helpers.lab.schedule_search import Search, every
from tests.lab.modelled import Handler, ModelledConductor

Op = tuple[str, str]
"""("read" or "write", variable)"""

Move = tuple[int, int, str, str]
"""Thread, place in its program, kind, variable."""


class Threads:
    """Programs over shared variables; each write adds its thread's name to the variable."""

    def __init__(self, programs: list[list[Op]]) -> None:
        self.programs = programs
        self.begin()

    def begin(self) -> None:
        self.at = [0] * len(self.programs)
        self.values = {"x": "", "y": ""}
        self.seen = [""] * len(self.programs)

    def enabled(self) -> tuple[Move, ...]:
        return tuple(
            (thread, self.at[thread], *program[self.at[thread]])
            for thread, program in enumerate(self.programs)
            if self.at[thread] < len(program)
        )

    def do(self, move: Move) -> None:
        thread, _place, kind, variable = move
        self.at[thread] += 1
        if kind == "read":
            self.seen[thread] += f"[{self.values[variable]}]"
        else:
            self.values[variable] += str(thread)

    def end(self) -> tuple[str, ...]:
        return (*self.values.values(), *self.seen)


def untouched(one: Move, other: Move) -> bool:
    return one[0] != other[0] and (one[3] != other[3] or (one[2], other[2]) == ("read", "read"))


PROGRAMS = st.lists(
    st.lists(st.tuples(st.sampled_from(["read", "write"]), st.sampled_from(["x", "y"])), max_size=3),
    min_size=1,
    max_size=3,
).filter(lambda programs: sum(map(len, programs)) <= 7)


@settings(max_examples=50, deadline=None)
@given(PROGRAMS)
def test_every_end_is_reached_and_each_class_once(programs):
    system = Threads(programs)
    pruned = [(actions, system.end()) for actions in Search(system, untouched)]
    everything = [(actions, system.end()) for actions in Search(system, every)]
    assert {end for _, end in pruned} == {end for _, end in everything}
    classes = [_class_of(actions) for actions, _ in pruned]
    assert len(classes) == len(set(classes)), "a class was driven twice"
    assert set(classes) == {_class_of(actions) for actions, _ in everything}


def _class_of(actions: tuple[Move, ...]) -> frozenset[tuple[Move, Move]]:
    """What orders a class: the pairs of dependent actions, each in its order."""
    pairs = ((one, other) for n, one in enumerate(actions) for other in actions[n + 1 :])
    return frozenset((one, other) for one, other in pairs if not untouched(one, other))


def test_a_search_that_may_not_go_on_is_not_exhausted():
    search = Search(Threads([[("write", "x")], [("write", "x")]]), every, most=1)
    assert (len(list(search)), search.exhausted) == (1, False)
    search = Search(Threads([[("write", "x")], [("write", "x")]]), every, most=2)
    assert (len(list(search)), search.exhausted) == (2, True)


# --- the explorer's own independence and reductions, on handlers in plain Python ----------------------------------


def of_instructions(instructions: tuple[str, ...]) -> Handler:
    """A handler that does one thing after the other; `seen` is what it last learned about the stored order."""

    def handler(order: str, quantity: int, message_id: str) -> Iterator[tuple[object, ...]]:  # type: ignore[misc]
        seen = None
        for instruction in instructions:
            if instruction == "read":
                seen = yield ("get",)
            elif instruction == "write":
                yield ("put", False, "")
            elif instruction == "write-if-absent":
                if not (yield ("put", True, "")):
                    seen = yield ("get",)
            elif instruction == "claim":
                if not (yield ("claim",)):
                    return
            elif instruction == "write-by-message":
                yield ("put", True, message_id)
            elif instruction == "done-if-seen" and seen is not None:
                return
            elif instruction == "fail-if-other" and seen not in {None, quantity}:
                raise ValueError

    return handler  # type: ignore[return-value]


GUARDS = {
    "none": ("write",),
    "read-then-write": ("read", "done-if-seen", "write"),
    "message-id": ("write-by-message",),
    "condition-only": ("write-if-absent",),
    "conditional-write": ("write-if-absent", "fail-if-other"),
    "nothing": (),
    "only reads": ("read",),
    "claims first": ("claim", "write"),
}

CALLS = {"claim": 1, "read": 1, "write": 1, "write-if-absent": 2, "write-by-message": 1}
INSTRUCTIONS = st.lists(st.sampled_from([*CALLS, "done-if-seen", "fail-if-other"]), max_size=4).filter(
    lambda chosen: sum(CALLS.get(instruction, 0) for instruction in chosen) <= 2
)


def explored(handler: Handler, prune: bool) -> Exploration:
    conductor = ModelledConductor(handler)
    return explorer.explore(conductor.bench, conductor, conductor.journal, "model", prune)  # type: ignore[arg-type]


def shortest(found: Exploration) -> dict[str, int]:
    return {one.property: len(one.steps) for one in found.counterexamples}


@pytest.mark.parametrize("guard", GUARDS)
def test_nothing_is_lost_by_leaving_out_what_can_be_told(guard, monkeypatch):
    for pruned, everything in compared(of_instructions(GUARDS[guard]), monkeypatch.setattr):
        assert shortest(pruned) == shortest(everything), "the whole search knows a shorter story"


@settings(max_examples=5, deadline=None)
@given(INSTRUCTIONS)
def test_nothing_is_lost_for_any_small_handler(instructions):
    with pytest.MonkeyPatch.context() as patched:
        assert len(list(compared(of_instructions(tuple(instructions)), patched.setattr))) == 3


def compared(
    handler: Handler, patch: Callable[[object, str, object], None]
) -> Iterator[tuple[Exploration, Exploration]]:
    """Scenario by scenario: otherwise what one of them breaks would hide what is left out in another."""
    patch(explorer, "MOST_SCHEDULES", 100_000)
    for scenario in ("same-message", "producer-copy", "other-details"):
        patch(explorer, "SCENARIOS", ("alone", scenario))
        pruned, everything = explored(handler, prune=True), explored(handler, prune=False)
        assert pruned.outcomes == everything.outcomes, scenario
        assert pruned.reason == everything.reason == ""
        assert pruned.schedules <= everything.schedules
        yield pruned, everything


def test_independence_is_symmetric():
    kinds = [("call", True), ("call", False), ("acknowledge", False), ("death", False), ("delivery", False)]
    actions = [
        deliveries.Action(run, kind, message, reads)  # type: ignore[arg-type]
        for run in (0, 1)
        for message in (1, 2)
        for kind, reads in kinds
    ]
    for one in actions:
        for other in actions:
            assert deliveries.independent(one, other) == deliveries.independent(other, one)
            assert not (one.run == other.run and deliveries.independent(one, other))


def test_a_table_has_all_properties():
    assert tuple(name for name, _ in explored(of_instructions(("write",)), prune=True).outcomes) == PROPERTIES
