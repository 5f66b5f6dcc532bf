from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.lab import language

RUSSIAN = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
CATALOG = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: {rule}\\n"

msgid "Yes"
msgstr "{yes}"

#, fuzzy
msgid "Perhaps"
msgstr "???"

msgid "Empty"
msgstr ""

msgid "{{n}} message"
msgid_plural "{{n}} messages"
{forms}
"""


def catalog(yes: str, rule: str, *forms: str) -> str:
    lines = "\n".join(f'msgstr[{number}] "{form}"' for number, form in enumerate(forms))
    return CATALOG.format(yes=yes, rule=rule, forms=lines)


@pytest.fixture(autouse=True)
def catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Catalogs of French and Russian, and no language chosen yet."""
    folder = tmp_path / "locale"
    folder.mkdir()
    french = catalog("Oui", "nplurals=2; plural=(n > 1);", "{n} message", "{n} messages")
    russian = catalog("Да", RUSSIAN, "{n} сообщение", "{n} сообщения", "{n} сообщений")
    (folder / "fr.po").write_text(french, encoding="utf-8")
    (folder / "ru.po").write_text(russian, encoding="utf-8")
    monkeypatch.setattr(language, "LOCALE", folder)
    monkeypatch.setattr(language, "LESSONS", tmp_path / "lessons")
    monkeypatch.setattr(language, "_current", None)
    for name in ("ONCE_LANGUAGE", "JPY_SESSION_NAME", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_a_catalog_makes_a_language(catalogs: Path) -> None:
    assert language.known_languages() == ("en", "fr", "ru")
    (catalogs / "eo.po").write_text(catalog("Jes", "nplurals=2; plural=(n != 1);", "a", "b"), encoding="utf-8")
    assert language.known_languages() == ("en", "eo", "fr", "ru")
    assert language.use("eo") == "eo"
    assert language._("Yes") == "Jes"


@pytest.mark.parametrize(
    ("environ", "folder", "expected"),
    [
        ({"ONCE_LANGUAGE": "ru", "JPY_SESSION_NAME": "/c/fr/a.ipynb", "LANG": "fr_FR"}, "/c/fr", "ru"),
        ({"JPY_SESSION_NAME": "/c/notebooks/fr/01_a.ipynb", "LANG": "ru_RU"}, "/c/ru", "fr"),
        ({"JPY_SESSION_NAME": "C:\\c\\notebooks\\ru\\01_a.ipynb"}, "C:\\c", "ru"),
        ({"JPY_SESSION_NAME": "/home/fr/notebooks/ru/01_a.ipynb"}, "/c", "ru"),
        ({"JPY_SESSION_NAME": "/c/fr"}, "/c/ru/mine", "ru"),
        ({"JPY_SESSION_NAME": "/c/x/a.ipynb", "LANG": "ru_RU.UTF-8"}, "/c/frx", "ru"),
        ({"LC_ALL": "fr_CA", "LANG": "ru_RU.UTF-8"}, "/c", "fr"),
        ({"LANG": "de_DE.UTF-8"}, "/c", "en"),
        ({"LANG": "C.UTF-8"}, "/c", "en"),
        ({"ONCE_LANGUAGE": "xx", "LANG": "fr"}, "/c", "fr"),
    ],
)
def test_the_surroundings_say_the_language(environ: dict[str, str], folder: str, expected: str) -> None:
    assert language.detect(environ, Path(folder) if "\\" not in folder else folder) == expected


def test_the_language_is_found_at_the_first_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONCE_LANGUAGE", "fr-FR")
    assert language._("Yes") == "Oui"
    assert language.current() == "fr"


def test_an_unknown_language_is_refused_by_name() -> None:
    language.use("fr")
    with pytest.raises(language.UnknownLanguage) as caught:
        language.use("xx")
    assert "xx" in str(caught.value)
    assert caught.value.known == ("en", "fr", "ru")
    assert language.current() == "fr"


def test_an_unknown_language_in_the_environment_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONCE_LANGUAGE", "xx")
    with pytest.warns(UserWarning, match="xx"):
        assert language.use() in language.known_languages()


def test_english_is_the_source() -> None:
    language.use("en")
    assert language._("Yes") == "Yes"
    assert language.ngettext("{n} message", "{n} messages", 2) == "{n} messages"


def test_only_finished_translations_are_used() -> None:
    language.use("fr")
    assert [language._(text) for text in ("Perhaps", "Empty", "Unknown")] == ["Perhaps", "Empty", "Unknown"]


@pytest.mark.parametrize(
    ("chosen", "n", "expected"),
    [
        ("fr", 0, "{n} message"),
        ("fr", 2, "{n} messages"),
        ("ru", 1, "{n} сообщение"),
        ("ru", 22, "{n} сообщения"),
        ("ru", 11, "{n} сообщений"),
        ("en", 0, "{n} messages"),
    ],
)
def test_plural_forms_follow_the_language(chosen: str, n: int, expected: str) -> None:
    language.use(chosen)
    assert language.ngettext("{n} message", "{n} messages", n) == expected


def test_a_text_of_a_lesson_is_found_by_its_context(tmp_path: Path) -> None:
    folder = tmp_path / "lessons" / "a_lesson"
    folder.mkdir(parents=True)
    entry = 'msgctxt "check:a:b:hint"\nmsgid "Look."\nmsgstr "Regardez."\n'
    (folder / "fr.po").write_text('msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n' + entry)
    language.use("fr")
    assert language.lesson_text("a-lesson", "check:a:b:hint", "Look.") == "Regardez."
    assert language.lesson_text("a-lesson", "check:a:c:hint", "Look.") == "Look."
    assert language.lesson_text("another", "check:a:b:hint", "Look.") == "Look."
    assert language.lesson_text("a-lesson", "check:a:b:hint", "") == ""
    language.use("en")
    assert language.lesson_text("a-lesson", "check:a:b:hint", "Look.") == "Look."


def test_a_catalog_is_read_again_when_it_was_changed(catalogs: Path) -> None:
    language.use("fr")
    assert language._("Yes") == "Oui"
    path = catalogs / "fr.po"
    before = path.stat().st_mtime_ns
    path.write_text(path.read_text(encoding="utf-8").replace("Oui", "Si"), encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))
    assert language._("Yes") == "Si"


@pytest.mark.parametrize(
    ("chosen", "value", "digits", "expected"),
    [
        ("fr", 10000.5, None, "10\u202f000,5"),
        ("ru", 1234567, None, "1\u202f234\u202f567"),
        ("fr", 2, 1, "2,0"),
        ("fr", 2.46, 1, "2,5"),
        ("ru", 3, 0, "3"),
        ("en", 10000.5, None, "10,000.5"),
    ],
)
def test_numbers_are_written_as_the_reader_does(chosen: str, value: float, digits: int | None, expected: str) -> None:
    language.use(chosen)
    assert language.number(value, digits) == expected


def test_spanish_groups_digits_with_a_space(catalogs: Path) -> None:
    (catalogs / "es.po").write_text(catalog("Sí", "nplurals=2; plural=(n != 1);", "a", "b"), encoding="utf-8")
    language.use("es")
    assert language.number(10000.5) == "10\u202f000,5"


def test_importing_loads_no_babel() -> None:
    code = "import helpers.lab.language, sys; print('babel' in sys.modules)"
    command = [sys.executable, "-c", code]
    root = Path(language.__file__).resolve().parents[2]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
