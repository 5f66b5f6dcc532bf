"""Filter patterns of event source mappings: which messages a function gets to see.

The rules are those of the Lambda Developer Guide, "Control which events Lambda sends to your function": a
pattern is an object whose leaves are lists of allowed values or comparisons; all its fields must match, one
value of a list is enough, and one matching filter is enough. The field `body` of a queue's record is read as
JSON when the pattern asks for an object, and as plain text when it asks for strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

MAXIMUM_FILTERS = 5
"""Filters a mapping may have (Lambda quota; 10 on request)."""

MAXIMUM_PATTERN = 4096
"""Characters of one pattern."""

_MISSING: Any = object()
_NUMERIC = {
    "=": lambda value, limit: value == limit,
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
}


class InvalidPattern(ValueError):
    """The pattern is not one that Lambda accepts."""


def parse_pattern(text: object) -> dict[str, Any]:
    """Read and check one pattern. Raises InvalidPattern."""
    if not isinstance(text, str) or len(text) > MAXIMUM_PATTERN:
        raise InvalidPattern("a pattern is a text of at most 4096 characters")
    try:
        pattern = json.loads(text)
    except ValueError as reason:
        raise InvalidPattern(str(reason)) from None
    if not isinstance(pattern, dict) or not pattern:
        raise InvalidPattern("a pattern is an object with at least one field")
    _check(pattern)
    return pattern


def matches(patterns: Sequence[Mapping[str, Any]], record: Mapping[str, Any]) -> bool:
    """Whether a record passes: no patterns at all, or one that matches."""
    return not patterns or any(_record_matches(pattern, record) for pattern in patterns)


def _check(pattern: Mapping[str, Any]) -> None:
    for name, rule in pattern.items():
        if name == "$or":
            if not isinstance(rule, list) or len(rule) < 2 or not all(isinstance(each, dict) and each for each in rule):
                raise InvalidPattern("$or needs a list of at least two objects")
            for each in rule:
                _check(each)
        elif isinstance(rule, dict):
            if not rule:
                raise InvalidPattern(f"{name} is an empty object")
            _check(rule)
        elif isinstance(rule, list) and rule:
            for each in rule:
                _check_leaf(each)
        else:
            raise InvalidPattern(f"{name} must be an object or a list that is not empty")


def _check_leaf(rule: Any) -> None:
    if isinstance(rule, list):
        raise InvalidPattern("a list may not hold a list")
    if not isinstance(rule, dict):
        return
    if len(rule) != 1:
        raise InvalidPattern("a comparison has one operator")
    (operator, operand), *_ = rule.items()
    accepted = {
        "prefix": isinstance(operand, str),
        "suffix": isinstance(operand, str),
        "equals-ignore-case": isinstance(operand, str),
        "exists": isinstance(operand, bool),
        "numeric": _is_numeric(operand),
        "anything-but": _is_anything_but(operand),
    }
    if not accepted.get(operator, False):
        raise InvalidPattern(f"{operator} is no comparison, or its operand is wrong")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_numeric(operand: Any) -> bool:
    if not isinstance(operand, list) or len(operand) not in (2, 4):
        return False
    return all(name in _NUMERIC for name in operand[::2]) and all(_is_number(limit) for limit in operand[1::2])


def _is_anything_but(operand: Any) -> bool:
    if isinstance(operand, dict):
        return len(operand) == 1 and all(
            name in ("prefix", "suffix") and isinstance(text, str) for name, text in operand.items()
        )
    values = operand if isinstance(operand, list) else [operand]
    return bool(values) and all(isinstance(value, str) or _is_number(value) for value in values)


def _record_matches(pattern: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    wanted = pattern.get("body")
    if not isinstance(wanted, dict):
        return _matches(pattern, record)
    try:
        body = json.loads(record["body"])
    except ValueError:
        return False
    return isinstance(body, dict) and _matches(pattern, {**record, "body": body})


def _matches(pattern: Mapping[str, Any], value: Any) -> bool:
    if isinstance(value, list):
        return any(_matches(pattern, each) for each in value)
    fields = value if isinstance(value, Mapping) else {}
    return all(_field_matches(name, rule, fields) for name, rule in pattern.items())


def _field_matches(name: str, rule: Any, fields: Mapping[str, Any]) -> bool:
    if name == "$or":
        return any(_matches(each, fields) for each in rule)
    value = fields.get(name, _MISSING)
    if isinstance(rule, dict):
        return _matches(rule, {} if value is _MISSING else value)
    values = value if isinstance(value, list) and value else [value]
    return any(_leaf_matches(each, found) for each in rule for found in values)


def _leaf_matches(rule: Any, value: Any) -> bool:
    if not isinstance(rule, dict):
        return (value is not _MISSING and type(value) is type(rule) and value == rule) or _equal_numbers(rule, value)
    (operator, operand), *_ = rule.items()
    if operator == "exists":
        return (value is not _MISSING and not isinstance(value, Mapping)) is bool(operand)
    if value is _MISSING:
        return False
    if operator == "numeric":
        pairs = zip(operand[::2], operand[1::2], strict=True)
        return _is_number(value) and all(_NUMERIC[name](value, limit) for name, limit in pairs)
    if operator == "anything-but":
        if isinstance(operand, dict):
            return isinstance(value, str) and not _leaf_matches(operand, value)
        return value not in (operand if isinstance(operand, list) else [operand])
    if not isinstance(value, str):
        return False
    if operator == "prefix":
        return value.startswith(operand)
    if operator == "suffix":
        return value.endswith(operand)
    return value.casefold() == str(operand).casefold()


def _equal_numbers(rule: Any, value: Any) -> bool:
    return _is_number(rule) and _is_number(value) and rule == value
