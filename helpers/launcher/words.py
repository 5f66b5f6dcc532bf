"""What the launcher says, in the reader's language, before anything is installed.

The catalogs are those of the course (helpers/locale). Their usual reader, babel, comes only with the set-up, so this
one reads what the launcher needs of a PO file: plain messages, no plurals. It keeps to Python 3.7 and the standard
library: a Python that is too old for the course says so in the reader's language too.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from helpers.system_language import match, system_language

SOURCE = "en"
LOCALE = Path(__file__).resolve().parents[1] / "locale"

_translations: dict[str, str] = {}


def _(message: str) -> str:
    """`message` in the language that `choose` found; English before, and where the catalog has nothing."""
    return _translations.get(message) or message


def choose(arguments: Sequence[str], environ: Mapping[str, str] = os.environ, folder: Path = LOCALE) -> str:
    """Speak the language of a command line from now on: --language, else ONCE_LANGUAGE, else the system's.

    English where none of them is a language of the course, or the terminal lacks its letters. Returns the language.
    """
    known = languages(folder)
    wanted = (_option(arguments), environ.get("ONCE_LANGUAGE", ""), system_language(environ))
    language = next((found for found in (match(name, known) for name in wanted) if found), SOURCE)
    translations = {} if language == SOURCE else read_messages(folder / (language + ".po"))
    if not _writable("".join(translations.values())):
        language, translations = SOURCE, {}
    _translations.clear()
    _translations.update(translations)
    return language


def languages(folder: Path = LOCALE) -> Sequence[str]:
    """What `choose` knows: the source language first, then those that have a catalog, sorted."""
    return (SOURCE, *sorted(catalog.stem for catalog in folder.glob("*.po")))


def read_messages(path: Path) -> dict[str, str]:
    """The messages of a PO file that have a translation: without context, plural or the mark `fuzzy`.

    A file that cannot be read has none: nobody is kept from the course by a catalog.
    """
    result: dict[str, str] = {}
    try:
        blocks = path.read_text(encoding="utf-8").replace("\r\n", "\n").split("\n\n")
        for block in blocks:
            parts = _parts(block)
            if set(parts) == {"msgid", "msgstr"} and parts["msgid"] and parts["msgstr"]:
                result[parts["msgid"]] = parts["msgstr"]
    except (OSError, ValueError, SyntaxError):
        return {}
    return result


def _parts(block: str) -> dict[str, str]:
    """The keywords of one entry with their strings (PO Files, GNU gettext manual); nothing for one that is fuzzy."""
    parts: dict[str, str] = {}
    keyword = ""
    for line in block.split("\n"):
        if line.startswith("#,") and "fuzzy" in line:
            return {}
        if line.startswith("msg"):
            keyword, _space, line = line.partition(" ")
        if keyword and line.startswith('"'):
            # The escapes of C that catalogs use are those of Python.
            parts[keyword] = parts.get(keyword, "") + ast.literal_eval(line)
    return parts


def _option(arguments: Sequence[str]) -> str:
    for place, argument in enumerate(arguments):
        if argument == "--language":
            return arguments[place + 1] if place + 1 < len(arguments) else ""
        if argument.startswith("--language="):
            return argument.partition("=")[2]
    return ""


def _writable(text: str) -> bool:
    letters = "".join(sorted(letter for letter in set(text) if letter.isalpha()))
    for stream in (sys.stdout, sys.stderr):
        try:
            letters.encode(getattr(stream, "encoding", None) or "utf-8")
        except (UnicodeEncodeError, LookupError):
            return False
    return True
