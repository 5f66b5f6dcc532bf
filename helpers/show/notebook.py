"""The Lab that a notebook opens: the plain one of helpers.lab, with a face."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from helpers import lab
from helpers.lab.answers import Answers
from helpers.lab.checks import CheckReport
from helpers.lab.chronicle import Chronicle
from helpers.lab.errors import BadParameter
from helpers.lab.language import _
from helpers.lab.progress import remember
from helpers.show import formatters
from helpers.show.bundle import bundle
from helpers.show.fault_panel import FaultPanel
from helpers.show.guard_panel import GuardPanel
from helpers.show.live_view import LiveView, static
from helpers.show.own_copy import changed_lesson, changed_note
from helpers.show.prediction import Prediction
from helpers.show.ready import Ready
from helpers.show.timeline import Timeline
from helpers.show.vocabulary import Vocabulary

_on_the_page = LiveView()
"""The view of this kernel: a new lab goes on with it, also when the one before was closed."""


class Lab(lab.Lab):
    """As `helpers.lab.Lab`; what it gives is shown as tables, boxes and controls.

    The learner's answers belong to the lesson and the language, not to this object or its account: they are
    the same after `reset()`, in a new kernel, and in a second notebook.
    """

    def __init__(self, lesson: str, language: str | None = None, **parameters: Any) -> None:
        shell = _shell()
        if shell is not None:
            # Before the start: an error of the start is shown in the reader's language too.
            formatters.install(shell)
        self._vocabulary: Vocabulary | None = None
        self._predictions: dict[str, Prediction] = {}
        self._answers: Answers | None = None
        self._panel: FaultPanel | None = None
        self._live = _on_the_page
        super().__init__(lesson, language, **parameters)

    @property
    def answers(self) -> Answers:
        """Where the learner's answers are kept."""
        if self._answers is None:
            self._answers = Answers(self.lesson, self.language)
        return self._answers

    def check(self, step: str) -> CheckReport:
        """As in `helpers.lab.Lab`; that it passed is remembered, for the table of the learner's progress."""
        report = super().check(step)
        if report.passed:
            remember(self.answers, step)
        return report

    def vocabulary(self) -> Vocabulary:
        """The vocabulary table, with what the learner wrote."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.texts.vocabulary, self.answers, lesson=self.texts.heading)
        self._vocabulary.refresh()
        return self._vocabulary

    def predict(self, step: str) -> Prediction:
        """The question before a step.

        :raises BadParameter: the lesson has no question of this name.
        """
        if not isinstance(step, str) or step not in self._predictions:
            if step not in tuple(self.texts.predictions):
                raise BadParameter(
                    _("The lesson has no question `{step}`.").format(step=str(step)[:40]),
                    _("Cells call a question by its name."),
                    _("Choose one of these: {choices}.").format(
                        choices=", ".join(f"`{name}`" for name in self.texts.predictions)
                    ),
                )
            self._predictions[step] = Prediction(self.texts.prediction(step), self.answers)
        return self._predictions[step]

    def compare_guards(
        self,
        faults: Iterable[str] | None = None,
        guards: Iterable[str] | None = None,
        copies: int = 3,
        told: Callable[[int, int], None] | None = None,
    ) -> GuardPanel:
        """As in `helpers.lab.Lab`, as a chart with controls."""
        compare = super().compare_guards
        return GuardPanel(compare, compare(faults, guards, copies, told))

    def live(self) -> LiveView:
        """The live view, and the timeline in it. Each call gives the same one: it is never out of step with itself."""
        self._check_open()
        return self._live

    def timeline(self) -> Timeline:
        """The timeline as it is now, as a picture and a table that can be stored."""
        self._check_open()
        return static(self._chronicle)

    def _announce(self) -> None:
        """In a notebook, the last line of the cell shows the lab; elsewhere, as before."""
        if _shell() is None:
            super()._announce()

    def _open_account(self, port: int) -> None:
        super()._open_account(port)
        if self._panel is None:
            self._panel = FaultPanel(lambda: self.faults)
        self.faults.face = self._panel
        self.faults.changed = self._panel.show_armed
        self._closing.callback(self.cloud.journal.subscribe(self._tell_panel))
        self._panel.start_over()
        self._chronicle = Chronicle(self.cloud, self._lesson)
        self._live.follow(self._chronicle)
        self._closing.callback(self._live.stop)

    def _tell_panel(self, event: object) -> None:
        from helpers.cloud.journal import FaultFired, RunEnded

        # A run that ends may be one that a fault held.
        if isinstance(event, FaultFired | RunEnded) and self._panel is not None:
            # The journal calls from inside the call that it records, which must not wait for a page.
            self._panel.show_armed_soon()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(Ready(self.ready, changed_note() if changed_lesson(self.lesson) else ()))


def _shell() -> Any | None:
    """The running IPython shell, if there is one."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return None
    return get_ipython()
