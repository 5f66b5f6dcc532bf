"""Attribute values of DynamoDB: what is refused, how numbers are kept, how much room an item takes.

Source: DynamoDB Developer Guide, "Supported data types and naming rules" and "DynamoDB Item sizes and formats"; the
sentences are those of ValidationException.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

ITEM_LIMIT = 409_600
"""Bytes of an item: names and values ("Constraints in Amazon DynamoDB": 400 KB)."""

NESTING_LIMIT = 32
"""Levels of lists and maps."""

DIGITS = 38

_TYPES = {"S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"}
_INVALID = "One or more parameter values were invalid: "
_NO_TYPE = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
_TWO_TYPES = (
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
)
_NESTED = "Nesting Levels have exceeded supported limits"


class BadValue(ValueError):
    """A value that DynamoDB refuses; the text is its sentence, `code` the error."""

    def __init__(self, sentence: str, code: str = "ValidationException") -> None:
        super().__init__(sentence)
        self.code = code


def normalise(attributes: dict[str, Any]) -> bool:
    """Check each value and give numbers the form in which DynamoDB keeps them. Returns whether a number changed.

    Raises BadValue. A list or object where a text belongs is left to the check of the request's form.
    """
    changed = False
    for value in attributes.values():
        changed |= _normalise(value, 1)
    return changed


def number(text: str) -> str:
    """A number as DynamoDB gives it back: ``007.50`` is ``7.5``. Raises BadValue."""
    if text.isascii() and text.isdigit() and len(text) <= DIGITS and (text[0] != "0" or text == "0"):
        return text
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or "_" in text or not text.strip():
        colon = f": {text}" if text else ""
        raise BadValue(f"The parameter cannot be converted to a numeric value{colon}")
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    significant = "".join(map(str, digits)).lstrip("0")
    trimmed = significant.rstrip("0")
    if not trimmed:
        return "0"
    exponent += len(significant) - len(trimmed)
    magnitude = exponent + len(trimmed) - 1
    if magnitude > 125:
        raise BadValue("Number overflow. Attempting to store a number with magnitude larger than supported range")
    if magnitude < -130:
        raise BadValue("Number underflow. Attempting to store a number with magnitude smaller than supported range")
    if len(trimmed) > DIGITS:
        raise BadValue(f"Attempting to store more than {DIGITS} significant digits in a Number")
    return format(Decimal((sign, tuple(map(int, trimmed)), exponent)), "f")


def size(attributes: Mapping[str, Any]) -> int:
    """Bytes of an item: UTF-8 text, raw binary, about a byte for two digits, three for a list or map."""
    return sum(len(name.encode()) + _size(value) for name, value in attributes.items())


def _size(value: Mapping[str, Any]) -> int:
    (kind, content), *_ = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_size(content)
        case "B":
            return _binary_size(content)
        case "SS":
            return sum(len(each.encode()) for each in content)
        case "NS":
            return sum(map(_number_size, content))
        case "BS":
            return sum(map(_binary_size, content))
        case "L":
            return 3 + sum(1 + _size(each) for each in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _size(each) for name, each in content.items())
    return 1


def _number_size(text: str) -> int:
    digits = text.lstrip("-").replace(".", "").strip("0")
    return (len(digits) + 1) // 2 + 1 + text.startswith("-")


def _binary_size(text: str) -> int:
    return len(text) * 3 // 4 - text.count("=")


def _normalise(value: Any, depth: int) -> bool:
    if not isinstance(value, dict):
        return False
    if not value:
        raise BadValue(_NO_TYPE)
    kind, content = next(iter(value.items()))
    if kind not in _TYPES:
        raise BadValue(_NO_TYPE)
    if len(value) > 1:
        raise BadValue(_TWO_TYPES)
    changed = False
    if kind in {"S", "N", "B"} and isinstance(content, (bool, int, float)):
        found = f"{content}".upper() if isinstance(content, bool) else "NUMBER"
        raise BadValue(f"{found}_VALUE cannot be converted to String", "SerializationException")
    if kind == "N" and isinstance(content, str):
        value["N"] = number(content)
        changed = value["N"] != content
    elif kind == "B" and isinstance(content, str):
        _check_binary(content)
    elif kind == "NULL" and content is False:
        raise BadValue(f"{_INVALID}Null attribute value types must have the value of true")
    elif kind in {"SS", "NS", "BS"} and isinstance(content, list):
        changed = _normalise_set(kind, value)
    elif kind in {"L", "M"} and isinstance(content, (list, dict)):
        if depth >= NESTING_LIMIT and content:
            raise BadValue(_NESTED)
        for each in content.values() if isinstance(content, dict) else content:
            changed |= _normalise(each, depth + 1)
    return changed


def _normalise_set(kind: str, value: dict[str, Any]) -> bool:
    members: list[Any] = value[kind]
    if not members:
        names = {"SS": "An string set ", "NS": "An number set ", "BS": "Binary sets should not be empty"}
        raise BadValue(_INVALID + (names[kind] if kind == "BS" else f"{names[kind]} may not be empty"))
    if not all(isinstance(member, str) for member in members):
        return False
    if kind == "BS":
        for member in members:
            _check_binary(member)
    kept = [number(member) for member in members] if kind == "NS" else members
    if len(set(kept)) < len(kept):
        shown = f"[{', '.join(members)}]"
        match kind:
            case "NS":
                raise BadValue("Input collection contains duplicates")
            case "SS":
                raise BadValue(f"{_INVALID}Input collection {shown} contains duplicates.")
        raise BadValue(f"{_INVALID}Input collection {shown}of type BS contains duplicates.")
    value[kind] = kept
    return kept != members


def _check_binary(text: str) -> None:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadValue(f"'{text}' can not be converted to a Blob: Invalid Base64") from None
