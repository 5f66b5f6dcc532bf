"""lessons/glossary.csv: a term has one translation, and a text that uses the term uses that translation.

Columns: `en`, one column for each language (what a person reads), `note`, and for the check

* `en_forms`: the forms of the term, separated by `|`; empty: the term itself;
* `en_except`: phrases in which these words are not the term ("in order to"), separated by `|`;
* `<language>_stems`: stems, each of which some word must begin with, so that «очереди недоставленных» passes
  for «очередь недоставленных»; alternatives are separated by `|`. Without it, the term is not checked.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from helpers.course.fidelity import Finding


@dataclass(frozen=True, slots=True)
class Term:
    """A row of the glossary. `said` is the translation by language, `stems` the alternatives by language."""

    english: str
    forms: tuple[str, ...]
    exceptions: tuple[str, ...]
    said: dict[str, str]
    stems: dict[str, tuple[tuple[str, ...], ...]]


def read_glossary(path: Path) -> list[Term]:
    """The terms, longest first, so that "dead-letter queue" is not also "queue". No file, no terms."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        terms = [_term(row) for row in csv.DictReader(stream)]
    return sorted(terms, key=lambda term: -len(term.english))


def _term(row: dict[str, str]) -> Term:
    languages = [name for name in row if name not in ("en", "note") and "_" not in name]
    return Term(
        english=row["en"],
        forms=_split(row.get("en_forms", "")) or (row["en"],),
        exceptions=_split(row.get("en_except", "")),
        said={language: row[language] for language in languages},
        stems={
            language: tuple(tuple(_plain(way).split()) for way in _split(row.get(f"{language}_stems", "")))
            for language in languages
        },
    )


def terms_in(english: str, terms: list[Term]) -> list[Term]:
    """The terms that the English text uses."""
    found: list[Term] = []
    rest = _plain(english)
    for term in terms:
        mine = rest
        for phrase in term.exceptions:
            mine = _pattern((phrase,)).sub(" ", mine)
        pattern = _pattern(term.forms)
        if pattern.search(mine):
            found.append(term)
            rest = pattern.sub(" ", rest)
    return found


def misnamed(
    english: str, translation: str, language: str, terms: list[Term], excused: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Terms of the English text whose translation is not in the translated one. `excused` are passed over."""
    ours = _plain(translation)
    for term in terms_in(english, terms):
        ways = term.stems.get(language, ())
        if ways and term.english not in excused and not any(_said(ours, way) for way in ways):
            yield (
                f"“{term.english}” is not called “{term.said[language]}”",
                "Use this word; where the English word means something else, excuse it in exceptions.toml",
            )


def _said(text: str, stems: tuple[str, ...]) -> bool:
    return all(_word_beginning(stem).search(text) for stem in stems)


@cache
def _word_beginning(stem: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(stem)}")


@cache
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    # "dead-letter-queue" in a file name is not the term.
    return re.compile(rf"(?<![\w-])(?:{'|'.join(re.escape(_plain(form)) for form in forms)})(?![\w-])")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().replace("ё", "е").replace("’", "'")


def _split(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split("|") if part.strip())
