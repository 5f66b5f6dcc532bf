"""Choices as toggle buttons that a screen reader understands, with what is said to the choice below them.

Core ipywidgets have no button that says whether it is pressed. These are real buttons in a named group: Tab goes
from one to the next, Enter or Space presses, and `aria-pressed` and visible words say which one is chosen. What is
said appears in a region that is there from the beginning: screen readers announce changes of such a region, not
its arrival (WAI-ARIA 1.2, `status`).
"""

from __future__ import annotations

from collections.abc import Callable

import traitlets

from helpers.show.delivered import Delivered, module, style, unheard


class Choices(Delivered):
    """A named group of toggle buttons.

    `choices` and `said` are HTML that the functions of helpers.show.markup made; the other texts are plain.
    """

    _esm = module("choices")
    _css = style("choices")
    label = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Int(0, help="number of the choice, from 1; 0: none so far").tag(sync=True)
    yours = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    unheard = traitlets.Unicode().tag(sync=True)

    def __init__(self, *, label: str, choices: list[str], yours: str) -> None:
        super().__init__(label=label, choices=choices, yours=yours, unheard=unheard())

    def on_choice(self, choose: Callable[[int], None]) -> None:
        """Call `choose` with the number of each choice that is pressed, also with that of the one chosen already."""

        def pressed(number: int) -> None:
            self.show(chosen=number)
            choose(number)

        self.on_entry(lambda content: pressed(int(content["number"])))
