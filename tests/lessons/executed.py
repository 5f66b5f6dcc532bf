"""A lesson's notebook, run by papermill with chosen parameters, or as it is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import papermill

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

Outputs = tuple[dict[str, Any], dict[str, list[Any]]]
"""The outcome of a lesson, and the data of its outputs by cell."""


def execute(lesson: str, language: str, folder: Path, without: tuple[str, ...] = (), **parameters: Any) -> Outputs:
    """Run one edition of a lesson (its folder in lessons/), `without` the cells whose ids begin so."""
    notebook = _edition(lesson, language)
    given = nbformat.read(str(notebook), as_version=4)
    given.cells = [cell for cell in given.cells if not cell["id"].startswith(without)] if without else given.cells
    nbformat.write(given, str(folder / "given.ipynb"))
    executed = papermill.execute_notebook(
        str(folder / "given.ipynb"),
        str(folder / "executed.ipynb"),
        parameters=parameters,
        cwd=str(notebook.parent),
        progress_bar=False,
        kernel_name="python3",
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
