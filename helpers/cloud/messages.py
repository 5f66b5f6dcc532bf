"""SQS at the boundary: long polls that hold no lock, and the messages' events in the journal."""

from __future__ import annotations

import time
from typing import Any

from .boundary import Boundary
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange, with_parameters
from .journal import Journal, MessageAcknowledged, MessageReceived, MessageSent
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
        handles = {message["ReceiptHandle"]: message["MessageId"] for message in response.json().get("Messages", [])}
        queue = queue_of(exchange.parameters)
        with self._boundary.lock:
            counts = (
                {m.id: m.approximate_receive_count for m in queue._messages if m.id in handles.values()}
                if queue
                else {}
            )
        for message_id in handles.values():
            self._journal.record(
                MessageReceived,
                queue=queue_name(exchange.parameters),
                message_id=message_id,
                receive_count=counts.get(message_id, 1),
                caller=exchange.caller,
            )

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
