"""A translation keeps what is not words: code spans, numbers, links, placeholders, tags, emphasis, lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from helpers.course.entries import Entry
from helpers.course.inline import Inline, inline_of

Finding = tuple[str, str]
"""(what is wrong, what to do)"""


def lost(entry: Entry, translation: str, only_one: bool = False) -> Iterator[Finding]:
    """What `translation` lost or added. `only_one`: the plural form for 1; it may leave the count out."""
    english = inline_of(entry.kind, entry.plural or entry.text)
    ours = inline_of(entry.kind, translation)
    # Prose may name the same thing once more, or once less.
    yield from _compared("code span", set(english.code), set(ours.code), "`{}`")
    yield from _compared("link", english.links, ours.links)
    yield from _compared("HTML tag", english.tags, ours.tags)
    if not entry.plural:
        yield from _compared("number", english.numbers, ours.numbers)
    optional = set(english.placeholders) - set(inline_of(entry.kind, entry.text).placeholders) if only_one else set()
    needed = set(english.placeholders) - optional | (optional & set(ours.placeholders))
    yield from _compared("placeholder", needed, set(ours.placeholders))
    if english.strong != ours.strong:
        yield (
            f"{ours.strong} passages in bold instead of {english.strong}",
            "Put ** directly before the first and after the last letter",
        )
    yield from _stray(english, ours)
    if entry.kind != "verbatim" and translation.count("\n") != (entry.plural or entry.text).count("\n"):
        yield ("another number of lines", "Keep the line breaks (\\n) of the English text")


def _compared(kind: str, wanted: Iterable[str], found: Iterable[str], form: str = "{}") -> Iterator[Finding]:
    missing, added = Counter(wanted), Counter(found)
    missing, added = missing - added, added - missing
    for value in missing.elements():
        yield (f"{kind} {form.format(value)} is missing", "Keep it as in the English text")
    for value in added.elements():
        yield (f"{kind} {form.format(value)} is not in the English text", "Remove it")


def _stray(english: Inline, ours: Inline) -> Iterator[Finding]:
    for mark in "*`~":
        if ours.plain.count(mark) > english.plain.count(mark):
            yield (f"a {mark} would be shown to the reader", "Close what it opens, without a space inside")
