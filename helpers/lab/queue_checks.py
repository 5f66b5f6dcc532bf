"""What the checks of a lesson with a queue and a worker share: the mapping between them, and the clean-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from helpers.lab.checks import Finding, not_attempted, not_yet, right
from helpers.lab.evidence import order_of
from helpers.lab.language import _
from helpers.lab.lesson_world import NOTE

if TYPE_CHECKING:
    from helpers.lab.lesson_world import LessonWorld


class QueueLook:
    """One look at the account: the evidence is taken once, each service is asked when a probe needs it."""

    def __init__(self, lesson: LessonWorld) -> None:
        self._services = lesson.services
        self._evidence = lesson.evidence()
        self._prefix = lesson.prefix
        self._queue, self._function = lesson.queue, lesson.function
        self._orders, self._reference = lesson.orders, lesson.reference
        self._log_group = f"/aws/lambda/{lesson.function}"
        self._runs = self._evidence.runs(lesson.function)
        self._decisions = lesson.decisions(self._evidence)

    # --- the mapping ----------------------------------------------------------------------------------

    def mapping(self) -> Finding:
        mapping = self._mapping()
        if isinstance(mapping, Finding):
            return mapping
        return right()

    def enabled(self) -> Finding:
        mapping = self._mapping()
        if isinstance(mapping, Finding):
            return not_attempted()
        state = mapping["State"]
        if state == "Enabled":
            return right()
        if state in {"Disabled", "Disabling"}:
            return not_yet(
                _("The state is `{state}`: the mapping delivers nothing. Update it with `Enabled=True`.").format(
                    state=state
                )
            )
        return not_yet(_("The state is still `{state}`.").format(state=state))

    def _mapping(self) -> dict[str, Any] | Finding:
        """The mapping between the queue and the function, or what there is instead."""
        queue_arn = self._services.arn("sqs", self._queue)
        mappings = self._services.mappings()
        for mapping in mappings:
            if mapping.get("EventSourceArn") == queue_arn and function_of(mapping) == self._function:
                if mapping["State"] == "Deleting":
                    return not_yet(_("The mapping is being deleted."))
                rivals = [function_of(other) for other in mappings if other.get("EventSourceArn") == queue_arn]
                if len(rivals) > 1:
                    rival = next((name for name in rivals if name != self._function), self._function)
                    return not_yet(
                        _("A second mapping connects `{queue}` to `{function}` and takes jobs away.").format(
                            queue=self._queue, function=rival
                        )
                    )
                return mapping
        own = [mapping for mapping in mappings if self._own(mapping)]
        if own:
            source, function = own[0].get("EventSourceArn", "").rpartition(":")[2], function_of(own[0])
            return not_yet(
                _("There is a mapping from `{queue}` to `{function}`.").format(queue=source, function=function)
            )
        return not_attempted()

    # --- clean-up -------------------------------------------------------------------------------------

    def no_mapping(self) -> Finding:
        left = [mapping for mapping in self._services.mappings() if self._own(mapping)]
        if left and any(mapping["State"] == "Deleting" for mapping in left):
            return not_yet(_("The mapping is being deleted."))
        if left:
            return not_attempted()
        return right() if self._evidence.calls("lambda", "CreateEventSourceMapping") else not_attempted()

    def no_queues(self) -> Finding:
        left = self._services.queue_names(self._prefix)
        deleted = self._evidence.calls("sqs", "DeleteQueue")
        if left:
            if not deleted:
                return not_attempted()
            return not_yet(_("These queues still exist: {queues}.").format(queues=listed(left)))
        return right() if self._evidence.calls("sqs", "CreateQueue") else not_attempted()

    def no_orders(self) -> Finding:
        items = self._services.items(self._orders)
        if items is None:
            return not_yet(_("The table `{table}` is gone. Only its items should go.").format(table=self._orders))
        if not any(d.accepted for d in self._decisions):
            return not_attempted()
        if not items:
            return right()
        if not self._evidence.calls("dynamodb", "DeleteItem", "BatchWriteItem", "TransactWriteItems"):
            return not_attempted()
        left = listed(order_of(item).id for item in items)
        return not_yet(_("These items are still stored: {items}.").format(items=left))

    def no_log_group(self) -> Finding:
        there = self._services.has_log_group(self._log_group)
        if not self._runs:
            return not_attempted()
        if not there:
            return right()
        if self._evidence.calls("logs", "DeleteLogGroup"):
            return not_yet(_("The log group exists again: a later run wrote to it."))
        return not_attempted()

    def kept(self) -> Finding:
        missing = [name for name in (self._orders, self._reference) if self._services.items(name) is None]
        if self._services.function(self._function) is None:
            missing.insert(0, self._function)
        if missing:
            return not_yet(_("Missing: {names}.").format(names=listed(missing)))
        return right()

    def reference(self) -> Finding:
        items = self._services.items(self._reference)
        if items is None:
            return not_yet(_("The table `{table}` is gone.").format(table=self._reference))
        if len(items) != 1:
            return not_yet(
                _("Items in the table `{table}`: {count}. Expected: 1.").format(table=self._reference, count=len(items))
            )
        note = str(items[0].get("note", {}).get("S", "")).replace("`", "'")
        if note != NOTE:
            return not_yet(_("The note is `{note}`.").format(note=note))
        return right()

    def _own(self, mapping: Mapping[str, Any]) -> bool:
        source = str(mapping.get("EventSourceArn", "")).rpartition(":")[2]
        return function_of(mapping) == self._function or source.startswith(self._prefix)


def function_of(mapping: Mapping[str, Any]) -> str:
    """The name of a mapping's function."""
    return str(mapping.get("FunctionArn", "")).split(":function:")[-1].partition(":")[0]


def listed(names: Iterable[str]) -> str:
    """Names in code font, with commas."""
    return ", ".join(f"`{name}`" for name in names)
