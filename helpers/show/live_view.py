"""The live view: one widget that follows the account of a lesson, beside the cells or in one of them.

A thread of its own waits until the journal has something new, the clock was moved, or a message becomes visible by
itself. At rest it does nothing at all. It never calls a service: what is new in the journal is read once, and queues
and tables are looked at from inside (helpers/cloud/glance.py), so following an account leaves no trace in it.

Python makes the HTML of each part; the page (static/live_view.js) changes only what differs, so focus, selection and
scroll position stay. All views of the widget show the same state, wherever they stand.
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from helpers.cloud.journal import Event
from helpers.lab.chronicle import Chronicle
from helpers.lab.language import _, current
from helpers.show import live_sections
from helpers.show.bundle import bundle, view_of
from helpers.show.callbacks import left_out_at_the_end, shown_errors
from helpers.show.live import beside_cells
from helpers.show.live_sections import Now, Remembered
from helpers.show.markup import box, paragraph, plain, sign
from helpers.show.timeline import Timeline

_STATIC = Path(__file__).parent / "static"

_SOONEST = 0.1
"""Seconds between two redraws: at most ten a second."""

_SHARE = 4
"""A redraw that takes long is followed by a pause of this many times its length: the account needs the processor."""

_LONGEST_WAIT = 3600.0


class LiveWidget(anywidget.AnyWidget):
    """What the page knows: the parts as HTML, and the words of its own controls."""

    _esm = _STATIC / "live_view.js"
    _css = _STATIC / "live_view.css"

    name = traitlets.Unicode().tag(sync=True)
    """The model's id: views of one widget find each other by it."""

    beside = traitlets.Unicode().tag(sync=True)
    """The model's id of the Sidecar, empty when there is none."""

    lang = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    titles: traitlets.List[Any] = traitlets.List().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    queues = traitlets.Unicode().tag(sync=True)
    timeline = traitlets.Unicode().tag(sync=True)
    executions = traitlets.Unicode().tag(sync=True)
    orders = traitlets.Unicode().tag(sync=True)
    decisions = traitlets.Unicode().tag(sync=True)
    messages = traitlets.Unicode().tag(sync=True)
    runs = traitlets.Unicode().tag(sync=True)
    reference = traitlets.Unicode().tag(sync=True)


class LiveView:
    """Follows one account after the other: `lab.reset()` and a new lab go on with the same view."""

    def __init__(self) -> None:
        self.redraws = 0
        """How often it was drawn."""
        self.widget_or_none: LiveWidget | None = None
        self._told: Chronicle | None = None
        self._known = Remembered()
        self._follower: _Follower | None = None
        self._sidecar: Any = None
        self._common = False
        self._drawing = threading.Lock()

    # --- the account --------------------------------------------------------------------------------------------

    def follow(self, told: Chronicle) -> None:
        """Go on with this account."""
        self.stop()
        self._told, self._known = told, Remembered()
        widget = self.widget_or_none
        if widget is None or widget.comm is None:
            return
        if widget.lang != current():
            with widget.hold_sync():
                widget.words, widget.lang = _words(), current()
            if self._sidecar is not None:
                self.dock()  # the page never changes the title of a pane
        self._begin()

    def stop(self) -> None:
        """End the thread. The last state stays on the page, which says so. May be called again."""
        if self._follower is None:
            return
        self._follower.end()
        self._follower = None
        if self.widget_or_none is not None:
            said = _("The account of this lesson was closed. You see its last state.")
            self.widget_or_none.status = box("open", sign("■") + plain(said).html)

    def draw(self) -> Now | None:
        """Bring the widget up to date. Returns what was seen, None when there is no account."""
        told, widget = self._told, self.widget_or_none
        if told is None or widget is None:
            return None
        with self._drawing:
            told.read()
            told.changed = False
            with told.lock:
                now = live_sections.look(told, self._known)
                parts = live_sections.sections(told, now, self._known, self._common)
            with widget.hold_sync():
                for name, html in parts.items():
                    setattr(widget, name, html)
                titles = live_sections.titles()
                widget.titles = [[name, titles[name]] for name in parts]
                widget.status = self._lost(told.lost)
            self.redraws += 1
        return now

    def _lost(self, lost: int) -> str:
        if not lost:
            return ""
        said = _("Events that passed too fast to be shown: {count}.").format(count=lost)
        return paragraph(plain(said), soft=True)

    def _begin(self) -> None:
        assert self._told is not None
        self.draw()
        self._follower = _Follower(self._told, left_out_at_the_end(self.draw))

    # --- the widget ---------------------------------------------------------------------------------------------

    @property
    def widget(self) -> LiveWidget:
        """The widget. From here on the view follows the account."""
        if self.widget_or_none is None or self.widget_or_none.comm is None:
            self.stop()
            widget = LiveWidget(words=_words(), lang=current())
            widget.name = widget.model_id
            widget.on_msg(shown_errors(self._say)(self._asked))
            beside_cells(widget)
            self.widget_or_none = widget
            if self._told is not None:
                self._begin()
        return self.widget_or_none

    def _asked(self, _widget: LiveWidget, asked: dict[str, Any], _buffers: Any) -> None:
        if asked.get("ask") == "beside":
            self.dock()
        elif asked.get("ask") == "order":
            self._common = not self._common
            self.draw()

    def _say(self, html: str) -> None:
        """Show what went wrong with a button of the view."""
        if self.widget_or_none is not None:
            self.widget_or_none.status = html

    def dock(self) -> None:
        """Open the view beside the cells, in JupyterLab with the sidecar extension. An open one is replaced."""
        from ipywidgets import Output
        from sidecar import Sidecar

        widget = self.widget
        if self._sidecar is not None:
            with contextlib.suppress(Exception):  # the page has closed it already
                self._sidecar.close()
        output: Output = Sidecar(title=_("Live view"), anchor="right")
        output.outputs = ({"output_type": "display_data", "data": view_of(widget), "metadata": {}},)
        self._sidecar = output
        widget.beside = output.model_id or ""

    # --- static forms -------------------------------------------------------------------------------------------

    def _static(self) -> Timeline:
        assert self._told is not None
        return static(self._told)

    def text(self) -> str:
        return self._static().text()

    def html(self) -> str:
        return self._static().html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)


class _Follower:
    """The thread that draws when something has changed."""

    def __init__(self, told: Chronicle, draw: Any) -> None:
        self._told, self._draw = told, draw
        self._changed = threading.Event()
        self._over = False
        self._skipped = False
        told.cloud.clock.on_skip(self._skip)
        self._unsubscribe = told.cloud.journal.subscribe(self._tell)
        self._thread = threading.Thread(target=self._run, name="live-view", daemon=True)
        self._thread.start()

    def _tell(self, _event: Event) -> None:
        """Called from inside the call that the event is about: it only wakes the thread."""
        self._changed.set()

    def _skip(self) -> None:
        self._skipped = True
        self._changed.set()

    def end(self) -> None:
        """End the thread, and wait for its last redraw."""
        self._over = True
        self._unsubscribe()
        self._changed.set()
        if self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        due: float | None = 0.0
        while not self._over:
            told = self._changed.wait(None if due is None else max(0.0, due - time.monotonic()))
            if self._over:
                return  # type: ignore[unreachable]  # another thread ends it
            self._changed.clear()
            self._told.read()
            if told and not self._told.changed and not self._skipped:
                continue  # somebody only read something: what comes next need not wait for a redraw
            self._skipped = False
            begun = time.monotonic()
            now = self._draw()
            spent = time.monotonic() - begun
            time.sleep(max(_SOONEST - spent, _SHARE * spent, 0.01))
            wait = self._until(now)
            due = None if wait is None else time.monotonic() + wait

    def _until(self, now: Now | None) -> float | None:
        """Seconds until time alone changes something, None for never."""
        if now is None or now.changes_at is None:
            return None
        # A message is visible when its time lies before now: the moment itself is too early.
        return min(max(0.0, now.changes_at - self._told.cloud.clock.now()) + 0.005, _LONGEST_WAIT)


def static(told: Chronicle) -> Timeline:
    """The timeline as it is stored: the same for the same lesson."""
    told.read()
    with told.lock:
        return live_sections.lanes_of(told, alive=False)


def _words() -> dict[str, str]:
    """The texts of the page's own controls."""
    return {
        "title": _("Live view"),
        "beside": _("Show beside the cells"),
        "here": _("Show it here"),
        "away": _("The live view is open beside the cells."),
        "dead": _("The kernel of this notebook has ended. You see the last state, and nothing moves any more."),
        "again": _("Run the notebook again to have a live view."),
        "help": _("Choose a mark: its story is told here. The arrow keys move from mark to mark."),
    }
