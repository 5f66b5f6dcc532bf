"""What the executed notebooks say: each number is read from the outcome that a notebook holds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from helpers.grid.plan import Run, named
from helpers.grid.runner import Store
from helpers.lab.language import _


@dataclass(frozen=True, slots=True)
class Row:
    """One run that ended. `outcome` is empty and `error` says why when it went wrong. `wanted` counts the orders that
    the jobs asked for."""

    values: Mapping[str, Any]
    file: str
    outcome: Mapping[str, Any]
    error: str
    wanted: int

    @property
    def named(self) -> str:
        return named(self.values)

    @property
    def accepted(self) -> int:
        """The accepted writes."""
        return int(self.outcome["accepted"])

    @property
    def refused(self) -> int:
        return int(self.outcome["refused"])

    @property
    def right(self) -> bool:
        """Whether each order was written exactly once."""
        return self.accepted == self.wanted


def read_rows(plan: Sequence[Run], store: Store, wanted: int | None) -> list[Row]:
    """The runs of the plan that ended, in its order; what was not run yet is left out.

    `wanted`: how many orders the jobs ask for; None: the orders that the notebook found in the table.
    """
    found = []
    for run in plan:
        for path in (store.finished(run), store.failed(run)):
            if path.exists():
                found.append(_row(run, path, store, wanted))
                break
    return found


def to_csv(rows: Sequence[Row]) -> str:
    """One line for each run: its values, its counts, the error of a bad run, the executed notebook."""
    names = list(rows[0].values) if rows else []
    # What is counted is the same in all runs of a lesson.
    counted = list(dict.fromkeys(name for row in rows for name, value in row.outcome.items() if type(value) is int))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")  # RFC 4180, 2.1
    writer.writerow([*names, *counted, "wanted", "stored", "once", "error", "notebook"])
    for row in rows:
        counts: list[Any] = [row.outcome.get(name, "") for name in counted]
        judged = ["", "", ""] if row.error else [row.wanted, len(row.outcome["orders"]), "yes" if row.right else "no"]
        writer.writerow([*row.values.values(), *counts, *judged, row.error, row.file])
    return stream.getvalue()


def _row(run: Run, path: Path, store: Store, wanted: int | None) -> Row:
    file = path.relative_to(store.folder).as_posix()
    notebook = nbformat.read(path, nbformat.NO_CONVERT)
    error = notebook.metadata.get("once", {}).get("error", "")
    outcome = {} if error else _outcome(notebook)
    if not outcome:
        return Row(run.values, file, {}, error or _("The notebook holds no outcome."), 0)
    return Row(run.values, file, outcome, "", len(outcome["orders"]) if wanted is None else wanted)


def _outcome(notebook: NotebookNode) -> dict[str, Any]:
    for cell in notebook.cells:
        if "outcome" in cell.metadata.get("tags", []):
            for output in cell.get("outputs", []):
                if found := output.get("data", {}).get("application/json"):
                    return dict(json.loads(json.dumps(found)))
    return {}
