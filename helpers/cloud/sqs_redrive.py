"""Moving the messages of a dead-letter queue back: StartMessageMoveTask, ListMessageMoveTasks, CancelMessageMoveTask.

SQS API Reference, the three actions, and SQS Developer Guide, "Dead-letter queue redrive": a message that was moved
counts as new, with a new id and a new enqueue time. Errors and statuses are recorded against AWS.
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moto.moto_api._internal import mock_random
from moto.sqs.models import Message, Queue, sqs_backends

from . import sqs_queue
from .boundary import Boundary, Handler
from .clock import Clock
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .journal import Caller, Journal, MessageAcknowledged, MessageSent
from .responses import Refused, Response
from .sqs_checks import in_range
from .sqs_request import members

MOST_PER_SECOND = 500
MOST_RESULTS = 10

_SQS = Caller("service", "sqs")


@dataclass(slots=True)
class _Task:
    """A move task. `started` is in seconds; `rate` in messages per second, 0 without a limit."""

    task_id: str
    source: str
    destination: str
    started: float
    rate: int
    to_move: int
    moved: int = 0
    status: str = "RUNNING"
    failure: str = ""

    @property
    def handle(self) -> str:
        return base64.b64encode(json.dumps({"taskId": self.task_id, "sourceArn": self.source}).encode()).decode()

    def result(self) -> dict[str, Any]:
        """The task as ListMessageMoveTasks shows it."""
        return {
            **({"TaskHandle": self.handle} if self.status == "RUNNING" else {}),
            "Status": self.status,
            "SourceArn": self.source,
            **({"DestinationArn": self.destination} if self.destination else {}),
            **({"MaxNumberOfMessagesPerSecond": self.rate} if self.rate else {}),
            "ApproximateNumberOfMessagesMoved": self.moved,
            "ApproximateNumberOfMessagesToMove": self.to_move,
            **({"FailureReason": self.failure} if self.failure else {}),
            "StartedTimestamp": int(self.started * 1000),
        }


class MoveTasks:
    """The move tasks of an account. One with a rate moves on with the account's clock."""

    def __init__(self, boundary: Boundary, clock: Clock, journal: Journal) -> None:
        self._boundary, self._clock, self._journal = boundary, clock, journal
        self._tasks: list[_Task] = []
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.moved: Callable[[], None] = boundary.changed.notify
        """Called after messages were moved without a call, so that mappings look for them."""
        for action, answer in (
            ("StartMessageMoveTask", self._start),
            ("ListMessageMoveTasks", self._list),
            ("CancelMessageMoveTask", self._cancel),
        ):
            boundary.route("sqs", action, self._answering(answer))
        clock.on_skip(self._look)

    def close(self) -> None:
        """Move nothing more."""
        self._closed = True
        self._look()

    def _answering(self, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Handler:
        def handler(exchange: Exchange) -> Response:
            try:
                with self._boundary.lock:
                    self._advance()
                    return Response.of_json(answer(members(exchange)))
            except Refused as refused:
                return refused.answer(exchange)

        return handler

    def _start(self, asked: dict[str, Any]) -> dict[str, Any]:
        source, destination = str(asked.get("SourceArn") or ""), str(asked.get("DestinationArn") or "")
        rate = asked.get("MaxNumberOfMessagesPerSecond") or 0
        reason = f"Must be between 1 and {MOST_PER_SECOND}, if provided."
        in_range(rate or 1, "MaxNumberOfMessagesPerSecond", 1, MOST_PER_SECOND, reason)
        queue = sqs_queue.find(source)
        if queue is None:
            raise _missing("SourceArn")
        if destination and sqs_queue.find(destination) is None:
            raise _missing("DestinationArn")
        if not _sources(queue):
            raise Refused("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
        if any(task.status == "RUNNING" and task.source == source for task in self._tasks):
            raise Refused(
                "InvalidParameterValue",
                "There is already a task running. Only one active task is allowed for a source queue arn at a given "
                "time.",
            )
        now = self._clock.now()
        task = _Task(str(mock_random.uuid4()), source, destination, now, int(rate), len(queue._messages))
        self._tasks.append(task)
        handle = task.handle
        self._advance()
        if task.status == "RUNNING":
            self._work()
        return {"TaskHandle": handle}

    def _list(self, asked: dict[str, Any]) -> dict[str, Any]:
        source, most = str(asked.get("SourceArn") or ""), asked.get("MaxResults") or 1
        in_range(most, "MaxResults", 1, MOST_RESULTS, f"Must be between 1 and {MOST_RESULTS}, if provided.")
        if sqs_queue.find(source) is None:
            raise _missing("SourceArn")
        found = [task.result() for task in reversed(self._tasks) if task.source == source]
        return {"Results": found[: int(most)]}

    def _cancel(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            named = json.loads(base64.b64decode(str(asked.get("TaskHandle") or ""), validate=True))
            task_id, source = named["taskId"], named["sourceArn"]
        except (binascii.Error, ValueError, KeyError, TypeError) as unreadable:
            raise Refused("InvalidParameterValue", "Value for parameter TaskHandle is invalid.") from unreadable
        if sqs_queue.find(str(source)) is None:
            raise _missing("SourceArn")
        task = next((one for one in self._tasks if one.task_id == task_id and one.status == "RUNNING"), None)
        if task is None:
            raise Refused("ResourceNotFoundException", "Task does not exist.", 404)
        task.status = "CANCELLED"
        return {"ApproximateNumberOfMessagesMoved": task.moved}

    def _advance(self) -> None:
        """Move what may be moved by now. Call it inside the boundary's lock."""
        for task in self._tasks:
            if task.status == "RUNNING":
                self._move(task)

    def _move(self, task: _Task) -> None:
        now = self._clock.now()
        may = task.to_move if not task.rate else int((now - task.started) * task.rate)
        source = sqs_queue.find(task.source)
        while task.moved < min(may, task.to_move):
            message = next(iter(source._messages), None) if source is not None else None
            if source is None or message is None:
                break
            target = sqs_queue.find(task.destination or getattr(message, "dead_letter_source", ""))
            if target is None:
                task.status, task.failure = "FAILED", "AWS.SimpleQueueService.NonExistentQueue"
                return
            self._move_one(source, target, message, now)
            task.moved += 1
        if source is None or not source._messages or task.moved >= task.to_move:
            task.status = "COMPLETED"

    def _move_one(self, source: Queue, target: Queue, message: Message, now: float) -> None:
        fresh = Message(str(mock_random.uuid4()), message.body, message.system_attributes)
        fresh.message_attributes = message.message_attributes
        fresh.group_id, fresh.deduplication_id = message.group_id, message.deduplication_id
        fresh.sequence_number = message.sequence_number
        fresh.sent_timestamp = int(now * 1000)  # type: ignore[assignment]  # moto: None only
        sqs_queue.take_out(source, message)
        sqs_queue.put(target, [fresh])
        self._journal.record(MessageAcknowledged, queue=source.name, message_id=message.id, caller=_SQS)
        self._journal.record(MessageSent, queue=target.name, message_id=fresh.id, body=fresh.body, caller=_SQS)

    def _work(self) -> None:
        """Let tasks with a rate go on when nobody calls."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._watch, name="once-redrive", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._closed:
            with self._boundary.lock:
                before = sum(task.moved for task in self._tasks)
                self._advance()
                moved = sum(task.moved for task in self._tasks) > before
                rates = [task.rate for task in self._tasks if task.status == "RUNNING"]
                if not rates:
                    self._thread = None
            if moved:
                self.moved()
                self._boundary.changed.notify()
            if not rates:
                return
            with self._wake:
                self._wake.wait(1 / max(rates))

    def _look(self) -> None:
        with self._wake:
            self._wake.notify_all()


def _sources(queue: Queue) -> list[Queue]:
    """The queues whose dead-letter queue this one is."""
    known = sqs_backends[ACCOUNT_ID][REGION].queues.values()
    return [one for one in known if one.dead_letter_queue is not None and one.dead_letter_queue.name == queue.name]


def _missing(parameter: str) -> Refused:
    sentence = f"The resource that you specified for the {parameter} parameter doesn't exist."
    return Refused("ResourceNotFoundException", sentence, 404)
