"""Faults on the calls that a workflow makes: the task fails with the service's error, and its Retry meets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import FaultFired
from tests.cloud.workflow_stage import Stage, task

AGAIN = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 2}

# a fault, what it is armed with, and the error that the task fails with
FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("throttle", {}, "Lambda.TooManyRequestsException"),
    ("server_error", {}, "Lambda.ServiceException"),
    ("refuse", {"code": "ResourceNotFoundException"}, "Lambda.ResourceNotFoundException"),
    ("lose_request", {}, "Lambda.SdkClientException"),
    ("lose_answer", {}, "Lambda.SdkClientException"),
]


@pytest.fixture(scope="module")
def opened(cloud: Cloud) -> Stage:
    stage = Stage(cloud)
    stage.functions.create("def handler(event, context): return 'done'", FunctionName="task")
    return stage


@pytest.fixture
def stage(opened: Stage) -> Iterator[Stage]:
    yield opened
    opened.cloud.faults.clear()


@pytest.mark.parametrize(("method", "more", "error"), FAULTS)
def test_a_fault_on_a_task_is_the_tasks_error_and_its_retry_gets_over_it(
    stage: Stage, method: str, more: dict[str, Any], error: str
) -> None:
    machine = stage.machine({"Only": task("task", Retry=[AGAIN])})
    fault = getattr(stage.cloud.faults, method)("lambda", "Invoke", **more, caller="workflow", times=2)
    stage.functions.invoke("task")
    assert fault.fired == 0
    since = stage.cloud.journal.last
    description = stage.run(machine)
    assert description["status"] == "SUCCEEDED"
    failed = stage.details(description["executionArn"], "TaskFailed")
    assert [one["error"] for one in failed] == [error, error]
    (first, _second) = stage.cloud.journal.events(FaultFired, since=since)
    assert (first.caller.kind, first.caller.role) == ("workflow", stage.role)
