from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output

from helpers.course.exceptions import Exceptions
from helpers.course.gates import check_course
from helpers.course.pseudo import (
    LANGUAGE,
    in_brackets,
    pseudo_course,
    unseen,
    unseen_in,
    unseen_in_html,
    unseen_in_outputs,
)
from helpers.course.source import Cell, read_lesson
from helpers.course.syllabus import Folders, Lesson, languages
from helpers.lab.language import read_catalog


def test_every_word_of_a_lesson_passes_through_the_catalogs(lesson: Lesson) -> None:
    assert list(unseen(read_lesson(lesson.folder))) == []


@pytest.mark.parametrize(
    "source",
    ["words", "⟦a⟧ words", "# ⟦a⟧\n\nwords", "| ⟦a⟧ | words |\n| - | - |", "<b>words</b>", "```text\nwords\n```"],
)
def test_words_outside_of_brackets_are_found_in_prose(source: str) -> None:
    assert list(unseen_in(Cell("a", "markdown", source, {}, 1))) == ["words"]


@pytest.mark.parametrize(
    "source", ["⟦words⟧ `code` 4", "<b>⟦words⟧</b>", "```json\n[1, null]\n```", "```python\nname = 1  # ⟦words⟧\n```"]
)
def test_brackets_code_and_tags_pass(source: str) -> None:
    assert list(unseen_in(Cell("a", "markdown", source, {}, 1))) == []


def test_comments_outside_of_brackets_are_found_in_code() -> None:
    assert list(unseen_in(Cell("a", "code", "x = 1  # words", {}, 1))) == ["words"]
    assert list(unseen_in(Cell("a", "markdown", "```python\nx = 1  # words\n```", {}, 1))) == ["words"]
    assert list(unseen_in(Cell("a", "code", "x = 1  # ⟦words⟧\n# noqa", {}, 1))) == []


def shows(html: str) -> list[str]:
    cell = new_code_cell("x", outputs=[new_output("display_data", data={"text/html": html})])
    return list(unseen_in_outputs(cell, Exceptions(names=("SQS",))))


def test_words_outside_of_brackets_are_found_in_outputs() -> None:
    assert shows("<p>⟦all⟧ <b>words</b></p><td>⟦a ⟦b⟧⟧: 4</td>") == ["words"]
    assert shows('<td aria-label="words" title="⟦a⟧">⟦b⟧</td>') == ["words"]
    assert shows("<p>⟦a⟧ <code>name</code> `name` SQS 4 ✓</p><style>p {color: red}</style>") == []


def test_the_copy_of_a_course_speaks_the_pseudo_language_alone(folders: Folders, tmp_path: Path) -> None:
    copy = pseudo_course(folders, tmp_path / "copy")
    assert languages(copy) == (LANGUAGE,)
    assert sorted(path.name for path in copy.root.rglob("*.po")) == ["eo.po", "eo.po"]
    texts = read_catalog(copy.locale / "eo.po")
    assert texts.gettext("Lesson") == "⟦Lesson⟧"
    assert texts.ngettext("{n} message waits.", "{n} messages wait.", 2) == "⟦{n} messages wait.⟧"
    assert [str(failure) for failure in check_course(copy)] == []


def test_the_language_is_brackets() -> None:
    assert in_brackets("a:0", "words") == "⟦words⟧"


def test_what_a_script_holds_is_not_shown_and_plain_lines_are_looked_at() -> None:
    exceptions = Exceptions(names=("Python",))
    script = """<script>'aria-label="words"'; say("words")</script>⟦a⟧"""
    assert list(unseen_in_html(script, exceptions)) == []
    lines = "✓ ⟦The disk has {free} MB.⟧\n  → words\n✓ Python 3.11\n`code`"
    assert list(unseen_in_html(lines, exceptions)) == ["→ words"]
