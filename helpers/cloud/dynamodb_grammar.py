"""The grammar of DynamoDB's conditions and projections: what an expression consists of, and where it breaks off.

Source: DynamoDB Developer Guide, "Comparison operator and function reference"; the sentence for a mistake of syntax is
DynamoDB's: the token that cannot stand where it stands, and its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(r"\s*(?:(?P<text>[A-Za-z]\w*|[#:]\w*|\d+|<=|>=|<>|[=<>()\[\],.]|\S)|$)", re.ASCII)
_COMPARATORS = {"=", "<>", "<", "<=", ">", ">="}
_WORDS = {"AND", "OR", "NOT", "BETWEEN", "IN"}


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


class Parser:
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
