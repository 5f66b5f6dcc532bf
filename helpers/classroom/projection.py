"""The notebook for the projector: a copy without answers, in a folder that git does not keep.

Nothing that somebody typed is overwritten: it goes into the folder `kept` beside it, with the date.
"""

from __future__ import annotations

from pathlib import Path

from helpers.copies.copying import free_name, start_afresh
from helpers.course.cli_forms import TAG


def prepare(stored: Path, folder: Path) -> tuple[Path, Path | None]:
    """Copy a notebook into `folder` without its outputs, so that nobody reads an answer before the question.

    The CLI forms stay away: a class looks at one way to do a step.

    A copy of an earlier lesson whose cells somebody changed is kept under another name, in `folder`/kept. Returns the
    new copy, and where the earlier one is now (None: there was none, or nothing was typed into it).
    """
    path = folder / stored.name
    # Each class runs the cells; what they gave is no one's work.
    return path, start_afresh(stored, path, kept_in=folder / "kept", results_count=False, without=frozenset({TAG}))


def fresh_answers(folder: Path) -> tuple[Path, Path | None]:
    """The folder for what the class answers, empty: no prediction is answered before the class votes.

    The answers of an earlier class are moved to `folder`/kept; returns the folder and where they are now, if any.
    """
    path = folder / "answers"
    kept = None
    if path.exists() and any(file.is_file() for file in path.rglob("*")):
        kept = free_name(path, folder / "kept")
        kept.parent.mkdir(exist_ok=True)
        path.replace(kept)
    path.mkdir(parents=True, exist_ok=True)
    return path, kept
