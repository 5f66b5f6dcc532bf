"""Each cell of each notebook says which part of the slides it is."""

from __future__ import annotations

import pytest

from helpers.course.notebook import lesson_notebook
from helpers.course.slideshow import TYPES, slide_type
from helpers.course.source import read_lesson
from helpers.course.syllabus import HERE, Lesson, read_course

LESSONS = read_course(HERE).lessons


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_each_cell_of_a_built_notebook_has_a_slide_type(lesson: Lesson) -> None:
    notebook = lesson_notebook(read_lesson(lesson.folder), lambda _context, text: text)
    types = {cell.id: cell.metadata["slideshow"]["slide_type"] for cell in notebook.cells}
    assert set(types.values()) <= set(TYPES)
    assert types["title"] == "slide"
    assert (types["parameters"], types["outcome"]) == ("skip", "skip")


def test_what_the_lesson_says_stands_before_what_follows_from_the_kind() -> None:
    assert slide_type("markdown", {}) == "subslide"
    assert slide_type("code", {}) == "-"
    assert slide_type("code", {"tags": ["outcome"]}) == "skip"
    assert slide_type("markdown", {"slideshow": {"slide_type": "slide"}}) == "slide"
    assert slide_type("code", {"tags": ["outcome"], "slideshow": {"slide_type": "-"}}) == "-"
