"""Time in workflows: skipped by the account's clock, real otherwise; what is at rest; the end of the account."""

from __future__ import annotations

import datetime
import json
import threading
import time
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import Call, ExecutionEnded
from tests.cloud.workflow_stage import Stage, task

DONE = {"Type": "Succeed"}


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


def running(stage: Stage, execution: str) -> bool:
    return bool(stage.sfn.describe_execution(executionArn=execution)["status"] == "RUNNING")


def in_seconds(stage: Stage, seconds: float) -> str:
    at = datetime.datetime.fromtimestamp(stage.cloud.clock.now() + seconds, datetime.UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("field", ["Seconds", "SecondsPath", "Timestamp", "TimestampPath"])
def test_a_wait_ends_when_the_accounts_clock_says_so(stage: Stage, field: str) -> None:
    """Amazon States Language, "Wait state"; a timestamp is in UTC, whatever the machine's zone."""
    value: Any = 600
    event: dict[str, Any] = {"seconds": 600, "at": in_seconds(stage, 600)}
    value = {"SecondsPath": "$.seconds", "Timestamp": event["at"], "TimestampPath": "$.at"}.get(field, 600)
    machine = stage.machine({"Wait": {"Type": "Wait", field: value, "End": True}})
    execution = stage.start(machine, event)
    stage.cloud.settle(5)
    stage.cloud.skip(590)
    stage.cloud.settle(5)
    assert running(stage, execution)
    stage.cloud.skip(12)
    assert stage.ended(execution)["status"] == "SUCCEEDED"
    begun, ended = stage.history(execution)[0]["timestamp"], stage.history(execution)[-1]["timestamp"]
    assert 598 <= (ended - begun).total_seconds() < 620


def test_a_wait_takes_real_time_when_nobody_skips(stage: Stage) -> None:
    begun = time.monotonic()
    stage.ended(stage.start(stage.machine({"Wait": {"Type": "Wait", "Seconds": 1, "End": True}})))
    assert 1 <= time.monotonic() - begun < 5


def test_an_execution_that_runs_longer_than_its_timeout_is_timed_out(stage: Stage) -> None:
    """Amazon States Language, "TimeoutSeconds"; status TIMED_OUT, last event ExecutionTimedOut."""
    machine = stage.machine({"Wait": {"Type": "Wait", "Seconds": 9999, "End": True}}, top={"TimeoutSeconds": 60})
    execution = stage.start(machine)
    stage.cloud.settle(5)
    stage.cloud.skip(59)
    stage.cloud.settle(5)
    assert running(stage, execution)
    stage.cloud.skip(2)
    assert stage.ended(execution)["status"] == "TIMED_OUT"
    assert stage.history(execution)[-1]["type"] == "ExecutionTimedOut"


def test_an_express_execution_ends_after_five_minutes(stage: Stage) -> None:
    """Service quotas: an Express workflow runs five minutes at most."""
    machine = stage.machine({"Wait": {"Type": "Wait", "Seconds": 400, "End": True}}, type="EXPRESS")
    answers: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(stage.sfn.start_sync_execution(stateMachineArn=machine)))
    waiting.start()
    while not [one for one in stage.cloud.workflows.running() if one.machine.arn == machine]:
        stage.cloud.boundary.changed.wait(stage.cloud.boundary.changed.count, 0.05)
    stage.cloud.settle(5)
    stage.cloud.skip(301)
    waiting.join(10)
    assert [one["status"] for one in answers] == ["TIMED_OUT"]


# --- at rest -------------------------------------------------------------------------------------------------------


def test_an_execution_is_busy_until_it_only_waits_for_time(stage: Stage) -> None:
    """Decided here: what only time, or somebody's call, can move is at rest; a run function is not."""
    function = stage.functions.create("def handler(event, context):\n    return 1\n")
    held = stage.cloud.faults.hold("lambda", "Invoke")
    states = {"Call": task(function, Next="Wait"), "Wait": {"Type": "Wait", "Seconds": 500, "End": True}}
    machine = stage.machine(states)
    execution = stage.start(machine)
    assert stage.cloud.faults.wait_until_held(held)
    assert ("execution", machine.rpartition(":")[2]) in [(one.kind, one.name) for one in stage.cloud.busy()]
    stage.cloud.faults.release(held)
    stage.cloud.settle(10)
    assert stage.history(execution)[-1]["type"] == "WaitStateEntered"
    stage.cloud.skip(500)
    assert [one.kind for one in stage.cloud.busy()] == ["execution"] or not running(stage, execution)
    stage.ended(execution)


@pytest.mark.parametrize("kind", ["Parallel", "Map"])
def test_branches_rest_only_when_none_of_them_can_move(stage: Stage, kind: str) -> None:
    """`settle` must not come back while one branch works and the others wait."""
    function = stage.functions.create(
        "import time\ndef handler(event, context):\n    time.sleep(0.3)\n    return event\n"
    )
    call = {"Call": task(function, Next="Wait"), "Wait": {"Type": "Wait", "Seconds": 300, "End": True}}
    wait = {"Wait": {"Type": "Wait", "Seconds": 100, "End": True}}
    if kind == "Parallel":
        branches = [{"StartAt": "Call", "States": call}, {"StartAt": "Wait", "States": wait}]
        state: dict[str, Any] = {"Type": "Parallel", "Branches": branches, "End": True}
    else:
        state = {"Type": "Map", "ItemProcessor": {"StartAt": "Call", "States": call}, "End": True}
    execution = stage.start(stage.machine({"All": state}), [1, 2])
    stage.cloud.settle(10)
    entered = [one["stateEnteredEventDetails"]["name"] for one in stage.history(execution) if "Entered" in one["type"]]
    assert entered.count("Wait") == 2
    assert entered.count("Call") == (1 if kind == "Parallel" else 2)
    stage.cloud.skip(100)
    stage.cloud.settle(5)
    assert running(stage, execution)
    stage.cloud.skip(200)
    assert json.loads(stage.ended(execution)["output"]) in ([[1, 2], [1, 2]], [1, 2])


def test_many_executions_wait_side_by_side(stage: Stage) -> None:
    states = {"Wait": {"Type": "Wait", "Seconds": 900, "Next": "Done"}, "Done": DONE}
    machine = stage.machine(states)
    executions = [stage.start(machine) for _ in range(40)]
    stage.cloud.settle(15)
    stage.cloud.skip(900)
    stage.cloud.settle(15)
    assert {stage.sfn.describe_execution(executionArn=one)["status"] for one in executions} == {"SUCCEEDED"}


# --- the end -------------------------------------------------------------------------------------------------------


def workflow_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "once-workflow"]


def test_nothing_of_an_execution_outlives_its_account(cloud: Cloud) -> None:
    """Executions that wait, that retry and that stand in a call end with the account; the next one hears nothing."""
    cloud.close()
    before = len(workflow_threads())
    with Cloud() as first:
        stage = Stage(first)
        slow = stage.functions.create("import time\ndef handler(event, context):\n    time.sleep(30)\n")
        missing = task("no-such-function", Retry=[{"ErrorEquals": ["States.ALL"], "MaxAttempts": 99}])
        stage.start(stage.machine({"Wait": {"Type": "Wait", "Seconds": 2, "Next": "Call"}, "Call": task(slow)}))
        stage.start(stage.machine({"Call": missing}))
        running_call = stage.start(stage.machine({"Call": task(slow)}))
        while "TaskStarted" not in [one["type"] for one in stage.history(running_call)]:
            first.boundary.changed.wait(first.boundary.changed.count, 0.05)
        assert len(workflow_threads()) > before
        begun = time.monotonic()
    assert time.monotonic() - begun < 8
    assert len(workflow_threads()) == before
    ended = first.journal.events(ExecutionEnded)
    with Cloud() as second:
        second.skip(100_000)
        second.settle()
        assert second.client("stepfunctions").list_state_machines()["stateMachines"] == []
        assert [one for one in second.journal.events(Call) if one.caller.kind == "workflow"] == []
    assert first.journal.events(ExecutionEnded) == ended


def test_ids_of_executions_repeat_under_the_accounts_seed() -> None:
    names = []
    for _ in range(2):
        with Cloud(seed=7) as account:
            stage = Stage(account)
            machine = stage.machine({"Done": DONE})
            names.append([stage.start(machine).rpartition(":")[2] for _ in range(2)])
    assert names[0] == names[1]
