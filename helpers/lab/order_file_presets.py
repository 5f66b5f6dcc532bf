"""The demonstrations of the lesson *order-file*: few, and in the words of its readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.lab.language import _
from helpers.lab.presets import Script, Step, redeliveries

if TYPE_CHECKING:
    from helpers.lab.order_file_faults import OrderFileFaults

QUANTITY = 2
_NEEDS = "batch"


def scripts(faults: OrderFileFaults) -> tuple[Script, ...]:
    """The demonstrations in the order in which a teacher would show them."""

    def upload(order: str) -> None:
        faults.upload(order, QUANTITY)

    def twice(order: str) -> None:
        upload(order)
        upload(order)

    def crash(order: str) -> None:
        faults.crash_after_write()
        upload(order)

    def bad(order: str) -> None:
        faults.need_dead_letter_queue()
        faults.broken_message()
        upload(order)

    comes_back, last_time = redeliveries(faults.come_back)
    return (
        Script(
            "double-charge",
            _("The classic double charge"),
            _("The order is there, but its message stays in flight. Then it is received a second time."),
            _("The order has one accepted write. The condition refused the write of the second run."),
            _NEEDS,
            (Step(_("Arm the crash after the write. Upload one file."), crash), comes_back),
        ),
        Script(
            "upload-twice",
            _("The impatient customer"),
            _("Two messages about one file. Each of them is received and deleted."),
            _("One order, one accepted write, one refused write."),
            _NEEDS,
            (Step(_("Upload the same file two times."), twice),),
        ),
        Script(
            "broken-message",
            _("The broken message"),
            _("Two messages. One order is stored at once. The other message is received again and again."),
            _("The good order is stored once. The broken message waits in the dead-letter queue."),
            _NEEDS,
            (
                Step(_("Send a message that is not JSON. Upload a good file after it."), bad),
                comes_back,
                comes_back,
                last_time,
            ),
        ),
    )
