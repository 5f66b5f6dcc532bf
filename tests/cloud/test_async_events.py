"""Asynchronous events that grow old, meet a throttled function, or go to a destination or a dead-letter queue.

Sources: Lambda Developer Guide, "How Lambda handles errors and retries with asynchronous invocation", "Capturing
records of Lambda asynchronous invocations"; Lambda API Reference, "PutFunctionEventInvokeConfig".
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.journal import RunEnded

from .deploying import Deployer, eventually

FAILS = "def handler(event, context):\n    raise ValueError('no ' + str(event))"
ECHO = "def handler(event, context):\n    return event"
QUEUE = "arn:aws:sqs:us-east-1:123456789012:"


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    deployer = Deployer(cloud)
    deployer.allow("sqs:SendMessage", "lambda:InvokeFunction")
    return deployer


def queue(cloud: Cloud, name: str) -> str:
    cloud.client("sqs").create_queue(QueueName=name)
    return f"{QUEUE}{name}"


def messages(cloud: Cloud, arn: str) -> list[dict[str, Any]]:
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
    return list(found.get("Messages", []))


def send(functions: Deployer, name: str, payload: bytes = b'{"id": "a"}') -> str:
    answer = functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=payload)
    return str(answer["ResponseMetadata"]["RequestId"])


def runs(cloud: Cloud, name: str) -> int:
    return sum(run.function == name for run in cloud.journal.events(RunEnded))


def all_attempts(cloud: Cloud, name: str) -> None:
    """Let the two waits pass, one and two minutes."""
    for seconds, count in ((0, 1), (60, 2), (120, 3)):
        cloud.skip(seconds)
        eventually(lambda count=count: runs(cloud, name) == count, cloud)
    cloud.settle()


def test_a_dead_letter_queue_gets_the_event_after_its_last_attempt(cloud: Cloud, functions: Deployer) -> None:
    """The event itself, and RequestID, ErrorCode and ErrorMessage as attributes ("Adding a dead-letter queue")."""
    dead = queue(cloud, "dead-events")
    name = functions.create(FAILS, DeadLetterConfig={"TargetArn": dead})
    configuration = functions.client.get_function_configuration(FunctionName=name)
    assert configuration["DeadLetterConfig"] == {"TargetArn": dead}
    request_id = send(functions, name)
    all_attempts(cloud, name)
    (message,) = messages(cloud, dead)
    assert json.loads(message["Body"]) == {"id": "a"}
    attributes = {key: (value["DataType"], value["StringValue"]) for key, value in message["MessageAttributes"].items()}
    assert attributes == {
        "RequestID": ("String", request_id),
        "ErrorCode": ("Number", "200"),
        "ErrorMessage": ("String", "no {'id': 'a'}"),
    }


def test_a_dead_letter_queue_can_be_taken_away(cloud: Cloud, functions: Deployer) -> None:
    dead = queue(cloud, "unused-dead-events")
    name = functions.create(FAILS, DeadLetterConfig={"TargetArn": dead})
    functions.client.update_function_configuration(FunctionName=name, DeadLetterConfig={"TargetArn": ""})
    functions.client.get_waiter("function_updated_v2").wait(FunctionName=name)
    functions.client.put_function_event_invoke_config(FunctionName=name, MaximumRetryAttempts=0)
    send(functions, name)
    cloud.settle()
    assert (runs(cloud, name), messages(cloud, dead)) == (1, [])


def test_a_success_has_a_destination_too_which_may_be_a_function(cloud: Cloud, functions: Deployer) -> None:
    other, name = functions.create(ECHO), functions.create(ECHO)
    target = f"arn:aws:lambda:us-east-1:123456789012:function:{other}"
    config = {"OnSuccess": {"Destination": target}}
    functions.client.put_function_event_invoke_config(FunctionName=name, DestinationConfig=config)
    send(functions, name)
    eventually(lambda: runs(cloud, other) == 1, cloud)
    (run,) = [run for run in cloud.journal.events(RunEnded) if run.function == other]
    record = json.loads(run.payload)
    assert record["requestContext"]["condition"] == "Success"
    assert record["requestContext"]["functionArn"].endswith(f":function:{name}:$LATEST")
    assert record["responseContext"] == {"statusCode": 200, "executedVersion": "$LATEST"}
    assert record["responsePayload"] == record["requestPayload"] == {"id": "a"}


def test_an_event_that_is_too_old_is_not_tried_again(cloud: Cloud, functions: Deployer) -> None:
    """MaximumEventAgeInSeconds: 60 to 21,600; by the account's clock."""
    target = queue(cloud, "too-old")
    name = functions.create(FAILS)
    functions.client.put_function_event_invoke_config(
        FunctionName=name, MaximumEventAgeInSeconds=60, DestinationConfig={"OnFailure": {"Destination": target}}
    )
    send(functions, name)
    eventually(lambda: runs(cloud, name) == 1, cloud)
    cloud.settle()
    cloud.skip(61)
    eventually(lambda: cloud.functions.invocations.waiting() == 0, cloud)
    cloud.settle()
    (message,) = messages(cloud, target)
    context = json.loads(message["Body"])["requestContext"]
    assert (context["condition"], context["approximateInvokeCount"]) == ("EventAgeExceeded", 1)
    assert runs(cloud, name) == 1


def test_an_event_waits_while_the_function_is_throttled(cloud: Cloud, functions: Deployer) -> None:
    """Waits grow from one second to five minutes, for up to six hours; none of them counts as an attempt."""
    name = functions.create(ECHO)
    functions.client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    send(functions, name)
    for seconds in (2, 3, 5):
        cloud.skip(seconds)
        cloud.settle()
    assert (runs(cloud, name), cloud.functions.invocations.waiting()) == (0, 1)
    functions.client.delete_function_concurrency(FunctionName=name)
    cloud.skip(300)
    eventually(lambda: runs(cloud, name) == 1, cloud)


def test_a_throttled_event_is_given_up_after_six_hours(cloud: Cloud, functions: Deployer) -> None:
    target = queue(cloud, "given-up")
    name = functions.create(ECHO, DeadLetterConfig={"TargetArn": target})
    functions.client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    send(functions, name)
    cloud.settle()
    cloud.skip(21_601)
    eventually(lambda: cloud.functions.invocations.waiting() == 0, cloud)
    cloud.settle()
    assert (len(messages(cloud, target)), runs(cloud, name)) == (1, 0)


def test_a_destination_needs_the_roles_right_when_it_is_set_and_when_it_is_used(
    cloud: Cloud, functions: Deployer
) -> None:
    target = queue(cloud, "forbidden")
    name = functions.create(FAILS)
    put = functions.client.put_function_event_invoke_config
    settings = {
        "FunctionName": name,
        "MaximumRetryAttempts": 0,
        "DestinationConfig": {"OnFailure": {"Destination": target}},
    }
    put(**settings)
    iam = cloud.client("iam")
    policy = {"RoleName": "deployed", "PolicyName": "sqs-SendMessage-lambda-InvokeFunction"}
    iam.delete_role_policy(**policy)
    try:
        send(functions, name)
        cloud.settle()
        assert (runs(cloud, name), messages(cloud, target)) == (1, [])
        with pytest.raises(ClientError) as problem:
            put(**settings)
        error = problem.value.response["Error"]
        assert error["Code"] == "InvalidParameterValueException"
        assert error["Message"].endswith(f"does not have permissions to call SendMessage on {target}")
    finally:
        functions.allow("sqs:SendMessage", "lambda:InvokeFunction")


def test_a_put_replaces_the_settings_and_an_update_changes_some(cloud: Cloud, functions: Deployer) -> None:
    name, client = functions.create(ECHO), functions.client
    client.put_function_event_invoke_config(FunctionName=name, MaximumRetryAttempts=1)
    client.put_function_event_invoke_config(FunctionName=name, MaximumEventAgeInSeconds=60)
    found = client.get_function_event_invoke_config(FunctionName=name)
    assert ("MaximumRetryAttempts" in found, found["MaximumEventAgeInSeconds"]) == (False, 60)
    client.update_function_event_invoke_config(FunctionName=name, MaximumRetryAttempts=0)
    found = client.get_function_event_invoke_config(FunctionName=name)
    assert (found["MaximumRetryAttempts"], found["MaximumEventAgeInSeconds"]) == (0, 60)
