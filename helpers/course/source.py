"""The lesson source: lesson.md (jupytext's MyST Markdown) and lesson.toml, read into cells and texts.

Format of lesson.md
-------------------
* Front matter as jupytext writes it (`format_name: myst`, kernelspec `python3`).
* Every cell has an id, `[a-z][a-z0-9-]*`, unique in the lesson; it becomes the cell id of the notebook and
  the first half of the msgctxt of its texts, so it is never given to another cell.

  - Markdown cell: the line `+++ {"id": "connect"}` (JSON; `tags` and `slideshow` may follow), then Markdown.
  - Code cell: a fence ``{code-cell} ipython3`` with the option `:id: connect-queue` and, where needed,
    `:tags: [parameters]`; or a `---` block of YAML for nested metadata.

* Prose is CommonMark with tables, as JupyterLab shows it: no MyST directives, no indented code blocks.
* An HTML comment on lines of its own is a note to the translators of the next block, and not in the notebook.
* The form of a code cell for the AWS CLI is in cli.toml: its text, by the id of the cell (see `cli_forms`).
* Texts that widgets show, and the teacher's notes, are in lesson.toml (see `_texts` for their msgctxt).

An error names the file and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from jupytext.myst import MystMetadataParsingError, myst_to_notebook

CELL_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")


class SourceError(Exception):
    """The source of a lesson cannot be used. The text starts with `file:line:`, line from 1."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path.as_posix()}:{line}: {what}")
        self.path = path
        self.line = line


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the source. `line` is where its text starts in the file, from 1."""

    id: str
    kind: Literal["markdown", "code"]
    source: str
    metadata: dict[str, Any]
    line: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text of lesson.toml. `context` is its msgctxt; `needed` says why it may not be empty, where it may not."""

    context: str
    text: str
    needed: str = ""


@dataclass(frozen=True, slots=True)
class LessonSource:
    """What a lesson is made of. `path` is its lesson.md; `forms` are its CLI forms by the ids of their cells."""

    path: Path
    cells: tuple[Cell, ...]
    texts: tuple[Text, ...]
    forms: Mapping[str, str] = field(default_factory=dict)


def read_lesson(folder: Path) -> LessonSource:
    """Read `folder`/lesson.md, and `folder`/lesson.toml and `folder`/cli.toml (which may be missing).

    :raises SourceError: a cell without an id, an id used twice, unreadable metadata or TOML, a text that is missing, a
        CLI form without its cell.
    """
    path = folder / "lesson.md"
    texts = folder / "lesson.toml"
    cells = tuple(read_cells(path.read_text(encoding="utf-8"), path))
    return LessonSource(
        path=path,
        cells=cells,
        texts=tuple(_read_texts(texts)) if texts.exists() else (),
        forms=_read_forms(folder / "cli.toml", cells),
    )


def form_id(cell: str) -> str:
    """The id of the cell that holds the CLI form of `cell`."""
    return f"{cell}-cli"


def read_cells(text: str, path: Path = Path("lesson.md")) -> Iterator[Cell]:
    """The cells of a lesson source, in order. `path` is named in errors."""
    try:
        notebook = myst_to_notebook(text, add_source_map=True)
    except MystMetadataParsingError as error:
        raise SourceError(path, _line_of(str(error)), f"metadata cannot be read: {error}") from error
    first_line: dict[str, int] = {}
    for cell, start in zip(notebook.cells, notebook.metadata.pop("source_map"), strict=True):
        line = _first_text_line(text, start)
        if cell.cell_type not in ("markdown", "code"):
            raise SourceError(path, line, f"a {cell.cell_type} cell is not supported")
        metadata = dict(cell.metadata)
        name = metadata.pop("id", None)
        if name is None:
            how = 'start it with +++ {"id": "…"}' if cell.cell_type == "markdown" else "add the option :id: …"
            raise SourceError(path, line, f"this {cell.cell_type} cell has no id; {how}")
        if not isinstance(name, str) or not CELL_ID.fullmatch(name):
            raise SourceError(path, line, f"the id {name!r} is not of the form [a-z][a-z0-9-]*")
        if name in first_line:
            raise SourceError(path, line, f"the id {name!r} is used already in line {first_line[name]}")
        first_line[name] = line
        yield Cell(name, cell.cell_type, cell.source, metadata, line)


def _first_text_line(text: str, start: int) -> int:
    """The first line with text at or after line `start` (from 0), counted from 1."""
    lines = text.splitlines()
    while start < len(lines) - 1 and not lines[start].strip():
        start += 1
    return start + 1


def _line_of(message: str) -> int:
    found = re.search(r"at line (\d+)", message)
    return int(found[1]) if found else 1


def _read_texts(path: Path) -> Iterator[Text]:
    content = _read_toml(path)
    seen: set[str] = set()
    for text in _texts(content):
        if text.context in seen:
            raise SourceError(path, 1, f"{text.context!r} is there twice")
        seen.add(text.context)
        if text.text.strip():
            yield text
        elif text.needed:
            raise SourceError(path, 1, f"{text.context!r} is missing or empty: {text.needed}")


def _read_forms(path: Path, cells: Sequence[Cell]) -> dict[str, str]:
    if not path.exists():
        return {}
    kinds = {cell.id: cell.kind for cell in cells}
    forms = _read_toml(path)
    for name, text in forms.items():
        if kinds.get(name) != "code":
            raise SourceError(path, 1, f"lesson.md has no code cell {name!r}")
        if not isinstance(text, str) or "aws " not in text or "```" in text:
            raise SourceError(path, 1, f"{name!r} is not a text with a command of the AWS CLI")
        if form_id(name) in kinds or not CELL_ID.fullmatch(form_id(name)):
            raise SourceError(path, 1, f"the id {form_id(name)!r} is taken or too long")
    return {name: text.strip("\n") for name, text in forms.items()}


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SourceError(path, _line_of(str(error)), f"not valid TOML: {error}") from error


def _texts(content: dict[str, Any]) -> Iterator[Text]:
    """msgctxt: vocabulary:<id>:<field>, prediction:<step>:question, prediction:<step>:<n>:<field> with n
    from 0, check:<step>:title, check:<step>:<id>:<field>, teaching:<step>:<field>."""
    for row in content.get("vocabulary", []):
        for part in ("word", "meaning", "example", "model"):
            yield Text(f"vocabulary:{row['id']}:{part}", row.get(part, ""), _NEEDED.get(part, ""))
    for prediction in content.get("predictions", []):
        step = prediction["step"]
        yield Text(f"prediction:{step}:question", prediction["question"])
        for number, choice in enumerate(prediction["choices"]):
            for part in ("text", "feedback"):
                yield Text(f"prediction:{step}:{number}:{part}", choice.get(part, ""))
    for check in content.get("checks", []):
        step = check["step"]
        yield Text(f"check:{step}:title", check.get("title", ""))
        for item in check.get("items", []):
            for part in ("text", "hint", "solution"):
                yield Text(f"check:{step}:{item['id']}:{part}", item.get(part, ""), _NEEDED.get(part, ""))
    for notes in content.get("teaching", []):
        for part in ("ask", "demo", "watch"):
            yield Text(f"teaching:{notes['step']}:{part}", notes.get(part, ""))


_NEEDED = {
    "model": "a learner compares an example with it",
    "hint": "it is offered when the point is not right",
    "solution": "it is offered after the hint",
}
