"""What a function gets from a queue and what its answer means.

The shape of a record and the meaning of a partial batch response follow the table "Queue to function" of the
project's facts and the Lambda Developer Guide, "Using Lambda with Amazon SQS" and "Implementing partial batch
responses".
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from moto.sqs.models import Message

MAXIMUM_PAYLOAD = 6 * 1024 * 1024
"""Bytes of the event of a synchronous invocation; a batch that would be larger is cut."""

# Bytes of a record around its body and its message attributes; the longest parts are the handle, two ids of a
# FIFO message (128 each) and two ARNs.
_FRAME = 2048

_HEAD, _BETWEEN, _TAIL = b'{"Records": [', b", ", b"]}"


def record(message: Message, queue_arn: str, region: str, fifo: bool) -> dict[str, Any]:
    """The record of a message that was just received."""
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": _attributes(message, fifo),
        "messageAttributes": {name: _attribute(value) for name, value in message.message_attributes.items()},
        **({"md5OfMessageAttributes": message.attribute_md5} if message.message_attributes else {}),
        "md5OfBody": hashlib.md5(message.body.encode("utf-8"), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": region,
    }


def encode(members: Mapping[str, Any] | str) -> bytes:
    """A record, or its body, as it stands in the event's JSON text."""
    return json.dumps(members, ensure_ascii=False).encode("utf-8", "surrogatepass")


def event(records: Iterable[bytes]) -> bytes:
    """The event of a batch, from its encoded records."""
    return _HEAD + _BETWEEN.join(records) + _TAIL


def largest_size(message: Message) -> int:
    """An upper bound of the bytes that a message adds to an event."""
    attributes = json.dumps(message.message_attributes, default=str) if message.message_attributes else ""
    return len(encode(message.body)) + 2 * len(attributes) + _FRAME


def failed_messages(payload: bytes, message_ids: Collection[str]) -> set[str] | None:
    """Which messages a ReportBatchItemFailures answer gives back; None when the whole batch failed.

    Nothing reported (null, an empty answer, no or an empty list) means that all succeeded. An id that is
    unknown, empty or under another key, or an answer that cannot be read, means that all failed.
    """
    if not payload.strip():
        return set()
    try:
        answer = json.loads(payload)
    except ValueError:
        return None
    if not answer and answer is not False and answer != 0:
        return set()
    if not isinstance(answer, dict):
        return None
    reported = answer.get("batchItemFailures")
    if reported is None:
        return set()
    if not isinstance(reported, list):
        return None
    failed = set()
    for item in reported:
        identifier = item.get("itemIdentifier") if isinstance(item, dict) else None
        if not isinstance(identifier, str) or identifier not in message_ids:
            return None
        failed.add(identifier)
    return failed


def _attributes(message: Message, fifo: bool) -> dict[str, str]:
    attributes = {"ApproximateReceiveCount": str(message.approximate_receive_count)}
    trace = (message.system_attributes or {}).get("AWSTraceHeader", {}).get("StringValue")
    if trace:
        attributes["AWSTraceHeader"] = trace
    attributes["SentTimestamp"] = str(message.sent_timestamp)
    if fifo and message.sequence_number is not None:
        attributes["SequenceNumber"] = message.sequence_number
    if message.group_id is not None:
        attributes["MessageGroupId"] = message.group_id
    attributes["SenderId"] = message.sender_id
    if fifo and message.deduplication_id is not None:
        attributes["MessageDeduplicationId"] = message.deduplication_id
    source = getattr(message, "dead_letter_source", None)
    if source:
        attributes["DeadLetterQueueSourceArn"] = source
    attributes["ApproximateFirstReceiveTimestamp"] = str(message.approximate_first_receive_timestamp)
    return attributes


def _attribute(value: Mapping[str, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    if value.get("StringValue") is not None:
        members["stringValue"] = value["StringValue"]
    binary = value.get("BinaryValue")
    if binary is not None:
        members["binaryValue"] = base64.b64encode(binary).decode("ascii") if isinstance(binary, bytes) else binary
    return {**members, "stringListValues": [], "binaryListValues": [], "dataType": value["DataType"]}
