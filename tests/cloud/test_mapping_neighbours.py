"""What becomes of a mapping, and of the messages, when its neighbours change: queue, function, role, concurrency.

Sources: Lambda Developer Guide, "Using Lambda with Amazon SQS" (permissions, scaling, error handling) and the Lambda
API Reference. AWS's answers for a mapping whose queue is gone were not recorded: it stays as it is here, and says
nothing of its last result, as mappings of queues never do.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.journal import MessageReceived, MessageReturned

from .queue_stage import Stage, release

NUMBERS = itertools.count(1)
RIGHTS = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


def queue(stage: Stage, **attributes: Any) -> str:
    return stage.queue(f"neighbour-{next(NUMBERS)}", **attributes)


def described(stage: Stage, uuid: str) -> dict[str, Any]:
    found: dict[str, Any] = stage.functions.get_event_source_mapping(UUID=uuid)
    return found


def test_a_mapping_stays_when_its_queue_is_deleted_and_can_be_switched_off_and_deleted(stage: Stage) -> None:
    url = queue(stage)
    uuid = stage.map(url)
    stage.sqs.delete_queue(QueueUrl=url)
    stage.cloud.settle()
    found = described(stage, uuid)
    assert (found["State"], found["StateTransitionReason"]) == ("Enabled", "USER_INITIATED")
    assert "LastProcessingResult" not in found
    with pytest.raises(ClientError) as problem:
        stage.functions.update_event_source_mapping(UUID=uuid, BatchSize=5)
    assert "AWS.SimpleQueueService.NonExistentQueue" in problem.value.response["Error"]["Message"]
    stage.functions.update_event_source_mapping(UUID=uuid, Enabled=False)
    stage.wait_for_state(uuid, "Disabled")
    stage.functions.delete_event_source_mapping(UUID=uuid)
    stage.wait_for_state(uuid, "gone")


def test_a_queue_that_is_deleted_under_a_run_loses_its_messages_and_nothing_else(stage: Stage, tmp_path: Any) -> None:
    url, other = queue(stage), queue(stage)
    stage.map(url)
    stage.map(other)
    gate = tmp_path / "gate"
    stage.send(url, {"do": "wait", "file": str(gate)})
    stage.wait_until(lambda: len(stage.runs(url)) == 1)
    stage.sqs.delete_queue(QueueUrl=url)
    release(gate)
    stage.wait_until(lambda: stage.ended(url) == 1)
    stage.send(other, {})
    stage.wait_until(lambda: stage.ended(other) == 1)
    stage.cloud.settle()


def test_messages_stay_untouched_while_the_function_is_gone(stage: Stage) -> None:
    url, name = queue(stage), stage.deploy("leaves")
    uuid = stage.map(url, FunctionName=name)
    stage.functions.delete_function(FunctionName=name)
    stage.send(url, {})
    stage.cloud.settle()
    assert stage.events(MessageReceived, url) == []
    assert (stage.count(url), described(stage, uuid)["State"]) == (1, "Enabled")
    stage.deploy("leaves")
    stage.wait_until(lambda: stage.ended(url) == 1)
    (records,) = stage.runs(url)
    assert records[0]["attributes"]["ApproximateReceiveCount"] == "1"


class Role:
    """A role of its own whose rights on queues come and go, and a function that has it."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._iam, self._name = stage.cloud.client("iam"), name
        self.function = stage.deploy(name, role=stage.make_role(name, ["logs:*"]))
        self.allow(*RIGHTS)

    def allow(self, *actions: str) -> None:
        statement = {"Effect": "Allow", "Action": [f"sqs:{action}" for action in actions], "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self._iam.put_role_policy(RoleName=self._name, PolicyName="queues", PolicyDocument=document)


def test_nothing_is_received_while_the_role_may_not_and_nothing_is_lost(stage: Stage) -> None:
    """A right that is taken away after the mapping was made; given back, it works without any other call."""
    url, role = queue(stage), Role(stage, "receiver")
    stage.map(url, FunctionName=role.function)
    role.allow("DeleteMessage", "GetQueueAttributes")
    stage.send(url, {})
    stage.cloud.settle()
    assert (stage.events(MessageReceived, url), stage.count(url)) == ([], 1)
    role.allow(*RIGHTS)
    stage.wait_until(lambda: stage.ended(url) == 1)
    stage.cloud.settle()
    assert (stage.count(url), stage.count(url, "NotVisible")) == (0, 0)


def test_without_the_right_to_delete_a_handled_message_comes_again(stage: Stage) -> None:
    url, role = queue(stage, VisibilityTimeout="60"), Role(stage, "deleter")
    stage.map(url, FunctionName=role.function)
    role.allow("ReceiveMessage", "GetQueueAttributes")
    stage.send(url, {})
    stage.wait_until(lambda: stage.events(MessageReturned, url))
    assert stage.events(MessageReturned, url)[0].reason == "no permission"
    role.allow(*RIGHTS)
    stage.cloud.skip(61)
    stage.wait_until(lambda: stage.ended(url) == 2)
    stage.cloud.settle()
    counts = [records[0]["attributes"]["ApproximateReceiveCount"] for records in stage.runs(url)]
    assert (counts, stage.count(url), stage.count(url, "NotVisible")) == (["1", "2"], 0, 0)


def test_messages_of_a_throttled_function_are_counted_and_end_in_the_dead_letter_queue(stage: Stage) -> None:
    """Reserved concurrency 0: each attempt is a receive, although nothing runs."""
    dead = queue(stage)
    policy = {"deadLetterTargetArn": stage.arn(dead), "maxReceiveCount": 2}
    url, name = queue(stage, VisibilityTimeout="60", RedrivePolicy=policy), stage.deploy("throttled")
    stage.functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    stage.map(url, FunctionName=name)
    stage.send(url, {})
    for attempt in (1, 2):
        stage.wait_until(lambda attempt=attempt: len(stage.events(MessageReturned, url)) == attempt)
        stage.cloud.skip(61)
    stage.wait_until(lambda: stage.count(dead) == 1)
    assert [event.reason for event in stage.events(MessageReturned, url)] == ["throttled", "throttled"]
    assert stage.runs(url) == []


def test_a_mapping_that_is_updated_while_it_is_disabled_stays_disabled(stage: Stage) -> None:
    url = queue(stage)
    uuid = stage.map(url, Enabled=False)
    answer = stage.functions.update_event_source_mapping(UUID=uuid, BatchSize=3)
    assert (answer["BatchSize"], answer["State"]) == (3, "Updating")
    stage.wait_for_state(uuid, "Disabled")
    stage.send(url, {})
    stage.cloud.settle()
    assert (stage.runs(url), stage.count(url)) == ([], 1)


def test_lists_come_in_pages(stage: Stage) -> None:
    name = stage.deploy("paged")
    made = [stage.map(queue(stage), FunctionName=name, Enabled=False) for _ in range(5)]
    pages = stage.functions.get_paginator("list_event_source_mappings").paginate(
        FunctionName=name, PaginationConfig={"PageSize": 2}
    )
    found = [[mapping["UUID"] for mapping in page["EventSourceMappings"]] for page in pages]
    assert [len(page) for page in found] == [2, 2, 1]
    assert sorted(itertools.chain(*found)) == sorted(made)


@pytest.mark.parametrize(
    "members",
    [
        {"TumblingWindowInSeconds": 10},
        {"BisectBatchOnFunctionError": True},
        {"MaximumRetryAttempts": 3},
        {"MaximumRecordAgeInSeconds": 60},
        {"DestinationConfig": {"OnFailure": {"Destination": "arn:aws:sqs:us-east-1:123456789012:failed"}}},
        {"Topics": ["topic"]},
    ],
    ids=str,
)
def test_parameters_of_other_sources_are_refused(stage: Stage, members: dict[str, Any]) -> None:
    url = queue(stage)
    with pytest.raises(ClientError) as problem:
        stage.functions.create_event_source_mapping(
            EventSourceArn=stage.arn(url), FunctionName=stage.function, **members
        )
    error = problem.value.response["Error"]
    (name,) = members
    assert error["Code"] == "InvalidParameterValueException"
    assert error["Message"] == f"Unsupported {name} parameter for given event source mapping type."
