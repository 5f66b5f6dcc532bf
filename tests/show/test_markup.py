"""Escaping, inline marks and tables."""

from __future__ import annotations

import pytest

from helpers.show.markup import Table, blank, box, code, folded, page, plain, prose, without_marks
from tests.show.shown import Outline

HOSTILE = "<script>alert('é')</script>&\"`*<b>*`"


@pytest.mark.parametrize("make", [plain, code, prose])
def test_nothing_from_outside_becomes_an_element(make) -> None:
    outline = Outline(page([make(HOSTILE).html]))
    assert {name for name, _attributes in outline.elements} <= {"div", "code", "em", "strong"}


@pytest.mark.parametrize("make", [plain, code])
def test_data_is_shown_as_it_is(make) -> None:
    assert Outline(make(HOSTILE).html).text == HOSTILE
    assert make(HOSTILE).text == HOSTILE


def test_prose_knows_code_strong_and_emphasis() -> None:
    html = prose("The **one** call `a*b*c <i>` is *new*.").html
    assert "<strong>one</strong>" in html
    assert "<em>new</em>" in html
    assert ">a*b*c &lt;i&gt;</code>" in html


def test_a_multiplication_is_not_emphasis() -> None:
    assert "<em>" not in prose("quantity * 250 + 2 * 50").html


def test_marks_are_taken_off_for_buttons() -> None:
    assert without_marks("The **one** call `x` is *new*: 2 * 3 * 4") == "The one call x is new: 2 * 3 * 4"


def table(rows: int = 2) -> Table:
    cells = [(code(f"<{n}>"), plain(n)) for n in range(rows)]
    return Table("Orders & more", ["Order", "Count"], cells, frozenset({1}), empty="There is none.")


def test_a_table_has_header_cells_a_caption_and_a_frame_for_the_keyboard() -> None:
    outline = Outline(table().html())
    assert [cell["scope"] for cell in outline.all("th")] == ["col", "col", "row", "row"]
    assert len(outline.all("caption")) == 1
    frame = outline.elements[0][1]
    assert (frame["tabindex"], frame["role"], frame["aria-label"]) == ("0", "group", "Orders & more")
    assert "overflow-x:auto" in str(frame["style"])


def test_a_table_as_text_is_aligned() -> None:
    assert table().text().splitlines() == [
        "Orders & more",
        "  Order  Count",
        "  -----  -----",
        "  <0>        0",
        "  <1>        1",
    ]


def test_an_empty_table_says_so() -> None:
    assert "There is none." in table(0).text()
    assert "There is none." in Outline(table(0).html()).text


def test_colours_come_from_the_theme_and_sizes_are_relative() -> None:
    html = page([box("bad", plain("x").html, live=True), table().html(), folded("more", plain("y")), blank().html])
    styles = ";".join(str(attributes.get("style", "")) for _name, attributes in Outline(html).elements)
    for declaration in styles.split(";"):
        name, _colon, value = declaration.partition(":")
        if name == "color" or name.startswith("background"):
            assert value.startswith("var(--jp-") or value == "inherit", declaration
        if name in {"font-size", "padding", "margin", "max-width", "min-width", "width"}:
            assert "px" not in value, declaration
