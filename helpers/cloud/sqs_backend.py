"""Send, receive and hide as SQS does, in the place of moto's functions.

moto forgets a FIFO message's deduplication id when the message is deleted, gives each copy an id of its own and no
sequence number to a message deduplicated by content, copies the queue for each receive, counts the limit of a
visibility timeout from the send, drops a queue's policy whenever another attribute is set, and tells the times of a
queue with fractions of a second.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moto.moto_api._internal import mock_random
from moto.sqs import models
from moto.sqs.exceptions import InvalidParameterValue, SQSException
from moto.sqs.models import Message, Queue, SQSBackend

from . import sqs_queue
from .places import Place
from .sqs_checks import LONGEST_VISIBILITY, PREFIX, unknown_handle

DEDUPLICATION_SECONDS = 300
"""How long SQS remembers a deduplication id (SQS Developer Guide, "Using the message deduplication ID")."""

_FIRST_SEQUENCE_NUMBER = 18_849_496_460_467_696_128
"""Sequence numbers have 20 digits and grow within a queue, with gaps."""
_SEQUENCE_STEP = 256


@dataclass(frozen=True, slots=True)
class _Sent:
    """What SQS remembers of a message that was sent with a deduplication id. `at` is in seconds."""

    message: Message
    at: float


def send_message(
    self: SQSBackend,
    queue_name: str,
    message_body: str,
    message_attributes: dict[str, Any] | None = None,
    delay_seconds: int | None = None,
    deduplication_id: str | None = None,
    group_id: str | None = None,
    system_attributes: dict[str, Any] | None = None,
    validate_group_id: bool = True,
) -> Message:
    """Put a message into a queue. A copy within five minutes is accepted, under the first one's id, and not added."""
    queue = self.get_queue(queue_name)
    if queue.fifo_queue:
        deduplication_id = deduplication_id or content_id(message_body)
        known = _known(queue, deduplication_id, group_id)
        if known is not None:
            again = copy.copy(known)
            again.body, again.message_attributes = message_body, message_attributes or {}
            return again
    message = Message(str(mock_random.uuid4()), message_body, system_attributes)
    message.group_id, message.message_attributes = group_id, message_attributes or {}
    delay = sqs_queue.number(queue, "delay_seconds") if delay_seconds is None else int(delay_seconds)
    message.mark_sent(delay_seconds=delay)
    if queue.fifo_queue:
        message.deduplication_id = deduplication_id
        message.sequence_number = _next_sequence_number(queue)
        _remembered(queue)[_scope(queue, str(deduplication_id), group_id)] = _Sent(message, models.unix_time())
    sqs_queue.put(queue, [message])
    return message


def content_id(body: str) -> str:
    """The deduplication id of a message that has none: SHA-256 of the body, the attributes apart."""
    return hashlib.sha256(body.encode("utf-8")).hexdigest()


def receive_message(
    self: SQSBackend,
    queue_name: str,
    count: int,
    wait_seconds_timeout: int,
    visibility_timeout: int,
    message_attribute_names: list[str] | None = None,
) -> list[Message]:
    """Take up to `count` messages; `messages.Messages` does the waiting."""
    queue = self.get_queue(queue_name)
    received = sqs_queue.receive(
        queue,
        count,
        models.unix_time_millis(),
        lambda message: True,
        int(visibility_timeout),
        short=queue.__dict__.pop("polled_short", False),
    )
    # For the hooks after this call: moto's answer does not say all of it.
    queue.__dict__["received"] = received
    answered = []
    for message in received.messages:
        shown = copy.copy(message)
        models._filter_message_attributes(shown, message_attribute_names or [])
        answered.append(shown)
    return answered


def change_message_visibility(self: SQSBackend, queue_name: str, receipt_handle: str, visibility_timeout: int) -> None:
    """Hide a message until `visibility_timeout` seconds from now.

    A handle whose timeout has ended can still make its message visible, which it is (recorded against AWS), and hides
    it no more ("MessageNotInflight" of the API Reference). A deleted message: recorded in public issues.
    """
    queue = self.get_queue(queue_name)
    now = models.unix_time_millis()
    message = next((one for one in queue._messages if one.had_receipt_handle(receipt_handle)), None)
    if message is None:
        if receipt_handle not in queue.deleted_messages:
            refused = unknown_handle(receipt_handle)
            raise SQSException(refused.code, refused.message)
        raise InvalidParameterValue(
            f"Value {receipt_handle} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not "
            "available for visibility timeout change."
        )
    if message.visible_at < now:
        if visibility_timeout:
            raise SQSException(PREFIX + "MessageNotInflight", "The specified message isn't in flight.")
        return
    hidden = (now - getattr(message, "received_at", now)) / 1000
    if hidden + visibility_timeout > LONGEST_VISIBILITY:
        raise InvalidParameterValue(
            f"Value {visibility_timeout} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout "
            f"for the message is beyond the limit [{LONGEST_VISIBILITY} seconds]"
        )
    # A message is visible when its time lies before now.
    message.visible_at = now + visibility_timeout * 1000 - (not visibility_timeout)
    if not visibility_timeout:
        queue.pending_messages.discard(message)


def change_message_visibility_batch(
    self: SQSBackend, queue_name: str, entries: list[dict[str, Any]]
) -> tuple[list[str], list[dict[str, Any]]]:
    """The same for each entry; one that cannot be changed does not stop the others."""
    done: list[str] = []
    failed: list[dict[str, Any]] = []
    for entry in entries:
        timeout = entry.get("VisibilityTimeout", 0)
        try:
            if not 0 <= timeout <= LONGEST_VISIBILITY:
                raise InvalidParameterValue(
                    f"Value {timeout} for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= "
                    f"{LONGEST_VISIBILITY}, if provided."
                )
            self.change_message_visibility(queue_name, entry["ReceiptHandle"], timeout)
            done.append(entry["Id"])
        except SQSException as refused:
            failed.append({"Id": entry["Id"], "SenderFault": True, "Code": refused.code, "Message": refused.message})
    return done, failed


_set_attributes = Queue._set_attributes


def set_attributes(self: Queue, attributes: dict[str, Any], now: float | None = None) -> None:
    """Set attributes and leave the queue's policy as it is when they do not name it.

    Times are whole seconds (SQS API Reference, "GetQueueAttributes": epoch time in seconds).
    """
    if "Policy" not in attributes and hasattr(self, "_policy_json"):
        attributes = {**attributes, "Policy": self.policy}
    _set_attributes(self, attributes, now)
    self.created_timestamp, self.last_modified_timestamp = (
        int(self.created_timestamp),
        int(self.last_modified_timestamp),
    )


def _known(queue: Queue, deduplication_id: str, group_id: str | None) -> Message | None:
    remembered = _remembered(queue)
    forgotten = models.unix_time() - DEDUPLICATION_SECONDS
    while remembered and remembered[oldest := next(iter(remembered))].at <= forgotten:
        del remembered[oldest]
    sent = remembered.get(_scope(queue, deduplication_id, group_id))
    return sent.message if sent is not None else None


def _remembered(queue: Queue) -> dict[tuple[str, str], _Sent]:
    remembered: dict[tuple[str, str], _Sent] = queue.__dict__.setdefault("deduplications", {})
    return remembered


def _scope(queue: Queue, deduplication_id: str, group_id: str | None) -> tuple[str, str]:
    per_group = queue.deduplication_scope == "messageGroup"  # type: ignore[attr-defined]  # moto sets it at run time
    return (str(group_id) if per_group else "", deduplication_id)


def _next_sequence_number(queue: Queue) -> str:
    number = queue.__dict__.get("last_sequence_number", _FIRST_SEQUENCE_NUMBER) + _SEQUENCE_STEP
    queue.__dict__["last_sequence_number"] = number
    return str(number)


REPLACED: tuple[tuple[Any, str, Any], ...] = (
    (SQSBackend, "send_message", send_message),
    (SQSBackend, "receive_message", receive_message),
    (SQSBackend, "change_message_visibility", change_message_visibility),
    (SQSBackend, "change_message_visibility_batch", change_message_visibility_batch),
    (Queue, "_set_attributes", set_attributes),
)
"""What is replaced: where, under which name, by what."""

_WHY = "helpers/cloud/sqs_backend.py does it as SQS does."

PLACES = (
    Place("moto.sqs.models", "SQSBackend.send_message", "7ed4c1bf657daf34", _WHY),
    Place(
        "moto.sqs.models",
        "SQSBackend.send_message_batch",
        "3a6b83c7e7fc9a16",
        "It must send each message by send_message.",
    ),
    Place("moto.sqs.models", "SQSBackend.change_message_visibility", "1736293b29abae63", _WHY),
    Place("moto.sqs.models", "SQSBackend.change_message_visibility_batch", "3e5e5652b7448163", _WHY),
    Place(
        "moto.sqs.models",
        "SQSBackend._validate_message",
        "a8adbb41c9416ce1",
        "It must let pass what sqs_checks lets pass.",
    ),
    Place("moto.sqs.models", "Queue._set_attributes", "c17f550f78282aca", _WHY),
    Place(
        "moto.sqs.models",
        "Queue.attributes.fget",
        "cd028422d82136c9",
        "It must answer the names in Queue.BASE_ATTRIBUTES.",
    ),
)
"""What is replaced or relied on; patches.py verifies it before `install`."""


def install() -> Callable[[], None]:
    """Replace moto's functions, and let queues have a RedriveAllowPolicy. Returns what takes it back."""
    before = [(place, name, vars(place)[name]) for place, name, _ in REPLACED]
    for place, name, new in REPLACED:
        setattr(place, name, new)
    names = Queue.BASE_ATTRIBUTES
    Queue.BASE_ATTRIBUTES = [*names, "RedriveAllowPolicy"]
    Queue.redrive_allow_policy = None  # type: ignore[attr-defined]  # moto has none

    def undo() -> None:
        Queue.BASE_ATTRIBUTES = names
        del Queue.redrive_allow_policy  # type: ignore[attr-defined]  # set above
        for place, name, old in before:
            setattr(place, name, old)

    return undo
