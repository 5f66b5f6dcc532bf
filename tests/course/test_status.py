"""How far the translations are: counted against the source, with the place of the first text that waits."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.pofile import write_po

from helpers.course import catalogs
from helpers.course.__main__ import main
from helpers.course.entries import lesson_entries
from helpers.course.status import Status, status
from helpers.course.syllabus import Folders, Lesson


def said(folders: Folders, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[list[str]]]:
    """The exit code, and the columns of each line below the heads."""
    code = main(["--root", str(folders.root), "status", *arguments])
    return code, [line.split() for line in capsys.readouterr().out.splitlines()[1:]]


def test_a_course_that_is_translated_is_at_100_percent(folders: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = said(folders, capsys, "--check")
    assert code == 0
    assert ["fr", "all", "29", "0", "0", "100", "%"] in lines
    assert [line[0] for line in lines] == ["fr"] * 3 + ["ru"] * 3


def test_what_is_fuzzy_or_empty_is_counted_and_the_first_is_found(
    folders: Folders, lesson: Lesson, retranslate, capsys: pytest.CaptureFixture[str]
) -> None:
    path: Path = retranslate("fr", "title:5", "")
    catalog = catalogs.read(path)
    [changed] = [message for message in catalog if message.context == "title:6"]
    changed.flags.add("fuzzy")
    catalogs.write(path, catalog)
    found = status(path, lesson_entries(lesson), folders)
    assert (found.fuzzy, found.empty, found.total) == (1, 1, 22)
    place, _space, name = found.first.partition(" ")
    assert name == "[title:5]"
    line = int(place.rpartition(":")[2])
    assert path.read_text(encoding="utf-8").splitlines()[line - 2] == 'msgctxt "title:5"'
    assert said(folders, capsys)[0] == 0, "a table is no verdict"
    assert said(folders, capsys, "--check")[0] == 1
    assert said(folders, capsys, "--check", "--language", "ru")[0] == 0


def test_a_text_that_is_not_in_the_catalog_yet_is_empty(
    folders: Folders, lesson: Lesson, replace_in, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_in(lesson.folder / "lesson.md", "2. Count: how many?", "2. Count: how many?\n3. Go to the next room.")
    found = status(lesson.catalog("fr"), lesson_entries(lesson), folders)
    assert (found.empty, found.first) == (1, "lessons/small_lesson/fr.po, after `make i18n`: [title:7]")
    assert said(folders, capsys, "--language", "de")[1][-1] == ["de", "all", "0", "0", "30", "0", "%"]


def test_a_hundred_percent_is_only_said_when_nothing_waits() -> None:
    assert Status("fr", "lessons/a", 999, 0, 1).percent == 99


def test_a_template_has_the_texts_and_no_language(folders: Folders, lesson: Lesson) -> None:
    assert main(["--root", str(folders.root), "i18n"]) == 0
    text = lesson.template.read_text(encoding="utf-8")
    assert '"Language: \\n"' in text
    assert 'msgctxt "title:5"\nmsgid "' in text
    helpers = folders.template.read_text(encoding="utf-8")
    assert 'msgid_plural "{n} messages wait."\nmsgstr[0] ""\nmsgstr[1] ""' in helpers
    strings = {line for line in helpers.splitlines() if line.startswith("msgstr")}
    assert strings == {'msgstr ""', 'msgstr[0] ""', 'msgstr[1] ""'}


def test_a_catalog_as_other_programs_write_it_becomes_the_same_file(folders: Folders, lesson: Lesson) -> None:
    """With their headers and their line breaks, as from Poedit and Weblate."""
    path = lesson.catalog("fr")
    before = path.read_bytes()
    other = BytesIO()
    write_po(other, catalogs.read(path), width=60)
    assert b"Last-Translator" in other.getvalue()
    path.write_bytes(other.getvalue())
    assert main(["--root", str(folders.root), "i18n", "--language", "fr"]) == 0
    assert path.read_bytes() == before
