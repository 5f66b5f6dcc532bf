"""Comparisons of DynamoDB are between values of one type: others are not equal, and none is the smaller one.

moto compares the Python values: a number with a text raises, the number 1 equals true, text equals binary of the same
letters, and two attributes that both do not exist are equal. Source: DynamoDB Developer Guide, "Comparison operator
and function reference". An attribute that does not exist makes every comparison false but ``<>``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .places import Place

_WHY = "It is replaced, so that values of different types are neither equal nor in an order."
_MODULE = "moto.dynamodb.comparisons"
PLACES = (
    Place(_MODULE, "OpEqual.expr", "ca932a837491e586", _WHY),
    Place(_MODULE, "OpNotEqual.expr", "456a4aaa0e528282", _WHY),
    Place(_MODULE, "OpLessThan.expr", "724b83b77745d942", _WHY),
    Place(_MODULE, "OpLessThanOrEqual.expr", "372b989dcdbd91f9", _WHY),
    Place(_MODULE, "OpGreaterThan.expr", "652870b03531acbb", _WHY),
    Place(_MODULE, "OpGreaterThanOrEqual.expr", "d6f1faf579890972", _WHY),
    Place(_MODULE, "FuncBetween.expr", "2069bf66346286ed", _WHY),
    Place(
        _MODULE,
        "FuncSize.expr",
        "a548670544cdddfe",
        "It is replaced, so that an attribute without a size makes a comparison false.",
    ),
    Place(_MODULE, "FuncIn.expr", "875c161b186fc53f", _WHY),
    Place(
        "moto.dynamodb.models.dynamo_type",
        "LimitedSizeDict.__setitem__",
        "7ceaaa7aaa936a77",
        "It is replaced: the size of an item is checked once, exactly, and not for each attribute.",
    ),
)

_SIZED = {"S", "SS", "NS", "B", "BS", "L", "M"}

Compare = Callable[[Any, Any], bool]


def install() -> Callable[[], None]:
    """Put the replacements in place. Returns what takes them back. patches.py verifies the places before."""
    import operator

    from moto.dynamodb import comparisons
    from moto.dynamodb.models.dynamo_type import LimitedSizeDict

    replaced: list[tuple[type, str, Any]] = [
        (comparisons.OpEqual, "expr", _compared(operator.eq)),
        (comparisons.OpNotEqual, "expr", _different),
        (comparisons.OpLessThan, "expr", _compared(operator.lt)),
        (comparisons.OpLessThanOrEqual, "expr", _compared(operator.le)),
        (comparisons.OpGreaterThan, "expr", _compared(operator.gt)),
        (comparisons.OpGreaterThanOrEqual, "expr", _compared(operator.ge)),
        (comparisons.FuncBetween, "expr", _between),
        (comparisons.FuncIn, "expr", _in),
        (comparisons.FuncSize, "expr", _size),
        (LimitedSizeDict, "__setitem__", dict.__setitem__),
    ]
    before = [(kind, name, kind.__dict__[name]) for kind, name, _ in replaced]
    for kind, name, new in replaced:
        setattr(kind, name, new)

    def undo() -> None:
        for kind, name, old in before:
            setattr(kind, name, old)

    return undo


def _type(operand: Any, item: Any) -> str | None:
    """The type of an operand, None for an attribute that does not exist."""
    if hasattr(operand, "get_type"):
        kind = operand.get_type(item)
        return str(kind) if kind is not None else None
    return None if operand.expr(item) is None else "N"  # size(…)


def _compares(left: Any, right: Any, item: Any, compare: Compare) -> bool:
    kind = _type(left, item)
    if kind is None or kind != _type(right, item):
        return False
    return bool(compare(left.expr(item), right.expr(item)))


def _compared(compare: Compare) -> Callable[[Any, Any], bool]:
    def expr(self: Any, item: Any) -> bool:
        return _compares(self.lhs, self.rhs, item, compare)

    return expr


def _different(self: Any, item: Any) -> bool:
    return not _compares(self.lhs, self.rhs, item, lambda left, right: bool(left == right))


def _between(self: Any, item: Any) -> bool:
    return _compares(self.start, self.attr, item, lambda low, value: bool(low <= value)) and _compares(
        self.attr, self.end, item, lambda value, high: bool(value <= high)
    )


def _in(self: Any, item: Any) -> bool:
    return any(_compares(self.attr, each, item, lambda a, b: bool(a == b)) for each in self.possible_values)


def _size(self: Any, item: Any) -> int | None:
    kind = self.attr.get_type(item)
    if kind not in _SIZED:
        return None
    content = self.attr.expr(item)
    return len(content) * 3 // 4 - content.count("=") if kind == "B" else len(content)
