from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course import execute as module
from helpers.course.execute import ExecutionError, environment, execute
from helpers.course.notebook import notebook_of
from helpers.course.source import Cell
from helpers.course.syllabus import HERE


def notebook(*sources: str, tags: tuple[str, ...] = ()):
    cells = [Cell(f"cell-{n}", "code", source, {"tags": list(tags)}, 1) for n, source in enumerate(sources)]
    return notebook_of(cells)


def test_cells_run_in_the_folder_with_their_language_and_an_empty_home(tmp_path: Path) -> None:
    source = (
        "import os, pathlib\n"
        "from helpers.lab.language import current\n"
        "home = os.environ['ONCE_HOME']\n"
        "print(current(), pathlib.Path.cwd().name, os.listdir(home), home != os.getcwd())\n"
    )
    run = notebook(source)
    execute(run, tmp_path / "ru", "ru")
    assert run.cells[0].outputs[0].text == "ru ru [] True\n"
    assert "execution" not in run.cells[0].metadata


def test_an_error_names_its_cell(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="ZeroDivisionError") as caught:
        execute(notebook("x = 1", "x / 0", "x = 2"), tmp_path, "fr")
    assert caught.value.cell == "cell-1"


def test_an_endless_cell_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CELL_TIMEOUT", 1)
    with pytest.raises(ExecutionError, match="longer than 1 s") as caught:
        execute(notebook("x = 1", "while True:\n    pass"), tmp_path, "fr")
    assert caught.value.cell == "cell-1"


def test_a_dead_kernel_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="the kernel died") as caught:
        execute(notebook("import os\nos._exit(1)"), tmp_path, "fr")
    assert caught.value.cell == "cell-0"


def test_nothing_of_a_learner_or_an_account_reaches_the_kernel() -> None:
    mine = {"AWS_PROFILE": "mine", "JPY_SESSION_NAME": "es/x", "ONCE_LANGUAGE": "es", "PATH": "p", "PYTHONPATH": "q"}
    found = environment(mine, "home", "fr")
    assert "AWS_PROFILE" not in found
    assert "JPY_SESSION_NAME" not in found
    assert (found["ONCE_LANGUAGE"], found["ONCE_HOME"], found["PATH"]) == ("fr", "home", "p")
    assert found["PYTHONPATH"].startswith(str(HERE.root))
