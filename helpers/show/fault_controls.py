"""The fault controls of a lesson: each with its place on the way of a job, its label and what it is in the real world.

The groups say when a fault acts, in the order in which a job meets them. Nothing here knows widgets.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from helpers.lab.faults import MOST_COPIES, MOST_REFUSALS, MOST_SECONDS, USUAL_SECONDS, LabFaults
from helpers.lab.language import _
from helpers.lab.table_faults import FEWEST_PERCENT, MOST_PERCENT, USUAL_PERCENT

DISARM_ALL = "clear"
"""The method that is no fault: its button stands above all groups."""


@dataclass(frozen=True, slots=True)
class Number:
    """The argument of a control's method: its name, its first value, its range, and what it is in words."""

    name: str
    first: int
    least: int
    most: int
    words: str


@dataclass(frozen=True, slots=True)
class Control:
    """One button: its group, its label, the sentence beside it, and the argument of its method, if it has one."""

    method: str
    group: str
    label: str
    sentence: str
    number: Number | None = None

    @property
    def call(self) -> str:
        """The call that the button makes, as a learner would type it."""
        return f"lab.faults.{self.method}({self.number.name if self.number else ''})"


@dataclass(frozen=True, slots=True)
class Group:
    """The controls that act at the same time. `opened`: a reader sees them without unfolding."""

    id: str
    heading: str
    controls: tuple[Control, ...]
    opened: bool = True


def controls(offered: Sequence[str] = LabFaults.offered) -> list[Control]:
    """The controls of a lesson in the reader's language: those of the methods that it offers, in this order."""
    known = {control.method: control for control in _controls()}
    return [known[method] for method in offered]


def groups(offered: Sequence[str], opened: frozenset[str] = frozenset()) -> list[Group]:
    """The controls of a lesson by the time at which they act, without the one that disarms them all."""
    headings = {
        "in-bucket": _("In the bucket"),
        "in-order": _("In the order"),
        "in-queue": _("In the queue"),
        "in-workflow": _("In the workflow"),
        "before-write": _("Before the write"),
        "on-the-way": _("On the way to the table and back"),
        "after-write": _("After the write"),
        "in-permissions": _("In the permissions"),
    }
    faults = [control for control in controls(offered) if control.method != DISARM_ALL]
    return [
        Group(group, headings[group], tuple(together), group in opened)
        for group, together in itertools.groupby(faults, key=lambda control: control.group)
    ]


def _controls() -> list[Control]:
    """All controls that a lesson has."""
    return [
        Control(
            "upload_again",
            "in-bucket",
            _("Upload again"),
            _("A customer sees no answer and uploads the same file again. S3 sends another message."),
        ),
        Control(
            "send_twice",
            "in-queue",
            _("Send twice"),
            _("A queue can deliver a message twice. Here the same text goes into the queue again."),
        ),
        Control(
            "broken_message",
            "in-queue",
            _("Send a broken message"),
            _("A program with an error sends a message that no worker can read."),
        ),
        Control(
            "send_again",
            "in-queue",
            _("Send again"),
            _("A producer got no answer in time, so it sends the same job again. Each copy is a new message."),
            Number("n", 1, 1, MOST_COPIES, _("How many times")),
        ),
        Control(
            "other_details",
            "in-queue",
            _("Send other details"),
            _("Two programs use the same order id for different orders. The second job asks for another quantity."),
        ),
        Control(
            "late_message",
            "in-queue",
            _("Deliver late"),
            _("The network before the queue is slow, so the next job arrives later."),
            Number("seconds", USUAL_SECONDS, 1, MOST_SECONDS, _("How many seconds later")),
        ),
        Control(
            "poison_message",
            "in-queue",
            _("Send a broken message"),
            _("A program with an error sends a message that no worker can read."),
        ),
        Control(
            "crash_at_start",
            "before-write",
            _("Crash at the start"),
            _("The machine of the worker dies as soon as it gets the job."),
        ),
        Control(
            "crash_before_write",
            "before-write",
            _("Crash before the write"),
            _("The machine of the worker dies before it has stored anything."),
        ),
        Control(
            "slow_worker",
            "before-write",
            _("Slow down the worker"),
            _("A worker needs longer than the visibility timeout, so the queue hands the same message out again."),
        ),
        Control(
            "two_at_once",
            "before-write",
            _("Let two workers meet"),
            _("Two workers get the same order at the same time. The one that came later writes first."),
        ),
        Control(
            "lose_request",
            "on-the-way",
            _("Lose the request"),
            _("The network breaks before the write reaches the table, so nothing is stored."),
        ),
        Control(
            "lose_answer",
            "on-the-way",
            _("Lose the answer"),
            _("The network breaks after the write was done, so the worker cannot know if it was done."),
        ),
        Control(
            "lose_some_answers",
            "on-the-way",
            _("Lose some answers"),
            _("The network is bad for a while, and a part of the answers never arrives."),
            Number("percent", USUAL_PERCENT, FEWEST_PERCENT, MOST_PERCENT, _("How many of 100 answers")),
        ),
        Control(
            "late_answer",
            "on-the-way",
            _("Answer too late"),
            _("The write is done, but its answer takes longer than the worker may run."),
        ),
        Control(
            "throttle",
            "on-the-way",
            _("Throttle the table"),
            _("More calls arrive than the table can take, so it refuses some of them."),
            Number("n", MOST_REFUSALS, 1, MOST_REFUSALS, _("How many calls")),
        ),
        Control(
            "server_error",
            "on-the-way",
            _("Fail inside the service"),
            _("A machine of the database service fails, and the service answers with an internal error."),
        ),
        Control(
            "refuse_write",
            "on-the-way",
            _("Refuse the write"),
            _("Somebody changes the permissions of the worker, so the table refuses its write."),
        ),
        Control(
            "crash_after_write",
            "after-write",
            _("Crash after the write"),
            _("The machine of the worker dies between the write and the acknowledgement."),
        ),
        Control(
            "crash_at_end",
            "after-write",
            _("Crash at the end"),
            _("The worker has done all its work. Its machine dies before anybody learns of it."),
        ),
        Control(
            "deliver_again",
            "after-write",
            _("Lose the acknowledgement"),
            _("The queue loses an acknowledgement, so it hands out the same message again under the same message id."),
        ),
        Control(
            "permanent",
            "in-order",
            _("Fail for ever"),
            _("An order that no worker can accept. Each attempt would fail in the same way."),
        ),
        Control(
            "quantity_zero",
            "in-order",
            _("Order a quantity of 0"),
            _("A form sends 0 because nobody chose a quantity."),
        ),
        Control(
            "quantity_eleven",
            "in-order",
            _("Order a quantity of 11"),
            _("An order that looks right, but is larger than the shop allows."),
        ),
        Control(
            "other_quantity",
            "in-order",
            _("Order another quantity"),
            _("Two programs use the same order id for different orders."),
        ),
        Control(
            "same_name",
            "in-workflow",
            _("Use the same name again"),
            _("A program gets no answer to its start of an execution, so it starts it again under the same name."),
        ),
        Control(
            "throttle_worker",
            "in-workflow",
            _("Throttle the worker"),
            _("Too many workers run at once, so Lambda refuses the call of the workflow."),
        ),
        Control(
            "flaky",
            "before-write",
            _("Fail before the write"),
            _("A connection breaks before the worker has stored anything. The next attempt works."),
        ),
        Control(
            "more_failures",
            "before-write",
            _("Fail too often"),
            _("A service is down for longer than all retries together."),
        ),
        Control(
            "hold_worker",
            "before-write",
            _("Hold the worker"),
            _("The worker waits for a slow service, so the execution keeps running."),
        ),
        Control(
            "crash_before_answer",
            "after-write",
            _("Crash after the write"),
            _("The machine of the worker dies after the write, before its answer is on the way."),
        ),
        Control(
            "lose_result",
            "after-write",
            _("Lose the result"),
            _("The worker has done all its work. The network breaks before its result reaches the workflow."),
        ),
        Control(
            "remove_permission",
            "in-permissions",
            _("Remove the permission"),
            _("Somebody tidies up the policies and removes one that was needed."),
        ),
        Control(
            "give_permission",
            "in-permissions",
            _("Give the permission back"),
            _("The policy is put back as it was."),
        ),
        Control(
            DISARM_ALL,
            "at-any-time",
            _("Disarm all faults"),
            _("The faults that have not fired yet are taken away. What has happened stays."),
        ),
    ]
