"""Markdown prose as pieces: paragraph, heading, list item, table cell, block quote, HTML with words, fence.

markdown-it says where the blocks are; each one is then found again in the source, and a block that cannot be
found exactly is an error rather than a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from helpers.course.comments import comment_pieces
from helpers.course.pieces import Piece, PieceError, has_words, with_remarks

# Fences whose body people read as it stands; of the others only the comments are translated.
_READ_AS_TEXT = ("", "text", "mermaid")
_COMMENTED = {
    "python": "python",
    "py": "python",
    "ipython3": "python",
    "bash": "shell",
    "sh": "shell",
    "shell": "shell",
    "yaml": "shell",
    "toml": "shell",
    "ini": "shell",
}
_HTML_COMMENTS = re.compile(r"(?:\s*<!--.*?-->)+\s*", re.DOTALL)
_CELL_BORDER = re.compile(r"(?<!\\)\|")


@cache
def markdown() -> MarkdownIt:
    """CommonMark with tables and strike-through, as JupyterLab shows it."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def prose_pieces(source: str) -> list[Piece]:
    """The pieces of a Markdown cell, in the order of the source; notes to translators among them.

    :raises PieceError: a directive, an indented code block, or a block that cannot be found in the source.
    """
    return list(with_remarks(list(_pieces(source))))


def structure(source: str) -> list[str]:
    """The blocks of a Markdown text without their words: what must be the same in every language."""
    return [f"{token.type} {token.tag}" for token in markdown().parse(source) if token.type != "inline"]


def _pieces(source: str) -> Iterator[Piece]:
    place = _Place(source)
    column: int | None = None
    for token in markdown().parse(source):
        if token.type == "tr_open":
            column = -1
        elif token.type == "tr_close":
            column = None
        elif token.type in ("th_open", "td_open") and column is not None:
            column += 1
        elif token.type == "inline" and token.content:
            piece = place.text(token) if column is None else place.cell(token, column)
            if has_words(piece.text):
                yield piece
        elif token.type == "html_block":
            yield from place.html(token)
        elif token.type == "fence":
            yield from place.fence(token)
        elif token.type == "code_block":
            raise PieceError(_first(token), "an indented code block; use a fence with a language")


class _Place:
    """Finds the tokens of markdown-it in the source again."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def text(self, token: Token) -> Piece:
        """A paragraph or a heading: each line of it is the end of a line of the source."""
        first = _first(token)
        content = token.content.split("\n")
        columns = [self._column(first + number, line) for number, line in enumerate(content)]
        last = first + len(content) - 1
        start = self.starts[first] + columns[0]
        end = self.starts[last] + columns[-1] + len(content[-1].rstrip())
        return Piece("prose", start, end, _one_line(content), self._lead(first, columns[0]))

    def cell(self, token: Token, column: int) -> Piece:
        """A table cell. A bar within it is written `\\|`, for translators too."""
        first = _first(token)
        line = self.lines[first]
        begin = len(line) - len(line.lstrip(" \t>"))
        borders = [begin - 1, *(found.start() for found in _CELL_BORDER.finditer(line, begin)), len(line)]
        if line[begin : begin + 1] == "|":
            del borders[0]
        if column + 1 >= len(borders):
            raise PieceError(first, "this table row cannot be read; put a table outside of lists")
        raw = line[borders[column] + 1 : borders[column + 1]]
        start = self.starts[first] + borders[column] + 1 + len(raw) - len(raw.lstrip())
        text = raw.strip()
        if text.replace("\\|", "|") != token.content:
            raise PieceError(first, "this table row cannot be read; put a table outside of lists")
        return Piece("prose", start, start + len(text), text)

    def html(self, token: Token) -> Iterator[Piece]:
        if _HTML_COMMENTS.fullmatch(token.content):
            first, after = token.map or [0, 0]
            while after < len(self.lines) and not self.lines[after].strip(" >\t"):
                after += 1
            text = " ".join(re.sub(r"<!--\s*(?:note:)?|-->", " ", token.content).split())
            yield Piece("note", self.starts[first], min(self.starts[after], len(self.source)), text)
        elif has_words(re.sub(r"<!--.*?-->", "", token.content, flags=re.DOTALL)):
            if "<!--" in token.content:
                raise PieceError(_first(token), "an HTML comment within HTML; put it on lines of its own")
            yield from self._whole(token.content.rstrip("\n"), _first(token))

    def fence(self, token: Token) -> Iterator[Piece]:
        first = _first(token)
        info = token.info.strip()
        if info.startswith("{"):
            raise PieceError(first, f"the directive {info} is not shown by JupyterLab; use plain Markdown")
        body = token.content.rstrip("\n")
        if info in _READ_AS_TEXT:
            if has_words(body):
                yield from self._whole(body, first + 1)
            return
        for piece in comment_pieces(body, _COMMENTED.get(info.split()[0], "")):
            start = self._from_body(body, first + 1, piece.start)
            end = self._from_body(body, first + 1, piece.end)
            lead = self._lead(first + 1, self._column(first + 1, body.split("\n")[0])) + piece.lead
            yield replace(piece, start=start, end=end, lead=lead)

    def _whole(self, body: str, first: int) -> Iterator[Piece]:
        content = body.split("\n")
        column = self._column(first, content[0])
        start = self.starts[first] + column
        end = self._from_body(body, first, len(body))
        yield Piece("verbatim", start, end, body, self._lead(first, column))

    def _from_body(self, body: str, first: int, position: int) -> int:
        """The place in the source of a place in the body of a fence, which starts in line `first`."""
        before = body[:position].split("\n")
        number = len(before) - 1
        line = body.split("\n")[number]
        return self.starts[first + number] + self._column(first + number, line) + len(before[-1])

    def _column(self, number: int, text: str) -> int:
        """Where in source line `number` the line `text` of a block begins."""
        line = self.lines[number]
        text = text.rstrip()
        column = len(line.rstrip()) - len(text)
        if column < 0 or line[column:].rstrip() != text:
            column = line.find(text)  # a heading with closing marks
        if column < 0:
            raise PieceError(number, f"{text[:40]!r} cannot be found in its line")
        return column

    def _lead(self, number: int, column: int) -> str:
        """What a further line of the block starts with: the `>` of quotes, spaces for the rest."""
        before = self.lines[number][:column]
        return "" if before.lstrip().startswith("#") else re.sub(r"[^>\s]", " ", before)


def _first(token: Token) -> int:
    return token.map[0] if token.map else 0


def _one_line(lines: list[str]) -> str:
    """A paragraph on one line; a hard line break stays, written with a backslash."""
    parts: list[str] = []
    for number, line in enumerate(lines):
        text = line.strip()
        if number == len(lines) - 1:
            parts.append(text)
        elif text.endswith("\\"):
            parts.append(f"{text}\n")
        elif line.endswith("  "):
            parts.append(f"{text}\\\n")
        else:
            parts.append(f"{text} ")
    return "".join(parts)
