"""One execution of a state machine: its history, its threads and its end.

moto's interpreter evaluates the definition that the state machine had when the execution began. The history is
kept here: it takes nothing more after its last event, so what an attempt that was given up does later leaves no
trace in it. Sources: Step Functions API reference, "GetExecutionHistory", "DescribeExecution" and "StopExecution";
order and previousEventId as recorded against AWS.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .environment import ACCOUNT_ID, REGION
from .journal import Caller, ExecutionEnded, ExecutionStarted, ExecutionStep, Journal
from .workflow_interpreter import Interpreter, Loaded
from .workflow_threads import Ended, ExecutionThread, Pauses, event, iso

LONGEST_HISTORY = 25_000
"""Events in the history of a standard execution (Step Functions service quotas)."""

EXPRESS_SECONDS = 300
"""An express execution runs five minutes at most (Step Functions service quotas)."""

_STATUS = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionAborted": "ABORTED",
    "ExecutionTimedOut": "TIMED_OUT",
}


@dataclass(frozen=True)
class Machine:
    """A state machine as it was when an execution began. `version` and `alias` are ARNs or empty."""

    arn: str
    name: str
    kind: str
    definition: str
    role: str
    updated: float
    revision: str | None = None
    version: str = ""
    alias: str = ""


class Execution:
    """One execution. `tell` is called once after its end, from the thread that ended it."""

    def __init__(
        self,
        machine: Machine,
        arn: str,
        name: str,
        text: str,
        interpreter: Interpreter,
        pauses: Pauses,
        journal: Journal,
        tell: Callable[[Execution], None],
    ) -> None:
        self.machine = machine
        self.arn = arn
        self.name = name
        self.input = text
        self.status = "RUNNING"
        self.started = pauses.clock.now()
        self.stopped: float | None = None
        self.output: str | None = None
        self.error: str | None = None
        self.cause: str | None = None
        self.over = False
        self.working = 0
        self.text = 0
        self.deleted = False
        self.done = threading.Event()
        self.env: Any = None
        self._tokens: Any = None
        self._maps: Any = None
        self._interpreter = interpreter
        self._pauses = pauses
        self._journal = journal
        self._tell = tell
        self._lock = threading.RLock()
        self._history: list[dict[str, Any]] = []
        self._states: dict[int, str] = {}

    @property
    def machine_name(self) -> str:
        return self.machine.name

    @property
    def role(self) -> str:
        return self.machine.role

    def start(self, caller: Caller) -> None:
        """Begin: the first event of the history is there when this returns."""
        self._journal.record(
            ExecutionStarted,
            execution=self.arn,
            state_machine=self.machine.arn,
            name=self.name,
            machine_type=self.machine.kind,
            input=self.input,
            caller=caller,
        )
        details = {"input": self.input, "inputDetails": {"truncated": False}, "roleArn": self.role}
        self.record("ExecutionStarted", 0, {"executionStartedEventDetails": details})
        ExecutionThread(self._pauses, self, target=self._run).start()

    def history(self) -> list[dict[str, Any]]:
        """The events so far, oldest first."""
        with self._lock:
            return list(self._history)

    def task(self, token: str) -> Any | None:
        """The endpoint of a task that waits, or waited, for this token; None when no task of this execution does."""
        return self._tokens.get(token) if self._tokens is not None else None

    def map_runs(self) -> list[Any]:
        """The interpreter's records of its Map states in distributed mode."""
        return list(self._maps.get_all()) if self._maps is not None else []

    def works(self) -> bool:
        """Whether it runs and can go on by itself; one that waits for time or for a token is at rest."""
        return not self.over and self._pauses.works(self)

    # --- history -----------------------------------------------------------------------------------------------

    def record(self, kind: str, previous: int, details: Mapping[str, Any] | None) -> int:
        """Append an event to the history. Returns its number. Raises Ended after the last one."""
        with self._lock:
            if self.over:
                raise Ended
            reason = self._why_it_ends(kind)
            if reason:
                kind = "ExecutionFailed"
                details = {"executionFailedEventDetails": {"error": "States.Runtime", "cause": reason}}
            number = len(self._history) + 1
            at = self._pauses.clock.now()
            told = {"timestamp": at, "type": kind, "id": number, "previousEventId": previous, **(details or {})}
            self._history.append(told)
            inner: Mapping[str, Any] = next(iter(details.values())) if details else {}
            self.text += sum(len(value) for value in inner.values() if isinstance(value, str))
            entered = "stateEnteredEventDetails" in told or "stateExitedEventDetails" in told
            state = str(inner.get("name", "")) if entered else self._states.get(previous, "")
            self._states[number] = state
            if kind in _STATUS:
                self._close(_STATUS[kind], at, inner)
            elif kind != "ExecutionStarted":
                self._journal.record(
                    ExecutionStep,
                    execution=self.arn,
                    id=number,
                    previous_id=previous,
                    type=kind,
                    state=state,
                    details=dict(inner),
                )
        if kind in _STATUS:
            self._after_end()
        if reason:
            raise Ended
        return number

    def _why_it_ends(self, kind: str) -> str:
        """Why the execution fails instead of taking an event of this kind; empty when it goes on."""
        if kind.endswith("StateEntered") and self.deleted:
            # Knowledge Center, "Why is my state machine stuck in the DELETING status?"
            return f"State machine {self.machine.name} has been deleted."
        full = len(self._history) >= LONGEST_HISTORY - 1 and self.machine.kind == "STANDARD"
        if full and kind not in _STATUS:
            return f"The execution reached the maximum number of history events ({LONGEST_HISTORY})."
        return ""

    def _close(self, status: str, at: float, details: Mapping[str, Any]) -> None:
        self.status, self.stopped, self.over = status, at, True
        self.output = details.get("output")
        self.error, self.cause = details.get("error"), details.get("cause")
        self._journal.record(
            ExecutionEnded,
            execution=self.arn,
            state_machine=self.machine.arn,
            name=self.name,
            status=status,
            output=self.output,
            error=self.error,
            cause=self.cause,
        )

    def _after_end(self) -> None:
        self._pauses.end(self)
        self._tell(self)
        self._interpreter.forget_threads()
        self.env = None
        self.done.set()

    def stop(self, error: str | None, cause: str | None) -> float:
        """Abort. Returns the time of the end, which is the earlier one when it was over already."""
        details = {name: value for name, value in (("error", error), ("cause", cause)) if value is not None}
        # previousEventId 0, as recorded.
        return self._end("ExecutionAborted", 0, {"executionAbortedEventDetails": details})

    def _end(self, kind: str, previous: int, details: Mapping[str, Any]) -> float:
        with contextlib.suppress(Ended):
            self.record(kind, previous, details)
        return self.stopped or self._pauses.clock.now()

    def abandon(self) -> None:
        """Leave it as it is: the account closes."""
        with self._lock:
            self.over = True
        self._pauses.end(self)
        self.done.set()

    # --- evaluation --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            loaded = self._interpreter.ready()
            program = loaded.parse(self.machine.definition)
            self.env = self._environment(loaded)
            self._tokens = self.env.callback_pool_manager
            self._maps = self.env.map_run_record_pool_manager
            seconds = self._seconds(program)
            if seconds is not None:
                ExecutionThread(self._pauses, self, target=self._watch, args=(seconds,)).start()
            self.env.next_state_name = program.start_at.start_at_name
            loaded.EvalComponent.eval(program, self.env)
        except Exception as problem:
            details = {"error": "States.Runtime", "cause": f"{type(problem).__name__}({problem})"}
            self._end("ExecutionFailed", len(self._history), {"executionFailedEventDetails": details})

    def _seconds(self, program: Any) -> float | None:
        own = program.timeout_seconds.timeout_seconds if program.timeout_seconds else None
        if self.machine.kind == "EXPRESS":
            return min(own or EXPRESS_SECONDS, EXPRESS_SECONDS)
        return own

    def _watch(self, seconds: float) -> None:
        """End the execution when its TimeoutSeconds are over."""
        due = self.started + seconds
        event().wait(due - self._pauses.clock.now())
        environment = self.env
        if environment is None:
            raise Ended
        previous = environment.event_history_context.source_event_id
        self._end("ExecutionTimedOut", previous, {"executionTimedOutEventDetails": {}})

    def _environment(self, loaded: Loaded) -> Any:
        started = datetime.datetime.fromtimestamp(self.started, datetime.UTC)
        context = {
            "Execution": {
                "Id": self.arn,
                "Input": json.loads(self.input),
                "Name": self.name,
                "RoleArn": self.role,
                "StartTime": iso(started),
            },
            "StateMachine": {"Id": self.machine.arn, "Name": self.machine.name},
        }
        start = loaded.EventHistoryContext.of_program_start()
        environment = _environment_class(loaded)(
            aws_execution_details=loaded.AWSExecutionDetails(account=ACCOUNT_ID, region=REGION, role_arn=self.role),
            execution_type=self.machine.kind,
            context=context,
            event_history_context=start,
            cloud_watch_logging_session=None,
            activity_store={},
        )
        environment.event_manager = _event_manager(loaded, self)
        environment.states.reset(input_value=json.loads(self.input))
        return environment


def _event_manager(loaded: Loaded, execution: Execution) -> Any:
    class HistoryOfTheExecution(loaded.EventManager):  # type: ignore[name-defined, misc]  # imported late
        """Writes the interpreter's events into the execution's history."""

        def add_event(
            self,
            context: Any,
            event_type: Any,
            event_details: Mapping[str, Any] | None = None,
            timestamp: Any = None,
            update_source_event_id: bool = True,
        ) -> int:
            if getattr(context, "left", False):
                raise Ended
            kind = getattr(event_type, "value", event_type)
            number = execution.record(str(kind), context.source_event_id, event_details)
            context.last_published_event_id = number
            if update_source_event_id:
                context.source_event_id = number
            return number

        def get_event_history(self) -> list[dict[str, Any]]:
            return execution.history()

    return HistoryOfTheExecution()


def _environment_class(loaded: Loaded) -> Any:
    class EnvironmentOfTheExecution(loaded.Environment):  # type: ignore[name-defined, misc]  # imported late
        """Notices which attempts and branches were left: a task that timed out must not report its success."""

        def close_frame(self, frame: Any) -> None:
            super().close_frame(frame)
            if frame.event_history_context is not self.event_history_context:
                frame.event_history_context.left = True

        @classmethod
        def as_frame_of(cls, env: Any, event_history_frame_cache: Any = None) -> Any:
            return cls.as_inner_frame_of(env, env.variable_store, event_history_frame_cache)

    return EnvironmentOfTheExecution
