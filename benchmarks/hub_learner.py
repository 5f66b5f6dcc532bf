"""One simulated learner: runs each cell of a lesson over the kernel's websocket, as the page in a browser does."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import websocket

from .hub_server import Hub

CELL_SECONDS = 300.0
SAMPLE_SECONDS = 1.0
CONNECTIONS = 5


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
        """Run cells in a new session with the notebook's kernel. Gives the plain text of each. Raises WrongCell."""
        session = self.hub.call(
            "POST",
            f"{self._base}/api/sessions",
            {"path": self.notebook, "name": "", "type": "notebook", "kernel": {"name": "python3"}},
        )
        kernel = session["kernel"]["id"]
        where = self.hub.address.replace("http:", "ws:") + f"{self._base}/api/kernels/{kernel}/channels"
        channel = self._connected(where)
        try:
            texts = []
            for name, source, may_fail in code:
                texts.append(self._cell(channel, name, source, may_fail))
                if pause:
                    time.sleep(pause)
            return texts
        finally:
            channel.close()

    def _connected(self, where: str) -> websocket.WebSocket:
        """A channel on which the kernel has answered. On a busy machine the first may be lost; a page tries again."""
        for attempt in range(1, CONNECTIONS + 1):
            channel = websocket.create_connection(
                where,
                timeout=CELL_SECONDS,
                header=[f"Authorization: token {self.hub.token}"],
                http_no_proxy=["127.0.0.1"],
            )
            try:
                self._cell(channel, "connect", "", False)
                return channel
            except WrongCell:
                channel.close()
                if attempt == CONNECTIONS:
                    raise
        raise AssertionError("unreachable")

    def _cell(self, channel: websocket.WebSocket, name: str, source: str, may_fail: bool) -> str:
        number = uuid.uuid4().hex
        header = {"msg_id": number, "username": self.name, "session": number, "msg_type": "execute_request"}
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
        channel.send(
            json.dumps(
                {
                    "header": header | {"version": "5.3"},
                    "parent_header": {},
                    "metadata": {},
                    "content": content,
                    "channel": "shell",
                }
            )
        )
        deadline = time.monotonic() + CELL_SECONDS
        text: list[str] = []
        while time.monotonic() < deadline:
            try:
                message: Mapping[str, Any] = json.loads(channel.recv())
            except websocket.WebSocketException as error:
                raise WrongCell(f"{self.name}: [{name}] {error}") from error
            if message["parent_header"].get("msg_id") != number:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "error" and not may_fail:
                raise WrongCell(f"{self.name}: [{name}] {content['ename']}: {content['evalue']}")
            if kind == "stream":
                text.append(content["text"])
            elif kind in ("execute_result", "display_data"):
                text.append(content["data"].get("text/plain", ""))
            elif kind == "status" and content["execution_state"] == "idle":
                return "\n".join(text)
        raise WrongCell(f"{self.name}: [{name}] is still running after {CELL_SECONDS:.0f} s")


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
