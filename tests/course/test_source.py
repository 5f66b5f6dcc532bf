from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.source import SourceError, read_cells, read_lesson
from helpers.course.syllabus import Folders, Lesson

HEAD = "---\njupytext:\n  text_representation:\n    format_name: myst\n---\n\n"


def test_cells_keep_their_ids_tags_and_metadata(lesson: Lesson) -> None:
    cells = read_lesson(lesson.folder).cells
    assert [cell.id for cell in cells] == ["title", "drawing", "parameters", "write-file", "run", "outcome"]
    assert cells[0].metadata == {"slideshow": {"slide_type": "slide"}}
    assert cells[2].metadata == {"tags": ["parameters"]}
    assert cells[5].metadata == {"tags": ["outcome"], "slideshow": {"slide_type": "skip"}}
    assert cells[2].source == "quantity = 2"


@pytest.mark.parametrize(
    ("body", "line", "what"),
    [
        ("words\n", 7, "no id"),
        ("```{code-cell} ipython3\nx = 1\n```\n", 8, "no id"),
        ('+++ {"id": "a"}\n\nwords\n\n```{code-cell} ipython3\n:id: a\n\nx = 1\n```\n', 12, "used already in line 9"),
        ('+++ {"id": "A b"}\n\nwords\n', 9, "not of the form"),
        ('+++ {"id": }\n\nwords\n', 7, "could not be read"),
        ("```{raw-cell}\n:id: a\n\nx\n```\n", 8, "raw cell"),
    ],
)
def test_a_wrong_cell_is_named_with_its_line(body: str, line: int, what: str) -> None:
    with pytest.raises(SourceError, match=what) as caught:
        list(read_cells(HEAD + body, Path("lessons/x/lesson.md")))
    assert str(caught.value).startswith(f"lessons/x/lesson.md:{line}:")


def test_widget_texts_have_the_contexts_that_the_lab_looks_up(lesson: Lesson) -> None:
    contexts = [text.context for text in read_lesson(lesson.folder).texts]
    assert contexts == [
        "vocabulary:queue:word",
        "vocabulary:queue:meaning",
        "vocabulary:queue:model",
        "prediction:read:question",
        "prediction:read:0:text",
        "prediction:read:0:feedback",
        "check:read:title",
        "check:read:empty:text",
        "check:read:empty:hint",
        "check:read:empty:solution",
    ]


def test_broken_toml_is_named_with_its_line(folders: Folders, lesson: Lesson) -> None:
    path = lesson.folder / "lesson.toml"
    path.write_text('[[vocabulary]]\nid = "a\n', encoding="utf-8")
    with pytest.raises(SourceError, match=r"lesson.toml:2: not valid TOML"):
        read_lesson(lesson.folder)


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ('solution = "Run `purge()`."\n', "", "check:read:empty:solution"),
        ('solution = "Run `purge()`."\n', 'solution = " "\n', "check:read:empty:solution"),
        ('hint = "Run the cell again."\n', "", "check:read:empty:hint"),
        ('model = "`jobs`"\n', "", "vocabulary:queue:model"),
    ],
)
def test_a_point_without_solution_and_a_word_without_model_are_errors(
    lesson: Lesson, replace_in, old: str, new: str, missing: str
) -> None:
    replace_in(lesson.folder / "lesson.toml", old, new)
    with pytest.raises(SourceError, match=f"'{missing}' is missing or empty"):
        read_lesson(lesson.folder)


def test_a_widget_text_twice_is_an_error(lesson: Lesson, replace_in) -> None:
    path = lesson.folder / "lesson.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(f'{text}\n[[checks.items]]\nid = "empty"\ntext = "Again."\n', encoding="utf-8")
    with pytest.raises(SourceError, match="check:read:empty:text' is there twice"):
        read_lesson(lesson.folder)
