"""The stored notebook of a lesson, as slides and experiments read it: a whole one, or an error that names the file."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
from nbformat import NotebookNode, reader
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning

from helpers.copies.notebook_file import NotANotebook, read


def stored_notebook(path: Path) -> NotebookNode:
    """The notebook in the format's version that it has.

    `nbformat.read` only logs what is not as the format says; what is missing then ends in a traceback later.

    :raises NotANotebook: it is none, or not a whole one.
    :raises OSError: it cannot be read.
    """
    parts = read(path)
    if parts is None:
        raise NotANotebook(path)
    try:
        with warnings.catch_warnings():
            # What nbformat would put right by itself, with a warning: slides and experiments name cells by their ids.
            for wrong in (DuplicateCellId, MissingIDFieldWarning):
                warnings.simplefilter("error", wrong)
            nbformat.validate(nbformat.from_dict(parts))
    except (nbformat.ValidationError, DuplicateCellId, MissingIDFieldWarning) as error:
        raise NotANotebook(path) from error
    notebook: NotebookNode = reader.reads(path.read_text(encoding="utf-8"))
    return notebook
