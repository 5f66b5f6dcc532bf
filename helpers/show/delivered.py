"""Widgets whose page sends what a learner enters until the kernel has it, and whose kernel acts on it once.

A comm message has no receipt: what is sent into a connection that was cut is lost, and neither side learns of it
before JupyterLab notices the cut. It is the subject of this course, and its remedy too: the page sends again
(static/delivery.js), and a message that arrives twice is answered twice, but handled once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from helpers.lab.language import _, current
from helpers.show.live import beside_cells
from helpers.show.markup import box, page, plain, sign

_STATIC = Path(__file__).parent / "static"


def module(name: str) -> str:
    """The JavaScript module `static/<name>.js`, with what static/delivery.js gives it."""
    return "\n".join((_STATIC / f"{part}.js").read_text(encoding="utf-8") for part in ("delivery", name))


def style(name: str) -> str:
    """The style sheet `static/<name>.css`."""
    return (_STATIC / f"{name}.css").read_text(encoding="utf-8")


def unheard() -> str:
    """HTML that says that something pressed has had no answer so far."""
    said = _("The kernel has not answered yet. The page sends your request again until it does.")
    return page([box("open", sign("!") + plain(said).html)])


class Delivered(anywidget.AnyWidget):
    """A widget that hears each message of its page once. `_esm` of a subclass is `module(…)`."""

    language = traitlets.Unicode().tag(sync=True)
    place = traitlets.Unicode("", help="where the tab keeps what has no answer yet; empty: nowhere").tag(sync=True)

    def __init__(self, **state: Any) -> None:
        super().__init__(**{"language": current(), **state})
        self._answered: dict[tuple[str, str], tuple[int, Any]] = {}
        self._answering = threading.RLock()
        beside_cells(self)

    def show(self, **changed: Any) -> None:
        """Change what is shown. May be called from any thread."""
        for name, value in changed.items():
            self.set_trait(name, value)
        # The page must be heard while a cell runs: "Disarm all faults" lets a held call go on.
        beside_cells(self)

    def on_entry(self, handle: Callable[[dict[str, Any]], Any], *, answer_first: bool = False) -> None:
        """Call `handle` once with the content of each message. What it gives is the answer to the page (JSON).

        With `answer_first` the page is answered (with None) before `handle` is called: for what takes its time.
        """

        def heard(_widget: Any, message: dict[str, Any], _buffers: Any) -> None:
            sender, number = (str(message["page"]), str(message["key"])), int(message["number"])
            with self._answering:
                before, answer = self._answered.get(sender, (0, None))
                fresh = number > before
                if fresh and not answer_first:
                    answer = handle(message["content"])
                if fresh:
                    self._answered[sender] = (number, answer)
            self.send({"page": sender[0], "had": sender[1], "number": number, "answer": answer})
            beside_cells(self)
            if fresh and answer_first:
                handle(message["content"])

        self.on_msg(heard)
