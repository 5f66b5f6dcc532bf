"""What came out: of an experiment, of a batch, of waiting, of a fault, of the whole lesson."""

from __future__ import annotations

import json

from helpers.lab.comparison import Comparison
from helpers.lab.experiments import BatchResult, ExperimentResult
from helpers.lab.faults import FaultNotice
from helpers.lab.lab import Outcome
from helpers.lab.language import _, labelled
from helpers.lab.presets import Counted, Preset
from helpers.lab.rest import Rest
from helpers.lab.terminal import Terminal
from helpers.show.explored import ShownFindings
from helpers.show.markup import Cell, Table, code, marked, page, plain
from helpers.show.note import ShownNote

_SHORTEN_AFTER = 120


class ShownTables:
    """One or more tables, below each other."""

    def __init__(self, *tables: Table) -> None:
        self._tables = tables

    def text(self) -> str:
        return "\n\n".join(table.text() for table in self._tables)

    def html(self) -> str:
        return page(table.html() for table in self._tables)


def experiment(result: ExperimentResult) -> ShownTables:
    """One row; with `effects` last, because that is the answer."""
    headers = [_("Guard"), _("Fault"), _("Deliveries"), _("Runs"), _("Accepted"), _("Refused")]
    headers += [_("Orders"), _("Effects")]
    counts = (result.deliveries, result.runs, result.accepted, result.refused, result.orders, result.effects)
    cells = [code(result.guard), code(result.fault), *(plain(count) for count in counts)]
    numeric = frozenset(range(2, len(headers)))
    return ShownTables(Table(_("Result of the experiment"), headers, [cells], numeric))


def batch(result: BatchResult) -> ShownTables:
    """How often each order's job was handled, and what became of the batch."""
    jobs = [(code(order), plain(count)) for order, count in result.runs_per_order]
    counts = [
        (plain(_("Partial batch responses")), plain(_("yes") if result.partial else _("no"))),
        (plain(_("Function runs")), plain(result.runs)),
        (plain(_("Orders")), plain(result.stored)),
        (plain(_("Dead-letter messages")), plain(result.dead_lettered)),
    ]
    one = frozenset({1})
    return ShownTables(
        Table(_("Result of the batch"), [_("What"), _("Count")], counts, one),
        Table(_("How often each job was handled"), [_("Order"), _("Handled")], jobs, one),
    )


def comparison(result: Comparison) -> ShownFindings:
    """One row for each field that both forms should have, then the names of the fields that only the service has."""
    rows = [
        (
            code(field.path or "–"),
            code(_value(field.ours)),
            code(_value(field.theirs)) if field.there else plain("–"),
            marked(_("✓ the same") if field.same else _("✗ different")),
        )
        for field in result.fields
    ]
    heads = [_("Field"), _("Plain Python"), _("The service"), _("Comparison")]
    agreed = _("Plain Python and the service agree.") if result.agree else _("Plain Python and the service differ.")
    more = ", ".join(f"`{path}`" for path in result.only_theirs)
    also = [labelled(_("Only the service has these fields"), more)] if more else []
    return ShownFindings([Table(_("Field by field"), heads, rows)], [agreed, *also])


def rest(result: Rest) -> ShownNote:
    """The counters of the queue, and what waits."""
    sentences = str(result).splitlines()
    return ShownNote("✓", "good", sentences) if len(sentences) == 1 else ShownNote("…", "open", sentences)


def notice(result: FaultNotice) -> ShownNote:
    """What a fault did or will do."""
    return ShownNote("⚡", "open", [result.text])


def terminal(result: Terminal) -> ShownNote:
    """How to use the account in a terminal."""
    first, *more = result.sentences
    return ShownNote("›", "calm", [first, f"`{result.line}`", *more])


def preset(result: Preset) -> ShownNote:
    """A demonstration: its steps, what to look at, what proves the guard right."""
    return ShownNote("▷", "calm", [*str(result).splitlines(), f"`{result.call}`"])


def counted(result: Counted) -> ShownNote:
    """What became of the order of a demonstration."""
    good = result.accepted <= 1
    return ShownNote("✓" if good else "✗", "good" if good else "bad", result.sentences())


def outcome(result: Outcome) -> ShownTables:
    """The counts of the lesson; the orders in a table of their own."""
    names = {
        "uploaded": _("Uploaded files"),
        "sent": _("Messages sent"),
        "runs": _("Function runs"),
        "failed_runs": _("Failed runs"),
        "returned": _("Messages reported as not done"),
        "accepted": _("Accepted writes"),
        "refused": _("Refused writes"),
        "acknowledged": _("Acknowledged messages"),
        "dead_lettered": _("Dead-letter messages"),
        "executions": _("Executions"),
        "succeeded_executions": _("Executions that succeeded"),
        "failed_executions": _("Executions that failed"),
    }
    # A lesson without a workflow has no executions to speak of.
    shown = [key for key in names if key in result and (key != "executions" or result[key])]
    counts = [(plain(names[key]), plain(result[key])) for key in shown]
    headers = [_("Order"), _("Quantity"), _("Total in cents"), _("Runs"), _("Accepted"), _("Refused")]
    keys = ("quantity", "total_cents", "runs", "accepted", "refused")
    orders: list[list[Cell]] = [
        [code(order["id"]), *(plain(_or_dash(order.get(key))) for key in keys)] for order in result["orders"]
    ]
    return ShownTables(
        Table(_("What happened"), [_("What"), _("Count")], counts, frozenset({1})),
        Table(_("Orders"), headers, orders, frozenset(range(1, 6)), empty=_("No order is stored.")),
    )


def _or_dash(value: object) -> object:
    return "–" if value is None else value


def _value(value: object) -> str:
    """A value as JSON, so that a text is seen to be one."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHORTEN_AFTER else text[: _SHORTEN_AFTER - 1] + "…"
