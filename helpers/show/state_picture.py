"""A state machine as a picture (SVG), with the way that an execution took.

Whatever a colour says is said by a sign, a word and the kind of line too. Colours come from the theme. Letters are
never smaller than the text around the picture at its usual width, and grow with it, so that a projected picture can be
read from the back of a room; in a narrow pane it becomes smaller, and then it scrolls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from helpers.lab.executions import Arrow, Attempt, Execution, State, StateMachine, Visit, in_words
from helpers.lab.language import _, labelled, ngettext
from helpers.show.markup import SCROLLED_BY_KEYBOARD
from helpers.show.picture import BAD, CALM, INK, MONO, PAGE, PAPER, SOFT, Drawing, inline, shown, units
from helpers.show.state_layout import Box, Way, layout

Look = Literal["name", "words", "code"]

_LINE = 1.45
_PADDING = 0.7
_LARGEST, _SMALLEST = 1.75, 0.75
_LETTER = {"name": 0.62, "words": 0.56, "code": 0.61}
_WIDEST = 24
_MOST_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text in a box: `name` is no word of a language, `text` is, unless it is a name or code as a whole."""

    text: str
    look: Look = "words"
    name: str = ""

    @property
    def whole(self) -> str:
        return self.name + self.text


def picture(machine: StateMachine, execution: Execution | None = None, *, live: bool = False) -> str:
    """The picture in a frame that scrolls, also by keyboard; with an execution, its way through the states.

    `live`: for a widget, always in the colours of the page's theme.
    """
    lines = {state.name: _lines(state, execution) for state in machine.states}
    labels = {arrow: _label_width(arrow) for arrow in machine.arrows}
    placed = layout(machine, {name: _size(texts) for name, texts in lines.items()}, labels)
    taken = execution.path if execution else ()
    parts = [_start(placed.boxes[machine.start], execution is not None)]
    parts += [_way(way, way.arrow in taken, execution is not None) for way in placed.ways]
    parts += [_box(machine[name], box, lines[name], execution) for name, box in placed.boxes.items()]
    caption = _("The state machine as a picture")
    size = f"width:100%;max-width:{placed.width * _LARGEST:.1f}em;min-width:{placed.width * _SMALLEST:.1f}em"
    said = " ".join(described(machine, execution))
    style = f"display:block;margin:0;{size};height:auto"
    drawing = Drawing(placed.width, placed.height, "".join(parts), style, caption, said)
    return (
        f'<div {SCROLLED_BY_KEYBOARD} aria-label="{escape(caption)}" style="overflow-x:auto;margin:.6em 0">'
        f"{(inline if live else shown)(drawing)}</div>"
    )


def described(machine: StateMachine, execution: Execution | None = None) -> list[str]:
    """What the picture shows, as sentences: its text alternative."""
    if execution is None:
        return [_state_in_words(machine, state) for state in machine.states]
    return [_visit_in_words(machine, visit) for visit in execution.visits]


# --- words --------------------------------------------------------------------------------------------------


def _state_in_words(machine: StateMachine, state: State) -> str:
    ways = [_way_in_words(arrow) for arrow in machine.arrows_from(state.name)]
    retries = [
        labelled(_("retry after {errors}").format(errors=", ".join(rule.errors)), _at_most(rule.most))
        for rule in state.retries
    ]
    ends = [_("the execution ends here")] if state.ends else []
    return labelled(f"{state.name} ({state.type})", ", ".join([*retries, *ways, *ends])) + "."


def _way_in_words(arrow: Arrow) -> str:
    words = {
        "next": _("then {state}"),
        "choice": _("if {condition}: {state}"),
        "default": _("otherwise: {state}"),
        "catch": _("after {condition}: {state}"),
    }[arrow.kind]
    return words.format(condition=arrow.label, state=arrow.target)


def _visit_in_words(machine: StateMachine, visit: Visit) -> str:
    said = [in_words(visit.outcome)]
    if visit.retries:
        said.append(_retries(machine[visit.state], visit))
    said += [_attempt(number, attempt) for number, attempt in enumerate(visit.attempts, start=1)]
    if visit.error and not visit.attempts:
        said.append(visit.error)
    return labelled(visit.state, ", ".join(said)) + "."


def _at_most(count: int) -> str:
    return ngettext("at most {count} retry", "at most {count} retries", count).format(count=count)


def _retries(state: State, visit: Visit) -> str:
    most = sum(rule.most for rule in state.retries)
    return _("retries: {count} of {most}").format(count=visit.retries, most=most)


def _attempt(number: int, attempt: Attempt) -> str:
    sign = {"succeeded": "✓", "failed": "✗", "running": "…"}[attempt.outcome]
    return f"{sign} {number} {attempt.error or _flags(attempt.result)}".rstrip()


def _flags(result: Any) -> str:
    """What a result decides: its members that are true or false."""
    members = result.items() if isinstance(result, dict) else ()
    return ", ".join(f"{name}: {str(value).lower()}" for name, value in members if isinstance(value, bool))


def _lines(state: State, execution: Execution | None) -> list[Line]:
    """What stands in the box of a state."""
    lines = [Line(state.name, "name"), Line(f" · {_('end')}" if state.ends else "", name=state.type)]
    if execution is None:
        for rule in state.retries:
            lines += [Line(f"↻ {_at_most(rule.most)}"), *(Line(part, "code") for part in _broken(rule.errors))]
        return lines
    visit = execution.visit(state.name)
    if visit is None:
        return [*lines, Line(f"– {_('not reached')}")]
    if visit.retries:
        lines.append(Line(f"↻ {_retries(state, visit)}"))
    attempts = list(enumerate(visit.attempts, start=1))
    for number, attempt in attempts[-_MOST_ATTEMPTS:]:
        lines += [Line(part, "code") for part in _broken([_attempt(number, attempt)])]
    if visit.outcome == "passed" and not attempts:
        lines.append(Line(f"✓ {in_words('passed')}"))
    elif visit.outcome == "failed" and not attempts:
        lines += [Line(part, "code") for part in _broken([f"✗ {visit.error}".rstrip()])]
    elif visit.outcome != "passed":
        sign = {"caught": "→", "failed": "✗", "running": "…", "waiting": "…"}[visit.outcome]
        lines.append(Line(f"{sign} {in_words(visit.outcome)}"))
    return lines


def _broken(texts: Iterable[str], widest: int = _WIDEST) -> list[str]:
    """Texts in lines of a limited length, broken at spaces and before capital letters inside a name."""
    lines: list[str] = []
    for text in texts:
        line = ""
        for piece in re.findall(r"\s*[^\sA-Z.]*(?:[A-Z]+[^\sA-Z.]*|\.)?|\S", text):
            if line.strip() and len(line + piece) > widest:
                lines.append(line)
                line = "   " + piece.lstrip()
            else:
                line += piece
        lines.append(line)
    return lines


# --- drawing ------------------------------------------------------------------------------------------------


def _size(lines: Sequence[Line]) -> tuple[float, float]:
    width = max(len(line.whole) * _LETTER[line.look] for line in lines)
    return max(width + 2 * _PADDING, 8.0), len(lines) * _LINE + 2 * _PADDING - 0.3


def _start(first: Box, followed: bool) -> str:
    x = first.middle
    colour, width = (CALM, 3) if followed else (INK, 1.5)
    dot = f'<circle cx="{units(x)}" cy="{units(0.7)}" r="{units(0.35)}" style="fill:{colour}"/>'
    line = _line([(x, 0.7), (x, first.y)], colour, width, "")
    return dot + line + _text(x + 0.8, 1.05, Line(_("start")), SOFT)


def _way(way: Way, taken: bool, followed: bool) -> str:
    if followed:
        colour, width, dashes = (CALM, 3.0, "") if taken else (SOFT, 1.5, "5 4")
    else:
        colour, width, dashes = INK, 1.5, ""
    label = _label(way.arrow)
    if not label.text:
        return _line(way.points, colour, width, dashes)
    texts = _broken([label.text], max(8, int(way.room / _LETTER[label.look] + 0.5)))
    straight = len(way.points) == 2
    x, y = way.label
    if not straight:
        y -= (len(texts) - 1) * _LINE
    drawn = "".join(
        _text(x, y + number * _LINE, Line(text, label.look), INK if taken or not followed else SOFT, halo=True)
        for number, text in enumerate(texts)
    )
    return _line(way.points, colour, width, dashes) + drawn


def _label(arrow: Arrow) -> Line:
    """What stands beside an arrow."""
    if arrow.kind == "default":
        return Line(_("otherwise"))
    return Line(f"✗ {arrow.label}" if arrow.kind == "catch" else arrow.label, "code")


def _label_width(arrow: Arrow) -> float:
    label = _label(arrow)
    return min(len(label.text), _WIDEST) * _LETTER[label.look]


def _line(points: Sequence[tuple[float, float]], colour: str, width: float, dashes: str) -> str:
    path = " ".join(f"{'L' if n else 'M'}{units(x)} {units(y)}" for n, (x, y) in enumerate(points))
    dashed = f";stroke-dasharray:{dashes}" if dashes else ""
    drawn = f'<path d="{path}" style="fill:none;stroke:{colour};stroke-width:{width:g}{dashed}"/>'
    return drawn + _head(points[-2], points[-1], colour)


def _head(before: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    """The head of an arrow that runs along a side of the page."""
    along_x, along_y = _sign(end[0] - before[0]), _sign(end[1] - before[1])
    back = (end[0] - along_x * 0.7, end[1] - along_y * 0.7)
    corners = [
        end,
        (back[0] - along_y * 0.4, back[1] - along_x * 0.4),
        (back[0] + along_y * 0.4, back[1] + along_x * 0.4),
    ]
    points = " ".join(f"{units(x)},{units(y)}" for x, y in corners)
    return f'<polygon points="{points}" style="fill:{colour}"/>'


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _box(state: State, box: Box, lines: Sequence[Line], execution: Execution | None) -> str:
    visit = execution.visit(state.name) if execution else None
    colour, width, dashes = INK, 1.5, ""
    if execution and visit is None:
        colour, dashes = SOFT, ";stroke-dasharray:5 4"
    elif visit:
        colour, width = (BAD if visit.outcome in {"failed", "caught"} else CALM), 3.0
    style = f"fill:{PAPER};stroke:{colour};stroke-width:{width:g}{dashes}"
    parts = [_rectangle(box, 0, style)]
    if visit and visit.outcome == "failed":
        parts.append(_rectangle(box, 0.25, f"fill:none;stroke:{colour};stroke-width:1.5"))
    if visit.retries if visit else state.retries and not execution:
        parts.append(_loop(box, colour, width))
    for number, line in enumerate(lines):
        soft = number == 1 or (execution is not None and visit is None)
        parts.append(_text(box.x + _PADDING, box.y + _PADDING + 0.85 + number * _LINE, line, SOFT if soft else INK))
    return "".join(parts)


def _rectangle(box: Box, inset: float, style: str) -> str:
    return (
        f'<rect x="{units(box.x + inset)}" y="{units(box.y + inset)}" width="{units(box.width - 2 * inset)}" '
        f'height="{units(box.height - 2 * inset)}" rx="{units(0.4)}" style="{style}"/>'
    )


def _loop(box: Box, colour: str, width: float) -> str:
    """The loop of a retry on the left side of a box: out below, back in above."""
    low, high = box.bottom - box.height * 0.25, box.y + box.height * 0.3
    out = box.x - 1.7
    curve = (
        f"M{units(box.x)} {units(low)} C{units(out)} {units(low)} {units(out)} {units(high)} "
        f"{units(box.x - 0.6)} {units(high)}"
    )
    drawn = f'<path d="{curve}" style="fill:none;stroke:{colour};stroke-width:{width:g}"/>'
    return drawn + _head((box.x - 1, high), (box.x, high), colour)


def _text(x: float, y: float, line: Line, colour: str, *, halo: bool = False) -> str:
    style = f"fill:{colour}"
    if line.look == "name":
        style += ";font-weight:bold"
    if line.look == "code":
        style += f";font-family:{MONO}"
    if halo:
        # The line behind the letters must not run through them.
        style += f";paint-order:stroke;stroke:{PAGE};stroke-width:5;stroke-linejoin:round"
    space = ' xml:space="preserve"' if line.text.startswith(" ") else ""
    # Names stay as they are, also when a browser translates the page.
    same = "" if line.look == "words" else ' translate="no"'
    name = f'<tspan translate="no">{escape(line.name)}</tspan>' if line.name else ""
    place = f'x="{units(x)}" y="{units(y)}"'
    return f'<text {place}{space}{same} style="{style}">{name}{escape(line.text)}</text>\n'
