"""The demonstrations of the lesson *idempotent-consumer*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.lab.language import _
from helpers.lab.presets import Script, Step, redeliveries

if TYPE_CHECKING:
    from helpers.lab.faults import LabFaults

QUANTITY = 2
_COPIES = 3
_NEEDS = "connect"


def scripts(faults: LabFaults) -> tuple[Script, ...]:
    """The demonstrations in the order in which a teacher would show them."""

    def send(order: str) -> None:
        faults.send_order(order, QUANTITY)

    def send_copies(order: str) -> None:
        for _copy in range(_COPIES):
            send(order)

    def crash(order: str) -> None:
        faults.crash_after_write()
        send(order)

    def lose(order: str) -> None:
        faults.lose_answer()
        send(order)

    def race(order: str) -> None:
        faults.two_at_once()
        send(order)
        send(order)

    def bad(order: str) -> None:
        faults.need_dead_letter_queue()
        faults.poison_message()
        send(order)

    comes_back, last_time = redeliveries(faults.come_back)
    return (
        Script(
            "double-charge",
            _("The classic double charge"),
            _("The order is there, but its message stays in flight. Then it is received a second time."),
            _("The order has one accepted write. The condition refused the write of the second run."),
            _NEEDS,
            (Step(_("Arm the crash after the write. Send one job."), crash), comes_back),
            ("none", "crash-after-write", 1),
        ),
        Script(
            "impatient-producer",
            _("The impatient producer"),
            _("Three messages with three message ids, and one run for each of them."),
            _("One order, one accepted write, two refused writes."),
            _NEEDS,
            (Step(_("Send the same job three times."), send_copies),),
            ("none", "producer-copy", _COPIES),
        ),
        Script(
            "two-at-once",
            _("Two workers meet"),
            _("Two runs at the same time. The first one is held at its write until the second one has written."),
            _("The later run wrote the order. The first run began earlier, but its write was refused."),
            _NEEDS,
            (Step(_("Hold the next write. Send the same job twice."), race),),
            ("none", "interleaved", 2),
        ),
        Script(
            "lost-answer",
            _("The answer that never came"),
            _("One message, one run, two writes: the SDK sent the write again by itself."),
            _("The second write found the order that the first had stored, and was refused. The order is stored once."),
            _NEEDS,
            (Step(_("Arm the loss of the answer. Send one job."), lose),),
        ),
        Script(
            "poison-message",
            _("The broken message"),
            _("Two messages. One order is stored at once. The other message is received again and again."),
            _("The good order is stored once. The broken message waits in the dead-letter queue."),
            _NEEDS,
            (
                Step(_("Send a message that is not JSON, and a good job after it."), bad),
                comes_back,
                comes_back,
                last_time,
            ),
        ),
    )
