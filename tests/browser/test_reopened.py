"""A learner's own copy: begun afresh from the first page, and opened again after its kernel is gone.

JupyterLab has no settings of ours. Without a kernel the static forms are seen, never "Error displaying widget" and
never buttons that look alive and do nothing.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Playwright, expect

from helpers.classroom.html_page import HtmlPage
from helpers.copies.learner import Copies
from tests.browser.jupyterlab import Notebook, Seen, Server, page, server, write_notebook

pytestmark = pytest.mark.browser

CELLS = {
    "ready": "from helpers.show import Lab\nlab = Lab('idempotent-consumer')\nlab",
    "predict": "lab.predict('repeat')",
    "panel": "lab.faults.panel()",
}
_LIVE = (".once-live", ".once-faults")  # the question, the fault panel
_SAVE = "async () => window.jupyterapp.commands.execute('docmanager:save')"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("served"), overrides={}) as started:
        write_notebook(started.root / "fr" / "copy.ipynb", CELLS)
        _make_course(started.root)
        yield started


def _make_course(root: Path) -> None:
    """A course of the real lessons; the learner has typed into the copy of the second, which has changed since."""
    (root / "lessons").mkdir()
    shutil.copy(Path(__file__).parents[2] / "lessons" / "course.toml", root / "lessons")
    write_notebook(
        root / "notebooks" / "fr" / "index.ipynb", {"progress": 'from helpers.show import progress\nprogress("fr")'}
    )
    copies = Copies(root)
    for name in copies.lessons.values():
        write_notebook(root / "notebooks" / "fr" / name, {"one": "1"})
    copies.refresh()
    second = copies.lesson("2", "fr")
    write_notebook(second.path, {"one": "typed"})
    write_notebook(second.stored, {"one": "new"})


@pytest.fixture(scope="module")
def copy(running: Server, playwright: Playwright, chromium: str) -> Iterator[tuple[Notebook, Seen]]:
    """The page of a copy whose cells have run and which was saved."""
    with page(playwright, chromium) as (tab, seen):
        notebook = Notebook(tab, running, "fr/copy.ipynb")
        for cell in CELLS:
            notebook.run_cell(cell)
        expect_live(notebook)
        tab.evaluate(_SAVE)
        yield notebook, seen


def statics(notebook: Notebook) -> Locator:
    return notebook.page.locator(".jp-OutputArea-output .once-kept")


def expect_live(notebook: Notebook) -> None:
    for place in _LIVE:
        expect(notebook.page.locator(place)).to_be_visible()
    expect(statics(notebook)).to_have_count(2)
    for static in statics(notebook).all():
        expect(static).to_be_hidden()


def expect_static(notebook: Notebook) -> None:
    expect(statics(notebook)).to_have_count(2)
    for static in statics(notebook).all():
        expect(static).to_be_visible()
    expect(statics(notebook).last.locator("th[scope=row]").first).to_be_visible()
    for button in notebook.page.locator(".jp-OutputArea button").all():
        expect(button).to_be_hidden()
    for error in notebook.page.get_by_text("displaying widget").all():
        expect(error).to_be_hidden()


def test_the_static_forms_follow_the_kernel(copy: tuple[Notebook, Seen], running: Server) -> None:
    notebook, seen = copy
    again = Notebook(notebook.page, running, "fr/copy.ipynb")  # the kernel lives on
    expect_live(again)
    again.shut_down()
    expect_static(again)
    assert seen == Seen()
    reopened = Notebook(notebook.page, running, "fr/copy.ipynb")  # with a new kernel
    expect(reopened.page.get_by_text("displaying widget").first).to_be_attached()
    expect_static(reopened)
    for cell in CELLS:
        reopened.run_cell(cell)
    expect_live(reopened)
    # In the middle of a demonstration; and when the new kernel is there: until then its state is unknown.
    seen.forget()
    reopened.page.locator(".once-faults [data-act=end]").first.click()
    reopened.restart(keep_outputs=True)
    expect_static(reopened)
    assert seen == Seen()


def test_the_copy_holds_no_state_of_widgets_and_becomes_html(
    copy: tuple[Notebook, Seen], running: Server, tmp_path: Path
) -> None:
    """With a state in it, nbconvert would draw the widgets by a script from the network (issues of GitHub too)."""
    stored = running.root / "fr" / "copy.ipynb"
    assert "widgets" not in json.loads(stored.read_text(encoding="utf-8"))["metadata"]
    notebook = nbformat.read(stored, as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell("```mermaid\nflowchart LR\n  a[one] --> b[(two)]\n```"))
    html, _resources = HtmlPage().from_notebook_node(notebook)
    written = tmp_path / "copy.html"
    written.write_text(html, encoding="utf-8")
    copy[1].forget()
    tab = copy[0].page.context.new_page()
    try:
        tab.context.set_offline(True)
        tab.goto(written.as_uri())
        expect(tab.locator(".once-kept")).to_have_count(2)
        expect(tab.locator(".once-kept").last.locator("th[scope=row]").first).to_be_visible()
        expect(tab.get_by_text("displaying widget")).to_have_count(0)
        expect(tab.locator(".once-chain li")).to_have_text(["one", "two"])
        assert copy[1].foreign_requests == [f"{written.as_uri()}"]
    finally:
        tab.context.set_offline(False)
        tab.close()


def test_a_changed_lesson_is_begun_afresh_from_the_first_page(copy: tuple[Notebook, Seen], running: Server) -> None:
    tab, seen = copy[0].page, copy[1]
    seen.forget()
    first_page = Notebook(tab, running, "work/fr/index.ipynb")
    first_page.run_cell("progress")
    entries = first_page.drawn("progress").locator("li")
    expect(entries.filter(has_text="!")).to_have_count(1)
    buttons = first_page.drawn("progress").locator("button.once-choice")
    buttons.nth(1).focus()
    said = first_page.drawn("progress").get_by_role("status")
    tab.keyboard.press("Enter")
    expect(said).to_contain_text("!")
    first_page.picture("afresh")
    tab.keyboard.press("Enter")
    expect(said).to_contain_text("✓")
    [kept] = (running.root / "work" / "fr").glob("02_*_20*.ipynb")
    expect(said).to_contain_text(kept.name)
    assert "typed" in kept.read_text(encoding="utf-8")
    first_page.run_cell("progress")
    expect(entries.filter(has_text="!")).to_have_count(0)

    entries.nth(1).locator("a").click()
    tab.wait_for_url(re.compile(r"\bwork/fr/02_idempotent_consumer\.ipynb$"))
    expect(tab.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .cm-line")).to_have_text("new")
    assert seen == Seen()
