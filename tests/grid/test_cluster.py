"""The same runs on a Dask cluster of two processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.course.syllabus import HERE
from helpers.grid.cluster import NoCluster, on_dask
from helpers.grid.one import course_digest
from helpers.grid.results import read_rows
from helpers.grid.runner import Store, run_all
from tests.grid.small_runs import job, plan


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, protocol="tcp://", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def test_the_workers_of_a_cluster_do_the_runs_and_a_bad_one_stops_none(address: str, tmp_path: Path) -> None:
    store, runs = Store(tmp_path), plan(1, 2)
    bad = "if number == 2:\n    raise ValueError('two is bad')"
    digest = course_digest(HERE.root)
    assert run_all(runs, lambda run: job(run, bad, digest), store, on_dask(address), lambda *_told: None) == 1
    one, two = read_rows(runs, store, wanted=None)
    assert (one.accepted, two.error) == (1, "ValueError: two is bad")


def test_a_scheduler_that_does_not_answer_is_named_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("helpers.grid.cluster.CONNECT", 0.2)
    with pytest.raises(NoCluster, match=r"tcp://127\.0\.0\.1:1.*dask scheduler"):
        on_dask("tcp://127.0.0.1:1")


def test_without_dask_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the Python of the environment, as it is typed in the folder of the course."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    python = Path(".venv/Scripts/python.exe" if sys.platform == "win32" else ".venv/bin/python")
    for executable, typed in ((HERE.root / python, python), (Path("/opt/python"), Path("/opt/python"))):
        monkeypatch.setattr(sys, "executable", str(executable))
        with pytest.raises(NoCluster) as missing:
            on_dask("tcp://127.0.0.1:1")
        assert f"`{typed} -m pip install " in missing.value.next_step
