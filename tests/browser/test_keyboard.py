"""A step of a lesson without a mouse: run, choose, press, open, write, and out again; the focus is always seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Playwright, expect

from tests.browser.jupyterlab import Notebook, Seen, Server, page, write_notebook
from tests.browser.looks import Focus, focus

pytestmark = pytest.mark.browser

CELLS = {
    "ready": "from helpers.show import Lab\nlab = Lab('idempotent-consumer')\nlab",
    "predict": "lab.predict('repeat')",
    "panel": "lab.faults.panel()",
    "check": "lab.check('connect')",
    "message": (
        "sqs = lab.cloud.client('sqs')\n"
        "url = sqs.create_queue(QueueName='q05-jobs')['QueueUrl']\n"
        'sqs.send_message(QueueUrl=url, MessageBody=\'{"id": "keyboard-order", "quantity": 1}\')[\'MessageId\']'
    ),
    "view": "lab.view()",
    "vocabulary": "lab.vocabulary()",
    "end": "'the end'",
}
MOST_KEYS = 120


@pytest.fixture(scope="module")
def notebook(running: Server, playwright: Playwright, chromium: str) -> Iterator[Notebook]:
    """The cells were run by keyboard alone, from the first to the last."""
    write_notebook(running.root / "ru" / "keyboard.ipynb", CELLS)
    with page(playwright, chromium) as (tab, seen):
        opened = Notebook(tab, running, "ru/keyboard.ipynb")
        opened.use_whole_window()
        opened.activate("ready")
        for cell in CELLS:
            # Shift+Enter runs the cell and goes on to the next one.
            tab.keyboard.press("Shift+Enter")
            opened.wait_for(lambda cell=cell: opened.execution_count(cell) is not None, f"the cell {cell} to run")
            opened.wait_until_idle()
        assert opened.failed_cells() == []
        yield opened
        assert seen == Seen()


def _tabs_from(notebook: Notebook, cell: str) -> Iterator[Focus]:
    """Press Tab from this cell on until the focus has left its output; tell what has it, the part outside last."""
    notebook.activate(cell)
    index = list(CELLS).index(cell)
    focus(notebook.page)
    for _ in range(MOST_KEYS):
        notebook.page.keyboard.press("Tab")
        found = focus(notebook.page)
        if found.ours or found.cell != index:
            yield found
        if found.cell != index:
            return
    raise AssertionError(f"{MOST_KEYS} times Tab do not lead out of the output of {cell}")


def test_a_prediction_is_chosen(notebook: Notebook) -> None:
    output = notebook.drawn("predict").locator(".jp-OutputArea-output:visible")
    for found in _tabs_from(notebook, "predict"):
        if found.words.startswith("3."):
            break
    notebook.page.keyboard.press("Space")
    expect(output.locator("[role=status]")).to_contain_text("✓")


def test_a_fault_is_armed(notebook: Notebook) -> None:
    armed = notebook.drawn("panel").locator(".once-status")
    before = armed.inner_text()
    buttons = 0
    for found in _tabs_from(notebook, "panel"):
        focused = notebook.page.evaluate("() => document.activeElement.dataset.method ?? ''")
        buttons += found.tag == "button"
        if focused.startswith("crash_"):
            break
        if found.tag == "summary" and not notebook.page.evaluate("() => document.activeElement.parentElement.open"):
            notebook.page.keyboard.press("Enter")
    assert buttons > 1
    notebook.page.keyboard.press("Enter")
    expect(armed).not_to_have_text(before, use_inner_text=True)


def test_a_hint_is_opened_and_closed(notebook: Notebook) -> None:
    details = notebook.drawn("check").locator("details").first
    for found in _tabs_from(notebook, "check"):
        if found.tag == "summary":
            break
    notebook.page.keyboard.press("Enter")
    expect(details).to_have_attribute("open", "")
    notebook.page.keyboard.press("Space")
    expect(details).not_to_have_attribute("open", "")


def test_a_wide_table_is_scrolled(notebook: Notebook) -> None:
    notebook.page.set_viewport_size({"width": 360, "height": 740})
    frames = notebook.drawn("view").locator(".jp-OutputArea-output [tabindex='0']").all()
    frame = next(one for one in frames if one.evaluate("(one) => one.scrollWidth > one.clientWidth"))
    frame.focus()
    notebook.page.keyboard.press("ArrowRight")
    notebook.wait_for(lambda: frame.evaluate("(element) => element.scrollLeft") > 0, "the table to move")
    notebook.page.set_viewport_size({"width": 1366, "height": 900})


def test_a_word_is_written_and_the_field_left(notebook: Notebook) -> None:
    output = notebook.drawn("vocabulary").locator(".jp-OutputArea-output:visible")
    for found in _tabs_from(notebook, "vocabulary"):
        if found.tag == "textarea":
            break
    notebook.page.keyboard.type("дважды")
    expect(output.locator("[role=status]").first).to_contain_text("✓")
    notebook.page.keyboard.press("Shift+Tab")
    assert focus(notebook.page).tag != "textarea"
    assert output.locator("textarea").first.input_value() == "дважды"


@pytest.mark.parametrize("cell", ["predict", "panel", "check", "view", "vocabulary"])
def test_the_focus_goes_through_and_out_again_and_is_always_seen(notebook: Notebook, cell: str) -> None:
    """Each part of an output looks different with the focus than without."""
    parts = list(_tabs_from(notebook, cell))
    assert len(parts) > 1, "nothing in the output can be reached"
    for here, after in pairwise(parts):
        assert after.before is not None
        assert after.before != here.look, f"{here.tag} looks the same with the focus: {here.words}"
