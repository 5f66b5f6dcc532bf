"""A bar chart as SVG that can be read on a light and on a dark page, and without colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, LABEL, BAR, GAP, TOP = 720, 230, 22, 8, 44

_STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 }
  .first { fill: #0969da }
  .second { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .first { fill: #4493f8 }
    .second { fill: #9198a1 }
  }
"""


@dataclass(frozen=True)
class Bar:
    """A value with its label. `first` marks the bars of what the chart is about."""

    label: str
    value: float
    first: bool


def bars(title: str, values: Sequence[Bar], digits: int = 0) -> str:
    """The chart as the text of an SVG file. Raises ValueError when nothing is above zero."""
    largest = max((bar.value for bar in values), default=0.0)
    if largest <= 0:
        raise ValueError("no value is above zero")
    height = TOP + len(values) * (BAR + GAP) + GAP
    described = "; ".join(f"{bar.label}: {bar.value:.{digits}f}" for bar in values)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="description">{escape(described)}</desc>',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{GAP}" y="24">{escape(title)}</text>',
    ]
    for number, bar in enumerate(values):
        y = TOP + number * (BAR + GAP)
        length = max(1.0, (WIDTH - LABEL - 80) * bar.value / largest)
        kind = "first" if bar.first else "second"
        lines += [
            f'<text x="{LABEL - GAP}" y="{y + 16}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="3"/>',
            f'<text x="{LABEL + length + GAP:.1f}" y="{y + 16}">{bar.value:.{digits}f}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"
