from __future__ import annotations

import contextlib
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import MessageAcknowledged, MessageDeadLettered, MessageReceived, MessageSent

SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/sqs/aws4_request, Signature=0"}


@pytest.fixture(scope="module")
def sqs(cloud: Cloud) -> Any:
    return cloud.client("sqs")


def test_the_life_of_a_message_is_in_the_journal(cloud: Cloud, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="life")["QueueUrl"]
    since = cloud.journal.last
    sent = sqs.send_message(QueueUrl=url, MessageBody="1")["MessageId"]
    sqs.receive_message(QueueUrl=url)
    cloud.skip(30.1)
    handle = sqs.receive_message(QueueUrl=url)["Messages"][0]["ReceiptHandle"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)
    events = cloud.journal.events(MessageSent, MessageReceived, MessageAcknowledged, since=since)
    assert [type(event).__name__ for event in events] == [
        "MessageSent",
        "MessageReceived",
        "MessageReceived",
        "MessageAcknowledged",
    ]
    assert {event.message_id for event in events} == {sent}
    assert [event.receive_count for event in events if isinstance(event, MessageReceived)] == [1, 2]
    assert {event.queue for event in events} == {"life"}


def test_batches_are_told_message_by_message(cloud: Cloud, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="batches")["QueueUrl"]
    since = cloud.journal.last
    entries = [{"Id": str(number), "MessageBody": f"body {number}"} for number in range(3)]
    sqs.send_message_batch(QueueUrl=url, Entries=entries)
    messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    done = [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]} for n, message in enumerate(messages)]
    sqs.delete_message_batch(QueueUrl=url, Entries=done)
    assert [event.body for event in cloud.journal.events(MessageSent, since=since)] == ["body 0", "body 1", "body 2"]
    assert len(cloud.journal.events(MessageReceived, since=since)) == 3
    assert len(cloud.journal.events(MessageAcknowledged, since=since)) == 3


def test_a_poll_without_messages_ends_with_its_time(sqs: Any) -> None:
    url = sqs.create_queue(QueueName="nothing")["QueueUrl"]
    assert "Messages" not in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1)


def test_a_skip_wakes_a_poll(cloud: Cloud, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="asleep", Attributes={"DelaySeconds": "60"})["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="later")
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    cloud.skip(60.1)
    assert sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"][0]["Body"] == "later"


def test_the_queues_own_wait_time_holds_when_the_call_names_none(cloud: Cloud, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="own-wait", Attributes={"ReceiveMessageWaitTimeSeconds": "1"})["QueueUrl"]
    before = cloud.clock.now()
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    assert cloud.clock.now() - before >= 1


def test_a_receive_that_moves_a_message_to_the_dead_letter_queue_says_so(cloud: Cloud, sqs: Any) -> None:
    dead = sqs.create_queue(QueueName="dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "1"})
    url = sqs.create_queue(QueueName="failing", Attributes={"RedrivePolicy": policy})["QueueUrl"]
    sent = sqs.send_message(QueueUrl=url, MessageBody="x")["MessageId"]
    sqs.receive_message(QueueUrl=url)
    cloud.skip(30.1)
    since = cloud.journal.last
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    (moved,) = cloud.journal.events(MessageDeadLettered, since=since)
    assert (moved.queue, moved.message_id, moved.dead_letter_queue) == ("failing", sent, "dead")


def test_the_query_protocol_of_older_sdks_is_told_as_well(cloud: Cloud, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="older")["QueueUrl"]
    since = cloud.journal.last

    def ask(action: str, **members: str) -> str:
        fields = urllib.parse.urlencode({"Action": action, "Version": "2012-11-05", "QueueUrl": url, **members})
        with urllib.request.urlopen(urllib.request.Request(url, fields.encode(), SIGNED), timeout=10) as answer:
            return str(answer.read().decode())

    ask("SendMessage", MessageBody="one & only")
    entry = "SendMessageBatchRequestEntry"
    two, three = {f"{entry}.1.Id": "a", f"{entry}.1.MessageBody": "two"}, {f"{entry}.2.Id": "b"}
    ask("SendMessageBatch", **two, **three, **{f"{entry}.2.MessageBody": "three"})
    sent = cloud.journal.events(MessageSent, since=since)
    assert [event.body for event in sent] == ["one & only", "two", "three"]
    answer = ask("ReceiveMessage", MaxNumberOfMessages="10", WaitTimeSeconds="1")
    received = cloud.journal.events(MessageReceived, since=since)
    assert [event.message_id for event in received] == [event.message_id for event in sent]
    handles = re.findall("<ReceiptHandle>(.*?)</ReceiptHandle>", answer)
    ask("DeleteMessage", ReceiptHandle=handles[0])
    entry = "DeleteMessageBatchRequestEntry"
    ask("DeleteMessageBatch", **{f"{entry}.1.Id": "x", f"{entry}.1.ReceiptHandle": handles[1]})
    acknowledged = cloud.journal.events(MessageAcknowledged, since=since)
    assert [event.message_id for event in acknowledged] == [event.message_id for event in sent[:2]]


def test_a_delete_without_a_handle_acknowledges_nothing(cloud: Cloud, sqs: Any) -> None:
    url = sqs.create_queue(QueueName="never-received")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="x")
    sqs.receive_message(QueueUrl=url)
    since = cloud.journal.last
    fields = urllib.parse.urlencode({"Action": "DeleteMessage", "Version": "2012-11-05", "QueueUrl": url}).encode()
    with contextlib.suppress(urllib.error.HTTPError):
        urllib.request.urlopen(urllib.request.Request(url, fields, SIGNED), timeout=10).close()
    assert cloud.journal.events(MessageAcknowledged, since=since) == []
