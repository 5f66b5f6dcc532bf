from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.course.blocks import prose_pieces, structure
from helpers.course.pieces import PieceError, assemble

SAMPLE = """\
# A title

A paragraph
  on two lines with `code` and a\\
hard break.

- one
- two
  goes on

  a second paragraph
  1. inner
     goes on

> A quote
> on two lines.
>
> - in a quote

| Left | Right |
| :--- | ---: |
| a cell | `code` |
| with \\| bar |  |

Setext
======

## Closed ##

<details>

<summary>More words</summary>

Inside.

</details>

- ```python
  x = 1  # beside
  # on its
  # own
  ```

```json
{"not": "translated"}
```

```mermaid
flowchart LR
  a[words] --> b
```

![picture words](x.png)
"""


def texts(source: str) -> list[str]:
    return [piece.text for piece in prose_pieces(source)]


def test_every_block_is_a_piece() -> None:
    assert texts(SAMPLE) == [
        "A title",
        "A paragraph on two lines with `code` and a\\\nhard break.",
        "one",
        "two goes on",
        "a second paragraph",
        "inner goes on",
        "A quote on two lines.",
        "in a quote",
        "Left",
        "Right",
        "a cell",
        "with \\| bar",
        "Setext",
        "Closed",
        "<summary>More words</summary>",
        "Inside.",
        "beside",
        "on its own",
        "flowchart LR\n  a[words] --> b",
        "![picture words](x.png)",
    ]


def test_the_source_language_gives_the_source_back() -> None:
    assert assemble(SAMPLE, prose_pieces(SAMPLE), lambda piece: piece.text) == SAMPLE


def test_a_translation_stands_in_the_same_structure() -> None:
    result = assemble(SAMPLE, prose_pieces(SAMPLE), lambda piece: piece.text.upper())
    plain = [line for line in structure(SAMPLE) if not line.startswith("fence")]
    assert [line for line in structure(result) if not line.startswith("fence")] == plain
    assert "> A QUOTE ON TWO LINES.\n" in result
    assert "| A CELL | `code` |" in result
    assert "  # ON ITS OWN\n" in result
    assert '{"not": "translated"}' in result


def test_a_hard_break_keeps_the_lead_of_its_block() -> None:
    source = "> - one\\\n>   two\n"
    assert assemble(source, prose_pieces(source), lambda piece: "un\\\ndeux") == "> - un\\\n>   deux\n"
    assert texts("one  \ntwo") == ["one\\\ntwo"]


def test_pieces_without_words_are_left_out() -> None:
    assert texts("| `code` | 4 | — |\n| --- | --- | --- |\n| x | `a b` | words |\n\n***\n\n`all code`") == ["words"]


def test_an_html_comment_is_a_note_and_leaves_the_notebook() -> None:
    source = "One.\n\n<!-- note: said\nto you -->\n\nTwo.\n"
    found = prose_pieces(source)
    assert [(piece.kind, piece.text, piece.remark) for piece in found] == [
        ("prose", "One.", ""),
        ("note", "said to you", ""),
        ("prose", "Two.", "said to you"),
    ]
    assert assemble(source, found, lambda piece: piece.text) == "One.\n\nTwo.\n"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("One.\n\n```{note}\nwords\n```\n", "directive"),
        ("One.\n\n    indented = 1\n", "indented code block"),
        ("<p>\nwords <!-- note: no -->\n</p>\n", "HTML comment within HTML"),
        ("- | a b | c d |\n  | --- | --- |\n  | e f | g h |\n", "outside of lists"),
    ],
)
def test_what_cannot_be_translated_is_an_error(source: str, what: str) -> None:
    with pytest.raises(PieceError, match=what):
        prose_pieces(source)


LETTERS = st.text("abc éя*_`|>-#1. ", min_size=1, max_size=12)
LINES = st.builds(lambda lead, text: lead + text, st.sampled_from(["", "- ", "> ", "1. ", "  ", "| ", "## "]), LETTERS)


@given(st.lists(st.one_of(LINES, st.just("")), max_size=12))
def test_any_markdown_comes_back_byte_for_byte(lines: list[str]) -> None:
    source = "\n".join(lines)
    try:
        found = prose_pieces(source)
    except PieceError:
        return
    assert assemble(source, found, lambda piece: piece.text) == source
    for piece in found:
        assert re.search(r"[^\W\d_]{2}", piece.text)
