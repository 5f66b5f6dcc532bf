"""Waiting until nothing happens any more, and what there is to say about that state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.lab.errors import StillBusy
from helpers.lab.failures import last_failure
from helpers.lab.language import _, ngettext
from helpers.lab.services import Services

if TYPE_CHECKING:
    from helpers.cloud import Busy, Cloud
    from helpers.lab.evidence import Run

LONGEST_SETTLE = 30.0
"""Seconds of real time. A function of a lesson is stopped by its own timeout long before."""

_MOST_RETURNS = 10
_LOOK_AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class Rest:
    """A queue at rest: counts of its messages, and a sentence for each thing that waits.

    `in_flight` messages are hidden although nothing handles them: their run failed. They come back within
    `wait_seconds` (0 when there are none), or at once after `lab.skip(wait_seconds)`.
    """

    visible: int = 0
    in_flight: int = 0
    delayed: int = 0
    wait_seconds: int = 0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = _("At rest. Visible: {visible}. In flight: {in_flight}. Delayed: {delayed}.").format(
            visible=self.visible, in_flight=self.in_flight, delayed=self.delayed
        )
        return "\n".join([counts, *self.notes])


@dataclass(frozen=True, slots=True)
class WorkflowRest(Rest):
    """Executions at rest: `waiting` names those that go on later, for example after the pause before a retry."""

    waiting: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.waiting:
            return _("At rest. No execution waits.")
        names = ", ".join(f"`{name}`" for name in self.waiting)
        return "\n".join(
            [
                _("At rest. These executions wait: {names}.").format(names=names),
                _("They go on when the time has passed, or at once after `lab.skip(seconds)`."),
            ]
        )


def wait_until_rest(
    cloud: Cloud,
    advance: Callable[[], None],
    skip_wait: Callable[[], int],
    timeout: float = LONGEST_SETTLE,
) -> None:
    """Wait until the account is at rest.

    `advance` moves faults on that need the clock. `skip_wait` is asked at each rest: it returns the
    seconds that it skipped so that hidden messages come back, or 0 when the rest is final. Raises
    StillBusy.
    """
    end = time.monotonic() + timeout
    returns = 0
    while True:
        seen = cloud.boundary.changed.count
        advance()
        busy = cloud.busy()
        if not busy:
            if not skip_wait():
                return
            returns += 1
            if returns > _MOST_RETURNS:
                raise StillBusy(
                    ngettext(
                        "A message came back {count} time, and its run failed each time.",
                        "A message came back {count} times, and its run failed each time.",
                        returns,
                    ).format(count=returns),
                    _("Without a dead-letter queue, a failing message returns until its retention ends."),
                    _("Look at the logs for the reason. Then give the queue a redrive policy, or run `lab.reset()`."),
                )
            continue
        left = end - time.monotonic()
        if left <= 0:
            raise still_busy(busy, timeout)
        cloud.boundary.changed.wait(seen, min(left, _LOOK_AGAIN))


def still_busy(busy: Sequence[Busy], timeout: float) -> StillBusy:
    """What still works, what that means and what to do."""
    kinds = {one.kind for one in busy}
    if "held" in kinds:
        advice = _("Run `lab.faults.clear()`: it lets the held call go on. Then run `lab.settle()` again.")
    elif "run" in kinds:
        advice = _("Look for a loop or a wait in `app.py` that does not end. Then run `lab.settle()` again.")
    else:
        advice = _("Run `lab.settle()` again. If nothing changes, `lab.reset()` gives you a fresh account.")
    return StillBusy(
        ngettext(
            "The account is not at rest after {seconds} second.",
            "The account is not at rest after {seconds} seconds.",
            round(timeout),
        ).format(seconds=round(timeout)),
        _("Still busy: {what}.").format(what=", ".join(dict.fromkeys(in_words(one) for one in busy))),
        advice,
    )


def in_words(busy: Busy) -> str:
    """One busy thing in the reader's language."""
    if busy.kind == "run":
        return ngettext(
            "{count} run of `{name}` is under way", "{count} runs of `{name}` are under way", busy.count
        ).format(count=busy.count, name=busy.name)
    if busy.kind == "queue":
        return ngettext(
            "{count} message in `{name}` waits for delivery",
            "{count} messages in `{name}` wait for delivery",
            busy.count,
        ).format(count=busy.count, name=busy.name)
    if busy.kind == "function":
        return _("the function `{name}` is being updated").format(name=busy.name)
    if busy.kind == "execution":
        return ngettext(
            "{count} execution of `{name}` is under way", "{count} executions of `{name}` are under way", busy.count
        ).format(count=busy.count, name=busy.name)
    if busy.kind == "held":
        return ngettext("{count} call is held by a fault", "{count} calls are held by a fault", busy.count).format(
            count=busy.count
        )
    return _("an event source mapping is at work")


def rest_of(services: Services, queue: str, function: str, runs: Sequence[Run]) -> Rest:
    """The state of a lesson's queue after the account came to rest."""
    attributes = services.queue_attributes(queue)
    if attributes is None:
        return Rest()
    visible = int(attributes["ApproximateNumberOfMessages"])
    in_flight = int(attributes["ApproximateNumberOfMessagesNotVisible"])
    delayed = int(attributes["ApproximateNumberOfMessagesDelayed"])
    wait = int(attributes["VisibilityTimeout"]) if in_flight else 0
    notes = []
    if visible:
        notes.append(_not_delivered(services, queue, function))
    if in_flight:
        failure = last_failure([run for run in runs if run.message_ids])
        notes += [failure] if failure else []
        notes.append(
            ngettext(
                "{count} message is hidden. It comes back within {seconds} seconds, or after `lab.skip({seconds})`.",
                "{count} messages are hidden. They come back within {seconds} seconds, or after `lab.skip({seconds})`.",
                in_flight,
            ).format(count=in_flight, seconds=wait)
        )
    return Rest(visible, in_flight, delayed, wait, tuple(notes))


def _not_delivered(services: Services, queue: str, function: str) -> str:
    """Why messages stay visible although the account is at rest."""
    arn = services.arn("sqs", queue)
    states = [mapping["State"] for mapping in services.mappings() if mapping.get("EventSourceArn") == arn]
    if not states:
        return _("No mapping connects `{queue}` to a function, so nothing takes the visible messages.").format(
            queue=queue
        )
    if "Enabled" not in states:
        return _("The mapping is disabled, so nothing takes the visible messages. Update it with `Enabled=True`.")
    return _("The mapping takes no message: look at the role of `{function}` and at the queue's settings.").format(
        function=function
    )
