"""lab.experiment and lab.batch_experiment: real handlers under schedules that come out the same each time."""

from __future__ import annotations

import ast

import pytest

from helpers.lab.bench import Bench
from helpers.lab.errors import BadParameter
from helpers.lab.experiments import FAULTS, GUARDS, BatchResult
from helpers.lab.idempotent_consumer import HANDLERS

# deliveries, runs, accepted, refused, orders, effects
EXPECTED = {
    ("none", "none"): (1, 1, 1, 0, 1, 1),
    ("none", "producer-copy"): (2, 2, 2, 0, 1, 2),
    ("none", "interleaved"): (2, 2, 2, 0, 1, 2),
    ("none", "crash-after-write"): (2, 2, 2, 0, 1, 2),
    ("none", "slow-worker"): (2, 2, 2, 0, 1, 2),
    ("counter", "none"): (1, 1, 1, 0, 1, 1),
    ("counter", "producer-copy"): (2, 2, 2, 0, 1, 2),
    ("counter", "interleaved"): (2, 2, 2, 0, 1, 2),
    ("counter", "crash-after-write"): (2, 2, 2, 0, 1, 2),
    ("counter", "slow-worker"): (2, 2, 2, 0, 1, 2),
    ("read-then-write", "none"): (1, 1, 1, 0, 1, 1),
    ("read-then-write", "producer-copy"): (2, 2, 1, 0, 1, 1),
    ("read-then-write", "interleaved"): (2, 2, 2, 0, 1, 2),
    ("read-then-write", "crash-after-write"): (2, 2, 1, 0, 1, 1),
    ("read-then-write", "slow-worker"): (2, 2, 2, 0, 1, 2),
    ("message-id", "none"): (1, 1, 1, 0, 1, 1),
    ("message-id", "producer-copy"): (2, 2, 2, 0, 2, 2),
    ("message-id", "interleaved"): (2, 2, 2, 0, 2, 2),
    ("message-id", "crash-after-write"): (2, 2, 1, 1, 1, 1),
    ("message-id", "slow-worker"): (2, 2, 1, 1, 1, 1),
    ("conditional-write", "none"): (1, 1, 1, 0, 1, 1),
    ("conditional-write", "producer-copy"): (2, 2, 1, 1, 1, 1),
    ("conditional-write", "interleaved"): (2, 2, 1, 1, 1, 1),
    ("conditional-write", "crash-after-write"): (2, 2, 1, 1, 1, 1),
    ("conditional-write", "slow-worker"): (2, 2, 1, 1, 1, 1),
}


@pytest.fixture(scope="module")
def compared(opened):
    """All of them side by side, which takes a fifth of the time that they take one after the other."""
    return {(row.guard, row.fault): row for row in opened.compare_guards(FAULTS, GUARDS, copies=2).rows}


@pytest.mark.parametrize("case", EXPECTED, ids="-with-".join)
def test_each_guard_under_each_fault(compared, case):
    result = compared[case]
    seen = (result.deliveries, result.runs, result.accepted, result.refused, result.orders, result.effects)
    assert seen == EXPECTED[case]


@pytest.mark.parametrize("fault", ["interleaved", "crash-after-write"])
def test_an_experiment_alone_comes_to_the_same_result(opened, compared, fault):
    assert opened.experiment("read-then-write", fault) == compared["read-then-write", fault]


def test_every_case_is_expected():
    assert set(EXPECTED) == {(guard, fault) for guard in GUARDS for fault in FAULTS}


def test_copies_are_sent_as_often_as_asked(opened):
    assert opened.experiment("counter", "producer-copy", copies=3).effects == 3
    assert opened.experiment("conditional-write", "interleaved", copies=3).refused == 2


def test_without_partial_responses_good_jobs_are_repeated_and_dead_lettered(opened):
    orders = tuple((f"order-{number}", 3) for number in range(1, 11))
    assert opened.batch_experiment(partial=False) == BatchResult(False, 3, orders, 9, 10)


def test_with_partial_responses_only_the_bad_job_returns(opened):
    orders = (*((f"order-{number}", 1) for number in range(1, 10)), ("order-10", 3))
    assert opened.batch_experiment(partial=True) == BatchResult(True, 3, orders, 9, 1)


def test_an_experiment_leaves_nothing_behind_and_the_lesson_alone(opened):
    opened.reset()
    before = opened.outcome()
    opened.experiment("conditional-write", "crash-after-write")
    opened.batch_experiment(partial=True)
    services = opened._lesson.services
    assert services.queue_names("q05-") == []
    assert services.mappings() == []
    assert services.client("dynamodb").list_tables()["TableNames"] == ["q05-orders", "q05-reference"]
    functions = services.client("lambda").list_functions()["Functions"]
    assert [one["FunctionName"] for one in functions] == ["q05-worker"]
    roles = services.client("iam").list_roles()["Roles"]
    assert [one["RoleName"] for one in roles] == ["q05-worker-role"]
    assert services.client("logs").describe_log_groups()["logGroups"] == []
    assert opened.cloud.faults.armed() == []
    assert opened.outcome() == before


def test_a_fault_that_the_learner_armed_stays_armed(opened):
    opened.faults.crash_after_write()
    opened.experiment("none", "none")
    assert [one.fault for one in opened.faults.armed()] == ["crash-after-write"]
    opened.faults.clear()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("luck", "none"), "guard"),
        (("none", "fire"), "fault"),
        (("none", "producer-copy", 0), "copies"),
        (("none", "producer-copy", 21), "copies"),
        (("none", "producer-copy", True), "copies"),
        (("none", "interleaved", 1), "copies"),
    ],
)
def test_bad_choices_are_named(opened, arguments, named):
    with pytest.raises(BadParameter, match=f"`{named}`"):
        opened.experiment(*arguments)


def test_partial_is_a_truth_value(opened):
    with pytest.raises(BadParameter, match="partial"):
        opened.batch_experiment(1)


@pytest.mark.parametrize("file", sorted(path.name for path in HANDLERS.glob("*.py")))
def test_the_handlers_know_nothing_of_the_course(file):
    tree = ast.parse((HANDLERS / file).read_text(encoding="utf-8"))
    imported = {
        name.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert imported == {"json", "os", "boto3"}
    assert "endpoint" not in (HANDLERS / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", ["make_table", "make_role", "make_function"])
def test_an_interrupt_while_it_is_set_up_leaves_nothing_behind(opened, monkeypatch, moment):
    def interrupted(*_values):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(opened._lesson.services, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.experiment("conditional-write")
    assert opened._lesson.services.queue_names("q05-x-") == []
    assert opened.experiment("conditional-write").effects == 1


def test_an_interrupt_while_a_write_is_held_lets_it_go(opened, monkeypatch):
    def interrupted(*_values):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Bench, "wait_for_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.experiment("conditional-write", "slow-worker")
    assert opened.cloud.busy() == []
    assert opened._lesson.services.queue_names("q05-x-") == []


def test_what_an_interrupted_removal_left_is_removed_by_the_next_run(opened, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(Bench, "remove", lambda bench: None)
        opened.experiment("conditional-write")
    assert opened.experiment("conditional-write").effects == 1
    assert opened._lesson.services.queue_names("q05-x-") == []
