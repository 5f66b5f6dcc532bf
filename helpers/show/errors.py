"""Errors that a learner can meet: three sentences in their language instead of a traceback.

The cell still fails (nbval and papermill see an error output); only what is printed changes.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from IPython.display import display

from helpers.lab.errors import LabError
from helpers.lab.language import _
from helpers.lab.service_answers import explained
from helpers.show.bundle import bundle
from helpers.show.note import ShownNote

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def explanation(error: BaseException) -> tuple[str, str, str]:
    """(what happened, what it means, what to do); the last two may be empty."""
    if isinstance(error, LabError):
        return error.what, error.meaning, error.advice
    return (
        _("This did not work: {error}").format(error=f"{type(error).__name__}: {error}"),
        _("An error that this course did not expect. Your answers are not touched."),
        _("Run the cell again. If it happens again, restart the kernel and run the cells from the top."),
    )


def lines(error: BaseException) -> list[str]:
    """The explanation as lines of a terminal; no colours, which would not fit every theme."""
    what, meaning, advice = explanation(error)
    shown = [f"{_BOLD}✗ {what}{_PLAIN}"]
    if meaning:
        shown.append(f"  {meaning}")
    if advice:
        shown.append(f"→ {advice}")
    return shown


def install(shell: Any) -> None:
    """Show `LabError` in this form in an IPython shell."""

    def show(
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType,
        tb_offset: int | None = None,
    ) -> list[str]:
        shown = lines(error)
        shell._showtraceback(kind, error, shown)
        return shown

    shell.set_custom_exc((LabError,), show)
    shell.events.register("post_run_cell", explain_unknown_name)
    shell.events.register("post_run_cell", explain_service_answer)


def explain_unknown_name(result: Any) -> None:
    """Below the traceback of a NameError: which cells make the name. The error itself stays as Python says it."""
    error = result.error_in_exec
    if isinstance(error, NameError) and error.name:
        advice = ShownNote(
            "→",
            "open",
            [
                _("`{name}` is not known yet: a cell that makes it was not run.").format(name=error.name),
                _("Run the cells from the top, or the cells of this step in their order."),
            ],
        )
        display(bundle(advice), raw=True)


def explain_service_answer(result: Any) -> None:
    """Below the traceback of an error of a service: what it means in this lesson. The error itself stays as it is."""
    sentences = explained(result.error_in_exec) if result.error_in_exec is not None else []
    if sentences:
        display(bundle(ShownNote("→", "open", sentences)), raw=True)
