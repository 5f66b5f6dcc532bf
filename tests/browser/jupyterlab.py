"""JupyterLab in a real browser: a server on loopback with settings of its own, and pages driven by their model.

Everything is asked of the application itself (`window.jupyterapp`), not of the pictures on its toolbar: the
toolbar says "idle" before a kernel is connected, and the prompt of an empty cell stays `[ ]:` for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import BrowserContext, Locator, Page, Playwright, TimeoutError

from tests.browser import notebook_scripts as scripts

START_SECONDS = 60
RUN_SECONDS = 180
CELL_SECONDS = 90
CHROMIUM_FLAGS = (
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

# JupyterLab's own words about requests (of the debugger, of comms) that were open when a kernel was restarted.
RESTART_NOISE = (
    "Canceled future for",
    # After a restart ipywidgets asks the kernel for its widgets and waits 4 s (CONTROL_COMM_TIMEOUT). The lesson's
    # cells are already running then, so on a slow machine the answer comes when nobody waits for it any more.
    "Comm not found for comm id",
    # A tab that is closed while its kernel is still connecting.
    "Disposed",
)

_TOO_WIDE = """(selector) => {
  const found = [];
  for (const element of document.querySelectorAll(selector)) {
    const output = element.closest('.jp-OutputArea-output');
    // A table may be wider than its frame: it scrolls there.
    if (!output || element.parentElement.closest('[tabindex]')) continue;
    const edge = output.getBoundingClientRect().right;
    const {right, width} = element.getBoundingClientRect();
    if (width > 0 && right > edge + 1) {
      const name = element.tagName + '.' + element.className;
      found.push(name + ' ' + Math.round(right - edge) + ' px: ' + element.textContent.slice(0, 40));
    }
  }
  return found;
}"""


@dataclass
class Server:
    """A running JupyterLab. It serves `root`; answers go to `home`; `log` is what the server printed."""

    address: str
    root: Path
    home: Path
    log: Path


@dataclass
class Seen:
    """What the browser complained about, and where it wanted to go."""

    console_errors: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """Begin anew."""
        for complaints in (self.console_errors, self.page_errors, self.foreign_requests):
            complaints.clear()


@contextlib.contextmanager
def server(
    root: Path,
    *,
    dark: bool = False,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Iterator[Server]:
    """JupyterLab that serves `root`; its settings, its files and the learner's home are thrown away after.

    `overrides`: defaults of its settings in place of those below.
    """
    own = Path(tempfile.mkdtemp(prefix="once-browser-"))
    settings: dict[str, Any] = {
        # The question about news would ask the network, and stand over the page.
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        "@jupyterlab/apputils-extension:themes": {"theme": "JupyterLab Dark" if dark else "JupyterLab Light"},
        # All cells are in the page, also those that nobody has scrolled to.
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    }
    (own / "config" / "labconfig").mkdir(parents=True)
    defaults = own / "config" / "labconfig" / "default_setting_overrides.json"
    defaults.write_text(json.dumps(settings if overrides is None else overrides), encoding="utf-8")
    port = _free_port()
    result = Server(f"http://127.0.0.1:{port}", root, own / "home", own / "jupyterlab.log")
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "ONCE_HOME": "home",
    }
    env = dict(os.environ)
    env.update({name: str(own / folder) for name, folder in folders.items()})
    env.update(environment or {})
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), env.get("PYTHONPATH")]))
    options = [
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={root}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
    ]
    with result.log.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_up(process, result)
            yield result
        finally:
            process.send_signal(signal.SIGTERM)  # no question, and the kernels are shut down
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            shutil.rmtree(own, ignore_errors=True)


@contextlib.contextmanager
def page(playwright: Playwright, chromium: str, width: int = 1366, height: int = 900) -> Iterator[tuple[Page, Seen]]:
    """A page of a fresh browser, and what it complains about."""
    browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
    try:
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        seen = Seen()
        opened = context.new_page()
        _watch(context, opened, seen)
        yield opened, seen
    finally:
        browser.close()


class Notebook:
    """One open notebook."""

    def __init__(self, page: Page, server: Server, path: str) -> None:
        """Open `path` (relative to the served folder) without what an earlier session left."""
        self.page = page
        self.server = server
        page.goto(f"{server.address}/lab/tree/{path}?reset", timeout=START_SECONDS * 1000)
        page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=START_SECONDS * 1000)
        page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell").first.wait_for()
        self.wait_until_idle()

    @classmethod
    def beside(cls, page: Page, server: Server, path: str) -> Notebook:
        """Open `path` in a page in which JupyterLab is running already."""
        opened = cls.__new__(cls)
        opened.page, opened.server = page, server
        page.evaluate(scripts.OPEN, path)
        return opened

    def close(self) -> None:
        """Close its tab; nothing is saved."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")

    def wait_until_idle(self, seconds: float = RUN_SECONDS) -> None:
        """Wait until the kernel is connected and has nothing to do."""
        try:
            self.page.wait_for_function(scripts.KERNEL_IDLE, timeout=seconds * 1000)
        except TimeoutError as error:
            state = self.page.evaluate(scripts.KERNEL_STATE)
            log = self.server.log.read_text(encoding="utf-8", errors="replace")[-3000:]
            raise AssertionError(f"the kernel is not idle after {seconds} s, but {state}\n{log}") from error

    def wait_for(self, condition: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
        """Wait until `condition` holds, with the page alive meanwhile."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds} s for {what}"
            self.page.wait_for_timeout(50)

    def run_all(self) -> None:
        """No outputs, then every cell; returns when the last has run or one has failed. An opened page has a kernel
        of its own, so none is restarted."""
        self.clear()
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        self.page.wait_for_function(scripts.FINISHED, timeout=RUN_SECONDS * 1000)
        self.wait_until_idle()

    def clear(self) -> None:
        """No outputs."""
        self.page.evaluate(scripts.CLEAR)

    def busy(self) -> bool:
        """Whether the kernel runs something, or is not there."""
        return not self.page.evaluate(scripts.KERNEL_IDLE)

    def shut_down(self) -> None:
        """End the kernel."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def restart(self, *, keep_outputs: bool = False) -> None:
        """A new kernel, and no outputs if they are not kept."""
        self.page.evaluate(scripts.RESTART)
        if not keep_outputs:
            self.clear()
        for _attempt in range(3):
            with contextlib.suppress(AssertionError):
                self.wait_until_idle(10)
                return
            # Now and then JupyterLab misses the first word of a restarted kernel, and its state stays "unknown".
            # This is what its own "Reconnect to kernel" does.
            self.page.evaluate(scripts.RECONNECT)
        self.wait_until_idle(START_SECONDS)

    def run_cell(self, cell: str) -> None:
        """Run the cell with this id and wait for its end."""
        self.start_cell(cell)
        self.wait_until_ended(cell)

    def wait_until_ended(self, cell: str) -> None:
        """Wait for the end of a cell that was started."""
        try:
            self.page.wait_for_function(scripts.CELL_ENDED, arg=cell, timeout=CELL_SECONDS * 1000)
        except TimeoutError:
            state = self.page.evaluate(scripts.CELL_STATE, cell)
            raise AssertionError(f"after {CELL_SECONDS} s the cell {cell} has not ended: {state}") from None
        self.wait_until_idle()

    def start_cell(self, cell: str) -> None:
        """Run the cell with this id; its end is somebody else's matter."""
        self.page.evaluate(scripts.START_CELL, cell)

    def failed_cells(self) -> list[str]:
        """The cells that ended with an error, as "id: name: message"."""
        return list(self.page.evaluate(scripts.FAILED_CELLS))

    def use_whole_window(self, *, dark: bool = False) -> None:
        """Give the notebook all the room there is, in the light or the dark theme."""
        self.page.evaluate(scripts.WHOLE_WINDOW, "JupyterLab Dark" if dark else "JupyterLab Light")
        self.page.locator(f"body[data-jp-theme-light='{'false' if dark else 'true'}']").wait_for(state="attached")

    def activate(self, cell: str) -> None:
        """Give the focus to a cell as a whole, as the arrow keys do."""
        self.page.evaluate(scripts.ACTIVATE, cell)

    def execution_count(self, cell: str) -> int | None:
        """The number in front of the cell, or None."""
        count: int | None = self.page.evaluate(scripts.EXECUTION_COUNT, cell)
        return count

    def draw_everything(self) -> None:
        """Put all cells into the page, also those that nobody has scrolled to yet."""
        self.page.evaluate(scripts.DRAW_EVERYTHING)
        self.page.wait_for_function(scripts.DRAWN, timeout=START_SECONDS * 1000)

    def drawn(self, cell: str) -> Locator:
        """The cell with this id on the page."""
        index = self.page.evaluate(scripts.INDEX_OF, cell)
        return self.page.locator(f".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell[data-windowed-list-index='{index}']")

    def too_wide(self, selector: str) -> list[str]:
        """What sticks out of its output on the right (a table may: it scrolls in a frame of its own)."""
        return list(self.page.evaluate(_TOO_WIDE, selector))

    def picture(self, name: str) -> None:
        """Keep a picture of the page in the folder that ONCE_SCREENSHOTS names, if it names one."""
        if folder := os.environ.get("ONCE_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))

    def screenshot(self, name: str, cell: str) -> None:
        """Keep a picture of one cell in the folder that ONCE_SCREENSHOTS names, if it names one."""
        if folder := os.environ.get("ONCE_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            drawn = self.drawn(cell)
            drawn.scroll_into_view_if_needed()
            drawn.screenshot(path=str(Path(folder) / f"{name}.png"))


def _watch(context: BrowserContext, opened: Page, seen: Seen) -> None:
    local = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:")
    context.on("request", lambda r: None if r.url.startswith(local) else seen.foreign_requests.append(r.url))
    opened.on("websocket", lambda w: None if w.url.startswith(local) else seen.foreign_requests.append(w.url))
    opened.on("console", lambda m: _complain(seen.console_errors, m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: _complain(seen.page_errors, str(error)))


def _complain(complaints: list[str], text: str) -> None:
    if not any(noise in text for noise in RESTART_NOISE):
        complaints.append(text)


def _wait_until_up(process: subprocess.Popen[bytes], started: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{started.address}/api", timeout=2).close()
            return
        time.sleep(0.1)
    printed = started.log.read_text(encoding="utf-8", errors="replace")
    raise AssertionError(f"JupyterLab did not answer within {START_SECONDS} s:\n{printed}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def write_notebook(path: Path, cells: Mapping[str, str]) -> None:
    """A notebook of code cells: id -> source."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source, id=name) for name, source in cells.items()],
        # Without it, JupyterLab asks which kernel to take.
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, str(path))
