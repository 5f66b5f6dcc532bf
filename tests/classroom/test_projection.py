"""The copy for the projector: without answers, and nothing that somebody typed is lost."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from helpers.classroom.__main__ import main
from helpers.classroom.projection import fresh_answers, prepare
from helpers.course.notebook import lesson_notebook, to_bytes
from helpers.course.source import read_lesson
from helpers.course.syllabus import HERE, read_course
from helpers.lab import language as language_module
from helpers.launcher import words
from helpers.launcher.terminal import command

STORED = HERE.notebooks / "fr" / "02_idempotent_consumer.ipynb"


def test_the_copy_has_the_cells_and_no_answers(tmp_path: Path) -> None:
    copy, kept = prepare(STORED, tmp_path)
    notebook, stored = nbformat.read(copy, 4), nbformat.read(STORED, 4)
    wanted = [(cell.id, cell.source) for cell in stored.cells if "cli" not in cell.metadata.get("tags", [])]
    assert [(cell.id, cell.source) for cell in notebook.cells] == wanted
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    assert kept is None
    text = copy.read_text(encoding="utf-8")
    assert "teaching" not in text


def test_a_second_class_gets_a_fresh_copy_and_what_was_typed_is_kept(tmp_path: Path) -> None:
    copy, _ = prepare(STORED, tmp_path)
    fresh = copy.read_bytes()
    for number in (1, 2):
        copy.write_bytes(fresh.replace(b"lab.view()", b"lab.view()  # typed"))
        again, kept = prepare(STORED, tmp_path)
        assert again.read_bytes() == fresh
        assert kept is not None
        end = "" if number == 1 else "_2"
        assert kept.parent == tmp_path / "kept"
        assert re.fullmatch(rf"02_idempotent_consumer_\d{{4}}-\d\d-\d\d{end}\.ipynb", kept.name)
        assert b"# typed" in kept.read_bytes()
    copy.write_text("not a notebook", encoding="utf-8")
    _, kept = prepare(STORED, tmp_path)
    assert kept is not None
    assert kept.read_text(encoding="utf-8") == "not a notebook"


def test_a_copy_that_was_only_run_is_simply_made_again(tmp_path: Path) -> None:
    copy, _ = prepare(STORED, tmp_path)
    fresh = copy.read_bytes()
    ran = nbformat.read(copy, 4)
    results = {cell.id: cell.outputs for cell in nbformat.read(STORED, 4).cells if cell.cell_type == "code"}
    for cell in ran.cells:
        if cell.cell_type == "code":
            cell.outputs = results[cell.id]
    nbformat.write(ran, copy)
    assert prepare(STORED, tmp_path) == (copy, None)
    assert copy.read_bytes() == fresh


def test_predictions_of_an_earlier_class_are_out_of_the_way(tmp_path: Path) -> None:
    answers, kept = fresh_answers(tmp_path)
    assert (answers, kept) == (tmp_path / "answers", None)
    (answers / "prediction.txt").write_text("2", encoding="utf-8")
    answers, kept = fresh_answers(tmp_path)
    assert list(answers.iterdir()) == []
    assert kept is not None
    assert (kept / "prediction.txt").read_text(encoding="utf-8") == "2"


@pytest.mark.parametrize(
    "wrong",
    [[], ["--lesson", "idempotent-consumer"], ["--lesson", "no-such", "--language", "fr"], ["--language", "xx"],
     ["--lesson", "order-file", "--language", "en"]],
)  # fmt: skip
def test_a_wrong_lesson_or_language_says_which_there_are(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["project", *wrong]) == 1
    said = capsys.readouterr().err
    assert "order-file, idempotent-consumer, protected-workflow" in said
    assert "es, fr, ru" in said
    assert command("project", lesson=read_course(HERE).lessons[-1].slug, language="es") in said


@pytest.mark.parametrize("language", ["fr", "ru", "es"])
def test_what_is_wrong_is_said_in_the_language_of_the_class(
    language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_module, "_current", "en")
    assert main(["slides", "--lesson", "no-such", "--language", language]) == 1
    assert main(["slides", "--lesson", "1", "--language", language, "--output", __file__]) == 1
    monkeypatch.setattr(words, "_translations", {})
    said = capsys.readouterr().err
    assert "There is no lesson" not in said
    assert "Next:" not in said


@pytest.mark.parametrize("command_line", ["slides", "handouts --no-pdf"])
@pytest.mark.parametrize(
    ("number", "expected"), [(errno.ENOSPC, "The disk is full"), (errno.EROFS, "cannot be written to")]
)
def test_a_folder_that_takes_nothing_is_explained(
    command_line: str, number: int, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def refuse(path: Path, *_arguments: object, **_more: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(words, "read_messages", lambda path: {})
    monkeypatch.setattr(Path, "write_text", refuse)
    assert main([*command_line.split(), "--lesson", "1", "--language", "fr", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert expected in said
    assert str(tmp_path / "fr") in said
    assert "\nNext: " in said


@pytest.mark.parametrize("command_line", ["slides", "project"])
def test_a_missing_notebook_is_named(
    command_line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "read_messages", lambda path: {})
    shutil.copytree(HERE.lessons, tmp_path / "lessons")
    assert main(["--root", str(tmp_path), command_line, "--lesson", "1", "--language", "fr"]) == 1
    said = capsys.readouterr().err
    assert "The file notebooks/fr/01_order_file.ipynb is missing.\nNext: " in said


def test_the_class_sees_no_cli_forms(tmp_path: Path) -> None:
    lesson = read_course(HERE).lesson("idempotent-consumer")
    stored = tmp_path / "lesson.ipynb"
    stored.write_bytes(to_bytes(lesson_notebook(read_lesson(lesson.folder), lambda _, text: text)))
    copy, _ = prepare(stored, tmp_path / "copy")
    assert "<details>" in stored.read_text(encoding="utf-8")
    assert "<details>" not in copy.read_text(encoding="utf-8")
