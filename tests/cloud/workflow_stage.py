"""Workflows in tests: states in, an execution and its history out."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from tests.cloud.deploying import Deployer, eventually

ANYTHING = "*"


def trust(service: str = "states.amazonaws.com") -> str:
    """A trust policy for one service."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def allowing(action: str | list[str], resource: str = ANYTHING) -> str:
    """An identity policy with one statement."""
    statement = {"Effect": "Allow", "Action": action, "Resource": resource}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def task(function: str, **fields: Any) -> dict[str, Any]:
    """A state that invokes a function with the whole input and keeps its payload; the last one unless it has Next."""
    state = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": function, "Payload.$": "$"},
        "OutputPath": "$.Payload",
        **fields,
    }
    return state if "Next" in state else {**state, "End": True}


class Stage:
    """One account with a role for workflows; names are given out so that tests do not meet."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.sfn = cloud.client("stepfunctions", region_name="us-east-1")
        self.iam = cloud.client("iam")
        self.functions = Deployer(cloud)
        self._count = itertools.count(1)
        self.role = self.new_role(allowing(["lambda:InvokeFunction", "states:*"]))

    def name(self, kind: str) -> str:
        return f"{kind}-{next(self._count)}"

    def new_role(self, policy: str | None, trusted: str | None = None) -> str:
        name = self.name("role")
        arn = self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=trusted or trust())["Role"]["Arn"]
        if policy is not None:
            self.iam.put_role_policy(RoleName=name, PolicyName="may", PolicyDocument=policy)
        return str(arn)

    def machine(self, states: dict[str, Any], start: str = "", **settings: Any) -> str:
        """Create a state machine. Returns its ARN."""
        definition = {"StartAt": start or next(iter(states)), "States": states}
        definition.update(settings.pop("top", {}))
        asked = {"name": self.name("machine"), "roleArn": self.role, **settings}
        return str(self.sfn.create_state_machine(definition=json.dumps(definition), **asked)["stateMachineArn"])

    def start(self, machine: str, event: Any = None, **more: Any) -> str:
        text = json.dumps({} if event is None else event)
        return str(self.sfn.start_execution(stateMachineArn=machine, input=text, **more)["executionArn"])

    def ended(self, execution: str, timeout: float = 20) -> dict[str, Any]:
        """Wait until an execution is over. Returns its description."""
        found: dict[str, Any] = {}

        def over() -> bool:
            found.update(self.sfn.describe_execution(executionArn=execution))
            return found["status"] != "RUNNING"

        eventually(over, self.cloud, timeout)
        return found

    def run(self, machine: str, event: Any = None, **more: Any) -> dict[str, Any]:
        """Start an execution and wait for its end; pauses are skipped. Returns its description."""
        execution = self.start(machine, event, **more)
        for _ in range(12):
            self.cloud.settle()
            if self.sfn.describe_execution(executionArn=execution)["status"] != "RUNNING":
                break
            self.cloud.skip(3600)
        return self.ended(execution)

    def history(self, execution: str, **more: Any) -> list[dict[str, Any]]:
        events = self.sfn.get_execution_history(executionArn=execution, **more)["events"]
        return list(events)

    def chain(self, execution: str) -> list[tuple[int, int, str]]:
        """Number, number of the event before, and type of each event."""
        return [(one["id"], one["previousEventId"], one["type"]) for one in self.history(execution)]

    def details(self, execution: str, kind: str) -> list[dict[str, Any]]:
        """The details of all events of a type."""
        member = f"{kind[0].lower()}{kind[1:]}EventDetails"
        return [one[member] for one in self.history(execution) if one["type"] == kind]


@contextmanager
def refused(code: str) -> Iterator[list[str]]:
    """Expect a refusal with this code; its message is in the list afterwards."""
    messages: list[str] = []
    with pytest.raises(ClientError) as caught:
        yield messages
    answer = caught.value.response
    assert (answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]) == (code, 400)
    messages.append(answer["Error"]["Message"])
