from __future__ import annotations

import pytest

from helpers.course.comments import code_pieces, comment_pieces
from helpers.course.pieces import PieceError, assemble


def texts(code: str) -> list[str]:
    return [piece.text for piece in code_pieces(code)]


def test_lines_of_comment_that_belong_together_are_one_piece() -> None:
    code = "# One sentence\n# on two lines.\n#\n# Another.\n# - a point\n# - a second\nx = 1  # beside\n"
    assert texts(code) == ["One sentence on two lines.", "Another.", "- a point", "- a second", "beside"]


@pytest.mark.parametrize(
    "pragma",
    ["# noqa: E501", "# type: ignore", "#!/bin/sh", "# NBVAL_IGNORE_OUTPUT", "# fmt: off", "# -*- coding: utf-8"],
)
def test_what_programs_read_is_not_translated(pragma: str) -> None:
    assert texts(f"{pragma}\nx = 1") == []
    assert texts(f"# words\n{pragma}\n# words again\nx = 1") == ["words", "words again"]


def test_a_hash_in_a_string_is_no_comment() -> None:
    assert texts('x = "# no"  # yes, this') == ["yes, this"]


@pytest.mark.parametrize("magic", ["%%writefile a.py", "%%time", "%%capture out"])
def test_the_body_of_a_cell_magic_is_python(magic: str) -> None:
    assert texts(f"{magic}\n# words\nx = 1") == ["words"]


def test_line_magics_and_shell_calls_are_no_obstacle() -> None:
    assert texts("%cd /x\n!ls | wc\nfor x in y:\n    !echo 'a\n    pass  # words\n") == ["words"]


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile a.sh"])
def test_shell_comments_stand_on_their_own_lines(magic: str) -> None:
    assert texts(f"{magic}\n# words\necho '# no'\n") == ["words"]
    with pytest.raises(PieceError, match="line of its own"):
        code_pieces(f"{magic}\nls # words\n")


@pytest.mark.parametrize("magic", ["%%html", "%%writefile a.json"])
def test_other_bodies_have_no_comments(magic: str) -> None:
    assert texts(f"{magic}\n# words\n") == []
    assert comment_pieces("# words", "yaml-like") == []


def test_code_that_cannot_be_read_is_an_error_with_its_line() -> None:
    with pytest.raises(PieceError) as caught:
        code_pieces("x = 1\ny = (\n")
    assert caught.value.line in (1, 2)


def test_a_translation_keeps_indentation_and_is_wrapped() -> None:
    code = "def f():\n    # One.\n    return 1  # beside\n"
    long = "mot " * 30
    result = assemble(code, code_pieces(code), lambda piece: long if piece.lead else "à\ncôté")
    lines = result.split("\n")
    assert lines[0] == "def f():"
    assert all(line.startswith("    # mot") and len(line) <= 88 for line in lines[1:3])
    assert lines[-2] == "    return 1  # à côté"
    assert " ".join(line.strip(" #") for line in lines[1:-2]).split() == long.split()
