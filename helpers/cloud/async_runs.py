"""Asynchronous invocation: the caller has its 202, the function runs later, and again when it fails.

Source: AWS Lambda Developer Guide, "Asynchronous invocation" and "How Lambda handles errors and retries with
asynchronous invocation": on a function error two more attempts, after one and after two further minutes (of the
account's clock, so that `skip` brings them forward); while the function is throttled, attempts after waits that double
from one second to five minutes. An event that has become too old is not tried again.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from .clock import Clock
from .lambda_runtime import Closed, FunctionMissing, RunResult, Throttled, UnsupportedRuntime
from .work import Busy

Condition = Literal["Success", "RetriesExhausted", "EventAgeExceeded"]

PAUSES = (60.0, 120.0)
"""Seconds before the second and the third attempt."""

LARGEST_AGE = 21_600.0
"""Seconds for which an event is kept when the function's settings say nothing else (MaximumEventAgeInSeconds)."""

_LONGEST_THROTTLE = 300.0
_THREADS = 8


@dataclass(frozen=True)
class AsyncEvent:
    """One event that waits for its run.

    `since` is when it was accepted and `age` how long it is kept, in seconds; `attempt` counts the runs that it has
    had, `throttled` the attempts since the last of them that found no room, and `last` is that run's result.
    """

    function: str
    payload: bytes
    request_id: str
    since: float
    retries: int = len(PAUSES)
    age: float = LARGEST_AGE
    attempt: int = 0
    throttled: int = 0
    last: RunResult | None = None
    client_context: str = ""


class AsyncRuns:
    """Events that wait for their run, and the threads that run them (started when first needed).

    `run` runs one event; `over` gets an event after its last attempt and how it ended: Success, RetriesExhausted or
    EventAgeExceeded.
    """

    def __init__(
        self,
        clock: Clock,
        run: Callable[[AsyncEvent], RunResult],
        over: Callable[[AsyncEvent, Condition], None],
        notify: Callable[[], None],
    ) -> None:
        self._clock, self._run, self._over, self._notify = clock, run, over, notify
        self._changed = threading.Condition()
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, AsyncEvent]] = []
        self._running: dict[str, int] = {}
        self._threads = 0
        self._idle = 0
        self._closed = False
        clock.on_skip(self._wake)

    def add(self, event: AsyncEvent, after: float = 0.0) -> None:
        """Let `event` run `after` seconds of the account's clock from now."""
        with self._changed:
            heapq.heappush(self._waiting, (self._clock.now() + after, next(self._order), event))
            if not self._idle and self._threads < _THREADS:
                self._threads += 1
                threading.Thread(target=self._work, name="once-async", daemon=True).start()
            self._changed.notify()

    def busy(self) -> list[Busy]:
        """The functions with events that run or could run now. A retry that waits for its time is at rest."""
        with self._changed:
            counts = dict(self._running)
            now = self._clock.now()
            for due, _, event in self._waiting:
                if due <= now:
                    counts[event.function] = counts.get(event.function, 0) + 1
        return [Busy("run", name, count) for name, count in counts.items() if count]

    def waiting(self) -> int:
        """How many events wait, for a thread or for their time."""
        with self._changed:
            return len(self._waiting)

    def close(self) -> None:
        """Run nothing more."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                event = self._next()
                if event is None:
                    return
                self._running[event.function] = self._running.get(event.function, 0) + 1
            try:
                self._handle(event)
            except Closed:
                return
            finally:
                with self._changed:
                    self._running[event.function] -= 1
                self._notify()

    def _next(self) -> AsyncEvent | None:
        self._idle += 1
        try:
            while not self._closed:
                now = self._clock.now()
                if self._waiting and self._waiting[0][0] <= now:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(min(self._waiting[0][0] - now, 60) if self._waiting else None)
            return None
        finally:
            self._idle -= 1

    def _handle(self, event: AsyncEvent) -> None:
        if self._clock.now() - event.since > event.age:
            self._over(event, "EventAgeExceeded")
            return
        try:
            result = self._run(event)
        except Throttled:
            wait = min(2.0**event.throttled, _LONGEST_THROTTLE)
            self.add(replace(event, throttled=event.throttled + 1), wait)
            return
        except (FunctionMissing, UnsupportedRuntime):
            return  # deleted meanwhile: nobody is left to tell
        event = replace(event, attempt=event.attempt + 1, throttled=0, last=result)
        if result.function_error is None:
            self._over(event, "Success")
        elif event.attempt <= event.retries:
            self.add(event, PAUSES[min(event.attempt, len(PAUSES)) - 1])
        else:
            self._over(event, "RetriesExhausted")
