"""Patterns of policies: ``*`` and ``?``, ARNs compared segment by segment, and variables such as ``${aws:userid}``.

Sources: IAM User Guide, "IAM JSON policy elements: Resource" (an ARN with fewer than six segments is completed with
wildcards; a wildcard of one segment does not reach into the next) and "Variables and tags" (a variable whose key is
not in the request makes the pattern match nothing, unless it names a default: ``${key, 'default'}``; ``${*}``,
``${?}`` and ``${$}`` stand for the characters themselves).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

Values = Callable[[str], "list[str] | None"]
"""The values of a condition key in a request, None when the request has no such key."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_DEFAULT = re.compile(r"(.*?)\s*,\s*'(.*)'\s*", re.DOTALL)
_SEGMENTS = 6


def nothing(key: str) -> list[str] | None:
    """The values of a request without any key."""
    return None


def has_variable(pattern: str) -> bool:
    """Whether a pattern can only be read together with a request."""
    return "${" in pattern


def expand(text: str, values: Values) -> str | None:
    """A text that is no pattern with its variables replaced; None when one has no value."""
    parts = _parts(text, values)
    return None if parts is None else "".join(part for part, _ in parts)


def pattern(text: str, values: Values = nothing, flags: int = 0) -> re.Pattern[str] | None:
    """A pattern over a whole text; None when one of its variables has no value."""
    parts = _parts(text, values)
    return None if parts is None else _compiled("".join(_glob(part, literal, ".") for part, literal in parts), flags)


def arn_pattern(text: str, values: Values = nothing) -> re.Pattern[str] | None:
    """A pattern over an ARN, segment by segment; None when one of its variables has no value."""
    if text == "*":
        return _compiled(".*", 0)
    parts = _parts(text, values)
    if parts is None:
        return None
    written, colons = [], 0
    for part, literal in parts:
        if literal:
            written.append(re.escape(part))
            continue
        for number, segment in enumerate(part.split(":", _SEGMENTS - 1 - colons)):
            colons += number > 0
            written.append((":" if number else "") + _glob(segment, False, "." if colons == _SEGMENTS - 1 else "[^:]"))
    written += [":[^:]*"] * (_SEGMENTS - 2 - colons) + [":.*"] * (colons < _SEGMENTS - 1)
    return _compiled("".join(written), 0)


def matches_any(patterns: Iterable[re.Pattern[str] | None], text: str) -> bool:
    """Whether one of the patterns is that of the whole text."""
    return any(one is not None and one.fullmatch(text) is not None for one in patterns)


@functools.lru_cache(maxsize=4096)
def _compiled(expression: str, flags: int) -> re.Pattern[str]:
    return re.compile(expression, flags | re.DOTALL)


def _glob(text: str, literal: bool, any_one: str) -> str:
    if literal:
        return re.escape(text)
    return re.escape(text).replace(r"\*", any_one + "*").replace(r"\?", any_one)


def _parts(text: str, values: Values) -> list[tuple[str, bool]] | None:
    """The text in pieces, each with whether its wildcards are plain characters."""
    parts: list[tuple[str, bool]] = []
    end = 0
    for found in _VARIABLE.finditer(text):
        value = _value(found.group(1).strip(), values)
        if value is None:
            return None
        parts += [(text[end : found.start()], False), (value, True)]
        end = found.end()
    return [*parts, (text[end:], False)]


def _value(name: str, values: Values) -> str | None:
    if name in {"*", "?", "$"}:
        return name
    default = _DEFAULT.fullmatch(name)
    known = values(default.group(1) if default else name)
    if known is not None and len(known) == 1:  # a key with several values cannot be a variable
        return known[0]
    return default.group(2) if default else None
