"""The checks of protected-workflow: the whole way is right, and each mistake is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.lab import Lab
from helpers.lab.errors import StepMissing
from tests.lab.workflow_learner import (
    CATCH,
    DEFINITION,
    GUARDED,
    MACHINE_ARN,
    PROVIDED,
    RETRY,
    WorkflowLearner,
    definition,
    document,
)

STEPS = ("deploy", "connect", "run", "break", "clean-up")


@pytest.fixture(scope="module")
def opened() -> Iterator[Lab]:
    lab = Lab("protected-workflow", "en")
    yield lab
    lab.close()


@pytest.fixture
def learner(opened: Lab) -> WorkflowLearner:
    opened.reset()
    return WorkflowLearner(opened)


def test_nothing_is_attempted_at_the_start(learner: WorkflowLearner) -> None:
    found = {step: learner.outcomes(step) for step in STEPS}
    assert found["deploy"] == {"code": "not-attempted", "settings": "right"}
    assert set(found["connect"].values()) == {"not-attempted"}
    assert set(found["run"].values()) == {"not-attempted"}
    assert set(found["break"].values()) == {"not-attempted"}
    assert found["clean-up"] == {
        "machine": "not-attempted",
        "role": "not-attempted",
        "orders": "not-attempted",
        "log-group": "not-attempted",
        "kept": "right",
        "reference": "right",
    }


def test_the_whole_lesson_is_right_and_its_numbers_are_exact(learner: WorkflowLearner) -> None:
    lab = learner.lab
    learner.deploy()
    learner.connect()
    assert lab.check("deploy").passed
    assert lab.check("connect").passed
    learner.three_executions()
    report = lab.check("run")
    assert report.passed, str(report)
    assert report["runs"].detail == "7 runs."
    assert learner.orders() == {"protected-order": (4, 1100), "different-order": (1, 350)}
    first = lab.execution("after-write-order")
    assert [(one.outcome, one.error) for one in first.attempts("StoreOrder")] == [
        ("failed", "TransientOrderError"),
        ("succeeded", ""),
    ]
    assert first.attempts("StoreOrder")[1].result["duplicate"] is True
    assert [row.event for row in first.rows if row.mark] == [
        "TaskFailed",
        "TaskSucceeded",
        "TaskSucceeded",
        "ExecutionSucceeded",
    ]
    outcome = lab.outcome()
    assert (outcome["executions"], outcome["succeeded_executions"], outcome["runs"]) == (3, 3, 7)
    assert (outcome["accepted"], outcome["refused"], outcome["failed_runs"]) == (2, 2, 1)
    faults = lab.faults
    for fault in (faults.flaky, faults.permanent, faults.quantity_zero, faults.quantity_eleven):
        fault()
        lab.settle(skip_waits=True)
    faults.other_quantity()
    assert lab.check("break")["bounded"].outcome == "not-attempted"
    faults.more_failures()
    lab.settle(skip_waits=True)
    faults.remove_permission()
    learner.run("no-permission-order", id="no-permission-order", quantity=2)
    faults.give_permission()
    faults.same_name()
    report = lab.check("break")
    assert report.passed, str(report)
    assert lab.outcome()["runs"] == 7, "what follows the step is not counted"
    learner.clean_up()
    report = lab.check("clean-up")
    assert report.passed, str(report)


def test_a_worker_without_a_guard_overwrites_the_order(learner: WorkflowLearner) -> None:
    learner.deploy(PROVIDED + "\n# mine\n")
    learner.connect()
    learner.three_executions()
    assert '"duplicate": false' in learner.detail("run", "first")
    assert learner.detail("run", "decisions").startswith("`protected-order` was overwritten 2 times")
    assert learner.outcomes("run")["orders"] == "right", "the table alone shows nothing"


def test_a_role_that_another_service_may_use(learner: WorkflowLearner) -> None:
    learner.make_role("lambda.amazonaws.com")
    assert "`lambda.amazonaws.com`" in learner.detail("connect", "role")


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ({"action": "lambda:*"}, "`lambda:*`"),
        ({"resource": "*"}, "`*`"),
        ({"name": "Everything", "action": "*", "resource": "*"}, "`Everything`"),
    ],
)
def test_a_policy_that_allows_too_much(learner: WorkflowLearner, allowed: dict[str, str], said: str) -> None:
    learner.make_role()
    learner.allow(**allowed)
    assert said in learner.detail("connect", "policy")


def test_a_state_machine_of_another_name(learner: WorkflowLearner) -> None:
    learner.make_role()
    learner.allow()
    learner.make_machine(name="ev05-other")
    assert "`ev05-other`" in learner.detail("connect", "machine")
    assert learner.outcomes("connect")["states"] == "not-attempted"


@pytest.mark.parametrize(
    ("plan", "point", "said"),
    [
        (definition(Retry=[{**RETRY, "MaxAttempts": 3}]), "retry", "`MaxAttempts` is `3`, not `2`."),
        (definition(Retry=[{**RETRY, "ErrorEquals": ["States.ALL"]}]), "retry", "States.ALL"),
        (definition(Retry=None), "retry", "`Retry` has 0 rules."),
        (definition(Catch=None), "catch", "`Catch` has 0 rules."),
        (definition(Catch=[{**CATCH, "ResultPath": "$"}]), "catch", "`ResultPath`"),
        (definition(Catch=None), "states", "No way leads from `StoreOrder` to `Rejected`."),
    ],
)
def test_a_definition_that_differs(learner: WorkflowLearner, plan: dict[str, Any], point: str, said: str) -> None:
    learner.connect(plan)
    assert said in learner.detail("connect", point)


def test_a_definition_with_a_typo_is_refused_by_the_service(learner: WorkflowLearner) -> None:
    learner.make_role()
    learner.allow()
    typo = json.loads(json.dumps(DEFINITION).replace('"Default": "Rejected"', '"Default": "Rejectd"'))
    machines = learner.client("stepfunctions")
    with pytest.raises(machines.exceptions.InvalidDefinition, match="Rejectd"):
        learner.make_machine(typo)
    assert learner.outcomes("connect")["machine"] == "not-attempted"


@pytest.mark.parametrize("quantity", [True, "4", 0, 11, 2.5])
def test_a_quantity_that_is_not_valid_is_rejected(learner: WorkflowLearner, quantity: object) -> None:
    learner.deploy()
    learner.connect()
    assert learner.run("bad", id="bad-order", quantity=quantity)["error"] == "OrderRejected"
    assert learner.orders() == {}


def test_an_id_that_is_a_number_is_rejected(learner: WorkflowLearner) -> None:
    learner.deploy()
    learner.connect()
    assert learner.run("bad", id=7, quantity=4)["error"] == "OrderRejected"
    assert learner.orders() == {}


def test_a_crash_after_the_write_ends_the_execution_and_keeps_the_order(learner: WorkflowLearner) -> None:
    learner.deploy()
    learner.connect()
    learner.lab.faults.crash_before_answer()
    assert learner.run("crash", id="crash-order", quantity=2)["error"] == "Runtime.ExitError"
    assert learner.orders() == {"crash-order": (2, 600)}


def test_a_cell_that_is_run_too_early_names_the_step(learner: WorkflowLearner) -> None:
    with pytest.raises(StepMissing) as missing:
        learner.lab.require("run")
    assert missing.value.step == "deploy"
    learner.deploy()
    learner.connect()
    with pytest.raises(StepMissing) as missing:
        learner.lab.require("run")
    assert missing.value.step == "run"
    learner.run("after-write-order", id="protected-order", quantity=4, mode="after-write")
    learner.lab.require("run")


def test_a_changed_app_and_other_settings_are_named(learner: WorkflowLearner) -> None:
    learner.deploy()
    (learner.lab.folder / "app.py").write_text(GUARDED + "# later\n", encoding="utf-8")
    assert "was changed after it was deployed" in learner.detail("deploy", "code")
    learner.client("lambda").update_function_configuration(
        FunctionName="ev05-worker", Environment={"Variables": {"ORDERS_TABLE": "ev05-orders"}}
    )
    assert "`ATTEMPTS_TABLE`" in learner.detail("deploy", "settings")


@pytest.mark.parametrize(
    ("service", "action", "step", "point"),
    [
        ("states", "ListStateMachines", "clean-up", "machine"),
        ("iam", "ListRoles", "clean-up", "role"),
        ("dynamodb", "Scan", "clean-up", "orders"),
        ("logs", "DescribeLogGroups", "clean-up", "log-group"),
        ("states", "DescribeStateMachine", "connect", "machine"),
        ("iam", "GetRole", "connect", "role"),
    ],
)
def test_an_error_proves_nothing(learner: WorkflowLearner, service: str, action: str, step: str, point: str) -> None:
    learner.lab.cloud.faults.refuse(service, action, "AccessDeniedException")
    assert "AccessDeniedException" in learner.detail(step, point, "cannot-tell")


def test_a_touched_reference_item_and_a_deleted_table_are_seen(learner: WorkflowLearner) -> None:
    tables = learner.client("dynamodb")
    tables.put_item(TableName="ev05-reference", Item={"id": {"S": "reference"}, "note": {"S": "mine"}})
    tables.delete_table(TableName="ev05-attempts")
    assert learner.detail("clean-up", "reference") == "The note is `mine`."
    assert "`ev05-attempts`" in learner.detail("clean-up", "kept")


def test_a_role_left_behind_is_named(learner: WorkflowLearner) -> None:
    learner.connect()
    learner.client("stepfunctions").delete_state_machine(stateMachineArn=MACHINE_ARN)
    learner.client("iam").delete_role_policy(RoleName="ev05-workflow-role", PolicyName="InvokeWorker")
    learner.lab.settle()
    assert learner.outcomes("clean-up")["machine"] == "right"
    assert learner.detail("clean-up", "role") == "Still there: `ev05-workflow-role`."


def test_one_document_of_a_policy_may_hold_one_statement_alone(learner: WorkflowLearner) -> None:
    learner.make_role()
    statement = json.loads(document({"Effect": "Deny", "Action": "lambda:InvokeFunction", "Resource": "*"}))
    statement["Statement"] = statement["Statement"][0]
    learner.client("iam").put_role_policy(
        RoleName="ev05-workflow-role", PolicyName="InvokeWorker", PolicyDocument=json.dumps(statement)
    )
    assert learner.outcomes("connect")["policy"] == "not-yet"
