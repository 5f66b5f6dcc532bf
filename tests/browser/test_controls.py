"""Vocabulary, prediction and fault panel as a learner uses them: in JupyterLab, by mouse and by keyboard."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Playwright, expect

from tests.browser import notebook_scripts as scripts
from tests.browser.jupyterlab import Notebook, Seen, Server, page, write_notebook

pytestmark = [pytest.mark.browser, pytest.mark.early]

# Ends when an answer was saved while it ran.
BUSY = """
import os, pathlib, time
home, end = pathlib.Path(os.environ["ONCE_HOME"]), time.monotonic() + 60
while not any("meanwhile" in file.read_text(encoding="utf-8") for file in home.rglob("vocabulary-*.txt")):
    assert time.monotonic() < end, "nothing was saved while this cell ran"
    time.sleep(0.05)
"""
# Ends when the chart was drawn anew while it ran.
COMPARING = """
import time
end = time.monotonic() + 60
while chart.result.copies == 3:
    assert time.monotonic() < end, "nothing was compared while this cell ran"
    time.sleep(0.05)
"""
# Waits until the run is let go: its function may run longer than the test.
HELD = """
learner.configure(Timeout=60)
lab.faults.two_at_once()
learner.send("held-order", 1)
lab.settle()
"""
# Its answers do not come, until "heard".
MUTE = """
from helpers.show.choices import Choices
heard = []
mute = Choices(label="Again?", choices=["Yes"], yours="chosen")
mute.on_choice(heard.append)
mute.send = lambda message: None
mute
"""
CELLS = {
    "ready": "from helpers.show import Lab\nlab = Lab('idempotent-consumer')\nlab",
    "vocabulary": "lab.vocabulary()",
    "predict": "lab.predict('repeat')",
    "queue": "url = lab.cloud.client('sqs').create_queue(QueueName='q05-jobs')['QueueUrl']",
    "panel": "lab.faults.panel()",
    "check": "lab.check('connect')",
    "view": "lab.view()",
    "outcome": "lab.outcome()",
    "error": "lab.require('repeat')",
    "worker": "from tests.lab.conftest import Learner\nlearner = Learner(lab)\nlearner.map()\nlearner.deploy()",
    "held": HELD,
    "busy": BUSY,
    "compare": "chart = lab.compare_guards(['producer-copy'], ['none', 'conditional-write'])\nchart",
    "comparing": COMPARING,
    "mute": MUTE,
    "heard": "assert heard == [1], heard\ndel mute.send",
}
ANSWER = "Le même message, livré deux fois. Тот же заказ."


def _saved(running: Server) -> set[str]:
    return {file.read_text(encoding="utf-8") for file in running.home.rglob("vocabulary-*.txt")}


@pytest.fixture(scope="module")
def opened(running: Server, playwright: Playwright, chromium: str) -> Iterator[tuple[Notebook, Seen]]:
    """One page for all tests: to load JupyterLab takes longer than what they look at."""
    write_notebook(running.root / "fr" / "controls.ipynb", CELLS)
    with page(playwright, chromium) as (tab, seen):
        yield Notebook(tab, running, "fr/controls.ipynb"), seen


@pytest.fixture
def fresh(opened: tuple[Notebook, Seen]) -> tuple[Notebook, Seen]:
    """No outputs, and nothing seen yet. A kernel that still runs a cell of a test that failed is started anew."""
    notebook, seen = opened
    if notebook.busy():
        notebook.restart()
    notebook.clear()
    seen.forget()
    return opened


@pytest.fixture
def lesson(fresh: tuple[Notebook, Seen]) -> tuple[Notebook, Seen]:
    """A lesson that has just begun: a new one closes the one before."""
    fresh[0].run_cell("ready")
    return fresh


def test_a_vocabulary_answer_survives_the_kernel(lesson: tuple[Notebook, Seen], running: Server) -> None:
    notebook, seen = lesson
    notebook.run_cell("vocabulary")
    field = notebook.page.locator(".once-live textarea").first
    field.press_sequentially(ANSWER)
    with notebook.page.expect_download() as download:
        notebook.page.locator("[data-file=table]").click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as stream:
        assert ANSWER in {row[2] for row in csv.reader(stream)}, "the file holds what is on the page"
    expect(notebook.page.locator(".once-live [role=status]").first).to_contain_text("✓")
    assert ANSWER in _saved(running)

    notebook.restart()
    notebook.run_cell("ready")
    notebook.run_cell("vocabulary")
    expect(notebook.page.locator(".once-live textarea").first).to_have_value(ANSWER)
    assert notebook.failed_cells() == []
    assert seen == Seen()


@pytest.fixture
def losing(lesson: tuple[Notebook, Seen]) -> Iterator[Notebook]:
    """A lesson with all controls, whose page can lose what it sends."""
    notebook, seen = lesson
    for cell in ("queue", "vocabulary", "predict", "panel"):
        notebook.run_cell(cell)
    yield notebook
    notebook.page.evaluate(scripts.LOSE_NO_MORE)
    assert seen == Seen()


def test_what_is_lost_on_the_way_is_sent_again_and_done_once(losing: Notebook, running: Server) -> None:
    tab = losing.page
    answer, panel = tab.locator(".once-answer").first, tab.locator(".once-faults")
    choice, feedback = tab.locator(".once-choice").nth(2), tab.locator(".once-choices + [role=status]")
    panel.locator("[data-group=before-write] > summary").click()
    tab.evaluate(scripts.LOSE)
    answer.locator("textarea").fill("lost at first")
    choice.click()
    panel.locator("[data-method=crash_before_write]").click()
    expect(answer.locator(".once-cut")).to_be_visible()
    expect(answer).not_to_contain_text("✓", use_inner_text=True)
    expect(feedback).to_contain_text("!")
    expect(panel.locator(".once-bar [role=status]").nth(1)).to_contain_text("!")
    assert "lost at first" not in _saved(running)

    tab.evaluate(scripts.LOSE_NO_MORE)
    expect(answer).to_contain_text("✓", use_inner_text=True)
    assert "lost at first" in _saved(running)
    expect(feedback).to_contain_text("✓")
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect(panel.locator("[data-said=crash_before_write]")).to_contain_text("✓")
    expect(panel.locator("[data-cancel]")).to_have_count(1)
    expect(tab.locator(".once-cut:visible")).to_have_count(0)
    expect(panel.locator(".once-bar [role=status]").nth(1)).to_be_empty()


def test_what_was_lost_comes_before_what_is_pressed_later(losing: Notebook) -> None:
    tab = losing.page
    panel = tab.locator(".once-faults")
    panel.locator("[data-group=before-write] > summary").click()
    tab.evaluate(scripts.LOSE)
    tab.locator(".once-answer textarea").first.fill("for the file")
    with tab.expect_download() as download:
        tab.locator("[data-file=table]").evaluate(scripts.LOSE_NO_MORE_AND_PRESS)
    assert "for the file" in Path(download.value.path()).read_text(encoding="utf-8")

    tab.evaluate(scripts.LOSE)
    panel.locator("[data-method=crash_before_write]").click()
    panel.locator("[data-method=clear]").evaluate(scripts.LOSE_NO_MORE_AND_PRESS)
    expect(panel.locator("[data-said=clear]")).to_contain_text("✓")
    expect(panel.locator("[data-cancel]")).to_have_count(0)


def test_what_waits_is_that_of_all_views_and_outlives_them(losing: Notebook, running: Server) -> None:
    """A text that is sent for ever comes after newer ones; one that no view knows of is typed over."""
    tab = losing.page
    losing.activate("vocabulary")
    tab.evaluate(scripts.SECOND_VIEW)
    fields = tab.get_by_role("textbox", name=tab.locator(".once-label").first.inner_text(), exact=True)
    tab.evaluate(scripts.LOSE)
    fields.first.fill("in all views")
    expect(fields.nth(1)).to_have_value("in all views")
    losing.clear()
    tab.evaluate(scripts.CLOSE_SECOND_VIEWS)
    assert len(tab.evaluate(scripts.LEFT_IN_TAB)) == 1
    tab.evaluate(scripts.LOSE_NO_MORE)
    losing.wait_for(lambda: tab.evaluate(scripts.LEFT_IN_TAB) == [], "an answer of the kernel")
    assert "in all views" in _saved(running)


def test_a_second_press_before_the_answer_is_none(lesson: tuple[Notebook, Seen]) -> None:
    """Where a second press means yes, nobody says it before the question is there."""
    notebook, seen = lesson
    notebook.run_cell("mute")
    notebook.drawn("mute").get_by_role("button", name="Yes").dblclick()
    expect(notebook.drawn("mute").get_by_role("status")).to_contain_text("!")
    notebook.run_cell("heard")
    expect(notebook.drawn("mute").get_by_role("status")).to_be_empty()
    assert notebook.failed_cells() == []
    assert seen == Seen()


def test_what_never_reached_a_kernel_is_there_for_the_next_one(losing: Notebook, running: Server) -> None:
    losing.page.evaluate(scripts.LOSE)
    losing.page.locator(".once-answer textarea").nth(1).fill("for the next kernel")
    losing.restart()
    assert "for the next kernel" not in _saved(running)
    for cell in ("ready", "vocabulary"):
        losing.run_cell(cell)
    answer = losing.page.locator(".once-answer").nth(1)
    expect(answer.locator("textarea")).to_have_value("for the next kernel")
    expect(answer).to_contain_text("✓", use_inner_text=True)
    assert "for the next kernel" in _saved(running)


def test_an_answer_is_saved_while_a_cell_runs(lesson: tuple[Notebook, Seen]) -> None:
    """Callbacks run beside the cell (JupyterLab's comms over subshells): an endless loop costs no answer."""
    notebook, seen = lesson
    notebook.run_cell("vocabulary")
    notebook.start_cell("busy")
    notebook.page.locator(".once-live textarea").nth(1).press_sequentially("meanwhile")
    notebook.wait_until_ended("busy")
    assert notebook.failed_cells() == []
    assert seen == Seen()


def test_guards_are_compared_by_keyboard_while_a_cell_runs(lesson: tuple[Notebook, Seen]) -> None:
    notebook, seen = lesson
    notebook.run_cell("compare")
    tab = notebook.page
    expect(tab.locator(".once-live svg[role=img]")).to_have_count(2)
    expect(tab.locator(".once-live svg[role=img]").first).to_contain_text("3 → 3 ✗")
    notebook.start_cell("comparing")
    copies = tab.locator(".once-live input[type=number]")
    button = tab.locator(".once-live button").last

    def tab_to_button() -> bool:
        copies.fill("5")
        copies.press("Tab")
        return bool(button.evaluate("(element) => element === document.activeElement"))

    # To run a cell gives it the focus, a moment later.
    notebook.wait_for(tab_to_button, "the focus on the button")
    tab.keyboard.press("Enter")
    notebook.wait_until_ended("comparing")
    expect(tab.locator(".once-live svg[role=img]").first).to_contain_text("5 → 5 ✗")
    expect(tab.locator(".once-live svg[role=img]").last).to_contain_text("5 → 1 ✓")
    expect(button).to_be_enabled()
    assert notebook.failed_cells() == []
    assert seen == Seen()


def test_a_prediction_is_answered_by_keyboard_and_kept(lesson: tuple[Notebook, Seen]) -> None:
    notebook, seen = lesson
    notebook.run_cell("predict")
    choice = notebook.page.locator(".once-choice").nth(2)
    choice.focus()
    notebook.page.keyboard.press("Enter")
    said = notebook.page.locator(".once-live [role=status]")
    expect(said).to_contain_text("✓")
    words = said.inner_text()
    notebook.restart()
    notebook.run_cell("ready")
    notebook.run_cell("predict")
    expect(said).to_have_text(words, use_inner_text=True)
    expect(notebook.page.locator(".once-chosen")).to_have_count(1)
    assert seen == Seen()


def test_what_is_chosen_is_announced_and_hint_and_solution_open_one_after_the_other(
    lesson: tuple[Notebook, Seen],
) -> None:
    """By keyboard alone, with the roles and states that a screen reader gets from the browser."""
    notebook, seen = lesson
    for cell in ("vocabulary", "predict", "check"):
        notebook.run_cell(cell)
    tab, keys = notebook.page, notebook.page.keyboard

    group = tab.get_by_role("group").filter(has=tab.locator(".once-choice"))
    choices = group.get_by_role("button")
    choices.first.focus()
    keys.press("Space")
    expect(group.get_by_role("button", pressed=True)).to_have_count(1)
    expect(choices.first).to_have_attribute("aria-pressed", "true")
    said = group.locator("xpath=following-sibling::*[@role='status']")
    expect(said).to_contain_text("✗")
    keys.press("Tab")
    keys.press("Tab")
    expect(choices.nth(2)).to_be_focused()
    keys.press("Enter")
    expect(choices.first).to_have_attribute("aria-pressed", "false")
    expect(choices.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(said).to_contain_text("✓")

    point = tab.locator("li:has(details details)").first
    hint, solution = point.locator("summary").nth(0), point.locator("summary").nth(1)
    expect(solution).to_be_hidden()
    hint.focus()
    keys.press("Enter")
    expect(solution).to_be_visible()
    expect(point.locator("details details code").first).to_be_hidden()
    solution.focus()
    keys.press("Enter")
    expect(point.locator("details details code").first).to_be_visible()

    entry = tab.locator(".once-row").filter(has=tab.locator("textarea")).nth(3)
    field = entry.locator("textarea")
    expect(entry.locator("details")).to_have_count(0)
    field.press_sequentially("mine")
    entry.locator("summary").press("Enter")
    expect(entry.locator("details code, details div").first).to_be_visible()
    field.press_sequentially(", and more")
    expect(entry.locator("[role=status]")).to_contain_text("✓")
    expect(entry.locator("details")).to_have_attribute("open", "")
    assert notebook.failed_cells() == []
    assert seen == Seen()


@pytest.fixture
def panel(lesson: tuple[Notebook, Seen]) -> tuple[Notebook, Locator]:
    notebook, _seen = lesson
    for cell in ("queue", "panel"):
        notebook.run_cell(cell)
    shown = notebook.page.locator(".once-faults")
    expect(shown).to_be_visible()
    return notebook, shown


def test_the_fault_panel_is_used_by_keyboard_alone(
    panel: tuple[Notebook, Locator], opened: tuple[Notebook, Seen]
) -> None:
    notebook, shown = panel
    keys = notebook.page.keyboard

    def tab_to(place: str, key: str = "Tab", most: int = 40) -> None:
        """Go there with the keyboard only, as a reader does who does not know how far it is."""
        for _step in range(most):
            keys.press(key)
            if shown.locator(place).evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"{place} cannot be reached with {key}")

    status = shown.locator(".once-status")
    calm = status.inner_text()
    shown.locator("[data-method=clear]").focus()
    # Groups are folded and unfolded; what is folded away is no stop of the tabulator.
    for group, key in (("demonstrations", "Space"), ("in-queue", "Enter")):
        folded = shown.locator(f"[data-group={group}]")
        tab_to(f"[data-group={group}] > summary")
        expect(folded).to_have_attribute("open", "")
        keys.press(key)
        expect(folded).not_to_have_attribute("open", "")
    tab_to("[data-group=before-write] > summary", most=1)
    keys.press("Enter")
    tab_to("[data-method=crash_at_start]", most=1)
    keys.press("Space")
    expect(status).to_contain_text("●")
    expect(shown.locator("[data-said=crash_at_start]")).to_contain_text("✓")
    tab_to("[data-method=crash_before_write]", most=1)
    keys.press("Enter")
    expect(shown.locator("[data-cancel]")).to_have_count(2)
    expect(shown.locator("[data-said=crash_at_start]")).to_be_empty()
    # One is cancelled, the other stays; the focus is not lost with the button that was pressed.
    tab_to(".once-armed li:first-child button", "Shift+Tab")
    keys.press("Enter")
    expect(shown.locator("[data-cancel]")).to_have_count(1)
    assert shown.locator("[data-cancel]").evaluate("element => element === document.activeElement")
    tab_to("[data-method=clear]", "Shift+Tab")
    keys.press("Enter")
    expect(status).to_have_text(calm, use_inner_text=True)
    # An error stands where the press was: no job was sent.
    tab_to("[data-group=in-queue] > summary")
    keys.press("Space")
    tab_to("[data-method=send_again]", most=1)
    keys.press("Space")
    error = shown.locator("[data-said=send_again]")
    expect(error).to_contain_text("✗")
    expect(error.locator("p")).to_have_count(2)
    expect(error).to_contain_text("q05-jobs")
    expect(error).not_to_contain_text("Traceback")
    found = Axe().run(notebook.page, context=".once-faults")
    assert [one["id"] for one in found.response["violations"]] == []
    assert notebook.page.evaluate("window.jupyterapp.shell.currentWidget.content.mode") == "command"
    assert notebook.failed_cells() == []
    assert opened[1] == Seen()


def test_a_demonstration_is_played_and_all_is_disarmed_while_a_cell_waits(
    panel: tuple[Notebook, Locator], opened: tuple[Notebook, Seen]
) -> None:
    notebook, shown = panel
    notebook.run_cell("worker")
    card = shown.locator("[data-preset=double-charge]")
    step = card.locator("[data-act=next]")
    step.focus()
    notebook.page.keyboard.press("Enter")
    expect(card.locator(".once-said")).to_contain_text("double-charge-1")
    expect(card.locator("li").nth(0)).to_contain_text("✓")
    expect(card.locator("li").nth(1)).to_contain_text("→")
    expect(step).to_have_attribute("aria-disabled", "false")
    notebook.page.keyboard.press("Enter")
    expect(card.locator("li").nth(1)).to_contain_text("✓")
    expect(step).to_have_attribute("aria-disabled", "false", timeout=20_000)
    expect(card.locator(".once-said")).to_contain_text("✓")

    status = shown.locator(".once-status")
    notebook.start_cell("held")
    expect(status).to_contain_text("●", timeout=20_000)
    expect(shown.locator(".once-armed [data-holding]")).to_be_visible(timeout=20_000)  # it fired: a call is held now
    assert not notebook.page.evaluate("window.onceEnded.held"), "the cell waits for the held run"
    shown.locator("[data-method=clear]").click()
    expect(status).to_contain_text("○")
    notebook.wait_until_ended("held")
    assert notebook.failed_cells() == []
    assert opened[1] == Seen()


def test_an_error_of_the_lab_is_three_sentences_on_the_page(lesson: tuple[Notebook, Seen]) -> None:
    notebook, _seen = lesson
    notebook.run_cell("error")
    shown = notebook.page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']")
    expect(shown).to_contain_text("✗")
    expect(shown).to_contain_text("→")
    expect(shown).not_to_contain_text("Traceback")
    assert len(notebook.failed_cells()) == 1


def test_everything_fits_the_pane(fresh: tuple[Notebook, Seen]) -> None:
    """Nothing is wider than its output, so a reader never scrolls sideways to read a sentence."""
    notebook, seen = fresh
    cells = [name for name in CELLS if name not in {"busy", "comparing", "worker", "held", "mute", "heard"}]
    for cell in cells:
        notebook.run_cell(cell)
    assert [one.partition(":")[0] for one in notebook.failed_cells()] == ["error"]
    everything = ".once-faults, .once-faults *, .once-live, .once-live *, .jp-RenderedHTMLCommon > [lang] > *"
    for width, height, dark in ((360, 740, False), (1366, 900, True), (1920, 1080, False)):
        notebook.page.set_viewport_size({"width": width, "height": height})
        notebook.use_whole_window(dark=dark)
        for cell in cells:
            notebook.screenshot(f"{'dark' if dark else 'light'}-{width}-{cell}", cell)
        assert notebook.too_wide(everything) == [], f"{width} px"
    assert seen == Seen()


def test_nothing_says_saved_while_the_connection_is_cut(lesson: tuple[Notebook, Seen], running: Server) -> None:
    """The last one here: what JupyterLab and its server still do about a cut a while later is in nobody's way then."""
    notebook, seen = lesson
    notebook.run_cell("vocabulary")
    tab = notebook.page
    answer = tab.locator(".once-live .once-answer").nth(2)
    field = answer.locator("textarea")
    field.fill("before")
    expect(answer).to_contain_text("✓", use_inner_text=True)
    told = tab.locator(".jp-Dialog")  # of JupyterLab, when it asks the server for something just now
    tab.add_locator_handler(told, lambda dialog: dialog.locator(".jp-Dialog-button").click())
    tab.context.set_offline(True)
    try:
        tab.evaluate(scripts.CUT)
        field.fill("typed meanwhile")
        for place, shown in ((answer, 1), (tab.locator(".once-live"), 2)):
            expect(place).not_to_contain_text("✓", use_inner_text=True)
            expect(place.locator(".once-cut:visible")).to_have_count(shown)
        notebook.screenshot("cut", "vocabulary")
    finally:
        tab.context.set_offline(False)
        tab.evaluate(scripts.RECONNECT)
    notebook.wait_for(lambda: "typed meanwhile" in _saved(running), "what was typed to be saved")
    expect(answer).to_contain_text("✓", use_inner_text=True)
    expect(tab.locator(".once-cut:visible")).to_have_count(0)
    tab.remove_locator_handler(told)
    seen.forget()
