"""What each mark of the timeline looks like, is called, and tells.

Each kind has a shape and a sign of its own, so that no two differ by colour alone. Signs belong to no language:
λ for a run, the number of the delivery for a receive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Literal

from helpers.lab.lanes import Lane, Mark, MarkKind
from helpers.lab.language import _, labelled
from helpers.show.picture import BAD, CALM, GOOD, INK, OPEN, PAPER

_HALF = 13.0


@dataclass(frozen=True, slots=True)
class Look:
    """A shape with a sign in it; `colour` is that of its edge."""

    shape: Literal["circle", "square", "diamond", "octagon", "burst", "triangle", "tray", "dashed", "house"]
    sign: str
    colour: str


LOOKS: dict[MarkKind, Look] = {
    "sent": Look("circle", "→", CALM),
    "received": Look("square", "1", CALM),
    "run": Look("square", "λ", INK),
    "written": Look("diamond", "+", GOOD),
    "refused": Look("octagon", "✗", OPEN),
    "failed": Look("triangle", "!", BAD),
    "timeout": Look("triangle", "…", BAD),
    "crashed": Look("burst", "!", BAD),
    "acknowledged": Look("circle", "✓", GOOD),
    "returned": Look("house", "↩", OPEN),
    "dead-lettered": Look("tray", "↓", BAD),
    "removed": Look("dashed", "–", INK),
    "started": Look("circle", "▸", CALM),
    "state": Look("square", "•", CALM),
    "retry": Look("house", "↻", OPEN),
    "ended": Look("circle", "✓", GOOD),
    "stopped": Look("octagon", "■", BAD),
}
"""In the order of the legend."""


def word_of(kind: MarkKind) -> str:
    """A kind of mark in a word or two."""
    return {
        "sent": _("sent"),
        "received": _("received: delivery 1, 2, …"),
        "run": _("run of the function"),
        "written": _("write accepted"),
        "refused": _("write refused"),
        "failed": _("failed"),
        "timeout": _("timeout"),
        "crashed": _("crashed"),
        "acknowledged": _("acknowledged"),
        "returned": _("hidden in the queue"),
        "dead-lettered": _("dead-lettered"),
        "removed": _("deleted, not acknowledged"),
        "started": _("started"),
        "state": _("state entered"),
        "retry": _("retry"),
        "ended": _("ended with success"),
        "stopped": _("ended without success"),
    }[kind]


def title_of(lane: Lane) -> str:
    """What a lane is about."""
    if lane.kind == "execution":
        return _("Execution {name}").format(name=lane.name)
    title = _("Message {number}").format(number=lane.number)
    return f"{title}, {lane.name}" if lane.name else title


def story_of(lane: Lane, mark: Mark, *, measured: bool) -> str:
    """What a mark tells, in a sentence or two. `measured`: with durations, which differ from run to run."""
    return labelled(title_of(lane), sentence_of(mark, measured))


def sentence_of(mark: Mark, measured: bool) -> str:
    about = {"key": mark.about, "delivery": mark.delivery, "error": mark.error}
    if mark.kind == "run":
        return _run(mark, measured)
    if mark.kind == "received":
        by_hand = _("you receive it. This is delivery {delivery}.")
        by_worker = _("the queue hands it to the function. This is delivery {delivery}.")
        return (by_hand if mark.hand else by_worker).format(**about)
    told = _SENTENCES[mark.kind]().format(**about)
    return f"{told} {_('Error: {error}.').format(**about)}" if mark.error else told


_SENTENCES: dict[MarkKind, Callable[[], str]] = {
    "sent": lambda: _("it is sent to the queue."),
    "written": lambda: _("DynamoDB accepts the write with the key {key}."),
    "refused": lambda: _("DynamoDB refuses the write with the key {key}. Nothing changes."),
    "failed": lambda: _("the attempt fails with an error."),
    "timeout": lambda: _("the run takes too long, and is stopped."),
    "crashed": lambda: _("the process of the function dies."),
    "acknowledged": lambda: _("it is acknowledged: it is deleted from the queue."),
    "returned": lambda: _("it stays in the queue, hidden until its visibility timeout ends. Then it comes again."),
    "dead-lettered": lambda: _("it was received too often, and moves to the dead-letter queue {key}."),
    "removed": lambda: _("it is gone: the queue {key} was deleted or emptied."),
    "started": lambda: _("it starts."),
    "state": lambda: _("it enters the state {key}."),
    "retry": lambda: _("attempt {delivery} of the state {key} begins."),
    "ended": lambda: _("it ends with success."),
    "stopped": lambda: _("it ends without success: {key}."),
}
"""Called when they are told: the language is chosen then."""


def _run(mark: Mark, measured: bool) -> str:
    begun = _("the function runs for it.")
    if mark.end is None:
        return begun + " " + _("It is still running.")
    if not measured:
        return begun
    return begun + " " + _("It takes {milliseconds} ms.").format(milliseconds=round(mark.milliseconds))


def marks(inside: str) -> str:
    """Around all marks of a drawing: what they have in common."""
    style = f"fill:{PAPER};stroke-width:2.4;text-anchor:middle;font-weight:bold"
    return f'<g style="{style}">{inside}</g>'


def drawn(kind: MarkKind, x: float, y: float, sign: str = "") -> str:
    """The shape and the sign of a mark around a point."""
    look = LOOKS[kind]
    dashes = _DASHES if look.shape == "dashed" else ""
    shape = f'<path d="{_outline(look.shape, x, y)}" stroke="{look.colour}"{dashes}/>'
    low = 3.0 if look.shape == "triangle" else 0.0
    return shape + letters(sign or look.sign, x, y + low)


def letters(text: str, x: float, y: float, *, size: float = 16.5) -> str:
    """Text around a point. (`dominant-baseline` is not drawn everywhere: the base line is moved by hand.)"""
    return f'<text x="{x:g}" y="{y + size * 0.35:g}" font-size="{size:g}" fill="{INK}">{escape(text)}</text>'


_DASHES = ' stroke-dasharray="4 3"'


def _outline(shape: str, x: float, y: float) -> str:
    if shape == "circle":
        h = _HALF
        return f"M{x - h:g} {y:g}a{h} {h} 0 1 0 {2 * h} 0a{h} {h} 0 1 0 {-2 * h} 0Z"
    if shape == "burst":
        return _closed((x, y), [(15.0 if n % 2 else 10.5, math.pi * n / 8) for n in range(16)])
    if shape == "octagon":
        return _closed((x, y), [(14.0, math.pi * (n + 0.5) / 4) for n in range(8)])
    corners = {
        "square": ((-11.5, -11.5), (11.5, -11.5), (11.5, 11.5), (-11.5, 11.5)),
        "dashed": ((-11.5, -11.5), (11.5, -11.5), (11.5, 11.5), (-11.5, 11.5)),
        "diamond": ((0, -15), (15, 0), (0, 15), (-15, 0)),
        "triangle": ((0, -14.5), (15, 12), (-15, 12)),
        "house": ((-15, 0), (-6, -12), (13, -12), (13, 12), (-6, 12)),
        "tray": ((-13, -11), (13, -11), (13, 4), (0, 15), (-13, 4)),
    }[shape]
    return "M" + "L".join(f"{x + dx:g} {y + dy:g}" for dx, dy in corners) + "Z"


def _closed(centre: tuple[float, float], points: list[tuple[float, float]]) -> str:
    x, y = centre
    return "M" + "L".join(f"{x + r * math.cos(a):.1f} {y + r * math.sin(a):.1f}" for r, a in points) + "Z"
