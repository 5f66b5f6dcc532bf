"""A drawing is an image that everybody sees in what is stored, and a part of the page where its theme can reach it."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest

from helpers.show import picture
from helpers.show.picture import Drawing, image, inline, shown, with_drawings, without_theme
from tests.show.shown import Outline

SVG = "{http://www.w3.org/2000/svg}"
WORDS = 'A "drawing" of <two> parts'
TEXTS = {"INK", "SOFT"}
SHAPES = {"LINE", "GOOD", "BAD", "OPEN", "CALM"}
GROUNDS = {"PAPER", "PAGE"}


def drawing(title: str = WORDS, *, parts_speak: bool = False) -> Drawing:
    inside = (
        f'<g role="img"><title>a part</title><path d="M0 0H9" stroke="{picture.GOOD}"/></g><text y="9">λ & Ω</text>'
    )
    return Drawing(4, 2.5, inside.replace("&", "&amp;"), "width:4em", title, "First. Second.", parts_speak)


def inside(html: str) -> ElementTree.Element:
    """The drawing in an image."""
    [found] = Outline(html).all("img")
    return ElementTree.fromstring(base64.b64decode((found["src"] or "").removeprefix("data:image/svg+xml;base64,")))


def test_what_is_stored_is_an_image_with_all_its_words_and_its_size() -> None:
    html = shown(drawing())
    assert html == image(drawing()) == image(drawing())
    [found] = Outline(html).all("img")
    assert found["alt"] == f"{WORDS}. First. Second."
    assert (found["width"], found["height"], found["style"]) == ("64", "40", "width:4em")
    assert set(found) == {"alt", "width", "height", "style", "src"}, "no tabindex: there is nothing to do in it"


def test_an_image_has_a_ground_below_everything_else_and_no_names_of_parts() -> None:
    svg = inside(image(drawing()))
    assert (svg.get("width"), svg.get("viewBox")) == ("64", "0 0 64 40")
    first = next(iter(svg.find(f"{SVG}g") or []))
    assert (first.tag, first.get("width"), first.get("height")) == (f"{SVG}rect", "100%", "100%")
    assert picture.PAPER in (first.get("style") or "")
    assert svg.find(f".//{SVG}title") is None


@pytest.mark.usefixtures("own_page")
def test_a_page_of_ones_own_has_the_drawing_as_a_part_of_it() -> None:
    html = shown(drawing())
    assert html == inline(drawing())
    [svg] = Outline(html).all("svg")
    assert (svg["role"], svg["aria-label"]) == ("img", f"{WORDS}. First. Second.")
    assert "<rect" not in html, "the ground is the page's"
    [svg] = Outline(shown(drawing(parts_speak=True))).all("svg")
    assert (svg["role"], svg["aria-label"]) == ("group", WORDS)


def test_a_drawing_without_a_title_is_passed_over_by_a_screen_reader() -> None:
    [found] = Outline(image(Drawing(1, 1, "", ""))).all("img")
    assert found["alt"] == ""
    [svg] = Outline(inline(Drawing(1, 1, "", ""))).all("svg")
    assert svg["aria-hidden"] == "true"


def test_slides_get_the_drawing_back_with_its_words_and_its_style() -> None:
    other = '<img alt="x" src="data:image/png;base64,AAAA">'
    html = with_drawings(f"<p>{image(drawing())}{other}{image(Drawing(1, 1, '', ''))}</p>")
    [first, second] = Outline(html).all("svg")
    assert (first["role"], first["aria-label"], first["style"]) == ("img", f"{WORDS}. First. Second.", "width:4em")
    assert second["aria-hidden"] == "true"
    assert other in html
    assert "λ & Ω" in Outline(html).text
    ElementTree.fromstring(re.search("<svg.*?</svg>", html)[0])  # type: ignore[index]


def test_a_program_without_variables_of_css_gets_colours() -> None:
    svg = without_theme(inline(drawing()))
    assert "var(" not in svg
    assert 'stroke="#2e7d32"' in svg


def test_without_a_theme_text_and_shapes_stand_out_from_the_white_ground() -> None:
    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def fallback(name: str) -> str:
        return without_theme(getattr(picture, name))

    assert {fallback(name) for name in GROUNDS} == {"#fff"}
    for name in TEXTS | SHAPES | {"SHADE"}:
        contrast = 1.05 / (luminance(fallback(name)) + 0.05)
        if name == "SHADE":
            ink = (luminance(fallback(name)) + 0.05) / (luminance(fallback("INK")) + 0.05)
            assert ink >= 4.5
            edge = (luminance(fallback(name)) + 0.05) / (luminance(fallback("SOFT")) + 0.05)
            assert edge >= 3
        else:
            # BAD is the colour of words too.
            assert contrast >= (4.5 if name in TEXTS | {"BAD"} else 3), (name, contrast)
