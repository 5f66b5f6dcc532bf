"""Receive, delete, hide, redrive and expire on moto's queues, for calls of SQS (sqs_backend) and for the poller.

moto's own `receive_message` reads and copies the whole queue for each call. These functions work on the same
list of messages, from its head and no further than they have to, and keep moto's bookkeeping, so that a
`ReceiveMessage` of the learner and a mapping see one queue. Call them inside the boundary's lock only. All times
are milliseconds of the account's clock.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from moto.sqs.models import Message, Queue, sqs_backends

from .fast_queue import receipt_handle

_EXACT = 100

MOST_IN_FLIGHT = 120_000
"""Messages of a queue that can be received and not yet deleted (SQS Developer Guide, "Message quotas")."""


class Order(Protocol):
    """Which of the messages that could be delivered a receive meets, and in which order."""

    def sample(self, messages: Iterable[Message], short: bool) -> Iterable[Message]: ...


@dataclass(slots=True)
class Received:
    """What one receive did: messages taken, and those that went to `dead_letter_queue`."""

    messages: list[Message] = field(default_factory=list)
    dead_lettered: list[Message] = field(default_factory=list)
    dead_letter_queue: str = ""


def find(queue_arn: str) -> Queue | None:
    """The queue of an ARN, None when there is none (any more)."""
    parts = queue_arn.split(":")
    if len(parts) != 6 or parts[2] != "sqs":
        return None
    queue = sqs_backends[parts[4]][parts[3]].queues.get(parts[5])
    return queue if isinstance(queue, Queue) else None


def receive(
    queue: Queue,
    wanted: int,
    now: float,
    fits: Callable[[Message], bool],
    visibility: int | None = None,
    short: bool = False,
) -> Received:
    """Take up to `wanted` messages that may be delivered, and hide each for `visibility` seconds.

    `visibility` None is the queue's own timeout; `short` says that the caller does not wait for messages.
    Stops at the first message that does not fit. A message whose receive count would exceed maxReceiveCount
    goes to the dead-letter queue instead; one that is older than the queue's retention period is dropped.
    """
    received = Received()
    wanted = min(wanted, room_in_flight(queue, now))
    if wanted <= 0:
        return received
    gone: list[Message] = []
    target, limit = _redrive_target(queue)
    oldest = _oldest(queue, now)
    order: Order | None = getattr(queue, "order", None)
    deliverable = _deliverable(queue, now)
    for message in order.sample(list(deliverable), short) if order is not None else deliverable:
        if (message.sent_timestamp or 0) <= oldest:
            gone.append(message)
        elif target is not None and message.approximate_receive_count >= limit:
            gone.append(message)
            received.dead_lettered.append(message)
        else:
            if not fits(message):
                break
            received.messages.append(message)
            if len(received.messages) == wanted:
                break
    for message in received.messages:
        _mark_received(queue, message, now, visibility)
    for message in gone:
        take_out(queue, message)
    if target is not None and received.dead_lettered:
        received.dead_letter_queue = target.name
        _put_in_dead_letter_queue(received.dead_lettered, queue, target, now)
    return received


def put(queue: Queue, messages: list[Message]) -> None:
    """Add messages at the queue's end.

    Not by moto's `add_message`: it delivers to mappings of its own, and its deduplication swallows a message that
    moves to a dead-letter queue.
    """
    with queue._messages_lock:
        queue._messages.extend(messages)
        queue._messages_lock.notify_all()


def expire(queue: Queue, now: float) -> None:
    """Drop what is older than the queue's retention period, also what is in flight."""
    oldest = _oldest(queue, now)
    for message in [one for one in queue._messages if (one.sent_timestamp or 0) <= oldest]:
        take_out(queue, message)


def in_flight(queue: Queue, now: float) -> int:
    """How many messages were received and neither deleted nor visible again."""
    return sum(1 for message in queue.pending_messages if message.visible_at >= now)


def room_in_flight(queue: Queue, now: float) -> int:
    """How many messages more may be in flight."""
    limit = int(getattr(queue, "most_in_flight", MOST_IN_FLIGHT))
    # Messages that became visible again are still among the pending ones until somebody receives them.
    known = len(queue.pending_messages)
    return limit - (known if known < limit else in_flight(queue, now))


def is_current(message: Message, handle: str, now: float) -> bool:
    """Whether a handle is the newest of its message, and its visibility timeout has not ended."""
    return message.receipt_handle == handle and message.visible_at >= now


def delete(queue: Queue, message: Message, handle: str, now: float) -> bool:
    """Delete a message that was received with `handle`. Returns whether it was in the queue.

    On a standard queue a handle stays good after its visibility timeout; on a FIFO queue it does not (SQS API
    Reference, DeleteMessage).
    """
    if queue.fifo_queue and not is_current(message, handle, now):
        return False
    handles = [known for known in message.all_receipt_handles if known]
    if not take_out(queue, message):
        return False
    queue.deleted_messages.update(handles)
    return True


def waiting(queue: Queue, now: float) -> int:
    """How many messages could be received now; of more than a hundred, about how many."""
    counted = sum(1 for _ in itertools.islice(_deliverable(queue, now), _EXACT))
    return counted if counted < _EXACT else max(counted, len(queue._messages) - len(queue.pending_messages))


def has_delivery(queue: Queue, now: float) -> bool:
    """Whether a message could be received now."""
    return next(_deliverable(queue, now), None) is not None


def next_delivery(queue: Queue, now: float) -> float | None:
    """When the next message may be delivered: `now` if one may, None if time alone brings none."""
    if has_delivery(queue, now):
        return now
    times = (max(message.visible_at, message.delayed_until) for message in queue._messages)
    # A message of a FIFO group that waits behind a hidden one may have been visible for long.
    return min((time for time in times if time >= now), default=None)


def _deliverable(queue: Queue, now: float) -> Iterator[Message]:
    blocked: set[str | None] = set()
    if queue.fifo_queue:
        blocked = {message.group_id for message in queue.pending_messages if message.visible_at >= now}
    for message in queue._messages:
        if message.visible_at < now and message.delayed_until <= now:
            if message.group_id not in blocked:
                yield message
        elif queue.fifo_queue:
            # What comes later in the same group waits for it.
            blocked.add(message.group_id)


_Number = Literal[
    "delay_seconds",
    "maximum_message_size",
    "message_retention_period",
    "receive_message_wait_time_seconds",
    "visibility_timeout",
]


def number(queue: Queue, name: _Number) -> int:
    """A setting of a queue in seconds or bytes. moto gives queues these attributes at run time, as texts or numbers."""
    return int(getattr(queue, name))


def _oldest(queue: Queue, now: float) -> float:
    """When the oldest message was sent that the queue still keeps."""
    return now - number(queue, "message_retention_period") * 1000


def _redrive_target(queue: Queue) -> tuple[Queue | None, int]:
    known, policy = queue.dead_letter_queue, queue.redrive_policy
    if known is None or not policy:
        return None, 0
    # The dead-letter queue may have been deleted, or deleted and created again, since the policy was set.
    target = find(known.queue_arn)
    # A queue that is its own would move its messages in circles and deliver none of them.
    return (None if target is queue else target), int(policy["maxReceiveCount"])


def _mark_received(queue: Queue, message: Message, now: float, visibility: int | None) -> None:
    message.approximate_first_receive_timestamp = message.approximate_first_receive_timestamp or int(now)
    message.approximate_receive_count += 1
    timeout = number(queue, "visibility_timeout") if visibility is None else int(visibility)
    message.visible_at = now + timeout * 1000
    message.received_at = now  # type: ignore[attr-defined]  # the account's own
    message._old_receipt_handles.append(message.receipt_handle)  # type: ignore[arg-type]  # as moto does: None at first
    message.receipt_handle = receipt_handle()
    queue.pending_messages.add(message)


def take_out(queue: Queue, message: Message) -> bool:
    """Remove a message from its queue. Returns whether it was there."""
    try:
        queue._messages.remove(message)
    except ValueError:
        return False
    queue.pending_messages.discard(message)
    return True


def _put_in_dead_letter_queue(messages: list[Message], source: Queue, target: Queue, now: float) -> None:
    for message in messages:
        message.visible_at = message.delayed_until = 0.0
        message.dead_letter_source = source.queue_arn  # type: ignore[attr-defined]  # the account's own
        if target.fifo_queue:
            # SQS Developer Guide, "Using dead-letter queues": only FIFO queues reset the enqueue timestamp.
            message.sent_timestamp = int(now)  # type: ignore[assignment]  # moto: None only
    put(target, messages)
