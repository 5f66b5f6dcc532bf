"""The CLI form of a step: commands of the AWS CLI that do what a code cell does, folded, below that cell.

Their source is cli.toml beside lesson.md: one entry for each form, by the id of the cell. A form is code for a POSIX
shell and the same in all languages; only the line above it is translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape

from helpers.course.source import Cell, form_id

SUMMARY = ("course:cli", "The same with the AWS CLI")
"""msgctxt and text of the line that opens a form."""

TAG = "cli"
"""The tag of the cells that hold a form."""


def with_forms(cells: Iterable[Cell], forms: Mapping[str, str], translate: Callable[[str, str], str]) -> Iterator[Cell]:
    """The cells, each form in a Markdown cell of its own below the cell that it belongs to.

    No slide shows it: its `slide_type` is "skip". Empty lines within `<details>` let Markdown be Markdown again.
    """
    for cell in cells:
        yield cell
        if form := forms.get(cell.id):
            summary = escape(translate(*SUMMARY), quote=False)
            source = f"<details><summary>{summary}</summary>\n\n```sh\n{form}\n```\n\n</details>"
            metadata = {"tags": [TAG], "slideshow": {"slide_type": "skip"}}
            yield Cell(form_id(cell.id), "markdown", source, metadata, cell.line)
