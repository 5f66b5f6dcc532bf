"""The account at one moment, as tables: queues, messages, runs, write decisions, orders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from helpers.lab.language import _
from helpers.lab.view import DecisionView, ExecutionView, MessageView, RunView, View
from helpers.show.markup import Cell, Table, code, marked, page, paragraph, plain

_SHORTEN_AFTER = 120


class ShownView:
    """Both forms of a snapshot."""

    def __init__(self, view: View) -> None:
        self._view = view

    def text(self) -> str:
        return "\n\n".join([*(table.text() for table in self._tables()), self._reference().text])

    def html(self) -> str:
        return page([*(table.html() for table in self._tables()), paragraph(self._reference())])

    def _tables(self) -> list[Table]:
        view = self._view
        arrived = self._messages() if view.executions is None else [_executions(view.executions)]
        return [*arrived, self._runs(), *self._decided()]

    def _messages(self) -> list[Table]:
        view = self._view
        return [
            Table(
                _("Queues"),
                [_("Queue"), _("Visible"), _("In flight"), _("Delayed")],
                [
                    (code(queue.name), plain(queue.visible), plain(queue.in_flight), plain(queue.delayed))
                    for queue in view.queues
                ],
                numeric=frozenset({1, 2, 3}),
                empty=_("There is no queue."),
            ),
            Table(
                _("Messages"),
                [_("Message"), _("Body"), _("Deliveries"), _("State")],
                [_message(message) for message in view.messages],
                numeric=frozenset({2}),
                empty=_("No message was sent."),
            ),
        ]

    def _runs(self) -> Table:
        cause = _("Message") if self._view.executions is None else _("Execution")
        return Table(
            _("Function runs"),
            [_("Run"), cause, _("Outcome"), _("Result")],
            [_run(run) for run in self._view.runs],
            empty=_("The function has not run."),
        )

    def _decided(self) -> list[Table]:
        view = self._view
        return [
            Table(
                _("Write decisions"),
                [_("Decision"), _("Key"), _("Condition"), _("Answer"), _("Item before"), _("Item after")],
                [_decision(decision) for decision in view.decisions],
                empty=_("No write was decided."),
            ),
            Table(
                _("Orders"),
                [_("Order"), _("Quantity"), _("Total in cents")],
                [(code(order.id), _number(order.quantity), _number(order.total_cents)) for order in view.orders],
                numeric=frozenset({1, 2}),
                empty=_("No order is stored."),
            ),
        ]

    def _reference(self) -> Cell:
        note = self._view.reference
        if note is None:
            return plain(_("The reference item does not exist."))
        said = _("Reference item: {note}")
        before, after = (plain(part) for part in said.split("{note}"))
        shown = code(note)
        return Cell(said.format(note=note), before.html + shown.html + after.html)


def _message(message: MessageView) -> tuple[Cell, ...]:
    state = {
        "visible": _("visible"),
        "in flight": _("in flight"),
        "acknowledged": _("✓ acknowledged"),
        "dead-lettered": _("✗ in the dead-letter queue"),
        "gone": _("deleted, not acknowledged"),
    }[message.state]
    return plain(message.number), code(_short(message.body)), plain(message.deliveries), marked(state)


def run_outcome(outcome: str) -> Cell:
    """How a run ended, in words with a sign."""
    said = {
        "succeeded": _("✓ succeeded"),
        "error": _("✗ error"),
        "timeout": _("✗ timeout"),
        "crash": _("✗ crash"),
        "running": _("… running"),
    }
    return marked(said[outcome])


def _run(run: RunView) -> tuple[Cell, ...]:
    result = code(run.reason) if run.reason else _json(run.result)
    messages = ", ".join(str(number) for number in run.messages) or "–"
    cause = code(run.execution) if run.execution else plain(messages)
    return plain(run.number), cause, run_outcome(run.outcome), result


def _executions(executions: Sequence[ExecutionView]) -> Table:
    return Table(
        _("Executions"),
        [_("Execution"), _("Input"), _("Status"), _("Runs"), _("Output")],
        [
            (
                code(one.name),
                code(_short(one.input)),
                _status(one.status),
                plain(one.runs),
                code(_short(one.output or one.error)) if one.output or one.error else plain("–"),
            )
            for one in executions
        ],
        numeric=frozenset({3}),
        empty=_("No execution was started."),
    )


def _status(status: str) -> Cell:
    """A status as Step Functions names it, with a sign."""
    mark = {"SUCCEEDED": "✓", "RUNNING": "…"}.get(status, "✗")
    return Cell(f"{mark} {status}", f"{mark}\u00a0{code(status).html}")


def _decision(decision: DecisionView) -> tuple[Cell, ...]:
    return (
        plain(decision.number),
        code(decision.key),
        code(decision.condition) if decision.condition else plain(_("none")),
        marked(_("✓ accepted") if decision.accepted else _("✗ refused")),
        _json(decision.before),
        _json(decision.after),
    )


def _number(value: int | None) -> Cell:
    return plain("–" if value is None else value)


def _json(value: Mapping[str, Any] | Any) -> Cell:
    if value is None:
        return plain("–")
    return code(_short(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)))


def _short(text: str) -> str:
    return text if len(text) <= _SHORTEN_AFTER else text[: _SHORTEN_AFTER - 1] + "…"
