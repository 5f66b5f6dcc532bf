"""The live view in JupyterLab: it moves by itself, tells its marks, and stays one view wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Playwright, expect

from tests.browser.jupyterlab import Notebook, Seen, Server, page, write_notebook

pytestmark = [pytest.mark.browser, pytest.mark.early]

STORY = """
from tests.lab.conftest import Learner
learner = Learner(lab)
learner.first_job()
learner.redrive(count=2)
lab.faults.crash_after_write()
learner.send('crash-order', 3)
lab.settle()
learner.returns(1)
learner.send('crash-order', 3)
learner.send(body='bad')
lab.settle()
learner.returns(2)
"""
# Ends when the page says so, by pressing the panel's button: until then the kernel is busy.
BUSY = """
import time
end = time.monotonic() + 60
while not any(fault.fault == 'throttle' for fault in lab.faults.armed()):
    assert time.monotonic() < end, 'the button was not pressed'
    time.sleep(0.05)
"""
REST = """
import time
lab.settle(skip_waits=True)
end, before = time.monotonic() + 30, None
while (now := (lab.cloud.journal.last, lab.live().redraws)) != before:  # until a second brings nothing
    assert time.monotonic() < end, 'something happens at rest'
    before = now
    time.sleep(1)
"""
CELLS = {
    "ready": "from helpers.show import Lab\nlab = Lab('idempotent-consumer')\nlab",
    "live": "lab.live()",
    "story": STORY,
    "panel": "lab.faults.panel()",
    "busy": BUSY,
    "rest": REST,
    "again": "lab.live()",
    "reset": "lab.reset()",
    "close": "lab.close()",
    "spanish": "lab = Lab('idempotent-consumer', language='es')\nlab",
}
WIDE, NARROW = (1366, 900), (360, 740)


@pytest.fixture(scope="module")
def opened(running: Server, playwright: Playwright, chromium: str) -> Iterator[tuple[Notebook, Seen]]:
    """One page, with a lesson's history in it."""
    write_notebook(running.root / "fr" / "live.ipynb", CELLS)
    with page(playwright, chromium, *WIDE) as (tab, seen):
        notebook = Notebook(tab, running, "fr/live.ipynb")
        for cell in ("ready", "live", "story", "panel"):
            notebook.run_cell(cell)
        yield notebook, seen


def docked(tab: Page) -> Locator:
    return tab.locator(".jupyterlab-sidecar .once-live-view")


def in_cell(tab: Page) -> Locator:
    return tab.locator(".jp-Notebook .once-live-view")


def button_of(tab: Page, call: str) -> Locator:
    """The button of the fault panel that makes this call, in an open group."""
    button = tab.locator(f".once-faults [data-method={call}]")
    if not button.is_visible():
        tab.locator(".once-faults .once-group", has=tab.locator(f"[data-method={call}]")).locator("> summary").click()
    return button


def test_it_stands_beside_the_cells_and_nothing_was_asked_of_the_network(opened: tuple[Notebook, Seen]) -> None:
    notebook, seen = opened
    view = docked(notebook.page)
    expect(view).to_have_count(1)
    expect(view.locator(".once-mark")).not_to_have_count(0)
    expect(in_cell(notebook.page).locator(".once-body")).to_be_hidden()
    expect(in_cell(notebook.page).locator("button.once-place")).to_be_visible()
    width = view.bounding_box()
    assert width is not None
    assert width["width"] > 300, "the pane is too narrow for a table"
    assert notebook.failed_cells() == []
    assert seen == Seen()


def test_the_view_changes_by_itself_after_a_fault_button(opened: tuple[Notebook, Seen]) -> None:
    notebook, _seen = opened
    marks = docked(notebook.page).locator(".once-mark[data-k^=sent]")
    before = marks.count()
    button_of(notebook.page, "send_again").click()
    expect(marks).to_have_count(before + 1)


def test_the_view_changes_while_a_cell_runs(opened: tuple[Notebook, Seen]) -> None:
    notebook, _seen = opened
    marks = docked(notebook.page).locator(".once-mark[data-k^=sent]")
    before = marks.count()
    notebook.start_cell("busy")
    button_of(notebook.page, "poison_message").click()
    expect(marks).to_have_count(before + 1)
    button_of(notebook.page, "throttle").click()
    notebook.wait_until_ended("busy")
    button_of(notebook.page, "clear").click()
    assert notebook.failed_cells() == []


def test_a_mark_tells_its_story_and_keeps_the_focus_over_a_redraw(opened: tuple[Notebook, Seen]) -> None:
    notebook, seen = opened
    tab = notebook.page
    view = docked(tab)
    story = view.locator(".once-story")
    assert story.get_attribute("aria-live") == "polite"
    first = view.locator(".once-mark[data-k^=sent]").first
    first.click()
    expect(story).to_have_text(first.get_attribute("data-story") or "")
    told = {story.inner_text()}
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "End"):
        tab.keyboard.press(key)
        focused = view.locator(".once-mark:focus")
        expect(story).to_have_text(focused.get_attribute("data-story") or "")
        told.add(story.inner_text())
    assert len(told) >= 4
    expect(view.locator(".once-mark[tabindex='0']")).to_have_count(1)
    kept = view.locator(".once-mark:focus").get_attribute("data-k")
    sent = view.locator(".once-mark[data-k^=sent]")
    before = sent.count()
    notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute("
        "{code: 'learner.send()', silent: true}).done.then(() => null)"
    )
    expect(sent).to_have_count(before + 1)
    assert view.locator(".once-mark:focus").get_attribute("data-k") == kept
    other = view.locator(".once-mark[data-k^=acknowledged]").first
    other.hover()
    expect(story).to_have_text(other.get_attribute("data-story") or "")
    assert seen == Seen()


def test_an_opened_log_stays_open_when_rows_come_before_it(opened: tuple[Notebook, Seen]) -> None:
    notebook, _seen = opened
    view = docked(notebook.page)
    row = view.locator("tr[data-k='1']:has(details)")
    row.locator("summary").click()
    expect(row.locator("details")).to_have_attribute("open", "")
    button_of(notebook.page, "send_again").click()
    expect(view.locator("tr:has(details)").first).not_to_have_attribute("data-k", "1")
    expect(row.locator("details")).to_have_attribute("open", "")


def test_nothing_happens_at_rest(opened: tuple[Notebook, Seen]) -> None:
    notebook, _seen = opened
    notebook.page.evaluate("() => document.activeElement?.blur()")
    notebook.run_cell("rest")
    assert notebook.failed_cells() == []


def test_one_order_for_all_lanes_on_request(opened: tuple[Notebook, Seen]) -> None:
    view = docked(opened[0].page)
    button = view.locator("[data-ask=order]")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    places = view.locator(".once-mark[data-k^=sent]").evaluate_all("(all) => all.map((one) => +one.dataset.x)")
    assert places == sorted(set(places)), "each message begins further to the right than the one before"
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")


def test_a_second_cell_shows_the_same_view_and_a_narrow_pane_holds_it(opened: tuple[Notebook, Seen]) -> None:
    notebook, seen = opened
    tab = notebook.page
    notebook.run_cell("again")
    expect(docked(tab)).to_have_count(1)
    last = in_cell(tab).last
    last.locator("button.once-place").click()
    expect(last.locator(".once-mark")).to_have_count(docked(tab).locator(".once-mark").count())
    notebook.picture("live-1366-docked")
    for width, height, dark in ((*NARROW, False), (*NARROW, True), (1920, 1080, False), (1920, 1080, True)):
        tab.set_viewport_size({"width": width, "height": height})
        notebook.use_whole_window(dark=dark)
        last.scroll_into_view_if_needed()
        notebook.picture(f"live-{width}-{'dark' if dark else 'light'}")
        # Tables and the timeline scroll in frames of their own.
        assert notebook.too_wide(".once-live-view, .once-live-view :not([role=group] *)") == []
    tab.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    tab.evaluate("() => window.jupyterapp.shell.expandRight()")
    assert seen == Seen()


def test_it_moves_to_the_new_account_after_a_reset(opened: tuple[Notebook, Seen]) -> None:
    notebook, _seen = opened
    view = docked(notebook.page)
    notebook.run_cell("reset")
    expect(view.locator(".once-mark")).to_have_count(0)
    notebook.run_cell("story")
    expect(view.locator(".once-mark[data-k^=dead-lettered]")).to_have_count(1)
    assert notebook.failed_cells() == []


def test_a_new_lab_in_another_language_goes_on_with_the_view_after_the_old_one_was_closed(
    opened: tuple[Notebook, Seen],
) -> None:
    notebook, seen = opened
    tab = notebook.page
    for cell in ("close", "spanish", "live", "story"):
        notebook.run_cell(cell)
    expect(docked(tab)).to_have_count(1)
    expect(docked(tab).locator(".once-mark[data-k^=dead-lettered]")).to_have_count(1)
    expect(docked(tab).locator(".once-status")).to_be_empty()
    expect(tab.locator(".once-live-view:not([lang=es][aria-label='Vista en vivo'])")).to_have_count(0)
    expect(docked(tab).locator(".once-story")).to_contain_text("Elige una marca")
    expect(tab.locator(".jp-SideBar .lm-TabBar-tabLabel").filter(has_text="Vista en vivo")).to_have_count(1)
    notebook.picture("live-spanish")
    assert seen == Seen()


def test_the_dead_view_says_so_and_a_new_kernel_takes_its_place(opened: tuple[Notebook, Seen]) -> None:
    notebook, seen = opened
    tab = notebook.page
    notebook.restart()
    expect(docked(tab).locator(".once-dead")).to_be_visible()
    expect(docked(tab).locator(".once-mark[data-k^=dead-lettered]")).to_have_count(1)
    for cell in ("ready", "live"):
        notebook.run_cell(cell)
    # For a moment the dead one and the new one stand there both.
    expect(tab.locator(".jupyterlab-sidecar .once-live-view:not(.once-is-dead)")).to_have_count(1)
    expect(docked(tab)).to_have_count(1)
    expect(docked(tab).locator(".once-dead")).to_be_hidden()
    expect(docked(tab).locator(".once-body")).to_be_visible()
    assert seen == Seen()
