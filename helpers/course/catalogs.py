"""PO files: reading, bringing them up to date, and writing them so that the same content is the same bytes.

No dates, no line numbers, no names of programs or machines; entries in the order of the source, one line
each. Entries that left the source leave the file (git remembers them).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import PoFileError, read_po, write_po

from helpers.course.entries import Entry
from helpers.course.source import SourceError


def read(path: Path, plural_forms: str = "") -> Catalog:
    """The catalog in a PO file; an empty one if the file is missing. The language is the file's name.

    The plural rule of a file that names none is `plural_forms`, or else babel's.

    :raises SourceError: the file is not a PO file.
    """
    header = f'msgid ""\nmsgstr "Plural-Forms: {plural_forms}\\n"\n' if plural_forms else ""
    try:
        content = path.read_bytes() if path.exists() else b""
        return read_po(BytesIO(content or header.encode()), locale=path.stem, abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        raise SourceError(path, getattr(error, "lineno", None) or 1, f"not a PO file: {error}") from error


def update(catalog: Catalog, entries: Sequence[Entry]) -> None:
    """Make `catalog` hold exactly `entries`, and keep what is translated.

    A text that moved to another place (another msgctxt) takes its translation along; a text that changed
    keeps the old translation, marked fuzzy; the rest is empty.
    """
    _follow_moved(catalog, entries)
    catalog.update(_empty(catalog.locale_identifier, entries))
    catalog.obsolete.clear()
    for message in catalog:
        if not any(strings(message)):  # babel takes the empty plural forms of another entry for a translation
            message.flags -= {"fuzzy"}


def template(entries: Sequence[Entry]) -> bytes:
    """The POT file of `entries`: what a new language begins with in Poedit or Weblate."""
    # English plurals: gettext's own "nplurals=INTEGER" is a line that babel refuses to read.
    return _header("", "nplurals=2; plural=(n != 1);") + _body(_empty(None, entries))


def _empty(language: str | None, entries: Sequence[Entry]) -> Catalog:
    found = Catalog(locale=language)
    for entry in entries:
        ident = (entry.text, entry.plural) if entry.plural else entry.text
        found.add(
            ident,
            context=entry.context,
            locations=[(place, 0) for place in entry.places],
            auto_comments=[entry.remark] if entry.remark else [],
        )
    return found


def _follow_moved(catalog: Catalog, entries: Iterable[Entry]) -> None:
    by_text = {message.id: message for message in catalog if message.string and not message.fuzzy}
    for entry in entries:
        if entry.context is not None and catalog.get(entry.text, entry.context) is None:
            before = by_text.get(entry.text)
            if before is not None:
                catalog.add(entry.text, before.string, context=entry.context)


def write(path: Path, catalog: Catalog) -> None:
    """Write `catalog` to `path`, whole or not at all."""
    write_bytes(path, to_bytes(catalog))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a PO or POT file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def to_bytes(catalog: Catalog) -> bytes:
    """The PO file for `catalog`, UTF-8."""
    return _header(str(catalog.locale_identifier), catalog.plural_forms) + _body(catalog)


def _header(language: str, plural_forms: str) -> bytes:
    return (
        'msgid ""\n'
        'msgstr ""\n'
        f'"Language: {language}\\n"\n'
        '"MIME-Version: 1.0\\n"\n'
        '"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Content-Transfer-Encoding: 8bit\\n"\n'
        f'"Plural-Forms: {plural_forms}\\n"\n\n'
    ).encode()


def _body(catalog: Catalog) -> bytes:
    for message in catalog:
        # babel guesses "python-format" from any "100 % of"; the gates compare placeholders themselves.
        message.flags -= {"python-format", "python-brace-format"}
    body = BytesIO()
    write_po(body, catalog, width=0, omit_header=True, include_lineno=False, ignore_obsolete=True)
    return body.getvalue().rstrip() + b"\n"


def strings(message: Message) -> list[str]:
    """The translations of an entry: one, or one for each plural form."""
    if isinstance(message.string, (list, tuple)):
        return [string or "" for string in message.string]
    return [message.string or ""]
