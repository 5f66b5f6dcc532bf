"""Comments in code as pieces: Python through `tokenize`, also below a cell magic; shell scripts by line."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace

from helpers.course.pieces import WORD, Piece, PieceError

# Read by programs, not by people.
_PRAGMA = re.compile(
    r"#\s*(!|%%|noqa\b|type:|pragma\b|pylint:|ruff:|fmt:|isort:|mypy:|pyright:|NBVAL_|-\*-|nosec\b|cspell:)"
)
_LIST_ITEM = re.compile(r"(?:[-*•]|\d+[.)])\s")
_LINE_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"%%(?P<name>\w+)(?P<arguments>.*)\n?")

# The usual width of code; a comment that was wider in English may be as wide.
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Magic:
    """A cell magic's line and body. `language` is that of the body: "python", "shell", or "" for another."""

    line: str
    body: str
    language: str


def split_magic(source: str) -> Magic:
    """The cell magic and its body; a plain cell has an empty line and is Python."""
    found = _CELL_MAGIC.match(source)
    if not found:
        return Magic("", source, "python")
    name, target = found["name"], found["arguments"].strip()
    if name == "writefile":
        language = {"py": "python", "sh": "shell"}.get(target.rpartition(".")[2], "")
    elif name in ("bash", "sh", "script"):
        language = "shell"
    else:
        language = "" if name in ("html", "markdown", "javascript", "js", "latex", "svg") else "python"
    return Magic(found[0], source[found.end() :], language)


def code_pieces(source: str) -> list[Piece]:
    """The comments of a code cell, in order."""
    magic = split_magic(source)
    shift = len(magic.line)
    found = comment_pieces(magic.body, magic.language)
    return [replace(piece, start=piece.start + shift, end=piece.end + shift) for piece in found]


def comment_pieces(code: str, language: str) -> list[Piece]:
    """The comments of some code. `language`: "python" or "shell"; of another language no comment is known."""
    if language == "python":
        comments = _python_comments(code)
    elif language == "shell":
        comments = _shell_comments(code)
    else:
        return []
    return list(_grouped(code, list(comments)))


@dataclass(frozen=True, slots=True)
class _Comment:
    line: int
    start: int
    raw: str
    alone: bool
    lead: str


def _python_comments(code: str) -> Iterator[_Comment]:
    # A line magic is not Python; a name of the same length keeps every position.
    plain = _LINE_MAGIC.sub(lambda found: _like_a_name(found[0]), code)
    starts = _line_starts(code)
    try:
        for token in tokenize.generate_tokens(io.StringIO(plain).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                before = token.line[:column]
                alone = not before.strip()
                lead = before if alone else ""
                yield _Comment(line - 1, starts[line - 1] + column, token.string, alone, lead)
    except (tokenize.TokenError, IndentationError) as error:
        line = error.args[1][0] if isinstance(error, tokenize.TokenError) else (error.lineno or 1)
        raise PieceError(line - 1, f"this code cannot be read: {error.args[0]}") from error


def _like_a_name(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    return line[:indent] + "_" * (len(line) - indent)


def _shell_comments(code: str) -> Iterator[_Comment]:
    starts = _line_starts(code)
    for number, line in enumerate(code.split("\n")):
        text = line.lstrip()
        if text.startswith("#"):
            lead = line[: len(line) - len(text)]
            yield _Comment(number, starts[number] + len(lead), text.rstrip(), True, lead)
        elif found := re.search(r"\s#\s", line):
            before = line[: found.start()]
            if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
                raise PieceError(number, "put a shell comment on a line of its own")


def _grouped(code: str, comments: list[_Comment]) -> Iterator[Piece]:
    group: list[_Comment] = []
    for comment in comments:
        text = _text(comment)
        if group and not (comment.alone and _continues(group[-1], comment, text)):
            yield _piece(code, group)
            group = []
        if not WORD.search(text) or _PRAGMA.match(comment.raw):
            continue
        group.append(comment)
        if not comment.alone:
            yield _piece(code, group)
            group = []
    if group:
        yield _piece(code, group)


def _continues(last: _Comment, comment: _Comment, text: str) -> bool:
    return (
        comment.line == last.line + 1
        and comment.lead == last.lead
        and bool(WORD.search(text))
        and not _PRAGMA.match(comment.raw)
        and not _LIST_ITEM.match(text)
    )


def _piece(code: str, group: list[_Comment]) -> Piece:
    last = group[-1]
    end = last.start + len(last.raw)
    lead = group[0].lead
    width = max(_WIDTH, *(len(lead) + len(comment.raw) for comment in group)) if group[0].alone else 0
    text = " ".join(_text(comment) for comment in group)
    return Piece("comment", group[0].start, end, text, lead, width)


def _text(comment: _Comment) -> str:
    return " ".join(comment.raw.lstrip("#").split())


def _line_starts(code: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", code)), len(code)]
