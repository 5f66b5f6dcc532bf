"""The one wrapper around every callback of a widget.

JupyterLab shows an error of a callback nowhere (it goes to the log panel, which nobody has open). So every
callback runs in here, and what goes wrong is written where the learner has just clicked.
"""

from __future__ import annotations

import functools
import threading
import traceback
from collections.abc import Callable
from typing import Any

from helpers.lab.errors import LabError
from helpers.lab.language import _
from helpers.show.errors import explanation
from helpers.show.markup import Cell, box, folded, page, paragraph, plain, prose, sign


def shown_errors(show: Callable[[str], None]) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """A decorator: errors of the callback become HTML that is given to `show`. Never raises an Exception."""

    def decorate(callback: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(callback)
        def run(*arguments: Any, **named: Any) -> None:
            try:
                callback(*arguments, **named)
            except Exception as error:  # shown, whatever it is: that is what this module is for
                show(error_box(error))

        return run

    return decorate


def left_out_at_the_end(redraw: Callable[[], Any]) -> Callable[[], Any]:
    """A redraw from a thread of its own, which the end of the kernel may overtake: pyzmq then takes no message any
    more (zmq/utils/garbage.py, "requested during shutdown"), and nobody looks."""

    @functools.wraps(redraw)
    def run() -> Any:
        try:
            return redraw()
        except RuntimeError:
            if threading.main_thread().is_alive():
                raise
            return None

    return run


def error_box(error: BaseException) -> str:
    """An error as HTML: what happened, what it means, what to do; the technical part on request."""
    what, meaning, action = explanation(error)
    expected = isinstance(error, LabError)
    written = prose if expected else plain
    lines = [f"{sign('✗')}<strong>{written(what).html}</strong>"]
    lines += [paragraph(written(sentence)) for sentence in (meaning, action) if sentence]
    if expected:
        return page([box("bad", "".join(lines), live=True)])
    report = "".join(traceback.format_exception(error))
    body = f'<pre style="white-space:pre-wrap;font-size:.85em;margin:0">{plain(report).html}</pre>'
    lines.append(folded(_("Technical details"), Cell(report, body)))
    return page([box("bad", "".join(lines), live=True)])
