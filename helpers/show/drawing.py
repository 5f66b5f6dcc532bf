"""The parts of a chart: blocks and texts of an SVG image, measured in em (helpers/show/picture.py makes the image)."""

from __future__ import annotations

import textwrap
from html import escape

from helpers.show.picture import BAD, CALM, MONO, PAGE, SOFT, UNIT, units

LETTER = 0.56
"""The width of a letter in em, with room to spare."""

BAR = 1.5
"""The height of a block in em."""


def block(kind: str, x: float, y: float, width: float) -> str:
    """One delivery."""
    wide = width - 0.2
    if kind == "empty":
        style = f"fill:{PAGE};stroke:{SOFT};stroke-width:1.5;stroke-dasharray:4 3"
        return rectangle(x + 0.05, y + 0.05, wide - 0.1, BAR - 0.1, style, 0.2)
    drawn = rectangle(x, y, wide, BAR, f"fill:{CALM if kind == 'right' else BAD}", 0.2)
    if kind == "right":
        return drawn
    middle, centre, arm = x + wide / 2, y + BAR / 2, 0.32
    cross = (
        f"M{units(middle - arm)} {units(centre - arm)} L{units(middle + arm)} {units(centre + arm)} "
        f"M{units(middle + arm)} {units(centre - arm)} L{units(middle - arm)} {units(centre + arm)}"
    )
    return drawn + f'<path d="{cross}" style="fill:none;stroke:{PAGE};stroke-width:3"/>'


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
        "font-family": MONO if mono else "",
        "text-anchor": anchor,
    }
    said = ";".join(f"{name}:{value}" for name, value in styles.items() if value)
    style = f' style="{said}"' if said else ""
    # Names stay as they are, also when a browser translates the page.
    same = ' translate="no"' if mono else ""
    return f'<text x="{units(x)}" y="{units(y)}"{same}{style}>{escape(text)}</text>\n'


def wrapped(text: str, room: float) -> list[str]:
    """The lines of a text that has `room` em; one empty line for no text."""
    return textwrap.wrap(text, int(room / LETTER)) or [""]
