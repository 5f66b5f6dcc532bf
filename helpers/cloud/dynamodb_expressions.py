"""What DynamoDB says of expressions with a mistake in them, before it looks at any item.

moto evaluates expressions; for one that it cannot read it has words of its own. Here a condition, filter, key
condition or projection is parsed by DynamoDB's grammar ("Comparison operator and function reference" in the DynamoDB
Developer Guide), and the first mistake is named in DynamoDB's words and order: syntax, function names, misplaced
functions, reserved words, names and values that are not defined, operands. Update expressions are read by moto,
which knows DynamoDB's words for them; only their names and values are looked at here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .dynamodb_grammar import Call, Mistake, Operand, Parsed, Parser, Path, Value

Names = Mapping[str, str]
Values = Mapping[str, Mapping[str, Any]]

_OPERANDS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
}
_TYPES = ("S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M")
_UNORDERED = {"BOOL", "NULL", "L", "M", "SS", "NS", "BS"}
"""Types that <, <=, >, >= and BETWEEN do not take."""
_USED_TWICE = "The first operand must be distinct from the remaining operands for this operator or function"
_WRONG_TYPE = "Incorrect operand type for operator or function; operator or function: {}, operand type: {}"


def placeholders(expression: str) -> set[str]:
    """All ``#name`` and ``:value`` in a text."""
    return set(re.findall(r"[#:]\w+", expression, re.ASCII))


def check_condition(expression: str, names: Names, values: Values) -> Parsed:
    """Read a condition, filter or key condition. Raises Mistake."""
    parsed = _condition(expression)
    if parsed.redundant:
        raise Mistake("The expression has redundant parentheses;")
    for call in parsed.calls:
        if call.name[0].isalpha() and call.name not in _OPERANDS and call.name not in {"BETWEEN", "IN"}:
            raise Mistake(f"Invalid function name; function: {call.name}")
    if parsed.misused:
        raise Mistake(f"The function is not allowed to be used this way in an expression; function: {parsed.misused}")
    _check_reserved(parsed.paths)
    check_defined(parsed.placeholders, names, values)
    for call in parsed.calls:
        _check_operands(call, names, values)
    return parsed


def check_projection(expression: str, names: Names) -> None:
    """Read a projection. Raises Mistake."""
    paths = _projection(expression)
    _check_reserved(paths)
    check_defined([part for path in paths for part in path.parts if isinstance(part, str)], names, {})


def check_defined(used: list[str], names: Names, values: Values) -> None:
    """Raise Mistake for the first placeholder that nobody defined."""
    for name in used:
        if name.startswith("#") and name not in names:
            what = "An expression attribute name used in the document path is not defined; attribute name"
            raise Mistake(f"{what}: {name}")
        if name.startswith(":") and name not in values:
            what = "An expression attribute value used in expression is not defined; attribute value"
            raise Mistake(f"{what}: {name}")


def top_level(parsed: Parsed, names: Names) -> set[str]:
    """The attributes that an expression reads."""
    return {names.get(str(path.parts[0]), str(path.parts[0])) for path in parsed.paths}


@functools.lru_cache(maxsize=512)
def _condition(expression: str) -> Parsed:
    return Parser(expression).condition()


@functools.lru_cache(maxsize=512)
def _projection(expression: str) -> list[Path]:
    return Parser(expression).projection()


@functools.cache
def _reserved() -> frozenset[str]:
    from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

    return frozenset(ReservedKeywords.get_reserved_keywords())


def _check_reserved(paths: list[Path]) -> None:
    for path in paths:
        for part in path.parts:
            if isinstance(part, str) and part.upper() in _reserved():
                raise Mistake(f"Attribute name is a reserved keyword; reserved keyword: {part}")


def _check_operands(call: Call, names: Names, values: Values) -> None:
    operands = call.operands
    wanted = _OPERANDS.get(call.name)
    if wanted is not None and wanted != len(operands):
        what = "Incorrect number of operands for operator or function; operator or function"
        raise Mistake(f"{what}: {call.name}, number of operands: {len(operands)}")
    if isinstance(operands[0], Path) and len(operands) == 2 and call.name != "IN":
        first, second = (_resolved(each, names) for each in operands)
        if first == second:
            shown = ", ".join(f"[{part}]" if isinstance(part, int) else part for part in first or ())
            raise Mistake(f"{_USED_TWICE}; operator: {call.name}, first operand: [{shown}]")
    types = [_type(each, values) for each in operands]
    match call.name:
        case "attribute_exists" | "attribute_not_exists" if not isinstance(operands[0], Path):
            raise Mistake(f"Operator or function requires a document path; operator or function: {call.name}")
        case "begins_with":
            _refuse(call.name, [kind for kind in types if kind not in {"", "S", "B"}])
        case "attribute_type":
            if types[1] != "S":
                kinds = types[1] or "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
                raise Mistake(_WRONG_TYPE.format(call.name, kinds))
            named = _value(operands[1], values)["S"]
            if named not in _TYPES:
                valid = "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
                raise Mistake(f"Invalid attribute type name found; type: {named}, valid types: {valid}")
        case "size":
            _refuse(call.name, [kind for kind in types if kind in {"N", "BOOL", "NULL"}])
        case "<" | "<=" | ">" | ">=":
            _refuse(call.name, [kind for kind in types if kind in _UNORDERED])
        case "BETWEEN":
            _refuse(call.name, [kind for kind in types if kind in _UNORDERED])
            _check_bounds(operands[1], operands[2], values)


def _refuse(operator: str, wrong: list[str]) -> None:
    if wrong:
        raise Mistake(_WRONG_TYPE.format(operator, wrong[0]))


def _check_bounds(lower: Operand, upper: Operand, values: Values) -> None:
    if not (isinstance(lower, Value) and isinstance(upper, Value)):
        return
    (low_type, low), *_ = _value(lower, values).items()
    (high_type, high), *_ = _value(upper, values).items()
    shown = (
        f"lower bound operand: AttributeValue: {{{low_type}:{low}}}, "
        f"upper bound operand: AttributeValue: {{{high_type}:{high}}}"
    )
    if low_type != high_type:
        raise Mistake(f"The BETWEEN operator requires same data type for lower and upper bounds; {shown}")
    if Decimal(low) > Decimal(high) if low_type == "N" else low > high:
        what = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"
        raise Mistake(f"{what}; {shown}")


def _resolved(operand: Operand, names: Names) -> tuple[str | int, ...] | None:
    if not isinstance(operand, Path):
        return None
    return tuple(names.get(part, part) if isinstance(part, str) else part for part in operand.parts)


def _value(operand: Operand, values: Values) -> Mapping[str, Any]:
    return values[operand.name] if isinstance(operand, Value) else {}


def _type(operand: Operand, values: Values) -> str:
    """The type of an operand that is known before an item is read; empty for a path."""
    if isinstance(operand, Call):
        return "N" if operand.name == "size" else "BOOL"
    return next(iter(_value(operand, values)), "")
