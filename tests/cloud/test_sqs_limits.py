"""Limits and errors of the calls that send, receive, delete and hide messages.

Sources: SQS API Reference and SQS Developer Guide, "Amazon SQS message quotas"; sentences recorded against AWS.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import pytest

from helpers.cloud import Cloud
from tests.cloud.refusals import code_and_message, refusal

MEBIBYTE = 1_048_576
PREFIX = "AWS.SimpleQueueService."
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def sqs(cloud: Cloud) -> Any:
    return cloud.client("sqs")


@pytest.fixture
def url(sqs: Any) -> str:
    """A standard queue of its own for each test."""
    return str(sqs.create_queue(QueueName=f"limits-{next(_numbers)}")["QueueUrl"])


def received(sqs: Any, url: str, **options: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = sqs.receive_message(QueueUrl=url, **options).get("Messages", [])
    return messages


@pytest.mark.parametrize("body", ["x" * MEBIBYTE, "é" * (MEBIBYTE // 2)], ids=["ascii", "two bytes each"])
def test_a_message_may_have_a_mebibyte_of_utf8_and_not_one_byte_more(sqs: Any, url: str, body: str) -> None:
    """Developer Guide, "Message quotas": 1 MiB; the sentence is recorded."""
    sqs.send_message(QueueUrl=url, MessageBody=body)
    sentence = f"One or more parameters are invalid. Reason: Message must be shorter than {MEBIBYTE} bytes."
    assert code_and_message(sqs.send_message, QueueUrl=url, MessageBody=body + "x") == (
        "InvalidParameterValue",
        sentence,
    )


def test_attributes_count_towards_the_size_of_a_message(sqs: Any, url: str) -> None:
    """Developer Guide, "Amazon SQS message metadata": names, types and values are part of the size."""
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"MaximumMessageSize": "1024"})
    attributes = {"a": {"DataType": "String", "StringValue": "b"}}  # 1 + 6 + 1 bytes
    sqs.send_message(QueueUrl=url, MessageBody="x" * 1016, MessageAttributes=attributes)
    error = refusal(sqs.send_message, QueueUrl=url, MessageBody="x" * 1017, MessageAttributes=attributes)
    assert error["Message"].endswith("Message must be shorter than 1024 bytes.")


def test_a_batch_may_have_a_mebibyte_in_all(sqs: Any, url: str) -> None:
    """Recorded: BatchRequestTooLong, with the number of bytes."""
    half = "x" * (MEBIBYTE // 2)
    entries = [{"Id": "1", "MessageBody": half}, {"Id": "2", "MessageBody": half}]
    assert len(sqs.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]) == 2
    entries[1]["MessageBody"] += "x"
    assert code_and_message(sqs.send_message_batch, QueueUrl=url, Entries=entries) == (
        PREFIX + "BatchRequestTooLong",
        f"Batch requests cannot be longer than {MEBIBYTE} bytes. You have sent {MEBIBYTE + 1} bytes.",
    )


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x0b", "\x1f", "\ufffe", "\uffff"])
def test_a_character_that_xml_does_not_allow_is_refused(sqs: Any, url: str, character: str) -> None:
    """API Reference, SendMessage: InvalidMessageContents; the sentence is quoted in public issues."""
    assert code_and_message(sqs.send_message, QueueUrl=url, MessageBody=f"a{character}b") == (
        "InvalidMessageContents",
        f"Invalid binary character '#x{ord(character):X}' was found in the message body, the set of allowed characters "
        "is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].",
    )


def test_other_characters_arrive_as_they_were_sent(sqs: Any, url: str) -> None:
    body = "\t\n\r éя😀\ufffd"
    sqs.send_message(QueueUrl=url, MessageBody=body)
    (message,) = received(sqs, url)
    assert (message["Body"], message["MD5OfBody"]) == (body, hashlib.md5(body.encode()).hexdigest())


BAD_RANGES = [
    ("send_message", {"MessageBody": "x", "DelaySeconds": -1}, "-1", "DelaySeconds", "DelaySeconds must be >= 0 and"),
    ("send_message", {"MessageBody": "x", "DelaySeconds": 901}, "901", "DelaySeconds", "DelaySeconds must be >= 0 and"),
    ("receive_message", {"MaxNumberOfMessages": 0}, "0", "MaxNumberOfMessages", "Must be between 1 and 10, if prov"),
    ("receive_message", {"MaxNumberOfMessages": 11}, "11", "MaxNumberOfMessages", "Must be between 1 and 10, if prov"),
    ("receive_message", {"WaitTimeSeconds": -1}, "-1", "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided."),
    ("receive_message", {"WaitTimeSeconds": 21}, "21", "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided."),
    ("receive_message", {"VisibilityTimeout": -1}, "-1", "VisibilityTimeout", "Must be >= 0 and <= 43200, if provid"),
    ("receive_message", {"VisibilityTimeout": 43_201}, "43201", "VisibilityTimeout", "Must be >= 0 and <= 43200, if"),
    (
        "change_message_visibility",
        {"ReceiptHandle": "x", "VisibilityTimeout": 43_201},
        *("43201", "VisibilityTimeout", "Must be >= 0 and <= 43200, if provided."),
    ),
]


@pytest.mark.parametrize(("call", "members", "value", "parameter", "reason"), BAD_RANGES)
def test_a_number_out_of_range_is_refused_with_its_range(
    sqs: Any, url: str, call: str, members: dict[str, Any], value: str, parameter: str, reason: str
) -> None:
    """API Reference, SendMessage, ReceiveMessage and ChangeMessageVisibility; MaxNumberOfMessages is recorded."""
    code, sentence = code_and_message(getattr(sqs, call), QueueUrl=url, **members)
    assert code == "InvalidParameterValue"
    assert sentence.startswith(f"Value {value} for parameter {parameter} is invalid. Reason: {reason}")


BATCHES = {
    "SendMessage": ("send_message_batch", lambda number: {"MessageBody": "x"}),
    "DeleteMessage": ("delete_message_batch", lambda number: {"ReceiptHandle": f"h{number}"}),
    "ChangeMessageVisibility": (
        "change_message_visibility_batch",
        lambda number: {"ReceiptHandle": f"h{number}", "VisibilityTimeout": 1},
    ),
}


@pytest.mark.parametrize("action", BATCHES)
@pytest.mark.parametrize(
    ("ids", "code", "sentence"),
    [
        ([], "EmptyBatchRequest", "There should be at least one {action}BatchRequestEntry in the request."),
        (
            [str(number) for number in range(11)],
            "TooManyEntriesInBatchRequest",
            "Maximum number of entries per request are 10. You have sent 11.",
        ),
        (["a", "b", "a"], "BatchEntryIdsNotDistinct", "Id a repeated."),
        (["a:b"], "InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and "),
        ([""], "InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and "),
        (["a" * 81], "InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and "),
    ],
)
def test_a_batch_is_refused_as_a_whole(
    sqs: Any, url: str, action: str, ids: list[str], code: str, sentence: str
) -> None:
    """Recorded for SendMessageBatch and DeleteMessageBatch; API Reference for the third."""
    call, members = BATCHES[action]
    entries = [{"Id": one, **members(number)} for number, one in enumerate(ids)]
    error = code_and_message(getattr(sqs, call), QueueUrl=url, Entries=entries)
    assert error[0] == PREFIX + code
    assert error[1].startswith(sentence.format(action=action))


def test_an_entry_that_cannot_be_sent_fails_alone(sqs: Any, url: str) -> None:
    """API Reference, SendMessageBatch: the result of sending each message is reported individually."""
    entries = [
        {"Id": "late", "MessageBody": "x", "DelaySeconds": 901},
        {"Id": "good", "MessageBody": "good"},
        {"Id": "binary", "MessageBody": "\x01"},
    ]
    answer = sqs.send_message_batch(QueueUrl=url, Entries=entries)
    assert [one["Id"] for one in answer["Successful"]] == ["good"]
    failed = [(one["Id"], one["Code"], one["SenderFault"]) for one in answer["Failed"]]
    assert failed == [("late", "InvalidParameterValue", True), ("binary", "InvalidMessageContents", True)]
    assert [message["Body"] for message in received(sqs, url, MaxNumberOfMessages=10)] == ["good"]


def test_a_batch_of_which_nothing_can_be_sent_sends_nothing(sqs: Any, url: str) -> None:
    answer = sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": "a", "MessageBody": "\x01"}])
    assert (answer.get("Successful", []), [one["Id"] for one in answer["Failed"]]) == ([], ["a"])
    assert received(sqs, url) == []


def test_message_attributes_come_back_with_their_digest(sqs: Any, url: str) -> None:
    """Developer Guide, "Calculating the MD5 message digest for message attributes"; digest recorded against AWS."""
    binary = b"traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01"
    attributes = {"attr1": {"DataType": "Binary", "BinaryValue": binary}}
    sqs.send_message(QueueUrl=url, MessageBody="test", MessageAttributes=attributes)
    (message,) = received(sqs, url, MessageAttributeNames=["All"])
    assert message["MessageAttributes"] == attributes
    assert message["MD5OfMessageAttributes"] == "8cbe4db156db8a94db8b801b7addb984"


@pytest.mark.parametrize(
    ("names", "digest", "shown"),
    [
        (["All"], "4c360f3fdafd970e05fae2f149d997f5", {"Hello", "General", "Help.Me"}),
        ([".*"], "4c360f3fdafd970e05fae2f149d997f5", {"Hello", "General", "Help.Me"}),
        (["Hello", "Nobody"], "a311262e065454b75da111d535b8dacd", {"Hello"}),
        (["Hel.*"], "83fee93c1bcd8b9a5a923ffacdc636c7", {"Hello", "Help.Me"}),
        (["Nobody"], None, set()),
        ([], None, set()),
    ],
)
def test_a_receive_shows_the_attributes_that_it_asks_for(
    sqs: Any, url: str, names: list[str], digest: str | None, shown: set[str]
) -> None:
    """Recorded against AWS, digests included."""
    texts = {"Hello": "There", "General": "Kenobi", "Help.Me": "Me"}
    attributes = {name: {"DataType": "String", "StringValue": text} for name, text in texts.items()}
    sent = sqs.send_message(QueueUrl=url, MessageBody="msg", MessageAttributes=attributes)
    assert sent["MD5OfMessageAttributes"] == "4c360f3fdafd970e05fae2f149d997f5"
    (message,) = received(sqs, url, MessageAttributeNames=names)
    assert set(message.get("MessageAttributes", {})) == shown
    assert message.get("MD5OfMessageAttributes") == digest


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        (
            {"ErrorDetails": {"DataType": "String", "StringValue": ""}},
            "Message (user) attribute 'ErrorDetails' must contain a non-empty value of type 'String'.",
        ),
        (
            {"a b": {"DataType": "String", "StringValue": "x"}},
            "The message attribute name 'a b' is invalid. Attribute name can contain A-Z, a-z, 0-9, underscore (_), "
            "hyphen (-), and period (.) characters.",
        ),
        (
            {f"n{number}": {"DataType": "String", "StringValue": "x"} for number in range(11)},
            "Number of message attributes [11] exceeds the allowed maximum [10].",
        ),
    ],
)
def test_a_bad_message_attribute_is_refused_and_nothing_is_sent(
    sqs: Any, url: str, attributes: dict[str, Any], sentence: str
) -> None:
    """Recorded (empty value) and Developer Guide, "Amazon SQS message metadata"."""
    error = code_and_message(sqs.send_message, QueueUrl=url, MessageBody="x", MessageAttributes=attributes)
    assert error == ("InvalidParameterValue", sentence)
    assert received(sqs, url) == []


def test_a_handle_that_no_queue_gave_out_is_refused(sqs: Any, url: str) -> None:
    """DeleteMessage and ChangeMessageVisibility; sentence of the SQS Developer Guide, "Troubleshooting"."""
    expected = ("ReceiptHandleIsInvalid", 'The input receipt handle "garbage" is not a valid receipt handle.')
    assert code_and_message(sqs.delete_message, QueueUrl=url, ReceiptHandle="garbage") == expected
    change = {"QueueUrl": url, "ReceiptHandle": "garbage", "VisibilityTimeout": 1}
    assert code_and_message(sqs.change_message_visibility, **change) == expected
    entries = [{"Id": "a", "ReceiptHandle": "garbage"}]
    (failed,) = sqs.delete_message_batch(QueueUrl=url, Entries=entries)["Failed"]
    assert (failed["Code"], failed["Message"]) == expected


def test_a_standard_queue_deletes_by_a_handle_whose_timeout_has_ended(cloud: Cloud, sqs: Any, url: str) -> None:
    """Recorded against AWS; so does a handle from before the message was received again, and a second delete."""
    for _ in range(2):
        sqs.send_message(QueueUrl=url, MessageBody="x")
    first = received(sqs, url)[0]["ReceiptHandle"]
    cloud.skip(30.1)
    sqs.delete_message(QueueUrl=url, ReceiptHandle=first)
    (other,) = received(sqs, url, MaxNumberOfMessages=10)
    cloud.skip(30.1)
    (again,) = received(sqs, url, MaxNumberOfMessages=10)
    assert again["ReceiptHandle"] != other["ReceiptHandle"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=other["ReceiptHandle"])
    sqs.delete_message(QueueUrl=url, ReceiptHandle=other["ReceiptHandle"])
    cloud.skip(30.1)
    assert received(sqs, url) == []


def test_a_hidden_message_can_be_hidden_for_longer_and_shown_at_once(cloud: Cloud, sqs: Any, url: str) -> None:
    """API Reference, ChangeMessageVisibility: the timeout counts from the call."""
    sqs.send_message(QueueUrl=url, MessageBody="x")
    handle = received(sqs, url)[0]["ReceiptHandle"]
    cloud.skip(20)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=30)
    cloud.skip(20)
    assert received(sqs, url) == []
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
    assert len(received(sqs, url)) == 1


def test_a_message_that_is_visible_again_is_not_in_flight(cloud: Cloud, sqs: Any, url: str) -> None:
    """API Reference, ChangeMessageVisibility: MessageNotInflight; making it visible succeeds (recorded)."""
    sqs.send_message(QueueUrl=url, MessageBody="x")
    handle = received(sqs, url)[0]["ReceiptHandle"]
    cloud.skip(30.1)
    change = {"QueueUrl": url, "ReceiptHandle": handle}
    sqs.change_message_visibility(**change, VisibilityTimeout=0)
    error = code_and_message(sqs.change_message_visibility, **change, VisibilityTimeout=10)
    assert error == (PREFIX + "MessageNotInflight", "The specified message isn't in flight.")
    assert len(received(sqs, url)) == 1


def test_a_deleted_message_has_no_visibility_to_change(sqs: Any, url: str) -> None:
    """Quoted in public issues from AWS's answers."""
    sqs.send_message(QueueUrl=url, MessageBody="x")
    handle = received(sqs, url)[0]["ReceiptHandle"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)
    change = {"QueueUrl": url, "ReceiptHandle": handle, "VisibilityTimeout": 10}
    assert code_and_message(sqs.change_message_visibility, **change) == (
        "InvalidParameterValue",
        f"Value {handle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available "
        "for visibility timeout change.",
    )


def test_a_message_is_hidden_for_twelve_hours_at_most(cloud: Cloud, sqs: Any, url: str) -> None:
    """API Reference, ChangeMessageVisibility: 12 hours from the receive in all."""
    sqs.send_message(QueueUrl=url, MessageBody="x")
    cloud.skip(3600)  # time before the receive does not count
    handle = received(sqs, url, VisibilityTimeout=7200)[0]["ReceiptHandle"]
    cloud.skip(3600)
    change = {"QueueUrl": url, "ReceiptHandle": handle}
    sqs.change_message_visibility(**change, VisibilityTimeout=39_599)
    error = code_and_message(sqs.change_message_visibility, **change, VisibilityTimeout=39_601)
    assert error == (
        "InvalidParameterValue",
        "Value 39601 for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is "
        "beyond the limit [43200 seconds]",
    )


def test_a_batch_changes_what_it_can(sqs: Any, url: str) -> None:
    """API Reference, ChangeMessageVisibilityBatch: the result of each entry is reported individually."""
    sqs.send_message(QueueUrl=url, MessageBody="x")
    handle = received(sqs, url)[0]["ReceiptHandle"]
    entries = [
        {"Id": "good", "ReceiptHandle": handle, "VisibilityTimeout": 0},
        {"Id": "long", "ReceiptHandle": handle, "VisibilityTimeout": 43_201},
        {"Id": "unknown", "ReceiptHandle": "garbage", "VisibilityTimeout": 0},
    ]
    answer = sqs.change_message_visibility_batch(QueueUrl=url, Entries=entries)
    assert [one["Id"] for one in answer["Successful"]] == ["good"]
    failed = [(one["Id"], one["Code"]) for one in answer["Failed"]]
    assert failed == [("long", "InvalidParameterValue"), ("unknown", "ReceiptHandleIsInvalid")]


def test_with_too_many_messages_in_flight_a_short_poll_is_refused_and_a_long_one_is_empty(
    cloud: Cloud, sqs: Any, url: str
) -> None:
    """Developer Guide, "Message quotas": OverLimit at about 120,000; the test lowers the number."""
    for _ in range(4):
        sqs.send_message(QueueUrl=url, MessageBody="x")
    cloud.queues.limit_in_flight(url.rpartition("/")[2], 3)
    messages = received(sqs, url, MaxNumberOfMessages=10)
    assert len(messages) == 3
    assert refusal(sqs.receive_message, QueueUrl=url)["Code"] == "OverLimit"
    assert received(sqs, url, WaitTimeSeconds=1) == []
    sqs.delete_message(QueueUrl=url, ReceiptHandle=messages[0]["ReceiptHandle"])
    assert len(received(sqs, url)) == 1


def test_a_message_is_gone_after_its_retention_period(cloud: Cloud, sqs: Any, url: str) -> None:
    """API Reference, SetQueueAttributes, MessageRetentionPeriod: also while it is in flight."""
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"MessageRetentionPeriod": "60", "VisibilityTimeout": "300"})
    sqs.send_message(QueueUrl=url, MessageBody="in flight")
    received(sqs, url)
    sqs.send_message(QueueUrl=url, MessageBody="visible")
    cloud.skip(60.1)
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    assert counts == dict.fromkeys(names, "0")
    assert received(sqs, url) == []
