"""The parts of the live view as HTML: queues, messages, runs, write decisions, orders, executions, reference item.

Lists begin with the newest, and are bounded: what is not shown is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from helpers.cloud import glance
from helpers.cloud.glance import QueueNow
from helpers.cloud.journal import WriteDecision
from helpers.lab.chronicle import Chronicle, RunNow
from helpers.lab.evidence import Order, order_of
from helpers.lab.executions import read_definition, story
from helpers.lab.lanes import Lane
from helpers.lab.language import _, labelled, ngettext
from helpers.lab.view import plain as plain_values
from helpers.show.markup import Cell, Table, code, folded, marked, paragraph, plain
from helpers.show.snapshot import run_outcome
from helpers.show.state_picture import picture
from helpers.show.timeline import MOST_LANES, Timeline

MOST_ROWS = 20
"""Rows of each list that are shown."""

_MOST_PICTURES = 3
_LONGEST = 120
_LOG_LINES = 60


@dataclass(slots=True)
class Remembered:
    """What was there once, so that it is shown as deleted and does not vanish."""

    queues: set[str] = field(default_factory=set)
    orders: dict[str, Order] = field(default_factory=dict)
    stored: dict[str, Order] | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Now:
    """What the services hold at this moment. `orders` and `reference` are None when their table is gone."""

    queues: Mapping[str, QueueNow]
    orders: Mapping[str, Order] | None
    reference: tuple[Mapping[str, Any], ...] | None

    @property
    def changes_at(self) -> float | None:
        """When time alone changes something, in seconds of the account's clock."""
        times = [queue.changes_at for queue in self.queues.values() if queue.changes_at is not None]
        return min(times) if times else None


def look(told: Chronicle, known: Remembered) -> Now:
    """Look at the services, without a call."""
    cloud, lesson = told.cloud, told.lesson
    reference = glance.items(cloud, lesson.reference)
    return Now(
        glance.queues(cloud, lesson.queues),
        _stored(told, known),
        None if reference is None else tuple(reference),
    )


def _stored(told: Chronicle, known: Remembered) -> dict[str, Order] | None:
    """The orders by id. Only what was written is looked at again: a table of thousands is not read at each change."""
    table = told.lesson.orders
    written = told.written()
    if written is None or known.stored is None:
        found = glance.items(told.cloud, table)
        known.stored = None if found is None else {order.id: order for order in map(order_of, found)}
    else:
        for key in written:
            item = glance.item(told.cloud, table, key)
            if item is None:
                known.stored.pop(order_of(key).id, None)
            else:
                known.stored[order_of(key).id] = order_of(item)
    return known.stored


def sections(told: Chronicle, now: Now, known: Remembered, common: bool = False) -> dict[str, str]:
    """The inner HTML of each part, by its name, in the order of the page."""
    parts: dict[str, str] = {}
    if told.lesson.queues:
        parts["queues"] = _queues(told, now, known)
    parts["timeline"] = timeline(told, common)
    if told.lesson.machine:
        parts["executions"] = _executions(told)
    parts["orders"] = _orders(now, known)
    parts["decisions"] = _decisions(told)
    if told.lesson.queues:
        parts["messages"] = _messages(told, now)
    parts["runs"] = _runs(told)
    parts["reference"] = _reference(now, known)
    return parts


def titles() -> dict[str, str]:
    """What the parts are called."""
    return {
        "queues": _("Queues"),
        "timeline": _("Timeline"),
        "executions": _("Executions"),
        "orders": _("Orders"),
        "decisions": _("Write decisions"),
        "messages": _("Messages"),
        "runs": _("Function runs"),
        "reference": _("Reference item"),
    }


def timeline(told: Chronicle, common: bool = False) -> str:
    """The timeline with a place for the story of the chosen mark; `common`: the same columns for all lanes."""
    drawn = lanes_of(told, alive=True, common=common)
    if not drawn.lanes:
        return paragraph(plain(drawn.empty()))
    table = f'<div class="once-as-table">{folded(_("The timeline as a table"), _html(drawn.table().html()))}</div>'
    pressed = "true" if common else "false"
    label = plain(_("The same steps side by side for all lanes")).html
    button = f'<button type="button" data-k="order" data-ask="order" aria-pressed="{pressed}">{label}</button>'
    story = '<div data-k="story" class="once-story"></div>'
    return "".join([drawn.drawing(), story, drawn.legend(), drawn.notes(), button, table])


def lanes_of(told: Chronicle, *, alive: bool, common: bool = False) -> Timeline:
    """The newest lanes of a story."""
    shown = told.lanes[-MOST_LANES:]
    before = told.lanes_before + len(told.lanes) - len(shown)
    return Timeline(shown, tuple(told.skips), before, alive, common, executions=bool(told.lesson.machine))


# --- queues and messages ------------------------------------------------------------------------------------------


def _queues(told: Chronicle, now: Now, known: Remembered) -> str:
    known.queues.update(now.queues)
    rows = []
    for name in told.lesson.queues:
        queue = now.queues.get(name)
        if queue is not None:
            counts = [plain(queue.count(place)) for place in ("visible", "in flight", "delayed")]
            rows.append((_queue_name(told, name), *counts))
        elif name in known.queues:
            rows.append((_queue_name(told, name), marked(_("– deleted")), plain(""), plain("")))
    table = Table(
        _("Queues"),
        [_("Queue"), _("Visible"), _("In flight"), _("Delayed")],
        rows,
        numeric=frozenset({1, 2, 3}),
        empty=_("There is no queue."),
        keys=[row[0].text for row in rows],
    )
    return _inside(table)


def _queue_name(told: Chronicle, name: str) -> Cell:
    if name != told.lesson.dead_letter_queue:
        return code(name)
    words = _("dead-letter queue")
    return Cell(f"{name} ({words})", f"{code(name).html} ({plain(words).html})")


def _messages(told: Chronicle, now: Now) -> str:
    lanes = [lane for lane in told.lanes if lane.kind == "message"]
    shown = lanes[-MOST_ROWS:][::-1]
    rows = [
        (plain(lane.number), code(_short(lane.body)), plain(lane.deliveries), marked(_state(lane, now)))
        for lane in shown
    ]
    table = Table(
        _("Messages"),
        [_("Message"), _("Body"), _("Deliveries"), _("State")],
        rows,
        numeric=frozenset({2}),
        empty=_("No message was sent."),
        keys=[lane.key for lane in shown],
    )
    before = told.lanes_before + len(lanes) - len(shown)
    said = ngettext("{count} older message is not shown.", "{count} older messages are not shown.", before)
    return _inside(table) + _left_out(said, before)


def _state(lane: Lane, now: Now) -> str:
    place = next((queue.places[lane.key] for queue in now.queues.values() if lane.key in queue.places), None)
    if lane.acknowledged and place is None:
        return _("✓ acknowledged")
    if place is None:
        return _("– deleted, not acknowledged") if lane.removed else _("– gone")
    if lane.dead:
        return _("✗ in the dead-letter queue")
    return {"visible": _("○ visible"), "in flight": _("◐ in flight"), "delayed": _("◔ delayed")}[place]


# --- runs and decisions -------------------------------------------------------------------------------------------


def _runs(told: Chronicle) -> str:
    shown = told.runs[-MOST_ROWS:][::-1]
    cause = _("Message") if not told.lesson.machine else _("Execution")
    table = Table(
        _("Function runs"),
        [_("Run"), cause, _("Outcome"), _("Duration"), _("Result"), _("Log")],
        [_run(run) for run in shown],
        numeric=frozenset({3}),
        empty=_("The function has not run."),
        keys=[str(run.number) for run in shown],
    )
    before = told.runs_before + len(told.runs) - len(shown)
    said = ngettext("{count} older run is not shown.", "{count} older runs are not shown.", before)
    return _inside(table) + _left_out(said, before)


def _run(run: RunNow) -> tuple[Cell, ...]:
    executions = [lane.name for lane in run.lanes if lane.kind == "execution"]
    cause = code(executions[0]) if executions else plain(", ".join(str(lane.number) for lane in run.lanes) or "–")
    result = code(run.error) if run.error else _value(run.result)
    took = "–" if run.milliseconds is None else _("{milliseconds} ms").format(milliseconds=round(run.milliseconds))
    log = plain("–")
    if run.log:
        lines = run.log[-_LOG_LINES:]
        text = "\n".join(line.rstrip("\n") for line in lines)
        lines_said = ngettext("{count} line", "{count} lines", len(run.log)).format(count=len(run.log))
        log = _html(folded(lines_said, Cell(text, f'<pre class="once-log">{plain(text).html}</pre>')))
    return plain(run.number), cause, run_outcome(run.outcome), plain(took), result, log


def _decisions(told: Chronicle) -> str:
    shown = told.decisions[-MOST_ROWS:][::-1]
    table = Table(
        _("Write decisions"),
        [_("Decision"), _("Key"), _("Condition"), _("Answer"), _("Item before"), _("Item after")],
        [_decision(number, one) for number, one in shown],
        empty=_("No write was decided."),
        keys=[str(number) for number, _one in shown],
    )
    before = told.decisions_before + len(told.decisions) - len(shown)
    said = ngettext("{count} older decision is not shown.", "{count} older decisions are not shown.", before)
    signs = _("+ new · − taken away · ~ changed · = the same")
    legend = paragraph(plain(signs), soft=True) if shown else ""
    return _inside(table) + legend + _left_out(said, before)


def _decision(number: int, one: WriteDecision) -> tuple[Cell, ...]:
    before = plain_values(one.before) if one.before else {}
    after = plain_values(one.after) if one.after else {}
    by = {"learner": _("by you"), "function": _("by the function")}.get(one.caller.kind, one.caller.kind)
    answer = marked(_("✓ accepted") if one.accepted else _("✗ refused"))
    more = "" if one.accepted or not one.error else f"<br>{code(one.error).html}"
    return (
        plain(number),
        _html(f"{code(str(plain_values(one.key).get('id', ''))).html}<br>{code(one.action).html} {plain(by).html}"),
        code(one.condition) if one.condition else plain(_("none")),
        Cell(answer.text, answer.html + more),
        _item(before, after, "−"),
        _item(after, before, "+"),
    )


def _item(item: Mapping[str, Any], other: Mapping[str, Any], alone: str) -> Cell:
    """The members of an item, each with a sign that says how it differs from the other one."""
    if not item:
        return plain("–")
    lines = []
    for name, value in item.items():
        sign = alone if name not in other else "=" if other[name] == value else "~"
        text = f"{sign} {name}: {_json(value)}"
        lines.append(f"<div{'' if sign == '=' else _MARKED}>{plain(text).html}</div>")
    return _html(f'<div class="once-item">{"".join(lines)}</div>')


_MARKED = ' style="font-weight:bold"'


# --- orders, executions, reference --------------------------------------------------------------------------------


def _orders(now: Now, known: Remembered) -> str:
    stored = now.orders or {}
    known.orders.update(stored)
    names = list(known.orders)
    shown = names[-MOST_ROWS:][::-1]
    gone = _("– deleted with the table") if now.orders is None else _("– deleted")
    rows = []
    for name in shown:
        order = known.orders[name]
        state = _("✓ stored") if name in stored else gone
        rows.append((code(name), _number(order.quantity), _number(order.total_cents), marked(state)))
    table = Table(
        _("Orders"),
        [_("Order"), _("Quantity"), _("Total in cents"), _("State")],
        rows,
        numeric=frozenset({1, 2}),
        empty=_("No order is stored."),
        keys=shown,
    )
    more = len(names) - len(shown)
    said = ngettext("{count} older order is not shown.", "{count} older orders are not shown.", more)
    return _inside(table) + _left_out(said, more)


def _executions(told: Chronicle) -> str:
    lanes = [lane for lane in told.lanes if lane.kind == "execution"]
    shown = lanes[-MOST_ROWS:][::-1]
    rows = [
        (
            code(lane.name),
            code(_short(lane.body)),
            _status(lane.status),
            plain(sum(mark.kind == "run" for mark in lane.marks)),
            code(_short(lane.output or lane.error)) if lane.output or lane.error else plain("–"),
        )
        for lane in shown
    ]
    table = Table(
        _("Executions"),
        [_("Execution"), _("Input"), _("Status"), _("Runs"), _("Output")],
        rows,
        numeric=frozenset({3}),
        empty=_("No execution was started."),
        keys=[lane.key for lane in shown],
    )
    before = len(lanes) - len(shown) + told.lanes_before
    said = ngettext("{count} older execution is not shown.", "{count} older executions are not shown.", before)
    pictures = "".join(_picture(told, lane, place == 0) for place, lane in enumerate(shown[:_MOST_PICTURES]))
    return _inside(table) + _left_out(said, before) + pictures


def _picture(told: Chronicle, lane: Lane, newest: bool) -> str:
    steps = told.steps.get(lane.key)
    definition = glance.definition(told.cloud, lane.key)
    if steps is None or definition is None:
        return ""
    machine = read_definition(told.lesson.machine, definition)
    described = {"status": lane.status, "input": lane.body, "output": lane.output, "error": lane.error}
    told_so_far = story(lane.name, machine, described, steps.events)
    title = labelled(_("Execution {name}").format(name=lane.name), lane.status)
    opened = " open" if newest else ""
    return (
        f'<details data-k="{plain(lane.key).html}"{opened}><summary>{plain(title).html}</summary>'
        f"{picture(machine, told_so_far, live=True)}</details>"
    )


def _status(status: str) -> Cell:
    mark = {"SUCCEEDED": "✓", "RUNNING": "…"}.get(status, "✗")
    return Cell(f"{mark} {status}", f"{mark}\u00a0{code(status).html}")


def _reference(now: Now, known: Remembered) -> str:
    notes = [str(item.get("note", {}).get("S", "")) for item in now.reference or ()]
    if not notes:
        return paragraph(marked(_("✗ The reference item was deleted.")))
    if known.reference is None:
        known.reference = notes[0]
    same = notes == [known.reference]
    said = _("✓ as it was") if same else _("✗ changed. Before: {note}").format(note=known.reference)
    return paragraph(Cell(notes[0], f"{code(notes[0]).html} {marked(said).html}"))


# --- small things -------------------------------------------------------------------------------------------------


def _inside(table: Table) -> str:
    """A table in its part, whose summary is its title already. (live_view.css hides the caption.)"""
    return table.html() if table.rows else paragraph(plain(table.empty))


def _left_out(sentence: str, count: int) -> str:
    return paragraph(plain(sentence.format(count=count)), soft=True) if count else ""


def _html(html: str) -> Cell:
    return Cell("", html)


def _value(value: Any) -> Cell:
    return plain("–") if value is None else code(_short(_json(value)))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _number(value: int | None) -> Cell:
    return plain("–" if value is None else value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
