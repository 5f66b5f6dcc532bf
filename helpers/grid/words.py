"""The values of a grid in the reader's words. A value that has none is shown as it is typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helpers.grid.plan import GUARD
from helpers.lab.language import _, labelled
from helpers.show.guard_chart import fault_in_words, guard_in_words


def in_words(name: str, value: Any) -> str:
    """A value of one name, for example "crash after the write"."""
    if name == GUARD:
        return _condition_only() if value == "condition-only" else guard_in_words(value)
    if name == "fault":
        return _faults().get(value) or fault_in_words(value)
    if name == "broken":
        return _("no broken message") if value == "none" else labelled(_("broken message"), value)
    label = {
        "duplicates": _("more copies of the job"),
        "repeats": _("more executions for the first order"),
        "quantity": _("quantity"),
        "number": _("number of the first order"),
        "customer": _("customer"),
    }.get(name, name)
    return labelled(label, str(value))


def row_in_words(values: Mapping[str, Any]) -> str:
    """All values but those of the chart's own name."""
    return " · ".join(in_words(name, value) for name, value in values.items()) or _("as the lesson is given")


def _condition_only() -> str:
    return _("key: the order id, without a comparison")


def _faults() -> dict[str, str]:
    """The faults that a lesson's parameter has and the comparison of guards has not."""
    return {
        "send-again": _("the job is sent again"),
        "other-details": _("same order, other details"),
        "upload-again": _("the file is uploaded again"),
        "send-twice": _("the event is sent twice"),
        "broken-message": _("a message that no worker can read"),
        "flaky": _("failure before the write"),
        "permanent": _("an order that is not valid"),
        "other-quantity": _("same order, other quantity"),
        "no-permission": _("no permission to call the worker"),
        "more-failures": _("more failures than retries"),
    }
