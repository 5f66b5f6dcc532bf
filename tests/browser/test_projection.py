"""In front of a class, at 1920 × 1080: the projected notebook and the slides can be read from the last row."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Playwright

from helpers.classroom.__main__ import main
from helpers.classroom.projection import prepare
from helpers.course.syllabus import HERE, languages, read_course
from tests.browser.jupyterlab import START_SECONDS, Notebook, Seen, Server, page

pytestmark = pytest.mark.browser

SMALLEST = 24
LESSONS = read_course(HERE).lessons
LANGUAGES = languages(HERE)

START = """
import sys
from dataclasses import replace
from pathlib import Path
from helpers.launcher import projector
from helpers.launcher.environment import Environment
from helpers.launcher.jupyter import open_lab
class Here(Environment):
    python = Path(sys.executable)
environment = Here(Path(sys.argv[1]))
environment.folder.mkdir()
view = projector.view(environment, sys.argv[2], Path(sys.argv[1]) / "answers")
options = (*view.options, "--LabApp.expose_app_in_browser=True")
variables = {**view.variables, "PYTHONPATH": sys.argv[3]}
raise SystemExit(open_lab(environment, browser=False, view=replace(view, options=options, variables=variables)))
"""

# The size in which text is seen, pictures included, of all text below `selector` that is not hidden.
_SMALL_TEXT = """([selector, smallest]) => {
  const found = {};
  for (const root of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || /^(STYLE|SCRIPT|TITLE|DESC)$/i.test(element.tagName)) continue;
      if (!element.checkVisibility({visibilityProperty: true})) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const {width, height} = range.getBoundingClientRect();
      if (width < 2 || height < 2) continue;
      const svg = element.closest('svg');
      const scale = svg?.viewBox.baseVal?.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
      const size = parseFloat(getComputedStyle(element).fontSize) * scale;
      if (size < smallest - 0.05) found[`${size.toFixed(1)} ${element.tagName}`] = node.data.trim().slice(0, 40);
    }
  }
  return found;
}"""

_TOO_WIDE = """(selector) => [...document.querySelectorAll(selector)]
  .filter(e => e.checkVisibility() && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 2)
  .filter(e => ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX))
  .filter(e => getComputedStyle(e).clipPath === 'none')  // what only a screen reader reads
  .map(e => `${e.className}: ${e.scrollWidth} > ${e.clientWidth}: ${e.textContent.trim().slice(0, 40)}`)"""

# Shows each slide with all that comes with a press, and says what sticks out of it or is empty.
_MEASURE_SLIDES = """() => {
  const wrong = [];
  Reveal.configure({viewDistance: 999});
  for (const [number, slide] of Reveal.getSlides().entries()) {
    const {h, v} = Reveal.getIndices(slide);
    Reveal.slide(h, v, 99);
    const page = slide.querySelector('.once-page');
    const body = page.querySelector('.once-body');
    const edge = page.getBoundingClientRect().right;
    if (page.scrollHeight > page.clientHeight + 1) wrong.push(`${number + 1}: ${page.scrollHeight} px high`);
    if (page.scrollWidth > page.clientWidth + 1) wrong.push(`${number + 1}: ${page.scrollWidth} px wide`);
    if (!body.textContent.trim()) wrong.push(`${number + 1}: empty`);
    for (const element of body.querySelectorAll('td, th, pre, p, svg'))
      if (element.getBoundingClientRect().right > edge - 40) wrong.push(`${number + 1}: ${element.tagName} too wide`);
  }
  Reveal.slide(0, 0);
  return wrong;
}"""


def small_text(tab: Page, selector: str) -> dict[str, str]:
    return dict(tab.evaluate(_SMALL_TEXT, [selector, SMALLEST]))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Slides of each lesson, each in another language."""
    folder = tmp_path_factory.mktemp("slides")
    for lesson, language in zip(LESSONS, LANGUAGES, strict=False):
        assert main(["slides", "--lesson", lesson.slug, "--language", language, "--output", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("number", range(len(LESSONS)), ids=lambda number: LESSONS[number].slug)
def test_each_slide_fits_and_can_be_read_offline(
    number: int, written: Path, playwright: Playwright, chromium: str
) -> None:
    (path,) = written.glob(f"{LANGUAGES[number]}/*.html")
    with page(playwright, chromium, 1920, 1080) as (tab, seen):
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        tab.locator("html[data-once-ready]").wait_for(state="attached")
        assert tab.evaluate(_MEASURE_SLIDES) == []
        tab.evaluate("document.querySelectorAll('.slides section').forEach(s => { s.style.display = 'block'; })")
        assert small_text(tab, ".once-page") == {}
        assert tab.locator(".once-page").count() > 30
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert (seen.console_errors, seen.page_errors) == ([], [])
        assert "```" not in tab.locator(".slides").inner_text()


def test_the_notes_open_in_a_window_of_their_own_and_follow_the_slides(
    written: Path, playwright: Playwright, chromium: str
) -> None:
    (path,) = written.glob(f"{LANGUAGES[1]}/*.html")
    with page(playwright, chromium, 1920, 1080) as (tab, seen):
        tab.goto(path.as_uri())
        tab.locator("html[data-once-ready]").wait_for(state="attached")
        with tab.expect_popup() as opened:
            tab.keyboard.press("s")
        notes = opened.value
        first = notes.locator("#notes h1").inner_text()
        assert first == tab.locator(".slides section.present section.present h1").inner_text()
        said = notes.locator("#notes p").nth(1).inner_text()
        assert said
        assert said not in tab.locator("body").inner_text()
        notes.keyboard.press("ArrowRight")
        notes.wait_for_function("(before) => document.querySelector('#notes h1').textContent !== before", arg=first)
        tab.locator(".slides > section:nth-of-type(2).present").wait_for(state="attached")
        assert seen == Seen(foreign_requests=seen.foreign_requests)


class Projected(Notebook):
    """The notebook as `make project` opens it."""

    def __init__(self, page: Page, server: Server, address: str) -> None:
        self.page = page
        self.server = server
        page.goto(address, timeout=START_SECONDS * 1000)
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.wait_until_idle()

    def write(self, cell: str, source: str) -> None:
        """Type into a cell."""
        self.page.evaluate(
            """([wanted, source]) => { for (const cell of window.jupyterapp.shell.currentWidget.content.model.cells)
                 if (cell.id === wanted) cell.sharedModel.setSource(source); }""",
            [cell, source],
        )


@pytest.fixture(scope="module")
def projected(
    tmp_path_factory: pytest.TempPathFactory, playwright: Playwright, chromium: str
) -> Iterator[tuple[Projected, Seen]]:
    """A lesson on the projector, with the first cells run."""
    root = tmp_path_factory.mktemp("projector")
    language = LANGUAGES[-1]
    (stored,) = (HERE.notebooks / language).glob("*_idempotent_consumer.ipynb")
    copy, _kept = prepare(stored, root / "work" / "projection" / language)
    launcher = subprocess.Popen(
        [sys.executable, "-c", START, str(root), copy.relative_to(root).as_posix(), str(HERE.root)],
        cwd=HERE.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "DISPLAY"},
    )
    try:
        assert launcher.stdout is not None
        printed = ""
        found = None
        for line in launcher.stdout:
            printed += line
            if found := re.search(r"http://\S+", line):
                break
        assert found, printed
        log = root / ".venv" / "once-jupyter" / "jupyterlab.log"
        server = Server(found[0].split("/doc/")[0], root, root / "answers", log)
        with page(playwright, chromium, 1920, 1080) as (tab, seen):
            notebook = Projected(tab, server, found[0])
            notebook.write("break-panel", "lab.faults.panel()")
            for cell in ("parameters", "start", "vocabulary", "connect-predict", "break-panel"):
                notebook.run_cell(cell)
            yield notebook, seen
            notebook.shut_down()
    finally:
        launcher.terminate()
        launcher.wait(30)


def test_the_projected_page_can_be_read_from_the_last_row(projected: tuple[Projected, Seen]) -> None:
    notebook, _seen = projected
    assert notebook.failed_cells() == []
    notebook.picture("projected")
    assert small_text(notebook.page, "body") == {}
    assert notebook.page.evaluate(_TOO_WIDE, ".jp-Notebook *") == []
    assert notebook.page.evaluate("document.documentElement.scrollWidth") == 1920
    assert notebook.page.locator("body").get_attribute("data-jp-theme-light") == "true"


def test_what_is_projected_is_live_and_answers_are_kept_apart(projected: tuple[Projected, Seen]) -> None:
    notebook, seen = projected
    choice = notebook.page.locator(".once-live .once-choice").first
    assert notebook.page.locator(".once-chosen").count() == 0
    choice.click()
    notebook.page.locator(".once-chosen").wait_for()
    notebook.wait_for(lambda: bool(list(notebook.server.home.rglob("prediction-*.txt"))), "the answer to be saved")
    assert seen == Seen()


def test_page_down_brings_the_next_step_to_the_top(projected: tuple[Projected, Seen]) -> None:
    notebook, _seen = projected
    tab = notebook.page
    tab.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 0)")
    tab.locator(".jp-MarkdownCell h1").first.click()
    steps = ("1.", "2.", "3.")
    for keys, wanted in (*((("PageDown"), step) for step in steps), ("PageUp", "2.")):
        tab.keyboard.press(keys)
        tab.wait_for_function(
            """(wanted) => {
              const top = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect().top;
              const at = [...document.querySelectorAll('.jp-MarkdownCell')]
                .find(cell => Math.abs(cell.getBoundingClientRect().top - top) < 15);
              return at && at.querySelector('h2')?.textContent.startsWith(wanted);
            }""",
            arg=wanted,
        )
    tab.keyboard.press("Control+Alt+d")
    tab.locator("body[data-jp-theme-light='false']").wait_for(state="attached")
    assert small_text(tab, "body") == {}
