"""The faults that are armed: which of them hits, how often each did, and how one is taken away.

A fault fires `times` times, or at a `rate`. With a rate, a call is hit or not by a number that is computed from the
seed, the fault, what the call is about and how often the fault has seen that before. Threads and clocks have no say,
so a run with the same seed meets the same faults, also when its workers finish in another order.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from . import fault_answers, fault_targets
from .boundary import Changed
from .exchange import Exchange
from .fault_targets import Occasion, Target, When
from .journal import Caller, Event, FaultFired, Journal, RunEnded
from .responses import Response

Effect = Callable[[Exchange, "Fault"], Response | None]

LONGEST_HOLD = 30.0
"""Seconds. A held call goes on after this time even when the call it waits for never came."""

_KEPT = 200
"""How many faults that can fire no more are remembered."""


class OtherLimits(TypedDict, total=False):
    """`Limits` for a fault that has its function anyway."""

    times: int
    rate: float
    role: str | None
    caller: str | None
    resource: str | None


class Limits(OtherLimits, total=False):
    """Which calls a fault hits, and how often.

    `times` is a number of calls (default 1); `rate` (above 0, up to 1) a share of them instead, without an end.
    `function` is a function's name: only its calls are hit; `role` the same for a role's name or ARN; `caller` a kind
    of caller: learner, function, workflow or service. `resource` is the name of the table, queue, bucket or function
    that the call is about. ValueError when there is no such thing.
    """

    function: str | None


@dataclass(eq=False)
class Fault:
    """An armed fault. `description` is in the words of the API.

    `remaining` says how often it can still fire, None for a fault with a `rate`: it fires until it is cancelled.
    `fired` counts, `last` is the caller that was hit last.
    """

    id: int
    description: str
    target: Target
    when: When
    remaining: int | None
    effect: Effect
    rate: float | None = None
    fired: int = 0
    last: Caller | None = None
    only_accepted: bool = False
    stop: Callable[[], None] = lambda: None
    released: threading.Event = field(default_factory=threading.Event)
    _seen: dict[bytes, int] = field(default_factory=dict)

    def let_go(self) -> None:
        """End what the fault watches and whom it holds."""
        self.stop()
        self.released.set()

    def draws(self, seed: int, occasion: Occasion) -> bool:
        """Whether a fault with a rate hits. Counts how often it was asked about the same subject."""
        if self.rate is None:
            return True
        what = f"{self.description}|{occasion.name}|{occasion.subject}".encode()
        short = hashlib.blake2b(what, digest_size=8).digest()
        attempt = self._seen[short] = self._seen.get(short, 0) + 1
        drawn = hashlib.blake2b(what + f"|{attempt}|{seed}".encode(), digest_size=8).digest()
        return int.from_bytes(drawn, "big") < self.rate * 2**64


class ArmedFaults:
    """The list of an account's faults, in the order in which they were armed: the first that fits fires."""

    def __init__(self, journal: Journal, changed: Changed, seed: int) -> None:
        self._journal = journal
        self._changed = changed
        self._seed = seed
        self._ids = itertools.count(1)
        self._armed: list[Fault] = []
        self._spent: deque[Fault] = deque(maxlen=_KEPT)
        self._held: dict[int, Fault] = {}
        self._waiting: list[Fault] = []
        self._lock = threading.Lock()

    def seed(self, number: int) -> None:
        """Choose the seed of the faults with a rate, and let them begin again as if they had seen no call."""
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"number is {number!r}: a seed is a whole number")
        with self._lock:
            self._seed = number
            for fault in self._armed:
                fault._seen.clear()

    # --- what is armed -----------------------------------------------------------------------------------------

    def armed(self) -> list[Fault]:
        """The faults that can still fire."""
        with self._lock:
            return list(self._armed)

    def history(self) -> list[Fault]:
        """All faults of this account, in the order in which they were armed: those that can fire no more (the last
        200 of them) and those that can. `Fault.fired` says how often each did."""
        with self._lock:
            return sorted([*self._spent, *self._armed], key=lambda fault: fault.id)

    def held(self) -> int:
        """How many calls are held now."""
        with self._lock:
            return len(self._held)

    def wait_until_held(self, fault: Fault, timeout: float = 10) -> bool:
        """Wait until a call is held by `fault`. Returns False after `timeout` seconds without one."""
        end = time.monotonic() + timeout
        while True:
            seen = self._changed.count
            with self._lock:
                if fault.id in self._held:
                    return True
            left = end - time.monotonic()
            if left <= 0 or not self._changed.wait(seen, left):
                return fault.id in self._held

    def release(self, fault: Fault) -> None:
        """Let the call that `fault` holds go on."""
        fault.released.set()
        self._changed.notify()

    def cancel(self, fault: Fault) -> None:
        """Disarm one fault; what it holds or delays goes on."""
        with self._lock:
            if fault in self._armed:
                self._retire(fault)
        fault.let_go()
        self._changed.notify()

    def clear(self) -> int:
        """Disarm all faults; what is held or delayed goes on. Returns how many were armed."""
        with self._lock:
            armed = list(self._armed)
            for fault in armed:
                self._retire(fault)
            # A spent fault may have taken its call a moment ago, and not wait yet.
            at_work = [*self._waiting, *self._spent]
        for fault in (*armed, *at_work):
            fault.let_go()
        self._changed.notify()
        return len(armed)

    # --- for the methods that arm and the places where faults act ------------------------------------------------

    def _arm(
        self,
        description: str,
        target: Target,
        when: When,
        effect: Effect,
        times: int | None = None,
        rate: float | None = None,
        **more: Any,
    ) -> Fault:
        """Arm a fault. Raises ValueError for a number of times or a rate that none can be."""
        if times is not None and rate is not None:
            raise ValueError(f"times is {times!r} and rate is {rate!r}: give one of the two")
        if rate is not None and not (_is_number(rate) and 0 < rate <= 1):
            raise ValueError(f"rate is {rate!r}: a share of the calls is above 0 and at most 1")
        times = 1 if times is None and rate is None else times
        if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
            raise ValueError(f"times is {times!r}: a fault fires a whole number of times, at least once")
        if rate is not None:
            description += f" at a rate of {rate:g}"
        with self._lock:
            fault = Fault(next(self._ids), description, target, when, times, effect, rate, **more)
            self._armed.append(fault)
        return fault

    def _watches(self, service: str, action: str, when: When) -> bool:
        """Whether it is worth while to look closer at a call. Most calls meet no fault and must not pay for one."""
        return any(
            fault.when == when
            and fault.target.service == service
            and (action in fault.target.actions or fault_targets.ANY in fault.target.actions)
            for fault in tuple(self._armed)
        )

    def _take(self, occasion: Occasion, when: When, refused: bool = False) -> Fault | None:
        """The fault that hits, counted down and written into the journal; None when there is none."""
        with self._lock:
            for fault in self._armed:
                if fault.when != when or (fault.only_accepted and refused) or not fault.target.fits(occasion):
                    continue
                if not fault.draws(self._seed, occasion):
                    continue
                fault.fired += 1
                fault.last = occasion.caller
                if fault.remaining is not None:
                    fault.remaining -= 1
                    if not fault.remaining:
                        self._retire(fault)
                break
            else:
                return None
        self._journal.record(
            FaultFired,
            fault=fault.description,
            call=occasion.name,
            caller=occasion.caller,
            subject=occasion.subject,
        )
        return fault

    def _holding(
        self,
        name: str,
        service: str,
        action: str | tuple[str, ...],
        whose: dict[str, Any],
        watch: Callable[[Event], None] | None,
        enough: Callable[[Caller], bool],
    ) -> Fault:
        """Arm a hold that ends when `enough` says so of the caller who is held. `watch` sees all events until then."""

        def effect(exchange: Exchange, fault: Fault) -> Response | None:
            with self._lock:
                self._held[fault.id] = fault
            self._changed.notify()
            try:
                return self._wait(exchange, fault, LONGEST_HOLD, lambda: enough(exchange.caller))
            finally:
                fault.stop()
                with self._lock:
                    self._held.pop(fault.id, None)
                self._changed.notify()

        aim = fault_targets.target(service, action, **whose)
        stop = self._journal.subscribe(watch) if watch else _nothing
        return self._arm(name, aim, "before", effect, stop=stop)

    def _wait(
        self, exchange: Exchange, fault: Fault, seconds: float, enough: Callable[[], bool] = lambda: False
    ) -> Response | None:
        """Let a call wait for `seconds`, until `enough` or until the fault lets it go.

        The answer of a call whose process has been ended meanwhile says that it never came.
        """
        dead = threading.Event()

        def watch(event: Event) -> None:
            if not isinstance(event, RunEnded) or event.request_id != exchange.caller.request_id:
                return
            if event.outcome in {"timeout", "crash"}:
                dead.set()
                self._changed.notify()

        stop = self._journal.subscribe(watch) if exchange.caller.request_id else _nothing
        end = time.monotonic() + seconds
        with self._lock:
            self._waiting.append(fault)
        try:
            while True:
                seen = self._changed.count
                if dead.is_set():
                    return fault_answers.never_came(exchange)
                left = end - time.monotonic()
                if fault.released.is_set() or enough() or left <= 0:
                    return None
                self._changed.wait(seen, left)
        finally:
            stop()
            with self._lock:
                self._waiting.remove(fault)

    def _retire(self, fault: Fault) -> None:
        self._armed.remove(fault)
        fault._seen.clear()
        self._spent.append(fault)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _nothing() -> None:
    """What there is to stop for a hold that watches nothing."""
