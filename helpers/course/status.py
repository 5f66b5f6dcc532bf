"""How far the translations are: for each language and catalog, what is translated, fuzzy and empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers.course import catalogs
from helpers.course.entries import Entry
from helpers.course.syllabus import Folders


@dataclass(frozen=True, slots=True)
class Status:
    """One catalog against its source. `first` is where the first text waits: "lessons/a/fr.po:12 [title:0]"."""

    language: str
    catalog: str
    translated: int
    fuzzy: int
    empty: int
    first: str = ""

    @property
    def total(self) -> int:
        return self.translated + self.fuzzy + self.empty

    @property
    def percent(self) -> int:
        """Rounded down: 100 is only said when nothing waits."""
        return 100 * self.translated // self.total if self.total else 100


def status(path: Path, entries: Sequence[Entry], folders: Folders) -> Status:
    """What `path` will have of `entries` after `make i18n`. The file stays as it is."""
    lines = _lines(path)
    # Without the name, only the catalogs of known languages are made.
    update = "make i18n" if path.exists() else f"make i18n LANG_={path.stem}"
    catalog = catalogs.read(path)
    catalogs.update(catalog, entries)
    counts = {"translated": 0, "fuzzy": 0, "empty": 0}
    first = ""
    for entry in entries:
        message = catalog.get(entry.text, entry.context)
        if message is None or not all(text.strip() for text in catalogs.strings(message)):
            found = "empty"
        else:
            found = "fuzzy" if message.fuzzy else "translated"
        counts[found] += 1
        if found != "translated" and not first:
            line = lines.get((entry.context, entry.text))
            place = f"{folders.shown(path)}:{line}" if line else f"{folders.shown(path)}, after `{update}`:"
            first = f"{place} [{entry.context or entry.text}]"
    return Status(path.stem, folders.shown(path.parent), **counts, first=first)


def table(found: Sequence[Status]) -> Iterator[str]:
    """The lines of a table for a terminal: one for each catalog, and one for each language."""
    rows: list[tuple[str, ...]] = [
        ("language", "catalog", "translated", "fuzzy", "empty", "done", "first text that waits")
    ]
    for language in dict.fromkeys(one.language for one in found):
        own = [one for one in found if one.language == language]
        rows += [_row(one) for one in own]
        sums = (sum(getattr(one, name) for one in own) for name in ("translated", "fuzzy", "empty"))
        rows.append(_row(Status(language, "all", *sums)))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        cells += [cell.rjust(width) for cell, width in zip(row[2:6], widths[2:], strict=True)]
        yield "  ".join([*cells, row[6]]).rstrip()


def _row(one: Status) -> tuple[str, ...]:
    counts = (str(count) for count in (one.translated, one.fuzzy, one.empty))
    first = one.first if len(one.first) <= 90 else f"{one.first[:88]}…]"
    return (one.language, one.catalog, *counts, f"{one.percent} %", first)


def _lines(path: Path) -> dict[tuple[str | None, str], int]:
    """The line of each msgid in a catalog as `catalogs.write` and PO editors write it."""
    if not path.exists():
        return {}
    found: dict[tuple[str | None, str], int] = {}
    for message in catalogs.read(path):
        if message.id and message.lineno is not None:
            text = message.id[0] if isinstance(message.id, (list, tuple)) else message.id
            found[message.context, text] = message.lineno
    return found
