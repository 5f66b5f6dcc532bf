"""Deliveries against business effects as a chart (SVG), one panel for each guard.

A delivery is a block: full where it had an effect, empty where it had none. The target is a line after the first
block, so an effect too many is seen from the back of a room: it stands on the wrong side of the line. Signs and
numbers say the same as the colours.

Each panel is a picture of its own with letters as large as the text around it, so that panels stand side by side on
a wide page and below each other in a narrow one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from html import escape

from helpers.lab.experiments import ExperimentResult
from helpers.lab.guard_comparison import GuardComparison
from helpers.lab.language import _, labelled, ngettext
from helpers.show.markup import Cell, Table, code, folded, heading, marked, page, paragraph, plain, prose
from helpers.show.picture import (
    BAD,
    CALM,
    GOOD,
    INK,
    MONO,
    PAGE,
    SOFT,
    UNIT,
    Drawing,
    inline,
    shown,
    units,
    without_theme,
)

_WIDTH = 14.3
"""Four panels side by side fill a slide of 1920 px with letters of 30 px."""

_PAD = 0.7
_ROOM = _WIDTH - 2 * _PAD
_LINE = 1.3
_LETTER = 0.56
_BAR = 1.5
_BLOCK, _BLOCKS = 2.3, 8.2
_GAP = 0.55
_NUMBER = 1.25


class ShownGuards:
    """All forms of a comparison."""

    def __init__(self, result: GuardComparison) -> None:
        self._result = result

    def text(self) -> str:
        return "\n".join([self._table().text(), "", _verdict(self._result).replace("`", "")])

    def html(self) -> str:
        return self._page(shown)

    def live_html(self) -> str:
        """As `html`, in the colours of the page's theme."""
        return self._page(inline)

    def _page(self, drawn: Callable[[Drawing], str]) -> str:
        numbers = self._table()
        return page(
            [
                heading(_title()),
                _legend_html(drawn),
                _panels(self._result, drawn),
                f'<p style="margin:.4em 0;font-weight:bold">{prose(_verdict(self._result)).html}</p>',
                folded(_("The same as a table"), Cell(numbers.text(), numbers.html())),
            ]
        )

    def picture(self) -> str:
        """The chart as one SVG image that needs nothing around it."""
        return without_theme(inline(_whole(self._result)))

    def _table(self) -> Table:
        heads = [_("Guard"), _("Fault"), _("What happens"), _("Deliveries"), _("Effects"), _("One effect?")]
        rows = [
            (
                code(row.guard),
                code(row.fault),
                plain(fault_in_words(row.fault)),
                plain(row.deliveries),
                plain(row.effects),
                marked(_("✓ yes") if row.effects == 1 else _("✗ no")),
            )
            for row in self._result.rows
        ]
        return Table(_title(), heads, rows, frozenset({3, 4}))


def guard_in_words(guard: str) -> str:
    """What a worker does against repetition."""
    return {
        "none": _("writes each time"),
        "counter": _("adds to a counter"),
        "read-then-write": _("reads first, then writes"),
        "message-id": _("key: the message id"),
        "conditional-write": _("key: the order id"),
    }[guard]


def fault_in_words(fault: str) -> str:
    """What happens to the job."""
    return {
        "none": _("nothing goes wrong"),
        "producer-copy": _("copies, one by one"),
        "interleaved": _("two copies at once"),
        "crash-after-write": _("crash after the write"),
        "slow-worker": _("slow worker"),
    }[fault]


def _title() -> str:
    return _("Deliveries and business effects of one order")


def _target() -> str:
    return _("1 order = 1 effect")


def _verdict(result: GuardComparison) -> str:
    """What the chart shows, in one sentence."""
    safe = [guard for guard in result.guards if result.safe(guard)]
    if not safe:
        return _("None of these guards keeps exactly one effect per order in all of these cases.")
    if len(safe) == len(result.guards):
        return _("All of these guards keep exactly one effect per order in all of these cases.")
    names = ", ".join(f"`{guard}`" for guard in safe)
    return _("Only with {guards} does an order have exactly one effect in all of these cases.").format(guards=names)


def _judged(result: GuardComparison, guard: str) -> str:
    """The sign and the word for one guard."""
    if result.safe(guard):
        return "✓ " + _("always 1 effect")
    counts = [row.effects for row in result.of(guard)]
    if max(counts) > 1:
        return "✗ " + _("up to {count} effects").format(count=max(counts))
    return "✗ " + _("the effect is missing")


def _row_in_words(row: ExperimentResult) -> str:
    deliveries = ngettext("{count} delivery", "{count} deliveries", row.deliveries).format(count=row.deliveries)
    effects = ngettext("{count} effect", "{count} effects", row.effects).format(count=row.effects)
    return labelled(fault_in_words(row.fault), f"{deliveries}, {effects}")


# --- the page ---------------------------------------------------------------------------------------------------


def _panels(result: GuardComparison, drawn: Callable[[Drawing], str]) -> str:
    """The panels in pairs: four, two or one side by side, never three and one."""
    panels = [drawn(_panel_alone(result, guard)) for guard in result.guards]
    flow = "display:flex;flex-wrap:wrap;gap:.7em"
    pairs = [f'<div style="{flow}">{"".join(panels[n : n + 2])}</div>' for n in range(0, len(panels), 2)]
    return f'<div style="{flow};margin:.6em 0">{"".join(pairs)}</div>'


def _panel_alone(result: GuardComparison, guard: str) -> Drawing:
    return Drawing(
        _WIDTH,
        _height(result),
        _panel(result, guard, 0, 0),
        f"display:block;width:{_WIDTH:g}em;max-width:100%;height:auto",
        labelled(guard, _judged(result, guard)),
        "; ".join(_row_in_words(row) for row in result.of(guard)) + ".",
        ground=PAGE,
    )


def _legend_html(drawn: Callable[[Drawing], str]) -> str:
    items = []
    line = "display:inline-flex;align-items:center;gap:.4em;margin-right:1.2em"
    for kind, words in _legend():
        icon = Drawing(_BLOCK - 0.2, _BAR, _block(kind, 0, 0, _BLOCK), "height:1.1em;width:auto;flex:none", ground=PAGE)
        items.append(f'<span style="{line}">{drawn(icon)}<span>{escape(words)}</span></span>')
    return paragraph(Cell("", " ".join(items)))


def _legend() -> list[tuple[str, str]]:
    return [
        ("right", _("delivery with the first effect")),
        ("extra", _("delivery with one effect too many")),
        ("empty", _("delivery without an effect")),
    ]


def _whole(result: GuardComparison) -> Drawing:
    """All panels in one image, with title, legend and verdict."""
    across = min(4, len(result.guards))
    step, tall = _WIDTH + 0.8, _height(result)
    down = -(-len(result.guards) // across)
    width = max(across * step, 2 * step) + 0.8
    parts, y = [], 1.6
    parts.append(_text(0.8, y, _title(), bold=True, size=1.2))
    y += 1.6
    for kind, words in _legend():
        parts += [_block(kind, 0.8, y - 1.15, _BLOCK), _text(1.2 + _BLOCK, y, words)]
        y += 1.9
    y -= 0.6
    for number, guard in enumerate(result.guards):
        row, column = divmod(number, across)
        parts.append(_panel(result, guard, 0.8 + column * step, y + row * (tall + 0.8)))
    y += down * (tall + 0.8) + 0.9
    for line in textwrap.wrap(_verdict(result).replace("`", ""), int((width - 1.6) / _LETTER)):
        parts.append(_text(0.8, y, line, bold=True))
        y += _LINE
    ground = f'<rect width="{units(width)}" height="{units(y)}" style="fill:{PAGE}"/>'
    said = " ".join(labelled(guard, "; ".join(map(_row_in_words, result.of(guard)))) + "." for guard in result.guards)
    return Drawing(width, y, ground + "".join(parts), "max-width:100%;height:auto", _title(), said)


# --- one panel --------------------------------------------------------------------------------------------------


def _height(result: GuardComparison) -> float:
    rows = sum(_row_height(fault) for fault in result.faults)
    return _head(result) + rows + len(_target_lines(result)) * _LINE + _PAD


def _block_width(result: GuardComparison) -> float:
    return min(_BLOCK, _BLOCKS / max(max(row.deliveries, row.effects) for row in result.rows))


def _target_lines(result: GuardComparison) -> list[str]:
    return _wrapped(_target(), _ROOM - _block_width(result) - 0.5)


def _head(result: GuardComparison) -> float:
    """The height of the names and verdicts above the rows, the same in all panels: so their rows are level."""
    described = max(len(_wrapped(guard_in_words(guard))) for guard in result.guards)
    judged = max(len(_wrapped(_judged(result, guard))) for guard in result.guards)
    return _PAD + (1 + described + judged) * _LINE + 0.6


def _row_height(fault: str) -> float:
    return len(_wrapped(fault_in_words(fault))) * _LINE + 0.2 + _BAR + _GAP


def _wrapped(text: str, room: float = _ROOM) -> list[str]:
    return textwrap.wrap(text, int(room / _LETTER)) or [""]


def _panel(result: GuardComparison, guard: str, left: float, top: float) -> str:
    safe = result.safe(guard)
    height = _height(result)
    frame = f"fill:{PAGE};stroke:{GOOD if safe else SOFT};stroke-width:{4 if safe else 1.5}"
    x, y = left + _PAD, top + _PAD + 1
    parts = [_rectangle(left + 0.15, top + 0.15, _WIDTH - 0.3, height - 0.3, frame, 0.4)]
    parts.append(_text(x, y, guard, bold=True, mono=True))
    for line in _wrapped(guard_in_words(guard)):
        y += _LINE
        parts.append(_text(x, y, line, colour=SOFT))
    for line in _wrapped(_judged(result, guard)):
        y += _LINE
        parts.append(_text(x, y, line, colour="" if safe else BAD, bold=True))
    y = top + _head(result)
    rows = result.of(guard)
    block = _block_width(result)
    for row in rows:
        for line in _wrapped(fault_in_words(row.fault)):
            parts.append(_text(x, y + 0.95, line))
            y += _LINE
        parts.append(_bar(row, x, y + 0.2, block))
        # The line of the target stands beside the bars only, so that it crosses no letters.
        last = row is rows[-1]
        parts.append(_target_line(x + block, y, y + _BAR + (1.3 if last else 0.4)))
        y += 0.2 + _BAR + _GAP
    parts += [
        _text(x + block + 0.5, y + 0.85 + number * _LINE, line) for number, line in enumerate(_target_lines(result))
    ]
    return "".join(parts)


def _target_line(x: float, top: float, bottom: float) -> str:
    return f'<path d="M{units(x)} {units(top)} V{units(bottom)}" style="fill:none;stroke:{INK};stroke-width:2.5"/>'


def _bar(row: ExperimentResult, x: float, y: float, block: float) -> str:
    parts = []
    for number in range(max(row.deliveries, row.effects)):
        kind = "empty" if number >= row.effects else "extra" if number else "right"
        # The target line passes through the space after the first block.
        parts.append(_block(kind, x + number * block + (0.2 if number else -0.1), y, block))
    sign, colour = ("✓", "") if row.effects == 1 else ("✗", BAD)
    numbers = f"{row.deliveries} → {row.effects} {sign}"
    parts.append(_text(x + _ROOM, y + 1.2, numbers, colour=colour, bold=True, size=_NUMBER, anchor="end"))
    return "".join(parts)


def _block(kind: str, x: float, y: float, width: float) -> str:
    """One delivery."""
    wide = width - 0.2
    if kind == "empty":
        style = f"fill:{PAGE};stroke:{SOFT};stroke-width:1.5;stroke-dasharray:4 3"
        return _rectangle(x + 0.05, y + 0.05, wide - 0.1, _BAR - 0.1, style, 0.2)
    drawn = _rectangle(x, y, wide, _BAR, f"fill:{CALM if kind == 'right' else BAD}", 0.2)
    if kind == "right":
        return drawn
    middle, centre, arm = x + wide / 2, y + _BAR / 2, 0.32
    cross = (
        f"M{units(middle - arm)} {units(centre - arm)} L{units(middle + arm)} {units(centre + arm)} "
        f"M{units(middle + arm)} {units(centre - arm)} L{units(middle - arm)} {units(centre + arm)}"
    )
    return drawn + f'<path d="{cross}" style="fill:none;stroke:{PAGE};stroke-width:3"/>'


def _rectangle(x: float, y: float, width: float, height: float, style: str, round_by: float) -> str:
    return (
        f'<rect x="{units(x)}" y="{units(y)}" width="{units(width)}" height="{units(height)}" '
        f'rx="{units(round_by)}" style="{style}"/>'
    )


def _text(
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
