"""The page's part of the fault panel: what it is given, what it sends back. It decides nothing.

Native elements: each group is a `details` that the keyboard can fold, each control a `button`.
"""

from __future__ import annotations

from typing import Any

import traitlets

from helpers.show.delivered import Delivered, module, style


class PanelWidget(Delivered):
    """The panel on the page. `words` are its own texts; all texts of `groups` and `presets` are ready to be shown."""

    _esm = module("fault_panel")
    _css = style("fault_panel")

    words = traitlets.Dict().tag(sync=True)
    groups: traitlets.List[Any] = traitlets.List().tag(sync=True)
    presets: traitlets.List[Any] = traitlets.List().tag(sync=True)
    armed: traitlets.List[Any] = traitlets.List().tag(sync=True)
    said = traitlets.Dict().tag(sync=True)
    scene = traitlets.Dict().tag(sync=True)
