"""What the launcher does with the learner's copies, and what it says when it cannot."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from helpers.copies import copying
from helpers.launcher import command
from helpers.launcher.doctor import folders
from helpers.launcher.environment import Environment
from helpers.launcher.learner import course_view
from helpers.launcher.terminal import Trouble
from helpers.launcher.troubles import cannot_write
from tests.copies.conftest import SmallCourse, type_into

LESSON = "fr/02_idempotent_consumer.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> SmallCourse:
    made = SmallCourse(tmp_path / "Курс été niño")
    (made.root / ".venv").mkdir()
    return made


def test_a_copy_opens(course: SmallCourse, capsys: pytest.CaptureFixture[str]) -> None:
    environment = Environment(course.root)
    assert course_view(environment, None).page == "work/index.ipynb"
    assert course_view(environment, "fr").page == "work/fr/index.ipynb"
    assert course.copy(LESSON).is_file()
    assert capsys.readouterr().out == ""


def test_a_changed_lesson_is_announced_with_what_to_type(
    course: SmallCourse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "name", "posix")
    course_view(Environment(course.root), "fr")
    type_into(course.copy(LESSON), "mine")
    course.store(LESSON, "answer = 43")
    course_view(Environment(course.root), "fr")
    [said] = capsys.readouterr().out.splitlines()
    assert "work/fr/02_idempotent_consumer.ipynb stays as it is" in said
    assert said.endswith("`make fresh LESSON=idempotent-consumer LANG_=fr`.")

    line = said.split("`make ")[1].rstrip("`.").replace("LESSON=", "--lesson ").replace("LANG_=", "--language ")
    assert command.run(line.split(), course.root) == 0
    assert len(course.kept()) == 1
    said = capsys.readouterr().out
    assert f"kept: work/fr/{course.kept()[0]}" in said
    assert "new copy is ready: work/fr/02_idempotent_consumer.ipynb" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Say which lesson"),
        (["--lesson", "1"], "Say which lesson"),
        (["--lesson", "nine", "--language", "fr"], "order-file, idempotent-consumer"),
        (["--lesson", "1", "--language", "de"], "fr, ru"),
    ],
)
def test_a_wrong_name_says_which_there_are(
    course: SmallCourse, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(["fresh", *options], course.root) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "\nNext: " in said
    assert "fresh" in said.partition("Next: ")[2]
    assert not (course.root / "work").exists()


@pytest.mark.parametrize("name", ["notebooks/index.ipynb", "notebooks/fr/02_idempotent_consumer.ipynb"])
@pytest.mark.parametrize("text", ["", '{"cells": [', "[]", '{"cells": []}', '{"cells": [], "nbformat": 3}'])
def test_a_missing_or_damaged_file_of_the_course(course: SmallCourse, name: str, text: str) -> None:
    (course.root / ".git").mkdir(exist_ok=True)
    (course.root / name).write_text(text, encoding="utf-8")
    with pytest.raises(Trouble) as trouble:
        course_view(Environment(course.root), "fr")
    assert trouble.value.what.startswith(f"The file {name} is damaged")
    assert f"git checkout -- {name}" in trouble.value.next_step
    (course.root / "notebooks" / "index.ipynb").unlink()
    with pytest.raises(Trouble) as trouble:
        course_view(Environment(course.root), "fr")
    assert "git checkout -- notebooks/index.ipynb" in trouble.value.next_step


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "cannot be written to"), (errno.EACCES, "written")],
)
def test_a_folder_that_takes_nothing_is_explained(
    course: SmallCourse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int, words: str
) -> None:
    def refuse(path: Path, notebook: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(copying, "write", refuse)
    assert command.run(["fresh", "--lesson", "2", "--language", "fr"], course.root) == 1
    said = capsys.readouterr().err
    assert words in said
    assert str(course.root / "work" / "fr") in said
    assert "Then type the command again." in said


@pytest.mark.parametrize("name", ["work", "work/fr"])
@pytest.mark.parametrize("link", [False, True], ids=["file", "broken link"])
def test_a_file_where_a_folder_should_be(
    course: SmallCourse, capsys: pytest.CaptureFixture[str], name: str, link: bool
) -> None:
    file = course.root / name
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(course.root / "gone") if link else file.write_text("", encoding="utf-8")
    assert command.run(["fresh", "--lesson", "2", "--language", "fr"], course.root) == 1
    said = capsys.readouterr().err
    assert f"needs the folder {file}." in said
    assert "\nNext: Give it another name" in said
    with pytest.raises(OSError, match="exists"):
        course_view(Environment(course.root), "fr")
    [finding] = folders(course.root)
    assert (finding.outcome, str(file) in finding.words) == ("bad", True)


def test_a_lesson_whose_notebook_is_damaged_cannot_begin_afresh_and_the_copy_stays(
    course: SmallCourse, capsys: pytest.CaptureFixture[str]
) -> None:
    course_view(Environment(course.root), "fr")
    type_into(course.copy(LESSON), "mine")
    before = course.copy(LESSON).read_bytes()
    (course.root / "notebooks" / LESSON).write_text('{"cells": [', encoding="utf-8")
    assert command.run(["fresh", "--lesson", "2", "--language", "fr"], course.root) == 1
    said = capsys.readouterr().err
    assert f"The file notebooks/{LESSON} is damaged" in said
    assert "\nNext: " in said
    assert (course.copy(LESSON).read_bytes(), course.kept()) == (before, [])


def test_another_error_is_not_hidden() -> None:
    assert cannot_write(OSError(errno.EIO, "x"), Path()) is None
