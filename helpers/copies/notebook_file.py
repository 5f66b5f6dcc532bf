"""A notebook file as a reader gets it: without results, and with a mark of the edition that it was copied from.

The mark is in the notebook's own metadata, which JupyterLab, Visual Studio Code and papermill keep: so it goes where
the file goes. It is a digest of the cells' kinds and texts. Results do not count: a lesson that only ran again has
not changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]

_MARK = "once"


class NotANotebook(ValueError):
    """What lies at `path` is damaged, or something else than a notebook."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.name} is not a notebook")
        self.path = path


def read(path: Path) -> Notebook | None:
    """The notebook, or None when there is none at this place (damaged, a folder, or something else).

    :raises OSError: it cannot be read.
    """
    if path.is_dir():
        return None
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8"))
        digest(notebook)
        parts = [notebook, *notebook["cells"]]
        # Version 4 is the first with its cells in the notebook itself (nbformat, "The notebook file format").
        whole = (
            notebook["nbformat"] >= 4
            and isinstance(notebook["cells"], list)
            and all(isinstance(part.get("metadata", {}), dict) for part in parts)
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return dict(notebook) if whole else None


def digest(notebook: Notebook) -> str:
    """What tells one edition from another: 32 hexadecimal digits, the same for the same kinds and texts of cells."""
    cells = [[cell["cell_type"], _text(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode("utf-8")).hexdigest()[:32]


def copied_from(notebook: Notebook) -> str | None:
    """The digest of the edition that this copy was made of, or None when nothing says it."""
    mark = notebook.get("metadata", {}).get(_MARK)
    return mark.get("copied") if isinstance(mark, dict) else None


def has_results(notebook: Notebook) -> bool:
    """Whether a cell was run."""
    return any(cell.get("outputs") or cell.get("execution_count") is not None for cell in notebook["cells"])


def cleared(notebook: Notebook, without: frozenset[str] = frozenset()) -> Notebook:
    """The cells without results, and without those that have a tag in `without`; marked as a copy of this edition."""
    result: Notebook = json.loads(json.dumps(notebook))
    result["cells"] = [cell for cell in result["cells"] if not without.intersection(_tags(cell))]
    for cell in result["cells"]:
        cell.get("metadata", {}).pop("execution", None)
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
    metadata = result.setdefault("metadata", {})
    metadata.pop("widgets", None)
    metadata[_MARK] = {"copied": digest(notebook)}
    return result


def _tags(cell: dict[str, Any]) -> list[str]:
    return list(cell.get("metadata", {}).get("tags", ()))


def write(path: Path, notebook: Notebook) -> None:
    """Write the file whole or not at all, in the form that nbformat gives a notebook.

    :raises OSError: the folder cannot be written to, or the disk is full.
    """
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
