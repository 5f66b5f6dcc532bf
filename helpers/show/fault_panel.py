"""The fault controls of a lesson as a panel: one button per fault, with what it is in the real world.

Each button calls the plain method of `lab.faults` that is printed beside it. The panel shows which faults are
armed, also when one has just fired, and the error when a call fails.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets

from helpers.lab.faults import MOST_COPIES, MOST_REFUSALS, ArmedFault, LabFaults
from helpers.lab.language import _
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.live import beside_cells, root, row, words
from helpers.show.markup import Table, box, code, heading, page, paragraph, plain, prose, sign


@dataclass(frozen=True, slots=True)
class Control:
    """One button: where its fault acts, its label, the sentence beside it, the call it makes (as a learner would
    type it). `number` is the first value and the largest of the call's argument, if it has one."""

    method: str
    where: str
    label: str
    sentence: str
    call: str
    number: tuple[int, int] | None = None


def controls(offered: Sequence[str] = LabFaults.offered) -> list[Control]:
    """The controls of a lesson in the reader's language: those of the methods that it offers, in this order."""
    known = {control.method: control for control in _controls()}
    return [known[method] for method in offered]


def _controls() -> list[Control]:
    """All controls that a lesson has."""
    in_bucket = _("In the bucket")
    in_queue, before = _("In the queue"), _("Before the write")
    on_the_way, after = _("On the way to the table"), _("After the write")
    return [
        Control(
            "upload_again",
            in_bucket,
            _("Upload again"),
            _("A customer sees no answer and uploads the same file again. S3 sends another message."),
            "lab.faults.upload_again()",
        ),
        Control(
            "send_twice",
            in_queue,
            _("Send twice"),
            _("A queue can deliver a message twice. Here the same text goes into the queue again."),
            "lab.faults.send_twice()",
        ),
        Control(
            "broken_message",
            in_queue,
            _("Send a broken message"),
            _("A program with an error sends a message that no worker can read."),
            "lab.faults.broken_message()",
        ),
        Control(
            "send_again",
            in_queue,
            _("Send again"),
            _("A producer got no answer in time, so it sends the same job again. Each copy is a new message."),
            "lab.faults.send_again(n)",
            (1, MOST_COPIES),
        ),
        Control(
            "other_details",
            in_queue,
            _("Send other details"),
            _("Two programs use the same order id for different orders. The second job asks for another quantity."),
            "lab.faults.other_details()",
        ),
        Control(
            "deliver_again",
            in_queue,
            _("Deliver again"),
            _("The queue loses an acknowledgement, so it hands out the same message again under the same message id."),
            "lab.faults.deliver_again()",
        ),
        Control(
            "poison_message",
            in_queue,
            _("Send a poison message"),
            _("A program with an error sends a message that no worker can read."),
            "lab.faults.poison_message()",
        ),
        Control(
            "crash_before_write",
            before,
            _("Crash before the write"),
            _("The machine of the worker dies before it has stored anything."),
            "lab.faults.crash_before_write()",
        ),
        Control(
            "slow_worker",
            before,
            _("Slow down the worker"),
            _("A worker needs longer than the visibility timeout, so the queue hands the same message out again."),
            "lab.faults.slow_worker()",
        ),
        Control(
            "throttle",
            on_the_way,
            _("Throttle the table"),
            _("More calls arrive than the table can take, so it refuses some of them."),
            "lab.faults.throttle(n)",
            (MOST_REFUSALS, MOST_REFUSALS),
        ),
        Control(
            "server_error",
            on_the_way,
            _("Fail inside the service"),
            _("A machine of the database service fails, and the service answers with an internal error."),
            "lab.faults.server_error()",
        ),
        Control(
            "lose_answer",
            on_the_way,
            _("Lose the answer"),
            _("The network breaks after the write was done, so the worker cannot know if it was done."),
            "lab.faults.lose_answer()",
        ),
        Control(
            "crash_after_write",
            after,
            _("Crash after the write"),
            _("The machine of the worker dies between the write and the acknowledgement."),
            "lab.faults.crash_after_write()",
        ),
        Control(
            "flaky",
            _("In the order"),
            _("Fail before the write"),
            _("A connection breaks before the worker has stored anything. The next attempt works."),
            "lab.faults.flaky()",
        ),
        Control(
            "permanent",
            _("In the order"),
            _("Fail for ever"),
            _("An order that no worker can accept. Each attempt would fail in the same way."),
            "lab.faults.permanent()",
        ),
        Control(
            "quantity_zero",
            _("In the order"),
            _("Order a quantity of 0"),
            _("A form sends 0 because nobody chose a quantity."),
            "lab.faults.quantity_zero()",
        ),
        Control(
            "quantity_eleven",
            _("In the order"),
            _("Order a quantity of 11"),
            _("An order that looks right, but is larger than the shop allows."),
            "lab.faults.quantity_eleven()",
        ),
        Control(
            "other_quantity",
            _("In the order"),
            _("Order another quantity"),
            _("Two programs use the same order id for different orders."),
            "lab.faults.other_quantity()",
        ),
        Control(
            "more_failures",
            _("In the order"),
            _("Fail too often"),
            _("A service is down for longer than all retries together."),
            "lab.faults.more_failures()",
        ),
        Control(
            "remove_permission",
            _("In the permissions"),
            _("Remove the permission"),
            _("Somebody tidies up the policies and removes one that was needed."),
            "lab.faults.remove_permission()",
        ),
        Control(
            "give_permission",
            _("In the permissions"),
            _("Give the permission back"),
            _("The policy is put back as it was."),
            "lab.faults.give_permission()",
        ),
        Control(
            "same_name",
            _("At the start"),
            _("Use the same name again"),
            _("A program gets no answer to its start of an execution, so it starts it again under the same name."),
            "lab.faults.same_name()",
        ),
        Control(
            "hold_worker",
            _("At the start"),
            _("Hold the worker"),
            _("The worker waits for a slow service, so the execution keeps running."),
            "lab.faults.hold_worker()",
        ),
        Control(
            "crash_before_answer",
            after,
            _("Crash after the write"),
            _("The machine of the worker dies after the write, before its answer is on the way."),
            "lab.faults.crash_before_answer()",
        ),
        Control(
            "clear",
            _("Everywhere"),
            _("Clear the faults"),
            _("The faults that have not fired yet are taken away. What has happened stays."),
            "lab.faults.clear()",
        ),
    ]


class FaultPanel:
    """The panel. Show it in a cell, or call `press(method)` as a button does."""

    def __init__(self, faults: Callable[[], LabFaults], offered: Sequence[str] = LabFaults.offered) -> None:
        """`faults` gives the faults of the account that is open now: `lab.reset()` opens another one."""
        self._faults = faults
        self._offered = offered
        self._live: _LivePanel | None = None

    @property
    def widget(self) -> ipywidgets.Widget:
        """The live panel."""
        if self._live is None:
            self._live = _LivePanel(self._faults, controls(self._offered))
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

    def _table(self) -> Table:
        shown = controls(self._offered)
        rows = [(plain(item.where), plain(item.label), prose(item.sentence), code(item.call)) for item in shown]
        heads = [_("Where it acts"), _("Fault"), _("What happens in the real world"), _("Call")]
        return Table(_("Fault controls"), heads, rows)


class _LivePanel:
    """The widgets of the panel."""

    def __init__(self, faults: Callable[[], LabFaults], shown: Sequence[Control]) -> None:
        self._faults = faults
        self._armed = ipywidgets.HTML()
        self._done = ipywidgets.HTML()
        self.buttons: dict[str, ipywidgets.Button] = {}
        self.numbers: dict[str, ipywidgets.BoundedIntText] = {}
        rows: list[ipywidgets.Widget] = []
        for where, together in itertools.groupby(shown, key=lambda control: control.where):
            rows += [words(heading(where)), *(self._row(control) for control in together)]
        self.root = root(heading(_("Fault controls")), [*rows, self._armed, self._done])
        # "Clear the faults" lets a held call go on, so it must work while a cell waits in `lab.settle()`.
        beside_cells(*self.numbers.values(), *self.buttons.values())
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
        if control.number:
            first, most = control.number
            self.numbers[control.method] = ipywidgets.BoundedIntText(
                value=first,
                min=1,
                max=most,
                description=_("How many times"),
                style={"description_width": "initial"},
                layout=ipywidgets.Layout(width="auto", max_width="16em", margin="0"),
            )
            action = ipywidgets.VBox([button, self.numbers[control.method]])
        sentence = f"{prose(control.sentence).html} {code(control.call).html}"
        return row([action, sentence], ["1 1 11em", "4 1 18em"])

    def _press(self, control: Control) -> Callable[[Any], None]:
        def press(_button: Any) -> None:
            self._done.value = ""
            method = getattr(self._faults(), control.method)
            result = method(self.numbers[control.method].value) if control.number else method()
            said_by = prose(str(result))
            title = plain(_("Done: {control}").format(control=control.label))
            said = f"{sign('✓')}<strong>{title.html}</strong>"
            self._done.value = page([box("good", said + paragraph(said_by), live=True)])
            self.show_armed()

        return press

    def _show_error(self, html: str) -> None:
        self._done.value = html


def _armed_in_words(fault: ArmedFault) -> str:
    return _("{fault} (still to come: {left}; fired so far: {fired})").format(
        fault=fault.description, left=fault.remaining, fired=fault.fired
    )
