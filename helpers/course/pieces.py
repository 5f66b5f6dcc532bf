"""Pieces: the parts of a cell that are translated one by one, and putting a cell together again.

A piece knows its place in the cell's source, so that everything around it stays as it is, byte for byte. A
piece whose translation is its own text keeps its source form (line breaks, markers) as well.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

WORD = re.compile(r"[^\W\d_]{2,}")

Kind = Literal["prose", "verbatim", "comment", "note"]


class PieceError(Exception):
    """A part of a cell cannot be translated as it is written. `line` counts from 0 within the cell."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


@dataclass(frozen=True, slots=True)
class Piece:
    """`source[start:end]` is shown to translators as `text`.

    `lead` goes before each further line of a translation: the indentation or the `>` of the surrounding
    block; for a comment, its indentation. A comment that stands alone is written up to column `width`.
    A note has no translation: it is removed. `remark` is the note before a piece.
    """

    kind: Kind
    start: int
    end: int
    text: str
    lead: str = ""
    width: int = 0
    remark: str = ""


def assemble(source: str, pieces: Sequence[Piece], translate: Callable[[Piece], str]) -> str:
    """`source` with each piece replaced by what `translate` says."""
    parts: list[str] = []
    position = 0
    for piece in pieces:
        parts.append(source[position : piece.start])
        position = piece.end
        if piece.kind != "note":
            text = translate(piece)
            parts.append(source[piece.start : piece.end] if text == piece.text else _written(piece, text))
    parts.append(source[position:])
    return "".join(parts)


def with_remarks(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, each with the notes that stand before it."""
    notes: list[str] = []
    for piece in pieces:
        if piece.kind == "note":
            notes.append(piece.text)
            yield piece
        else:
            yield replace(piece, remark="\n".join(notes)) if notes else piece
            notes = []


def has_words(text: str) -> bool:
    """Is there anything to translate: two letters in a row outside code spans and HTML tags?"""
    return WORD.search(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)|<[^>]*>", " ", text, flags=re.DOTALL)) is not None


def _written(piece: Piece, text: str) -> str:
    if piece.kind == "comment":
        return _comment(piece, text)
    return f"\n{piece.lead}".join(text.split("\n"))


def _comment(piece: Piece, text: str) -> str:
    if not piece.width:  # beside code: it has one line
        return f"# {' '.join(text.split())}"
    lines = textwrap.wrap(text, piece.width - len(piece.lead) - 2, break_long_words=False, break_on_hyphens=False)
    return f"\n{piece.lead}".join(f"# {line}" for line in lines)
