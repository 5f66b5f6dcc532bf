"""Entries: what a translator sees of a lesson, and the lesson's cells in another language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from helpers.course.blocks import prose_pieces
from helpers.course.cli_forms import SUMMARY
from helpers.course.comments import code_pieces
from helpers.course.pieces import Piece, PieceError, assemble, has_words
from helpers.course.source import Cell, LessonSource, SourceError, read_lesson
from helpers.course.syllabus import Lesson


@dataclass(frozen=True, slots=True)
class Entry:
    """A text to translate. `plural` and `places` (files that use it) are only there for texts of the helpers.

    `kind`: "prose" is Markdown within a block, "verbatim" keeps its lines, "comment" is a comment in code,
    "text" is shown by a widget or by the helpers.
    """

    context: str | None
    text: str
    kind: Literal["prose", "verbatim", "comment", "text"] = "text"
    plural: str = ""
    remark: str = ""
    places: tuple[str, ...] = ()


Translate = Callable[[str, str], str]
"""(msgctxt, English text) -> text."""


def lesson_entries(lesson: Lesson, source: LessonSource | None = None) -> list[Entry]:
    """The entries of a lesson's catalogs, in the order of the source: title, cells, widget texts.

    :raises SourceError: see `read_lesson`; or a cell holds something that cannot be translated.
    """
    source = read_lesson(lesson.folder) if source is None else source
    entries = [Entry("course:title", lesson.title)]
    for cell in source.cells:
        for context, piece in _named(cell, source):
            if piece.kind != "note":
                entries.append(Entry(context, piece.text, piece.kind, remark=piece.remark))
    if source.forms:
        entries.append(Entry(*SUMMARY))
    entries.extend(Entry(text.context, text.text) for text in source.texts if has_words(text.text))
    return entries


def translated(source: LessonSource, translate: Translate) -> list[Cell]:
    """The cells of a lesson with every piece replaced; notes to translators are gone."""
    cells: list[Cell] = []
    for cell in source.cells:
        contexts = {piece: context for context, piece in _named(cell, source)}

        def text_of(piece: Piece, contexts: dict[Piece, str] = contexts) -> str:
            return translate(contexts[piece], piece.text)

        cells.append(replace(cell, source=assemble(cell.source, list(contexts), text_of).strip("\n")))
    return cells


def pieces(cell: Cell) -> list[Piece]:
    """The pieces of a cell. :raises PieceError: something in it cannot be translated as it is written."""
    return prose_pieces(cell.source) if cell.kind == "markdown" else code_pieces(cell.source)


def _named(cell: Cell, source: LessonSource) -> Iterator[tuple[str, Piece]]:
    """The pieces with their msgctxt: "<cell>:<n>" and "<cell>:comment:<n>", each n from 0."""
    blocks, comments = count(), count()
    try:
        found = pieces(cell)
    except PieceError as error:
        raise SourceError(source.path, cell.line + error.line, str(error)) from error
    for piece in found:
        if piece.kind == "comment":
            yield f"{cell.id}:comment:{next(comments)}", piece
        else:
            yield (f"{cell.id}:{next(blocks)}" if piece.kind != "note" else ""), piece
