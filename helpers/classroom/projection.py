"""The notebook for the projector: a copy without answers, in a folder that git does not keep.

Nothing that somebody typed is overwritten: it goes into the folder `kept` beside it, with a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from helpers.course.cli_forms import TAG
from helpers.course.notebook import to_bytes


def prepare(stored: Path, folder: Path) -> tuple[Path, Path | None]:
    """Copy a notebook into `folder` without its outputs, so that nobody reads an answer before the question.

    The CLI forms stay away: a class looks at one way to do a step.

    A copy of an earlier lesson whose cells somebody changed is kept under another name, in `folder`/kept. Returns the
    new copy, and where the earlier one is now (None: there was none, or nothing was typed into it).
    """
    notebook = _without_outputs(nbformat.read(stored, nbformat.NO_CONVERT))
    path = folder / stored.name
    folder.mkdir(parents=True, exist_ok=True)
    kept = None
    if path.exists() and list(_cells(path)) != [(cell.cell_type, cell.source) for cell in notebook.cells]:
        kept = _free(folder / "kept", stored)
        kept.parent.mkdir(exist_ok=True)
        path.replace(kept)
    path.write_bytes(to_bytes(notebook))
    return path, kept


def fresh_answers(folder: Path) -> tuple[Path, Path | None]:
    """The folder for what the class answers, empty: no prediction is answered before the class votes.

    The answers of an earlier class are moved to `folder`/kept; returns the folder and where they are now, if any.
    """
    path = folder / "answers"
    kept = None
    if path.exists() and any(file.is_file() for file in path.rglob("*")):
        kept = _free(folder / "kept", path)
        kept.parent.mkdir(exist_ok=True)
        path.replace(kept)
    path.mkdir(parents=True, exist_ok=True)
    return path, kept


def _without_outputs(notebook: NotebookNode) -> NotebookNode:
    notebook.cells = [cell for cell in notebook.cells if TAG not in cell.metadata.get("tags", ())]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    return notebook


def _cells(path: Path) -> Iterator[tuple[str, str]]:
    """Kind and text of each cell; of a file that is no notebook, one that no lesson has, so that it is kept too."""
    try:
        for cell in nbformat.read(path, nbformat.NO_CONVERT).cells:
            yield cell.cell_type, cell.source
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError, UnicodeDecodeError):
        yield "unreadable", ""


def _free(folder: Path, stored: Path) -> Path:
    names = (folder / f"{stored.stem}_{number}{stored.suffix}" for number in count(1))
    return next(path for path in names if not path.exists())
