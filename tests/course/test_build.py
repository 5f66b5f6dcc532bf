from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.build import BuildError, build, build_index, differences, write
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


@pytest.mark.parametrize(
    ("code", "what"),
    [("print(__import__('time').time())", "a time stamp"), ("quantity / 0", "ZeroDivisionError")],
)
def test_a_notebook_that_may_not_be_stored_is_not_built(
    folders: Folders, lesson: Lesson, replace_in, tmp_path: Path, code: str, what: str
) -> None:
    replace_in(lesson.folder / "lesson.md", "quantity = 2\n", f"quantity = 2\n{code}\n")
    course = read_course(folders)
    with pytest.raises(BuildError, match=what) as caught:
        build(folders, course.lessons, ("fr",), tmp_path)
    [failure] = caught.value.failures
    assert (failure.file, failure.context) == ("fr/01_small_lesson.ipynb", "parameters")
    assert list(tmp_path.glob("**/0*.ipynb")) == []


def test_a_widget_text_in_english_is_found_in_the_outputs(
    folders: Folders, lesson: Lesson, replace_in, tmp_path: Path
) -> None:
    replace_in(lesson.folder / "lesson.md", "quantity = 2\n", 'quantity = 2\nprint("Run" + " the cell again.")\n')
    course = read_course(folders)
    with pytest.raises(BuildError, match="English: Run the cell again"):
        build(folders, course.lessons, ("fr",), tmp_path)
    [content] = build(folders, course.lessons, ("fr",), tmp_path, draft=True).values()
    assert b"Run the cell again" in content


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
