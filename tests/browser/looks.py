"""What a page looks like, measured in the page: contrast, room, sizes of letters, the focus. No opinion of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

_SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden)"
OURS = f"{_SHOWN} .jp-OutputArea-output, {_SHOWN} .jp-MarkdownOutput"
"""What the course shows in a notebook: outputs of cells, and their prose. The rest is JupyterLab's."""

JUPYTERLABS = (
    # The tree in which JupyterLab shows `application/json` (the last cell's counts): a faint summary of 4.15:1 in the
    # dark theme, a search field without an edge. The same counts stand in the table above it.
    ".jp-RenderedJSON",
    # The colours of code in prose come from JupyterLab's theme for editors: brackets 2.93:1 in the light theme,
    # comments 4.15:1 in the dark one. They are the same in the cells that the learner edits.
    ".jp-MarkdownOutput pre",
)
"""What JupyterLab draws inside of `OURS` in its own way."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """What is too faint, as sentences; how many texts and graphics were looked at; the faintest text's contrast."""

    problems: list[str]
    texts: int
    graphics: int
    worst: float


@dataclass(frozen=True, slots=True)
class Letter:
    """One piece of text: its size in pixels as drawn, where it stands (button, field, picture, text), its beginning."""

    pixels: float
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Focus:
    """What has the focus, how it looks, and how the part that had it before looks now (None: it is gone)."""

    tag: str
    words: str
    ours: bool
    chosen: bool
    cell: int
    look: dict[str, str]
    before: dict[str, str] | None


def contrasts(page: Page, roots: str = OURS, without: Sequence[str] = JUPYTERLABS) -> Contrasts:
    """Compare each text and each graphic with what is below it: scripts/contrast.js states the formula."""
    return Contrasts(**page.evaluate(_script("contrast"), [roots, ", ".join(without)]))


def misfits(page: Page, roots: str = OURS, *, trusted: bool = True) -> list[str]:
    """What sticks out, is cut off, or scrolls only by mouse.

    From outputs that it does not trust (stored ones, not run here) JupyterLab takes the attributes that let a frame
    scroll by keyboard; with `trusted=False` that is not looked for.
    """
    found = page.evaluate(_script("layout"), roots)
    assert found["parts"], f"nothing is shown in {roots}"
    return [*found["problems"], *(found["unreachable"] if trusted else ())]


def letters(page: Page, roots: str, without: Sequence[str] = JUPYTERLABS) -> list[Letter]:
    """Each piece of text with its size, in the order of the page."""
    return [Letter(*one) for one in page.evaluate(_script("letters"), [roots, ", ".join(without)])]


def focus(page: Page) -> Focus:
    """What has the focus."""
    return Focus(**page.evaluate(_script("focus")))


@cache
def _script(name: str) -> str:
    return (Path(__file__).parent / "scripts" / f"{name}.js").read_text(encoding="utf-8")
