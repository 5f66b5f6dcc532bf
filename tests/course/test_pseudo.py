from __future__ import annotations

import pytest

from helpers.course.pseudo import in_brackets, unseen, unseen_in
from helpers.course.source import Cell, read_lesson
from helpers.course.syllabus import Lesson


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


def test_the_language_is_brackets() -> None:
    assert in_brackets("a:0", "words") == "⟦words⟧"
