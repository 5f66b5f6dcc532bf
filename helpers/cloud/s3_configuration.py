"""What S3 refuses in the notification configuration of a bucket.

Amazon S3 User Guide, "Granting permissions to publish event notification messages to a destination" and
"Configuring event notifications using object key name filtering"; the sentences and the names of the arguments are
recorded against AWS or quoted from its answers in public issues.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xmltodict

from . import sqs_queue
from .environment import ACCOUNT_ID, REGION
from .resource_policies import allows_service
from .responses import Refused

if TYPE_CHECKING:
    from moto.awslambda.models import LambdaFunction
    from moto.s3.models import FakeBucket
    from moto.sqs.models import Queue

S3 = "s3.amazonaws.com"

_KINDS = {
    "QueueConfiguration": ("Queue", "sqs"),
    "CloudFunctionConfiguration": ("CloudFunction", "lambda"),
    "TopicConfiguration": ("Topic", "sns"),
}
_UNUSABLE = "Unable to validate the following destination configurations"
_OTHER_REGION = "The notification destination service region is not valid for the bucket location constraint"
_AMBIGUOUS = (
    "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are "
    "overlapping for the same event type."
)
_OVERLAP = "Configurations overlap. Configurations on the same bucket cannot share a common event type."


@dataclass(frozen=True, slots=True)
class Rule:
    """One destination with its events and its filter of keys."""

    member: str
    service: str
    arn: str
    events: tuple[str, ...]
    prefix: str
    suffix: str


def read(body: bytes) -> list[Rule]:
    """The rules of a configuration. Raises Refused for what cannot be read."""
    try:
        document = xmltodict.parse(body)["NotificationConfiguration"] or {}
        return [_rule(one, *_KINDS[kind]) for kind in _KINDS if kind in document for one in _several(document[kind])]
    except Refused:
        raise
    except Exception as unreadable:  # no XML, or another document: xmltodict and expat raise many kinds
        raise Refused(
            "MalformedXML",
            "The XML you provided was not well-formed or did not validate against our published schema",
        ) from unreadable


def check(rules: list[Rule], bucket: FakeBucket, validate_destinations: bool) -> None:
    """Refuse ARNs that are none, rules that overlap, and destinations that S3 could not reach."""
    for rule in rules:
        if not rule.arn.startswith(f"arn:aws:{rule.service}:") or len(rule.arn.split(":")) < 6:
            raise _argument("The ARN could not be parsed", rule.member, rule.arn)
    for one, other in itertools.combinations(rules, 2):
        _check_overlap(one, other)
    if not validate_destinations:
        return
    wrong = [(arn, reason) for rule in rules for arn, reason in _unreachable(rule, bucket)]
    if wrong:
        members: dict[str, Any] = {}
        for number, (arn, reason) in enumerate(wrong, 1):
            members |= {f"ArgumentName{number}": arn, f"ArgumentValue{number}": reason}
        raise Refused("InvalidArgument", _UNUSABLE, **members)


def lets_in(queue: Queue, bucket_arn: str) -> bool:
    """Whether a queue's policy lets S3 send messages for a bucket."""
    return allows_service(
        queue.policy, S3, "sqs:SendMessage", queue.queue_arn, aws_SourceArn=bucket_arn, aws_SourceAccount=ACCOUNT_ID
    )


def lets_run(function: LambdaFunction, bucket_arn: str) -> bool:
    """Whether a function's policy lets S3 invoke it for a bucket."""
    statements = function.policy.statements if function.policy is not None else []
    return allows_service(
        json.dumps({"Statement": statements}),
        S3,
        "lambda:InvokeFunction",
        function.function_arn,
        aws_SourceArn=bucket_arn,
        aws_SourceAccount=ACCOUNT_ID,
    )


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _rule(one: Mapping[str, Any], member: str, service: str) -> Rule:
    events = tuple(str(event) for event in _several(one["Event"]))
    filters = ((one.get("Filter") or {}).get("S3Key") or {}).get("FilterRule") or []
    found: dict[str, str] = {}
    for rule in _several(filters):
        name = str(rule["Name"]).lower()
        if name not in {"prefix", "suffix"}:
            raise _argument("filter rule name must be either prefix or suffix", "FilterRule.Name", str(rule["Name"]))
        if name in found:
            sentence = f"Cannot specify more than one {name} rule in a filter."
            raise _argument(sentence, "FilterRule.Name", name)
        found[name] = str(rule.get("Value") or "")
    return Rule(member, service, str(one[member]), events, found.get("prefix", ""), found.get("suffix", ""))


def _argument(message: str, name: str, value: str) -> Refused:
    return Refused("InvalidArgument", message, ArgumentName=name, ArgumentValue=value)


def _check_overlap(one: Rule, other: Rule) -> None:
    shared = any(_same_event(mine, theirs) for mine in one.events for theirs in other.events)
    prefixes = one.prefix.startswith(other.prefix) or other.prefix.startswith(one.prefix)
    suffixes = one.suffix.endswith(other.suffix) or other.suffix.endswith(one.suffix)
    if shared and prefixes and suffixes:
        if any((one.prefix, one.suffix, other.prefix, other.suffix)):
            raise Refused("InvalidArgument", _AMBIGUOUS)
        raise _argument(_OVERLAP, "Event", ", ".join((*one.events, *other.events)))


def _same_event(one: str, other: str) -> bool:
    stems = (one.removesuffix("*"), other.removesuffix("*"))
    if one.endswith("*") or other.endswith("*"):
        shorter, longer = sorted(stems, key=len)
        return longer.startswith(shorter)
    return one == other


def _unreachable(rule: Rule, bucket: FakeBucket) -> Iterator[tuple[str, str]]:
    region = rule.arn.split(":")[3]
    if rule.service == "sqs":
        queue = sqs_queue.find(rule.arn)
        if queue is None:
            yield rule.arn, "The destination queue does not exist"
        elif region != bucket.region_name:
            yield (
                rule.arn,
                "The notification destination service region is not valid for the bucket location constraint",
            )
        elif queue.fifo_queue:
            yield rule.arn, "FIFO SQS queues are not supported"
        elif not lets_in(queue, bucket.arn):
            yield rule.arn, _not_allowed("queue")
    elif rule.service == "lambda":
        function = function_of(rule.arn)
        if function is None or not lets_run(function, bucket.arn):
            yield f"{rule.arn}, null", f"Not authorized to invoke function [{rule.arn}]"
    elif rule.service == "sns":
        yield from _unreachable_topic(rule.arn)


def _unreachable_topic(arn: str) -> Iterator[tuple[str, str]]:
    from moto.sns.models import sns_backends

    if arn not in sns_backends[ACCOUNT_ID][arn.split(":")[3]].topics:
        yield arn, "The destination topic does not exist"


def _not_allowed(kind: str) -> str:
    return f"Permissions on the destination {kind} do not allow S3 to publish notifications from this bucket"


def function_of(arn: str) -> Any:
    """moto's function, version or alias with this ARN, None when there is none."""
    from moto.awslambda.exceptions import LambdaClientError
    from moto.awslambda.models import lambda_backends

    parts = arn.split(":")
    try:
        return lambda_backends[ACCOUNT_ID][REGION].get_function(parts[6], parts[7] if len(parts) == 8 else None)
    except (LambdaClientError, IndexError):
        return None
