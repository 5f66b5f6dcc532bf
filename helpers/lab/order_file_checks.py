"""What the checks of the lesson *order-file* look at: the live account and the journal, never the cells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from helpers.cloud.journal import MessageSent
from helpers.lab.checks import Finding, Probe, not_attempted, not_yet, right
from helpers.lab.evidence import key_of, refused_by_condition, total_cents
from helpers.lab.failures import last_failure
from helpers.lab.language import _
from helpers.lab.order_file import (
    BUCKET,
    DEAD_LETTER_QUEUE,
    MAX_RECEIVE_COUNT,
    QUEUE,
    TEST_EVENT,
    VISIBILITY_TIMEOUT,
    order_of_key,
    read_event,
    uploads,
)
from helpers.lab.queue_checks import QueueLook, listed

if TYPE_CHECKING:
    from helpers.lab.order_file import OrderFile

_PARTIAL = "ReportBatchItemFailures"


class Look(QueueLook):
    """One look at the account of this lesson."""

    def __init__(self, lesson: OrderFile) -> None:
        super().__init__(lesson)
        self._lesson = lesson
        self._jobs = self._evidence.jobs(QUEUE)
        self._events = {job.message_id: read_event(job.body) for job in self._jobs}
        self._uploads = [str(call.parameters.get("Key")) for call in uploads(self._evidence)]
        self._acknowledged = {event.message_id for event in self._evidence.acknowledged(QUEUE)}
        self._dead = {event.message_id for event in self._evidence.dead_lettered(QUEUE)}

    def probes(self, step: str) -> dict[str, Probe]:
        """The questions of a step's check by the ids of lesson.toml."""
        return {
            "connect": {
                "bucket": self.bucket,
                "queue": self.queue,
                "policy": self.policy,
                "notification": self.notification,
            },
            "upload": {
                "test-event": self.test_event,
                "uploaded": self.uploaded,
                "arrived": self.arrived,
            },
            "write": {
                "stored": self.stored,
                "condition": self.condition,
                "refused": self.refused,
            },
            "batch": {
                "deleted": self.deleted,
                "redrive": self.redrive,
                "mapping": self.partial_mapping,
                "good": self.good,
                "broken": self.broken,
            },
            "break": {
                "again": self.again,
                "copy": self.copy,
                "slow": self.slow,
                "dead": self.dead,
            },
            "clean-up": {
                "mapping": self.no_mapping,
                "bucket": self.no_bucket,
                "queues": self.no_queues,
                "orders": self.no_orders,
                "log-group": self.no_log_group,
                "kept": self.kept,
                "reference": self.reference,
            },
        }[step]

    # --- connect --------------------------------------------------------------------------------------

    def bucket(self) -> Finding:
        names = self._buckets()
        if BUCKET in names:
            return right()
        own = [name for name in names if name.startswith(self._prefix)]
        if own:
            return not_yet(
                _("There is a bucket `{found}`, but no bucket `{wanted}`.").format(found=own[0], wanted=BUCKET)
            )
        return not_attempted()

    def queue(self) -> Finding:
        attributes = self._services.queue_attributes(QUEUE)
        if attributes is None:
            others = [name for name in self._services.queue_names(self._prefix) if name != DEAD_LETTER_QUEUE]
            if others:
                return not_yet(
                    _("There is a queue `{found}`, but no queue `{wanted}`.").format(found=others[0], wanted=QUEUE)
                )
            return not_attempted()
        timeout = attributes["VisibilityTimeout"]
        if timeout != str(VISIBILITY_TIMEOUT):
            return not_yet(
                _("The visibility timeout is {found} seconds, not {wanted}.").format(
                    found=timeout, wanted=VISIBILITY_TIMEOUT
                )
            )
        return right()

    def policy(self) -> Finding:
        attributes = self._services.queue_attributes(QUEUE)
        if attributes is None or not attributes.get("Policy"):
            return not_attempted()
        if not _lets_s3_send(attributes["Policy"]):
            return not_yet(
                _("The policy does not allow `{action}` for `{service}`.").format(
                    action="sqs:SendMessage", service="s3.amazonaws.com"
                )
            )
        return right()

    def notification(self) -> Finding:
        if BUCKET not in self._buckets():
            return not_attempted()
        answer = self._services.client("s3").get_bucket_notification_configuration(Bucket=BUCKET)
        rules = answer.get("QueueConfigurations", [])
        if not rules:
            return not_attempted()
        wanted = self._services.arn("sqs", QUEUE)
        here = [rule for rule in rules if rule.get("QueueArn") == wanted]
        if not here:
            found = str(rules[0].get("QueueArn", "")).rpartition(":")[2]
            return not_yet(
                _("S3 sends its messages to the queue `{found}`, not to `{wanted}`.").format(found=found, wanted=QUEUE)
            )
        events = [event for rule in here for event in rule.get("Events", ())]
        if not {"s3:ObjectCreated:*", "s3:ObjectCreated:Put"} & set(events):
            return not_yet(_("S3 sends a message for these events only: {events}.").format(events=listed(events)))
        return right()

    def _buckets(self) -> list[str]:
        return [bucket["Name"] for bucket in self._services.client("s3").list_buckets()["Buckets"]]

    # --- upload ---------------------------------------------------------------------------------------

    def test_event(self) -> Finding:
        tests = [message for message, (event, _keys) in self._events.items() if event == TEST_EVENT]
        if not tests:
            return not_attempted()
        if not set(tests) <= self._acknowledged | self._dead:
            return not_yet(_("A test event is still in the queue."))
        return right()

    def uploaded(self) -> Finding:
        wanted = self._lesson.first_key
        if wanted in self._uploads:
            return right()
        if self._uploads:
            return not_yet(
                _("The last uploaded file has the key `{found}`, not `{wanted}`.").format(
                    found=_shown(self._uploads[-1]), wanted=wanted
                )
            )
        return not_attempted()

    def arrived(self) -> Finding:
        if not self._uploads:
            return not_attempted()
        messages = self._messages_about(self._lesson.first_key)
        if not messages:
            return not_yet(_("No message about the file `{key}` is in the queue.").format(key=self._lesson.first_key))
        received = {event.message_id for event in self._evidence.received(QUEUE)}
        if not received & set(messages):
            return not_yet(_("The message is in the queue. Nobody has received it so far."))
        return right()

    # --- write ----------------------------------------------------------------------------------------

    def stored(self) -> Finding:
        order = self._first_order
        found = {one.id: one for one in self._lesson.stored_orders()}.get(order)
        if found is None:
            return not_yet(self._gone(order)) if self._written(order) else not_attempted()
        if found.quantity is None or found.total_cents != total_cents(found.quantity):
            return not_yet(
                _("The item `{order}` has the quantity {quantity} and the total {total}.").format(
                    order=order,
                    quantity="?" if found.quantity is None else found.quantity,
                    total="?" if found.total_cents is None else found.total_cents,
                )
            )
        return right()

    def condition(self) -> Finding:
        accepted = [one for one in self._decisions if key_of(one) == self._first_order and one.accepted]
        if not accepted:
            return not_attempted()
        if any(one.condition is None for one in accepted):
            return not_yet(_("A write of `{order}` had no condition.").format(order=self._first_order))
        return right(_("The condition was `{condition}`.").format(condition=accepted[-1].condition))

    def refused(self) -> Finding:
        decisions = [one for one in self._decisions if key_of(one) == self._first_order]
        if not decisions:
            return not_attempted()
        if sum(one.accepted for one in decisions) > 1:
            return not_yet(_("The order `{order}` was written more than once.").format(order=self._first_order))
        if not any(refused_by_condition(one) for one in decisions):
            return not_yet(_("There was only one write. Write the same order again."))
        return right()

    @property
    def _first_order(self) -> str:
        return str(order_of_key(self._lesson.first_key))

    def _written(self, order: str) -> bool:
        return any(one.accepted for one in self._decisions if key_of(one) == order)

    def _gone(self, order: str) -> str:
        return _("`{order}` was written, but it is not in the table any more.").format(order=order)

    # --- batch ----------------------------------------------------------------------------------------

    def deleted(self) -> Finding:
        messages = self._messages_about(self._lesson.first_key)
        if not messages:
            return not_attempted()
        if messages[0] in self._acknowledged:
            return right()
        return not_attempted() if self._services.queue_url(QUEUE) else not_yet(_("The queue is gone."))

    def redrive(self) -> Finding:
        attributes = self._services.queue_attributes(QUEUE)
        if attributes is None:
            return right() if self._dead else not_attempted()
        if "RedrivePolicy" not in attributes:
            return not_attempted()
        policy = json.loads(attributes["RedrivePolicy"])
        target = str(policy.get("deadLetterTargetArn", "")).rpartition(":")[2]
        count = int(policy.get("maxReceiveCount", 0))
        if target != DEAD_LETTER_QUEUE:
            return not_yet(_("The redrive policy names the queue `{queue}`.").format(queue=target))
        if self._services.queue_url(DEAD_LETTER_QUEUE) is None:
            return not_yet(_("The queue `{queue}` does not exist.").format(queue=DEAD_LETTER_QUEUE))
        if count != MAX_RECEIVE_COUNT:
            return not_yet(
                _("`maxReceiveCount` is {found}, not {wanted}.").format(found=count, wanted=MAX_RECEIVE_COUNT)
            )
        return right()

    def partial_mapping(self) -> Finding:
        mapping = self._mapping()
        if isinstance(mapping, Finding):
            return mapping
        if mapping["State"] != "Enabled":
            return not_yet(_("The state is still `{state}`.").format(state=mapping["State"]))
        if _PARTIAL not in mapping.get("FunctionResponseTypes", ()):
            return not_yet(_("The mapping has no `{name}`.").format(name=_PARTIAL))
        return right()

    def good(self) -> Finding:
        """Each good file of the batch is stored once, and its message is gone."""
        keys = self._lesson.batch_keys.values()
        if not set(keys) & set(self._uploads):
            return not_attempted()
        stored = {one.id: one for one in self._lesson.stored_orders()}
        for key in keys:
            order = order_of_key(key)
            if order is None:
                continue
            messages = self._messages_about(key)
            if not messages:
                return not_yet(_("No message about the file `{key}` is in the queue.").format(key=key))
            if not set(messages) <= self._acknowledged:
                return not_yet(self._why_waiting(key, messages))
            if order not in stored:
                return not_yet(self._gone(order))
            if sum(one.accepted for one in self._decisions if key_of(one) == order) != 1:
                return not_yet(_("The order `{order}` was written more than once.").format(order=order))
        return right()

    def broken(self) -> Finding:
        """The broken message came back, and is in the dead-letter queue in the end."""
        keys = self._lesson.batch_keys.values()
        if not set(keys) & set(self._uploads):
            return not_attempted()
        for key in keys:
            if order_of_key(key) is not None:
                continue
            messages = self._messages_about(key)
            if not messages:
                return not_yet(_("No message about the file `{key}` is in the queue.").format(key=key))
            if set(messages) & self._acknowledged:
                return not_yet(_("The message about `{key}` was deleted, although it was not handled.").format(key=key))
            if not set(messages) <= self._dead:
                return not_yet(self._receives(messages))
        return right()

    def _messages_about(self, key: str) -> list[str]:
        """The ids of the messages about a file, oldest first."""
        return [message for message, (_event, keys) in self._events.items() if key in keys]

    def _receives(self, messages: list[str]) -> str:
        received = [event.message_id for event in self._evidence.received(QUEUE)]
        return _("Receives of the message so far: {found} of {wanted}.").format(
            found=max(received.count(message) for message in messages), wanted=MAX_RECEIVE_COUNT
        )

    def _why_waiting(self, key: str, messages: list[str]) -> str:
        """Why a message is not acknowledged: a run that failed, or what the worker wrote into its log."""
        runs = [run for run in self._runs if run.message_ids & set(messages)]
        if not runs:
            return _("No run has handled the message about `{key}` so far.").format(key=key)
        failure = last_failure(runs)
        if failure:
            return failure
        lines = [line.strip() for run in runs for line in run.log if line.startswith("WAITING ")]
        said = _shown(next((line for line in reversed(lines) if key in line or (order_of_key(key) or key) in line), ""))
        if not said:
            return _("The message about `{key}` was not deleted.").format(key=key)
        return _("The worker could not handle the file. Its log says: `{line}`.").format(line=said)

    # --- break ----------------------------------------------------------------------------------------

    def again(self) -> Finding:
        """A file that was uploaded again: several messages of S3, one order."""
        repeated = [key for key in dict.fromkeys(self._uploads) if len(self._sent_by_s3(key)) > 1]
        return self._repeated(repeated)

    def copy(self) -> Finding:
        """A message of S3 that was sent again by somebody else."""
        copies = [message for message in self._copies() if self._events[message][1]]
        return self._repeated([key for message in copies for key in self._events[message][1]])

    def slow(self) -> Finding:
        finding = not_attempted()
        for first in self._runs:
            for second in self._runs:
                overlap = first.number < second.number < (first.ended or second.number + 1)
                if not overlap or not first.message_ids & second.message_ids:
                    continue
                if not (first.ended and second.ended):
                    finding = not_yet(_("A run is still under way."))
                    continue
                pair = {first.request_id, second.request_id}
                accepted = [key_of(one) for one in self._decisions if one.accepted and one.caller.request_id in pair]
                if accepted and len(accepted) == len(set(accepted)):
                    return right()
                finding = not_yet(
                    _("Accepted writes of the two runs: {count}. Expected: 1.").format(count=len(accepted))
                )
        return finding

    def dead(self) -> Finding:
        """A message that is no event of S3 and ended in the dead-letter queue."""
        unreadable = [message for message, (event, _keys) in self._events.items() if not event]
        if not unreadable:
            return not_attempted()
        if set(unreadable) & self._acknowledged:
            return not_yet(_("A message that cannot be read was deleted. Nobody can look at it any more."))
        if not set(unreadable) <= self._dead:
            return not_yet(self._receives([message for message in unreadable if message not in self._dead]))
        return right()

    def _sent_by_s3(self, key: str) -> list[str]:
        copies = self._copies()
        return [message for message in self._messages_about(key) if message not in copies]

    def _copies(self) -> list[str]:
        """The ids of the messages that the learner, not S3, has sent to the queue."""
        sent = [event for event in self._evidence.of(MessageSent) if event.queue == QUEUE]
        return [event.message_id for event in sent if event.caller.kind == "learner"]

    def _repeated(self, keys: list[str]) -> Finding:
        """Whether the messages about a repeated file left one order."""
        finding = not_attempted()
        for key in keys:
            order = order_of_key(key)
            messages = self._messages_about(key)
            if order is None:
                continue
            decisions = [one for one in self._decisions if key_of(one) == order]
            if not set(messages) <= self._acknowledged:
                finding = not_yet(self._why_waiting(key, messages))
            elif sum(one.accepted for one in decisions) > 1:
                return not_yet(_("The order `{order}` was written more than once.").format(order=order))
            elif not any(refused_by_condition(one) for one in decisions):
                finding = not_yet(_("No second write of `{order}` was refused.").format(order=order))
            else:
                return right()
        return finding

    # --- clean-up -------------------------------------------------------------------------------------

    def no_bucket(self) -> Finding:
        if BUCKET not in self._buckets():
            return right() if self._evidence.calls("s3", "CreateBucket") else not_attempted()
        if not self._evidence.calls("s3", "DeleteObject", "DeleteObjects"):
            return not_attempted()
        found = self._services.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
        if found:
            return not_yet(_("These files are still in the bucket: {keys}.").format(keys=listed(_keys(found))))
        return not_yet(_("The bucket is empty, but it still exists."))


def _lets_s3_send(policy: str) -> bool:
    """Whether a queue policy names S3 and the action that it needs."""
    try:
        statements = json.loads(policy)["Statement"]
    except (ValueError, LookupError, TypeError):
        return False
    for one in statements if isinstance(statements, list) else [statements]:
        principal = one.get("Principal", {})
        services = _several(principal.get("Service", ()) if isinstance(principal, dict) else principal)
        actions = {str(action).lower() for action in _several(one.get("Action", ()))}
        named = bool({"s3.amazonaws.com", "*"} & set(services)) and bool({"sqs:sendmessage", "sqs:*", "*"} & actions)
        if one.get("Effect") == "Allow" and named:
            return True
    return False


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _keys(contents: list[dict[str, Any]]) -> list[str]:
    return [_shown(str(one["Key"])) for one in contents]


def _shown(text: str) -> str:
    """A text of the learner's between backquotes."""
    return text.replace("`", "'")[:200]
