"""Threads, events and clocks for moto's Step Functions interpreter: what waits, waits by the account's clock.

The interpreter starts a thread for each attempt of a task and each branch, and waits in `time.sleep` and
`threading.Event`. Its modules get the objects of this module instead. A thread belongs to the execution whose
thread started it, so it is known for whom a call is made; a pause ends when the account's clock says so, when the
execution has ended or when the account closes; and an execution knows whether anything of it can move.
"""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from .clock import Clock

_MARGIN = 0.001
"""Seconds. The interpreter compares rounded differences of times: a pause must not end a rounding error early."""


class Ended(BaseException):
    """The execution of this thread is over, or the account closed: the thread ends here without a word."""


class Activity(Protocol):
    """An execution as its threads see it: `working` of them can move, the others wait."""

    working: int
    over: bool


class _Pause:
    """One thread that waits. `due` is the account's time at which the wait ends, None when only an event ends it."""

    def __init__(self, activity: Activity, due: float | None) -> None:
        self.activity = activity
        self.due = due
        self.released = False
        self.by_event = False


class Pauses:
    """All waiting threads of one account. `resting` is told when nothing of an execution can move any more."""

    def __init__(self, clock: Clock, resting: Callable[[], None]) -> None:
        self.clock = clock
        self.condition = threading.Condition(threading.RLock())
        self.closed = False
        self._resting = resting
        self._pauses: list[_Pause] = []
        clock.on_skip(self.wake)

    def wake(self) -> None:
        """End the pauses that are over by now."""
        with self.condition:
            now = self.clock.now()
            for pause in self._pauses:
                if pause.due is not None and pause.due <= now:
                    self.release(pause)
            self.condition.notify_all()

    def end(self, activity: Activity) -> None:
        """End all pauses of an execution: it is over."""
        with self.condition:
            for pause in self._pauses:
                if pause.activity is activity:
                    self.release(pause)
            self.condition.notify_all()

    def close(self) -> None:
        """End all pauses, and let none begin."""
        with self.condition:
            self.closed = True
            for pause in self._pauses:
                self.release(pause)
            self.condition.notify_all()

    def works(self, activity: Activity) -> bool:
        """Whether anything of an execution can move now, without time that passes or a call from outside."""
        with self.condition:
            now = self.clock.now()
            return activity.working > 0 or any(
                pause.activity is activity and pause.due is not None and pause.due <= now for pause in self._pauses
            )

    def release(self, pause: _Pause) -> None:
        """Let a pause end. From now on its thread counts as one that can move, before it does. Needs the lock."""
        if not pause.released:
            pause.released = True
            pause.activity.working += 1

    def wait(self, activity: Activity, seconds: float | None, blocked: list[_Pause]) -> bool:
        """Wait `seconds` of the account's time, or until an event releases what stands in `blocked`.

        Returns whether an event did. Raises Ended when the execution is over.
        """
        with self.condition:
            if self.closed or activity.over:
                raise Ended
            due = None if seconds is None else self.clock.now() + max(seconds, 0) + _MARGIN
            pause = _Pause(activity, due)
            self._pauses.append(pause)
            blocked.append(pause)
            self.rest(activity)
            try:
                while not pause.released:
                    left = None if due is None else due - self.clock.now()
                    if left is not None and left <= 0:
                        self.release(pause)
                        break
                    self.condition.wait(None if left is None else min(left, threading.TIMEOUT_MAX))
            finally:
                self.release(pause)
                self._pauses.remove(pause)
                if pause in blocked:
                    blocked.remove(pause)
            if self.closed or activity.over:
                raise Ended
            return pause.by_event

    def rest(self, activity: Activity) -> None:
        """One thread of the execution cannot move any more. Needs the lock."""
        activity.working -= 1
        if not activity.working:
            self._resting()


class AccountEvent:
    """`threading.Event` for the threads of an execution, with time-outs by the account's clock."""

    def __init__(self, pauses: Pauses, activity: Activity) -> None:
        self._pauses = pauses
        self._activity = activity
        self._flag = False
        self._blocked: list[_Pause] = []

    def is_set(self) -> bool:
        return self._flag

    def set(self) -> None:
        with self._pauses.condition:
            self._flag = True
            self.pulse()

    def pulse(self) -> None:
        """Let those go on that wait now, and nobody who comes later."""
        with self._pauses.condition:
            for pause in self._blocked:
                pause.by_event = True
                self._pauses.release(pause)
            self._blocked.clear()
            self._pauses.condition.notify_all()

    def clear(self) -> None:
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        with self._pauses.condition:
            if self._flag:
                return True
            return self._pauses.wait(self._activity, timeout, self._blocked) or self._flag


class ExecutionThread(threading.Thread):
    """A thread of an execution. Threads that it starts belong to the execution too."""

    def __init__(self, pauses: Pauses, activity: Activity, **options: Any) -> None:
        super().__init__(**{**options, "daemon": True, "name": "once-workflow"})
        self.pauses = pauses
        self.activity = activity
        self._over = AccountEvent(pauses, activity)

    def start(self) -> None:
        with self.pauses.condition:
            self.activity.working += 1
        try:
            super().start()
        except BaseException:
            with self.pauses.condition:
                self.pauses.rest(self.activity)
            raise

    def run(self) -> None:
        try:
            super().run()
        except Ended:
            pass
        finally:
            with self.pauses.condition:
                # Who waits for this thread can move before this thread no longer counts.
                self._over.set()
                self.pauses.rest(self.activity)

    def is_alive(self) -> bool:
        return super().is_alive() and not self._over.is_set()

    def join(self, timeout: float | None = None) -> None:
        if isinstance(threading.current_thread(), ExecutionThread):
            self._over.wait(timeout)
        else:
            super().join(timeout)


def current() -> ExecutionThread | None:
    """The thread that runs, when it belongs to an execution."""
    thread = threading.current_thread()
    return thread if isinstance(thread, ExecutionThread) else None


def event() -> Any:
    """An event for the execution that runs here, a plain one elsewhere."""
    thread = current()
    return AccountEvent(thread.pauses, thread.activity) if thread else threading.Event()


def thread(*arguments: Any, **options: Any) -> threading.Thread:
    """A thread for the execution that runs here, a plain one elsewhere."""
    parent = current()
    if parent is None:
        return threading.Thread(*arguments, **options)
    return ExecutionThread(parent.pauses, parent.activity, **options)


class ThreadingOfTheAccount:
    """Stands in the interpreter's modules where they import `threading`."""

    Thread = staticmethod(thread)
    Event = staticmethod(event)

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)


class TimeOfTheAccount:
    """Stands in the interpreter's modules where they import `time`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def time(self) -> float:
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        """Pause, by the account's clock; the end of the execution ends the pause and the thread."""
        if current() is None:
            time.sleep(seconds)
        else:
            event().wait(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class DatesOfTheAccount:
    """Stands in the interpreter's modules where they import `datetime`."""

    def __init__(self, clock: Clock) -> None:
        class AccountDatetime(datetime.datetime):
            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> Any:
                """Without a zone in UTC, not in the machine's zone: the interpreter compares it with UTC."""
                moment = cls.fromtimestamp(clock.now(), datetime.UTC)
                return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)

            def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
                """As Step Functions writes times in the context object: milliseconds and Z."""
                if self.tzinfo is None:
                    return super().isoformat(sep, timespec)
                return iso(self)

        self.datetime = AccountDatetime

    def __getattr__(self, name: str) -> Any:
        return getattr(datetime, name)


def iso(moment: datetime.datetime) -> str:
    """A time as Step Functions writes it, ``2026-01-31T12:00:00.000Z``."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
