"""What a learner can break, as plain methods for the lesson's own queue and deployed worker.

Each returns a notice that says in the reader's language what will happen. The faults act at the API boundary
(helpers.cloud.faults), so the worker under test stays byte for byte the deployed one.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helpers.cloud.journal import FaultFired
from helpers.lab.errors import NothingSent
from helpers.lab.evidence import HIGHEST_QUANTITY, Job, first_details
from helpers.lab.idempotent_consumer import (
    DEAD_LETTER_QUEUE,
    FUNCTION,
    MAX_RECEIVE_COUNT,
    QUEUE,
    IdempotentConsumer,
    parameters,
)
from helpers.lab.language import _, ngettext
from helpers.lab.parameters import whole

if TYPE_CHECKING:
    from helpers.cloud import Cloud

MOST_COPIES = 50

_WRITES = ("PutItem", "UpdateItem", "TransactWriteItems")
"""The actions with which the role lets the worker write: a guard may stand in any of them."""

_GRACE = 1.0
"""Seconds of real time that a held run waits for `settle` to move the clock, before the fault does it
itself."""


@dataclass(frozen=True, slots=True)
class FaultNotice:
    """What a fault did or will do; `text` is in the reader's language."""

    fault: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ArmedFault:
    """A fault that waits for its moment. `remaining`: how often it can still fire."""

    fault: str
    description: str
    remaining: int


class LabFaults:
    """The faults of one lab."""

    def __init__(self, cloud: Cloud, lesson: IdempotentConsumer) -> None:
        self._cloud = cloud
        self._lesson = lesson
        self._armed: list[tuple[str, Any]] = []
        self._slow: SlowWorker | None = None

    # --- what the producer does -----------------------------------------------------------------------

    def send_again(self, n: int = 1) -> FaultNotice:
        """Send the last job `n` more times (1 to 50): each copy is a new message with a new message id.

        Raises BadParameter, and NothingSent when no job was sent.
        """
        copies = whole("n", n, 1, MOST_COPIES)
        last = self._jobs()[-1]
        for _copy in range(copies):
            self._lesson.services.send(QUEUE, last.body)
        return FaultNotice(
            "send-again",
            ngettext(
                "The last job was sent {count} more time. The copy is a new message with a new message id.",
                "The last job was sent {count} more times. Each copy is a new message with a new message id.",
                copies,
            ).format(count=copies),
        )

    def deliver_again(self) -> FaultNotice:
        """Lose the next acknowledgement: the queue hands the same message out again, under the same message id."""
        self._armed.append(("deliver-again", self._cloud.faults.lose_acknowledgement(QUEUE)))
        return FaultNotice(
            "deliver-again",
            _("The next acknowledgement will be lost, although the job was done.")
            + " "
            + _("Its message comes back when the visibility timeout ends."),
        )

    def other_details(self) -> FaultNotice:
        """Send the first order's id with another quantity: the same body for the same order.

        Raises NothingSent when no valid job was sent.
        """
        first = next(iter(first_details(self._jobs()).values()), None)
        if first is None or first.quantity is None:
            raise _nothing_sent()
        quantity = first.quantity % HIGHEST_QUANTITY + 1
        self._lesson.services.send(QUEUE, json.dumps({"id": first.order, "quantity": quantity}))
        attributes = self._lesson.services.queue_attributes(QUEUE) or {}
        text = _(
            "A job for `{order}` with the quantity {quantity} was sent. The stored order has another quantity."
        ).format(order=first.order, quantity=quantity)
        if "RedrivePolicy" not in attributes:
            text += " " + _(
                "`{queue}` has no dead-letter queue, so a job that fails comes back again and again."
            ).format(queue=QUEUE)
        return FaultNotice("other-details", text)

    # --- what happens to the worker -------------------------------------------------------------------

    def crash_after_write(self) -> FaultNotice:
        """Kill the worker's process right after its next write, before the message is acknowledged."""
        self._armed.append(("crash-after-write", self._cloud.faults.crash(FUNCTION, action=_WRITES, accepted=True)))
        return FaultNotice(
            "crash-after-write",
            _("The process of `{function}` will be killed right after its next write.").format(function=FUNCTION)
            + " "
            + _("Its message comes back when the visibility timeout ends."),
        )

    def slow_worker(self) -> FaultNotice:
        """Hold the worker's next write while the visibility timeout ends: the message is handled twice at once."""
        if self._slow:
            self._slow.stop()
        self._slow = SlowWorker(self._cloud, self._lesson)
        self._armed.append(("slow-worker", self._slow.fault))
        return FaultNotice(
            "slow-worker",
            _("The next write of `{function}` will be held while the visibility timeout ends.").format(
                function=FUNCTION
            )
            + " "
            + _("So the same message is handled twice at once."),
        )

    # --- what is armed --------------------------------------------------------------------------------

    def armed(self) -> list[ArmedFault]:
        """The faults that can still fire."""
        live = self._cloud.faults.armed()
        self._armed = [(name, fault) for name, fault in self._armed if any(fault is other for other in live)]
        return [ArmedFault(name, describe(name), fault.remaining) for name, fault in self._armed]

    def clear(self) -> FaultNotice:
        """Disarm all faults. A call that is held goes on."""
        count = len(self._cloud.faults.armed())
        if self._slow:
            self._slow.stop()
            self._slow = None
        self._armed.clear()
        self._cloud.faults.clear()
        if not count:
            return FaultNotice("none", _("No fault was armed."))
        return FaultNotice(
            "none",
            ngettext("{count} fault was disarmed.", "{count} faults were disarmed.", count).format(count=count),
        )

    def apply(self, name: str) -> FaultNotice | None:
        """Arm or do what papermill's parameter `fault` names; "none" does nothing. Raises BadParameter."""
        parameters(fault=name)
        if name == "send-again":
            return self.send_again()
        if name == "other-details":
            self._connect_dead_letter_queue()
            return self.other_details()
        if name == "crash-after-write":
            return self.crash_after_write()
        return self.slow_worker() if name == "slow-worker" else None

    def advance(self) -> None:
        """Move on the faults that need the account's clock. `Lab.settle` calls it."""
        if self._slow:
            self._slow.advance()

    def close(self) -> None:
        """End what runs in the background."""
        if self._slow:
            self._slow.stop()
            self._slow = None

    def _jobs(self) -> list[Job]:
        jobs = self._lesson.evidence().jobs(QUEUE)
        if self._lesson.services.queue_url(QUEUE) is None:
            raise _no_queue()
        if not jobs:
            raise _nothing_sent()
        return jobs

    def _connect_dead_letter_queue(self) -> None:
        """The same dead-letter queue and policy that the learner makes later in the lesson."""
        services = self._lesson.services
        url = services.queue_url(QUEUE)
        if url is None:
            raise _no_queue()
        services.make_queue(DEAD_LETTER_QUEUE, {})
        policy = {
            "deadLetterTargetArn": services.arn("sqs", DEAD_LETTER_QUEUE),
            "maxReceiveCount": MAX_RECEIVE_COUNT,
        }
        services.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)})


def describe(fault: str) -> str:
    """An armed fault in a few words."""
    return {
        "deliver-again": _("The next acknowledgement is lost"),
        "crash-after-write": _("The process is killed after its next write"),
        "slow-worker": _("The next write is held while the visibility timeout ends"),
    }[fault]


def _no_queue() -> NothingSent:
    return NothingSent(
        _("There is no queue `{queue}`.").format(queue=QUEUE),
        _("This fault works on the queue of the lesson. It was not created yet, or it was deleted."),
        _("Run the cells of step 2 and step 3 again. Then try again."),
    )


def _nothing_sent() -> NothingSent:
    return NothingSent(
        _("No job was sent to `{queue}` so far.").format(queue=QUEUE),
        _("This fault sends a job again, so it needs a job that was sent before."),
        _("Run the cells of step 3 first. Then try again."),
    )


class SlowWorker:
    """One held write: when nothing else moves, the clock passes the visibility timeout; when the second
    run of the message has ended, the held write goes on.

    So the outcome is the same each time: the second run writes first. `Lab.settle` calls `advance`;
    without it, a thread of its own does after a short time.
    """

    def __init__(self, cloud: Cloud, lesson: IdempotentConsumer) -> None:
        self._cloud = cloud
        self._lesson = lesson
        self._since = cloud.journal.last
        self.fault = cloud.faults.hold("dynamodb", _WRITES, function=FUNCTION)
        self._skipped = False
        self._over = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="slow-worker", daemon=True).start()

    def stop(self) -> None:
        """Disarm it; a held write goes on."""
        self._over.set()
        self._cloud.faults.cancel(self.fault)

    def advance(self) -> None:
        """Do the next thing if its time has come."""
        with self._lock:
            held = self._held_run()
            if held is None or self._over.is_set():
                return
            runs = self._lesson.evidence().runs(FUNCTION)
            first = next((run for run in runs if run.request_id == held), None)
            if first is None:
                return
            if first.ended:
                self.stop()
            elif not self._skipped:
                if self._only_held_is_busy():
                    self._skipped = True
                    self._cloud.skip(self._visibility_timeout())
            elif any(run.number > first.number and run.ended and run.message_ids & first.message_ids for run in runs):
                self.stop()

    def _held_run(self) -> str | None:
        """The request id of the run whose write is held."""
        for event in self._cloud.journal.events(FaultFired, since=self._since):
            if event.fault == self.fault.description and event.caller.name == FUNCTION:
                return event.caller.request_id
        return None

    def _only_held_is_busy(self) -> bool:
        busy = self._cloud.busy()
        runs = sum(one.count for one in busy if one.kind == "run")
        return runs <= 1 and any(one.kind == "held" for one in busy) and not any(one.kind == "queue" for one in busy)

    def _visibility_timeout(self) -> int:
        attributes = self._lesson.services.queue_attributes(QUEUE) or {}
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
