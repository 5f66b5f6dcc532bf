"""The notebook of a run: the lesson up to its counted step, and the outcome."""

from __future__ import annotations

import copy
import hashlib

from nbformat import NotebookNode

from helpers.grid.plan import GUARD, Experiment
from helpers.lab.language import _

WITH_GUARD = f'print(lab.use_guard({GUARD}).read_text(encoding="utf-8"))'


class NotUsable(ValueError):
    """The notebook lacks a cell that `[experiment]` names. The text says which."""


def derive(stored: NotebookNode, experiment: Experiment, with_guard: bool) -> NotebookNode:
    """The stored notebook without its outputs, up to the cell `until`, then the outcome.

    With a guard, `lab.use_guard` stands in the place of the learner's code.

    :raises NotUsable: a cell is missing.
    """
    names = [cell.get("id") for cell in stored.cells]
    wanted = [experiment.until, *([experiment.code, *experiment.own] if with_guard else [])]
    if missing := [name for name in wanted if name not in names]:
        raise NotUsable(_("The notebook has no cell `{name}`.").format(name=missing[0]))
    last = names.index(experiment.until)
    notebook = copy.deepcopy(stored)
    notebook.cells = [
        cell
        for place, cell in enumerate(notebook.cells)
        if (place <= last or _tagged(cell, "outcome")) and not (with_guard and cell["id"] in experiment.own)
    ]
    if not any(_tagged(cell, "outcome") for cell in notebook.cells):
        raise NotUsable(_("The notebook has no cell with the tag `{tag}`.").format(tag="outcome"))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if with_guard and cell["id"] == experiment.code:
            cell.source = WITH_GUARD
        if with_guard and _tagged(cell, "parameters"):
            cell.source += f'\n{GUARD} = "conditional-write"'
    return notebook


def digest_of(notebook: NotebookNode, *more: str) -> str:
    """What a run depends on beside its values: the cells, and `more`."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return hashlib.sha256(repr((cells, more)).encode()).hexdigest()


def _tagged(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])
