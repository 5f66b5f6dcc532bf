"""One simulated learner: runs each cell of a lesson over the kernel's websocket, as the page in a browser does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from .hub_channel import Channel, NoAnswer
from .hub_server import Hub

CELL_SECONDS = 300.0
SAMPLE_SECONDS = 1.0
KERNEL_SECONDS = 120.0
"""From the kernel's start to its first answer. Ten learners on two cores waited 2 s."""
CONNECT_SECONDS = 30.0
RETRY_SECONDS = 0.5


class WrongCell(RuntimeError):
    """A cell of the lesson failed, or gave no answer in time."""


@dataclass(frozen=True)
class Visit:
    """What one learner needed. Seconds, and MB of 1,000,000 bytes.

    `memory` is the largest proportional size (PSS) of server, kernel and workers together: pages that several
    processes share count once. `resident` is the largest sum of their resident sizes, in which they count each time.
    """

    start: float
    lesson: float
    processor: float
    memory: float
    resident: float


def cells(notebook: Path) -> list[tuple[str, str, bool]]:
    """The code cells: id, source, whether an error is meant."""
    stored = json.loads(notebook.read_text(encoding="utf-8"))
    result = []
    for cell in stored["cells"]:
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if cell["cell_type"] == "code" and source.strip():
            result.append((cell["id"], source, "raises-exception" in cell["metadata"].get("tags", [])))
    return result


class Learner:
    """A learner with a server of their own. `name` is a user of the hub."""

    def __init__(self, hub: Hub, name: str, notebook: str) -> None:
        self.hub, self.name, self.notebook = hub, name, notebook
        self._base = f"/user/{name}"

    def visit(self, code: Sequence[tuple[str, str, bool]], pause: float = 0.0) -> Visit:
        """Start the server, run the lesson with `pause` seconds after each cell, leave all running."""
        began = time.monotonic()
        self.hub.start_server(self.name)
        started = time.monotonic()
        watch = Watch(self.name)
        with watch:
            self.run(code, pause)
            ended = time.monotonic()
        return Visit(
            started - began, ended - started, watch.processor(), watch.memory / 1e6, watch.resident / 1e6
        )  # fmt: skip

    def run(self, code: Sequence[tuple[str, str, bool]], pause: float = 0.0) -> list[str]:
        """Run cells in a new session with the notebook's kernel. Gives the plain text of each.

        Raises WrongCell, NoHub.
        """
        session = self.hub.call(
            "POST",
            f"{self._base}/api/sessions",
            {"path": self.notebook, "name": "", "type": "notebook", "kernel": {"name": "python3"}},
        )
        channel = self._connected(session["kernel"]["id"])
        try:
            texts = []
            for name, source, may_fail in code:
                texts.append(self._cell(channel, name, source, may_fail))
                if pause:
                    time.sleep(pause)
            return texts
        finally:
            channel.close()

    def _connected(self, kernel: str) -> Channel:
        """A channel on which the kernel has answered. On a busy machine the first may be lost; a page tries again."""
        where = self.hub.address.replace("http:", "ws:") + f"{self._base}/api/kernels/{kernel}/channels"
        deadline = time.monotonic() + KERNEL_SECONDS
        reasons: list[str] = []
        while (left := deadline - time.monotonic()) > 0:
            try:
                channel = Channel(where, self.hub.token, left)
                try:
                    for _ in channel.run("", min(CONNECT_SECONDS, deadline - time.monotonic())):
                        pass
                except NoAnswer:
                    channel.close()
                    raise
                return channel
            except NoAnswer as problem:
                reasons.append(str(problem))
                time.sleep(RETRY_SECONDS)
        raise WrongCell(
            f"{self.name}: its kernel has not answered within {KERNEL_SECONDS:.0f} s; at first: {reasons[0]}"
        )

    def _cell(self, channel: Channel, name: str, source: str, may_fail: bool) -> str:
        text: list[str] = []
        try:
            for message in channel.run(source, CELL_SECONDS):
                kind, content = message["msg_type"], message["content"]
                if kind == "error" and not may_fail:
                    raise WrongCell(f"{self.name}: [{name}] {content['ename']}: {content['evalue']}")
                if kind == "stream":
                    text.append(content["text"])
                elif kind in ("execute_result", "display_data"):
                    text.append(content["data"].get("text/plain", ""))
        except NoAnswer as problem:
            raise WrongCell(f"{self.name}: [{name}] {problem}") from problem
        return "\n".join(text)


class Watch:
    """Samples the memory of a learner's processes in a thread of its own, while used as a context."""

    def __init__(self, learner: str) -> None:
        self.memory = self.resident = 0
        self._root = _server_of(learner)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"watch-{learner}", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *nothing: object) -> None:
        self._over.set()
        self._thread.join()
        self._sample()

    def processor(self) -> float:
        """Processor seconds of all that the server has started since its own start, ended processes included."""
        total = 0.0
        for process in self._tree():
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total

    def _watch(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        shared, resident = 0, 0
        for process in self._tree():
            try:
                full = process.memory_full_info()
            except psutil.Error:  # it has just ended
                continue
            shared += full.pss
            resident += full.rss
        self.memory, self.resident = max(self.memory, shared), max(self.resident, resident)

    def _tree(self) -> list[psutil.Process]:
        try:
            return [self._root, *self._root.children(recursive=True)]
        except psutil.Error:
            return []


def _server_of(learner: str) -> psutil.Process:
    for process in psutil.process_iter():
        try:
            if process.environ().get("JUPYTERHUB_USER") == learner and "jupyterhub-singleuser" in " ".join(
                process.cmdline()
            ):
                return process
        except psutil.Error:
            continue
    raise WrongCell(f"No server process of {learner} was found.")
