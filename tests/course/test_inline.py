from __future__ import annotations

import pytest

from helpers.course.inline import OBJECT, inline, inline_of


def test_a_text_is_taken_apart() -> None:
    found = inline("**Two** `a b`, [link](x.md) <kbd>K</kbd> {name} %(n)s ![alt](p.png) https://a.b/c")
    assert found.code == ["a b"]
    assert found.links == ["x.md", "p.png"]
    assert found.tags == ["<kbd>", "</kbd>"]
    assert found.strong == 1
    assert found.placeholders == ["{name}", "%(n)s"]
    assert found.plain == f"Two {OBJECT}, link K {OBJECT} {OBJECT} alt {OBJECT}"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,500 and 1.5", ["1500", "1.5"]),
        ("1\u202f500 et 1,5", ["1500", "1.5"]),
        ("10\u00a0000,5", ["10000.5"]),
        ("task 2.1, SAA-C03, `7`", ["2.1", "03"]),
        ("1, 2 and 3", ["1", "2", "3"]),
        ("{0} of 5", ["5"]),
        ("100 % de", ["100"]),
    ],
)
def test_numbers_are_read_in_every_way_of_writing(text: str, numbers: list[str]) -> None:
    assert inline(text).numbers == numbers


def test_in_a_comment_a_quoted_word_is_code() -> None:
    assert inline_of("comment", '"none" or "send-again"').code == ['"none"', '"send-again"']
    assert inline_of("prose", '"none"').code == []
