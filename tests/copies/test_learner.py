"""The learner's copies: made without answers, never overwritten, begun afresh on request."""

from __future__ import annotations

import datetime
import errno
import os
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from helpers.copies import copying, notebook_file
from helpers.copies.copying import free_name, start_afresh
from helpers.copies.learner import Copies, NoSuchCopy, opened_page
from tests.copies.conftest import SmallCourse, run_all, type_into

ROOT = Path(__file__).resolve().parents[2]
LESSON = "fr/02_idempotent_consumer.ipynb"


def texts(path: Path) -> list[str]:
    notebook = notebook_file.read(path)
    assert notebook is not None
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def test_copies_hold_the_cells_and_no_answers(course: SmallCourse) -> None:
    assert course.copies.refresh() == []
    made = {path.relative_to(course.root / "work").as_posix() for path in (course.root / "work").rglob("*.ipynb")}
    stored = course.root / "notebooks"
    assert made == {path.relative_to(stored).as_posix() for path in stored.rglob("*.ipynb")}
    for name in made:
        assert texts(course.copy(name)) == texts(course.root / "notebooks" / name)
        assert "the answer" not in course.copy(name).read_text(encoding="utf-8")
    assert not list((course.root / "work").rglob("*.new"))


def test_a_copy_has_the_form_that_nbformat_writes(tmp_path: Path) -> None:
    """So that an editor which saves it unchanged leaves it unchanged."""
    stored = ROOT / "notebooks" / LESSON
    start_afresh(stored, tmp_path / "copy.ipynb")
    written = (tmp_path / "copy.ipynb").read_text(encoding="utf-8")
    notebook = nbformat.reads(written, 4)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook).rstrip("\n") + "\n" == written
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.parametrize("change", [lambda copy: type_into(copy, "mine"), run_all], ids=["typed", "ran"])
def test_a_copy_somebody_worked_in_is_announced_and_never_overwritten(
    course: SmallCourse, change: Callable[[Path], None]
) -> None:
    course.copies.refresh()
    copy = course.copy(LESSON)
    change(copy)
    before = copy.read_bytes()
    assert course.copies.refresh() == [], "nothing has changed in the lesson"
    course.store(LESSON, "answer = 43")
    [announced] = course.copies.refresh()
    assert (announced.lesson, announced.language, announced.state) == ("idempotent-consumer", "fr", "older")
    assert copy.read_bytes() == before


def test_a_copy_nobody_touched_follows_the_course_silently(course: SmallCourse) -> None:
    course.copies.refresh()
    course.store(LESSON, "answer = 43")
    assert course.copies.refresh() == []
    assert texts(course.copy(LESSON)) == ["answer = 43"]
    assert course.kept() == []


def test_a_lesson_that_only_ran_again_has_not_changed(course: SmallCourse) -> None:
    course.copies.refresh()
    type_into(course.copy(LESSON), "mine")
    stored = course.root / "notebooks" / LESSON
    stored.write_text(stored.read_text(encoding="utf-8").replace("the answer", "another"), encoding="utf-8")
    assert course.copies.refresh() == []


def test_afresh_keeps_the_old_copy_beside_the_new_one_with_its_date(course: SmallCourse) -> None:
    course.copies.refresh()
    today = datetime.date.today().isoformat()
    for number in (1, 2):
        type_into(course.copy(LESSON), f"mine {number}")
        kept = course.copies.lesson("idempotent-consumer", "fr").start_afresh()
        assert kept is not None
        assert kept.parent == course.copy(LESSON).parent
        assert texts(kept) == [f"mine {number}"]
        assert texts(course.copy(LESSON)) == ["answer = 42  # fr"]
    assert course.kept() == [f"02_idempotent_consumer_{today}.ipynb", f"02_idempotent_consumer_{today}_2.ipynb"]
    assert course.copies.refresh() == []


def test_afresh_keeps_nothing_of_a_copy_nobody_touched(course: SmallCourse) -> None:
    course.copies.refresh()
    assert course.copies.lesson("2", "fr").start_afresh() is None
    assert course.copies.lesson("01_order_file", "ru").start_afresh() is None
    assert course.kept() == course.kept("ru") == []


CELL = '{"cell_type": "code", "source": "x", "metadata": null}'


DAMAGED = (
    *("", "not a notebook", "[1]", '{"cells": [{"source": "x"}]}', '{"cells": 1}', '{"cells": {}}', "[" * 100_000),
    *('{"cells": [], "metadata": null}', '{"cells": [], "metadata": []}', f'{{"cells": [{CELL}]}}'),
)


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_copy_is_announced_and_kept(course: SmallCourse, text: str) -> None:
    course.copies.refresh()
    course.copy(LESSON).write_text(text, encoding="utf-8")
    assert [copy.state for copy in course.copies.refresh()] == ["unreadable"]
    kept = course.copies.lesson("2", "fr").start_afresh()
    assert kept is not None
    assert kept.read_text(encoding="utf-8") == text


def test_a_folder_with_the_name_of_a_copy_is_kept_too(course: SmallCourse) -> None:
    for name in (LESSON, "fr/index.ipynb"):
        course.copy(name).mkdir(parents=True)
        (course.copy(name) / "mine.txt").touch()
    assert [copy.state for copy in course.copies.refresh()] == ["unreadable"]
    kept = course.copies.lesson("2", "fr").start_afresh()
    assert kept is not None
    assert (kept / "mine.txt").is_file()
    assert course.copy(LESSON).is_file()
    assert course.copy("fr/index.ipynb").is_file()


def test_a_copy_made_by_hand_is_compared_by_its_cells(course: SmallCourse) -> None:
    course.copies.refresh()
    course.copy(LESSON).write_bytes((course.root / "notebooks" / LESSON).read_bytes())
    assert course.copies.refresh() == []
    course.store(LESSON, "answer = 43")
    assert len(course.copies.refresh()) == 1


def test_a_page_that_was_only_run_follows_the_course_and_what_was_typed_there_is_kept(course: SmallCourse) -> None:
    course.copies.refresh()
    run_all(course.copy("index.ipynb"))
    type_into(course.copy("fr/index.ipynb"), "my notes")
    for page in ("index.ipynb", "fr/index.ipynb"):
        course.store(page, "[1](01_other.ipynb)")
    course.copies.refresh()
    for page in ("index.ipynb", "fr/index.ipynb"):
        assert texts(course.copy(page)) == ["[1](01_other.ipynb)"]
    [kept] = course.kept()
    assert texts(course.copy(f"fr/{kept}")) == ["my notes"]
    assert not list((course.root / "work").glob("index_*"))


def test_a_full_disk_leaves_the_old_copy_where_it_was(course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    course.copies.refresh()
    type_into(course.copy(LESSON), "mine")

    def full(path: Path, notebook: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(copying, "write", full)
    with pytest.raises(OSError, match="space"):
        course.copies.lesson("2", "fr").start_afresh()
    assert texts(course.copy(LESSON)) == ["mine"]
    assert course.kept() == []


@pytest.mark.parametrize(("lesson", "language", "known"), [("9", "fr", "order-file"), ("1", "de", "ru")])
def test_what_there_is_not(course: SmallCourse, lesson: str, language: str, known: str) -> None:
    with pytest.raises(NoSuchCopy) as unknown:
        course.copies.lesson(lesson, language)
    assert known in unknown.value.known


def test_the_page_to_begin_with(course: SmallCourse) -> None:
    course.copies.refresh()
    assert course.copies.page() == "work/index.ipynb"
    assert course.copies.page("fr") == "work/fr/index.ipynb"
    assert course.copies.page("es") == "work/index.ipynb"


def test_a_folder_knows_whether_it_holds_copies(course: SmallCourse) -> None:
    course.copies.refresh()
    for folder in ("work", "work/fr"):
        found = Copies.around(course.root / folder)
        assert found is not None
        assert found.root == course.root
    for folder in ("notebooks/fr", "notebooks", "work/projection", "work/projection/fr", "work/fr/more", "."):
        assert Copies.around(course.root / folder) is None, folder


def test_the_page_of_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "a.ipynb"
    page.touch()
    monkeypatch.chdir(tmp_path)
    assert opened_page({"JPY_SESSION_NAME": str(page)}) == page
    for other in ({}, {"JPY_SESSION_NAME": str(tmp_path / "gone.ipynb")}, {"JPY_SESSION_NAME": "0f3a"}):
        assert opened_page(other) == Path.cwd()


def test_a_date_and_a_number_make_a_free_name(tmp_path: Path) -> None:
    day = datetime.date(2030, 1, 2)
    first = free_name(tmp_path / "a.b.ipynb", tmp_path, day)
    assert first.name == "a.b_2030-01-02.ipynb"
    first.touch()
    assert free_name(tmp_path / "a.b.ipynb", tmp_path, day).name == "a.b_2030-01-02_2.ipynb"


def test_it_knows_the_notebooks_of_the_real_course() -> None:
    stored = {path.name for path in (ROOT / "notebooks" / "fr").glob("[0-9][0-9]_*.ipynb")}
    assert set(Copies(ROOT).lessons.values()) == stored
