"""SQS at the boundary: long polls that hold no lock, and the messages' events in the journal."""

from __future__ import annotations

import time
from typing import Any

from .boundary import Boundary
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange, with_parameters
from .journal import Journal, MessageAcknowledged, MessageDeadLettered, MessageReceived, MessageSent
from .responses import Response

# Seconds between two looks of a long poll at a queue in which nothing arrives but time passes: a message can
# become visible without any call.
_LOOK_AGAIN = 0.25


class Messages:
    """Long polling, and MessageSent, MessageReceived and MessageAcknowledged for calls that pass the boundary."""

    def __init__(self, boundary: Boundary, journal: Journal) -> None:
        self._boundary = boundary
        self._journal = journal
        boundary.route("sqs", "ReceiveMessage", self._receive)
        boundary.before("sqs", "ReceiveMessage", self._look_at_dead_letters)
        boundary.after("sqs", "ReceiveMessage", self._dead_lettered)
        boundary.after("sqs", "SendMessage", self._sent)
        boundary.after("sqs", "SendMessageBatch", self._sent_batch)
        boundary.before("sqs", "DeleteMessage", self._find)
        boundary.after("sqs", "DeleteMessage", self._acknowledged)
        boundary.before("sqs", "DeleteMessageBatch", self._find)
        boundary.after("sqs", "DeleteMessageBatch", self._acknowledged)

    def _receive(self, exchange: Exchange) -> Response:
        """ReceiveMessage with WaitTimeSeconds, without holding the lock while it waits."""
        end = time.monotonic() + self._wait_time(exchange)
        at_once = with_parameters(exchange, {"WaitTimeSeconds": 0})
        while True:
            seen = self._boundary.changed.count
            response = self._boundary.ask_moto(exchange, at_once)
            left = end - time.monotonic()
            if response.status >= 400 or left <= 0 or b"ReceiptHandle" in response.payload:
                self._received(exchange, response)
                return response
            self._boundary.changed.wait(seen, min(left, _LOOK_AGAIN))

    def _wait_time(self, exchange: Exchange) -> float:
        asked = exchange.parameters.get("WaitTimeSeconds")
        if asked is None:
            queue = queue_of(exchange.parameters)
            asked = queue.receive_message_wait_time_seconds if queue is not None else 0
        try:
            return min(20.0, max(0.0, float(asked)))
        except (TypeError, ValueError):
            return 0.0

    def _sent(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400 and exchange.is_json:
            self._record_sent(exchange, response.json()["MessageId"], exchange.parameters.get("MessageBody", ""))

    def _sent_batch(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400 and exchange.is_json:
            bodies = {entry["Id"]: entry["MessageBody"] for entry in exchange.parameters["Entries"]}
            for entry in response.json().get("Successful", []):
                self._record_sent(exchange, entry["MessageId"], bodies[entry["Id"]])

    def _record_sent(self, exchange: Exchange, message_id: str, body: str) -> None:
        queue = queue_name(exchange.parameters)
        self._journal.record(MessageSent, queue=queue, message_id=message_id, body=body, caller=exchange.caller)

    def _received(self, exchange: Exchange, response: Response) -> None:
        if response.status >= 400 or not exchange.is_json:
            return
        ids = [message["MessageId"] for message in response.json().get("Messages", [])]
        counts = self._receive_counts(exchange, ids)
        for message_id in ids:
            self._journal.record(
                MessageReceived,
                queue=queue_name(exchange.parameters),
                message_id=message_id,
                receive_count=counts[message_id],
                caller=exchange.caller,
            )

    def _receive_counts(self, exchange: Exchange, ids: list[str]) -> dict[str, int]:
        """How often each message was received; 1 for one that another caller deleted meanwhile."""
        counts = dict.fromkeys(ids, 1)
        missing = set(ids)
        with self._boundary.lock:
            queue = queue_of(exchange.parameters)
            for message in queue._messages if queue is not None else ():
                if not missing:
                    break
                if message.id in missing:
                    missing.discard(message.id)
                    counts[message.id] = message.approximate_receive_count
        return counts

    def _look_at_dead_letters(self, exchange: Exchange) -> None:
        target = self._dead_letters(exchange)
        exchange.notes["dead letters"] = len(target._messages) if target is not None else 0

    def _dead_lettered(self, exchange: Exchange, response: Response) -> None:
        """A receive moves what was received too often (SQS Developer Guide, "Using dead-letter queues")."""
        target = self._dead_letters(exchange)
        if target is not None:
            for message in target._messages[exchange.notes["dead letters"] :]:
                self._journal.record(
                    MessageDeadLettered,
                    queue=queue_name(exchange.parameters),
                    message_id=message.id,
                    dead_letter_queue=target.name,
                )

    def _dead_letters(self, exchange: Exchange) -> Any:
        queue = queue_of(exchange.parameters)
        return queue.dead_letter_queue if queue is not None else None

    def _find(self, exchange: Exchange) -> None:
        queue = queue_of(exchange.parameters)
        entries = exchange.parameters.get("Entries") or [exchange.parameters]
        handles = {entry.get("ReceiptHandle") for entry in entries if isinstance(entry, dict)}
        found = (
            [m.id for m in queue._messages if handles.intersection(m.all_receipt_handles)] if queue is not None else []
        )
        exchange.notes["messages"] = found

    def _acknowledged(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400:
            for message_id in exchange.notes["messages"]:
                queue = queue_name(exchange.parameters)
                self._journal.record(MessageAcknowledged, queue=queue, message_id=message_id, caller=exchange.caller)


def queue_name(parameters: dict[str, Any]) -> str:
    """The name in a call's QueueUrl."""
    return str(parameters.get("QueueUrl", "")).rpartition("/")[2]


def queue_of(parameters: dict[str, Any]) -> Any:
    """moto's queue for a call's QueueUrl, or None."""
    from moto.sqs.models import sqs_backends

    return sqs_backends[ACCOUNT_ID][REGION].queues.get(queue_name(parameters))
