"""Which part of the slides a cell is: Jupyter's `slideshow.slide_type`, for each cell of a notebook.

lesson.md says where a step begins ("slide") and what no slide shows ("skip"). The rest follows from what a cell is, so
that nobody has to keep hundreds of marks in order:

* A Markdown cell introduces the code below it: the two stand on one slide, so a "subslide" begins.
* A code cell goes on where its introduction is: "-".
* The cells that only a program reads (tags `parameters` and `outcome`) are on no slide: "skip".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TYPES = ("slide", "subslide", "fragment", "skip", "notes", "-")
_FOR_PROGRAMS = frozenset({"parameters", "outcome"})


def slide_type(kind: str, metadata: Mapping[str, Any]) -> str:
    """The slide type of a cell: what its metadata says, else what its kind and its tags say."""
    said = metadata.get("slideshow", {}).get("slide_type")
    if said is not None:
        return str(said)
    tags: Sequence[str] = metadata.get("tags", ())
    if _FOR_PROGRAMS.intersection(tags):
        return "skip"
    return "subslide" if kind == "markdown" else "-"


def with_slide_type(kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a cell with its slide type in it."""
    more = {**metadata.get("slideshow", {}), "slide_type": slide_type(kind, metadata)}
    return {**metadata, "slideshow": more}
