"""A lesson in one language as a notebook that was not run yet; and a notebook as bytes, always the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from helpers.course.cli_forms import with_forms
from helpers.course.entries import Translate, translated
from helpers.course.slideshow import with_slide_type
from helpers.course.source import Cell, LessonSource

# No version numbers: the notebook is the same whichever Python 3 ran it.
_METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}


def lesson_notebook(source: LessonSource, translate: Translate) -> NotebookNode:
    """The lesson with every text translated, and its CLI forms. Each cell has the id of its source."""
    return notebook_of(with_forms(translated(source, translate), source.forms, translate))


def notebook_of(cells: Iterable[Cell]) -> NotebookNode:
    """A notebook of these cells, without outputs."""
    notebook: NotebookNode = new_notebook(metadata=json.loads(json.dumps(_METADATA)))
    for cell in cells:
        new_cell: Callable[..., NotebookNode] = new_markdown_cell if cell.kind == "markdown" else new_code_cell
        metadata = with_slide_type(cell.kind, cell.metadata)
        notebook.cells.append(new_cell(cell.source, id=cell.id, metadata=metadata))
    return notebook


def to_bytes(notebook: NotebookNode) -> bytes:
    """The .ipynb: sorted keys, UTF-8, one newline at the end.

    :raises nbformat.ValidationError: it is not a valid notebook.
    """
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
    return text.rstrip("\n").encode() + b"\n"
