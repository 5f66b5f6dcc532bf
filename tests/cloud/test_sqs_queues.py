"""Creating, changing, emptying and deleting queues.

Sources: SQS API Reference, "CreateQueue", "SetQueueAttributes", "DeleteQueue", "PurgeQueue"; sentences recorded
against AWS or quoted from its answers.
"""

from __future__ import annotations

import itertools
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.sqs_attributes import RANGES
from tests.cloud.refusals import code_and_message, refusal

PREFIX = "AWS.SimpleQueueService."
ARN = "arn:aws:sqs:us-east-1:123456789012:"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def sqs(cloud: Cloud) -> Any:
    return cloud.client("sqs")


def name() -> str:
    return f"queue-{next(_numbers)}"


def attributes(sqs: Any, url: str, *names: str) -> dict[str, str]:
    answer: dict[str, str] = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names)).get("Attributes", {})
    return answer


def test_a_name_is_free_again_sixty_seconds_after_its_queue_was_deleted(cloud: Cloud, sqs: Any) -> None:
    """API Reference, DeleteQueue; sentence quoted from AWS."""
    first = name()
    url = sqs.create_queue(QueueName=first)["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="gone with its queue")
    sqs.delete_queue(QueueUrl=url)
    sqs.create_queue(QueueName=name())  # another name is free
    cloud.skip(59)
    error = refusal(sqs.create_queue, QueueName=first)
    assert (error["Code"], error["Message"], error["QueryErrorCode"]) == (
        PREFIX + "QueueDeletedRecently",
        "You must wait 60 seconds after deleting a queue before you can create another with the same name.",
        "QueueDeletedRecently",
    )
    cloud.skip(1.1)
    assert sqs.create_queue(QueueName=first)["QueueUrl"] == url
    assert "Messages" not in sqs.receive_message(QueueUrl=url)


def test_the_times_of_a_queue_are_whole_seconds(cloud: Cloud, sqs: Any) -> None:
    """API Reference, GetQueueAttributes: epoch time in seconds."""
    url = sqs.create_queue(QueueName=name())["QueueUrl"]
    created = attributes(sqs, url, "All")
    cloud.skip(10)
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "5"})
    changed = attributes(sqs, url, "CreatedTimestamp", "LastModifiedTimestamp")
    assert changed["CreatedTimestamp"] == created["CreatedTimestamp"]
    assert 10 <= int(changed["LastModifiedTimestamp"]) - int(created["LastModifiedTimestamp"]) <= 20


def test_a_queue_is_emptied_once_in_sixty_seconds(cloud: Cloud, sqs: Any) -> None:
    """API Reference, PurgeQueue; sentence and status 403 recorded."""
    first = name()
    url, other = (sqs.create_queue(QueueName=one)["QueueUrl"] for one in (first, name()))
    sqs.send_message(QueueUrl=url, MessageBody="x")
    sqs.purge_queue(QueueUrl=url)
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    sqs.purge_queue(QueueUrl=other)
    error = refusal(sqs.purge_queue, QueueUrl=url)
    assert (error["Code"], error["Message"], error["HTTPStatusCode"]) == (
        PREFIX + "PurgeQueueInProgress",
        f"Only one PurgeQueue operation on {first} is allowed every 60 seconds.",
        403,
    )
    cloud.skip(60.1)
    sqs.purge_queue(QueueUrl=url)


def test_creating_a_queue_again_gives_its_address(sqs: Any) -> None:
    """API Reference, CreateQueue: the same name with the same values, or with fewer attributes."""
    first, asked = name(), {"VisibilityTimeout": "40", "DelaySeconds": "1"}
    url = sqs.create_queue(QueueName=first, Attributes=asked)["QueueUrl"]
    for again in ({}, asked, {"DelaySeconds": "1"}):
        assert sqs.create_queue(QueueName=first, Attributes=again)["QueueUrl"] == url


def test_creating_a_queue_again_with_another_value_is_refused(sqs: Any) -> None:
    """Recorded, and the exception of the SDK with it."""
    first = name()
    sqs.create_queue(QueueName=first, Attributes={"DelaySeconds": "1"})
    with pytest.raises(sqs.exceptions.QueueNameExists) as refused:
        sqs.create_queue(QueueName=first, Attributes={"DelaySeconds": "2"})
    error = refused.value.response["Error"]
    sentence = "A queue already exists with the same name and a different value for attribute DelaySeconds"
    assert (error["Code"], error["Message"]) == ("QueueAlreadyExists", sentence)


def test_a_redrive_policy_is_the_same_whether_its_count_is_a_number_or_a_text(sqs: Any) -> None:
    dead, first = name(), name()
    sqs.create_queue(QueueName=dead)
    for count in (3, "3"):
        policy = json.dumps({"deadLetterTargetArn": ARN + dead, "maxReceiveCount": count})
        sqs.create_queue(QueueName=first, Attributes={"RedrivePolicy": policy})


@pytest.mark.parametrize("bad", ["a b", "a.b", "é", "a" * 81, "orders.fifo"])
def test_a_name_may_have_letters_digits_hyphens_and_underscores(sqs: Any, bad: str) -> None:
    """API Reference, CreateQueue: up to 80 of them; ``.fifo`` needs the attribute."""
    sentence = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
    assert code_and_message(sqs.create_queue, QueueName=bad) == ("InvalidParameterValue", sentence)


def test_the_name_of_a_fifo_queue_ends_in_fifo(sqs: Any) -> None:
    """API Reference, CreateQueue."""
    code, sentence = code_and_message(sqs.create_queue, QueueName="orders", Attributes={"FifoQueue": "true"})
    assert code == "InvalidParameterValue"
    assert "must end with .fifo suffix and be 1 to 80 in length." in sentence


@pytest.mark.parametrize("attribute", RANGES)
@pytest.mark.parametrize("end", [0, 1], ids=["low", "high"])
def test_an_attribute_goes_to_the_ends_of_its_range_and_no_further(sqs: Any, attribute: str, end: int) -> None:
    """API Reference, SetQueueAttributes: the ranges; the sentence is recorded."""
    url = sqs.create_queue(QueueName=name())["QueueUrl"]
    limit = RANGES[attribute][end]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={attribute: str(limit)})
    beyond = {attribute: str(limit + (1 if end else -1))}
    expected = ("InvalidAttributeValue", f"Invalid value for the parameter {attribute}.")
    assert code_and_message(sqs.set_queue_attributes, QueueUrl=url, Attributes=beyond) == expected
    assert code_and_message(sqs.create_queue, QueueName=name(), Attributes=beyond) == expected


def test_the_ranges_are_those_of_the_reference() -> None:
    """API Reference, SetQueueAttributes: seconds, and bytes for MaximumMessageSize (1 KiB to 1 MiB)."""
    assert RANGES == {
        "DelaySeconds": (0, 900),
        "MaximumMessageSize": (1024, 1_048_576),
        "MessageRetentionPeriod": (60, 1_209_600),
        "ReceiveMessageWaitTimeSeconds": (0, 20),
        "VisibilityTimeout": (0, 43_200),
        "KmsDataKeyReusePeriodSeconds": (60, 86_400),
    }


@pytest.mark.parametrize(
    ("fifo", "asked", "code", "sentence"),
    [
        (False, {"Nonsense": "1"}, "InvalidAttributeName", "Unknown Attribute Nonsense."),
        (False, {"VisibilityTimeout": "soon"}, "InvalidAttributeValue", "Invalid value for the parameter Visibility"),
        (False, {"FifoQueue": "true"}, "InvalidAttributeName", "Unknown Attribute FifoQueue."),
        (
            False,
            {"ContentBasedDeduplication": "true"},
            *("InvalidAttributeName", "Unknown Attribute ContentBasedDeduplication."),
        ),
        (
            True,
            {"FifoQueue": "false"},
            "InvalidAttributeValue",
            "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.",
        ),
        (False, {"Policy": "{"}, "InvalidAttributeValue", "Invalid value for the parameter Policy."),
    ],
)
def test_an_attribute_that_a_queue_cannot_have_is_refused(
    sqs: Any, fifo: bool, asked: dict[str, str], code: str, sentence: str
) -> None:
    """Recorded for FifoQueue; API Reference, SetQueueAttributes."""
    options = {"Attributes": {"FifoQueue": "true"}} if fifo else {}
    url = sqs.create_queue(QueueName=name() + (".fifo" if fifo else ""), **options)["QueueUrl"]
    error = code_and_message(sqs.set_queue_attributes, QueueUrl=url, Attributes=asked)
    assert error[0] == code
    assert error[1].startswith(sentence)


def test_a_policy_stays_when_another_attribute_is_set(sqs: Any) -> None:
    """API Reference, SetQueueAttributes: it sets the attributes that it names."""
    url = sqs.create_queue(QueueName=name())["QueueUrl"]
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "sqs:*"}]}
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "10"})
    assert json.loads(attributes(sqs, url, "Policy")["Policy"]) == policy
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": ""})
    assert attributes(sqs, url, "Policy") == {}


DEAD_FIFO = "dead-letters.fifo"
BAD_REDRIVES = [
    ("no JSON", "InvalidAttributeValue", "Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is no"),
    ({}, "InvalidParameterValue", "Redrive policy does not contain mandatory attribute: maxReceiveCount."),
    ({"maxReceiveCount": 5}, "InvalidParameterValue", "does not contain mandatory attribute: deadLetterTargetArn."),
    ({"deadLetterTargetArn": "dummy", "maxReceiveCount": 42}, "", "Invalid value for deadLetterTargetArn."),
    (
        {"deadLetterTargetArn": "arn:aws:sns:us-east-1:123456789012:t", "maxReceiveCount": 5},
        *("", "Only SQS queues are valid resources for deadLetterTargetArn."),
    ),
    ({"deadLetterTargetArn": ARN + "nobody", "maxReceiveCount": 5}, "", "Dead letter target does not exist."),
    (
        {"deadLetterTargetArn": ARN + "nobody", "maxReceiveCount": 0},
        *("", "Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000 both inclusive."),
    ),
    (
        {"deadLetterTargetArn": ARN + "nobody", "maxReceiveCount": "1001"},
        *("", "Invalid value for maxReceiveCount: 1001, valid values are from 1 to 1000 both inclusive."),
    ),
    (
        {"deadLetterTargetArn": ARN + DEAD_FIFO, "maxReceiveCount": 5},
        *("", "Dead-letter queue must be same type of queue as the source."),
    ),
    (
        {"deadLetterTargetArn": ARN + "nobody", "maxReceiveCount": 5, "other": 1},
        *("", "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn]."),
    ),
]


@pytest.mark.parametrize(("policy", "code", "reason"), BAD_REDRIVES)
def test_a_redrive_policy_that_leads_nowhere_is_refused(sqs: Any, policy: Any, code: str, reason: str) -> None:
    """Recorded (ARN that is none), or quoted from AWS's answers."""
    sqs.create_queue(QueueName=DEAD_FIFO, Attributes={"FifoQueue": "true"})
    url = sqs.create_queue(QueueName=name())["QueueUrl"]
    text = policy if isinstance(policy, str) else json.dumps(policy)
    error = code_and_message(sqs.set_queue_attributes, QueueUrl=url, Attributes={"RedrivePolicy": text})
    assert error[0] == (code or "InvalidParameterValue")
    assert reason in error[1]
    if not isinstance(policy, str):
        assert error[1].startswith(f"Value {text} for parameter RedrivePolicy is invalid. Reason: ")
    assert attributes(sqs, url, "RedrivePolicy") == {}


def test_a_fifo_queue_needs_a_fifo_dead_letter_queue(sqs: Any) -> None:
    """Developer Guide, "Dead-letter queues": the same type, both ways."""
    dead = name()
    sqs.create_queue(QueueName=dead)
    policy = json.dumps({"deadLetterTargetArn": ARN + dead, "maxReceiveCount": 5})
    asked = {"FifoQueue": "true", "RedrivePolicy": policy}
    error = refusal(sqs.create_queue, QueueName=name() + ".fifo", Attributes=asked)
    assert error["Message"].endswith("Reason: Dead-letter queue must be same type of queue as the source.")


@pytest.mark.parametrize(
    ("permission", "sources", "allowed"),
    [("allowAll", None, True), ("denyAll", None, False), ("byQueue", ["friend"], True), ("byQueue", ["other"], False)],
)
def test_a_dead_letter_queue_says_whose_it_may_be(
    sqs: Any, permission: str, sources: list[str] | None, allowed: bool
) -> None:
    """API Reference, SetQueueAttributes, RedriveAllowPolicy."""
    dead, friend = name(), name()
    named = {"sourceQueueArns": [ARN + (friend if one == "friend" else one) for one in sources]} if sources else {}
    rule = json.dumps({"redrivePermission": permission, **named})
    url = sqs.create_queue(QueueName=dead, Attributes={"RedriveAllowPolicy": rule})["QueueUrl"]
    assert json.loads(attributes(sqs, url, "RedriveAllowPolicy")["RedriveAllowPolicy"]) == json.loads(rule)
    policy = json.dumps({"deadLetterTargetArn": ARN + dead, "maxReceiveCount": 5})
    if allowed:
        source = sqs.create_queue(QueueName=friend, Attributes={"RedrivePolicy": policy})["QueueUrl"]
        assert sqs.list_dead_letter_source_queues(QueueUrl=url)["queueUrls"] == [source]
    else:
        error = refusal(sqs.create_queue, QueueName=friend, Attributes={"RedrivePolicy": policy})
        assert error["Code"] == "InvalidParameterValue"
        assert sqs.list_dead_letter_source_queues(QueueUrl=url)["queueUrls"] == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("no JSON", "as it’s in an unsupported format."),
        ({"redrivePermission": "some"}, "as it’s in an unsupported format."),
        ({"redrivePermission": "byQueue"}, "you must also specify one or more sourceQueueArns values."),
        ({"redrivePermission": "allowAll", "sourceQueueArns": ["x"]}, "you must set redrivePermission to byQueue."),
        ({"redrivePermission": "byQueue", "sourceQueueArns": ["x"] * 11}, "you can specify is 10."),
    ],
)
def test_a_redrive_allow_policy_without_sense_is_refused(sqs: Any, rule: Any, reason: str) -> None:
    """Quoted from AWS's answers."""
    text = rule if isinstance(rule, str) else json.dumps(rule)
    error = refusal(sqs.create_queue, QueueName=name(), Attributes={"RedriveAllowPolicy": text})
    assert error["Message"].endswith(reason)


def test_a_queue_that_is_not_there_is_named_in_no_answer(sqs: Any) -> None:
    """Recorded: AWS.SimpleQueueService.NonExistentQueue, for calls that need a queue."""
    url = "http://127.0.0.1/123456789012/nobody"
    for call, members in (
        (sqs.send_message, {"MessageBody": "x"}),
        (sqs.receive_message, {}),
        (sqs.purge_queue, {}),
        (sqs.delete_queue, {}),
        (sqs.get_queue_attributes, {"AttributeNames": ["All"]}),
        (sqs.send_message_batch, {"Entries": [{"Id": "a", "MessageBody": "x"}]}),
        (sqs.delete_message, {"ReceiptHandle": "x"}),
    ):
        error = refusal(call, QueueUrl=url, **members)
        assert (error["Code"], error["QueryErrorCode"]) == (PREFIX + "NonExistentQueue", "QueueDoesNotExist")


def test_older_sdks_are_refused_in_xml(cloud: Cloud, sqs: Any) -> None:
    """SQS Developer Guide, "Making Query API requests": the same rules, members flattened into numbered names."""
    signed = "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0"

    def ask(action: str, **fields: str) -> str:
        body = urllib.parse.urlencode({"Action": action, "Version": "2012-11-05", **fields}).encode()
        request = urllib.request.Request(cloud.endpoint, body, {"Authorization": signed})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as refused:
            return f"{refused.code} {refused.read().decode()}"

    first = name()
    long_delay = {"Attribute.1.Name": "DelaySeconds", "Attribute.1.Value": "901"}
    answer = ask("CreateQueue", QueueName=first, **long_delay)
    assert answer.startswith("400 ")
    assert (
        "<Code>InvalidAttributeValue</Code><Message>Invalid value for the parameter DelaySeconds.</Message>" in answer
    )
    assert first in ask("CreateQueue", QueueName=first, **(long_delay | {"Attribute.1.Value": "900"}))
    url = sqs.get_queue_url(QueueName=first)["QueueUrl"]
    assert attributes(sqs, url, "DelaySeconds") == {"DelaySeconds": "900"}
    entry = "SendMessageBatchRequestEntry.1"
    answer = ask("SendMessageBatch", QueueUrl=url, **{f"{entry}.Id": "a:b", f"{entry}.MessageBody": "x"})
    assert f"<Code>{PREFIX}InvalidBatchEntryId</Code>" in answer
    assert "Value 11 for parameter MaxNumberOfMessages" in ask("ReceiveMessage", QueueUrl=url, MaxNumberOfMessages="11")
    sqs.delete_queue(QueueUrl=url)
    assert f"<Code>{PREFIX}QueueDeletedRecently</Code>" in ask("CreateQueue", QueueName=first)
