"""The `Condition` block of a policy: whether it holds for the keys of a request.

Sources: IAM User Guide, "IAM JSON policy elements: Condition operators", "Conditions with multiple context keys or
values" and "Set operators for multi-valued context keys". A key that the request does not have makes a condition
false, a negated one true, one with `IfExists` true; `ForAllValues` is true of no value at all.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from .policy_patterns import Values, arn_pattern, expand, matches_any, pattern

Test = Callable[[str, "list[str]", Values], bool]
"""Whether one value of the request is among the values of the policy."""


def holds(block: Mapping[str, Mapping[str, Any]], values: Values) -> bool:
    """Whether all conditions of a block hold. `values` gives a key's values in the request, None when it is missing.

    An operator that IAM does not have holds for nothing (IAM does not store such a policy).
    """
    return all(
        _one(operator, key, [_text(value) for value in (wanted if isinstance(wanted, list) else [wanted])], values)
        for operator, keys in block.items()
        for key, wanted in keys.items()
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _one(operator: str, key: str, wanted: list[str], values: Values) -> bool:
    quantifier, _, name = operator.rpartition(":")
    if_exists = name.endswith("IfExists")
    name = name.removesuffix("IfExists")
    there = values(key)
    if name == "Null":
        return any((there is None) == (value.lower() == "true") for value in wanted)
    if name not in _OPERATORS:
        return False
    test, negated = _OPERATORS[name]
    if there is None and if_exists:
        return True
    present = there or []

    def fits(value: str) -> bool:
        return test(value, wanted, values) != negated

    if quantifier == "ForAllValues":
        return all(fits(value) for value in present)
    if quantifier == "ForAnyValue":
        return any(fits(value) for value in present)
    if negated:
        return all(fits(value) for value in present)
    return any(fits(value) for value in present)


def _equals(value: str, wanted: list[str], values: Values) -> bool:
    return any(expand(text, values) == value for text in wanted)


def _equals_ignoring_case(value: str, wanted: list[str], values: Values) -> bool:
    texts = (expand(text, values) for text in wanted)
    return any(text is not None and text.lower() == value.lower() for text in texts)


def _like(value: str, wanted: list[str], values: Values) -> bool:
    return matches_any((pattern(text, values) for text in wanted), value)


def _arn(value: str, wanted: list[str], values: Values) -> bool:
    return matches_any((arn_pattern(text, values) for text in wanted), value)


def _bool(value: str, wanted: list[str], values: Values) -> bool:
    return value.lower() in {text.lower() for text in wanted}


def _binary(value: str, wanted: list[str], values: Values) -> bool:
    return value in wanted


def _address(value: str, wanted: list[str], values: Values) -> bool:
    try:
        address = ipaddress.ip_address(value)
        return any(address in ipaddress.ip_network(text, strict=False) for text in wanted)
    except ValueError:
        return False


def _ordered(read: Callable[[str], float], compare: Callable[[float, float], bool]) -> Test:
    def test(value: str, wanted: list[str], values: Values) -> bool:
        try:
            mine = read(value)
        except ValueError:
            return False
        for text in wanted:
            try:
                if compare(mine, read(text)):
                    return True
            except ValueError:
                continue
        return False

    return test


_EPOCH = re.compile(r"-?\d+(\.\d+)?")


def _seconds(text: str) -> float:
    """Seconds since the epoch of a time in ISO 8601, or as a number. Raises ValueError."""
    if _EPOCH.fullmatch(text):
        return float(text)
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_COMPARISONS: dict[str, tuple[Callable[[float, float], bool], bool]] = {
    "Equals": (lambda mine, theirs: mine == theirs, False),
    "NotEquals": (lambda mine, theirs: mine == theirs, True),
    "LessThan": (lambda mine, theirs: mine < theirs, False),
    "LessThanEquals": (lambda mine, theirs: mine <= theirs, False),
    "GreaterThan": (lambda mine, theirs: mine > theirs, False),
    "GreaterThanEquals": (lambda mine, theirs: mine >= theirs, False),
}

_OPERATORS: dict[str, tuple[Test, bool]] = {
    "StringEquals": (_equals, False),
    "StringNotEquals": (_equals, True),
    "StringEqualsIgnoreCase": (_equals_ignoring_case, False),
    "StringNotEqualsIgnoreCase": (_equals_ignoring_case, True),
    "StringLike": (_like, False),
    "StringNotLike": (_like, True),
    "ArnEquals": (_arn, False),
    "ArnLike": (_arn, False),
    "ArnNotEquals": (_arn, True),
    "ArnNotLike": (_arn, True),
    "Bool": (_bool, False),
    "BinaryEquals": (_binary, False),
    "IpAddress": (_address, False),
    "NotIpAddress": (_address, True),
    **{
        f"{kind}{name}": (_ordered(read, compare), negated)
        for kind, read in (("Numeric", float), ("Date", _seconds))
        for name, (compare, negated) in _COMPARISONS.items()
    },
}
"""What each operator compares with, and whether it asks for the contrary."""
