"""Load test of a class: ``python -m benchmarks.hub --learners 1 5 10``. Each learner runs a whole lesson.

A real JupyterHub on this machine, with a server, a kernel and worker processes per learner; the notebook's cells go
over the kernel's websocket, through the hub's proxy. No browser takes part: it runs on the learners' own machines.
``--write`` puts the figures, and what follows from them on paper, into docs/classes.md.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from .engines import ROOT
from .figures import Spread, table
from .hub_learner import Learner, Visit, WrongCell, cells
from .hub_server import NoHub, running

PAGE = ROOT / "docs" / "classes.md"
NOTEBOOK = "notebooks/fr/02_idempotent_consumer.ipynb"
MINUTES = 45
"""The lesson's own minutes (lessons/idempotent-consumer/lesson.toml)."""

_ANSWER = 'from helpers.show import Lab\nlab = Lab("idempotent-consumer")\nlab.predict("connect").answer(2)'
_KEPT = 'from helpers.show import Lab\nlab = Lab("idempotent-consumer")\nprint(lab.predict("connect").chosen)'


@dataclass(frozen=True)
class Class:
    """The visits of a number of learners at the same time, and the hub's own memory, MB, with its proxy."""

    visits: tuple[Visit, ...]
    hub: float


@dataclass(frozen=True)
class Node:
    """A machine of the cluster: what it has, and what it must leave to the system (kubelet, network, hub's pods)."""

    cores: float = 4
    memory: float = 16_000
    kept_cores: float = 0.5
    kept_memory: float = 3_000
    pods: int = 110 - 15  # Kubernetes' limit for a node, less the system's own


@dataclass(frozen=True)
class Need:
    """What one learner asks of a node: MB and cores, with room for what was not measured."""

    memory: float
    cores: float

    @classmethod
    def of(cls, visits: Sequence[Visit], minutes: float = MINUTES) -> Need:
        """A fifth more memory than the largest that was seen; four times the processor time that a lesson takes on
        average, because a class runs the same cell at the same moment."""
        memory = math.ceil(max(visit.memory for visit in visits) * 1.2 / 50) * 50
        return cls(memory, 4 * statistics.median(visit.processor for visit in visits) / (60 * minutes))

    def per_node(self, node: Node) -> int:
        """How many learners fit on a node."""
        return int(
            min((node.memory - node.kept_memory) / self.memory, (node.cores - node.kept_cores) / self.cores, node.pods)
        )


def measure(learners: int, notebook: str, environment: Path | None, proxy: Path | None, pause: float = 0.0) -> Class:
    """Run one class. Raises NoHub, WrongCell."""
    code = cells(ROOT / notebook)
    with running(environment, proxy) as hub:
        everybody = [Learner(hub, f"learner{number}", notebook) for number in range(1, learners + 1)]
        with ThreadPoolExecutor(learners) as pool:
            visits = tuple(pool.map(lambda learner: learner.visit(code, pause), everybody))
        own = psutil.Process(hub.pid)
        proxies = [one for one in own.children(recursive=True) if "configurable-http-proxy" in " ".join(one.cmdline())]
        memory = sum(one.memory_full_info().pss for one in [own, *proxies]) / 1e6
        _answers_survive(everybody[0])
    return Class(visits, memory)


def _answers_survive(learner: Learner) -> None:
    """The idle culler stops servers: what a learner chose must be there when the next server starts."""
    learner.run([("answer", _ANSWER, False)])
    learner.hub.stop_server(learner.name)
    learner.hub.start_server(learner.name)
    (kept,) = learner.run([("kept", _KEPT, False)])
    if kept.strip() != "2":
        raise WrongCell(f"{learner.name}: the answer was lost when the server was stopped: {kept}")


def report(classes: dict[int, Class], node: Node = Node()) -> str:
    """The two tables of docs/classes.md."""
    head = ["learners at once", *map(str, classes)]

    def row(name: str, values: Sequence[Spread], digits: int = 0) -> list[str]:
        return [name, *(value.text(digits) for value in values)]

    def spreads(name: str) -> list[Spread]:
        return [Spread.of(getattr(visit, name) for visit in one.visits) for one in classes.values()]

    measured = table(head, [
        row("server ready after, s", spreads("start"), 1),
        row("whole lesson without pauses, s", spreads("lesson"), 1),
        row("processor seconds of the lesson", spreads("processor"), 1),
        row("memory, MB (shared pages divided)", spreads("memory")),
        row("memory, MB (shared pages counted each time)", spreads("resident")),
        ["hub and proxy together, MB", *(f"{one.hub:.0f}" for one in classes.values())],
    ])  # fmt: skip
    # One learner alone: with several on one machine, each has a part of the pages that they share.
    need = Need.of(classes[min(classes)].visits)
    fit = need.per_node(node)
    plans = table(
        ["learners", "memory asked for, GB", "processors asked for", f"nodes ({fit} learners each)", "volumes, GB"],
        [
            [
                f"{learners:,}",
                f"{learners * need.memory / 1000:,.0f}",
                f"{learners * need.cores:,.1f}",
                f"{math.ceil(learners / fit):,}",
                f"{learners:,}",
            ]
            for learners in (30, 300, 3000)
        ],
    )
    return (
        f"{measured}\nSo a learner gets {need.memory:.0f} MB and {need.cores:.2f} processors for sure. A node with "
        f"{node.cores:.0f} processors and {node.memory / 1000:.0f} GB, of which {node.kept_cores:g} and "
        f"{node.kept_memory / 1000:.0f} GB stay with the system, holds {fit} of them:\n\n{plans}"
    )


def written(page: str, text: str) -> str:
    """The page with `text` between its two marks. Raises ValueError when they are missing."""
    marks = "<!-- measured -->", "<!-- end -->"
    found = re.compile(re.escape(marks[0]) + ".*" + re.escape(marks[1]), re.DOTALL)
    if not found.search(page):
        raise ValueError(f"The page has no place for the figures: {marks[0]} … {marks[1]}")
    return found.sub(lambda _: f"{marks[0]}\n\n{text}\n{marks[1]}", page)


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code: 1 when something could not be measured."""
    options = _parser().parse_args(arguments)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    classes = {}
    try:
        for learners in options.learners:
            classes[learners] = measure(learners, options.notebook, options.environment, options.proxy, options.pause)
            print(f"{learners} learners: done", file=sys.stderr)
    except (NoHub, WrongCell) as problem:
        print(f"benchmarks.hub: {problem}", file=sys.stderr)
        return 1
    machine = (
        f"Measured with {os.cpu_count()} processors and {psutil.virtual_memory().total / 1e9:.0f} GB; before the run, "
        f"{load:.1f} programs wanted a processor. Medians, with the smallest and the largest in brackets."
    )
    text = f"{machine}\n\n{report(classes)}"
    print(text)
    if options.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8", newline="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="python -m benchmarks.hub", description=__doc__)
    result.add_argument("--learners", type=int, nargs="+", default=[1, 5, 10], help="classes, one after the other")
    result.add_argument("--notebook", default=NOTEBOOK, help="what each learner runs")
    result.add_argument("--pause", type=float, default=0.0, help="seconds that a learner thinks after each cell")
    result.add_argument("--environment", type=Path, help="an environment that has JupyterHub and the course's packages")
    result.add_argument("--proxy", type=Path, help="the program configurable-http-proxy")
    result.add_argument("--write", action="store_true", help=f"put the figures into {PAGE.relative_to(ROOT)}")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
