"""Drawings (SVG) on a page: as a part of it in the theme's colours, or as an image of its own.

JupyterLab takes inline SVG out of a notebook that it does not trust, a fresh clone for example, and leaves only its
letters in a row (@jupyterlab/apputils, `Sanitizer`: no tag of SVG is allowed, `<img>` with a data URI is). GitHub's
viewer has a list of its own. So what is stored holds a drawing as an image with all its words as the alternative
text. An image knows nothing of the page around it: no theme, no font size. It brings a ground of its own, the
fallback values of the colours apply to it, and whoever reads in a dark theme sees a light card.

Under a Jupyter server the page is the learner's own, and trusted: there the drawing is a part of it, in the colours
of the theme.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from html import escape

from helpers.show.kept import under_a_server

UNIT = 16
"""Units of a drawing in one em."""

# The fallbacks are seen on white: text needs a contrast of 4.5:1, shapes need 3:1 (WCAG 2.2, 1.4.3 and 1.4.11).
INK = "var(--jp-content-font-color1,#1f1f1f)"
SOFT = "var(--jp-content-font-color2,#555)"
PAPER = "var(--jp-layout-color1,#fff)"
PAGE = "var(--jp-layout-color0,#fff)"
"""The ground of the page itself: on the lighter one of cards, the dark theme's red has less contrast than 4.5:1."""

LINE = "var(--jp-border-color1,#8a8a8a)"
SHADE = "var(--jp-layout-color2,#ececec)"
GOOD = "var(--jp-success-color1,#2e7d32)"
BAD = "var(--jp-error-color1,#c62828)"
OPEN = "var(--jp-warn-color0,#b35900)"
"""The first warning colour of the theme: the usual one has 2.7:1 on the light theme's white."""

CALM = "var(--jp-brand-color1,#1565c0)"
SANS = "var(--jp-content-font-family,sans-serif)"
MONO = "var(--jp-code-font-family,monospace)"

_IMAGE = re.compile(
    r'<img alt="([^"]*)" width="[\d.]+" height="[\d.]+" style="([^"]*)" src="data:image/svg\+xml;base64,([^"]+)">'
)
_NAME_OF_A_PART = re.compile(r' role="img"><title>[^<]*</title>')
_VARIABLE = re.compile(r"var\(--jp-[\w-]+,([^()]+)\)")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing with its size in em, and the style with which it stands on a page.

    `title` and `said` are its text alternative; without them it only repeats words beside it. `parts_speak`: as a part
    of the page, its parts say more than `said` does, each with a name of its own. `ground`: the colour below it.
    """

    width: float
    height: float
    inside: str
    style: str
    title: str = ""
    said: str = ""
    parts_speak: bool = False
    ground: str = PAPER

    @property
    def alternative(self) -> str:
        """All that the drawing says, in words."""
        return f"{self.title}. {self.said}" if self.said else self.title


def shown(drawing: Drawing) -> str:
    """The form for the page that this kernel writes to."""
    return inline(drawing) if under_a_server() else image(drawing)


def inline(drawing: Drawing) -> str:
    """As a part of the page, in the colours of its theme."""
    named = drawing.title if drawing.parts_speak else drawing.alternative
    return _svg(drawing, drawing.inside, _named(escape(named), drawing.style, group=drawing.parts_speak))


def image(drawing: Drawing) -> str:
    """As an image on a ground of its own. Its words are the alternative text: nobody reads or points at its parts."""
    ground = f'<rect width="100%" height="100%" rx="6" style="fill:{drawing.ground}"/>'
    svg = _svg(drawing, ground + _NAME_OF_A_PART.sub(">", drawing.inside), "")
    data = b64encode(svg.encode()).decode("ascii")
    # Width and height serve a viewer that takes the style away.
    return (
        f'<img alt="{escape(drawing.alternative)}" width="{units(drawing.width)}" height="{units(drawing.height)}" '
        f'style="{drawing.style}" src="data:image/svg+xml;base64,{data}">'
    )


def without_theme(svg: str) -> str:
    """SVG for a program that knows no variables of CSS (Inkscape, through which nbconvert makes a PDF)."""
    return _VARIABLE.sub(r"\1", svg)


def with_drawings(html: str) -> str:
    """Images of drawings as parts of the page again: with its fonts and colours, and measured by it."""

    def drawn(found: re.Match[str]) -> str:
        named, style, data = found.groups()
        return b64decode(data).decode().replace("<svg", f"<svg{_named(named, style)}", 1)

    return _IMAGE.sub(drawn, html)


def units(length: float) -> str:
    """A length in em as units of a drawing."""
    return f"{length * UNIT:.1f}".rstrip("0").rstrip(".")


def _svg(drawing: Drawing, inside: str, attributes: str) -> str:
    width, height = units(drawing.width), units(drawing.height)
    # The letters' size is the group's, not the image's: an em of the image stays one of the text around it.
    letters = f"fill:{INK};font-size:{UNIT}px;font-family:{SANS}"
    return (
        f'<svg{attributes} xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><g style="{letters}">{inside}</g></svg>'
    )


def _named(name: str, style: str, *, group: bool = False) -> str:
    """The attributes of a drawing in a page; `name` is escaped."""
    role = "group" if group else "img"
    words = f'role="{role}" aria-label="{name}"' if name else 'aria-hidden="true"'
    return f' {words} style="{style}"'
