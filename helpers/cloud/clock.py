"""The account's clock: real time, plus what was skipped.

A learner who waits for a visibility timeout of 30 seconds learns nothing from the waiting. `Clock.skip`
moves everything that the account measures with its own clock: visibility, delay and retention of messages, and
the waits and time-outs of workflows.
What runs in real processes, such as a function's time-out, stays in real time.
"""

from __future__ import annotations

import datetime
import math
import threading
import time
from collections.abc import Callable

_LAST = datetime.datetime(9000, 1, 1, tzinfo=datetime.UTC).timestamp()


class Clock:
    """Seconds since the epoch as `time.time`, shifted by what was skipped."""

    def __init__(self) -> None:
        self._skipped = 0.0
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    @property
    def skipped(self) -> float:
        """Seconds skipped so far."""
        return self._skipped

    def now(self) -> float:
        """The account's time in seconds since the epoch."""
        return time.time() + self._skipped

    def skip(self, seconds: float) -> None:
        """Let `seconds` pass at once.

        Raises ValueError for what is no number of seconds, for a negative one (time does not run back), and beyond
        the year 9000: dates of answers must still be dates.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
            raise ValueError(f"cannot skip {seconds!r}: a number of seconds")
        if seconds < 0:
            raise ValueError(f"cannot skip {seconds} seconds: time does not run back")
        with self._lock:
            if self.now() + seconds > _LAST:
                raise ValueError(f"cannot skip {seconds} seconds: the account's time ends in the year 9000")
            self._skipped += seconds
        for tell in list(self._listeners):
            tell()

    def on_skip(self, tell: Callable[[], None]) -> None:
        """Call `tell` after each skip."""
        self._listeners.append(tell)
