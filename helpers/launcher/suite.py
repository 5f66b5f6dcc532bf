"""The test run of ``make test``: every step runs, also after one has failed, and the end lists them all."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers.launcher.environment import Environment
from helpers.launcher.terminal import Trouble, say

# Two cores. Lessons and tests wait for a while, for a process, a page, a visibility timeout. Three at once keep both
# cores busy; with four, tests that wait for a process or a page began to meet their limits.
_AT_ONCE = ("--dist", "loadfile", "--no-loadscope-reorder", "-q", "-n")


@dataclass(frozen=True, slots=True)
class Step:
    """One program of the test run."""

    name: str
    title: str
    arguments: tuple[str, ...]


STEPS = (
    Step("lint", "ruff", ("-m", "ruff", "check", ".")),
    Step("lint", "ruff, format", ("-m", "ruff", "format", "--check", ".")),
    # From nothing it takes some 12 s; what .mypy_cache knows it does not read again.
    Step("types", "types of helpers/, strictly", ("-m", "mypy")),
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
    for step in steps:
        if only and step.name not in only:
            continue
        say(f"{step.title}: python {' '.join(step.arguments)}")
        started = time.monotonic()
        code = _run(environment.python, step, environment)
        results.append((step, code == 0, time.monotonic() - started))
    print()
    for step, passed, seconds in results:
        say(f"{'passed' if passed else 'FAILED'}  {seconds:6.1f} s  {step.title}")
    failed = sum(not passed for _, passed, _ in results)
    say(f"all {len(results)} steps passed." if not failed else f"{failed} of {len(results)} steps failed.")
    return 1 if failed else 0


def _run(python: Path, step: Step, environment: Environment) -> int:
    return subprocess.run(
        [python, *step.arguments], cwd=environment.root, env=environment.variables(), check=False
    ).returncode
