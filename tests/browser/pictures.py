"""Write docs/pictures/ and docs/pictures.md: every lesson as the page shows it, in each language and each look.

    make pictures                                                  all of them (needs Chromium; some minutes)
    python -m tests.browser.pictures --language fr --lesson order_file

The lessons are run in JupyterLab and photographed there; nothing is drawn for the occasion. Windows, fonts and the
lessons' outputs are fixed, so a picture changes only when the page does. WebP, made by the browser itself: a page of
text takes a third of a PNG.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from playwright.sync_api import Page, sync_playwright

from helpers.lab.language import SOURCE, known_languages
from tests.browser.conftest import HOW, system_chromium
from tests.browser.jupyterlab import Notebook, page, server
from tests.browser.paper_pictures import LESSON, TITLES, paper, report

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDER = DOCS / "pictures"
MOST_BYTES = 6_000_000
"""All pictures together: who clones the course loads them too."""

PROJECTOR = ROOT / "helpers" / "launcher" / "projector_page" / "custom.css"
LIVE = "live"
LANGUAGES = {"fr": "French", "ru": "Russian", "es": "Spanish"}


@dataclass(frozen=True, slots=True)
class Look:
    """How a lesson is looked at: the size of the window, and what is set before."""

    name: str
    title: str
    width: int
    height: int
    dark: bool = False
    projected: bool = False


LOOKS = (
    Look("light", "Light theme", 1366, 900),
    Look("dark", "Dark theme", 1366, 900, dark=True),
    Look("projected", "For the projector, 1920 × 1080", 1920, 1080, projected=True),
)

# The cell at the top of each lesson's picture.
SCENES = {
    "order_file": ("batch-connect-note", "An order file that cannot be read does not stop the others"),
    "idempotent_consumer": ("break-crash-run-note", "The worker's machine dies after the write, before the answer"),
    "protected_workflow": ("run-first-history-note", "A task fails after the write, and the retry finds its own order"),
}
LIVE_TITLE = "The live view"
README = ("fr", "idempotent_consumer", DOCS / "lesson.png", 1500, 1080)

_SCROLL = "(element) => element.scrollIntoView({block: 'start'})"
_MODE = """async (mode) => {
  const {commands, shell} = window.jupyterapp;
  if (shell.mode !== mode) await commands.execute('application:toggle-mode');
}"""
_WEBP = """async ([png, quality]) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + png;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/webp', quality).split(',')[1];
}"""
_QUALITY = 0.8


def main(arguments: Sequence[str]) -> int:
    """Write the pictures that the command line asks for; gives the exit code."""
    spoken = [language for language in known_languages() if language != SOURCE]
    parser = argparse.ArgumentParser(prog="make pictures", description="Photograph the lessons for docs/pictures.md.")
    parser.add_argument("--language", action="append", choices=spoken, help="only this one (default: all)")
    parser.add_argument("--lesson", action="append", choices=list(SCENES), help="only this one (default: all)")
    options = parser.parse_args(list(arguments))
    chromium = system_chromium()
    if chromium is None:
        print(f"There is no Chromium on this machine. To get it: {HOW}", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="once-pictures-") as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "notebooks", root, dirs_exist_ok=True)
        with server(root) as running, sync_playwright() as playwright, page(playwright, chromium) as (tab, seen):
            for language in options.language or spoken:
                for lesson in options.lesson or SCENES:
                    (stored,) = (root / language).glob(f"*_{lesson}.ipynb")
                    notebook = Notebook(tab, running, f"{language}/{stored.name}")
                    notebook.run_all()
                    if failed := notebook.failed_cells():
                        print(f"{language}/{stored.name} failed: {failed[0]}", file=sys.stderr)
                        return 1
                    for path in _photographed(notebook, language, lesson, stored):
                        print(path.relative_to(ROOT))
                    notebook.shut_down()
                if LESSON.replace("-", "_") in (options.lesson or SCENES):
                    for path in _without_jupyter(tab, language, root / "paper"):
                        print(path.relative_to(ROOT))
            asked = [url for url in seen.foreign_requests if not url.startswith(root.as_uri())]
            assert not asked, asked
    write_overview()
    size = sum(file.stat().st_size for file in FOLDER.glob("*.webp"))
    print(f"{size / 1e6:.2f} MB in {FOLDER.relative_to(ROOT)}")
    return 0 if size < MOST_BYTES else 1


def _photographed(notebook: Notebook, language: str, lesson: str, stored: Path) -> Iterator[Path]:
    tab = notebook.page
    names = {cell.id for cell in nbformat.read(stored, as_version=4).cells}
    scenes = {lesson: SCENES[lesson][0]}
    if LIVE in names:
        scenes[f"{LIVE}-{lesson}"] = LIVE
    notebook.draw_everything()
    for look in LOOKS:
        with_style = _prepared(notebook, look)
        for scene, cell in scenes.items():
            if cell == LIVE:
                _show_live_view(notebook, look, SCENES[lesson][0])
            else:
                notebook.drawn(cell).evaluate(_SCROLL)
            path = FOLDER / f"{scene}-{language}-{look.name}.webp"
            path.write_bytes(_webp(tab, _photo(tab)))
            yield path
        if with_style:
            tab.evaluate("() => document.querySelector('style[data-projector]').remove()")
    if (language, lesson) == README[:2]:
        tab.evaluate(_MODE, "multiple-document")
        tab.set_viewport_size({"width": README[3], "height": README[4]})
        notebook.use_whole_window()
        notebook.drawn(SCENES[lesson][0]).evaluate(_SCROLL)
        README[2].write_bytes(_photo(tab))
        yield README[2]


def _show_live_view(notebook: Notebook, look: Look, beside: str) -> None:
    """Beside this cell; below its own cell on the projector, whose page has no room at the side."""
    tab = notebook.page
    if look.projected:
        notebook.drawn(LIVE).locator("button.once-place").click()
        notebook.drawn(LIVE).evaluate(_SCROLL)
    else:
        tab.evaluate("() => window.jupyterapp.shell.expandRight()")
        notebook.drawn(beside).evaluate(_SCROLL)
    tab.locator(".once-live-view .once-mark:visible").first.wait_for()


def _without_jupyter(tab: Page, language: str, place: Path) -> Iterator[Path]:
    """What a teacher prints or opens as a file."""
    for name, picture in paper(tab, language, place / "handouts", _QUALITY):
        path = FOLDER / f"{name}-{language}.webp"
        path.write_bytes(picture)
        yield path
    for name in report(tab, language, place / "experiments" / language):
        path = FOLDER / f"{name}-{language}.webp"
        path.write_bytes(_webp(tab, _photo(tab)))
        yield path


def _prepared(notebook: Notebook, look: Look) -> bool:
    """Give the page this look; says whether a style was added, which the next look must not have."""
    tab = notebook.page
    tab.set_viewport_size({"width": look.width, "height": look.height})
    notebook.use_whole_window(dark=look.dark)
    tab.evaluate(_MODE, "single-document" if look.projected else "multiple-document")
    if not look.projected or not PROJECTOR.is_file():
        return False
    style = tab.add_style_tag(path=PROJECTOR)
    style.evaluate("(element) => { element.dataset.projector = ''; }")
    return True


def _photo(tab: Page) -> bytes:
    # Two frames later, what a scroll brings into view is drawn by then.
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return tab.screenshot(animations="disabled", caret="hide")


def _webp(tab: Page, png: bytes) -> bytes:
    made = tab.evaluate(_WEBP, [base64.b64encode(png).decode("ascii"), _QUALITY])
    return base64.b64decode(made)


def write_overview() -> None:
    """Write docs/pictures.md for the pictures that are there."""
    (DOCS / "pictures.md").write_text(overview({file.name for file in FOLDER.glob("*.webp")}), "utf-8", newline="\n")


def overview(there: set[str]) -> str:
    """The page that shows these pictures."""
    lines = [
        "# Pictures of the lessons",
        "",
        "Written by `make pictures` (`python -m tests.browser.pictures`). Do not edit.",
        "",
        "Each lesson was run in JupyterLab and photographed there, in the three languages of the course. What is",
        "printed, or opened as a file, was made by `make handouts` and `make experiment`.",
    ]
    scenes = [(f"{LIVE}-{lesson}", f"{LIVE_TITLE}: {SCENES[lesson][1].lower()}") for lesson in SCENES]
    for scene, title in [*((lesson, title) for lesson, (_cell, title) in SCENES.items()), *scenes]:
        rows = [(look, [f"{scene}-{language}-{look.name}.webp" for language in LANGUAGES]) for look in LOOKS]
        if not any(name in there for _look, names in rows for name in names):
            continue
        lines += ["", f"## {title}", ""]
        for look, names in rows:
            shown = [
                f"![{title}, in {language}]({FOLDER.name}/{name})"
                for name, language in zip(names, LANGUAGES.values(), strict=True)
                if name in there
            ]
            lines += [f"### {look.title}", "", *(line for one in shown for line in (one, ""))]
        lines.pop()
    for name, title in TITLES.items():
        if shown := [language for language in LANGUAGES if f"{name}-{language}.webp" in there]:
            lines += ["", f"## {title}"]
            for language in shown:
                lines += ["", f"![{title}, in {LANGUAGES[language]}]({FOLDER.name}/{name}-{language}.webp)"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
