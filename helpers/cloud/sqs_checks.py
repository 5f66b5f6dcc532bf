"""What SQS refuses in calls that send, receive, delete and hide messages.

Limits: SQS Developer Guide, "Amazon SQS message quotas"; codes: SQS API Reference, "Errors" of each action. The
sentences are recorded against AWS or quoted in public issues from its answers.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from . import sqs_queue
from .responses import Refused

if TYPE_CHECKING:
    from moto.sqs.models import Queue

LARGEST_MESSAGE = 1_048_576
"""Bytes of a message with its attributes, and of all messages of one batch: 1 MiB."""
LARGEST_BATCH = 10
LONGEST_DELAY = 900
LONGEST_VISIBILITY = 43_200
LONGEST_WAIT = 20
MOST_ATTRIBUTES = 10

NO_DEDUPLICATION = (
    "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
)

PREFIX = "AWS.SimpleQueueService."

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ALLOWED = "#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]"
_ENTRY_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}")
_FIFO_ID = re.compile(r"[!-~]{1,128}")
_NOT_FOR_TYPE = "The request include parameter that is not valid for this queue type."


def invalid(value: object, parameter: str, reason: str) -> Refused:
    """The refusal of a parameter's value."""
    return Refused("InvalidParameterValue", f"Value {value} for parameter {parameter} is invalid. Reason: {reason}")


def in_range(value: Any, parameter: str, low: int, high: int, reason: str) -> None:
    """Refuse a whole number outside `low` to `high`; what is no number is left to the check of the model."""
    if isinstance(value, int) and not isinstance(value, bool) and not low <= value <= high:
        raise invalid(value, parameter, reason)


def check_message(message: dict[str, Any], queue: Queue) -> None:
    """What holds for one message to send, alone or in a batch."""
    body = message.get("MessageBody")
    if not isinstance(body, str):
        return
    if not body:
        raise Refused("MissingParameter", "The request must contain the parameter MessageBody.")
    if wrong := _FORBIDDEN.search(body):
        raise Refused(
            "InvalidMessageContents",
            f"Invalid binary character '#x{ord(wrong.group()):X}' was found in the message body, the set of allowed "
            f"characters is {_ALLOWED}.",
        )
    _check_attributes(message.get("MessageAttributes") or {})
    _check_fifo(message, queue)
    reason = f"DelaySeconds must be >= 0 and <= {LONGEST_DELAY}."
    in_range(message.get("DelaySeconds"), "DelaySeconds", 0, LONGEST_DELAY, reason)
    largest = sqs_queue.number(queue, "maximum_message_size")
    if size(message) > largest:
        raise Refused(
            "InvalidParameterValue",
            f"One or more parameters are invalid. Reason: Message must be shorter than {largest} bytes.",
        )


def size(message: dict[str, Any]) -> int:
    """Bytes of a message: its body, and the names, types and values of its attributes."""
    total = len(str(message.get("MessageBody", "")).encode("utf-8", "surrogatepass"))
    for name, value in (message.get("MessageAttributes") or {}).items():
        total += len(name.encode("utf-8", "surrogatepass"))
        for part in ("DataType", "StringValue"):
            total += len(str(value.get(part) or "").encode("utf-8", "surrogatepass"))
        total += len(_binary(value.get("BinaryValue") or ""))
    return total


def check_batch(entries: list[Any], name: str) -> None:
    """What holds for a batch as a whole; `name` is the action without ``Batch``."""
    if not entries:
        sentence = f"There should be at least one {name}BatchRequestEntry in the request."
        raise Refused(PREFIX + "EmptyBatchRequest", sentence)
    if len(entries) > LARGEST_BATCH:
        sentence = f"Maximum number of entries per request are {LARGEST_BATCH}. You have sent {len(entries)}."
        raise Refused(PREFIX + "TooManyEntriesInBatchRequest", sentence)
    ids = [entry.get("Id") for entry in entries if isinstance(entry, dict)]
    if any(isinstance(one, str) and not _ENTRY_ID.fullmatch(one) for one in ids):
        raise Refused(
            PREFIX + "InvalidBatchEntryId",
            "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 "
            "letters long.",
        )
    for one, times in Counter(one for one in ids if isinstance(one, str)).items():
        if times > 1:
            raise Refused(PREFIX + "BatchEntryIdsNotDistinct", f"Id {one} repeated.")


def check_batch_size(entries: list[dict[str, Any]]) -> None:
    """All messages of a batch together must be no larger than one message may be."""
    total = sum(size(entry) for entry in entries)
    if total > LARGEST_MESSAGE:
        sentence = f"Batch requests cannot be longer than {LARGEST_MESSAGE} bytes. You have sent {total} bytes."
        raise Refused(PREFIX + "BatchRequestTooLong", sentence)


def check_receive(asked: dict[str, Any]) -> None:
    """What holds for a receive."""
    reason = f"Must be between 1 and {LARGEST_BATCH}, if provided."
    in_range(asked.get("MaxNumberOfMessages"), "MaxNumberOfMessages", 1, LARGEST_BATCH, reason)
    reason = f"Must be >= 0 and <= {LONGEST_WAIT}, if provided."
    in_range(asked.get("WaitTimeSeconds"), "WaitTimeSeconds", 0, LONGEST_WAIT, reason)
    check_visibility(asked)


def check_visibility(asked: dict[str, Any]) -> None:
    """What holds for a visibility timeout."""
    reason = f"Must be >= 0 and <= {LONGEST_VISIBILITY}, if provided."
    in_range(asked.get("VisibilityTimeout"), "VisibilityTimeout", 0, LONGEST_VISIBILITY, reason)


def unknown_handle(handle: object) -> Refused:
    """The refusal of a receipt handle that this queue never gave out."""
    return Refused("ReceiptHandleIsInvalid", f'The input receipt handle "{handle}" is not a valid receipt handle.')


def _check_attributes(attributes: dict[str, Any]) -> None:
    if len(attributes) > MOST_ATTRIBUTES:
        raise Refused(
            "InvalidParameterValue",
            f"Number of message attributes [{len(attributes)}] exceeds the allowed maximum [{MOST_ATTRIBUTES}].",
        )
    for name, value in attributes.items():
        if not _ATTRIBUTE_NAME.fullmatch(name):
            raise Refused(
                "InvalidParameterValue",
                f"The message attribute name '{name}' is invalid. Attribute name can contain A-Z, a-z, 0-9, "
                "underscore (_), hyphen (-), and period (.) characters.",
            )
        kind = value.get("DataType") if isinstance(value, dict) else None
        if not isinstance(kind, str) or not kind:
            continue
        member = "BinaryValue" if kind.partition(".")[0] == "Binary" else "StringValue"
        if value.get(member) == "":
            raise Refused(
                "InvalidParameterValue",
                f"Message (user) attribute '{name}' must contain a non-empty value of type '{kind}'.",
            )


def _check_fifo(message: dict[str, Any], queue: Queue) -> None:
    group, deduplication = message.get("MessageGroupId"), message.get("MessageDeduplicationId")
    if not queue.fifo_queue:
        if deduplication is not None:
            raise invalid(deduplication, "MessageDeduplicationId", _NOT_FOR_TYPE)
        return
    if group is None:
        raise Refused("MissingParameter", "The request must contain the parameter MessageGroupId.")
    if message.get("DelaySeconds"):
        raise invalid(message["DelaySeconds"], "DelaySeconds", _NOT_FOR_TYPE)
    for parameter, value in (("MessageGroupId", group), ("MessageDeduplicationId", deduplication)):
        if isinstance(value, str) and not _FIFO_ID.fullmatch(value):
            reason = f"{parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length."
            raise invalid(value, parameter, reason)
    if deduplication is None and not deduplicates_by_content(queue):
        raise Refused("InvalidParameterValue", NO_DEDUPLICATION)


def deduplicates_by_content(queue: Queue) -> bool:
    """Whether a FIFO queue takes the hash of a body for a missing MessageDeduplicationId."""
    return bool(queue.content_based_deduplication)  # type: ignore[attr-defined]  # moto sets it at run time


def _binary(value: str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return value.encode("utf-8", "surrogatepass")
