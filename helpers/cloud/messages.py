"""SQS at the boundary: long polls that hold no lock, and the messages' events in the journal."""

from __future__ import annotations

import re
import time

from .boundary import Boundary
from .exchange import Exchange, with_parameters
from .journal import Journal, MessageAcknowledged, MessageDeadLettered, MessageReceived, MessageSent
from .responses import Response
from .sqs_queue import Received, number
from .sqs_request import entries, queue_name, queue_of

# Seconds between two looks of a long poll at a queue in which nothing arrives but time passes: a message can
# become visible without any call.
_LOOK_AGAIN = 0.25


class Messages:
    """Long polling, and MessageSent, MessageReceived and MessageAcknowledged for calls that pass the boundary."""

    def __init__(self, boundary: Boundary, journal: Journal) -> None:
        self._boundary = boundary
        self._journal = journal
        boundary.route("sqs", "ReceiveMessage", self._receive)
        boundary.after("sqs", "ReceiveMessage", self._received)
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
                return response
            self._boundary.changed.wait(seen, min(left, _LOOK_AGAIN))

    def _wait_time(self, exchange: Exchange) -> float:
        asked = exchange.parameters.get("WaitTimeSeconds")
        if asked is None:
            queue = queue_of(exchange.parameters)
            asked = number(queue, "receive_message_wait_time_seconds") if queue is not None else 0
        try:
            return min(20.0, max(0.0, float(asked)))
        except (TypeError, ValueError):
            return 0.0

    def _sent(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400:
            (message_id,) = _message_ids(exchange, response)
            self._record_sent(exchange, message_id, exchange.parameters.get("MessageBody", ""))

    def _sent_batch(self, exchange: Exchange, response: Response) -> None:
        if response.status >= 400:
            return
        bodies = {entry["Id"]: entry["MessageBody"] for entry in entries(exchange)}
        if exchange.is_json:
            successful = [(entry["Id"], entry["MessageId"]) for entry in response.json().get("Successful", [])]
        else:
            successful = _SENT.findall(response.payload.decode())
        for entry_id, message_id in successful:
            self._record_sent(exchange, message_id, bodies[entry_id])

    def _record_sent(self, exchange: Exchange, message_id: str, body: str) -> None:
        queue = queue_name(exchange.parameters)
        self._journal.record(MessageSent, queue=queue, message_id=message_id, body=body, caller=exchange.caller)

    def _received(self, exchange: Exchange, response: Response) -> None:
        """What a receive took, and what it moved because it had been received too often.

        SQS Developer Guide, "Using dead-letter queues".
        """
        queue = queue_of(exchange.parameters)
        known = queue.__dict__.pop("received", None) if queue is not None else None
        exchange.notes["received"] = received = known or Received()
        if queue is None or response.status >= 400:
            return
        for message in received.dead_lettered:
            self._journal.record(
                MessageDeadLettered,
                queue=queue.name,
                message_id=message.id,
                dead_letter_queue=received.dead_letter_queue,
            )
        for message in received.messages:
            self._journal.record(
                MessageReceived,
                queue=queue.name,
                message_id=message.id,
                receive_count=message.approximate_receive_count,
                caller=exchange.caller,
            )

    def _find(self, exchange: Exchange) -> None:
        queue = queue_of(exchange.parameters)
        handles = {entry.get("ReceiptHandle") for entry in entries(exchange)}
        # A message that was never received has the handle None.
        handles.discard(None)
        found = exchange.notes["messages"] = []
        for message in queue._messages if queue is not None else ():
            if not handles:
                # What was received lies near the head: the rest of a long queue is not looked at.
                break
            if known := handles.intersection(message.all_receipt_handles):
                handles -= known
                found.append(message)

    def _acknowledged(self, exchange: Exchange, response: Response) -> None:
        """Record what is gone: an entry of a batch can fail by itself."""
        queue = queue_of(exchange.parameters)
        if response.status >= 400 or queue is None:
            return
        for message in exchange.notes["messages"]:
            if message.receipt_handle in queue.deleted_messages:
                self._journal.record(
                    MessageAcknowledged, queue=queue.name, message_id=message.id, caller=exchange.caller
                )


_SENT = re.compile(r"<Id>([^<]+)</Id>\s*<MessageId>([^<]+)</MessageId>")


def _message_ids(exchange: Exchange, response: Response) -> list[str]:
    """The id of the message in an answer to a send, in either of SQS's protocols."""
    if not exchange.is_json:
        return re.findall(r"<MessageId>([^<]+)</MessageId>", response.payload.decode())
    return [response.json()["MessageId"]]
