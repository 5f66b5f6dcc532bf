"""lab.compare_guards: real workers, several at once, counted as the single experiments count."""

from __future__ import annotations

import threading
from itertools import product

import pytest

from helpers.lab import Lab, experiments
from helpers.lab.errors import BadParameter
from helpers.lab.experiments import FAULTS, GUARDS
from helpers.lab.guard_comparison import COMPARED_FAULTS, COMPARED_GUARDS, GuardComparison
from tests.lab.conftest import Learner

HANG = 30.0


def effects(guard: str, fault: str, copies: int) -> tuple[int, int]:
    """Deliveries and effects, from what a guard is: which repetition does it not see?"""
    deliveries = {"none": 1, "producer-copy": copies, "interleaved": copies}.get(fault, 2)
    if guard in {"none", "counter"}:
        return deliveries, deliveries
    if guard == "message-id":
        # Each copy from the producer has an id of its own; a message that comes back keeps its id.
        return deliveries, deliveries if fault in {"producer-copy", "interleaved"} else 1
    if guard == "read-then-write":
        # Only who reads before the other has written is misled, and two runs do.
        return deliveries, 2 if fault in {"interleaved", "slow-worker"} else 1
    return deliveries, 1


@pytest.fixture(scope="module")
def everything(opened: Lab) -> GuardComparison:
    result: GuardComparison = opened.compare_guards(FAULTS, GUARDS, copies=4)
    return result


def test_each_guard_is_counted_under_each_fault(everything: GuardComparison) -> None:
    assert [(row.guard, row.fault) for row in everything.rows] == list(product(GUARDS, FAULTS))
    for row in everything.rows:
        assert (row.deliveries, row.effects) == effects(row.guard, row.fault, 4), (row.guard, row.fault)
        assert row.runs == row.deliveries
        assert row.accepted == row.effects
        assert row.orders == (row.effects if row.guard == "message-id" else 1)


def test_only_the_conditional_write_is_safe(everything: GuardComparison) -> None:
    assert [guard for guard in GUARDS if everything.safe(guard)] == ["conditional-write"]


def test_by_default_four_guards_meet_the_faults_that_repeat_a_job(opened: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    monkeypatch.setattr(experiments, "run", lambda ready, fault, copies, order: ran.append(fault) or _counted(fault))
    told: list[tuple[int, int]] = []
    result = opened.compare_guards(told=lambda *done: told.append(done))
    assert (result.guards, result.faults, result.copies) == (COMPARED_GUARDS, COMPARED_FAULTS, 3)
    assert sorted(ran) == sorted(COMPARED_FAULTS)
    assert told == [(done, 4) for done in range(5)]


def _counted(fault: str) -> list[experiments.ExperimentResult]:
    return [experiments.ExperimentResult(guard, fault, 2, 2, 1, 1, 1, 1) for guard in COMPARED_GUARDS]


def test_nothing_is_left_behind_and_the_learners_fault_stays_armed(opened: Lab) -> None:
    opened.reset()
    opened.faults.crash_after_write()
    before = opened.outcome()
    opened.compare_guards(["crash-after-write"], ["read-then-write", "conditional-write"])
    services = opened._lesson.services
    assert services.queue_names("q05-") == []
    assert services.mappings() == []
    functions = services.client("lambda").list_functions()["Functions"]
    assert [one["FunctionName"] for one in functions] == ["q05-worker"]
    assert services.client("dynamodb").list_tables()["TableNames"] == ["q05-orders", "q05-reference"]
    assert [one.fault for one in opened.faults.armed()] == ["crash-after-write"]
    assert opened.outcome() == before
    opened.faults.clear()


@pytest.mark.parametrize(
    ("choices", "name", "choice"),
    [
        ({"faults": ["fire"]}, "faults", "slow-worker"),
        ({"faults": "none"}, "faults", "slow-worker"),
        ({"faults": []}, "faults", "slow-worker"),
        ({"faults": 3}, "faults", "slow-worker"),
        ({"guards": ["none", "luck"]}, "guards", "message-id"),
        ({"guards": [["none"]]}, "guards", "message-id"),
        ({"copies": 1}, "copies", "2 to 8"),
        ({"copies": 9}, "copies", "2 to 8"),
        ({"copies": True}, "copies", "2 to 8"),
    ],
)
def test_bad_choices_are_refused_with_the_good_ones(opened: Lab, choices: dict, name: str, choice: str) -> None:
    with pytest.raises(BadParameter) as refused:
        opened.compare_guards(**choices)
    assert f"`{name}`" in refused.value.what
    assert choice in refused.value.advice


def test_a_cell_skips_no_time_while_a_comparison_runs_beside_it(opened: Lab) -> None:
    """Else the messages of the comparison would come back, and its counts would be others."""
    waits, go_on, skipped = threading.Event(), threading.Event(), threading.Event()

    def told(done: int, _all: int) -> None:
        if not done:
            waits.set()
            assert go_on.wait(HANG)

    work = threading.Thread(target=opened.compare_guards, args=(["none"], ["none"]), kwargs={"told": told})
    skip = threading.Thread(target=lambda: (opened.skip(30), skipped.set()))
    work.start()
    assert waits.wait(HANG)
    skip.start()
    assert not skipped.is_set()
    go_on.set()
    skip.join(HANG)
    work.join(HANG)
    assert skipped.is_set()


def test_the_learners_own_worker_is_no_part_of_it(opened: Lab) -> None:
    learner = Learner(opened)
    learner.connect()
    before = len(opened.snapshot().runs)
    opened.compare_guards(["none"], ["none"])
    assert len(opened.snapshot().runs) == before
