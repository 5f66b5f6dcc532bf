"""Messages in the dead-letter queue, and their way back.

Sources: SQS Developer Guide, "Using dead-letter queues in Amazon SQS" and "Learn how to configure a dead-letter queue
redrive"; SQS API Reference, StartMessageMoveTask and its neighbours; statuses and sentences recorded against AWS.
"""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import MessageAcknowledged, MessageSent
from tests.cloud.deploying import eventually
from tests.cloud.queue_stage import Stage
from tests.cloud.refusals import code_and_message, refusal

ARN = "arn:aws:sqs:us-east-1:123456789012:"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def sqs(cloud: Cloud) -> Any:
    return cloud.client("sqs")


class Pair:
    """A queue and its dead-letter queue."""

    def __init__(self, cloud: Cloud, sqs: Any, fifo: bool = False, **dead: str) -> None:
        self.cloud, self.sqs, self.fifo = cloud, sqs, fifo
        number = next(_numbers)
        end = ".fifo" if fifo else ""
        kind = {"FifoQueue": "true", "ContentBasedDeduplication": "true"} if fifo else {}
        self.dead_name, self.name = f"dead-{number}{end}", f"source-{number}{end}"
        self.dead = sqs.create_queue(QueueName=self.dead_name, Attributes={**kind, **dead})["QueueUrl"]
        policy = json.dumps({"deadLetterTargetArn": ARN + self.dead_name, "maxReceiveCount": 1})
        asked = {**kind, "RedrivePolicy": policy}
        self.url = sqs.create_queue(QueueName=self.name, Attributes=asked)["QueueUrl"]

    def receive(self, url: str) -> list[dict[str, Any]]:
        names = {"MessageSystemAttributeNames": ["All"], "MessageAttributeNames": ["All"]}
        answer = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, **names)
        messages: list[dict[str, Any]] = answer.get("Messages", [])
        return messages

    def fail(self, *bodies: str) -> list[str]:
        """Send messages, and receive each once too often. Returns their ids."""
        group = {"MessageGroupId": "g"} if self.fifo else {}
        sent = [self.sqs.send_message(QueueUrl=self.url, MessageBody=body, **group)["MessageId"] for body in bodies]
        assert len(self.receive(self.url)) == len(bodies)
        self.cloud.skip(30.1)
        assert self.receive(self.url) == []
        return sent

    def start(self, **members: Any) -> str:
        return str(self.sqs.start_message_move_task(SourceArn=ARN + self.dead_name, **members)["TaskHandle"])

    def tasks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.sqs.list_message_move_tasks(SourceArn=ARN + self.dead_name)["Results"]
        return found


def test_a_dead_letter_keeps_its_id_its_time_and_its_count(cloud: Cloud, sqs: Any) -> None:
    """Developer Guide: same MessageId and enqueue time on a standard queue; the count goes on over all queues."""
    pair = Pair(cloud, sqs)
    attributes = {"a": {"DataType": "String", "StringValue": "b"}}
    sent = sqs.send_message(QueueUrl=pair.url, MessageBody="x", MessageAttributes=attributes)["MessageId"]
    (before,) = pair.receive(pair.url)
    cloud.skip(30.1)
    assert pair.receive(pair.url) == []
    (after,) = pair.receive(pair.dead)
    assert after["MessageId"] == before["MessageId"] == sent
    assert (after["Body"], after["MessageAttributes"]) == ("x", attributes)
    assert after["ReceiptHandle"] != before["ReceiptHandle"]
    assert after["Attributes"]["SentTimestamp"] == before["Attributes"]["SentTimestamp"]
    assert after["Attributes"]["ApproximateReceiveCount"] == "2"
    assert after["Attributes"]["DeadLetterQueueSourceArn"] == ARN + pair.name
    assert "DeadLetterQueueSourceArn" not in before["Attributes"]


def test_a_dead_letter_of_a_standard_queue_expires_as_if_it_had_not_moved(cloud: Cloud, sqs: Any) -> None:
    """Developer Guide: expiration is based on the original enqueue time: give the dead-letter queue more."""
    pair = Pair(cloud, sqs, MessageRetentionPeriod="60")
    pair.fail("x")  # takes 30 of the 60 seconds
    cloud.skip(29.5)
    assert len(pair.receive(pair.dead)) == 1
    cloud.skip(0.5)
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = sqs.get_queue_attributes(QueueUrl=pair.dead, AttributeNames=names)["Attributes"]
    assert set(counts.values()) == {"0"}


def test_a_dead_letter_of_a_fifo_queue_gets_a_new_enqueue_time(cloud: Cloud, sqs: Any) -> None:
    """Developer Guide: for FIFO queues the enqueue timestamp resets when the message moves."""
    pair = Pair(cloud, sqs, fifo=True, MessageRetentionPeriod="60")
    sent = pair.fail("x")
    cloud.skip(40)
    (letter,) = pair.receive(pair.dead)
    assert letter["MessageId"] == sent[0]
    assert letter["Attributes"]["MessageGroupId"] == "g"


def test_a_move_task_brings_messages_back_as_new_ones(cloud: Cloud, sqs: Any) -> None:
    """Developer Guide: redriven messages are new ones, with a new id and time; the list is recorded."""
    pair = Pair(cloud, sqs)
    old = pair.fail("one", "two")
    since = cloud.journal.last
    pair.start()
    (task,) = pair.tasks()
    assert "TaskHandle" not in task
    assert "DestinationArn" not in task
    assert (task["Status"], task["SourceArn"]) == ("COMPLETED", ARN + pair.dead_name)
    assert (task["ApproximateNumberOfMessagesMoved"], task["ApproximateNumberOfMessagesToMove"]) == (2, 2)
    assert task["StartedTimestamp"] / 1000 == pytest.approx(cloud.clock.now(), abs=60)
    assert pair.receive(pair.dead) == []
    back = pair.receive(pair.url)
    assert [message["Body"] for message in back] == ["one", "two"]
    assert {message["Attributes"]["ApproximateReceiveCount"] for message in back} == {"1"}
    assert not {message["MessageId"] for message in back} & set(old)
    left = [event.message_id for event in cloud.journal.events(MessageAcknowledged, since=since)]
    arrived = [event.message_id for event in cloud.journal.events(MessageSent, since=since)]
    assert (left, arrived) == (old, [message["MessageId"] for message in back])


def test_each_message_goes_back_to_the_queue_that_it_came_from(cloud: Cloud, sqs: Any) -> None:
    """Recorded: a task without a destination, for two source queues."""
    pair = Pair(cloud, sqs)
    policy = json.dumps({"deadLetterTargetArn": ARN + pair.dead_name, "maxReceiveCount": 1})
    other = sqs.create_queue(QueueName=pair.name + "-2", Attributes={"RedrivePolicy": policy})["QueueUrl"]
    pair.fail("one")
    first, pair.url = pair.url, other
    pair.fail("two")
    pair.start()
    assert [message["Body"] for message in pair.receive(first)] == ["one"]
    assert [message["Body"] for message in pair.receive(other)] == ["two"]


def test_a_move_task_can_name_another_destination(cloud: Cloud, sqs: Any) -> None:
    pair = Pair(cloud, sqs)
    pair.fail("x")
    other = sqs.create_queue(QueueName=pair.name + "-other")["QueueUrl"]
    pair.start(DestinationArn=ARN + pair.name + "-other")
    assert pair.tasks()[0]["DestinationArn"] == ARN + pair.name + "-other"
    assert [message["Body"] for message in pair.receive(other)] == ["x"]


def test_a_task_with_a_rate_moves_with_the_clock_and_can_be_cancelled(cloud: Cloud, sqs: Any) -> None:
    """Recorded: RUNNING with its handle, then CANCELLED with what was moved."""
    pair = Pair(cloud, sqs)
    pair.fail(*"abcdefghij")
    handle = pair.start(MaxNumberOfMessagesPerSecond=1)
    (task,) = pair.tasks()
    assert (task["Status"], task["TaskHandle"], task["MaxNumberOfMessagesPerSecond"]) == ("RUNNING", handle, 1)
    assert (task["ApproximateNumberOfMessagesMoved"], task["ApproximateNumberOfMessagesToMove"]) == (0, 10)
    assert code_and_message(pair.start) == (
        "InvalidParameterValue",
        "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
    )
    cloud.skip(3)
    moved = sqs.cancel_message_move_task(TaskHandle=handle)["ApproximateNumberOfMessagesMoved"]
    assert 3 <= moved < 10
    assert pair.tasks()[0]["Status"] == "CANCELLED"
    assert len(pair.receive(pair.url)) == moved
    error = code_and_message(sqs.cancel_message_move_task, TaskHandle=handle)
    assert error == ("ResourceNotFoundException", "Task does not exist.")


def test_a_task_with_a_rate_needs_no_calls_to_go_on(cloud: Cloud, sqs: Any) -> None:
    """And a mapping of the source queue runs for what comes back."""
    pair = Pair(cloud, sqs)
    bodies = ['{"id": "a"}', '{"id": "b"}']
    pair.fail(*bodies)
    stage = Stage(cloud)
    stage.map(pair.url, BatchSize=1)
    pair.start(MaxNumberOfMessagesPerSecond=50)
    eventually(lambda: stage.ended(pair.url) == 2, cloud)
    assert [run[0]["body"] for run in stage.runs(pair.url)] == bodies


def test_a_task_fails_when_its_destination_is_deleted(cloud: Cloud, sqs: Any) -> None:
    """Recorded: FAILED with its reason."""
    pair = Pair(cloud, sqs)
    pair.fail("a", "b")
    pair.start(MaxNumberOfMessagesPerSecond=1)
    sqs.delete_queue(QueueUrl=pair.url)
    cloud.skip(2)
    (task,) = pair.tasks()
    assert (task["Status"], task["FailureReason"]) == ("FAILED", "AWS.SimpleQueueService.NonExistentQueue")
    assert len(pair.receive(pair.dead)) == 2


def test_a_move_task_is_refused_where_there_is_nothing_to_move_from_or_to(cloud: Cloud, sqs: Any) -> None:
    """Recorded sentences and statuses."""
    pair = Pair(cloud, sqs)
    start = sqs.start_message_move_task
    assert code_and_message(start, SourceArn=ARN + pair.name) == (
        "InvalidParameterValue",
        "Source queue must be configured as a Dead Letter Queue.",
    )
    missing = "The resource that you specified for the {} parameter doesn't exist."
    error = refusal(start, SourceArn=ARN + "nobody")
    assert (error["Code"], error["HTTPStatusCode"]) == ("ResourceNotFoundException", 404)
    assert error["Message"] == missing.format("SourceArn")
    error = refusal(start, SourceArn=ARN + pair.dead_name, DestinationArn=ARN + "nobody")
    assert error["Message"] == missing.format("DestinationArn")
    cancel = sqs.cancel_message_move_task
    assert code_and_message(cancel, TaskHandle="garbage")[1] == "Value for parameter TaskHandle is invalid."
    named = {"taskId": "x", "sourceArn": ARN + "nobody"}
    handle = base64.b64encode(json.dumps(named).encode()).decode()
    assert code_and_message(cancel, TaskHandle=handle)[1] == missing.format("SourceArn")
