"""The parts of the charts: blocks, texts and lines of an SVG image, measured in em.

A live page gets the image as SVG in its own colours; what is stored holds it as a picture on a white ground, because
JupyterLab takes inline SVG out of a notebook that it does not trust and leaves only its letters.
"""

from __future__ import annotations

import textwrap
from base64 import b64encode
from dataclasses import dataclass
from html import escape

UNIT = 16
"""Units of the drawing in one em."""

LETTER = 0.56
BAR = 1.5

INK = "var(--jp-content-font-color1,#1f1f1f)"
SOFT = "var(--jp-content-font-color2,#555)"
PAPER = "var(--jp-layout-color0,#fff)"
"""The ground of the page itself: on the lighter one of cards, the dark theme's red has less contrast than 4.5:1."""

FRAME = "var(--jp-border-color1,#bdbdbd)"
RIGHT = "var(--jp-brand-color1,#1976d2)"
BAD = "var(--jp-error-color1,#d32f2f)"
GOOD = "var(--jp-success-color1,#388e3c)"
_SANS = "var(--jp-content-font-family,sans-serif)"
_MONO = "var(--jp-code-font-family,monospace)"


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG image with its size in em, and how it stands on a page. `title` and `said` are its text alternative."""

    width: float
    height: float
    inside: str
    style: str
    title: str = ""
    said: str = ""


def inline(drawing: Drawing) -> str:
    """The image as SVG; its own width and height serve a viewer that ignores the style."""
    role = 'role="img"' if drawing.title else 'aria-hidden="true"'
    size = f'width="{units(drawing.width)}" height="{units(drawing.height)}"'
    words = f"<title>{escape(drawing.title)}</title><desc>{escape(drawing.said)}</desc>" if drawing.title else ""
    # The letters' size is the group's, not the image's: an em of the image stays one of the text around it.
    letters = f"fill:{INK};font-size:{UNIT}px;font-family:{_SANS}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {role} {size} '
        f'viewBox="0 0 {units(drawing.width)} {units(drawing.height)}" style="{drawing.style}">'
        f'{words}<g style="{letters}">{drawing.inside}</g></svg>'
    )


def image(drawing: Drawing) -> str:
    """The image as an element that also a page keeps that allows no SVG in its text."""
    data = b64encode(inline(drawing).encode()).decode("ascii")
    words = f"{drawing.title}. {drawing.said}" if drawing.title else ""
    return f'<img alt="{escape(words)}" style="{drawing.style}" src="data:image/svg+xml;base64,{data}">'


def block(kind: str, x: float, y: float, width: float) -> str:
    """One delivery."""
    wide = width - 0.2
    if kind == "empty":
        style = f"fill:{PAPER};stroke:{SOFT};stroke-width:1.5;stroke-dasharray:4 3"
        return rectangle(x + 0.05, y + 0.05, wide - 0.1, BAR - 0.1, style, 0.2)
    drawn = rectangle(x, y, wide, BAR, f"fill:{RIGHT if kind == 'right' else BAD}", 0.2)
    if kind == "right":
        return drawn
    middle, centre, arm = x + wide / 2, y + BAR / 2, 0.32
    cross = (
        f"M{units(middle - arm)} {units(centre - arm)} L{units(middle + arm)} {units(centre + arm)} "
        f"M{units(middle + arm)} {units(centre - arm)} L{units(middle - arm)} {units(centre + arm)}"
    )
    return drawn + f'<path d="{cross}" style="fill:none;stroke:{PAPER};stroke-width:3"/>'


def rectangle(x: float, y: float, width: float, height: float, style: str, round_by: float) -> str:
    return (
        f'<rect x="{units(x)}" y="{units(y)}" width="{units(width)}" height="{units(height)}" '
        f'rx="{units(round_by)}" style="{style}"/>'
    )


def lettering(
    x: float,
    y: float,
    text: str,
    *,
    colour: str = "",
    bold: bool = False,
    mono: bool = False,
    size: float = 1,
    anchor: str = "",
) -> str:
    styles = {
        "fill": colour,
        "font-weight": "bold" if bold else "",
        "font-size": f"{size * UNIT:g}px" if size != 1 else "",
        "font-family": _MONO if mono else "",
        "text-anchor": anchor,
    }
    said = ";".join(f"{name}:{value}" for name, value in styles.items() if value)
    style = f' style="{said}"' if said else ""
    # Names stay as they are, also when a browser translates the page.
    same = ' translate="no"' if mono else ""
    return f'<text x="{units(x)}" y="{units(y)}"{same}{style}>{escape(text)}</text>\n'


def units(length: float) -> str:
    return f"{length * UNIT:.1f}".rstrip("0").rstrip(".")


def wrapped(text: str, room: float) -> list[str]:
    """The lines of a text that has `room` em; one empty line for no text."""
    return textwrap.wrap(text, int(room / LETTER)) or [""]
