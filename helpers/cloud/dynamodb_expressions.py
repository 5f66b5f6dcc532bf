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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Names = Mapping[str, str]
Values = Mapping[str, Mapping[str, Any]]

_TOKEN = re.compile(r"\s*(?:(?P<text>[A-Za-z]\w*|[#:]\w*|\d+|<=|>=|<>|[=<>()\[\],.]|\S)|$)", re.ASCII)
_COMPARATORS = {"=", "<>", "<", "<=", ">", ">="}
_WORDS = {"AND", "OR", "NOT", "BETWEEN", "IN"}
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


class Mistake(ValueError):
    """A mistake in an expression; the text is DynamoDB's sentence without the expression's name."""


@dataclass(frozen=True)
class Path:
    """A document path: names as they were written, and positions in lists."""

    parts: tuple[str | int, ...]


@dataclass(frozen=True)
class Value:
    name: str


@dataclass(frozen=True)
class Call:
    """A function or an operator, and its operands."""

    name: str
    operands: tuple[Operand, ...]


Operand = Path | Value | Call


@dataclass
class Parsed:
    """What an expression consists of: calls, comparisons, paths and values in the order of the text."""

    calls: list[Call] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    placeholders: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    misused: str = ""
    redundant: bool = False


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
    return _Parser(expression).condition()


@functools.lru_cache(maxsize=512)
def _projection(expression: str) -> list[Path]:
    return _Parser(expression).projection()


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


class _Parser:
    """Recursive descent over one expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0
        self._furthest = 0
        self._parsed = Parsed()

    def condition(self) -> Parsed:
        self._misuse_check(self._or())
        self._end()
        return self._parsed

    def projection(self) -> list[Path]:
        paths = [self._path()]
        while self._take(","):
            paths.append(self._path())
        self._end()
        return paths

    # --- conditions --------------------------------------------------------------------------------------------

    def _or(self) -> Call | None:
        first = self._and()
        while self._take("OR"):
            self._misuse_check(first)
            self._parsed.words.add("OR")
            self._misuse_check(self._and())
            first = None
        return first

    def _and(self) -> Call | None:
        first = self._not()
        while self._take("AND"):
            self._misuse_check(first)
            self._misuse_check(self._not())
            first = None
        return first

    def _not(self) -> Call | None:
        if not self._take("NOT"):
            return self._primary()
        self._parsed.words.add("NOT")
        self._misuse_check(self._not())
        return None

    def _primary(self) -> Call | None:
        if self._peek() != "(":
            return self._comparison()
        start, kept = self._at, _copy(self._parsed)
        try:
            self._at += 1
            doubled = self._peek() == "("
            inner = self._or()
            self._need(")")
            if self._peek() not in _COMPARATORS and self._peek().upper() not in {"BETWEEN", "IN"}:
                if doubled and self._tokens[self._at - 2][0] == ")" and _wraps(self._tokens, start, self._at - 1):
                    self._parsed.redundant = True
                return inner
        except Mistake:
            pass  # a parenthesis around an operand
        self._at, self._parsed = start, kept
        return self._comparison()

    def _comparison(self) -> Call | None:
        left = self._operand()
        operator = self._peek().upper()
        if operator in _COMPARATORS:
            self._at += 1
            call = Call(operator, (left, self._operand()))
        elif operator == "BETWEEN":
            self._at += 1
            low = self._operand()
            self._need("AND")
            call = Call(operator, (left, low, self._operand()))
        elif operator == "IN":
            self._at += 1
            self._need("(")
            call = Call(operator, (left, *self._list()))
        elif isinstance(left, Call):
            return left
        else:
            raise self._wrong()
        for operand in call.operands:
            if isinstance(operand, Call) and operand.name != "size" and not self._parsed.misused:
                self._parsed.misused = operand.name
        self._parsed.calls.append(call)
        return None

    def _misuse_check(self, condition: Call | None) -> None:
        """`size` is a number and no condition."""
        if condition is not None and condition.name == "size" and not self._parsed.misused:
            self._parsed.misused = "size"

    # --- operands ----------------------------------------------------------------------------------------------

    def _list(self) -> tuple[Operand, ...]:
        operands = [self._operand()]
        while self._take(","):
            operands.append(self._operand())
        self._need(")")
        return tuple(operands)

    def _operand(self) -> Operand:
        if self._take("("):
            operand = self._operand()
            self._need(")")
            return operand
        token = self._peek()
        if len(token) > 1 and token[0] == ":":
            self._at += 1
            self._parsed.placeholders.append(token)
            return Value(token)
        if token[:1].isalpha() and self._peek(1) == "(" and token.upper() not in _WORDS:
            self._at += 2
            call = Call(token, self._list())
            nested = next((each.name for each in call.operands if isinstance(each, Call)), "")
            self._parsed.misused = self._parsed.misused or nested
            self._parsed.calls.append(call)
            return call
        path = self._path()
        self._parsed.paths.append(path)
        self._parsed.placeholders += [part for part in path.parts if isinstance(part, str) and part[0] == "#"]
        return path

    def _path(self) -> Path:
        parts: list[str | int] = [self._name()]
        while self._peek() in {".", "["}:
            if self._take("."):
                parts.append(self._name())
                continue
            self._at += 1
            if not self._peek().isdigit():
                raise self._wrong()
            parts.append(int(self._peek()))
            self._at += 1
            self._need("]")
        return Path(tuple(parts))

    def _name(self) -> str:
        token = self._peek()
        named = len(token) > 1 and token[0] == "#"
        if not named and (not token[:1].isalpha() or token.upper() in _WORDS):
            raise self._wrong()
        self._at += 1
        return token

    # --- tokens ------------------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        if self._peek().upper() != token:
            return False
        self._at += 1
        return True

    def _need(self, token: str) -> None:
        if not self._take(token):
            raise self._wrong()

    def _end(self) -> None:
        if self._at < len(self._tokens):
            raise self._wrong()

    def _wrong(self) -> Mistake:
        """The sentence for the token that cannot stand where it stands, with its neighbours."""
        self._furthest = at = max(self._furthest, self._at)
        last = len(self._tokens)
        token = self._tokens[at][0] if at < last else "<EOF>"
        near = self._text[self._tokens[max(0, at - 1)][1] : self._tokens[min(at + 1, last - 1)][2]] if last else ""
        return Mistake(f'Syntax error; token: "{token}", near: "{near}"')


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of a text with their begin and end."""
    for found in _TOKEN.finditer(text):
        if found["text"]:
            yield found["text"], found.start("text"), found.end("text")


def _copy(parsed: Parsed) -> Parsed:
    return Parsed(
        list(parsed.calls),
        list(parsed.paths),
        list(parsed.placeholders),
        set(parsed.words),
        parsed.misused,
        parsed.redundant,
    )


def _wraps(tokens: list[tuple[str, int, int]], start: int, end: int) -> bool:
    """Whether the parenthesis after `start` closes right before `end`: then it adds nothing."""
    depth = 0
    for at in range(start + 1, end):
        depth += {"(": 1, ")": -1}.get(tokens[at][0], 0)
        if depth == 0:
            return at == end - 1
    return False
