"""The comparison of guards with its controls: choose faults and copies, press, and the chart is drawn anew.

The work runs in a thread of its own: neither does a cell wait for it, nor does it wait for a cell, unless that cell
runs an experiment too or skips time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets

from helpers.lab.errors import BadParameter
from helpers.lab.experiments import FAULTS, ExperimentResult
from helpers.lab.guard_comparison import FEWEST_COPIES, MOST_COPIES, GuardComparison
from helpers.lab.language import _
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.guard_chart import ShownGuards, fault_in_words
from helpers.show.live import beside_cells, root, words
from helpers.show.markup import box, heading, page, plain, sign


class GuardPanel:
    """A comparison and its controls. `result` and `rows` are those that are shown now."""

    def __init__(self, compare: Callable[..., GuardComparison], result: GuardComparison) -> None:
        """`compare` takes the choices of helpers.lab.guard_comparison.compare by name."""
        self._compare = compare
        self.result = result
        self._live: _LivePanel | None = None

    @property
    def rows(self) -> tuple[ExperimentResult, ...]:
        """The counts as plain data."""
        return self.result.rows

    @property
    def widget(self) -> ipywidgets.Widget:
        """The live panel."""
        return self._panel().root

    def press(self) -> None:
        """Press "Compare", as the mouse or the keyboard does. Returns at once; `wait` waits for the end."""
        self._panel().button.click()

    def wait(self, timeout: float) -> bool:
        """Wait until nothing runs, at most `timeout` seconds; whether that is so."""
        return self._panel().idle.wait(timeout)

    def text(self) -> str:
        return ShownGuards(self.result).text()

    def html(self) -> str:
        return ShownGuards(self.result).html()

    def picture(self) -> str:
        return ShownGuards(self.result).picture()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)

    def _panel(self) -> _LivePanel:
        if self._live is None:
            self._live = _LivePanel(self.result, self._run)
        return self._live

    def _run(self, **choices: Any) -> GuardComparison:
        self.result = self._compare(guards=self.result.guards, **choices)
        return self.result


class _LivePanel:
    """The widgets of the panel."""

    def __init__(self, result: GuardComparison, run: Callable[..., GuardComparison]) -> None:
        self._run = run
        self.idle = threading.Event()
        self.idle.set()
        self.chart = ipywidgets.HTML(ShownGuards(result).live_html())
        self.said = ipywidgets.HTML()
        self.faults = {
            fault: ipywidgets.Checkbox(
                value=fault in result.faults,
                description=fault_in_words(fault),
                indent=False,
                layout=ipywidgets.Layout(width="auto", margin="0"),
            )
            for fault in FAULTS
        }
        self.copies = ipywidgets.BoundedIntText(
            value=result.copies,
            min=FEWEST_COPIES,
            max=MOST_COPIES,
            description=_("Copies that the producer sends"),
            style={"description_width": "initial"},
            layout=ipywidgets.Layout(width="auto", max_width="24em", margin="0"),
        )
        self.button = ipywidgets.Button(description=_("Compare"), layout=ipywidgets.Layout(min_width="11em"))
        self.button.on_click(shown_errors(self._say)(lambda _button: self._start()))
        wrapped = ipywidgets.Layout(flex_flow="row wrap", grid_gap=".3em 1.4em", overflow="visible")
        choices = ipywidgets.HBox([*self.faults.values()], layout=wrapped)
        action = ipywidgets.HBox([self.copies, self.button], layout=wrapped)
        self._controls = [*self.faults.values(), self.copies, self.button]
        self.root = root("", [self.chart, words(heading(_("Compare under other faults"))), choices, action, self.said])
        beside_cells(*self._controls)

    def _start(self) -> None:
        """Begin in a thread of its own; a press while it runs changes nothing."""
        if not self.idle.is_set():
            return
        faults = [fault for fault, chosen in self.faults.items() if chosen.value]
        if not faults:
            raise BadParameter(
                _("No fault is chosen."),
                _("The chart compares the guards under the faults that you choose."),
                _("Choose one fault or more. Then press the button again."),
            )
        self.idle.clear()
        self._enable(False)
        work = shown_errors(self._say)(self._work)
        threading.Thread(target=self._to_the_end, args=(work, faults), name="guard-panel", daemon=True).start()

    def _to_the_end(self, work: Callable[..., None], faults: list[str]) -> None:
        try:
            work(faults)
        finally:
            self._enable(True)
            self.idle.set()

    def _work(self, faults: list[str]) -> None:
        result = self._run(faults=faults, copies=self.copies.value, told=self._progress)
        self.chart.value = ShownGuards(result).live_html()
        self._say(page([box("good", sign("✓") + plain(_("The chart is up to date.")).html, live=True)]))

    def _progress(self, done: int, count: int) -> None:
        said = _("Workers are running. Faults done: {done} of {count}.").format(done=done, count=count)
        self._say(page([box("calm", sign("…") + plain(said).html, live=True)]))

    def _say(self, html: str) -> None:
        self.said.value = html

    def _enable(self, enabled: bool) -> None:
        for control in self._controls:
            control.disabled = not enabled
        beside_cells(*self._controls)
