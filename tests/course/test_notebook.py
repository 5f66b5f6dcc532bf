from __future__ import annotations

import json

import nbformat
import pytest

from helpers.course.notebook import lesson_notebook, notebook_of, to_bytes
from helpers.course.source import Cell, read_lesson
from helpers.course.syllabus import Lesson


def test_a_notebook_has_the_ids_tags_and_slides_of_its_source(lesson: Lesson) -> None:
    notebook = lesson_notebook(read_lesson(lesson.folder), lambda _, text: text)
    assert [cell.id for cell in notebook.cells] == ["title", "drawing", "parameters", "write-file", "run", "outcome"]
    assert notebook.cells[5].metadata == {"tags": ["outcome"], "slideshow": {"slide_type": "skip"}}


def test_bytes_have_sorted_keys_no_versions_and_one_newline(lesson: Lesson) -> None:
    content = to_bytes(lesson_notebook(read_lesson(lesson.folder), lambda _, text: text))
    read = json.loads(content)
    assert content.endswith(b"}\n")
    assert b"\r" not in content
    assert json.dumps(read, sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n" == content
    assert "version" not in read["metadata"]["language_info"]
    assert (read["nbformat"], read["nbformat_minor"]) == (4, 5)


def test_two_notebooks_share_nothing() -> None:
    first, second = (notebook_of([Cell("a", "code", "1", {}, 1)]) for _ in range(2))
    first.metadata.kernelspec.name = "other"
    assert second.metadata.kernelspec.name == "python3"


def test_an_invalid_notebook_is_an_error() -> None:
    notebook = notebook_of([Cell("a", "code", "1", {}, 1)])
    notebook.cells[0].outputs = [{"output_type": "nothing"}]
    with pytest.raises(nbformat.ValidationError):
        to_bytes(notebook)
