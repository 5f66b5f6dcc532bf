from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output

from helpers.course.build import BuildError, build, build_index, differences, finished, write
from helpers.course.notebook import lesson_notebook
from helpers.course.source import read_lesson
from helpers.course.syllabus import Folders, Lesson, read_course


def test_two_builds_are_the_same_to_the_byte(folders: Folders, tmp_path: Path) -> None:
    course = read_course(folders)
    first, second = (build(folders, course.lessons, ("fr", "ru"), tmp_path / place) for place in ("one", "other place"))
    assert first == second
    assert set(first) == {Path("fr/01_small_lesson.ipynb"), Path("ru/01_small_lesson.ipynb")}
    french, russian = (content.decode() for content in first.values())
    assert '"RESULT 4\\n",\n      "RESULT 6\\n"' in french
    assert "# encore la même tâche" in french
    assert "# снова то же задание" in russian
    assert str(tmp_path) not in french + russian


def test_a_notebook_with_an_error_is_not_built(folders: Folders, lesson: Lesson, replace_in, tmp_path: Path) -> None:
    replace_in(lesson.folder / "lesson.md", "quantity = 2\n", "quantity = 2\nquantity / 0\n")
    course = read_course(folders)
    with pytest.raises(BuildError, match="ZeroDivisionError") as caught:
        build(folders, course.lessons, ("fr",), tmp_path)
    [failure] = caught.value.failures
    assert (failure.file, failure.context) == ("fr/01_small_lesson.ipynb", "parameters")
    assert list(tmp_path.glob("**/0*.ipynb")) == []


def shown(lesson: Lesson, text: str) -> NotebookNode:
    """The notebook of the lesson, as if its code cells had printed `text`."""
    notebook = lesson_notebook(read_lesson(lesson.folder), lambda _, text: text)
    notebook.cells[2].outputs = [new_output("stream", name="stdout", text=text)]
    return notebook


@pytest.mark.parametrize(
    ("text", "what"),
    [("1764419704.5", "a time stamp"), ("Run the cell again.", "English: Run the cell again.")],
)
def test_an_output_that_may_not_be_stored_is_named(folders: Folders, lesson: Lesson, text: str, what: str) -> None:
    with pytest.raises(BuildError) as caught:
        finished(folders, lesson, "fr", shown(lesson, text))
    [failure] = caught.value.failures
    assert (failure.file, failure.context, failure.what[: len(what)]) == (
        "fr/01_small_lesson.ipynb",
        "parameters",
        what,
    )
    assert b"RESULT 4" in finished(folders, lesson, "fr", shown(lesson, "RESULT 4"))


def test_a_draft_may_be_in_english(folders: Folders, lesson: Lesson) -> None:
    assert b"Run the cell" in finished(folders, lesson, "fr", shown(lesson, "Run the cell again."), draft=True)


def test_only_what_changed_is_written(folders: Folders, tmp_path: Path) -> None:
    built = build_index(folders, read_course(folders), ("fr", "ru"))
    output = tmp_path / "notebooks"
    assert write(built, output) == [output / "index.ipynb"]
    assert write(built, output) == []
    assert [path.name for path in output.iterdir()] == ["index.ipynb"]


def test_differences_are_shown(tmp_path: Path) -> None:
    built = {Path("fr/01_a.ipynb"): b"one\ntwo\n"}
    write(built, tmp_path)
    assert list(differences(built, tmp_path, complete=True)) == []
    (tmp_path / "fr" / "01_a.ipynb").write_bytes(b"one\nold\n")
    (tmp_path / "fr" / "02_b.ipynb").write_bytes(b"")
    changed, extra = differences(built, tmp_path, complete=True)
    assert "-old\n+two" in changed
    assert extra == "notebooks/fr/02_b.ipynb: no lesson has this notebook; remove it"
    assert list(differences(built, tmp_path, complete=False)) == [changed]
    (tmp_path / "fr" / "01_a.ipynb").write_bytes(b"one\r\ntwo\r\n")
    assert list(differences(built, tmp_path, complete=False)) == ["notebooks/fr/01_a.ipynb: other line ends"]
