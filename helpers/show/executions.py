"""A state machine and its executions: the picture, and the history as a table."""

from __future__ import annotations

from helpers.lab.executions import Execution, HistoryRow, StateMachine
from helpers.lab.language import _, labelled
from helpers.show.markup import Cell, Table, code, heading, marked, page, plain
from helpers.show.state_picture import described, picture


class ShownStateMachine:
    """Both forms of a definition."""

    def __init__(self, machine: StateMachine) -> None:
        self._machine = machine

    def text(self) -> str:
        return "\n".join([self._heading(), *(f"  {sentence}" for sentence in described(self._machine))])

    def html(self) -> str:
        return page([heading(self._heading()), picture(self._machine)])

    def _heading(self) -> str:
        return _("State machine: {name}").format(name=self._machine.name)


class ShownExecution:
    """Both forms of an execution."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution

    def text(self) -> str:
        execution = self._execution
        sentences = described(execution.machine, execution)
        return "\n".join([self._heading(), *(f"  {one}" for one in sentences), "", self._table().text()])

    def html(self) -> str:
        execution = self._execution
        return page([heading(self._heading()), picture(execution.machine, execution), self._table().html()])

    def _heading(self) -> str:
        execution = self._execution
        status = f"{execution.status}, {execution.error}" if execution.error else execution.status
        return labelled(_("Execution {name}").format(name=execution.name), status)

    def _table(self) -> Table:
        headers = [_("Number"), _("Event"), _("State"), _("Outcome"), _("Details")]
        return Table(_("History of the execution"), headers, [_row(row) for row in self._execution.rows])


def _row(row: HistoryRow) -> tuple[Cell, ...]:
    outcome = {"": "", "succeeded": _("✓ succeeded"), "failed": _("✗ failed")}[row.mark]
    state = code(row.state) if row.state else plain("–")
    detail = code(row.detail) if row.detail else plain("–")
    return plain(row.number), code(row.event), state, marked(outcome) if outcome else plain("–"), detail
