"""Runs side by side on this machine: a bad one stops no other, and nothing that is finished is run again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
import psutil
import pytest

from helpers.grid.one import Executed, Job, execute
from helpers.grid.plan import Run
from helpers.grid.results import read_rows, to_csv
from helpers.grid.runner import Results, Store, here, run_all
from helpers.lab.language import texts
from tests.grid.small_runs import job, plan

BAD = """
if number == 2:
    raise ValueError("two is bad")
if number == 3:
    os._exit(7)
"""


ENDED = "The process ended with the exit code {code}. Last line of its output: {line}"
OTHER_COURSE = "The machine of this run has another version of the course."


def test_what_a_machine_says_of_a_job_is_in_the_language_of_the_job() -> None:
    """Not in that of the machine, which may do jobs of several."""
    assert texts("ru").gettext(ENDED) != ENDED
    assert texts("ru").gettext(OTHER_COURSE) != OTHER_COURSE


def made(work: str) -> Callable[[Run], Job]:
    return lambda run: job(run, work)


def test_a_bad_run_and_a_dead_kernel_are_listed_and_kept_and_the_others_go_on(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), plan(1, 2, 3)
    told: list[tuple[int, int]] = []
    failed: dict[str, bool] = {}

    def tell(done: int, count: int, run: Run, error: str) -> None:
        told.append((done, count))
        failed[run.named] = bool(error)

    assert run_all(runs, made(BAD), store, here(2), tell) == 2
    assert failed == {"number=1": False, "number=2": True, "number=3": True}
    assert told == [(1, 3), (2, 3), (3, 3)]
    one, two, three = read_rows(runs, store, wanted=None)
    assert (one.outcome["accepted"], one.outcome["language"], one.error, one.right) == (1, "ru", "", True)
    assert two.error == "ValueError: two is bad"
    assert "DeadKernel" in three.error
    kept = nbformat.read(tmp_path / two.file, 4)
    assert [one.ename for cell in kept.cells for one in cell.outputs if one.output_type == "error"] == ["ValueError"]
    assert "once-grid" not in str(kept.metadata), "a folder that is gone"
    table = to_csv([one, two, three]).splitlines()
    assert table[0].startswith("number,accepted,refused,")
    assert "two is bad" in table[2]

    again: list[str] = []

    def repeat(jobs: Sequence[Job]) -> Results:
        for each in jobs:
            again.append(each.key)
            yield Executed(each.key, each.notebook)

    assert run_all(runs, made(""), store, repeat, lambda *_told: None) == 0
    assert again == [runs[1].key, runs[2].key]
    assert not list((tmp_path / "failed").iterdir())


def test_ctrl_c_keeps_what_is_done_and_leaves_no_process(tmp_path: Path) -> None:
    store, runs = Store(tmp_path), plan(1, 2)

    def stop(_done: int, _count: int, run: Run, _error: str) -> None:
        raise KeyboardInterrupt

    waits = "import threading\nif number == 2:\n    threading.Event().wait()"
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(KeyboardInterrupt):
        run_all(runs, made(waits), store, here(2), stop)
    assert [child for child in psutil.Process().children(recursive=True) if child.pid not in before] == []
    assert [row.values for row in read_rows(runs, store, wanted=None)] == [{"number": 1}]
    assert not list(tmp_path.rglob("*.part"))


def test_a_process_that_dies_without_a_word_is_a_bad_run() -> None:
    (run,) = plan(1)
    killed: list[subprocess.Popen[bytes]] = []

    def kill(process: subprocess.Popen[bytes]) -> None:
        killed.append(process)
        process.kill()

    done = execute(job(run), kill)
    assert done.notebook == ""
    assert done.error == texts("ru").gettext(ENDED).format(
        code=killed[0].returncode, line=texts("ru").gettext("no output")
    )


def test_a_machine_with_another_course_runs_nothing() -> None:
    (run,) = plan(1)
    assert execute(job(run, course="0" * 64)).error == texts("ru").gettext(OTHER_COURSE)


def test_a_result_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (run,) = plan(1)
    (tmp_path / "runs").write_text("a file where a folder is wanted", encoding="utf-8")
    store = Store(tmp_path)
    with pytest.raises(OSError, match="runs"):
        store.keep(run, job(run), Executed(run.key, ""))
    assert os.listdir(tmp_path) == ["runs"]
