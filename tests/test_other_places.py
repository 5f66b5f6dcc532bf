"""The course in a folder with Cyrillic letters, accents and spaces, without UTF-8 around it and without `fork`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from helpers.course.execute import CELL_TIMEOUT, environment
from helpers.course.kernel_ports import kernel_config

pytestmark = pytest.mark.early

ROOT = Path(__file__).resolve().parents[1]
PAGE = "notebooks/ru/01_order_file.ipynb"

# What macOS and Windows lack or do otherwise. The kernel itself has forked nothing yet.
_FIRST_CELL = """
import locale, multiprocessing, os, sys
multiprocessing.set_start_method("spawn")
for name in ("fork", "forkpty"):
    if hasattr(os, name):
        delattr(os, name)
print(sys.flags.utf8_mode, locale.getpreferredencoding(False), sys.getfilesystemencoding())
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a lesson needs, in such a folder."""
    root = tmp_path_factory.mktemp("places") / "Курс été niño"
    for folder in ("helpers", "lessons"):
        shutil.copytree(ROOT / folder, root / folder)
    (root / PAGE).parent.mkdir(parents=True)
    shutil.copy(ROOT / PAGE, root / PAGE)
    return root


@pytest.fixture(scope="module")
def executed(course: Path, tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    """The lesson, run there from start to end in a kernel that knows ASCII only."""
    notebook = nbformat.read(course / PAGE, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(_FIRST_CELL))
    variables = environment(os.environ, str(tmp_path_factory.mktemp("répо nses")), "ru", course)
    del variables["ONCE_LANGUAGE"]  # the folder says it
    variables |= {"PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C", "PYTHONPATH": str(course)}
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        store_widget_state=False,
        resources={"metadata": {"path": str((course / PAGE).parent)}},
        config=kernel_config(),
    )
    client.execute(env=variables)
    return notebook


def test_the_kernel_was_without_utf_8(executed: nbformat.NotebookNode) -> None:
    (said,) = executed.cells[0].outputs
    assert said.text.split()[0] == "0"
    if os.name == "posix":
        assert "utf" not in said.text.lower(), "LC_ALL=C and PYTHONUTF8=0 reached the kernel"


def test_the_lesson_shows_what_it_shows_elsewhere(executed: nbformat.NotebookNode) -> None:
    stored = nbformat.read(ROOT / PAGE, as_version=4)
    different = []
    for here, there in zip(executed.cells[1:], stored.cells, strict=True):
        if here.cell_type == "code" and shown(here) != shown(there):
            different.append(f"{here.id}: {shown(here)[:300]} instead of {shown(there)[:300]}")
    assert different == []


def shown(cell: nbformat.NotebookNode) -> str:
    """What a cell has written and shown, as plain text."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(texts)
