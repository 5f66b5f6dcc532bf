"""Engines that serve an AWS endpoint: how each is started, watched and ended.

Every measurement has a process of its own and an account without history. Resident memory and processor time are
those of the server and of all processes that it started.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .order_flow import Flow, run

ROOT = Path(__file__).resolve().parents[1]

_READY_SECONDS = 60.0
_SAMPLE = 0.05


@dataclass(frozen=True)
class Engine:
    """A program that serves an endpoint on 127.0.0.1. ``{port}`` in command and variables stands for its port."""

    name: str
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


OURS = Engine("once", (sys.executable, "-m", "helpers.cloud", "--port", "{port}"), {"PYTHONPATH": str(ROOT)})


@dataclass(frozen=True)
class Measurement:
    """One run of one engine. Seconds and MB; the processor times are those of the messages only."""

    engine: str
    start: float
    flow: Flow
    memory: float
    server_cpu: float
    worker_cpu: float

    @property
    def cpu_per_message(self) -> float:
        """Milliseconds of processor time of server and workers for one message."""
        return (self.server_cpu + self.worker_cpu) * 1000 / self.flow.messages


class NotStarted(RuntimeError):
    """An engine did not answer in time, or ended."""


class Watch:
    """Looks at a process and its children until `stop`: the largest resident memory together, and processor times."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._times: dict[int, float] = {}
        self.memory = 0.0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def cpu(self) -> tuple[float, float]:
        """Seconds so far, of the process itself and of its children, those that ended included."""
        self._sample()
        own = self._times.get(self._process.pid, 0.0)
        return own, sum(self._times.values()) - own

    def cpu_of(self, pid: int) -> float:
        """Seconds so far of one process, 0 for one that was never seen."""
        return self._times.get(pid, 0.0)

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stopped.wait(_SAMPLE):
            self._sample()

    def _sample(self) -> None:
        memory = 0
        with contextlib.suppress(psutil.Error):
            for process in (self._process, *self._process.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    times = process.cpu_times()
                    self._times[process.pid] = times.user + times.system
                    memory += process.memory_info().rss
        self.memory = max(self.memory, memory / 1_000_000)


@contextlib.contextmanager
def started(engine: Engine) -> Iterator[tuple[str, subprocess.Popen[bytes], float]]:
    """The engine's endpoint, its process, and the seconds until it answered. Raises NotStarted."""
    port = _free_port()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="once-bench-", ignore_cleanup_errors=True) as folder:
        log = Path(folder, "output.txt")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [part.format(port=port) for part in engine.command],
                env={**os.environ, **{name: value.format(port=port) for name, value in engine.variables.items()}},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_until_it_answers(engine, process, port, log)
            yield f"http://127.0.0.1:{port}", process, time.perf_counter() - begun
        finally:
            _end(process)


def measure(engine: Engine, messages: int, silent: bool = False) -> Measurement:
    """Start the engine, run the flow once, end the engine. Raises NotStarted and order_flow.Wrong."""
    with started(engine) as (endpoint, process, seconds):
        watch = Watch(process.pid)
        before: list[tuple[float, float]] = []
        try:
            flow = run(endpoint, messages, begun=lambda: before.append(watch.cpu()), silent=silent)
            after = watch.cpu()
        finally:
            watch.stop()
    server, workers = (end - begin for begin, end in zip(before[0], after, strict=True))
    return Measurement(engine.name, seconds, flow, watch.memory, server, workers)


def lab_ready() -> float:
    """Seconds until a lesson's `Lab` is ready in a process that has just started, as a kernel has: imports included."""
    code = (
        "import time; begun = time.perf_counter()\n"
        "from helpers.lab import Lab; lab = Lab('idempotent-consumer', 'en')\n"
        "print('seconds', time.perf_counter() - begun, flush=True); input()"
    )
    with tempfile.TemporaryDirectory(prefix="once-bench-", ignore_cleanup_errors=True) as folder:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "ONCE_HOME": folder}
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=variables,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert process.stdout is not None
        found = next((line for line in process.stdout if line.startswith("seconds ")), None)
        process.communicate("\n", timeout=30)
    if found is None:
        raise NotStarted("the lesson's Lab did not start")
    return float(found.split()[1])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(engine: Engine, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until a request gets an answer of HTTP, whatever it says."""
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            if connection.recv(16).startswith(b"HTTP/1."):
                return
        time.sleep(0.01)
    output = log.read_text(encoding="utf-8", errors="replace").strip()[-2000:]
    raise NotStarted(f"{engine.name} did not start:\n{output}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, also those that it leaves behind."""
    children: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        children = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.kill()
