"""The reader's language at run time.

The English source is the key of every text; `helpers/locale/<language>.po` holds the translations, and a
language is known as soon as its catalog lies there. PO files are read as they are: a translator saves, and
the next kernel shows it.

babel is imported only when a catalog or a number needs it: importing this module costs next to nothing.
"""

from __future__ import annotations

import gettext
import os
import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from helpers.system_language import match, system_language

SOURCE = "en"
LOCALE = Path(__file__).resolve().parents[1] / "locale"
LESSONS = Path(__file__).resolve().parents[2] / "lessons"

# ISO 80000-1, 7.3.1: groups of three digits are separated by a small space, never by a point or a comma.
_THIN_SPACE = "\u202f"

_current: str | None = None


class UnknownLanguage(ValueError):
    """A language was asked for that has no catalog. `language` was asked for, `known` is what there is."""

    def __init__(self, language: str, known: tuple[str, ...]) -> None:
        message = _("The language “{language}” has no catalog. Choose one of these: {known}.")
        super().__init__(message.format(language=language, known=", ".join(known)))
        self.language = language
        self.known = known


def known_languages(folder: Path | None = None) -> tuple[str, ...]:
    """The source language and those that have a catalog in `folder` (default: helpers/locale), sorted."""
    folder = LOCALE if folder is None else folder
    return tuple(sorted({SOURCE, *(catalog.stem for catalog in folder.glob("*.po"))}))


def use(language: str | None = None) -> str:
    """Speak `language` from now on; without one, the language that `detect` finds. Returns the language.

    An unknown ONCE_LANGUAGE is passed over with a warning.

    :raises UnknownLanguage: `language` has no catalog.
    """
    global _current
    known = known_languages()
    if language is None:
        _current = detect()
        wanted = os.environ.get("ONCE_LANGUAGE")
        if wanted and not match(wanted, known):
            warnings.warn(str(UnknownLanguage(wanted, known)), stacklevel=2)
    else:
        found = match(language, known)
        if found is None:
            raise UnknownLanguage(language, known)
        _current = found
    return _current


def current() -> str:
    """The language in use; detected at the first call."""
    return use() if _current is None else _current


def detect(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """The language that the surroundings ask for; English where they ask for none that is known.

    In this order: ONCE_LANGUAGE, the notebook's folder, the current folder, the system's language. A folder
    counts when its name is a language that has a catalog, as in `notebooks/fr`; the innermost one wins.
    jupyter_server gives the notebook's path in JPY_SESSION_NAME (services/sessions/sessionmanager.py).
    """
    environ = os.environ if environ is None else environ
    known = known_languages()
    if found := match(environ.get("ONCE_LANGUAGE", ""), known):
        return found
    session = environ.get("JPY_SESSION_NAME", "")
    here = _working_folder() if folder is None else str(folder)
    for names in (re.split(r"[\\/]", session)[:-1], re.split(r"[\\/]", here)):
        for name in reversed(names):
            if name in known:
                return name
    return match(system_language(environ), known) or SOURCE


def _(message: str) -> str:
    """`message` in the language in use; the English source where the catalog has nothing."""
    return _helpers().gettext(message)


def ngettext(singular: str, plural: str, n: int) -> str:
    """The form of the message for the count `n`, by the plural rule of the language in use."""
    return _helpers().ngettext(singular, plural, n)


def labelled(label: str, text: str) -> str:
    """A label and what it says, with the language's own signs between them: French sets a space before the colon."""
    return _("{label}: {text}").format(label=label, text=text)


def texts(language: str) -> gettext.NullTranslations:
    """The texts of the helpers in a language, for a program that works for readers of several at once."""
    return gettext.NullTranslations() if language == SOURCE else read_catalog(LOCALE / f"{language}.po")


def lesson_text(lesson: str, context: str, source: str) -> str:
    """A text of lesson.toml in the language in use.

    `lesson` is the slug ("idempotent-consumer"), `context` the msgctxt ("check:connect:queue:hint").
    Without a translation, `source` itself.
    """
    language = current()
    if language == SOURCE or not source:
        return source
    return read_catalog(LESSONS / lesson.replace("-", "_") / f"{language}.po").pgettext(context, source)


def number(value: float, digits: int | None = None) -> str:
    """A number as a reader writes it: 10000.5 is "10 000,5" in French. `digits`: exactly so many decimals."""
    from babel.numbers import format_decimal, get_group_symbol

    language = current()
    pattern = None if digits is None else "#,##0" + ("." + "0" * digits if digits else "")
    text = format_decimal(value, format=pattern, locale=language)
    return text if language == SOURCE else text.replace(get_group_symbol(language), _THIN_SPACE)


def read_catalog(path: Path) -> gettext.NullTranslations:
    """The translations of one PO file, with its plural rule; empty ones and fuzzy ones are left out.

    A file that is not there translates nothing. The file is read again when it was changed.

    :raises babel.messages.pofile.PoFileError: the file is not a PO file.
    """
    try:
        changed = path.stat().st_mtime_ns
    except FileNotFoundError:
        return gettext.NullTranslations()
    return _read_catalog(path, changed)


@lru_cache(maxsize=32)
def _read_catalog(path: Path, changed: int) -> gettext.NullTranslations:
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with path.open("rb") as stream:
        catalog = read_po(stream, locale=path.stem, abort_invalid=True)
    compiled = BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def _helpers() -> gettext.NullTranslations:
    return texts(current())


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # deleted under the kernel
        return ""
