"""What a learner can break, as plain methods for the lesson's own queue and deployed worker.

`LabFaults` is written for the lesson *idempotent-consumer*; another lesson derives from it, says in `offered` which
methods it has, and overrides what it says otherwise.

Each returns a notice that says in the reader's language what will happen. The faults act at the API boundary
(helpers.cloud.faults), so the worker under test stays byte for byte the deployed one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from helpers.lab.armed import ArmedFault, FaultNotice
from helpers.lab.errors import NothingSent, StepMissing
from helpers.lab.evidence import HIGHEST_QUANTITY, Job, first_details, runs_for
from helpers.lab.language import _, ngettext
from helpers.lab.parameters import whole
from helpers.lab.presets import Orders, Preset, Script, chosen, wait_for_rest
from helpers.lab.slow_worker import SlowWorker
from helpers.lab.table_faults import MOST_REFUSALS, WRITES, TableFaults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.cloud import Cloud
    from helpers.cloud.faults import Fault
    from helpers.lab.lesson_world import LessonWorld

__all__ = ["MOST_COPIES", "MOST_REFUSALS", "MOST_SECONDS", "USUAL_SECONDS", "ArmedFault", "FaultNotice", "LabFaults"]

MOST_COPIES = 50
MOST_LOST = 10
USUAL_SECONDS = 30
MOST_SECONDS = 900
"""Seconds. SQS delays a message by at most 900 (SQS API Reference, "SendMessage")."""


class LabFaults(TableFaults):
    """The faults of one lab. `face` is what `panel` gives: helpers.show puts its panel there."""

    offered: ClassVar[tuple[str, ...]] = (
        "send_again",
        "other_details",
        "late_message",
        "poison_message",
        "crash_at_start",
        "crash_before_write",
        "slow_worker",
        "two_at_once",
        "lose_request",
        "lose_answer",
        "lose_some_answers",
        "late_answer",
        "throttle",
        "server_error",
        "refuse_write",
        "crash_after_write",
        "crash_at_end",
        "deliver_again",
        "clear",
    )
    """The methods that the lesson's panel shows, in its order: the way of a job through the system."""

    opened: ClassVar[frozenset[str]] = frozenset({"in-queue", "after-write"})
    """The groups of the panel that are open from the beginning."""

    def __init__(self, cloud: Cloud, lesson: LessonWorld) -> None:
        super().__init__(cloud, lesson)
        self._queue = lesson.queue
        self._slow: SlowWorker | None = None
        self._orders = Orders()
        self._presets: dict[str, Preset] = {}
        self.face: Any = self.offered

    @property
    def cloud(self) -> Cloud:
        """The account that is broken here."""
        return self._cloud

    @property
    def lesson(self) -> LessonWorld:
        """The world of the lesson."""
        return self._lesson

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

    def deliver_again(self, n: int = 1) -> FaultNotice:
        """Lose the next `n` (1 to 10) acknowledgements: the queue hands the same message out again, under the same
        message id.

        Raises BadParameter, and NothingSent when there is no queue.
        """
        self._queue_url()
        times = whole("n", n, 1, MOST_LOST)
        self._arm("deliver-again", self._cloud.faults.lose_acknowledgement(self._queue, times))
        return FaultNotice(
            "deliver-again",
            ngettext(
                "The next acknowledgement will be lost, although the job was done.",
                "The next {count} acknowledgements will be lost, although the jobs were done.",
                times,
            ).format(count=times)
            + " "
            + self._after_a_crash(),
        )

    def late_message(self, seconds: int = USUAL_SECONDS) -> FaultNotice:
        """Let the next message that is sent to the queue arrive `seconds` (1 to 900) later.

        Raises BadParameter, and NothingSent when there is no queue.
        """
        later = whole("seconds", seconds, 1, MOST_SECONDS)
        self._queue_url()
        self._arm("late-message", self._cloud.faults.late_message(self._queue, later))
        text = ngettext(
            "The next message will arrive {seconds} second later, or at once after `lab.skip({seconds})`.",
            "The next message will arrive {seconds} seconds later, or at once after `lab.skip({seconds})`.",
            later,
        )
        return FaultNotice("late-message", text.format(seconds=later))

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

    def slow_worker(self) -> FaultNotice:
        """Hold the worker's next write while the visibility timeout ends: the message is handled twice at once."""
        self._worker()
        if self._slow:
            self._slow.stop()
        self._slow = SlowWorker(self._cloud, self._lesson, WRITES)
        self._arm("slow-worker", self._slow.fault)
        return FaultNotice(
            "slow-worker",
            _("The next write of `{function}` will be held while the visibility timeout ends.").format(
                function=self._function
            )
            + " "
            + _("So the same message is handled twice at once."),
        )

    # --- demonstrations -------------------------------------------------------------------------------

    def presets(self) -> tuple[Preset, ...]:
        """The demonstrations of the lesson, in the order in which a teacher would show them."""
        for script in self._scripts():
            self._presets.setdefault(script.name, Preset(self, script))
        return tuple(self._presets.values())

    def preset(self, name: str) -> Preset:
        """One demonstration: `arm()` begins it, `go_on()` does its next step, `play()` does everything.

        Raises BadParameter when there is none of this name.
        """
        return chosen(self.presets(), name)

    def send_order(self, order: str, quantity: int) -> None:
        """Give the worker a job as a producer does. Raises NothingSent when there is no queue."""
        self._queue_url()
        self._lesson.services.send(self._queue, json.dumps({"id": order, "quantity": quantity}))

    def fresh_order(self, base: str) -> str:
        """An order id that nobody asked for so far; the same one in each run of the lesson."""
        evidence = self._lesson.evidence()
        stored = (order.id for order in self._lesson.stored_orders())
        return self._orders.fresh(base, [*(str(job.order) for job in evidence.jobs(self._queue)), *stored])

    def runs_of(self, order: str) -> int:
        """How many runs were given this order."""
        evidence = self._lesson.evidence()
        return len(runs_for(order, evidence.jobs(self._queue), evidence.runs(self._function)))

    def come_back(self) -> None:
        """Let hidden messages of the queue come back now."""
        wait_for_rest(self)
        self._lesson.skip_waits()

    def need_dead_letter_queue(self) -> None:
        """Raises StepMissing when messages that fail again and again have nowhere to go."""
        attributes = self._lesson.services.queue_attributes(self._queue) or {}
        if "RedrivePolicy" not in attributes:
            raise StepMissing(
                "break",
                _("The queue `{queue}` has no dead-letter queue.").format(queue=self._queue),
                _("Without it, a message that fails comes back again and again."),
                _("Run the cell that sets the redrive policy. Then try again."),
            )

    def wait_for_rest(self) -> None:
        """Wait until nothing happens any more; skips no time. Raises StillBusy."""
        wait_for_rest(self)

    def _scripts(self) -> Sequence[Script]:
        from helpers.lab.queue_presets import scripts

        return scripts(self)

    # --- for Lab and papermill ------------------------------------------------------------------------

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

    def _disarm(self, fault: Fault) -> None:
        if self._slow and self._slow.fault is fault:
            self._slow.stop()
            self._slow = None
        super()._disarm(fault)

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

    def _nothing_sent(self) -> NothingSent:
        return NothingSent(
            _("No job was sent to `{queue}` so far.").format(queue=self._queue),
            _("This fault sends a job again, so it needs a job that was sent before."),
            _("Run the cells of step 3 first. Then try again."),
        )
