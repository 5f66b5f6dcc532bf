"""Spare workers: one is ready, two in a rush, and one again after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from helpers.cloud import worker_process
from helpers.cloud.deployment import CodeStore
from helpers.cloud.worker_process import Spares, WorkerProcess
from tests.cloud.deploying import archive


@pytest.fixture
def spares(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spares]:
    monkeypatch.setattr(worker_process, "_RUSH", 60.0)
    made = Spares()
    assert made._wanted() == 0
    made.expect_runs()
    yield made
    made.close()


def ready(spares: Spares) -> int:
    with spares._changed:
        return len(spares._ready)


def end_rush(spares: Spares) -> None:
    with spares._changed:
        spares._rush_until = 0.0
        spares._changed.notify()


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_two_crashes_in_a_row_find_spares_and_afterwards_one_is_kept(spares: Spares) -> None:
    wait_until(lambda: ready(spares) == 1)
    taken = [spares.take()]
    wait_until(lambda: ready(spares) == 1)
    known = list(spares._ready)
    taken[0].close()
    taken.append(spares.take())
    assert taken[1] is known[0]
    wait_until(lambda: ready(spares) == 2)
    left_over = list(spares._ready)
    end_rush(spares)
    wait_until(lambda: ready(spares) == 1)
    for process in taken:
        process.close()
    wait_until(lambda: sum(process.returncode is None for process in left_over) == 1)


def test_a_worker_that_started_without_a_spare_counts_when_it_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_RUSH", 60.0)
    spares = Spares()
    spares.take().close()
    second = spares.take()
    wait_until(lambda: ready(spares) == 2)
    second.close()
    spares.close()


def test_two_workers_that_both_live_are_no_rush_and_enough_without_a_spare(spares: Spares) -> None:
    wait_until(lambda: ready(spares) == 1)
    taken = [spares.take()]
    wait_until(lambda: ready(spares) == 1)
    taken.append(spares.take())
    assert spares._wanted() == 0
    wait_until(lambda: ready(spares) == 0)
    taken[0].close()
    spares.look()
    wait_until(lambda: ready(spares) == 1)
    taken[1].close()


def test_spares_that_are_closed_leave_no_process(spares: Spares) -> None:
    wait_until(lambda: ready(spares) == 1)
    (process,) = spares._ready
    spares.close()
    assert process.returncode is not None
    taken = spares.take()
    assert isinstance(taken, WorkerProcess)
    taken.close()


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"app.py": "def handler(event, context):\n    return 1"}, False),
        ({"app.py": "from work import handler", "work.py": "import boto3\ndef handler(event, context): ..."}, True),
        ({"app.py": "from work import handler", "work/__init__.py": "def handler(event, context): ..."}, True),
    ],
    ids=["nowhere", "in a module", "perhaps in a package"],
)
def test_spares_import_boto3_where_deployed_code_may_need_it(
    tmp_path: Path, files: dict[str, str], wanted: bool
) -> None:
    store = CodeStore()
    spares = Spares(account=str(tmp_path), early=lambda: store.wants_sdk)
    try:
        store.unpacked(archive(files), "digest")
        spares.expect_runs()
        wait_until(lambda: ready(spares) == 1)
        assert ("--early" in psutil.Process(spares._ready[0].pid).cmdline()) is wanted
    finally:
        spares.close()
        store.close()
