"""The page's part of the fault panel: what it is given, what it sends back. It decides nothing.

Native elements: each group is a `details` that the keyboard can fold, each control a `button`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from helpers.lab.language import current
from helpers.show.live import beside_cells

_HERE = Path(__file__).parent


class PanelWidget(anywidget.AnyWidget):
    """The panel on the page. `words` are its own texts; all texts of `groups` and `presets` are ready to be shown."""

    _esm = (_HERE / "fault_panel.js").read_text(encoding="utf-8")
    _css = (_HERE / "fault_panel.css").read_text(encoding="utf-8")

    language = traitlets.Unicode().tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    groups: traitlets.List[Any] = traitlets.List().tag(sync=True)
    presets: traitlets.List[Any] = traitlets.List().tag(sync=True)
    armed: traitlets.List[Any] = traitlets.List().tag(sync=True)
    said = traitlets.Dict().tag(sync=True)
    scene = traitlets.Dict().tag(sync=True)

    def __init__(self, **texts: Any) -> None:
        super().__init__(language=current(), **texts)
        beside_cells(self)

    def show(self, **changed: Any) -> None:
        """Change what is shown. May be called from any thread."""
        for name, value in changed.items():
            self.set_trait(name, value)
        # "Disarm all faults" lets a held call go on, so it must work while a cell waits in `lab.settle()`.
        beside_cells(self)

    def on_press(self, pressed: Callable[[dict[str, Any]], None]) -> None:
        """Call `pressed` with each message of the page."""
        self.on_msg(lambda _widget, content, _buffers: pressed(content))
