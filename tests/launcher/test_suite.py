"""The test run itself: no step hides another's failure, and no notebook cell escapes the comparison."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.launcher.command import run
from helpers.launcher.environment import ROOT, Environment
from helpers.launcher.suite import STEPS, Step, run_suite
from helpers.launcher.terminal import Trouble

CHECKS = runpy.run_path(str(ROOT / "conftest.py"))


class Here(Environment):
    """The environment that this test runs in."""

    @property
    def python(self) -> Path:
        return Path(sys.executable)


def ends_with(name: str, code: int) -> Step:
    return Step(name, f"ends with {code}", ("-c", f"raise SystemExit({code})"))


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([ends_with("a", 0)], 0),
        ([ends_with("a", 1), ends_with("b", 0)], 1),
        ([ends_with("a", 5)], 1),
    ],
)
def test_exit_code(steps: list[Step], code: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_suite(Here(), steps=steps) == code
    printed = capfd.readouterr().out
    assert printed.count(" s  ends with") == len(steps), "each step is in the list at the end"


@pytest.mark.parametrize("code", [0, 3])
def test_a_step_beside_another_one_runs_meanwhile_and_is_heard_after_it(
    code: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wait = (
        "import os, sys, time\nend = time.monotonic() + 30\n"
        f"while not os.path.exists({str(tmp_path / 'next')!r}) and time.monotonic() < end: time.sleep(0.01)\n"
        f"print('the first'); sys.exit({code} if time.monotonic() < end else 9)"
    )
    make = f"open({str(tmp_path / 'next')!r}, 'w').close(); print('the second')"
    steps = [Step("a", "a", ("-c", wait), beside=True), Step("b", "b", ("-c", make))]
    assert run_suite(Here(), steps=steps) == bool(code)
    printed = capfd.readouterr().out
    assert printed.index("the second\n") < printed.index("the first\n")
    assert ("FAILED" in printed) == bool(code)


def test_only_some_steps(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_suite(Here(), ["b"], [ends_with("a", 1), ends_with("b", 0)]) == 0
    with pytest.raises(Trouble, match="no test step c"):
        run_suite(Here(), ["c"], [ends_with("a", 1)])


def test_everything_is_part_of_the_run() -> None:
    assert {step.name for step in STEPS} == {"lint", "types", "course", "notebooks", "tests"}
    words = [" ".join(step.arguments) for step in STEPS]
    assert any("--nbval " in line and "--nbval-current-env" in line for line in words)
    assert any("helpers.course build --check" in line for line in words), "with the gates"
    (tests,) = [step.arguments for step in STEPS if step.name == "tests"]
    assert tests[-1] == "tests"
    assert tests.count("-m") == 1, "no mark takes a test out of the run"


def test_help_lists_the_targets_of_make(capsys: pytest.CaptureFixture[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = [line for line in makefile.splitlines() if line.startswith(".PHONY:")]
    assert run(["help"]) == 0
    printed = capsys.readouterr().out
    for target in phony.removeprefix(".PHONY:").split():
        assert f"\n    {target}" in printed
        assert f"\n{target}:" in makefile


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("target", "given", "typed"),
    [
        ("fresh", ["LESSON=a b", "LANG_=c;d"], ["--lesson", "a b", "--language", "c;d"]),
        ("lesson", ["SLUG=a; b"], ["a; b"]),
        ("experiment", ["SET=x=1;2 y=3", "DASK=tcp://a b"], ["--set", "x=1;2", "--set", "y=3", "--dask", "tcp://a b"]),
        ("lab-f;r", [], ["--language", "f;r"]),
    ],
)
def test_make_passes_on_what_was_typed_as_one_word(target: str, given: list[str], typed: list[str]) -> None:
    """A name with a space or a semicolon is a wrong name, not another command."""
    done = subprocess.run(
        ["make", "--no-print-directory", "PYTHON=printf '%s\\n'", target, *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[3:] == typed


def code(source: str, count: int | None, *tags: str) -> dict:
    return {
        "cell_type": "code",
        "id": "here",
        "source": source,
        "execution_count": count,
        "outputs": [],
        "metadata": {"tags": list(tags)} if tags else {},
    }


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        (code("1 + 1", 1), None),
        (code("", None), None),
        (code("1 + 1", None), "cell here was not executed"),
        (code("1 + 1", 1, "nbval-skip"), "cell here has the mark nbval-skip"),
        (code("1 + 1", 1, "parameters"), None),
        (code("# NBVAL_IGNORE_OUTPUT\n1 + 1", 1), "cell here has the mark nbval-ignore-output"),
    ],
)
def test_stored_cells(cell: dict, fault: str | None) -> None:
    assert CHECKS["stored_faults"]({"cells": [cell]}) == ([] if fault is None else [fault])


def test_a_run_of_nbval_fails_for_a_cell_that_was_never_executed(tmp_path: Path) -> None:
    notebook = {"cells": [code("1 + 1", None)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "x.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "--nbval", "x.ipynb"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "cell here was not executed" in done.stdout
    assert "1 failed, 1 passed" in done.stdout, "nbval itself has nothing against it"
