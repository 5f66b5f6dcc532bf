"""Each lesson, run from top to bottom through the page, each in another language; and how its page looks then."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, Playwright, expect

from helpers.lab.language import SOURCE, known_languages
from tests.browser.accessibility import findings
from tests.browser.jupyterlab import Notebook, Seen, Server, page
from tests.browser.looks import OURS, contrasts, letters, misfits

pytestmark = [pytest.mark.browser, pytest.mark.early]

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = [language for language in known_languages() if language != SOURCE]
NAMES = sorted(path.name for path in (ROOT / "notebooks" / LANGUAGES[0]).glob("[0-9]*.ipynb"))
# Each lesson once, each language at least once.
EDITIONS = [f"{LANGUAGES[place % len(LANGUAGES)]}/{name}" for place, name in enumerate(NAMES)]
OTHERS = [f"{language}/{name}" for language in LANGUAGES for name in NAMES if f"{language}/{name}" not in EDITIONS]

WORDS = "Один раз, une fois"
ENLARGE = "(size) => document.documentElement.style.setProperty('--jp-content-font-size1', size)"

# The words of a box with a coloured edge: the sign comes first.
_STATUS = ".jp-OutputArea-output div[style*='border-left']:not([hidden])"
_SIGNED = re.compile(r"[✓✗○●?→…⚡!]\s*\S.*\w", re.DOTALL)

_PICTURE = "data:image/svg+xml;base64,"
_TRUSTED = "() => [...window.jupyterapp.shell.currentWidget.content.model.cells].some((cell) => cell.trusted)"
_SEEN_PICTURES = """(source) =>
  [...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output img')]
    .filter((one) => one.src.startsWith(source) && one.naturalWidth > 0 && one.checkVisibility()).length"""


def stored_html(path: str) -> list[str]:
    """The HTML of all outputs of a stored edition."""
    cells = nbformat.read(ROOT / "notebooks" / path, as_version=4).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.get("data", {}).get("text/html", "") for output in outputs]


@dataclass(frozen=True, slots=True)
class Opened:
    """A lesson that has run in the page."""

    notebook: Notebook
    seen: Seen
    path: str

    @property
    def tab(self) -> Page:
        return self.notebook.page

    def output(self, call: str) -> Locator:
        """The output of the first cell with this call."""
        return self.notebook.drawn(self.cell(call)).locator(".jp-OutputArea-output:visible")

    def cell(self, call: str) -> str:
        """The id of the first cell with this call."""
        stored = nbformat.read(ROOT / "notebooks" / self.path, as_version=4)
        return str(next(cell.id for cell in stored.cells if cell.cell_type == "code" and call in cell.source))


@pytest.fixture(scope="module")
def window(running: Server, playwright: Playwright, chromium: str) -> Iterator[tuple[Page, Seen]]:
    """One window for all lessons."""
    shutil.copytree(ROOT / "notebooks", running.root, dirs_exist_ok=True)
    with page(playwright, chromium) as opened:
        yield opened


@pytest.fixture(scope="module", params=EDITIONS)
def lesson(request: pytest.FixtureRequest, window: tuple[Page, Seen], running: Server) -> Iterator[Opened]:
    tab, seen = window
    seen.forget()
    notebook = Notebook(tab, running, request.param)
    notebook.run_all()
    yield Opened(notebook, seen, request.param)
    notebook.shut_down()


@pytest.fixture
def plain(lesson: Opened) -> Iterator[Opened]:
    """The lesson as large as it began, in the light theme; and again so for the next test."""
    lesson.notebook.use_whole_window()
    yield lesson
    lesson.tab.set_viewport_size({"width": 1366, "height": 900})
    lesson.tab.evaluate(ENLARGE, "14px")


def test_a_lesson_runs_in_its_page(lesson: Opened) -> None:
    assert lesson.notebook.failed_cells() == []
    assert lesson.seen == Seen()
    spoken = {one.get_attribute("lang") for one in lesson.tab.locator(f":is({OURS}) [lang]").all()}
    assert spoken - {None, "en"} == {lesson.path.partition("/")[0]}
    lesson.notebook.picture(lesson.path.replace("/", "-"))


def test_axe_finds_nothing_serious(plain: Opened) -> None:
    assert findings(plain.tab) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_letters_and_signs_stand_out(plain: Opened, dark: bool) -> None:
    plain.notebook.use_whole_window(dark=dark)
    found = contrasts(plain.tab)
    assert found.problems == []
    assert found.texts > 500
    assert 4.5 <= found.worst < 21


@pytest.mark.parametrize("width", [360, 1920])
def test_nothing_sticks_out_or_is_cut_off(plain: Opened, width: int) -> None:
    plain.tab.set_viewport_size({"width": width, "height": 900})
    assert misfits(plain.tab) == []


def test_everything_of_ours_grows_with_the_text(plain: Opened) -> None:
    """JupyterLab's own: tables in prose have the font of its menus, plain text has the font of code."""
    own = ".jp-OutputArea-output .once-live, .jp-RenderedHTML > [lang]"
    before = letters(plain.tab, own)
    plain.tab.evaluate(ENLARGE, "28px")
    after = letters(plain.tab, own)
    assert len(before) == len(after) > 200
    small = [(old, new) for old, new in zip(before, after, strict=True) if new.pixels < 1.95 * old.pixels]
    # A picture becomes larger until it fills its place.
    assert [(old, new) for old, new in small if old.kind != "picture" or new.pixels < 20] == []
    plain.tab.set_viewport_size({"width": 720, "height": 900})
    assert misfits(plain.tab) == []


def test_no_status_is_told_by_colour_alone(plain: Opened) -> None:
    said = [one.inner_text().strip() for one in plain.tab.locator(_STATUS).all()]
    assert len(said) > 10
    assert [words for words in said if not _SIGNED.match(words)] == []


def test_a_fault_is_pressed_by_keyboard_and_the_page_changes(plain: Opened) -> None:
    panel = plain.output("lab.faults.panel()")
    before = panel.inner_text()
    panel.locator("button[data-method]:not(.once-disarm):visible").first.press("Enter")
    expect(panel).not_to_have_text(before, use_inner_text=True)
    assert plain.notebook.failed_cells() == []


@pytest.mark.parametrize("lesson", EDITIONS[-1:], indirect=True, scope="module")
def test_an_answer_is_found_again_by_the_next_kernel(plain: Opened, running: Server) -> None:
    field = plain.output("lab.vocabulary()").locator("textarea").first
    typed = f"{WORDS} {plain.path}"  # no other lesson has saved this
    field.fill(WORDS)
    field.press_sequentially(typed.removeprefix(WORDS))
    plain.notebook.wait_for(
        lambda: any(file.read_text(encoding="utf-8") == typed for file in running.home.rglob("vocabulary-*.txt")),
        "the answer to be saved",
    )
    plain.notebook.restart()
    for cell in ("parameters", plain.cell("Lab("), plain.cell("lab.vocabulary()")):
        plain.notebook.run_cell(cell)
    expect(plain.output("lab.vocabulary()").locator("textarea").first).to_have_value(typed)
    assert plain.notebook.failed_cells() == []
    assert plain.seen == Seen()


def test_the_first_page_runs_and_is_in_order(window: tuple[Page, Seen], running: Server) -> None:
    tab, seen = window
    seen.forget()
    notebook = Notebook(tab, running, "index.ipynb")
    notebook.run_all()
    assert notebook.failed_cells() == []
    for dark in (False, True):
        notebook.use_whole_window(dark=dark)
        assert contrasts(tab).problems == []
    assert findings(tab) == []
    for width in (360, 1366):
        tab.set_viewport_size({"width": width, "height": 900})
        assert misfits(tab) == []
    assert seen == Seen()


@pytest.mark.parametrize("path", OTHERS)
def test_a_stored_edition_is_complete_before_it_is_run(path: str, window: tuple[Page, Seen], running: Server) -> None:
    """What a learner sees first: stored outputs, in a narrow pane too; pictures, not the words in them in a row."""
    tab, seen = window
    seen.forget()
    notebook = Notebook.beside(tab, running, path)
    assert not tab.evaluate(_TRUSTED), "a fresh clone is not trusted"
    stored = [html for html in stored_html(path) if "svg" in html]
    assert [html[:80] for html in stored if "<svg" in html] == []
    pictures = sum(html.count(_PICTURE) for html in stored)
    assert pictures or path.endswith("index.ipynb")
    notebook.wait_for(lambda: tab.evaluate(_SEEN_PICTURES, _PICTURE) == pictures, "each picture to be seen")
    for width in (360, 1366):
        tab.set_viewport_size({"width": width, "height": 900})
        assert misfits(tab, trusted=False) == []
    assert tab.get_by_text("Error displaying widget").count() == 0
    notebook.wait_until_idle()  # a tab that is closed while its kernel connects complains about it later
    assert seen == Seen()
    notebook.close()
