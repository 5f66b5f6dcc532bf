"""Filter patterns of CloudWatch Logs: which log events FilterLogEvents and subscriptions let through.

Source: Amazon CloudWatch Logs User Guide, "Filter pattern syntax for metric filters, subscription filters, filter log
events, and Live Tail": terms (all of them, case-sensitive), ``?any ?of ?them``, ``-without``, ``"exact phrases"``,
``%regular expressions%``, ``{ $.field = value && … }`` for events that are JSON, and ``[name, name = value, ...]``
for events of words.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import re
from collections.abc import Callable
from typing import Any

LARGEST = 1024
"""Characters of a pattern."""

Matcher = Callable[[str], bool]
_Test = Callable[[Any], bool]

_TERM = re.compile(
    r'\s*(?P<sign>[?-]?)(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|%(?P<regex>[^%]+)%|(?P<word>[\w.:/=@+*#,]+))(?=\s|$)'
)
_TOKEN = re.compile(
    r"""\s*(?:(?P<path>\$(?:\.[\w-]+|\[\d+\]|\["[^"]+"\]|\['[^']+'\])*)|(?P<op>&&|\|\||!=|>=|<=|=|>|<|\(|\))"""
    r"""|"(?P<text>(?:[^"\\]|\\.)*)"|%(?P<regex>[^%]+)%|(?P<word>[\w.*:/@+-]+))"""
)
_STEP = re.compile(r"""\.([\w-]+)|\[(\d+)\]|\["([^"]+)"\]|\['([^']+)'\]""")
_FIELD = re.compile(r'"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+')
_MISSING: Any = object()


class InvalidFilterPattern(ValueError):
    """The pattern cannot be read."""


@functools.lru_cache(maxsize=256)
def matcher(pattern: str) -> Matcher:
    """What a pattern says of a message. Raises InvalidFilterPattern."""
    text = pattern.strip()
    if len(pattern) > LARGEST:
        raise InvalidFilterPattern("a pattern has at most 1024 characters")
    if not text:
        return lambda message: True
    if text.startswith("{"):
        return _of_json(text)
    if text.startswith("["):
        return _of_words(text)
    return _of_terms(text)


# --- terms ------------------------------------------------------------------------------------------------------------


def _of_terms(text: str) -> Matcher:
    wanted: dict[str, list[Matcher]] = {"": [], "?": [], "-": []}
    position = 0
    while position < len(text):
        found = _TERM.match(text, position)
        if found is None:
            raise InvalidFilterPattern(f"cannot read {text[position:]}")
        position = found.end()
        if found["regex"]:
            wanted[found["sign"]].append(_searching(found["regex"]))
        else:
            term = found["word"] or json.loads(f'"{found["quoted"]}"')
            wanted[found["sign"]].append(functools.partial(_contains, term))
    # Beside other terms, those with a question mark are ignored.
    some = wanted["?"] if not wanted[""] and not wanted["-"] else []

    def matches(message: str) -> bool:
        return (
            all(holds(message) for holds in wanted[""])
            and not any(holds(message) for holds in wanted["-"])
            and (not some or any(holds(message) for holds in some))
        )

    return matches


def _contains(term: str, message: str) -> bool:
    return term in message


def _searching(expression: str) -> Matcher:
    try:
        compiled = re.compile(expression)
    except re.error as problem:
        raise InvalidFilterPattern(str(problem)) from None
    return lambda message: compiled.search(message) is not None


# --- JSON -------------------------------------------------------------------------------------------------------------


def _of_json(text: str) -> Matcher:
    if not text.endswith("}"):
        raise InvalidFilterPattern("a pattern for JSON ends with }")
    test = _Conditions(text[1:-1]).read()

    def matches(message: str) -> bool:
        try:
            event = json.loads(message)
        except (ValueError, RecursionError):
            return False
        return isinstance(event, (dict, list)) and test(event)

    return matches


class _Conditions:
    """Conditions joined by && and ||, in parentheses; && binds more than ||."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while text[position:].strip():
            found = _TOKEN.match(text, position)
            if found is None or found.lastgroup is None:
                raise InvalidFilterPattern(f"cannot read {text[position:]}")
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            position = found.end()
        self._at = 0

    def read(self) -> _Test:
        test = self._or()
        if self._at < len(self._tokens):
            raise InvalidFilterPattern(f"cannot read {self._tokens[self._at][1]}")
        return test

    def _or(self) -> _Test:
        tests = [self._and()]
        while self._take("||"):
            tests.append(self._and())
        return lambda event: any(test(event) for test in tests)

    def _and(self) -> _Test:
        tests = [self._one()]
        while self._take("&&"):
            tests.append(self._one())
        return lambda event: all(test(event) for test in tests)

    def _one(self) -> _Test:
        if self._take("("):
            test = self._or()
            if not self._take(")"):
                raise InvalidFilterPattern("a parenthesis is not closed")
            return test
        kind, path = self._next()
        if kind != "path":
            raise InvalidFilterPattern(f"a condition begins with $, not with {path}")
        holds = self._comparison()
        return lambda event: holds(_at_path(event, path))

    def _comparison(self) -> _Test:
        kind, operator = self._next()
        if kind == "op" and operator not in {"(", ")", "&&", "||"}:
            return _compares(operator, *self._next())
        match operator.upper(), self._next()[1].upper():
            case "IS", "NULL":
                return lambda value: value is None
            case "IS", "TRUE":
                return lambda value: value is True
            case "IS", "FALSE":
                return lambda value: value is False
            case "NOT", "EXISTS":
                return lambda value: value is _MISSING
        raise InvalidFilterPattern(f"cannot read {operator}")

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise InvalidFilterPattern("the pattern ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, operator: str) -> bool:
        if self._tokens[self._at : self._at + 1] != [("op", operator)]:
            return False
        self._at += 1
        return True


def _at_path(event: Any, path: str) -> Any:
    value = event
    for name, index, *quoted in _STEP.findall(path):
        if index:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else _MISSING
        else:
            key = name or "".join(quoted)
            value = value.get(key, _MISSING) if isinstance(value, dict) else _MISSING
    return value


def _compares(operator: str, kind: str, content: str) -> _Test:
    """A comparison with a literal: a number is compared with numbers, a text (with * for anything) with texts."""
    if kind not in {"text", "word", "regex"}:
        raise InvalidFilterPattern(f"cannot compare with {content}")
    if kind == "regex":
        search = _searching(content)
        if operator not in {"=", "!="}:
            raise InvalidFilterPattern("a regular expression is equal or not")
        return lambda value: isinstance(value, str) and search(value) == (operator == "=")
    number = _number(content) if kind == "word" else None
    if operator in {"=", "!="}:
        return functools.partial(_equals, operator == "=", content, number)
    if number is None:
        raise InvalidFilterPattern(f"{content} is no number")
    orders: dict[str, Callable[[float, float], bool]] = {
        ">": lambda a, b: a > b,
        "<": lambda a, b: a < b,
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
    }
    return lambda value: (found := _number(value)) is not None and orders[operator](found, number)


def _equals(wanted: bool, content: str, number: float | None, value: Any) -> bool:
    if value is _MISSING or isinstance(value, (dict, list)):
        return False
    if number is not None and not isinstance(value, str):
        return (_number(value) == number) == wanted
    return (isinstance(value, str) and fnmatch.fnmatchcase(value, content.replace("[", "[[]"))) == wanted


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except ValueError:
        return None


# --- words ------------------------------------------------------------------------------------------------------------


def _of_words(text: str) -> Matcher:
    if not text.endswith("]"):
        raise InvalidFilterPattern("a pattern for words ends with ]")
    names = [each.strip() for each in text[1:-1].split(",")]
    open_at = names.index("...") if "..." in names else None
    tests = [None if name == "..." else _of_word(name) for name in names]

    def matches(message: str) -> bool:
        words = [_unquoted(word) for word in _FIELD.findall(message.strip())]
        if open_at is None:
            if len(words) != len(tests):
                return False
            pairs = list(zip(tests, words, strict=True))
        else:
            rest = tests[open_at + 1 :]
            if len(words) < len(tests) - 1:
                return False
            pairs = list(zip(tests[:open_at], words, strict=False))
            pairs += list(zip(rest, words[len(words) - len(rest) :], strict=True))
        return all(test is None or test(word) for test, word in pairs)

    return matches


def _of_word(text: str) -> _Test | None:
    """The condition of one word, None when any word will do. A name may stand before each comparison."""
    if not re.search(r"!=|>=|<=|=|>|<", text):
        return None
    name = re.match(r"[\w-]*", text)
    known = name.group() if name else ""
    rest = re.sub(rf"(^|&&|\|\||\()\s*{re.escape(known)}\s*(?=!=|>=|<=|=|>|<)", r"\1 $ ", text)
    return _Conditions(rest).read()


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] + word[-1] in {'""', "[]"} else word
