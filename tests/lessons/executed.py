"""A lesson's notebook, run by papermill with chosen parameters, or as it is stored."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbformat.v4 import new_code_cell

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

Outputs = tuple[dict[str, Any], dict[str, list[Any]]]
"""The outcome of a lesson, and the data of its outputs by cell."""

# As in a kernel that has just started, in the folder of the edition: to start one takes as long as half a lesson. That
# lessons run in a fresh one, nbval shows.
_FRESH = """
import os
if "lab" in globals():
    lab.close()
get_ipython().run_line_magic("reset", "-sf")
import os
from helpers.lab import language
os.chdir({folder!r})
language.use()
"""


@functools.cache
def _kernel() -> AsyncKernelManager:
    return AsyncKernelManager(kernel_name="python3")


def end_kernel() -> None:
    """Call it when nothing more is executed."""
    if _kernel.cache_info().currsize and _kernel().has_kernel:
        run_sync(_kernel().shutdown_kernel)()
    _kernel.cache_clear()


def execute(lesson: str, language: str, folder: Path, without: tuple[str, ...] = (), **parameters: Any) -> Outputs:
    """Run one edition of a lesson (its folder in lessons/), without the cells whose ids begin so, in the one kernel."""
    notebook = _edition(lesson, language)
    given = nbformat.read(str(notebook), as_version=4)
    given.cells = [cell for cell in given.cells if not cell["id"].startswith(without)] if without else given.cells
    given.cells.insert(0, new_code_cell(_FRESH.format(folder=str(notebook.parent)), id="fresh"))
    nbformat.write(given, str(folder / "given.ipynb"))
    executed = papermill.execute_notebook(
        str(folder / "given.ipynb"),
        str(folder / "executed.ipynb"),
        parameters=parameters,
        cwd=str(notebook.parent),
        progress_bar=False,
        kernel_name="python3",
        km=_kernel(),
        request_save_on_cell_execute=False,  # to check and write the notebook takes longer than to run a cell
    )
    return _read(executed)


def stored(lesson: str, language: str) -> Outputs:
    """What one edition of a lesson shows as it is given: nbval runs it, and compares it with what is stored."""
    return _read(nbformat.read(str(_edition(lesson, language)), as_version=4))


def _edition(lesson: str, language: str) -> Path:
    (notebook,) = (NOTEBOOKS / language).glob(f"*_{lesson}.ipynb")
    return notebook


def _read(notebook: nbformat.NotebookNode) -> Outputs:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    bundles = {cell["id"]: [output["data"] for output in cell["outputs"] if "data" in output] for cell in code}
    (last,) = (cell["id"] for cell in code if "outcome" in cell.metadata.get("tags", []))
    (outcome,) = (bundle["application/json"] for bundle in bundles[last] if "application/json" in bundle)
    return json.loads(json.dumps(outcome)), bundles
