"""What SQS refuses in the names and attributes of queues.

Ranges: SQS API Reference, "SetQueueAttributes" and "CreateQueue". The sentences are recorded against AWS or quoted
from its answers in public issues.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .environment import ACCOUNT_ID, REGION
from .responses import Refused
from .sqs_checks import LARGEST_MESSAGE, LONGEST_DELAY, LONGEST_VISIBILITY, LONGEST_WAIT, invalid

if TYPE_CHECKING:
    from moto.sqs.models import Queue

SECONDS_BEFORE_SAME_NAME = 60
"""A queue of the same name may be created this long after one was deleted."""

RANGES = {
    "DelaySeconds": (0, LONGEST_DELAY),
    "MaximumMessageSize": (1024, LARGEST_MESSAGE),
    "MessageRetentionPeriod": (60, 1_209_600),
    "ReceiveMessageWaitTimeSeconds": (0, LONGEST_WAIT),
    "VisibilityTimeout": (0, LONGEST_VISIBILITY),
    "KmsDataKeyReusePeriodSeconds": (60, 86_400),
}
"""Bytes or seconds, both ends included."""

_FIFO_ONLY = {
    "ContentBasedDeduplication": ("true", "false"),
    "DeduplicationScope": ("messageGroup", "queue"),
    "FifoThroughputLimit": ("perQueue", "perMessageGroupId"),
}
_OTHERS = {"FifoQueue", "KmsMasterKeyId", "Policy", "RedriveAllowPolicy", "RedrivePolicy", "SqsManagedSseEnabled"}

_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
_FIFO_NAME = re.compile(r"[A-Za-z0-9_-]{1,75}\.fifo")
_MOST_RECEIVES = 1000
_MOST_SOURCES = 10
_NO_ALLOW_POLICY = "Amazon SQS can't create the redrive allow policy"


def check_name(name: str, attributes: dict[str, Any]) -> None:
    """Refuse a name that no queue, or no queue of this type, can have."""
    if attributes.get("FifoQueue") == "true":
        if not _FIFO_NAME.fullmatch(name):
            raise Refused(
                "InvalidParameterValue",
                "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end "
                "with .fifo suffix and be 1 to 80 in length.",
            )
    elif not _NAME.fullmatch(name):
        sentence = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
        raise Refused("InvalidParameterValue", sentence)


def check_attributes(attributes: dict[str, Any], arn: str, fifo: bool) -> None:
    """Refuse unknown attributes, values out of range, and policies that lead nowhere."""
    for name, value in attributes.items():
        if name in RANGES:
            low, high = RANGES[name]
            if not re.fullmatch(r"-?\d{1,18}", str(value)) or not low <= int(value) <= high:
                raise Refused("InvalidAttributeValue", f"Invalid value for the parameter {name}.")
        elif name in _FIFO_ONLY:
            if not fifo:
                raise Refused("InvalidAttributeName", f"Unknown Attribute {name}.")
            if str(value).lower() not in {one.lower() for one in _FIFO_ONLY[name]}:
                raise Refused("InvalidAttributeValue", f"Invalid value for the parameter {name}.")
        elif name not in _OTHERS:
            raise Refused("InvalidAttributeName", f"Unknown Attribute {name}.")
    if attributes.get("RedrivePolicy"):
        _check_redrive(str(attributes["RedrivePolicy"]), arn, fifo)
    if attributes.get("RedriveAllowPolicy"):
        _check_redrive_allow(str(attributes["RedriveAllowPolicy"]))
    if attributes.get("Policy"):
        _check_policy(str(attributes["Policy"]))


def check_type(attributes: dict[str, Any], fifo: bool | None) -> None:
    """FifoQueue can only be said to be true, and only when a queue is made; `fifo` is None then."""
    if "FifoQueue" not in attributes:
        return
    if fifo is None:
        if attributes["FifoQueue"] != "true":
            raise Refused("InvalidAttributeName", "Unknown Attribute FifoQueue.")
    elif not fifo:
        raise Refused("InvalidAttributeName", "Unknown Attribute FifoQueue.")
    elif attributes["FifoQueue"] != "true":
        sentence = "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported."
        raise Refused("InvalidAttributeValue", sentence)


def check_same(attributes: dict[str, Any], queue: Queue) -> None:
    """Refuse to create a queue that exists with other values of the named attributes."""
    there = queue.attributes
    for name, value in attributes.items():
        if not _same(value, there.get(name)):
            raise Refused(
                "QueueAlreadyExists",
                f"A queue already exists with the same name and a different value for attribute {name}",
            )


def allows_source(target: Any, source_arn: str) -> bool:
    """Whether the RedriveAllowPolicy of a dead-letter queue lets a queue use it; without one every queue may."""
    policy = json.loads(getattr(target, "redrive_allow_policy", None) or "{}")
    permission = policy.get("redrivePermission", "allowAll")
    return permission == "allowAll" or (permission == "byQueue" and source_arn in policy.get("sourceQueueArns", []))


def _same(wanted: Any, there: Any) -> bool:
    if str(wanted) == str(there):
        return True
    try:
        one, other = json.loads(str(wanted)), json.loads(str(there))
    except ValueError:
        return not wanted and not there
    if isinstance(one, dict) and isinstance(other, dict) and "maxReceiveCount" in one:
        # AWS takes the count as a number or as a text.
        one, other = ({**policy, "maxReceiveCount": str(policy.get("maxReceiveCount"))} for policy in (one, other))
    return bool(one == other)


def _check_redrive(text: str, arn: str, fifo: bool) -> None:
    from .sqs_queue import find

    policy = _object(text)
    if policy is None:
        sentence = "Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map."
        raise Refused("InvalidAttributeValue", sentence)

    def wrong(reason: str) -> Refused:
        return invalid(text, "RedrivePolicy", reason)

    for name in ("maxReceiveCount", "deadLetterTargetArn"):
        if name not in policy:
            raise wrong(f"Redrive policy does not contain mandatory attribute: {name}.")
    if policy.keys() > {"maxReceiveCount", "deadLetterTargetArn"}:
        raise wrong("Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].")
    parts = str(policy["deadLetterTargetArn"]).split(":")
    if len(parts) != 6 or parts[0] != "arn":
        raise wrong("Invalid value for deadLetterTargetArn.")
    if parts[2] != "sqs":
        raise wrong("Only SQS queues are valid resources for deadLetterTargetArn.")
    count = str(policy["maxReceiveCount"])
    if not re.fullmatch(r"-?\d{1,18}", count) or not 1 <= int(count) <= _MOST_RECEIVES:
        raise wrong(f"Invalid value for maxReceiveCount: {count}, valid values are from 1 to 1000 both inclusive.")
    if parts[5].endswith(".fifo") != fifo:
        raise wrong("Dead-letter queue must be same type of queue as the source.")
    if parts[3:5] != [REGION, ACCOUNT_ID]:
        raise wrong("Dead-letter target owner should be same as the source.")
    target = find(str(policy["deadLetterTargetArn"]))
    if target is None:
        raise wrong("Dead letter target does not exist.")
    if not allows_source(target, arn):
        raise wrong("The dead letter queue does not allow this queue as a source.")


def _check_redrive_allow(text: str) -> None:
    policy = _object(text)
    permission = policy.get("redrivePermission") if policy else None
    sources = policy.get("sourceQueueArns") if policy else None
    readable = (
        policy is not None
        and policy.keys() <= {"redrivePermission", "sourceQueueArns"}
        and permission in {"allowAll", "denyAll", "byQueue"}
        and (sources is None or (isinstance(sources, list) and all(isinstance(one, str) for one in sources)))
    )
    if not readable:
        raise Refused(
            "InvalidAttributeValue",
            "Invalid value for the parameter RedriveAllowPolicy. Reason: "
            f"{_NO_ALLOW_POLICY}, as it’s in an unsupported format.",
        )
    reason = ""
    if permission == "byQueue" and not sources:
        reason = (
            "When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values."
        )
    elif permission != "byQueue" and sources is not None:
        reason = "To specify one or more source queue ARNs, you must set redrivePermission to byQueue."
    elif sources and len(sources) > _MOST_SOURCES:
        reason = f"The maximum number of source queue ARNs you can specify is {_MOST_SOURCES}."
    if reason:
        raise invalid(text, "RedriveAllowPolicy", f"{_NO_ALLOW_POLICY}. {reason}")


def _check_policy(text: str) -> None:
    policy = _object(text)
    if policy is None or "Statement" not in policy:
        raise Refused("InvalidAttributeValue", "Invalid value for the parameter Policy.")


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
