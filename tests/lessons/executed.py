"""A lesson's notebook, run by papermill with chosen parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import papermill

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def execute(lesson: str, language: str, folder: Path, **parameters: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Run one edition of a lesson (its folder in lessons/). Returns its outcome, and the data of outputs by cell."""
    (notebook,) = (NOTEBOOKS / language).glob(f"*_{lesson}.ipynb")
    executed = papermill.execute_notebook(
        str(notebook),
        str(folder / "executed.ipynb"),
        parameters=parameters,
        cwd=str(notebook.parent),
        progress_bar=False,
        kernel_name="python3",
    )
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    bundles = {cell["id"]: [output["data"] for output in cell["outputs"] if "data" in output] for cell in code}
    (last,) = (cell["id"] for cell in code if "outcome" in cell.metadata.get("tags", []))
    (outcome,) = (bundle["application/json"] for bundle in bundles[last] if "application/json" in bundle)
    return json.loads(json.dumps(outcome)), bundles
