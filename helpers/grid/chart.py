"""The chart of a grid: a panel for each value of its first name, a bar for each run.

A block is one write that a worker tried. It is full where the write took effect, has a cross where that was one too
many, and is empty where it was refused. The line stands where each order is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.grid.results import Row
from helpers.grid.words import in_words, row_in_words
from helpers.lab.language import _, labelled, ngettext
from helpers.show.drawing import BAR, block, lettering, rectangle, wrapped
from helpers.show.picture import BAD, GOOD, INK, PAGE, SOFT, Drawing, inline, units

_WIDTH = 20.0
_PAD = 0.7
_ROOM = _WIDTH - 2 * _PAD
_LINE = 1.3
_WIDEST, _BLOCKS = 2.0, 13.0
_SINGLE = 0.55
"""Below this width in em, a bar has one block for each kind, not one for each write."""

_GAP = 0.6


def panels(first: str, rows: Sequence[Row]) -> list[str]:
    """An SVG image for each value of the name `first`, in the order of the rows."""
    values = list(dict.fromkeys(row.values[first] for row in rows))
    width = _unit(rows)
    head = max((_head(first, value, _of(first, value, rows)) for value in values), default=0.0)
    return [_panel(first, value, _of(first, value, rows), width, head) for value in values]


def each_once(rows: Sequence[Row]) -> bool:
    """Whether a run came to its end, and in all that did each order was written once."""
    good = [row for row in rows if not row.error]
    return bool(good) and all(row.right for row in good)


def judged(rows: Sequence[Row]) -> str:
    """The sign and the words for some runs: those of a guard."""
    good = [row for row in rows if not row.error]
    if not good:
        return "? " + _("no run came to its end")
    if each_once(good):
        return "✓ " + _("each order was written once")
    count = sum(not row.right for row in good)
    said = ngettext("not exactly once in {count} of {all} run", "not exactly once in {count} of {all} runs", len(good))
    return "✗ " + said.format(count=count, all=len(good))


def legend() -> list[tuple[str, str]]:
    """A small image and the words for each kind of block."""
    kinds = [
        ("right", _("an accepted write")),
        ("extra", _("an accepted write too many")),
        ("empty", _("a refused write")),
    ]
    style = "height:1.1em;width:auto;flex:none"
    return [(inline(Drawing(_WIDEST, BAR, block(kind, 0, 0, _WIDEST), style)), words) for kind, words in kinds]


def row_said(row: Row) -> str:
    """A run in words, as the chart's text alternative."""
    if row.error:
        return _("the run went wrong")
    tried = row.accepted + row.refused
    writes = ngettext("{count} write tried", "{count} writes tried", tried).format(count=tried)
    effects = ngettext("{count} accepted", "{count} accepted", row.accepted).format(count=row.accepted)
    return f"{writes}, {effects}"


def _of(first: str, value: Any, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.values[first] == value]


def _rest(first: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != first}


def _unit(rows: Sequence[Row]) -> float:
    most = max((max(row.accepted + row.refused, row.wanted) for row in rows if not row.error), default=1)
    return min(_WIDEST, _BLOCKS / max(1, most))


def _head(first: str, value: Any, rows: Sequence[Row]) -> float:
    lines = len(wrapped(in_words(first, value), _ROOM)) + len(wrapped(judged(rows), _ROOM))
    return _PAD + (1 + lines) * _LINE + 0.6


def _panel(first: str, value: Any, rows: Sequence[Row], unit: float, head: float) -> str:
    verdict, safe = judged(rows), each_once(rows)
    x, y = _PAD, _PAD + 1
    parts = [lettering(x, y, str(value), bold=True, mono=True)]
    for line in wrapped(in_words(first, value), _ROOM):
        y += _LINE
        parts.append(lettering(x, y, line, colour=SOFT))
    for line in wrapped(verdict, _ROOM):
        y += _LINE
        parts.append(lettering(x, y, line, colour="" if safe else BAD, bold=True))
    y = head
    said = []
    for row in rows:
        words = row_in_words(_rest(first, row.values))
        said.append(labelled(words, row_said(row)))
        for line in wrapped(words, _ROOM):
            parts.append(lettering(x, y + 0.95, line))
            y += _LINE
        parts += _bar(row, x, y + 0.2, unit)
        y += 0.2 + BAR + _GAP
    height = y + _PAD - 0.3
    frame = f"fill:{PAGE};stroke:{GOOD if safe else SOFT};stroke-width:{4 if safe else 1.5}"
    parts.insert(0, rectangle(0.15, 0.15, _WIDTH - 0.3, height - 0.3, frame, 0.4))
    style = f"display:block;width:{_WIDTH:g}em;max-width:100%;height:auto"
    return inline(Drawing(_WIDTH, height, "".join(parts), style, labelled(str(value), verdict), "; ".join(said)))


def _bar(row: Row, x: float, y: float, unit: float) -> list[str]:
    if row.error:
        return [lettering(x, y + 1.1, "✗ " + row_said(row), colour=BAD, bold=True)]
    parts = []
    place = 0
    right = min(row.accepted, row.wanted)
    for kind, count in (("right", right), ("extra", row.accepted - right), ("empty", row.refused)):
        # The target line passes through the space that each block leaves behind it.
        widths = [unit] * count if unit >= _SINGLE else [unit * count] * bool(count)
        for width in widths:
            parts.append(block(kind, x + place * unit, y, max(width, 0.3)))
            place += round(width / unit)
    line = x + row.wanted * unit - 0.1
    path = f"M{units(line)} {units(y - 0.2)} V{units(y + BAR + 0.2)}"
    parts.append(f'<path d="{path}" style="fill:none;stroke:{INK};stroke-width:2.5"/>')
    sign, colour = ("✓", "") if row.right else ("✗", BAD)
    numbers = f"{row.accepted + row.refused} → {row.accepted} {sign}"
    parts.append(lettering(x + _ROOM, y + 1.1, numbers, colour=colour, bold=True, size=1.15, anchor="end"))
    return parts
