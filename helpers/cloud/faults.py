"""What can go wrong in an account, each as a plain method that arms one fault and returns it.

A fault acts on an API call at the boundary, on a run, or on a message, so the handler under test stays byte for byte
the deployed one. It fires once, `times` times or at a `rate`, can be limited to a function, a role, a kind of caller
or a resource (`armed_faults.Limits`), and is listed by `armed` and `history`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Unpack

from . import fault_answers, fault_messages
from .armed_faults import ArmedFaults, Effect, Fault, Limits, OtherLimits
from .deployment import FunctionSpec
from .exchange import Exchange, with_parameters
from .fault_targets import SERVICES, Occasion, Target, When, digest, event_subject, names_of, one_of, queues, target
from .journal import Call, Caller, Event, MessageReceived, RunEnded
from .responses import Response, error
from .sandbox import Invocation

if TYPE_CHECKING:
    from .account import Cloud

__all__ = ["POISON", "Fault", "Faults"]

POISON = "{this is not JSON"
"""A body that no handler can read which expects JSON."""

_LONGEST_HOLD = 30.0
"""Seconds. A held call goes on after this time even when the call it waits for never came."""


class Faults(ArmedFaults):
    """The faults of one account. `seed` decides which calls the faults with a rate hit."""

    def __init__(self, account: Cloud, seed: int) -> None:
        super().__init__(account.journal, account.boundary.changed, seed)
        self._account = account
        self._kill: Callable[[str], object] = account.runtime.kill_run
        account.boundary.gates.append(self._before)
        account.boundary.after_answer.append(self._after)
        account.runtime.dies = self._kills_run

    # --- the worker --------------------------------------------------------------------------------------------

    def crash(
        self,
        function: str,
        service: str = "dynamodb",
        action: str | tuple[str, ...] = "PutItem",
        when: Literal["before", "after"] = "after",
        accepted: bool = False,
        **limits: Unpack[OtherLimits],
    ) -> Fault:
        """Kill the worker process of `function` before or after this call: the call's answer never arrives.

        `action` may name several actions; the first call to any of them counts. With `accepted` a crash after the
        call passes over calls that were refused (HTTP status 400 and above).
        """
        one_of("when", when, ("before", "after"))

        def effect(exchange: Exchange, fault: Fault) -> Response | None:
            self._kill(exchange.caller.request_id)
            return fault_answers.never_came(exchange) if when == "before" else None

        return self._on(
            f"crash {when}", service, action, when, effect, {**limits, "function": function}, only_accepted=accepted
        )

    def crash_run(self, function: str, when: Literal["start", "end"], **limits: Unpack[OtherLimits]) -> Fault:
        """Kill the worker process of `function` around a run.

        "start": before the handler gets its event, so it makes no call. "end": when the handler has returned and its
        result is on the way, so everything was done and nobody learns of it.
        """
        one_of("when", when, ("start", "end"))
        times, rate, chosen = _how_often({**limits, "function": function})
        aim = Target("lambda", ("Run",), function=target("lambda", "Invoke", **chosen).function)
        name = f"crash at the {when} of a run of {function}"
        return self._arm(name, aim, when, _nothing_more, times, rate)

    def slow(
        self,
        function: str,
        service: str = "dynamodb",
        action: str | tuple[str, ...] = "PutItem",
    ) -> Fault:
        """Hold the next such call of `function` until another run that got the same message has ended.

        So a worker is slower than the visibility timeout, and the message is handled twice at once; the second run is
        the first to finish. The visibility timeout passes in real time or with `skip`. A function's own time-out
        still ends the held run: then the call never arrives.
        """
        runs: dict[str, set[str]] = {}
        ended: list[str] = []

        def watch(event: Event) -> None:
            if isinstance(event, MessageReceived):
                runs.setdefault(event.caller.request_id, set()).add(event.message_id)
            elif isinstance(event, RunEnded):
                ended.append(event.request_id)
                self._changed.notify()

        def overtaken(caller: Caller) -> bool:
            mine = runs.get(caller.request_id, set())
            return any(mine & runs.get(other, set()) for other in tuple(ended) if other != caller.request_id)

        for event in self._journal.events(MessageReceived):
            watch(event)
        return self._holding(
            f"slow down {service}:{_or(action)} of {function}",
            service,
            action,
            {"function": function},
            watch,
            overtaken,
        )

    # --- on the way and in the service -------------------------------------------------------------------------

    def delay(
        self,
        seconds: float,
        service: str,
        action: str | tuple[str, ...],
        when: Literal["before", "after"] = "before",
        **limits: Unpack[Limits],
    ) -> Fault:
        """Let the request ("before") or its answer ("after") be `seconds` on the way, in real time.

        Longer than the function's time-out ends the run with Sandbox.Timedout: before, the call was not done; after,
        it was.
        """
        one_of("when", when, ("before", "after"))
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= 900:
            raise ValueError(f"seconds is {seconds!r}: a call is on the way for 0 to 900 seconds")

        def effect(exchange: Exchange, fault: Fault) -> Response | None:
            return self._wait(exchange, fault, seconds)

        late = "" if when == "before" else " the answer of"
        return self._on(f"delay{late}", service, action, when, effect, limits, ending=f" by {seconds:g} s")

    def throttle(self, service: str, action: str | tuple[str, ...], **limits: Unpack[Limits]) -> Fault:
        """Refuse the call as its service does when it is over its rate; the SDK retries by itself."""
        return self._answering("throttle", service, action, fault_answers.throttled, limits)

    def server_error(
        self, service: str, action: str | tuple[str, ...], status: Literal[500, 503] = 500, **limits: Unpack[Limits]
    ) -> Fault:
        """Answer with HTTP status 500 or 503 and do nothing; the SDK retries by itself."""
        if status not in (500, 503):
            raise ValueError(f"status is {status!r}: known: 500, 503")
        name = "server error on" if status == 500 else f"status {status} on"
        return self._answering(name, service, action, lambda call: fault_answers.failed(call, status), limits)

    def refuse(
        self, service: str, action: str | tuple[str, ...], code: str, message: str = "", **limits: Unpack[Limits]
    ) -> Fault:
        """Answer with an error code of your choice, for example AccessDeniedException, and do nothing.

        The SDK does not retry most codes, so the handler sees the exception at once, with the HTTP status that the
        service's model names for the code. An exception that comes out of a chosen call is also the way to let a
        handler raise: nothing reaches into its process.
        """
        if not isinstance(code, str) or not re.fullmatch(r"[A-Za-z][\w.]*", code):
            raise ValueError(
                f"code is {code!r}: an error code is letters, digits and dots, as in AccessDeniedException"
            )
        model = SERVICES.get(service, "")

        def answer(exchange: Exchange) -> Response:
            return error(exchange, code, message, fault_answers.status_of(model, code))

        return self._answering(f"{code} on", service, action, answer, limits)

    def lose_request(self, service: str, action: str | tuple[str, ...], **limits: Unpack[Limits]) -> Fault:
        """Hang up before the call is done: the SDK sees a broken connection and sends it again."""

        def effect(exchange: Exchange, fault: Fault) -> Response:
            fault_answers.hang_up(exchange)
            return fault_answers.never_came(exchange)

        return self._on("lose the request of", service, action, "before", effect, limits)

    def lose_answer(self, service: str, action: str | tuple[str, ...], **limits: Unpack[Limits]) -> Fault:
        """Do the call, then hang up without an answer: the SDK sends it again and meets its own success."""

        def effect(exchange: Exchange, fault: Fault) -> None:
            fault_answers.hang_up(exchange)

        return self._on("lose the answer of", service, action, "after", effect, limits)

    def hold(
        self,
        service: str,
        action: str | tuple[str, ...],
        until: tuple[str, str | tuple[str, ...]] | None = None,
        **limits: Unpack[Limits],
    ) -> Fault:
        """Let the call wait until another caller's call `until` has been answered (since now), or until `release`.

        So a race between real processes comes out the same each time. Without `until` only `release` (or the
        bounded time of 30 s) ends the wait. `wait_until_held` says when a call stands there. Both actions may be
        several: the first call to any of them is held, or lets it go. A call whose run has been ended meanwhile
        never came.
        Of `limits`, `times` and `rate` make no sense here: a hold holds one call.
        """
        times, rate, whose = _how_often(limits)
        if times is not None or rate is not None:
            raise ValueError("times and rate: a hold holds one call; arm one hold for each")
        others: set[Caller] = set()
        if until is not None and (not isinstance(until, tuple | list) or len(until) != 2):
            raise ValueError(f"until is {until!r}: a service and an action, as in ('dynamodb', 'PutItem')")
        awaited = None if until is None else target(*until)

        def watch(event: Event) -> None:
            if awaited and isinstance(event, Call) and awaited.means(event.service, event.action):
                others.add(event.caller)
                self._changed.notify()

        name = f"hold {service}:{_or(action)}" + (f" until {until[0]}:{_or(until[1])}" if until else "")
        # From now on, not from the call's arrival: the other run may be done just before this one arrives.
        return self._holding(
            name, service, action, whose, watch if until else None, lambda caller: bool(others - {caller})
        )

    # --- messages ----------------------------------------------------------------------------------------------

    def lose_acknowledgement(self, queue: str, times: int | None = None, rate: float | None = None) -> Fault:
        """Let the next deletions of messages of `queue` by an event source mapping do nothing.

        The message stays hidden until its visibility timeout ends and is delivered again under the same id, as a
        standard queue may do (SQS Developer Guide, "Amazon SQS at-least-once delivery").
        """
        one_of("queue", queue, queues(), "of this account")
        aim = Target("sqs", ("DeleteMessage",), caller="service", resource=queue)
        return self._arm(f"lose the acknowledgement in {queue}", aim, "before", _nothing_more, times, rate)

    def late_message(self, queue: str, seconds: int, times: int | None = None, rate: float | None = None) -> Fault:
        """Let the next messages that are sent to `queue` arrive `seconds` (0 to 900) later, by the account's clock.

        The request gets the member DelaySeconds on its way. A FIFO queue takes none for a single message and refuses
        it (SQS API Reference, "SendMessage").
        """
        one_of("queue", queue, queues(), "of this account")
        if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds <= 900:
            raise ValueError(f"seconds is {seconds!r}: a message is delayed by a whole number from 0 to 900")

        def effect(exchange: Exchange, fault: Fault) -> None:
            changed: dict[str, Any] = {"DelaySeconds": seconds}
            if exchange.action == "SendMessageBatch":
                entries = exchange.parameters.get("Entries") or []
                changed = {"Entries": [{**entry, "DelaySeconds": seconds} for entry in entries]}
            exchange.body = with_parameters(exchange, changed)
            exchange.parameters = {**exchange.parameters, **changed}

        aim = Target("sqs", ("SendMessage", "SendMessageBatch"), resource=queue)
        return self._arm(f"delay messages to {queue} by {seconds} s", aim, "before", effect, times, rate)

    def send_copy(self, queue: str, times: int = 1) -> list[str]:
        """Send the last message that was sent to `queue` again, as a producer does that got no answer.

        Each copy is a new message with the same body and attributes. Returns the ids of the copies. Raises
        ValueError when nothing was sent to the queue.
        """
        one_of("queue", queue, queues(), "of this account")
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise ValueError(f"times is {times!r}: a whole number of copies, at least 1")
        members = fault_messages.last_sent(self._journal, queue)
        if members is None:
            raise ValueError(f"queue is {queue!r}: nothing was sent to it yet")
        return [fault_messages.send(self._account, queue, members) for _ in range(times)]

    def send_poison(self, queue: str, body: str = POISON) -> str:
        """Send a message that no worker can handle, by default one that is not JSON. Returns its id.

        With a redrive policy it ends in the dead-letter queue after maxReceiveCount deliveries; without one it comes
        back until its retention ends.
        """
        one_of("queue", queue, queues(), "of this account")
        members = {"MessageBody": body}
        if queue.endswith(".fifo"):
            members |= {"MessageGroupId": "poison", "MessageDeduplicationId": digest(body)}
        return fault_messages.send(self._account, queue, members)

    # --- where faults act --------------------------------------------------------------------------------------

    def loses_acknowledgement(self, queue: str, caller: Caller, body: str = "") -> bool:
        """Ask before a mapping deletes a message: True counts one armed fault down, and the message stays."""
        if not self._armed:
            return False
        occasion = Occasion("sqs", "DeleteMessage", caller, (queue,), f"{queue} {digest(body)}")
        return self._take(occasion, "before") is not None

    def _kills_run(self, spec: FunctionSpec, invocation: Invocation, when: Literal["start", "end"]) -> bool:
        """Ask around a run: True ends the worker's process."""
        if not self._watches("lambda", "Run", when):
            return False
        caller = Caller("function", spec.name, invocation.request_id, spec.role)
        about = f"{spec.name} {event_subject(invocation.payload)}"
        return self._take(Occasion("lambda", "Run", caller, (spec.name,), about), when) is not None

    def _before(self, exchange: Exchange) -> Response | None:
        if not self._watches(exchange.service, exchange.action, "before"):
            return None
        fault = self._take(Occasion.of(exchange), "before")
        return fault.effect(exchange, fault) if fault else None

    def _after(self, exchange: Exchange, response: Response) -> None:
        if exchange.notes.get("never came") or not self._watches(exchange.service, exchange.action, "after"):
            return
        fault = self._take(Occasion.of(exchange), "after", refused=response.status >= 400)
        if fault:
            fault.effect(exchange, fault)

    # --- how they are made -------------------------------------------------------------------------------------

    def _on(
        self,
        name: str,
        service: str,
        action: str | tuple[str, ...],
        when: When,
        effect: Effect,
        limits: Limits,
        ending: str = "",
        **more: Any,
    ) -> Fault:
        """Arm a fault on a call."""
        times, rate, chosen = _how_often(limits)
        aim = target(service, action, **chosen)
        return self._arm(f"{name} {service}:{_or(action)}{ending}", aim, when, effect, times, rate, **more)

    def _answering(
        self,
        name: str,
        service: str,
        action: str | tuple[str, ...],
        answer: Callable[[Exchange], Response],
        limits: Limits,
    ) -> Fault:
        return self._on(name, service, action, "before", lambda exchange, _: answer(exchange), limits)


def _how_often(limits: Limits) -> tuple[int | None, float | None, dict[str, Any]]:
    """`times` and `rate`, and what is left: the names that narrow the calls down."""
    names = {"function", "role", "caller", "resource"}
    unknown = limits.keys() - names - {"times", "rate"}
    if unknown:
        raise TypeError(f"a fault has no {', '.join(sorted(unknown))}: known: {', '.join(Limits.__annotations__)}")
    chosen = {name: value for name, value in limits.items() if name in names}
    return limits.get("times"), limits.get("rate"), chosen


def _or(action: str | tuple[str, ...]) -> str:
    return "|".join(names_of(action))


def _nothing_more(exchange: Exchange, fault: Fault) -> None:
    """The effect of a fault whose place asks for it and does the rest."""
