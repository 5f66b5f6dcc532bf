from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from helpers.cloud.kept_threads import KeptThreads


def thread_of(threads: KeptThreads, until: threading.Event | None = None) -> Future[Any]:
    """Which thread does a piece of work."""
    done: Future[Any] = Future()

    def work() -> None:
        if until is not None:
            until.wait(10)
        done.set_result(threading.current_thread())

    threads.start(work)
    return done


def wait_until_idle(threads: KeptThreads, count: int) -> None:
    for _ in range(1000):
        if len(threads._idle) == count:
            return
        threading.Event().wait(0.01)
    pytest.fail(f"{len(threads._idle)} threads are idle, not {count}")


def test_a_thread_does_the_next_work_and_two_pieces_at_once_have_two_threads() -> None:
    threads = KeptThreads("kept")
    first = thread_of(threads).result(10)
    wait_until_idle(threads, 1)
    go = threading.Event()
    second, third = thread_of(threads, go), thread_of(threads, go)
    go.set()
    assert second.result(10) is first
    assert third.result(10) is not first
    threads.close()


def test_only_a_few_idle_threads_are_kept_and_none_after_close() -> None:
    threads = KeptThreads("kept", kept=2)
    go = threading.Event()
    works = [thread_of(threads, go) for _ in range(5)]
    go.set()
    alive = {work.result(10) for work in works}
    wait_until_idle(threads, 2)
    threads.close()
    for thread in alive:
        thread.join(10)
    assert not any(thread.is_alive() for thread in alive)
