"""The members of a call to SQS, whichever of its two protocols it came in.

The query protocol of older SDKs flattens lists and maps into numbered names (SQS Developer Guide, "Making Query API
requests"); here they have the form that the JSON protocol gives them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange

if TYPE_CHECKING:
    from moto.sqs.models import Queue

_ENTRY = re.compile(r"\w+RequestEntry\.(\d+)\.(\w+)")
_ATTRIBUTE = re.compile(r"Attribute\.(\d+)\.(Name|Value)")
_NUMBERS = {
    *("DelaySeconds", "MaxNumberOfMessages", "MaxResults", "VisibilityTimeout", "WaitTimeSeconds"),
    "MaxNumberOfMessagesPerSecond",
}


def members(exchange: Exchange) -> dict[str, Any]:
    """The parameters of a call; what cannot be read stays as it came."""
    if exchange.is_json:
        return exchange.parameters
    found = _read(exchange.parameters)
    pairs = _numbered(_ATTRIBUTE, exchange.parameters)
    if pairs:
        found["Attributes"] = {pair.get("Name", ""): pair.get("Value", "") for pair in pairs}
    if exchange.action.endswith("Batch"):
        found["Entries"] = entries(exchange)
    return found


def entries(exchange: Exchange) -> list[dict[str, Any]]:
    """The entries of a batch; the parameters themselves when the call is no batch."""
    parameters = exchange.parameters
    if not exchange.action.endswith("Batch"):
        return [parameters]
    if exchange.is_json:
        return list(parameters.get("Entries") or [])
    return [_read(entry) for entry in _numbered(_ENTRY, parameters)]


def queue_name(parameters: dict[str, Any]) -> str:
    """The name in a call's QueueUrl."""
    return str(parameters.get("QueueUrl", "")).rpartition("/")[2]


def queue_of(parameters: dict[str, Any]) -> Queue | None:
    """moto's queue for a call's QueueUrl, or None."""
    from moto.sqs.models import sqs_backends

    return sqs_backends[ACCOUNT_ID][REGION].queues.get(queue_name(parameters))


def _numbered(name: re.Pattern[str], parameters: dict[str, Any]) -> list[dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    for key, value in parameters.items():
        if found := name.fullmatch(key):
            parts.setdefault(found[1], {})[found[2]] = value
    return list(parts.values())


def _read(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        name: int(value) if name in _NUMBERS and re.fullmatch(r"-?\d{1,18}", str(value)) else value
        for name, value in parameters.items()
    }
