"""The queues of an account beside moto: what SQS refuses, what it measures with the clock, and `scatter`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import sqs_attributes, sqs_batches, sqs_checks, sqs_queue
from .boundary import Boundary
from .clock import Clock
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .journal import Journal
from .responses import Refused, Response, refusing
from .sqs_checks import PREFIX
from .sqs_redrive import MoveTasks
from .sqs_request import entries, members, queue_name, queue_of
from .sqs_scatter import Scatter

if TYPE_CHECKING:
    from moto.sqs.models import Queue

SECONDS_BETWEEN_PURGES = 60


class Queues:
    """Rules of SQS that moto does not have; `scatter` and `limit_in_flight` change one queue."""

    def __init__(self, boundary: Boundary, clock: Clock, journal: Journal) -> None:
        self._boundary = boundary
        self._clock = clock
        self._deleted: dict[str, float] = {}
        self._purged: dict[str, float] = {}
        self.move_tasks = MoveTasks(boundary, clock, journal)
        for action, check in (
            ("CreateQueue", self._check_create),
            ("SetQueueAttributes", self._check_set),
            ("PurgeQueue", self._check_purge),
            ("GetQueueAttributes", self._expire),
            ("SendMessage", self._check_send),
            ("ReceiveMessage", self._check_receive),
            ("DeleteMessage", self._check_delete),
            ("DeleteMessageBatch", self._check_batch),
            ("ChangeMessageVisibility", lambda exchange: sqs_checks.check_visibility(members(exchange))),
            ("ChangeMessageVisibilityBatch", self._check_batch),
        ):
            boundary.before("sqs", action, refusing(check))
        boundary.route("sqs", "SendMessageBatch", self._send_batch)
        boundary.route("sqs", "DeleteMessageBatch", self._delete_batch)
        boundary.after("sqs", "DeleteQueue", self._remember_deleted)
        boundary.after("sqs", "PurgeQueue", self._remember_purged)
        boundary.after("sqs", "DeleteMessage", _name_handle)
        boundary.after("sqs", "ReceiveMessage", self._add_source)

    # --- for programs ------------------------------------------------------------------------------------------

    def scatter(self, queue: str, seed: int = 1) -> None:
        """Let receives from a standard queue be out of order, and short polls partial, repeatably by `seed`.

        Raises KeyError when there is no such queue, ValueError for a FIFO queue.
        """
        with self._boundary.lock:
            found = self._named(queue)
            if found.fifo_queue:
                raise ValueError(f"{queue} is a FIFO queue: it keeps its order")
            found.order = Scatter(seed)

    def keep_order(self, queue: str) -> None:
        """Take `scatter` back. Raises KeyError when there is no such queue."""
        with self._boundary.lock:
            self._named(queue).order = None

    def limit_in_flight(self, queue: str, most: int = sqs_queue.MOST_IN_FLIGHT) -> None:
        """Let at most `most` messages of a queue be in flight. Raises KeyError when there is no such queue."""
        with self._boundary.lock:
            self._named(queue).most_in_flight = most

    def close(self) -> None:
        """Move nothing more."""
        self.move_tasks.close()

    def _named(self, queue: str) -> Any:
        """moto's queue, on which the account sets more than moto's class has."""
        found = queue_of({"QueueUrl": f"/{queue}"})
        if found is None:
            raise KeyError(queue)
        return found

    # --- queues ------------------------------------------------------------------------------------------------

    def _check_create(self, exchange: Exchange) -> None:
        asked = members(exchange)
        name, attributes = asked.get("QueueName"), asked.get("Attributes") or {}
        if not isinstance(name, str) or not _is_flat(attributes):
            return
        sqs_attributes.check_type(attributes, None)
        sqs_attributes.check_name(name, attributes)
        fifo = name.endswith(".fifo")
        sqs_attributes.check_attributes(attributes, f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{name}", fifo)
        existing = queue_of({"QueueUrl": f"/{name}"})
        if existing is not None:
            sqs_attributes.check_same(attributes, existing)
        elif self._clock.now() - self._deleted.get(name, float("-inf")) < sqs_attributes.SECONDS_BEFORE_SAME_NAME:
            raise Refused(
                PREFIX + "QueueDeletedRecently",
                f"You must wait {sqs_attributes.SECONDS_BEFORE_SAME_NAME} seconds after deleting a queue before you "
                "can create another with the same name.",
            )

    def _check_set(self, exchange: Exchange) -> None:
        asked = members(exchange)
        queue, attributes = queue_of(asked), asked.get("Attributes") or {}
        if queue is None or not _is_flat(attributes):
            return
        sqs_attributes.check_type(attributes, queue.fifo_queue)
        sqs_attributes.check_attributes(attributes, queue.queue_arn, queue.fifo_queue)

    def _remember_deleted(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400:
            self._deleted[queue_name(exchange.parameters)] = self._clock.now()

    def _check_purge(self, exchange: Exchange) -> None:
        name = queue_name(exchange.parameters)
        if self._clock.now() - self._purged.get(name, float("-inf")) < SECONDS_BETWEEN_PURGES and queue_of(
            exchange.parameters
        ):
            raise Refused(
                PREFIX + "PurgeQueueInProgress",
                f"Only one PurgeQueue operation on {name} is allowed every {SECONDS_BETWEEN_PURGES} seconds.",
                403,
            )

    def _remember_purged(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400:
            self._purged[queue_name(exchange.parameters)] = self._clock.now()

    def _expire(self, exchange: Exchange) -> None:
        queue = queue_of(exchange.parameters)
        if queue is not None:
            sqs_queue.expire(queue, self._now())

    # --- messages ----------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return self._clock.now() * 1000

    def _check_send(self, exchange: Exchange) -> None:
        queue = queue_of(exchange.parameters)
        if queue is not None:
            sqs_checks.check_message(members(exchange), queue)

    def _send_batch(self, exchange: Exchange) -> Response:
        queue = queue_of(exchange.parameters)
        if queue is None or not _are_entries(exchange):
            return self._boundary.ask_moto(exchange)
        try:
            asked = entries(exchange)
            sqs_checks.check_batch(asked, "SendMessage")
            sqs_checks.check_batch_size(asked)
            if queue.fifo_queue:
                # An entry without its ids is the mistake of the whole batch (recorded against AWS).
                for entry in asked:
                    _check_fifo_entry(entry, queue)
        except Refused as refused:
            return refused.answer(exchange)
        return sqs_batches.answer(self._boundary, exchange, lambda entry: sqs_checks.check_message(entry, queue))

    def _check_receive(self, exchange: Exchange) -> None:
        asked = members(exchange)
        sqs_checks.check_receive(asked)
        queue = queue_of(asked)
        if queue is None:
            return
        wait = asked.get("WaitTimeSeconds")
        short = not (sqs_queue.number(queue, "receive_message_wait_time_seconds") if wait is None else wait)
        queue.polled_short = short  # type: ignore[attr-defined]  # the account's own
        if short and not queue.fifo_queue and sqs_queue.room_in_flight(queue, self._now()) <= 0:
            # SQS Developer Guide, "Message quotas": a long poll gets no error, and neither does a FIFO queue.
            raise Refused("OverLimit", "Too many messages in flight.", 403)

    def _check_delete(self, exchange: Exchange) -> None:
        queue = queue_of(exchange.parameters)
        if queue is not None and queue.fifo_queue:
            self._check_current(queue, exchange.parameters.get("ReceiptHandle"))

    def _check_batch(self, exchange: Exchange) -> None:
        if queue_of(exchange.parameters) is not None and _are_entries(exchange):
            sqs_checks.check_batch(entries(exchange), exchange.action.removesuffix("Batch"))

    def _delete_batch(self, exchange: Exchange) -> Response:
        queue = queue_of(exchange.parameters)
        if queue is None or not _are_entries(exchange):
            return self._boundary.ask_moto(exchange)

        def check(entry: dict[str, Any]) -> None:
            if queue.fifo_queue:
                try:
                    self._check_current(queue, entry.get("ReceiptHandle"))
                except Refused as expired:
                    # Quoted in a public issue.
                    raise Refused("ReceiptHandleIsInvalid", "The receipt handle has expired") from expired

        return sqs_batches.answer(self._boundary, exchange, check)

    def _check_current(self, queue: Queue, handle: Any) -> None:
        """On a FIFO queue a handle is good until its visibility timeout ends (SQS API Reference, DeleteMessage)."""
        message = next((one for one in queue._messages if one.had_receipt_handle(handle)), None)
        if message is not None and not sqs_queue.is_current(message, handle, self._now()):
            raise sqs_checks.invalid(handle, "ReceiptHandle", "The receipt handle has expired.")

    def _add_source(self, exchange: Exchange, response: Response) -> None:
        """DeadLetterQueueSourceArn, which moto does not know (SQS API Reference, ReceiveMessage)."""
        sources = _sources(exchange.notes["received"].messages)
        asked = [*(exchange.parameters.get(name) or [] for name in _NAME_LISTS)]
        wanted = {name for names in asked if isinstance(names, list) for name in names}
        if not sources or not exchange.is_json or response.status >= 400 or not wanted & {"All", _SOURCE}:
            return
        answer = response.json()
        for message in answer.get("Messages", []):
            if message["MessageId"] in sources:
                message.setdefault("Attributes", {})[_SOURCE] = sources[message["MessageId"]]
        response.edit_json(answer)


_SOURCE = "DeadLetterQueueSourceArn"
_NAME_LISTS = ("AttributeNames", "MessageSystemAttributeNames")


def _sources(messages: Iterable[Any]) -> dict[str, str]:
    """The queues from which messages came to a dead-letter queue, by message id."""
    found = {message.id: getattr(message, "dead_letter_source", None) for message in messages}
    return {message_id: source for message_id, source in found.items() if source}


def _name_handle(exchange: Exchange, response: Response) -> None:
    """AWS's sentence, which quotes the handle."""
    if response.error == "ReceiptHandleIsInvalid":
        better = sqs_checks.unknown_handle(exchange.parameters.get("ReceiptHandle")).answer(exchange)
        response.status, response.payload, response.headers = better.status, better.payload, better.headers


def _check_fifo_entry(entry: dict[str, Any], queue: Queue) -> None:
    if "MessageGroupId" not in entry:
        raise Refused("InvalidParameterValue", "The request must contain the parameter MessageGroupId.")
    if "MessageDeduplicationId" not in entry and not sqs_checks.deduplicates_by_content(queue):
        raise Refused("InvalidParameterValue", sqs_checks.NO_DEDUPLICATION)


def _is_flat(attributes: Any) -> bool:
    return isinstance(attributes, dict) and all(isinstance(value, str) for value in attributes.values())


def _are_entries(exchange: Exchange) -> bool:
    """Whether the batch has the form that the model asks for, as far as it is looked at here."""
    asked = exchange.parameters.get("Entries") if exchange.is_json else []
    return isinstance(asked, list) and all(isinstance(entry, dict) for entry in asked)
