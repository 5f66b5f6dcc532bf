"""lessons/exceptions.toml: what the gates let pass. An exception that nothing needs is itself a failure."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from helpers.course.pieces import WORD

_AROUND = re.compile(r"^[\W\d_]+|[\W\d_]+$")


@dataclass(frozen=True, slots=True)
class Excuse:
    """In this entry, the English word is not the term of the glossary.

    `file` is the folder of the catalogs from the root of the course, `entry` a msgctxt (or a msgid of the
    helpers).
    """

    file: str
    entry: str
    term: str
    reason: str


@dataclass(slots=True)
class Exceptions:
    """`names`, `unchanged`: see `may_stay`. The rest: sentences that may occur, excuses from the glossary."""

    names: tuple[str, ...] = ()
    unchanged: dict[str, frozenset[str]] = field(default_factory=dict)
    code_sentences: tuple[str, ...] = ()
    output_sentences: tuple[str, ...] = ()
    glossary: tuple[Excuse, ...] = ()

    def may_stay(self, plain: str, language: str) -> bool:
        """May the words of a text be the same in `language` as in English?"""
        # Signs around a word, as in "✗ no", belong to no language.
        if _AROUND.sub("", plain) in self.unchanged.get(language, frozenset()):
            return True
        for name in sorted(self.names, key=len, reverse=True):
            plain = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", plain)
        return WORD.search(plain) is None

    def excused(self, file: str, entry: str) -> frozenset[str]:
        """The terms that an entry need not use."""
        here = (file, entry)
        return frozenset(excuse.term for excuse in self.glossary if (excuse.file, excuse.entry) == here)


def read_exceptions(path: Path) -> Exceptions:
    """Read exceptions.toml; without the file there are none. A missing key is an error (KeyError)."""
    if not path.exists():
        return Exceptions()
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    unchanged = content.get("unchanged", {})
    return Exceptions(
        names=tuple(unchanged.pop("names", [])),
        unchanged={language: frozenset(texts) for language, texts in unchanged.items()},
        code_sentences=tuple(content.get("code", {}).get("sentences", [])),
        output_sentences=tuple(content.get("outputs", {}).get("sentences", [])),
        glossary=tuple(
            Excuse(entry["file"], entry["entry"], entry["term"], entry["reason"])
            for entry in content.get("glossary", [])
        ),
    )
