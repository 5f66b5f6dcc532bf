"""A notebook that takes no time, as a job of a grid."""

from __future__ import annotations

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from helpers.grid.one import Job
from helpers.grid.plan import Run, runs

_OUTCOME = """
from IPython.display import JSON
JSON({"accepted": number, "refused": 0, "orders": [{}], "language": os.environ["ONCE_LANGUAGE"]})
"""


def notebook(work: str) -> str:
    """`work` can use `number`, the parameter of the run."""
    cells = [
        new_code_cell("number = 0", id="parameters", metadata={"tags": ["parameters"]}),
        new_code_cell(f"import os\n{work}", id="work"),
        new_code_cell(_OUTCOME, id="outcome", metadata={"tags": ["outcome"]}),
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return nbformat.writes(new_notebook(cells=cells, metadata=kernel))


def plan(*numbers: int) -> list[Run]:
    return runs({"number": numbers}, "")


def job(run: Run, work: str = "", course: str = "") -> Job:
    return Job(run.key, notebook(work), run.values, "ru", course)
