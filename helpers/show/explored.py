"""What the checker and the explorer found: verdicts, the table of guards, and stories of what went wrong."""

from __future__ import annotations

from collections.abc import Iterable

from helpers.lab.deliveries import MOST_CALLS
from helpers.lab.explorer import Counterexample, Exploration, GuardTable
from helpers.lab.history import Step
from helpers.lab.language import _, ngettext, number
from helpers.lab.properties import PROPERTIES, Report
from helpers.lab.story import outcome_of, sentence_of, short_name_of, tell
from helpers.show.markup import Cell, Table, code, marked, page, paragraph, plain, prose


class ShownFindings:
    """Tables with remarks below them."""

    def __init__(self, tables: Iterable[Table], remarks: Iterable[str] = ()) -> None:
        self._tables = tuple(tables)
        self._remarks = tuple(remark for remark in remarks if remark)

    def text(self) -> str:
        return "\n\n".join([*(table.text() for table in self._tables), *self._remarks])

    def html(self) -> str:
        tables = [table.html() for table in self._tables]
        return page([*tables, *(paragraph(prose(remark), soft=True) for remark in self._remarks)])


def report(found: Report) -> ShownFindings:
    """Each property with its outcome, and the shortest proof of each that is broken."""
    rows = [(prose(sentence_of(one.property)), _outcome(one.outcome)) for one in found.verdicts]
    tables = [Table(_("What the history says"), [_("Property"), _("Verdict")], rows)]
    tables += [
        _story(_("What breaks “{property}”").format(property=short_name_of(one.property)), one.witness)
        for one in found.broken
    ]
    unclear = any(one.outcome == "cannot-tell" for one in found.verdicts)
    missing = _(
        "Something in this history cannot be seen, or nothing has happened yet. "
        "So it does not prove that a property holds."
    )
    return ShownFindings(tables, [missing] if unclear else [])


def guards(found: GuardTable) -> ShownFindings:
    """One row for each guard, one column for each property."""
    headers = [_("Guard"), _("Schedules"), *(short_name_of(name) for name in PROPERTIES)]
    rows = [
        [code(row.worker), plain(number(row.schedules)), *(_outcome(row[name]) for name in PROPERTIES)]
        for row in found.rows
    ]
    remarks = [_bound(), *(_reason(row) for row in found.rows)]
    return ShownFindings([Table(_("All schedules of one or two deliveries"), headers, rows, frozenset({1}))], remarks)


def exploration(found: Exploration) -> ShownFindings:
    """Each property with its outcome, and the shortest schedule that breaks one: the first broken property's."""
    caption = ngettext("`{worker}`: {count} schedule", "`{worker}`: {count} schedules", found.schedules)
    caption = caption.format(worker=found.worker, count=number(found.schedules)).replace("`", "")
    rows = [(prose(sentence_of(name)), _outcome(outcome)) for name, outcome in found.outcomes]
    tables = [Table(caption, [_("Property"), _("Verdict")], rows)]
    tables += [_schedule(one) for one in found.counterexamples[:1]]
    return ShownFindings(tables, [_bound() if found.schedules else "", _reason(found)])


def _schedule(one: Counterexample) -> Table:
    caption = _("The shortest schedule that breaks “{property}”").format(property=short_name_of(one.property))
    return _story(caption, one.steps)


def _story(caption: str, steps: Iterable[Step]) -> Table:
    rows = [(plain(count), prose(sentence)) for count, sentence in enumerate(tell(steps), 1)]
    return Table(caption, [_("Step"), _("What happens")], rows)


def _outcome(outcome: str) -> Cell:
    return marked(outcome_of(outcome))


def _bound() -> str:
    return _(
        "Bound: one or two deliveries for one order, at most one crash, and one more delivery after a crash. "
        "Schedules that must end alike are run once."
    )


def _reason(found: Exploration) -> str:
    """Why not all schedules were run; empty when they were."""
    about = {"worker": found.worker, "most": MOST_CALLS}
    return {
        "": "",
        "fails": _("`{worker}`: the handler fails with a simple job: `{error}`. Look at its code."),
        "too-many-calls": _("`{worker}`: a run makes more than {most} calls. So the exploration is not complete."),
        "slow": _("`{worker}`: a run makes no call and does not end. So the exploration is not complete."),
        "parallel": _("`{worker}`: a run makes several calls at once. Their sequence cannot be controlled."),
        "too-many-schedules": _("`{worker}`: there are too many schedules. Only the first ones were run."),
    }[found.reason].format(**about, error=found.error)
