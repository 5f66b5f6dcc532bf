"""FIFO queues: order, groups, deduplication.

Sources: SQS Developer Guide, "Amazon SQS FIFO queue delivery logic" and "Using the message deduplication ID"; sentences
recorded against AWS.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from helpers.cloud import Cloud
from tests.cloud.refusals import code_and_message, refusal

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def sqs(cloud: Cloud) -> Any:
    return cloud.client("sqs")


def make(sqs: Any, by_content: bool = True, **attributes: str) -> str:
    named = {"FifoQueue": "true", "ContentBasedDeduplication": str(by_content).lower(), **attributes}
    return str(sqs.create_queue(QueueName=f"orders-{next(_numbers)}.fifo", Attributes=named)["QueueUrl"])


def send(sqs: Any, url: str, body: str, group: str = "g", **members: Any) -> dict[str, Any]:
    answer: dict[str, Any] = sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=group, **members)
    return answer


def receive(sqs: Any, url: str, most: int = 10) -> list[dict[str, Any]]:
    asked = {"QueueUrl": url, "MaxNumberOfMessages": most, "AttributeNames": ["All"]}
    messages: list[dict[str, Any]] = sqs.receive_message(**asked).get("Messages", [])
    return messages


def delete(sqs: Any, url: str, *messages: dict[str, Any]) -> None:
    for message in messages:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def bodies(messages: list[dict[str, Any]]) -> list[str]:
    return [message["Body"] for message in messages]


def test_a_copy_within_five_minutes_is_accepted_under_the_first_ones_id(cloud: Cloud, sqs: Any) -> None:
    """Developer Guide; recorded that the copy is not delivered even after the first one was deleted."""
    url = make(sqs, by_content=False)
    first = send(sqs, url, "one", MessageDeduplicationId="d")
    delete(sqs, url, *receive(sqs, url))
    cloud.skip(299)
    again = send(sqs, url, "another body", MessageDeduplicationId="d")
    assert (again["MessageId"], again["SequenceNumber"]) == (first["MessageId"], first["SequenceNumber"])
    assert again["MD5OfMessageBody"] != first["MD5OfMessageBody"]
    assert receive(sqs, url) == []
    cloud.skip(1.1)
    fresh = send(sqs, url, "one", MessageDeduplicationId="d")
    assert fresh["MessageId"] != first["MessageId"]
    assert bodies(receive(sqs, url)) == ["one"]


def test_content_is_the_body_and_not_the_attributes(sqs: Any) -> None:
    """Developer Guide: SHA-256 of the body, not of the attributes; an explicit id wins."""
    url = make(sqs)
    send(sqs, url, "one")
    send(sqs, url, "one", MessageAttributes={"a": {"DataType": "String", "StringValue": "b"}})
    send(sqs, url, "two")
    send(sqs, url, "one", MessageDeduplicationId="mine")
    messages = receive(sqs, url)
    assert bodies(messages) == ["one", "two", "one"]
    ids = [message["Attributes"]["MessageDeduplicationId"] for message in messages]
    assert ids == [
        "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
        "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3",
        "mine",
    ]


@pytest.mark.parametrize(("scope", "delivered"), [("queue", ["one"]), ("messageGroup", ["one", "one"])])
def test_the_scope_of_deduplication_is_the_queue_or_the_group(sqs: Any, scope: str, delivered: list[str]) -> None:
    """API Reference, SetQueueAttributes, DeduplicationScope; for the queue it is recorded."""
    url = make(sqs, DeduplicationScope=scope)
    send(sqs, url, "one", "a")
    send(sqs, url, "one", "b")
    assert bodies(receive(sqs, url)) == delivered


def test_deduplication_protects_the_send_and_not_the_delivery(cloud: Cloud, sqs: Any) -> None:
    """A message that is not deleted in time is delivered again: the consumer must be safe to repeat."""
    url = make(sqs)
    send(sqs, url, "one")
    counts = []
    for _ in range(2):
        (message,) = receive(sqs, url)
        counts.append(message["Attributes"]["ApproximateReceiveCount"])
        cloud.skip(30.1)
    assert counts == ["1", "2"]


def test_a_batch_sends_copies_once(sqs: Any) -> None:
    url = make(sqs)
    entries = [{"Id": one, "MessageBody": "same", "MessageGroupId": "g"} for one in "ab"]
    first, second = sqs.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]
    assert first["MessageId"] == second["MessageId"]
    assert first["SequenceNumber"] == second["SequenceNumber"]
    assert len(receive(sqs, url)) == 1


def test_a_group_waits_while_one_of_its_messages_is_in_flight(cloud: Cloud, sqs: Any) -> None:
    """Delivery logic: a receive can take several messages of a group; the next of the group then wait."""
    url = make(sqs)
    for number in range(4):
        send(sqs, url, f"a{number}", "a")
    send(sqs, url, "b0", "b")
    first = receive(sqs, url, 2)
    assert bodies(first) == ["a0", "a1"]
    assert bodies(receive(sqs, url)) == ["b0"]
    delete(sqs, url, first[0])
    assert receive(sqs, url) == []
    delete(sqs, url, first[1])
    assert bodies(receive(sqs, url)) == ["a2", "a3"]


def test_what_was_not_deleted_comes_again_before_what_follows(cloud: Cloud, sqs: Any) -> None:
    """Delivery logic: the order within a group holds when a message is delivered again."""
    url = make(sqs)
    for number in range(3):
        send(sqs, url, f"a{number}", "a")
    assert bodies(receive(sqs, url, 1)) == ["a0"]
    cloud.skip(30.1)
    assert bodies(receive(sqs, url)) == ["a0", "a1", "a2"]


def test_a_message_made_visible_waits_for_the_rest_of_its_group(sqs: Any) -> None:
    url = make(sqs)
    for number in range(2):
        send(sqs, url, f"a{number}", "a")
    first, second = receive(sqs, url)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"], VisibilityTimeout=0)
    assert receive(sqs, url) == []
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=second["ReceiptHandle"], VisibilityTimeout=0)
    assert bodies(receive(sqs, url)) == ["a0", "a1"]


@pytest.mark.parametrize("by_content", [True, False])
def test_sequence_numbers_have_twenty_digits_and_grow(sqs: Any, by_content: bool) -> None:
    """Developer Guide, "FIFO queue and message identifiers": a large number that grows within a group."""
    url = make(sqs, by_content)
    extra = [{} if by_content else {"MessageDeduplicationId": str(number)} for number in range(3)]
    sent = [send(sqs, url, f"m{number}", **extra[number])["SequenceNumber"] for number in range(3)]
    assert sent == sorted(sent)
    assert len(set(sent)) == 3
    assert {len(number) for number in sent} == {20}
    assert [message["Attributes"]["SequenceNumber"] for message in receive(sqs, url)] == sent


def test_a_handle_whose_timeout_has_ended_deletes_nothing(cloud: Cloud, sqs: Any) -> None:
    """Recorded; in a batch the entry fails (quoted in a public issue)."""
    url = make(sqs)
    send(sqs, url, "one")
    (message,) = receive(sqs, url)
    handle = message["ReceiptHandle"]
    cloud.skip(30.1)
    assert code_and_message(sqs.delete_message, QueueUrl=url, ReceiptHandle=handle) == (
        "InvalidParameterValue",
        f"Value {handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
    )
    (again,) = receive(sqs, url)
    entries = [{"Id": "old", "ReceiptHandle": handle}, {"Id": "new", "ReceiptHandle": again["ReceiptHandle"]}]
    answer = sqs.delete_message_batch(QueueUrl=url, Entries=entries)
    assert [one["Id"] for one in answer["Successful"]] == ["new"]
    assert [(one["Id"], one["Code"], one["Message"]) for one in answer["Failed"]] == [
        ("old", "ReceiptHandleIsInvalid", "The receipt handle has expired")
    ]
    cloud.skip(30.1)
    assert receive(sqs, url) == []


NO_IDS = "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
NOT_FOR_TYPE = "Reason: The request include parameter that is not valid for this queue type."


@pytest.mark.parametrize(
    ("members", "code", "sentence"),
    [
        ({"MessageDeduplicationId": "d"}, "MissingParameter", "The request must contain the parameter MessageGroupId."),
        ({"MessageGroupId": "g"}, "InvalidParameterValue", NO_IDS),
        (
            {"MessageGroupId": "g", "MessageDeduplicationId": "d", "DelaySeconds": 2},
            *("InvalidParameterValue", f"Value 2 for parameter DelaySeconds is invalid. {NOT_FOR_TYPE}"),
        ),
        (
            {"MessageGroupId": "a b", "MessageDeduplicationId": "d"},
            "InvalidParameterValue",
            "Value a b for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric "
            "and punctuation characters. 1 to 128 in length.",
        ),
    ],
)
def test_a_send_without_its_ids_is_refused(sqs: Any, members: dict[str, Any], code: str, sentence: str) -> None:
    """Recorded; the last one API Reference, SendMessage."""
    url = make(sqs, by_content=False)
    assert code_and_message(sqs.send_message, QueueUrl=url, MessageBody="x", **members) == (code, sentence)
    assert receive(sqs, url) == []


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"MessageDeduplicationId": "d"}, "The request must contain the parameter MessageGroupId."),
        ({"MessageGroupId": "g"}, NO_IDS),
    ],
)
def test_a_batch_with_an_entry_without_its_ids_is_refused(sqs: Any, members: dict[str, Any], sentence: str) -> None:
    """Recorded: the whole batch, as InvalidParameterValue."""
    url = make(sqs, by_content=False)
    entries = [{"Id": "a", "MessageBody": "x", **members}]
    error = code_and_message(sqs.send_message_batch, QueueUrl=url, Entries=entries)
    assert error == ("InvalidParameterValue", sentence)


def test_a_standard_queue_knows_no_deduplication_id(sqs: Any) -> None:
    """API Reference, SendMessage: the parameter applies only to FIFO queues."""
    url = sqs.create_queue(QueueName=f"standard-{next(_numbers)}")["QueueUrl"]
    error = refusal(sqs.send_message, QueueUrl=url, MessageBody="x", MessageDeduplicationId="d")
    assert error["Message"] == f"Value d for parameter MessageDeduplicationId is invalid. {NOT_FOR_TYPE}"
