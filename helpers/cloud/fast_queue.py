"""Makes moto's queues cost the same per call whether ten messages wait or ten thousand.

moto counts all messages three times for each SendMessage (it asks for all attributes to read one), looks at all
of them for each ReceiveMessage and DeleteMessage, and draws 185 random letters one by one for each receipt
handle. The replacements answer the same, from the head of the queue and only when somebody reads the answer.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Iterator
from typing import Any

from moto.moto_api._internal import mock_random
from moto.sqs import models
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import Message, Queue

from .places import Place

HANDLE_LENGTH = 185

Check = Callable[[Message, float], bool]
Count = Callable[[Queue, float], int]


def receipt_handle() -> str:
    """A receipt handle as moto makes them."""
    return "".join(mock_random.choices(string.ascii_lowercase, k=HANDLE_LENGTH))


@functools.total_ordering
class Messages:
    """The messages of a queue that pass a check, looked for when they are asked for.

    It stands for moto's list of visible messages, and for its counts: as text it is the number.
    """

    def __init__(self, queue: Queue, check: Check, count: Count) -> None:
        self._queue = queue
        self._check = check
        self._count = count

    def __iter__(self) -> Iterator[Message]:
        now = models.unix_time_millis()
        return (message for message in self._queue._messages if self._check(message, now))

    def __len__(self) -> int:
        return self._count(self._queue, models.unix_time_millis())

    __index__ = __len__

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def __eq__(self, other: object) -> bool:
        return list(self) == other if isinstance(other, list) else len(self) == other

    def __lt__(self, other: int) -> bool:
        return len(self) < other

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return str(len(self))


def is_visible(message: Message, now: float) -> bool:
    """Whether a message may be received at `now`, in milliseconds."""
    return message.visible_at < now and message.delayed_until <= now


def _is_delayed(message: Message, now: float) -> bool:
    return now < message.delayed_until


def _is_hidden(message: Message, now: float) -> bool:
    return now <= message.visible_at


def _count_delayed(queue: Queue, now: float) -> int:
    return sum(1 for message in queue._messages if message.delayed_until > now)


def _count_hidden(queue: Queue, now: float) -> int:
    """Only what was received can be hidden: moto keeps that apart."""
    return sum(1 for message in queue.pending_messages if now <= message.visible_at)


def _count_visible(queue: Queue, now: float) -> int:
    return len(queue._messages) - _count_hidden(queue, now) - _count_delayed(queue, now)


def delete_message(queue: Queue, handle: str) -> None:
    """What moto's `Queue.delete_message` does, up to the message that is meant."""
    if handle in queue.deleted_messages:
        return
    for index, message in enumerate(queue._messages):
        if message.receipt_handle is not None and message.had_receipt_handle(handle):
            del queue._messages[index]
            queue.pending_messages.discard(message)
            queue.deleted_messages.update(message.all_receipt_handles)  # type: ignore[arg-type]  # as moto does
            return
    raise ReceiptHandleIsInvalid


def _selected(check: Check, count: Count) -> property:
    return property(lambda queue: Messages(queue, check, count))


REPLACED: tuple[tuple[Any, str, Any], ...] = (
    (models, "generate_receipt_handle", receipt_handle),
    (Queue, "delete_message", delete_message),
    (Queue, "messages", _selected(is_visible, _count_visible)),
    (Queue, "approximate_number_of_messages", _selected(is_visible, _count_visible)),
    (Queue, "approximate_number_of_messages_delayed", _selected(_is_delayed, _count_delayed)),
    (Queue, "approximate_number_of_messages_not_visible", _selected(_is_hidden, _count_hidden)),
)
"""What is replaced: where, under which name, by what."""


_KEEPS = "helpers/cloud/sqs_queue.py keeps the same bookkeeping for what it receives, deletes and redrives."
_SAME = "helpers/cloud/fast_queue.py answers the same without looking at all messages."

PLACES = (
    Place("moto.sqs.utils", "generate_receipt_handle", "0144b7ded26229be", _SAME),
    Place("moto.sqs.models", "Queue.delete_message", "d4164cbe3236ac98", _SAME),
    Place("moto.sqs.models", "Queue.messages.fget", "dde5f905d6c839fd", _SAME),
    Place("moto.sqs.models", "Queue.approximate_number_of_messages.fget", "f7af3a40a7d3df4f", _SAME),
    Place("moto.sqs.models", "Queue.approximate_number_of_messages_delayed.fget", "3d62d803c87c2503", _SAME),
    Place("moto.sqs.models", "Queue.approximate_number_of_messages_not_visible.fget", "49bc338b873fd810", _SAME),
    Place(
        "moto.sqs.models", "Queue.add_message", "234542ab69baf60c", "It must deliver to mappings that moto knows only."
    ),
    Place("moto.sqs.models", "Message.mark_received", "b9762a9ac38245d5", _KEEPS),
    Place("moto.sqs.models", "SQSBackend.receive_message", "6f1452a688e67933", _KEEPS),
)
"""What is replaced or relied on; patches.py verifies it before `install`."""


def install() -> Callable[[], None]:
    """Replace moto's functions. Returns a function that puts them back."""
    before = [(place, name, vars(place)[name]) for place, name, _ in REPLACED]
    for place, name, new in REPLACED:
        setattr(place, name, new)

    def undo() -> None:
        for place, name, old in before:
            setattr(place, name, old)

    return undo
