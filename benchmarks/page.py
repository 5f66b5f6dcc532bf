"""Measure a click in a real page: ``python -m benchmarks.page``, with Chromium and the course installed.

From the click on *Send again* in the fault panel until the live view shows the new message. In between lie the way to
the kernel, the callback, a real `SendMessage` over HTTP, the journal, the view's thread, the way back and the change
of the page. Beside it, alternately in the same page: a bare ipywidgets button whose callback sets an ipywidgets.HTML.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from .engines import ROOT
from .figures import Goal, table

GOAL_MS = 300

_SETUP = """
from helpers.show import Lab
lab = Lab('idempotent-consumer', 'en')
sqs = lab.cloud.client('sqs')
url = sqs.create_queue(QueueName='q05-jobs')['QueueUrl']
sqs.send_message(QueueUrl=url, MessageBody='{"id": "order-1", "quantity": 4}')
"""
_PEER = """
import ipywidgets
from IPython.display import display
count, shown = 0, ipywidgets.HTML()
shown.add_class('peer-shown')
def press(_button):
    global count
    count += 1
    shown.value = f'<b>{count}</b>'
button = ipywidgets.Button(description='peer')
button.add_class('peer-button')
button.on_click(press)
display(ipywidgets.VBox([button, shown]))
"""
_CELLS = {"ready": _SETUP, "live": "lab.live()", "panel": "lab.faults.panel()", "peer": _PEER}

# Milliseconds from the click to the first change that `seen` accepts, drawn or about to be drawn in the same frame.
_CLICK = """([button, shown]) => new Promise((resolve, reject) => {
  const state = () => [...document.querySelectorAll(shown)].map((one) => one.dataset.k ?? one.innerHTML).join();
  const before = state();
  const observer = new MutationObserver(() => {
    if (state() === before) return;
    observer.disconnect();
    clearTimeout(late);
    resolve(performance.now() - begun);
  });
  const late = setTimeout(() => { observer.disconnect(); reject(new Error('no change')); }, 20000);
  observer.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
  const target = document.querySelector(button);
  const begun = performance.now();
  target.click();
})"""
_OURS = [".once-faults [data-method=send_again]", ".jupyterlab-sidecar .once-mark[data-k^=sent]"]
_BARE = [".peer-button", ".peer-shown"]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__.splitlines()[0])
    parser.add_argument("--clicks", type=int, default=40, help="clicks of each kind (default: 40)")
    parser.add_argument("--write", type=Path, default=ROOT / "docs", help="folder for page.md (default: docs)")
    parser.add_argument("--no-write", dest="write", action="store_const", const=None, help="only print")
    options = parser.parse_args(arguments)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("benchmarks: there is no Chromium", file=sys.stderr)
        return 1
    text = document(*measure(chromium, options.clicks))
    print(text)
    if options.write:
        (options.write / "page.md").write_text(text, encoding="utf-8", newline="\n")
    return 0


def measure(chromium: str, clicks: int) -> tuple[list[float], list[float]]:
    """Milliseconds of the live view and of the bare widgets, click by click."""
    from tests.browser.jupyterlab import Notebook, page, server, write_notebook

    root = Path(tempfile.mkdtemp(prefix="once-page-"))
    try:
        write_notebook(root / "page.ipynb", _CELLS)
        with sync_playwright() as driver, server(root) as running, page(driver, chromium) as (tab, _seen):
            notebook = Notebook(tab, running, "page.ipynb")
            for cell in _CELLS:
                notebook.run_cell(cell)
            tab.locator(_OURS[1]).first.wait_for()
            found = [(_click(tab, _OURS), _click(tab, _BARE)) for _ in range(clicks + 1)]
    finally:
        shutil.rmtree(root, ignore_errors=True)
    # The first click loads code.
    return [ours for ours, _bare in found[1:]], [bare for _ours, bare in found[1:]]


def _click(tab: Page, what: Sequence[str]) -> float:
    tab.wait_for_timeout(250)  # what the click before it caused is over
    return float(tab.evaluate(_CLICK, list(what)))


def document(ours: Sequence[float], bare: Sequence[float]) -> str:
    """The page docs/page.md."""
    rows = [["live view, after *Send again*", *_figures(ours)], ["a bare button that sets an HTML", *_figures(bare)]]
    goal = Goal(
        "from the click to the changed live view, median", statistics.median(ours), GOAL_MS, unit=" ms", digits=0
    )
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    versions = ", ".join(f"{name} {version(name)}" for name in ("jupyterlab", "ipywidgets", "anywidget"))
    return (
        "# From a click to the changed page\n\n"
        "Written by `python -m benchmarks.page`. Do not edit.\n\n"
        "The click on *Send again* sends a real message to the queue; it is measured until the live view beside the "
        "cells has a mark for it. The bare button and text of ipywidgets stand in the same page and are pressed "
        "alternately: what they take is the way to the kernel and back.\n\n"
        f"Measured on: {machine}; {versions}; {len(ours)} clicks each.\n\n"
        f"{table(['ms', 'median', '95 of 100', 'largest'], rows)}\n"
        f"{table(['', 'goal', 'found', 'reached'], [goal.row()])}"
    )


def _figures(values: Sequence[float]) -> list[str]:
    ordered = sorted(values)
    most = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return [f"{statistics.median(ordered):.0f}", f"{most:.0f}", f"{ordered[-1]:.0f}"]


if __name__ == "__main__":
    sys.exit(main())
