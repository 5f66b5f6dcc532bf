"""A stored notebook that is damaged: one message with the next step, and nothing is made from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from helpers.classroom.__main__ import main as classroom
from helpers.classroom.stored import stored_notebook
from helpers.copies.notebook_file import NotANotebook
from helpers.course.syllabus import HERE, Folders
from helpers.grid import __main__ as grid
from helpers.lab import language as language_module
from helpers.launcher import words

NAME = "fr/02_idempotent_consumer.ipynb"
WHOLE = (HERE.notebooks / NAME).read_text(encoding="utf-8")
HEAD = {"metadata": {}, "nbformat": 4, "nbformat_minor": 5}
NO_OUTPUTS = json.dumps({**HEAD, "cells": [{"cell_type": "code", "id": "a", "metadata": {}, "source": "1"}]})
NO_ID = json.dumps({**HEAD, "cells": [{"cell_type": "markdown", "metadata": {}, "source": "1"}]})
DAMAGED = {"empty": "", "cut off": WHOLE[:5000], "a list": "[1]", "no version": '{"cells": []}'}
PARTS = {"no outputs": NO_OUTPUTS, "no id": NO_ID}
"""The copy for the projector makes these anew."""
CASES = [
    *((command, text) for command in ("slides", "project", "experiment") for text in DAMAGED),
    *((command, text) for command in ("slides", "experiment") for text in PARTS),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(HERE.lessons, root / "lessons", ignore=shutil.ignore_patterns("handlers", "__pycache__"))
    for language in ("es", "fr"):
        shutil.copytree(HERE.notebooks / language, root / "notebooks" / language)
    (root / ".git").mkdir()
    return root


def run(command: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(language_module, "_current", "en")
    given = ["--lesson", "2", "--language", "fr"]
    if command != "experiment":
        return classroom(["--root", str(root), command, *(given if command == "project" else given[:2])])
    monkeypatch.setattr(grid, "HERE", Folders(root))
    return grid.main(given)


@pytest.mark.parametrize(("command", "text"), CASES)
def test_a_damaged_notebook_is_named_and_nothing_is_written(
    course: Path, command: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "notebooks" / NAME).write_text({**DAMAGED, **PARTS}[text], encoding="utf-8")
    monkeypatch.setattr(words, "read_messages", lambda path: {})
    before = sorted(course.rglob("*"))
    assert run(command, course, monkeypatch) == 1
    said = capsys.readouterr().err
    assert said == (
        f"Once: The file notebooks/{NAME} is damaged: it is not a whole notebook. Nothing was made from it.\n"
        f"Next: Bring back what is missing: `git checkout -- notebooks/{NAME}`.\n"
    )
    assert sorted(course.rglob("*")) == before


@pytest.mark.parametrize("command", ["project", "experiment"])
def test_it_is_said_in_the_language_of_the_class(
    course: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "notebooks" / NAME).write_text("", encoding="utf-8")
    assert run(command, course, monkeypatch) == 1
    monkeypatch.setattr(words, "_translations", {})
    said = capsys.readouterr().err
    assert f"notebooks/{NAME}" in said
    assert "is damaged" not in said
    assert "Next" not in said


def test_the_stored_notebooks_are_whole(tmp_path: Path) -> None:
    cells = stored_notebook(HERE.notebooks / NAME).cells
    assert all(isinstance(cell.source, str) for cell in cells)
    with pytest.raises(NotANotebook):
        stored_notebook(tmp_path)
