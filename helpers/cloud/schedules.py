"""Runs whose API calls wait until they are let go, one after the other: the schedule is the caller's, not chance.

`Conductor` stands in the place of an event source mapping for one queue and one function. It receives messages from
the queue, invokes the function for each, and stops every API call of these runs before it does anything. Workers,
requests and services are the real ones; only the moment is chosen. A run that is cut off is, for the account, a
process that was killed there: no further call of it does anything, and its result is thrown away.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from typing import TYPE_CHECKING

from moto.sqs.models import Message, Queue

from . import sqs_queue, sqs_records
from .environment import REGION
from .exchange import Exchange
from .journal import Caller, MessageAcknowledged, MessageReceived, MessageReturned, RunEnded
from .responses import Response, error

if TYPE_CHECKING:
    from .account import Cloud
    from .sandbox import RunResult

PATIENCE = 10.0
"""Seconds that a run may take from one call to the next, or to its end."""

_CUT_PATIENCE = 2.0
"""Seconds that a run may take to end by itself after all its calls are refused; then its process is killed."""


class Unsteady(RuntimeError):
    """A run cannot be driven. `reason`: "slow" (no call and no end in time) or "parallel" (several calls at once,
    as far as they were seen together)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ConductedRun:
    """One run for one message. It stands at a call (`standing`) or has ended (`result`) after `Conductor.wait`."""

    def __init__(self, message: Message, handle: str) -> None:
        self.message = message
        self.handle = handle
        self.request_id = str(uuid.uuid4())
        self.standing: Exchange | None = None
        self.result: RunResult | None = None
        self.nothing_ran: Exception | None = None
        self.cut = False
        self.calls = 0
        self.crowded = False
        self.free: Exchange | None = None
        self.open = 0
        self.answered: Response | None = None
        self.dies = False

    @property
    def ended(self) -> bool:
        return self.result is not None or self.nothing_ran is not None


class Conductor:
    """Delivers the messages of a queue to a function by hand. Use as a context manager: at its end all runs are cut.

    `patience`: seconds that a run may take from one call to the next, or to its end.
    """

    def __init__(self, cloud: Cloud, queue: str, function: str, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._cloud = cloud
        self._queue_arn = f"arn:aws:sqs:{REGION}:{cloud.account_id}:{queue}"
        self._function = function
        self._journal = cloud.journal
        self._runs: dict[str, ConductedRun] = {}
        self._changed = threading.Condition()

    def __enter__(self) -> Conductor:
        self._cloud.boundary.gates.insert(0, self._stop)
        self._cloud.boundary.after_answer.append(self._answered)
        return self

    def __exit__(self, *_raised: object) -> None:
        try:
            for run in list(self._runs.values()):
                self.cut(run)
        finally:
            with contextlib.suppress(ValueError):
                self._cloud.boundary.gates.remove(self._stop)
            with contextlib.suppress(ValueError):
                self._cloud.boundary.after_answer.remove(self._answered)

    # --- messages ----------------------------------------------------------------------------------------------

    def receive(self) -> ConductedRun:
        """Receive the queue's first message that is visible, and begin its run; does not wait for the run."""
        with self._cloud.boundary.lock:
            queue = self._queue()
            received = sqs_queue.receive(queue, 1, self._now(), lambda message: True)
            [message] = received.messages
            run = ConductedRun(message, str(message.receipt_handle))
            members = sqs_records.record(message, self._queue_arn, REGION, False)
            self._journal.record(
                MessageReceived,
                queue=queue.name,
                message_id=message.id,
                receive_count=message.approximate_receive_count,
                caller=self._caller(run),
            )
        self._runs[run.request_id] = run
        payload = sqs_records.event([sqs_records.encode(members)])
        threading.Thread(target=self._invoke, args=(run, payload), name="once-conducted", daemon=True).start()
        return run

    def end_visibility(self, run: ConductedRun) -> None:
        """End the visibility timeout of the run's message, as time does."""
        with self._cloud.boundary.lock:
            run.message.visible_at = 0.0

    def holds(self, run: ConductedRun) -> bool:
        """Whether the run's message is still in the queue."""
        with self._cloud.boundary.lock:
            return run.message in self._queue().pending_messages

    def acknowledge(self, run: ConductedRun) -> None:
        """Delete the run's message, as a mapping does after a run that succeeded."""
        with self._cloud.boundary.lock:
            queue = self._queue()
            if sqs_queue.delete(queue, run.message, run.handle, self._now()):
                self._journal.record(
                    MessageAcknowledged, queue=queue.name, message_id=run.message.id, caller=self._caller(run)
                )

    def give_back(self, run: ConductedRun) -> None:
        """Leave the run's message hidden, as a mapping does after a run that failed."""
        with self._cloud.boundary.lock:
            queue = self._queue()
            if run.message in queue.pending_messages:
                reason = run.result.outcome if run.result else "not run"
                self._journal.record(MessageReturned, queue=queue.name, message_id=run.message.id, reason=reason)

    def discard(self, message: Message) -> None:
        """Take a message out of the queue without a word: what comes next is another story."""
        with self._cloud.boundary.lock:
            sqs_queue.delete(self._queue(), message, str(message.receipt_handle), self._now())

    def waiting(self) -> list[Message]:
        """The messages in the queue that could be received now, in the order in which they would be."""
        with self._cloud.boundary.lock:
            now = self._now()
            return [message for message in self._queue()._messages if message.visible_at < now]

    # --- calls -------------------------------------------------------------------------------------------------

    def wait(self, run: ConductedRun) -> None:
        """Wait until the run stands at its next call or has ended. Raises Unsteady."""
        end = time.monotonic() + self._patience
        with self._changed:
            while run.standing is None and not run.ended and not run.crowded:
                if not self._changed.wait(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                    raise Unsteady("slow")
            if run.crowded:
                raise Unsteady("parallel")

    def let_go(self, run: ConductedRun, then_kill: bool = False) -> None:
        """Let the call at which the run stands happen, and wait for the next one or the end. Raises Unsteady.

        With `then_kill` the worker process is killed when the call was done, before its answer arrives.
        """
        with self._changed:
            run.free, run.standing, run.dies = run.standing, None, then_kill
            self._changed.notify_all()
        self.wait(run)

    def cut(self, run: ConductedRun) -> None:
        """Let nothing of this run happen any more, and wait for its end. Its process is killed if it does not end."""
        with self._changed:
            if run.cut:
                return
            run.cut, run.standing = True, None
            self._changed.notify_all()
        if run.result is None or run.result.outcome != "crash":
            self._journal.record(
                RunEnded,
                function=self._function,
                request_id=run.request_id,
                outcome="crash",
                payload="",
                error_type=None,
                duration_ms=0.0,
                log=(),
            )
        with self._changed:
            if not self._changed.wait_for(lambda: run.ended, _CUT_PATIENCE):
                self._cloud.runtime.kill_run(run.request_id)
                self._changed.wait_for(lambda: run.ended, self._patience)

    def forget(self, run: ConductedRun) -> None:
        """Cut the run if it has not ended, and know it no longer."""
        if not run.ended:
            self.cut(run)
        self._runs.pop(run.request_id, None)

    # --- inside ------------------------------------------------------------------------------------------------

    def _invoke(self, run: ConductedRun, payload: bytes) -> None:
        try:
            result = self._cloud.runtime.invoke(self._function, payload, source="mapping", request_id=run.request_id)
        except Exception as problem:
            with self._changed:
                run.nothing_ran = problem
                self._changed.notify_all()
            return
        with self._changed:
            run.result, run.standing = result, None
            self._changed.notify_all()

    def _stop(self, exchange: Exchange) -> Response | None:
        """A gate of the boundary: a call of one of the runs waits here."""
        run = self._runs.get(exchange.caller.request_id) if exchange.caller.kind == "function" else None
        if run is None:
            return None
        with self._changed:
            # A call is open until it was answered: one that comes meanwhile was made at the same time.
            run.crowded |= run.open > 0
            run.open += 1
            if not run.cut:
                run.standing = exchange
                run.calls += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: run.free is exchange or run.cut)
            # Not an error that an SDK tries again.
            return error(exchange, "AccessDeniedException", "The caller is gone.", 400) if run.cut else None

    def _answered(self, exchange: Exchange, response: Response) -> None:
        run = self._runs.get(exchange.caller.request_id) if exchange.caller.kind == "function" else None
        if run is None:
            return
        with self._changed:
            run.open -= 1
            run.answered = response
        if not run.cut and run.dies:
            self._cloud.runtime.kill_run(run.request_id)

    def _queue(self) -> Queue:
        queue = sqs_queue.find(self._queue_arn)
        if queue is None:
            raise LookupError(self._queue_arn)
        return queue

    def _caller(self, run: ConductedRun) -> Caller:
        return Caller("service", "conductor", run.request_id)

    def _now(self) -> float:
        return self._cloud.clock.now() * 1000
