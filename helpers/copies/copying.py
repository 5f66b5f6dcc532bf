"""One notebook and one copy of it: made, compared, begun afresh. What somebody typed or ran is never overwritten."""

from __future__ import annotations

import datetime
import os
from itertools import count
from pathlib import Path
from typing import Literal

from helpers.copies.notebook_file import NotANotebook, cleared, copied_from, digest, has_results, read, write

State = Literal["missing", "current", "older", "unreadable"]
"""Of a copy: not there; of the edition that is stored now; of another one; no notebook."""


def state(stored: Path, copy: Path) -> State:
    """How a copy stands to the notebook that it was made of. Nothing is changed.

    :raises OSError: one of the two cannot be read.
    :raises NotANotebook: what is stored is none.
    """
    if not copy.exists():
        return "missing"
    notebook = read(copy)
    if notebook is None:
        return "unreadable"
    new = digest(_source(stored))
    # A copy made by hand has no mark; with the same cells it is of this edition all the same.
    return "current" if new in (copied_from(notebook), digest(notebook)) else "older"


def refresh(stored: Path, copy: Path, *, results_count: bool = True) -> State:
    """Make a copy that is missing, and make one of an earlier edition anew that nobody has touched.

    Returns the state before. `results_count`: a copy that was only run counts as touched.

    :raises NotANotebook: what is stored is none.
    :raises OSError: a file cannot be read or written.
    """
    found = state(stored, copy)
    if found == "missing" or (found == "older" and not _touched(copy, results_count)):
        write(copy, cleared(_source(stored)))
        return "missing"
    return found


def start_afresh(
    stored: Path,
    copy: Path,
    *,
    kept_in: Path | None = None,
    results_count: bool = True,
    without: frozenset[str] = frozenset(),
    today: datetime.date | None = None,
) -> Path | None:
    """Make a new copy. The old one keeps its content, under a name with the date, beside it or in `kept_in`.

    Returns where the old one is now; None when there was none, or nobody had touched it. `results_count`: a copy that
    was only run is kept too. Cells with one of the tags `without` are left out of the new copy.

    :raises NotANotebook: what is stored is none; nothing was changed.
    :raises OSError: a file cannot be read, moved or written; the old copy is in its place or under its new name.
    """
    notebook = cleared(_source(stored), without)
    kept = None
    if copy.exists() and _touched(copy, results_count, notebook):
        kept = free_name(copy, kept_in or copy.parent, today)
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.replace(copy, kept)
    try:
        write(copy, notebook)
    except OSError:
        if kept is not None:  # a full disk: the reader finds the lesson where it was
            os.replace(kept, copy)
        raise
    return kept


def free_name(path: Path, folder: Path, today: datetime.date | None = None) -> Path:
    """A name in `folder` that no file has: that of `path` with the date, and with a number from the second on."""
    date = (today or datetime.date.today()).isoformat()
    ends = (f"_{date}" if number == 1 else f"_{date}_{number}" for number in count(1))
    names = (folder / f"{path.stem}{end}{path.suffix}" for end in ends)
    return next(name for name in names if not name.exists())


def _touched(copy: Path, results_count: bool, fresh: dict[str, object] | None = None) -> bool:
    """Whether there is something in a copy that its original did not have. A file that is no notebook counts too."""
    notebook = read(copy)
    if notebook is None:
        return True
    now = digest(notebook)
    typed = now != copied_from(notebook) and (fresh is None or now != digest(fresh))
    return typed or (results_count and has_results(notebook))


def _source(stored: Path) -> dict[str, object]:
    notebook = read(stored)
    if notebook is None:
        raise NotANotebook(stored)
    return notebook
