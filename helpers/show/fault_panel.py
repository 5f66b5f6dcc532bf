"""The fault controls of a lesson as a panel: one button per fault, with what it is in the real world.

Each button calls the plain method of `lab.faults` that is printed beside it. The panel shows which faults are
armed, also when one has just fired, and the error when a call fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ipywidgets

from helpers.lab.faults import MOST_COPIES, ArmedFault, LabFaults
from helpers.lab.language import _
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.live import beside_cells, root, row
from helpers.show.markup import Table, box, code, heading, page, paragraph, plain, prose, sign


@dataclass(frozen=True, slots=True)
class Control:
    """One button: its label, the sentence beside it, the call it makes (as a learner would type it)."""

    method: str
    label: str
    sentence: str
    call: str
    takes_number: bool = False


def controls() -> list[Control]:
    """The controls of the lesson in the reader's language."""
    return [
        Control(
            "send_again",
            _("Send again"),
            _("A producer got no answer in time, so it sends the same job again. Each copy is a new message."),
            "lab.faults.send_again(n)",
            takes_number=True,
        ),
        Control(
            "other_details",
            _("Send other details"),
            _("Two programs use the same order id for different orders. The second job asks for another quantity."),
            "lab.faults.other_details()",
        ),
        Control(
            "crash_after_write",
            _("Crash after the write"),
            _("The machine of the worker dies between the write and the acknowledgement."),
            "lab.faults.crash_after_write()",
        ),
        Control(
            "slow_worker",
            _("Slow down the worker"),
            _("A worker needs longer than the visibility timeout, so the queue hands the same message out again."),
            "lab.faults.slow_worker()",
        ),
        Control(
            "clear",
            _("Clear the faults"),
            _("The faults that have not fired yet are taken away. What has happened stays."),
            "lab.faults.clear()",
        ),
    ]


class FaultPanel:
    """The panel. Show it in a cell, or call `press(method)` as a button does."""

    def __init__(self, faults: Callable[[], LabFaults]) -> None:
        """`faults` gives the faults of the account that is open now: `lab.reset()` opens another one."""
        self._faults = faults
        self._live: _LivePanel | None = None

    @property
    def widget(self) -> ipywidgets.Widget:
        """The live panel."""
        if self._live is None:
            self._live = _LivePanel(self._faults)
        return self._live.root

    def show_armed(self) -> None:
        """Bring the live panel up to date, if there is one. May be called from any thread."""
        if self._live is not None:
            self._live.show_armed()

    def press(self, method: str) -> None:
        """Press the button of a control, as the mouse or the keyboard does."""
        self.widget  # noqa: B018  the buttons exist from here on
        assert self._live is not None
        self._live.buttons[method].click()

    def text(self) -> str:
        return self._table().text()

    def html(self) -> str:
        return page([self._table().html()])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)

    @staticmethod
    def _table() -> Table:
        rows = [(plain(item.label), prose(item.sentence), code(item.call)) for item in controls()]
        return Table(_("Fault controls"), [_("Fault"), _("What happens in the real world"), _("Call")], rows)


class _LivePanel:
    """The widgets of the panel."""

    def __init__(self, faults: Callable[[], LabFaults]) -> None:
        self._faults = faults
        self._armed = ipywidgets.HTML()
        self._done = ipywidgets.HTML()
        self.buttons: dict[str, ipywidgets.Button] = {}
        self.copies = ipywidgets.BoundedIntText(
            value=1,
            min=1,
            max=MOST_COPIES,
            description=_("How many times"),
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="auto", max_width="16em", margin="0"),
        )
        rows = [self._row(control) for control in controls()]
        self.root = root(heading(_("Fault controls")), [*rows, self._armed, self._done])
        # "Clear the faults" lets a held call go on, so it must work while a cell waits in `lab.settle()`.
        beside_cells(self.copies, *self.buttons.values())
        self.show_armed()

    def show_armed(self) -> None:
        """Read which faults are armed and write it into the panel. May be called from any thread."""

        @shown_errors(self._show_error)
        def show() -> None:
            armed = self._faults().armed()
            if armed:
                items = "".join(f"<li>{plain(_armed_in_words(fault)).html}</li>" for fault in armed)
                title = f"{sign('●')}<strong>{plain(_('Armed')).html}</strong>"
                body = f'{title}<ul style="margin:.2em 0">{items}</ul>'
                self._armed.value = page([box("open", body, live=True)])
            else:
                self._armed.value = page([box("calm", sign("○") + plain(_("No fault is armed.")).html, live=True)])

        show()

    def _row(self, control: Control) -> ipywidgets.Widget:
        button = ipywidgets.Button(
            description=control.label, tooltip=control.sentence, layout=ipywidgets.Layout(width="100%")
        )
        button.on_click(shown_errors(self._show_error)(self._press(control)))
        self.buttons[control.method] = button
        action: ipywidgets.Widget = button
        if control.takes_number:
            action = ipywidgets.VBox([button, self.copies])
        sentence = f"{prose(control.sentence).html} {code(control.call).html}"
        return row([action, sentence], ["1 1 11em", "4 1 18em"])

    def _press(self, control: Control) -> Callable[[Any], None]:
        def press(_button: Any) -> None:
            self._done.value = ""
            method = getattr(self._faults(), control.method)
            result = method(self.copies.value) if control.takes_number else method()
            said_by = prose(str(result))
            title = plain(_("Done: {control}").format(control=control.label))
            said = f"{sign('✓')}<strong>{title.html}</strong>"
            self._done.value = page([box("good", said + paragraph(said_by), live=True)])
            self.show_armed()

        return press

    def _show_error(self, html: str) -> None:
        self._done.value = html


def _armed_in_words(fault: ArmedFault) -> str:
    return f"{fault.description} ({_('still to come: {n}').format(n=fault.remaining)})"
