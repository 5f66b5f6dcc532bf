"""A queue, a table and workers that are plain Python, for the explorer: thousands of schedules in a second.

`ModelledConductor` has the face of helpers.cloud.schedules.Conductor, and writes the same events into a journal. A
handler is a generator: it yields ("get",) and is sent the stored quantity or None, or it yields ("claim",) or
("put", conditional, key) and is sent whether the write was accepted. A claim is a conditional write of an item that is
no order.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

from helpers.cloud.journal import (
    Call,
    Caller,
    Journal,
    MessageAcknowledged,
    MessageReceived,
    MessageReturned,
    MessageSent,
    RunEnded,
    RunStarted,
    WriteDecision,
)

Handler = Callable[[str, int, str], Generator[tuple[Any, ...], Any, None]]

QUEUE, FUNCTION, TABLE = "jobs", "worker", "orders"


class Message:
    def __init__(self, number: int, body: str) -> None:
        self.id = f"message-{number}"
        self.body = body
        self.hidden = False


class ModelledRun:
    def __init__(self, number: int, message: Message, program: Generator[tuple[Any, ...], Any, None]) -> None:
        self.message = message
        self.request_id = f"run-{number}"
        self.program = program
        self.asked: tuple[Any, ...] | None = None
        self.standing: Any = None
        self.result: Any = None
        self.nothing_ran: Exception | None = None
        self.answered: Any = None
        self.dies = False
        self.calls = 0

    @property
    def ended(self) -> bool:
        return self.result is not None


class ModelledConductor:
    def __init__(self, handler: Handler) -> None:
        self.journal = Journal(size=1_000_000)
        self.handler = handler
        self.table: dict[str, int | None] = {}
        self.queue: list[Message] = []
        self._numbers = itertools.count(1)
        self.bench: Any = SimpleNamespace(
            queue=QUEUE,
            function=FUNCTION,
            table=TABLE,
            url=QUEUE,
            services=SimpleNamespace(client=lambda service: SimpleNamespace(send_message_batch=self._send)),
        )

    def _send(self, QueueUrl: str, Entries: list[dict[str, str]]) -> None:
        for entry in Entries:
            message = Message(next(self._numbers), entry["MessageBody"])
            self.queue.append(message)
            self._record(MessageSent, queue=QUEUE, message_id=message.id, body=message.body, caller=Caller("learner"))

    def receive(self) -> ModelledRun:
        message = self.waiting()[0]
        message.hidden = True
        job = json.loads(message.body)
        run = ModelledRun(next(self._numbers), message, self.handler(job["id"], job["quantity"], message.id))
        self._record(MessageReceived, queue=QUEUE, message_id=message.id, receive_count=1, caller=self._caller(run))
        payload = json.dumps({"Records": [{"messageId": message.id, "body": message.body}]})
        self._record(RunStarted, function=FUNCTION, request_id=run.request_id, payload=payload, source="mapping")
        self._go_on(run, None)
        return run

    def wait(self, run: ModelledRun) -> None:
        pass

    def let_go(self, run: ModelledRun, then_kill: bool = False) -> None:
        assert run.asked is not None
        kind, *more = run.asked
        job = json.loads(run.message.body)
        if kind == "get":
            answer: Any = self._get(run, job["id"])
        elif kind == "claim":
            answer = self._put(run, f"claim-{job['id']}", True, None)
        else:
            answer = self._put(run, more[1] or job["id"], more[0], job["quantity"])
        status = 400 if answer is False else 200
        run.answered = SimpleNamespace(status=status)
        self._go_on(run, answer)

    def _get(self, run: ModelledRun, key: str) -> int | None:
        self._record(
            Call,
            service="dynamodb",
            action="GetItem",
            caller=Caller("function", FUNCTION, run.request_id),
            parameters={"TableName": TABLE, "Key": {"id": {"S": key}}},
            status=200,
            error=None,
            request_id="",
        )
        return self.table.get(key)

    def _put(self, run: ModelledRun, key: str, conditional: bool, quantity: int | None) -> bool:
        before = _item(key, self.table)
        accepted = not (conditional and key in self.table)
        if accepted:
            self.table[key] = quantity
        self._record(
            WriteDecision,
            table=TABLE,
            key={"id": {"S": key}},
            action="PutItem",
            condition="attribute_not_exists(id)" if conditional else None,
            accepted=accepted,
            before=before,
            after=_item(key, self.table),
            caller=Caller("function", FUNCTION, run.request_id),
            error=None if accepted else "ConditionalCheckFailedException",
        )
        return accepted

    def cut(self, run: ModelledRun) -> None:
        self._end(run, "crash")

    def forget(self, run: ModelledRun) -> None:
        run.program.close()

    def acknowledge(self, run: ModelledRun) -> None:
        if run.message in self.queue:
            self.queue.remove(run.message)
            self._record(MessageAcknowledged, queue=QUEUE, message_id=run.message.id, caller=self._caller(run))

    def give_back(self, run: ModelledRun) -> None:
        if run.message in self.queue:
            self._record(MessageReturned, queue=QUEUE, message_id=run.message.id, reason="error")

    def discard(self, message: Message) -> None:
        if message in self.queue:
            self.queue.remove(message)

    def end_visibility(self, run: ModelledRun) -> None:
        run.message.hidden = False

    def holds(self, run: ModelledRun) -> bool:
        return run.message in self.queue

    def waiting(self) -> list[Message]:
        return [message for message in self.queue if not message.hidden]

    def _go_on(self, run: ModelledRun, answer: Any) -> None:
        run.standing = None
        try:
            run.asked = run.program.send(answer)
        except StopIteration:
            self._end(run, "succeeded")
        except ValueError:
            self._end(run, "error")
        else:
            run.calls += 1
            action = "GetItem" if run.asked[0] == "get" else "PutItem"
            run.standing = SimpleNamespace(service="dynamodb", action=action)

    def _end(self, run: ModelledRun, outcome: str) -> None:
        run.result = SimpleNamespace(outcome=outcome, error_type="ValueError")
        self._record(
            RunEnded,
            function=FUNCTION,
            request_id=run.request_id,
            outcome=outcome,
            payload="",
            error_type=None,
            duration_ms=0.0,
            log=(),
        )

    def _caller(self, run: ModelledRun) -> Caller:
        return Caller("service", "conductor", run.request_id)

    def _record(self, kind: type[Any], **fields: Any) -> None:
        self.journal.record(kind, **fields)


def _item(key: str, table: dict[str, int | None]) -> dict[str, Any] | None:
    if key not in table:
        return None
    quantity = table[key]
    return {"id": {"S": key}} if quantity is None else {"id": {"S": key}, "quantity": {"N": str(quantity)}}
