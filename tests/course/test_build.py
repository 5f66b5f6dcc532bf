from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output

from helpers.course.build import BuildError, build, build_index, differences, finished, write
from helpers.course.notebook import lesson_notebook, to_bytes
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


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The languages that ran, without kernels: each code cell prints the language."""
    languages: list[str] = []

    def execute(notebook: NotebookNode, folder: Path, language: str, root: Path) -> None:
        languages.append(language)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [new_output("stream", name="stdout", text=language)]

    monkeypatch.setattr("helpers.course.build.execute", execute)
    return languages


@pytest.mark.parametrize(
    ("output", "what"),
    [
        (new_output("stream", name="stdout", text="ru"), None),
        (new_output("stream", name="stdout", text="from the end"), "English: from the end"),
        (new_output("stream", name="stderr", text="ru"), "output on stderr"),
        (new_output("display_data", {"text/plain": "ru"}), "other kinds of outputs than a run gives"),
        (new_output("display_data", {"text/plain": "ru"}, metadata={"isolated": True}), "other kinds of outputs"),
    ],
)
def test_a_lesson_that_ran_in_another_language_takes_the_outputs_that_are_stored(
    folders: Folders, tmp_path: Path, ran: list[str], output: NotebookNode, what: str | None
) -> None:
    lessons = read_course(folders).lessons
    everything = build(folders, lessons, ("fr", "ru"), tmp_path)
    write(everything, tmp_path)
    assert sorted(ran) == ["fr", "ru"]
    path = tmp_path / "ru" / "01_small_lesson.ipynb"
    stored = nbformat.read(path, nbformat.NO_CONVERT)
    stored.cells[2].outputs = [output]
    path.write_bytes(to_bytes(stored))
    elsewhere = {lessons[0].slug: nbformat.read(tmp_path / "fr" / "01_small_lesson.ipynb", nbformat.NO_CONVERT)}
    if what is None:
        assert build(folders, lessons, ("fr", "ru"), tmp_path, stored=tmp_path, ran=elsewhere) == everything
    else:
        with pytest.raises(BuildError, match=what):
            build(folders, lessons, ("fr", "ru"), tmp_path, stored=tmp_path, ran=elsewhere)
    assert ran[2:] == [], "nothing runs here"


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


INDEX_PAGES = ("index.ipynb", "fr/index.ipynb", "ru/index.ipynb")


def test_only_what_changed_is_written(folders: Folders, tmp_path: Path) -> None:
    output = tmp_path / "notebooks"
    built = build_index(folders, read_course(folders), ("fr", "ru"), output, run=False)
    assert write(built, output) == [output / name for name in INDEX_PAGES]
    assert write(built, output) == []
    assert sorted(path for path in output.rglob("*") if path.is_file()) == sorted(output / n for n in INDEX_PAGES)


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


def test_the_index_runs_as_for_a_learner_who_has_not_begun(folders: Folders, tmp_path: Path) -> None:
    built = build_index(folders, read_course(folders), ("fr", "ru"), tmp_path / "notebooks")
    index = json.loads(built[Path("index.ipynb")])
    shown = {cell["id"]: cell["outputs"][0]["data"] for cell in index["cells"] if cell["cell_type"] == "code"}
    assert list(shown) == ["fr-progress", "ru-progress"]
    assert "0 sur 5" in "".join(shown["fr-progress"]["text/plain"])
    assert "0 из 5" in "".join(shown["ru-progress"]["text/html"])
    for language in ("fr", "ru"):
        page = json.loads(built[Path(language, "index.ipynb")])
        (cell,) = [cell for cell in page["cells"] if cell["cell_type"] == "code"]
        data = shown[f"{language}-progress"]
        lower = [line.replace('<a href="', '<a href="../') for line in data["text/html"]]
        assert cell["outputs"][0]["data"] == data | {"text/html": lower}, "the links begin at the folder above"
        assert (cell["execution_count"], cell["outputs"][0]["execution_count"]) == (1, 1)
