from __future__ import annotations

import pytest

from helpers.course.pieces import Piece, assemble, has_words, with_remarks


@pytest.mark.parametrize(
    ("text", "expected"),
    [("words", True), ("`words`", False), ("4 × 2", False), ("<b></b>", False), ("a", False), ("``a ` b`` né", True)],
)
def test_words_are_two_letters_outside_code(text: str, expected: bool) -> None:
    assert has_words(text) is expected


def test_only_what_changed_is_written_anew() -> None:
    source = "one\ntwo three"
    pieces = [Piece("prose", 0, 7, "one two"), Piece("prose", 8, 13, "three")]
    assert assemble(source, pieces, lambda piece: piece.text) == source
    assert assemble(source, pieces, lambda piece: f"<{piece.text}>") == "<one two> <three>"


def test_notes_go_to_the_next_piece_only() -> None:
    note, first, second = Piece("note", 0, 1, "look"), Piece("prose", 2, 3, "a"), Piece("prose", 4, 5, "b")
    assert [piece.remark for piece in with_remarks([note, first, second])] == ["", "look", ""]
