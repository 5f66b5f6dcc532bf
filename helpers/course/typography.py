"""Typography by language. The rules are data: lessons/typography.toml. A language without rules has none."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers.course.fidelity import Finding

_NO_BREAK = "\u00a0\u202f"
_ALL_QUOTES = '"“”„‟«»‹›'


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A pattern that must not occur in the words of a text (not in code), and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one language.

    quotes: kinds of quotation marks, as "«»"; a language uses one of them throughout.
    nested_quotes: kinds allowed within quotation marks.
    no_break_before, no_break_after: characters that a no-break space precedes or follows.
    paired: characters that come in pairs, as "¿?".
    plural_forms: for the header of a new catalog, where babel's own rule is not the usual one.
    """

    quotes: tuple[str, ...] = ()
    nested_quotes: tuple[str, ...] = ()
    no_break_before: str = ""
    no_break_after: str = ""
    paired: tuple[str, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    plural_forms: str = ""


@dataclass(slots=True)
class Typography:
    """The rules of all languages."""

    rules: dict[str, Rules] = field(default_factory=dict)

    def of(self, language: str) -> Rules:
        return self.rules.get(language, Rules())


def read_typography(path: Path) -> Typography:
    """Read typography.toml; without the file there are no rules. Unknown keys are an error (TypeError)."""
    if not path.exists():
        return Typography()
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return Typography({language: _rules(table) for language, table in content.items()})


def _rules(table: dict[str, Any]) -> Rules:
    forbidden = tuple(
        Forbidden(re.compile(entry["pattern"], re.IGNORECASE), entry["instead"]) for entry in table.pop("forbidden", [])
    )
    lists: dict[str, Any] = {name: tuple(table.pop(name, [])) for name in ("quotes", "nested_quotes", "paired")}
    return Rules(**lists, forbidden=forbidden, **table)


def faults(plain: str, rules: Rules, marks: bool = True) -> Iterator[Finding]:
    """What is wrong in the words of a text (`Inline.plain`). A diagram has its own use of `marks`."""
    if marks:
        yield from _spaces(plain, rules)
        yield from _quotes(plain, rules)
        for first, last in _pairs(rules.paired):
            if plain.count(first) != plain.count(last):
                yield (f"{first} and {last} do not come in pairs", f"Write {first}…{last}")
    for rule in rules.forbidden:
        for found in rule.pattern.finditer(plain):
            yield (f"“{found[0].strip()}” in “{_around(plain, found.start())}”", rule.instead)


def quotes_used(plain: str, rules: Rules) -> set[str]:
    """Which of the kinds of quotation marks of the language a text uses."""
    if len(rules.quotes) < 2:
        return set()
    return {kind for kind in rules.quotes if any(mark in plain for mark in kind)}


def _spaces(plain: str, rules: Rules) -> Iterator[Finding]:
    for place, mark in enumerate(plain):
        before, after = plain[place - 1 : place], plain[place + 1 : place + 2]
        if mark in rules.no_break_before and before not in _NO_BREAK:
            # 10:30 and ?! have no space between; a mark that stands alone is not punctuation.
            inside = bool(after) and not after.isspace() and after not in ").,»" + rules.no_break_before
            if not (inside or not before or before in "?!(…"):
                yield (
                    f"no no-break space before {mark} in “{_around(plain, place)}”",
                    "Put a no-break space (U+00A0 or U+202F) there",
                )
        if mark in rules.no_break_after and (not after or after not in _NO_BREAK):
            yield (
                f"no no-break space after {mark} in “{_around(plain, place)}”",
                "Put a no-break space (U+00A0 or U+202F) there",
            )


def _quotes(plain: str, rules: Rules) -> Iterator[Finding]:
    if not rules.quotes:
        return
    allowed = "".join((*rules.quotes, *rules.nested_quotes))
    for mark in _ALL_QUOTES:
        if mark in plain and mark not in allowed:
            yield (f"the quotation mark {mark}", f"Write {' or '.join(rules.quotes)}")
    for first, last in _pairs((*rules.quotes, *rules.nested_quotes)):
        if plain.count(first) != plain.count(last):
            yield (f"{first} and {last} do not come in pairs", f"Write {first}…{last}")


def _pairs(kinds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What opens and what closes, of kinds such as "«»"."""
    for kind in kinds:
        first, last = tuple(kind)
        yield first, last


def _around(plain: str, place: int) -> str:
    return " ".join(plain[max(0, place - 15) : place + 12].split())
