"""The timeline: one lane per message or execution, what happened to it from left to right, as a drawing and as a table.

The distance between two marks is not a duration. One write takes some milliseconds, one visibility timeout 30 seconds,
and a class skips them: on an axis of clock time all marks of a delivery would lie on one another. So each event takes
one column, in the order of the journal, and where the clock was moved forward a line says by how much.

Each lane counts its own steps, which fits a narrow pane. On request the live form gives all lanes the same columns:
then what stands further to the right happened later. The stored form does not: two messages that are handled at once
do not take turns in the same way each time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from helpers.lab.lanes import Lane, Mark, MarkKind, Skip, in_order, places
from helpers.lab.language import _, labelled, ngettext
from helpers.lab.language import number as as_read
from helpers.show.marks import LOOKS, drawn, letters, marks, sentence_of, story_of, title_of, word_of
from helpers.show.markup import SCROLLED_BY_KEYBOARD, Cell, Table, folded, heading, page, paragraph, plain
from helpers.show.picture import INK, LINE, SHADE, SOFT, UNIT, Drawing, inline, shown

MOST_LANES = 20
"""Lanes that are drawn: the newest ones."""

_COLUMN = 36.0
_LANE = 44.0
_AXIS = 28.0
_GAP = 58.0
_LABEL_EM = 7.5
_SHORT_NAME = 18
"""Characters of a body that names no order."""


@dataclass(slots=True)
class _Columns:
    """Where the events of some lanes stand: x in units of the drawing, by the event's number."""

    x: dict[int, float] = field(default_factory=dict)
    skips: list[tuple[float, float]] = field(default_factory=list)
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lanes to draw, oldest first; `before` older ones are not among them.

    `alive`: for a page that changes, with durations in the stories and marks that can be chosen; otherwise nothing is
    shown that differs between two runs of the same lesson. `common`: the same columns for all lanes.
    """

    lanes: Sequence[Lane]
    skips: Sequence[Skip] = ()
    before: int = 0
    alive: bool = False
    common: bool = False
    executions: bool = False

    # --- both forms ---------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The table, after what it is."""
        if not self.lanes:
            return f"{self._title()}\n  {self.empty()}"
        return "\n".join(filter(None, [self.table().text(), self._left_out()]))

    def html(self) -> str:
        if not self.lanes:
            return page([heading(self._title()), paragraph(plain(self.empty()))])
        return page([heading(self._title()), self.drawing(), self.legend(), self.notes(), self.stories()])

    def notes(self) -> str:
        """How to read the drawing, and what is not in it."""
        order = (
            _("All lanes have the same steps: what stands further to the right happened later.")
            if self.common
            else _("Each lane has its own steps: marks below each other need not happen at the same time.")
        )
        skipped = _("A dashed line: the clock was moved forward.") if self.skips else ""
        return paragraph(plain(" ".join(filter(None, [order, skipped, self._left_out()]))), soft=True)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from helpers.show.bundle import bundle

        return bundle(self)

    def _title(self) -> str:
        return _("Timeline")

    def empty(self) -> str:
        """What is said when there is no lane."""
        if self.executions:
            return _("No execution was started yet. Each execution will have a lane here.")
        return _("No message was sent yet. Each message will have a lane here.")

    def _left_out(self) -> str:
        if not self.before:
            return ""
        sentence = (
            ngettext("{count} older execution is not shown.", "{count} older executions are not shown.", self.before)
            if self.executions
            else ngettext("{count} older message is not shown.", "{count} older messages are not shown.", self.before)
        )
        return sentence.format(count=self.before)

    # --- the table ----------------------------------------------------------------------------------------------

    def table(self) -> Table:
        """The same as rows: in the order of the account where that is the order of the drawing, else lane by lane."""
        if self.alive:
            told = [(lane, mark) for lane, mark, which in in_order(list(self.lanes)) if which == "begin"]
            rows = [self._row(step, lane, mark) for step, (lane, mark) in enumerate(told, start=1)]
        else:
            rows = [self._row(step, lane, mark) for lane in self.lanes for step, mark in enumerate(lane.marks, start=1)]
        headers = [_("Step"), _("Mark"), _("What happened")]
        return Table(_("The timeline as a table"), headers, rows)

    def _row(self, step: int, lane: Lane, mark: Mark) -> tuple[Cell, ...]:
        name = str(step) if self.alive else f"{lane.number}.{step}"
        return plain(name), plain(_short_word(mark)), plain(story_of(lane, mark, measured=self.alive))

    # --- the drawing --------------------------------------------------------------------------------------------

    def drawing(self) -> str:
        """Names of the lanes at the left, and the marks in a frame that scrolls, also by keyboard."""
        columns = self._columns()
        width = max(columns[lane.key].width for lane in self.lanes)
        head = _AXIS if any(columns[lane.key].skips for lane in self.lanes) and self.common else 4.0
        height = head + _LANE * len(self.lanes)
        parts = [self._skips_of_all(columns[self.lanes[0].key], head, height)] if self.common else []
        for place, lane in enumerate(self.lanes):
            parts.append(self._lane(lane, columns[lane.key], head + _LANE * (place + 0.5), width, head + _LANE * place))
        names = "".join(self._name(lane) for lane in self.lanes)
        size = f"width:{width / UNIT:g}em;height:{height / UNIT:g}em"
        drawing = Drawing(
            width / UNIT,
            height / UNIT,
            marks("".join(parts)),
            f"display:block;margin:0;{size};max-width:none",
            self._title(),
            self._in_words(),
            parts_speak=True,
        )
        return (
            '<div class="once-timeline" style="display:flex;margin:.4em 0">'
            f'<div aria-hidden="true" style="flex:0 0 min({_LABEL_EM}em,32%);min-width:4.5em;'
            f'padding-top:{head / UNIT:g}em">{names}</div>'
            f'<div class="once-scroll" data-k="scroll" {SCROLLED_BY_KEYBOARD} aria-label="{escape(self._title())}" '
            f'style="overflow-x:auto;flex:1 1 auto;min-width:0">{self._form(drawing)}</div></div>'
        )

    def legend(self) -> str:
        """The marks that occur, with their words."""
        there = {mark.kind for lane in self.lanes for mark in lane.marks}
        shown_kinds = [kind for kind in LOOKS if kind in there]
        items = "".join(
            f'<li style="display:inline-flex;align-items:center;gap:.35em;margin:0">'
            f"{self._form(_icon(kind))}<span>{escape(word_of(kind))}</span></li>"
            for kind in shown_kinds
        )
        title = escape(_("Marks of the timeline"))
        style = "list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.1em;margin:.4em 0;padding:0"
        return f'<ul aria-label="{title}" style="{style}">{items}</ul>'

    def stories(self) -> str:
        """What each mark tells, folded: an image has no parts that could be pointed at."""
        told = "".join(
            heading(title_of(lane))
            + "<ol>"
            + "".join(f"<li>{escape(sentence_of(mark, measured=self.alive))}</li>" for mark in lane.marks)
            + "</ol>"
            for lane in self.lanes
        )
        return folded(_("What happened"), Cell("", told))

    def _form(self, drawing: Drawing) -> str:
        return inline(drawing) if self.alive else shown(drawing)

    def _in_words(self) -> str:
        """The marks of each lane, in the order of the drawing."""
        return " ".join(
            labelled(title_of(lane), ", ".join(_short_word(mark) for mark in lane.marks)) + "." for lane in self.lanes
        )

    def _columns(self) -> dict[str, _Columns]:
        """Columns of each lane: its own, or the same ones for all."""
        if self.common:
            numbers = sorted({number for lane in self.lanes for number, _mark, _which in places(lane)})
            shared = _placed(numbers, self.skips)
            return {lane.key: shared for lane in self.lanes}
        return {
            lane.key: _placed(sorted({number for number, _mark, _which in places(lane)}), self.skips, trailing=False)
            for lane in self.lanes
        }

    def _lane(self, lane: Lane, columns: _Columns, y: float, width: float, top: float) -> str:
        parts = [f'<path d="M0 {y:g}H{width:g}" stroke="{LINE}" stroke-width="1.2" fill="none"/>']
        if not self.common:
            parts += [_skip_line(x, top + 3, top + _LANE - 3) for x, _seconds in columns.skips]
        ordered = sorted(lane.marks, key=lambda mark: mark.kind != "run")  # bars lie under what happens in them
        parts += [self._mark(lane, mark, columns, y) for mark in ordered]
        return f"<g{self._key(lane)}>{''.join(parts)}</g>"

    def _mark(self, lane: Lane, mark: Mark, columns: _Columns, y: float) -> str:
        x = columns.x[mark.number]
        if mark.kind == "run":
            inside = _bar(mark, x, columns.x[mark.end] if mark.end is not None else _open_end(lane, mark, columns), y)
        else:
            inside = drawn(mark.kind, x, y, str(mark.delivery) if mark.kind == "received" else "")
        story = escape(story_of(lane, mark, measured=self.alive))
        key = f"{mark.kind}-{mark.number}-{lane.number}"
        name = escape(_short_word(mark))
        if not self.alive:
            return f'<g role="img"><title>{story}</title>{inside}</g>'
        return (
            f'<g class="once-mark" role="img" tabindex="-1" data-k="{key}" data-x="{x:g}" data-lane="{lane.number}" '
            f'data-story="{story}" aria-label="{name}">{inside}</g>'
        )

    def _name(self, lane: Lane) -> str:
        style = (
            f"height:{_LANE / UNIT:g}em;display:flex;align-items:center;box-sizing:border-box;padding-right:.5em;"
            "overflow:hidden"
        )
        inner = "font-size:.9em;line-height:1.2;overflow-wrap:anywhere;max-height:2.5em;overflow:hidden"
        plain_code = "padding:0;background:none;color:inherit;font-size:inherit;white-space:normal"
        called = escape(lane.name or lane.body[:_SHORT_NAME])
        name = f'<strong>{lane.number}</strong> <code style="{plain_code}">{called}</code>'
        words = f'<span style="{inner}" title="{escape(title_of(lane))}">{name}</span>'
        return f'<div style="{style}"{self._key(lane)}>{words}</div>'

    def _key(self, lane: Lane) -> str:
        """Ids of messages are for a page that changes: they differ from run to run."""
        return f' data-k="{escape(lane.key)}"' if self.alive else ""

    def _skips_of_all(self, columns: _Columns, head: float, height: float) -> str:
        parts = []
        for x, seconds in columns.skips:
            parts.append(_skip_line(x, head, height))
            parts.append(letters(f"+{_amount(seconds)}", x, head / 2, size=15))
        return "".join(parts)


def _placed(numbers: Sequence[int], skips: Sequence[Skip], *, trailing: bool = True) -> _Columns:
    """One column for each number, with a gap where the clock was moved between two of them."""
    columns = _Columns()
    jumps: dict[int, float] = {}
    for skip in skips:
        place = bisect_right(numbers, skip.number)
        if place and (trailing or place < len(numbers)):
            jumps[place] = jumps.get(place, 0.0) + skip.seconds
    x = _COLUMN / 2 + 2
    for place, number in enumerate(numbers):
        if place in jumps:
            columns.skips.append((x + (_GAP - _COLUMN) / 2, jumps[place]))
            x += _GAP
        columns.x[number] = x
        x += _COLUMN
    if len(numbers) in jumps:
        columns.skips.append((x + (_GAP - _COLUMN) / 2, jumps[len(numbers)]))
        x += _GAP
    columns.width = x
    return columns


def _open_end(lane: Lane, run: Mark, columns: _Columns) -> float:
    """How far the bar of a run reaches that has not ended."""
    return max([columns.x[number] for number, _mark, _which in places(lane) if number >= run.number])


def _bar(mark: Mark, begin: float, end: float, y: float) -> str:
    """A run from its begin to its end; an open end while it runs."""
    left, right = begin - 14, end + 15
    dashes = "" if mark.end is not None else ' stroke-dasharray="5 4"'
    bar = (
        f'<rect x="{left:g}" y="{y - 18:g}" width="{right - left:g}" height="36" rx="8" fill="{SHADE}" '
        f'fill-opacity=".5" stroke="{SOFT}" stroke-width="1.6"{dashes}/>'
    )
    sign = {"succeeded": letters("✓", end, y, size=14)}.get(mark.outcome, "") if end > begin else ""
    return bar + letters("λ", begin, y, size=18) + sign


def _skip_line(x: float, top: float, bottom: float) -> str:
    return f'<path d="M{x:g} {top:g}V{bottom:g}" stroke="{INK}" stroke-width="1.8" stroke-dasharray="4 4" fill="none"/>'


def _amount(seconds: float) -> str:
    """A jump of the clock in a short form: 30 s, 5 min, 14 d."""
    for size, text in ((86_400, _("{count} d")), (3_600, _("{count} h")), (60, _("{count} min"))):
        if seconds >= 2 * size and seconds % size == 0:
            return text.format(count=as_read(seconds / size))
    return _("{count} s").format(count=as_read(seconds))


def _icon(kind: MarkKind) -> Drawing:
    """A mark beside its word."""
    return Drawing(2, 2, marks(drawn(kind, UNIT, UNIT)), "width:1.7em;height:1.7em;flex:none;margin:0")


def _short_word(mark: Mark) -> str:
    kinds: dict[MarkKind, str] = {"received": _("received ({delivery})").format(delivery=mark.delivery)}
    return kinds.get(mark.kind) or word_of(mark.kind)
