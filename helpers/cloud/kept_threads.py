"""Threads that are kept for the next piece of work: starting one costs as much as half of a call.

A handler that makes a client in each run opens a connection in each run, and each connection has a thread.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Work = Callable[[], object]


class KeptThreads:
    """Runs each piece of work in a daemon thread of its own; up to `kept` idle threads wait for more."""

    def __init__(self, name: str, kept: int = 8) -> None:
        self._name = name
        self._kept = kept
        self._idle: list[queue.SimpleQueue[Work | None]] = []
        self._lock = threading.Lock()
        self._closed = False

    def start(self, work: Work) -> None:
        """Begin `work`, which must raise nothing. Raises RuntimeError when there can be no more threads."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is not None:
            idle.put(work)
            return
        threading.Thread(target=self._live, args=(work,), name=self._name, daemon=True).start()

    def close(self) -> None:
        """Let idle threads end; those at work end after it."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for each in idle:
            each.put(None)

    def _live(self, first: Work) -> None:
        mine: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        work: Work | None = first
        while work is not None:
            work()
            del work  # what it holds must not wait with the thread
            with self._lock:
                if self._closed or len(self._idle) >= self._kept:
                    return
                self._idle.append(mine)
            work = mine.get()
