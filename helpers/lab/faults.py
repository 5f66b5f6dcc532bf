"""What a learner can break, as plain methods for the lesson's own queue and deployed worker.

`LabFaults` is written for the lesson *idempotent-consumer*; another lesson derives from it, says in `offered` which
methods it has, and overrides what it says otherwise.

Each returns a notice that says in the reader's language what will happen. The faults act at the API boundary
(helpers.cloud.faults), so the worker under test stays byte for byte the deployed one.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from helpers.cloud.fault_targets import ANY
from helpers.lab.errors import NothingSent
from helpers.lab.evidence import HIGHEST_QUANTITY, Job, first_details
from helpers.lab.language import _, ngettext
from helpers.lab.parameters import whole
from helpers.lab.slow_worker import SlowWorker

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.cloud.faults import Fault
    from helpers.lab.lesson_world import LessonWorld

MOST_COPIES = 50
MOST_REFUSALS = 2
"""Calls. After a refused call boto3 waits up to 1, 2, 4 s (botocore's mode "standard"): three refusals can last longer
than the worker may run."""

_WRITES = ("PutItem", "UpdateItem", "TransactWriteItems")
"""The actions with which the role lets the worker write: a guard may stand in any of them."""

_KEPT = 200
"""How many faults are remembered."""


@dataclass(frozen=True, slots=True)
class FaultNotice:
    """What a fault did or will do; `text` is in the reader's language."""

    fault: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ArmedFault:
    """A fault that was armed. `remaining`: how often it can still fire; `fired`: how often it did."""

    fault: str
    description: str
    remaining: int
    fired: int = 0


class LabFaults:
    """The faults of one lab. `face` is what `panel` gives: helpers.show puts its panel there."""

    offered: ClassVar[tuple[str, ...]] = (
        "send_again",
        "other_details",
        "deliver_again",
        "poison_message",
        "crash_before_write",
        "slow_worker",
        "throttle",
        "server_error",
        "lose_answer",
        "crash_after_write",
        "clear",
    )
    """The methods that the lesson's panel shows, in its order."""

    def __init__(self, cloud: Cloud, lesson: LessonWorld) -> None:
        self._cloud = cloud
        self._lesson = lesson
        self._queue = lesson.queue
        self._function = lesson.function
        self._mine: deque[tuple[str, Fault]] = deque(maxlen=_KEPT)
        self._slow: SlowWorker | None = None
        self.face: Any = self.offered

    def panel(self) -> Any:
        """The fault controls, to be shown in a cell; without helpers.show, the names of their methods."""
        return self.face

    # --- in the queue ---------------------------------------------------------------------------------

    def send_again(self, n: int = 1) -> FaultNotice:
        """Send the last job `n` more times (1 to 50): each copy is a new message with a new message id.

        Raises BadParameter, and NothingSent when no job was sent.
        """
        copies = whole("n", n, 1, MOST_COPIES)
        last = self._jobs()[-1]
        for _copy in range(copies):
            self._lesson.services.send(self._queue, last.body)
        return FaultNotice(
            "send-again",
            ngettext(
                "The last job was sent {count} more time. The copy is a new message with a new message id.",
                "The last job was sent {count} more times. Each copy is a new message with a new message id.",
                copies,
            ).format(count=copies),
        )

    def deliver_again(self) -> FaultNotice:
        """Lose the next acknowledgement: the queue hands the same message out again, under the same message id.

        Raises NothingSent when there is no queue.
        """
        self._queue_url()
        self._mine.append(("deliver-again", self._cloud.faults.lose_acknowledgement(self._queue)))
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
            raise self._nothing_sent()
        quantity = first.quantity % HIGHEST_QUANTITY + 1
        self._lesson.services.send(self._queue, json.dumps({"id": first.order, "quantity": quantity}))
        text = _(
            "A job for `{order}` with the quantity {quantity} was sent. The first job asked for another quantity."
        ).format(order=first.order, quantity=quantity)
        return FaultNotice("other-details", text + self._where_it_ends())

    def poison_message(self) -> FaultNotice:
        """Send a message that is not JSON, so that no worker can read it. Raises NothingSent when there is no queue."""
        self._queue_url()
        self._cloud.faults.send_poison(self._queue)
        text = _("A message that is not JSON was sent. Each run that gets it fails.")
        return FaultNotice("poison-message", text + self._where_it_ends())

    # --- before the write -----------------------------------------------------------------------------

    def crash_before_write(self) -> FaultNotice:
        """Kill the worker's process right before its next write: nothing is stored."""
        self._worker()
        self._mine.append(
            ("crash-before-write", self._cloud.faults.crash(self._function, action=_WRITES, when="before"))
        )
        return FaultNotice(
            "crash-before-write",
            _("The process of `{function}` will be killed right before its next write.").format(function=self._function)
            + " "
            + _("Its message comes back when the visibility timeout ends."),
        )

    def slow_worker(self) -> FaultNotice:
        """Hold the worker's next write while the visibility timeout ends: the message is handled twice at once."""
        self._worker()
        if self._slow:
            self._slow.stop()
        self._slow = SlowWorker(self._cloud, self._lesson, _WRITES)
        self._mine.append(("slow-worker", self._slow.fault))
        return FaultNotice(
            "slow-worker",
            _("The next write of `{function}` will be held while the visibility timeout ends.").format(
                function=self._function
            )
            + " "
            + _("So the same message is handled twice at once."),
        )

    # --- on the way -----------------------------------------------------------------------------------

    def throttle(self, n: int = MOST_REFUSALS) -> FaultNotice:
        """Let DynamoDB refuse the next `n` (1 or 2) calls of the worker: too many requests. Raises BadParameter."""
        calls = whole("n", n, 1, MOST_REFUSALS)
        self._worker()
        self._mine.append(
            ("throttle", self._cloud.faults.throttle("dynamodb", ANY, times=calls, function=self._function))
        )
        return FaultNotice(
            "throttle",
            ngettext(
                "DynamoDB will refuse the next {count} call of `{function}`: too many requests.",
                "DynamoDB will refuse the next {count} calls of `{function}`: too many requests.",
                calls,
            ).format(count=calls, function=self._function)
            + " "
            + _("The SDK waits and tries again by itself."),
        )

    def server_error(self) -> FaultNotice:
        """Let the worker's next write fail inside DynamoDB (HTTP status 500): nothing is stored."""
        self._worker()
        self._mine.append(
            ("server-error", self._cloud.faults.server_error("dynamodb", _WRITES, function=self._function))
        )
        return FaultNotice(
            "server-error",
            _("The next write of `{function}` will fail inside DynamoDB. That attempt will store nothing.").format(
                function=self._function
            )
            + " "
            + _("The SDK waits and tries again by itself."),
        )

    def lose_answer(self) -> FaultNotice:
        """Do the worker's next write, and lose its answer: the SDK sends the write again."""
        self._worker()
        self._mine.append(("lose-answer", self._cloud.faults.lose_answer("dynamodb", _WRITES, function=self._function)))
        return FaultNotice(
            "lose-answer",
            _("The next write of `{function}` will be done, and its answer will be lost.").format(
                function=self._function
            )
            + " "
            + _("The SDK sends the same write again by itself."),
        )

    # --- after the write ------------------------------------------------------------------------------

    def crash_after_write(self) -> FaultNotice:
        """Kill the worker's process right after its next write, before the message is acknowledged."""
        self._worker()
        self._mine.append(
            ("crash-after-write", self._cloud.faults.crash(self._function, action=_WRITES, accepted=True))
        )
        return FaultNotice(
            "crash-after-write",
            _("The process of `{function}` will be killed right after its next accepted write.").format(
                function=self._function
            )
            + " "
            + _("Its message comes back when the visibility timeout ends."),
        )

    # --- what is armed --------------------------------------------------------------------------------

    def armed(self) -> list[ArmedFault]:
        """The faults that can still fire."""
        live = self._cloud.faults.armed()
        return [_as_armed(name, fault) for name, fault in list(self._mine) if fault in live]

    def history(self) -> list[ArmedFault]:
        """All faults that were armed in this account, oldest first, with how often each fired."""
        return [_as_armed(name, fault) for name, fault in list(self._mine)]

    def clear(self) -> FaultNotice:
        """Disarm all faults. A call that is held goes on."""
        count = len(self._cloud.faults.armed())
        if self._slow:
            self._slow.stop()
            self._slow = None
        self._cloud.faults.clear()
        if not count:
            return FaultNotice("none", _("No fault was armed."))
        return FaultNotice(
            "none",
            ngettext("{count} fault was disarmed.", "{count} faults were disarmed.", count).format(count=count),
        )

    def apply(self, name: str) -> FaultNotice | None:
        """Arm or do what papermill's parameter `fault` names; "none" does nothing. Raises BadParameter."""
        self._lesson.choose({"fault": name})
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
        jobs = self._lesson.evidence().jobs(self._queue)
        self._queue_url()
        if not jobs:
            raise self._nothing_sent()
        return jobs

    def _queue_url(self) -> str:
        url = self._lesson.services.queue_url(self._queue)
        if url is None:
            raise self._no_queue()
        return url

    def _worker(self) -> None:
        if self._lesson.services.function(self._function) is None:
            raise self._no_worker()

    def _where_it_ends(self) -> str:
        """What becomes of a job that fails each time, as a further sentence, if there is something to say."""
        attributes = self._lesson.services.queue_attributes(self._queue) or {}
        if "RedrivePolicy" in attributes:
            return ""
        return " " + _("`{queue}` has no dead-letter queue, so a job that fails comes back again and again.").format(
            queue=self._queue
        )

    def _connect_dead_letter_queue(self) -> None:
        """The same dead-letter queue and policy that the learner makes later in the lesson."""
        services = self._lesson.services
        url = self._queue_url()
        services.make_queue(self._lesson.dead_letter_queue, {})
        policy = {
            "deadLetterTargetArn": services.arn("sqs", self._lesson.dead_letter_queue),
            "maxReceiveCount": self._lesson.max_receive_count,
        }
        services.client("sqs").set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)})

    def _no_queue(self) -> NothingSent:
        return NothingSent(
            _("There is no queue `{queue}`.").format(queue=self._queue),
            _("This fault works on the queue of the lesson. It was not created yet, or it was deleted."),
            _("Run the cells of step 2 and step 3 again. Then try again."),
        )

    def _no_worker(self) -> NothingSent:
        return NothingSent(
            _("There is no function `{function}`.").format(function=self._function),
            _("This fault works on the worker of the lesson. It was deleted."),
            _("Run `lab.reset()`. Then run the cells of step 2 and step 3 again."),
        )

    def _nothing_sent(self) -> NothingSent:
        return NothingSent(
            _("No job was sent to `{queue}` so far.").format(queue=self._queue),
            _("This fault sends a job again, so it needs a job that was sent before."),
            _("Run the cells of step 3 first. Then try again."),
        )


def describe(fault: str) -> str:
    """An armed fault in a few words."""
    return {
        "deliver-again": _("The next acknowledgement is lost"),
        "crash-before-write": _("The process is killed before its next write"),
        "crash-after-write": _("The process is killed after its next accepted write"),
        "throttle": _("DynamoDB refuses the next calls: too many requests"),
        "server-error": _("The next write fails inside DynamoDB"),
        "lose-answer": _("The answer of the next write is lost"),
        "slow-worker": _("The next write is held while the visibility timeout ends"),
        "hold-worker": _("The next run is held until the faults are cleared"),
    }[fault]


def _as_armed(name: str, fault: Fault) -> ArmedFault:
    return ArmedFault(name, describe(name), fault.remaining or 0, fault.fired)
