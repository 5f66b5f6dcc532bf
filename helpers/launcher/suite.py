"""The test run of ``make test``: every step runs, also after one has failed, and the end lists them all."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from helpers.launcher.environment import Environment
from helpers.launcher.terminal import Trouble, say

# Two cores. Lessons and tests wait for a while, for a process, a page, a visibility timeout. Three at once keep both
# cores busy; with four, tests that wait for a process or a page began to meet their limits.
_AT_ONCE = ("--dist", "loadfile", "--no-loadscope-reorder", "-q", "-n")


@dataclass(frozen=True, slots=True)
class Step:
    """One program of the test run. With `beside` it runs while the next one does, and what it prints comes after."""

    name: str
    title: str
    arguments: tuple[str, ...]
    beside: bool = False


STEPS = (
    Step("lint", "ruff", ("-m", "ruff", "check", ".")),
    Step("lint", "ruff, format", ("-m", "ruff", "format", "--check", ".")),
    # From nothing it takes some 12 s of one processor; what .mypy_cache knows it does not read again.
    Step("types", "types of helpers/, strictly", ("-m", "mypy"), beside=True),
    # The gates first. Each lesson runs in the pseudo-language, where a text that passed through no catalog is seen; the
    # next step runs all editions and compares what they show.
    Step("course", "translations; notebooks are what lessons/ gives", (
        "-m", "helpers.course", "build", "--check", "--pseudo",
    )),
    Step("notebooks", "notebooks, strictly", (
        "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", *_AT_ONCE, "3", "notebooks",
    )),
    Step("tests", "tests", ("-m", "pytest", *_AT_ONCE, "3", "tests")),
)  # fmt: skip


def run_suite(environment: Environment, only: Sequence[str] = (), steps: Sequence[Step] = STEPS) -> int:
    """Run the steps whose names are in ``only`` (default: all); return 0 when all of them passed, else 1.

    :raises Trouble: ``only`` has a name that no step has.
    """
    names = {step.name for step in steps}
    if unknown := set(only) - names:
        raise Trouble(
            f"There is no test step {', '.join(sorted(unknown))}.",
            f"Choose among: {' '.join(sorted(names))}.",
        )
    results: list[tuple[Step, bool, float]] = []
    waiting: list[_Running] = []
    for step in steps:
        if only and step.name not in only:
            continue
        say(f"{step.title}: python {' '.join(step.arguments)}")
        running = _Running(step, environment)
        if step.beside:
            waiting.append(running)
            continue
        results.append((step, *running.end()))
        results += [(other.step, *other.end()) for other in waiting]
        waiting.clear()
    results += [(other.step, *other.end()) for other in waiting]
    print()
    for step, passed, seconds in results:
        say(f"{'passed' if passed else 'FAILED'}  {seconds:6.1f} s  {step.title}")
    failed = sum(not passed for _, passed, _ in results)
    say(f"all {len(results)} steps passed." if not failed else f"{failed} of {len(results)} steps failed.")
    return 1 if failed else 0


class _Running:
    """A step that has started."""

    def __init__(self, step: Step, environment: Environment) -> None:
        self.step = step
        self._started = time.monotonic()
        self._said: IO[bytes] | None = tempfile.TemporaryFile() if step.beside else None  # noqa: SIM115
        self._process = subprocess.Popen(
            [environment.python, *step.arguments],
            cwd=environment.root,
            env=environment.variables(),
            stdout=self._said,
            stderr=subprocess.STDOUT if self._said else None,
        )

    def end(self) -> tuple[bool, float]:
        """Wait for its end; say what it printed. Returns whether it passed, and its seconds (those of a step beside
        another one: until it was waited for)."""
        code = self._process.wait()
        seconds = time.monotonic() - self._started
        if self._said is not None:
            with self._said:
                self._said.seek(0)
                say(f"{self.step.title}:\n{self._said.read().decode('utf-8', 'replace').rstrip()}")
        return code == 0, seconds
