"""The launcher's own reader of catalogs, and which language it chooses."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.lab.language import LOCALE, SOURCE, known_languages, read_catalog
from helpers.launcher import __main__ as door
from helpers.launcher import words

LANGUAGES = [language for language in known_languages() if language != SOURCE]
NO_LANGUAGE = {"LC_ALL": "C"}


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """In place of that of the other tests: here it reads its catalogs."""
    yield
    words._translations.clear()


PO = r"""
msgid ""
msgstr "Language: fr\n"

#: helpers/a.py
msgid "one"
msgstr "un « \"x\" »\n"
"et deux"

#, fuzzy
msgid "guess"
msgstr "hasard"

#, python-brace-format
msgid ""
"long "
"text"
msgstr "texte"

msgctxt "c"
msgid "in context"
msgstr "y"

msgid "{n} a"
msgid_plural "{n} as"
msgstr[0] "un"
msgstr[1] "des"

msgid "open"
msgstr ""

#~ msgid "gone"
#~ msgstr "parti"
"""


def test_it_reads_plain_messages(tmp_path: Path) -> None:
    (tmp_path / "fr.po").write_text(PO, encoding="utf-8")
    assert words.read_messages(tmp_path / "fr.po") == {"one": 'un « "x" »\net deux', "long text": "texte"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_reads_what_babel_reads(language: str) -> None:
    catalog = read_catalog(LOCALE / f"{language}.po")
    messages = words.read_messages(LOCALE / f"{language}.po")
    assert len(messages) > 100
    assert {text: catalog.gettext(text) for text in messages} == messages


@pytest.mark.parametrize("text", [None, b"\xff", b'msgid "a"\nmsgstr "b'])
def test_a_damaged_catalog_keeps_nobody_from_the_course(tmp_path: Path, text: bytes | None) -> None:
    if text is not None:
        (tmp_path / "fr.po").write_bytes(text)
    assert words.read_messages(tmp_path / "fr.po") == {}


@pytest.mark.parametrize(
    ("arguments", "environ", "language"),
    [
        (["lab", "--language", "fr"], {"LANG": "ru_RU.UTF-8"}, "fr"),
        (["lab", "--language=fr_CA"], {}, "fr"),
        (["lab", "--language"], {"LANG": "es_MX.UTF-8"}, "es"),
        (["lab", "--language", "xx"], {"LANG": "ru_RU.UTF-8"}, "ru"),
        (["lab"], {"ONCE_LANGUAGE": "fr", "LANG": "ru_RU.UTF-8"}, "fr"),
        (["lab"], {"LANG": "de_DE.UTF-8"}, "en"),
        ([], {"LC_ALL": "C", "LANG": "ru_RU.UTF-8"}, "en"),
    ],
)
def test_which_language_is_spoken(arguments: list[str], environ: dict[str, str], language: str) -> None:
    assert words.choose(arguments, environ or NO_LANGUAGE) == language


def test_a_terminal_without_the_letters_gets_english(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert words.choose([], {"LANG": "ru_RU"}) == "en"
    assert words.choose([], {"LANG": "fr_FR"}) == "fr"


def test_the_end_of_a_session_is_said_in_the_language_of_the_command_line() -> None:
    words.choose(["lab", "--language", "fr"])
    said = words._("Press Ctrl-C here to end JupyterLab.")
    assert said == read_catalog(LOCALE / "fr.po").gettext("Press Ctrl-C here to end JupyterLab.")
    assert said != "Press Ctrl-C here to end JupyterLab."


def test_the_door_speaks_the_language_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_", door._)
    door.words(["lab", "--language", "fr"])
    assert door._("Press Ctrl-C here to end JupyterLab.") != "Press Ctrl-C here to end JupyterLab."
