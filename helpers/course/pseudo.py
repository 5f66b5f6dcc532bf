"""The pseudo-language: every text in ⟦brackets⟧. What a notebook shows outside of them, no translator saw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from helpers.course.blocks import markdown
from helpers.course.comments import code_pieces, comment_pieces
from helpers.course.entries import translated
from helpers.course.inline import inline
from helpers.course.pieces import WORD
from helpers.course.source import Cell, LessonSource

_MARKED = re.compile(r"⟦[^⟧]*⟧")
_COMMENTED = {"python": "python", "py": "python", "ipython3": "python", "bash": "shell", "sh": "shell"}


def in_brackets(context: str, text: str) -> str:
    """A translation into the pseudo-language."""
    return f"⟦{text}⟧"


def unseen(source: LessonSource) -> Iterator[tuple[str, str]]:
    """(cell id, words) for each text that reaches the notebook without passing through a catalog."""
    for cell in translated(source, in_brackets):
        for words in unseen_in(cell):
            yield cell.id, words


def unseen_in(cell: Cell) -> Iterator[str]:
    """The words of a cell in the pseudo-language that are not in brackets."""
    if cell.kind == "code":
        yield from (piece.text for piece in code_pieces(_unmarked(cell).source) if WORD.search(piece.text))
        return
    for token in markdown().parse(cell.source):
        if token.type == "inline":
            rest = inline(_MARKED.sub("", token.content)).plain
        elif token.type == "html_block":
            rest = re.sub(r"<[^>]*>", "", _MARKED.sub("", token.content))
        elif token.type == "fence" and token.info.strip() in _COMMENTED:
            found = comment_pieces(_MARKED.sub("", token.content), _COMMENTED[token.info.strip()])
            rest = " ".join(piece.text for piece in found)
        elif token.type == "fence" and token.info.strip() in ("", "text", "mermaid"):
            rest = _MARKED.sub("", token.content)
        else:
            continue
        if WORD.search(rest):
            yield " ".join(rest.split())


def _unmarked(cell: Cell) -> Cell:
    return replace(cell, source=_MARKED.sub("", cell.source))
