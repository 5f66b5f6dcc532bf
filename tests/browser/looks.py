"""What a page looks like, measured in the page: contrast, room, sizes of letters, the focus. No opinion of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

OURS = ".jp-Notebook .jp-OutputArea-output, .jp-Notebook .jp-MarkdownOutput"
"""What the course shows in a notebook: outputs of cells, and their prose. The rest is JupyterLab's."""


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


def contrasts(page: Page, roots: str = OURS) -> Contrasts:
    """Compare each text and each graphic with what is below it: scripts/contrast.js states the formula."""
    return Contrasts(**page.evaluate(_script("contrast"), roots))


def misfits(page: Page, roots: str = OURS) -> list[str]:
    """What sticks out, is cut off, or scrolls only by mouse."""
    found = page.evaluate(_script("layout"), roots)
    assert found["parts"], f"nothing is shown in {roots}"
    return list(found["problems"])


def letters(page: Page, roots: str = OURS) -> list[Letter]:
    """Each piece of text with its size, in the order of the page."""
    return [Letter(*one) for one in page.evaluate(_script("letters"), roots)]


def focused(page: Page) -> dict[str, Any] | None:
    """What has the focus and how it looks, or None."""
    found: dict[str, Any] | None = page.evaluate(_script("focus"))
    return found


@cache
def _script(name: str) -> str:
    return (Path(__file__).parent / "scripts" / f"{name}.js").read_text(encoding="utf-8")
