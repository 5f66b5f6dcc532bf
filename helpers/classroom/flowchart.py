"""A Mermaid flow chart as HTML: boxes with arrows between them, for pages that have no Mermaid.

JupyterLab and GitHub draw Mermaid themselves. Its library is 3 MB of JavaScript; the charts of the lessons are chains
that go from left to right, so that a few boxes say the same. A chart of any other kind is an error, not a blank.
"""

from __future__ import annotations

import re
from html import escape

_NODE = re.compile(r"\s*\w+(?:\[\((?P<store>[^\])]+)\)\]|\[(?P<box>[^\]]+)\])?\s*")


class UnknownChart(ValueError):
    """The chart is no chain of boxes; the text says which line cannot be drawn."""


def flowchart(source: str) -> str:
    """The HTML of a chart such as `flowchart LR` with `a[one] --> b[(two)]`.

    :raises UnknownChart: it is another kind of chart.
    """
    lines = [line.strip() for line in source.strip().splitlines() if line.strip()]
    if not lines or lines[0] not in ("flowchart LR", "graph LR"):
        raise UnknownChart(f"not a chart from left to right: {lines[0] if lines else 'nothing'}")
    return "".join(_chain(line) for line in lines[1:])


def _chain(line: str) -> str:
    boxes = []
    for part in line.split("-->"):
        found = _NODE.fullmatch(part)
        if found is None:
            raise UnknownChart(f"cannot be drawn: {line}")
        label = found["store"] or found["box"] or part.strip()
        boxes.append(f"<li{' class=once-store' if found['store'] else ''}>{escape(label)}</li>")
    return f'<ol class="once-chain">{"".join(boxes)}</ol>'
