"""The demonstrations of the lesson *protected-workflow*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helpers.lab.language import _
from helpers.lab.presets import Script, Step

if TYPE_CHECKING:
    from helpers.lab.workflow_faults import WorkflowFaults

_NEEDS = "connect"


def scripts(faults: WorkflowFaults) -> tuple[Script, ...]:
    """The demonstrations in the order in which a teacher would show them."""

    def again(order: str) -> None:
        faults.start_order(f"{order}-again", order)

    def crash(order: str) -> None:
        faults.crash_before_answer()
        faults.start_order(order, order)

    def lose(order: str) -> None:
        faults.lose_result()
        faults.start_order(order, order)

    def forbid(order: str) -> None:
        faults.remove_permission()
        faults.start_order(order, order)

    def allow(order: str) -> None:
        faults.give_permission()
        again(order)

    return (
        Script(
            "double-charge",
            _("The classic double charge"),
            _("One execution, two attempts of `StoreOrder`. The first attempt fails after its write."),
            _("The order has one accepted write. The condition refused the write of the second attempt."),
            _NEEDS,
            (
                Step(
                    _("Start an execution. Its first attempt fails after the write."),
                    lambda order: faults.start_order(order, order, mode="after-write"),
                ),
                Step(_("Skip the pause before the retry: the workflow tries again."), lambda order: faults.come_back()),
            ),
        ),
        Script(
            "failed-but-stored",
            _("Failed, but stored"),
            _("The first execution is FAILED, although the order is stored. The second one is SUCCEEDED."),
            _("The order has one accepted write. The second execution met it and reported a duplicate."),
            _NEEDS,
            (
                Step(_("Arm the crash after the write. Start an execution."), crash),
                Step(_("The customer orders again: start a second execution for the same order."), again),
            ),
        ),
        Script(
            "lost-result",
            _("The answer that never came"),
            _("The run of the worker succeeded, but its execution is FAILED. The second one is SUCCEEDED."),
            _("The order has one accepted write. The second execution met it and reported a duplicate."),
            _NEEDS,
            (
                Step(_("Arm the loss of the result. Start an execution."), lose),
                Step(_("The customer orders again: start a second execution for the same order."), again),
            ),
        ),
        Script(
            "no-permission",
            _("The permission that somebody removed"),
            _("The first execution is FAILED without a run of the worker. The second one is SUCCEEDED."),
            _("The order has one accepted write, and it is of the second execution."),
            _NEEDS,
            (
                Step(_("Remove the permission. Start an execution."), forbid),
                Step(_("Give the permission back. Start a second execution for the same order."), allow),
            ),
        ),
    )
