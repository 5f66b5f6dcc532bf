"""A worker that is slower than the visibility timeout, without anybody waiting for it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.lab.lesson_world import LessonWorld

_GRACE = 1.0
"""Seconds of real time that a held run waits for `settle` to move the clock, before the fault does it itself."""


class SlowWorker:
    """One held write (`helpers.cloud.Faults.slow`), and the clock that passes the visibility timeout for it.

    The write goes on when the second run of the message has ended, so the outcome is the same each time: the second
    run writes first. `Lab.settle` calls `advance`; without it, a thread of its own does after a short time.
    """

    def __init__(self, cloud: Cloud, lesson: LessonWorld, actions: tuple[str, ...]) -> None:
        self._cloud = cloud
        self._lesson = lesson
        self.fault = cloud.faults.slow(lesson.function, action=actions)
        self._skipped = False
        self._over = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="slow-worker", daemon=True).start()

    def stop(self) -> None:
        """Disarm it; a held write goes on."""
        self._over.set()
        self._cloud.faults.cancel(self.fault)

    def advance(self) -> None:
        """Let the visibility timeout end as soon as nothing else moves."""
        with self._lock:
            if self._skipped or self._over.is_set() or not self.fault.fired:
                return
            if self._only_held_is_busy():
                self._skipped = True
                self._over.set()
                self._cloud.skip(self._visibility_timeout())

    def _only_held_is_busy(self) -> bool:
        busy = self._cloud.busy()
        runs = sum(one.count for one in busy if one.kind == "run")
        return runs <= 1 and any(one.kind == "held" for one in busy) and not any(one.kind == "queue" for one in busy)

    def _visibility_timeout(self) -> int:
        attributes = self._lesson.services.queue_attributes(self._lesson.queue) or {}
        return int(attributes.get("VisibilityTimeout", 0)) + 1

    def _watch(self) -> None:
        held_since: float | None = None
        changed = self._cloud.boundary.changed
        while not self._over.is_set():
            seen = changed.count
            if held_since is None and self.fault.fired:
                held_since = time.monotonic()
            if held_since is not None and time.monotonic() - held_since >= _GRACE:
                self.advance()
            changed.wait(seen, 0.25 if held_since is not None else 1.0)
