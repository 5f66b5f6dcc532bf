"""What a learner can break in a workflow, and what `apply` does for papermill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from helpers.lab import Lab
from helpers.lab.errors import BadParameter, NoSuchExecution, NothingSent, NotInLesson
from helpers.lab.language import known_languages, use
from tests.lab.workflow_learner import WorkflowLearner


@pytest.fixture(scope="module")
def learner() -> Iterator[WorkflowLearner]:
    """One account for the module: each fault uses execution names and orders of its own."""
    with Lab("protected-workflow", "en") as lab:
        learner = WorkflowLearner(lab)
        learner.deploy()
        learner.connect()
        learner.three_executions()
        yield learner


def ended(learner: WorkflowLearner, name: str) -> tuple[str, str]:
    learner.lab.settle(skip_waits=True)
    execution = learner.lab.execution(name)
    return execution.status, execution.error


@pytest.mark.parametrize(
    ("fault", "name", "status", "error", "attempts"),
    [
        ("flaky", "flaky-order", "SUCCEEDED", "", 2),
        ("permanent", "permanent-order", "FAILED", "OrderRejected", 1),
        ("quantity_zero", "quantity-0-order", "FAILED", "OrderRejected", 0),
        ("quantity_eleven", "quantity-11-order", "FAILED", "OrderRejected", 1),
        ("other_quantity", "other-quantity-order", "FAILED", "ConditionalCheckFailedException", 1),
        ("more_failures", "more-failures-order", "FAILED", "TransientOrderError", 3),
    ],
)
def test_each_order_ends_in_its_way(
    learner: WorkflowLearner, fault: str, name: str, status: str, error: str, attempts: int
) -> None:
    before = learner.orders()
    notice = getattr(learner.lab.faults, fault)()
    assert f"`{name}`" in notice.text
    assert ended(learner, name) == (status, error)
    assert len(learner.lab.execution(name).attempts("StoreOrder")) == attempts
    stored = {order for order in learner.orders() if order not in before}
    assert stored == ({name} if status == "SUCCEEDED" else set())
    assert learner.orders()["protected-order"] == (4, 1100)


def test_a_fault_that_is_pressed_again_is_a_new_execution(learner: WorkflowLearner) -> None:
    learner.lab.faults.permanent()
    assert "`permanent-order-" in learner.lab.faults.permanent().text


def test_the_permission_goes_and_comes_back(learner: WorkflowLearner) -> None:
    learner.lab.faults.remove_permission()
    learner.start("not-allowed", id="not-allowed", quantity=1)
    assert ended(learner, "not-allowed") == ("FAILED", "Lambda.AWSLambdaException")
    [attempt] = learner.lab.execution("not-allowed").attempts("StoreOrder")
    assert "not authorized to perform: lambda:InvokeFunction" in attempt.message
    assert "assumed-role/ev05-workflow-role/…" in attempt.message, "a session name differs from run to run"
    assert "not-allowed" not in learner.orders()
    assert "nothing was removed" in learner.lab.faults.remove_permission().text
    learner.lab.faults.give_permission()
    learner.start("allowed", id="not-allowed", quantity=1)
    assert ended(learner, "allowed") == ("SUCCEEDED", "")


# a fault on the worker's next task: how the execution ends, how often its order was written, how many runs it took
TASK = {
    "throttle_worker": ("FAILED", "Lambda.TooManyRequestsException", 0, 0),
    "crash_before_write": ("FAILED", "Runtime.ExitError", 0, 1),
    "lose_request": ("SUCCEEDED", "", 1, 2),
    "lose_answer": ("SUCCEEDED", "", 1, 2),
    "server_error": ("SUCCEEDED", "", 1, 2),
    "crash_before_answer": ("FAILED", "Runtime.ExitError", 1, 1),
    "lose_result": ("FAILED", "Lambda.SdkClientException", 1, 1),
}


@pytest.mark.parametrize("fault", TASK)
def test_each_fault_of_a_task_ends_as_its_notice_says(learner: WorkflowLearner, fault: str) -> None:
    status, error, accepted, runs = TASK[fault]
    notice = getattr(learner.lab.faults, fault)()
    name = f"task-{fault}".replace("_", "-")
    learner.start(name, id=name, quantity=1)
    assert ended(learner, name) == (status, error)
    assert error in notice.text
    assert learner.lab.faults.armed() == []
    assert learner.lab.faults.runs_of(name) == runs
    (order,) = [one for one in learner.lab.outcome()["orders"] if one["id"] == name] or [{"accepted": 0}]
    assert order["accepted"] == accepted


@pytest.mark.parametrize("language", known_languages())
@pytest.mark.parametrize("fault", TASK)
def test_a_notice_can_be_said_in_each_language(learner: WorkflowLearner, language: str, fault: str) -> None:
    try:
        use(language)
        text = getattr(learner.lab.faults, fault)().text
    finally:
        use("en")
        learner.lab.faults.clear()
    assert "{" not in text
    # A form that stands for several counts names the count.
    assert "1" in text or fault != "crash_before_answer" or language in {"en", "es"}


def test_a_name_is_used_again(learner: WorkflowLearner) -> None:
    learner.lab.faults.hold_worker()
    learner.start("held", id="held", quantity=1)
    assert learner.lab.faults.history()[-1].fault == "hold-worker"
    assert "the answer is the same execution" in learner.lab.faults.same_name().text
    notices = {learner.lab.faults.clear().text for _again in range(2)}
    assert len(notices) == 1, "it says the same whether or not the worker stands at the held call"
    assert ended(learner, "held") == ("SUCCEEDED", "")
    assert "`ExecutionAlreadyExists`" in learner.lab.faults.same_name().text
    assert learner.lab._lesson.started().count("held") == 1


@pytest.mark.parametrize("fault", ["flaky", "permanent", "other-quantity", "no-permission", "more-failures"])
def test_a_parameter_starts_one_more_execution(learner: WorkflowLearner, fault: str) -> None:
    before = len(learner.lab._lesson.started())
    assert learner.lab.apply(fault) is not None
    learner.lab.settle()
    assert len(learner.lab._lesson.started()) == before + 1
    assert learner.lab.settle().waiting == (), "the pauses were skipped"
    assert learner.lab.check("connect")["policy"].outcome == "right", "the permission is back"


def test_no_fault_does_nothing_and_an_unknown_one_is_refused(learner: WorkflowLearner) -> None:
    assert learner.lab.apply("none") is None
    with pytest.raises(BadParameter):
        learner.lab.apply("rain")


def test_an_execution_that_waits_is_said(learner: WorkflowLearner) -> None:
    learner.lab.faults.hold_worker()
    learner.start("waits", id="waits", quantity=1, mode="flaky", failures=2)
    learner.lab.faults.clear()
    rest = learner.lab.settle()
    if rest.waiting:  # the pause is one second of real time
        assert "`waits`" in str(rest)
    assert ended(learner, "waits") == ("SUCCEEDED", "")
    assert str(learner.lab.settle()) == "At rest. No execution waits."


@pytest.mark.parametrize("name", ["nobody", "a b", "", 7, None])
def test_an_execution_that_was_not_started_is_said(learner: WorkflowLearner, name: Any) -> None:
    with pytest.raises(NoSuchExecution, match="after-write-order"):
        learner.lab.execution(name)


def test_calls_of_another_lesson_are_refused(learner: WorkflowLearner) -> None:
    with pytest.raises(NotInLesson):
        learner.lab.explore_guards()


@pytest.mark.parametrize(
    "parameters", [{"repeats": 21}, {"repeats": True}, {"quantity": 11}, {"fault": "rain"}, {"x": 1}]
)
def test_parameters_are_checked(learner: WorkflowLearner, parameters: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        type(learner.lab._lesson).choose(parameters)


def test_before_there_is_a_workflow_each_fault_says_what_is_missing(learner: WorkflowLearner) -> None:
    learner.lab.reset()
    faults = learner.lab.faults
    for fault in (faults.flaky, faults.other_quantity, faults.same_name):
        with pytest.raises(NothingSent, match="state machine"):
            fault()
    with pytest.raises(NothingSent, match="role"):
        faults.remove_permission()
    with pytest.raises(NoSuchExecution):
        learner.lab.state_machine()
    with pytest.raises(NoSuchExecution, match="step 4"):
        learner.lab.execution("after-write-order")
    learner.connect()
    with pytest.raises(NothingSent):
        faults.same_name()
    with pytest.raises(NothingSent):
        faults.other_quantity()
