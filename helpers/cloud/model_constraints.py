"""The constraints that an API's model states for a request, refused in the words that AWS's services share.

``1 validation error detected: Value 'a b' at 'functionName' failed to satisfy constraint: Member must satisfy regular
expression pattern: …``. The patterns, lengths, ranges and enumerations are those of the service's model, which
botocore ships; boto3 itself checks only a few of them. Values of another type are left to those who read them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from .exchange import Exchange
from .responses import Response, error

CODES = {"lambda": "ValidationException", "logs": "InvalidParameterException"}
"""The services whose requests are checked, and what they call the error."""

_ELSEWHERE = {
    # Members for which the service has sentences of its own.
    ("lambda", "CreateFunction", "Runtime"),
    ("lambda", "UpdateFunctionConfiguration", "Runtime"),
    ("lambda", "CreateFunction", "Role"),
    ("lambda", "UpdateFunctionConfiguration", "Role"),
    ("lambda", "CreateFunction", "Architectures"),
    ("lambda", "CreateFunction", "Environment"),
    ("lambda", "UpdateFunctionConfiguration", "Environment"),
    ("lambda", "CreateEventSourceMapping", "FunctionResponseTypes"),
    ("lambda", "UpdateEventSourceMapping", "FunctionResponseTypes"),
    ("lambda", "ListEventSourceMappings", "MaxItems"),
}


def gate(exchange: Exchange) -> Response | None:
    """Refuse a request that breaks a constraint of its model."""
    code = CODES.get(exchange.service)
    shape = _input_shape(exchange.service, exchange.action) if code else None
    if shape is None or code is None:
        return None
    found = list(_violations_of(exchange, shape))[:10]
    if not found:
        return None
    count = f"{len(found)} validation error{'s' if len(found) > 1 else ''} detected: "
    return error(exchange, code, count + "; ".join(found))


def _violations_of(exchange: Exchange, shape: Any) -> Iterator[str]:
    for name, member in shape.members.items():
        if (exchange.service, exchange.action, name) in _ELSEWHERE:
            continue
        location, located = member.serialization.get("location"), member.serialization.get("name", name)
        if location == "header":
            value: Any = exchange.header(located) or None
        else:
            value = exchange.parameters.get(name, exchange.parameters.get(located))
        if location == "querystring" and member.type_name == "integer":
            value = int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else value
        yield from _violations(member, value, _lower(name))


def _violations(shape: Any, value: Any, path: str) -> Iterator[str]:
    bounds = shape.metadata
    match shape.type_name, value:
        case "string", str():
            if shape.enum and value not in shape.enum:
                yield _violation(value, path, f"Member must satisfy enum value set: [{', '.join(shape.enum)}]")
            wanted = bounds.get("pattern")
            pattern = _pattern(wanted)
            if pattern is not None and not pattern.fullmatch(value):
                yield _violation(value, path, f"Member must satisfy regular expression pattern: {wanted}")
            yield from _length(value, len(value), bounds, path)
        case (("integer" | "long"), int()) if not isinstance(value, bool):
            if "min" in bounds and value < bounds["min"]:
                yield _violation(value, path, f"Member must have value greater than or equal to {bounds['min']}")
            if "max" in bounds and value > bounds["max"]:
                yield _violation(value, path, f"Member must have value less than or equal to {bounds['max']}")
        case "list", list():
            yield from _length(value, len(value), bounds, path)
            for position, each in enumerate(value, 1):
                yield from _violations(shape.member, each, f"{path}.{position}.member")
        case "structure", dict():
            for name, member in shape.members.items():
                yield from _violations(member, value.get(name), f"{path}.{_lower(name)}")


def _length(value: object, length: int, bounds: dict[str, Any], path: str) -> Iterator[str]:
    if "min" in bounds and length < bounds["min"]:
        yield _violation(value, path, f"Member must have length greater than or equal to {bounds['min']}")
    if "max" in bounds and length > bounds["max"]:
        yield _violation(value, path, f"Member must have length less than or equal to {bounds['max']}")


def _violation(value: object, path: str, constraint: str) -> str:
    return f"Value '{value}' at '{path}' failed to satisfy constraint: {constraint}"


@functools.cache
def _pattern(text: str | None) -> re.Pattern[str] | None:
    """A pattern of the model; None for one that Python does not read."""
    if not text:
        return None
    try:
        # In Java a hyphen between a range and another character stands for itself.
        return re.compile(text.replace("0-9-_", r"0-9\-_"), re.ASCII)
    except re.error:
        return None


@functools.cache
def _input_shape(service: str, action: str) -> Any:
    from botocore.exceptions import UnknownServiceError
    from botocore.model import OperationNotFoundError, ServiceModel

    from .aws_models import description

    try:
        model = ServiceModel(description(service))
        return model.operation_model(action).input_shape
    except (UnknownServiceError, OperationNotFoundError, ValueError):
        return None


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]
