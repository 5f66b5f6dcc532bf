"""Faults at the API boundary: a chosen call fails, waits, loses its answer or takes its process down.

Each method arms one fault and returns it; the fault counts down each time it fires and is gone at zero.
Where a fault acts is always an API call, so the handler under test stays byte for byte the deployed one.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from .boundary import Boundary
from .exchange import Exchange
from .journal import Call, Caller, Event, FaultFired, Journal
from .responses import Response, error

Effect = Callable[[Exchange, "Fault"], Response | None]

_LONGEST_HOLD = 30.0
"""Seconds. A held call goes on after this time even when the call it waits for never came."""


@dataclass
class Fault:
    """An armed fault. `description` is in the words of the API, `remaining` says how often it can still fire."""

    id: int
    description: str
    service: str
    actions: tuple[str, ...]
    function: str | None
    when: Literal["before", "after"]
    remaining: int
    effect: Effect
    fired: int = 0
    only_accepted: bool = False
    released: threading.Event = field(default_factory=threading.Event)
    stop: Callable[[], None] = lambda: None

    def let_go(self) -> None:
        """End what the fault watches and whom it holds."""
        self.stop()
        self.released.set()

    def fits(self, exchange: Exchange, when: str, response: Response | None = None) -> bool:
        """Whether this call is one that the fault waits for."""
        if self.only_accepted and response is not None and response.status >= 400:
            return False
        return (
            self.when == when
            and self.service == exchange.service
            and exchange.action in self.actions
            and (
                self.function is None or (exchange.caller.kind == "function" and exchange.caller.name == self.function)
            )
        )


class Faults:
    """The faults of one account. `kill` ends the worker process of a run, given its request id."""

    def __init__(self, boundary: Boundary, journal: Journal, kill: Callable[[str], None]) -> None:
        self._journal = journal
        self._kill = kill
        self._ids = itertools.count(1)
        self._armed: list[Fault] = []
        self._held: dict[int, Fault] = {}
        self._delaying: list[Fault] = []
        self._lock = threading.Lock()
        self._changed = boundary.changed
        boundary.gates.append(self._before)
        boundary.after_answer.append(self._after)

    # --- what can go wrong -------------------------------------------------------------------------------------

    def crash(
        self,
        function: str,
        service: str = "dynamodb",
        action: str | tuple[str, ...] = "PutItem",
        when: Literal["before", "after"] = "after",
        times: int = 1,
        accepted: bool = False,
    ) -> Fault:
        """Kill the worker process of `function` before or after this call: the call's answer never arrives.

        `action` may name several actions; the first call to any of them counts.

        With `accepted` a crash after the call passes over calls that were refused (HTTP status 400 and above).
        """

        def effect(exchange: Exchange, fault: Fault) -> Response | None:
            self._kill(exchange.caller.request_id)
            exchange.notes["never came"] = when == "before"
            # The process died before the call: nothing may come of it. Nobody is left to read the answer.
            return error(exchange, "ServiceUnavailable", "The caller is gone.", 503) if when == "before" else None

        name = f"crash {when} {service}:{_or(action)}"
        return self._arm(name, service, action, function, when, times, effect, only_accepted=accepted)

    def delay(self, seconds: float, service: str, action: str, times: int = 1, function: str | None = None) -> Fault:
        """Answer the call `seconds` later, in real time."""

        def effect(exchange: Exchange, fault: Fault) -> None:
            with self._lock:
                self._delaying.append(fault)
            fault.released.wait(seconds)
            with self._lock:
                self._delaying.remove(fault)

        name = f"delay {service}:{action} by {seconds:g} s"
        return self._arm(name, service, action, function, "before", times, effect)

    def throttle(self, service: str, action: str, times: int = 1, function: str | None = None) -> Fault:
        """Refuse the call as a service that is over its rate does; the SDK retries by itself."""
        code, message = _THROTTLED.get(service, ("ThrottlingException", "Rate exceeded"))

        def effect(exchange: Exchange, fault: Fault) -> Response:
            return error(exchange, code, message, 400)

        return self._arm(f"throttle {service}:{action}", service, action, function, "before", times, effect)

    def server_error(self, service: str, action: str, times: int = 1, function: str | None = None) -> Fault:
        """Answer with HTTP status 500 and do nothing; the SDK retries by itself."""

        def effect(exchange: Exchange, fault: Fault) -> Response:
            return error(
                exchange, "InternalServerError", "The request processing has failed because of an internal error.", 500
            )

        return self._arm(f"server error on {service}:{action}", service, action, function, "before", times, effect)

    def lose_answer(self, service: str, action: str, times: int = 1, function: str | None = None) -> Fault:
        """Do the call, then hang up without an answer: the SDK sends it again and meets its own success."""

        def effect(exchange: Exchange, fault: Fault) -> None:
            hang_up = exchange.environ.get("once.hang_up")
            if hang_up:
                hang_up()

        return self._arm(f"lose the answer of {service}:{action}", service, action, function, "after", times, effect)

    def hold(
        self,
        service: str,
        action: str | tuple[str, ...],
        until: tuple[str, str] | None = None,
        function: str | None = None,
    ) -> Fault:
        """Let the call wait until another caller's call `until` has been answered (since now), or until `release`.

        So a race between real processes comes out the same each time. Without `until` only `release` (or the
        bounded time of 30 s) ends the wait. `wait_until_held` says when a call stands there. `action` may name
        several actions; the first call to any of them is held.
        """
        others: set[Caller] = set()
        standing: list[Caller] = []
        released = threading.Event()

        def watch(event: Event) -> None:
            if isinstance(event, Call) and (event.service, event.action) == until:
                others.add(event.caller)
                if standing and event.caller != standing[0]:
                    released.set()

        def effect(exchange: Exchange, fault: Fault) -> None:
            with self._lock:
                self._held[fault.id] = fault
            standing.append(exchange.caller)
            if others - {exchange.caller}:
                released.set()
            self._changed.notify()
            try:
                released.wait(_LONGEST_HOLD)
            finally:
                fault.stop()
                with self._lock:
                    self._held.pop(fault.id, None)
                self._changed.notify()

        name = f"hold {service}:{_or(action)}" + (f" until {until[0]}:{until[1]}" if until else "")
        # From now on, not from the call's arrival: the other run may be done just before this one arrives.
        stop = self._journal.subscribe(watch) if until else _nothing
        return self._arm(name, service, action, function, "before", 1, effect, released=released, stop=stop)

    def lose_acknowledgement(self, queue: str, times: int = 1) -> Fault:
        """Let the next deletions of messages of `queue` by an event source mapping do nothing.

        The message stays hidden until its visibility timeout ends and is delivered again under the same id, as a
        standard queue may do (SQS Developer Guide, "Amazon SQS at-least-once delivery").
        """
        return self._arm(
            f"lose the acknowledgement in {queue}",
            "sqs",
            f"acknowledge {queue}",
            None,
            "before",
            times,
            lambda *_: None,
        )

    def loses_acknowledgement(self, queue: str, caller: Caller) -> bool:
        """Ask before a mapping deletes a message: True counts one armed fault down, and the message stays."""
        with self._lock:
            fault = next(
                (one for one in self._armed if (one.service, one.actions) == ("sqs", (f"acknowledge {queue}",))),
                None,
            )
            if fault is None:
                return False
            fault.remaining -= 1
            fault.fired += 1
            if not fault.remaining:
                self._armed.remove(fault)
        self._journal.record(FaultFired, fault=fault.description, call="sqs:DeleteMessage", caller=caller)
        return True

    # --- what is armed -----------------------------------------------------------------------------------------

    def armed(self) -> list[Fault]:
        """The faults that can still fire."""
        with self._lock:
            return list(self._armed)

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

    def cancel(self, fault: Fault) -> None:
        """Disarm one fault; what it holds goes on."""
        with self._lock:
            self._armed = [other for other in self._armed if other is not fault]
        fault.let_go()

    def clear(self) -> int:
        """Disarm all faults; what is held or delayed goes on. Returns how many were armed."""
        with self._lock:
            armed, self._armed = self._armed, []
            holding = [*self._held.values(), *self._delaying]
        for fault in (*armed, *holding):
            fault.let_go()
        return len(armed)

    # --- at the boundary ---------------------------------------------------------------------------------------

    def _arm(
        self,
        description: str,
        service: str,
        action: str | tuple[str, ...],
        function: str | None,
        when: Literal["before", "after"],
        times: int,
        effect: Effect,
        **more: Any,
    ) -> Fault:
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise ValueError(f"times is {times!r}: a fault fires a whole number of times, at least once")
        actions = (action,) if isinstance(action, str) else action
        fault = Fault(next(self._ids), description, service, actions, function, when, times, effect, **more)
        with self._lock:
            self._armed.append(fault)
        return fault

    def _take(self, exchange: Exchange, when: str, response: Response | None = None) -> Fault | None:
        with self._lock:
            for fault in self._armed:
                if fault.fits(exchange, when, response):
                    fault.remaining -= 1
                    fault.fired += 1
                    if not fault.remaining:
                        self._armed.remove(fault)
                    return fault
        return None

    def _before(self, exchange: Exchange) -> Response | None:
        if not self._armed:
            return None
        fault = self._take(exchange, "before")
        return self._fire(fault, exchange) if fault else None

    def _after(self, exchange: Exchange, response: Response) -> None:
        if self._armed and not exchange.notes.get("never came"):
            fault = self._take(exchange, "after", response)
            if fault:
                self._fire(fault, exchange)

    def _fire(self, fault: Fault, exchange: Exchange) -> Response | None:
        self._journal.record(FaultFired, fault=fault.description, call=exchange.name, caller=exchange.caller)
        return fault.effect(exchange, fault)


def _or(action: str | tuple[str, ...]) -> str:
    return action if isinstance(action, str) else "|".join(action)


def _nothing() -> None:
    """What there is to stop for a hold that watches nothing."""


# DynamoDB Developer Guide, "Error handling"; SQS and Lambda API references, "Common errors".
_THROTTLED = {
    "dynamodb": (
        "ProvisionedThroughputExceededException",
        "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API.",
    ),
    "sqs": ("RequestThrottled", "Request is throttled."),
    "lambda": ("TooManyRequestsException", "Rate Exceeded."),
}
