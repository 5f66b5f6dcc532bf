"""Executions of state machines: starting, stopping, looking at them.

Sources: Step Functions API reference, "StartExecution", "StartSyncExecution", "DescribeExecution", "ListExecutions",
"GetExecutionHistory", "StopExecution"; Developer Guide, "Standard and Express workflows"; sentences as recorded
against AWS.

An execution that can go on by itself is busy (`Workflows.busy`); one that only waits for time (a Wait state, the
pause before a retry) or for a task token is at rest: `Cloud.skip`, or the token, moves it.
"""

from __future__ import annotations

import base64
import binascii
import math
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .responses import Response
from .work import Busy
from .workflow_execution import Execution, Machine
from .workflow_interpreter import Interpreter
from .workflow_machines import Machines, check_paging
from .workflow_map_runs import MapRuns
from .workflow_names import Refused, check_arn, check_input, check_name, invalid
from .workflow_threads import Pauses
from .workflow_tokens import TaskTokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from .account import Cloud

NAME_IS_TAKEN = 90 * 86_400
"""Seconds after the end of a standard execution until its name is free again (StartExecution, `name`)."""

MOST_ENDED = 1_000
"""How many ended executions are kept. AWS keeps all for 90 days; an account in a process must be bounded."""

MOST_TEXT = 64 * 1024 * 1024
"""Characters in the inputs, outputs and causes of the ended executions that are kept."""

_STATUSES = ("SUCCEEDED", "TIMED_OUT", "PENDING_REDRIVE", "ABORTED", "FAILED", "RUNNING")
_NOT_THIS_TYPE = "This operation is not supported by this type of state machine"
_PAGE = 100


class Workflows:
    """Step Functions of one account; registers itself at the boundary."""

    def __init__(self, account: Cloud) -> None:
        self._account = account
        self._clock = account.clock
        self._lock = threading.RLock()
        self._executions: dict[str, list[Execution]] = {}
        self._ended_ones: deque[Execution] = deque()
        self._text = 0
        self._express: set[Execution] = set()
        self._closed = False
        self._pauses = Pauses(account.clock, account.boundary.changed.notify)
        self.interpreter = Interpreter(account)
        self.machines = Machines(account, self.interpreter)
        calls: dict[str, Callable[[Exchange], Any]] = {
            "StartExecution": self._start_call,
            "StartSyncExecution": self._start_sync,
            "StopExecution": self._stop,
            "DescribeExecution": self._describe,
            "DescribeStateMachineForExecution": self._describe_machine,
            "ListExecutions": self._list,
            "GetExecutionHistory": self._history,
            "DeleteStateMachine": self._delete_machine,
            **TaskTokens(self.interpreter, self._known).calls(),
            **MapRuns(self._known, self._found).calls(),
        }
        for action, call in calls.items():
            account.boundary.route("states", action, _answering(call))

    def busy(self) -> list[Busy]:
        """The state machines with executions that can go on by themselves, and how many each."""
        counts: dict[str, int] = {}
        for execution in self.running():
            if execution.works():
                counts[execution.machine_name] = counts.get(execution.machine_name, 0) + 1
        return [Busy("execution", name, count) for name, count in counts.items()]

    def running(self) -> list[Execution]:
        """The executions that have not ended."""
        with self._lock:
            return [one for one in (*self._known(), *self._express) if not one.over]

    def _known(self) -> list[Execution]:
        """The standard executions that are kept."""
        with self._lock:
            return [one for several in self._executions.values() for one in several]

    def definition_of(self, arn: str) -> str | None:
        """The definition that an execution follows, None when it is not kept."""
        with self._lock:
            several = self._executions.get(arn)
        return several[-1].machine.definition if several else None

    def machine_of_task(self, token: str) -> str:
        """The name of the state machine that waits, or waited, for a task token; empty when none does."""
        return next((one.machine_name for one in self._known() if one.task(token) is not None), "")

    def close(self) -> None:
        """End all executions where they are; nothing more of them reaches anybody."""
        with self._lock:
            self._closed = True
        for execution in self.running():
            execution.abandon()
        self._pauses.close()

    def join(self, seconds: float = 5) -> None:
        """Wait for the threads of executions, after `close` and when no function runs any more."""
        for thread in threading.enumerate():
            if thread.name == "once-workflow" and getattr(thread, "pauses", None) is self._pauses:
                threading.Thread.join(thread, seconds)
        self.interpreter.calls.close()
        self.interpreter.close()

    # --- starting ----------------------------------------------------------------------------------------------

    def _start_call(self, exchange: Exchange) -> dict[str, Any]:
        machine, name, text = self._asked(exchange)
        if machine.kind == "EXPRESS":
            execution = self._new_express(machine, name, text)
            execution.start(exchange.caller)
        else:
            execution = self._start_standard(exchange, machine, name, text)
        return {"executionArn": execution.arn, "startDate": execution.started}

    def _asked(self, exchange: Exchange) -> tuple[Machine, str, str]:
        asked = exchange.parameters
        name, text = asked.get("name"), asked.get("input")
        if name is not None:
            check_name(str(name))
        machine = self.machines.snapshot(str(asked.get("stateMachineArn", "")))
        text = "{}" if text is None else text
        check_input(text)
        return machine, str(name) if name is not None else self._uuid(), str(text)

    def _start_standard(self, exchange: Exchange, machine: Machine, name: str, text: str) -> Execution:
        arn = f"arn:aws:states:{REGION}:{ACCOUNT_ID}:execution:{machine.name}:{name}"
        with self._lock:
            self._forget_old()
            before = self._executions.get(arn)
            last = before[-1] if before else None
            if last is not None and self._is_taken(last):
                # A start that is sent again, as SDKs do when an answer was lost, is the same start.
                if not last.over and last.input == text:
                    return last
                raise Refused("ExecutionAlreadyExists", f"Execution Already Exists: '{arn}'")
            execution = self._new(machine, arn, name, text)
            self._executions.setdefault(arn, []).append(execution)
            self.machines.keep(execution)
            execution.start(exchange.caller)
        return execution

    def _is_taken(self, execution: Execution) -> bool:
        return execution.stopped is None or self._clock.now() < execution.stopped + NAME_IS_TAKEN

    def _new_express(self, machine: Machine, name: str, text: str) -> Execution:
        arn = f"arn:aws:states:{REGION}:{ACCOUNT_ID}:express:{machine.name}:{name}:{self._uuid()}"
        execution = self._new(machine, arn, name, text)
        with self._lock:
            self._express.add(execution)
        return execution

    def _new(self, machine: Machine, arn: str, name: str, text: str) -> Execution:
        if self._closed:
            raise Refused("ServiceUnavailable", "The account was closed.")
        return Execution(machine, arn, name, text, self.interpreter, self._pauses, self._account.journal, self._ended)

    def _uuid(self) -> str:
        from moto.moto_api._internal import mock_random

        with self._account.boundary.lock:
            return str(mock_random.uuid4())

    def _ended(self, execution: Execution) -> None:
        with self._lock:
            if execution in self._express:
                self._express.discard(execution)
            else:
                self._ended_ones.append(execution)
                self._text += execution.text
            self._forget_old()
        self.machines.let_go(execution)
        self._delete_if_free(execution.machine.arn)
        self._account.boundary.changed.notify()

    def _forget_old(self) -> None:
        """A standard execution is known for 90 days after its end; here only the latest of very many are."""
        while self._ended_ones:
            oldest = self._ended_ones[0]
            few = len(self._ended_ones) <= MOST_ENDED and self._text <= MOST_TEXT
            if few and self._is_taken(oldest):
                return
            self._ended_ones.popleft()
            self._text -= oldest.text
            several = self._executions.get(oldest.arn, [])
            if oldest in several:
                several.remove(oldest)
            if not several:
                self._executions.pop(oldest.arn, None)

    def _start_sync(self, exchange: Exchange) -> dict[str, Any]:
        machine, name, text = self._asked(exchange)
        if machine.kind != "EXPRESS":
            raise Refused("StateMachineTypeNotSupported", _NOT_THIS_TYPE)
        execution = self._new_express(machine, name, text)
        execution.start(exchange.caller)
        execution.done.wait()
        stopped = execution.stopped or self._clock.now()
        spent = max(stopped - execution.started, 0.001)
        shown = {
            "executionArn": execution.arn,
            "stateMachineArn": machine.arn,
            "name": execution.name,
            "status": "FAILED" if execution.status in {"RUNNING", "ABORTED"} else execution.status,
            "startDate": execution.started,
            "stopDate": stopped,
            "input": execution.input,
            "inputDetails": {"included": True},
            "outputDetails": {"included": True},
            "billingDetails": {
                "billedDurationInMilliseconds": math.ceil(spent * 10) * 100,
                "billedMemoryUsedInMB": 64,
            },
        }
        return {**shown, **_outcome(execution)}

    # --- one execution -----------------------------------------------------------------------------------------

    def _found(self, exchange: Exchange) -> Execution:
        arn = str(exchange.parameters.get("executionArn", ""))
        check_arn(arn, "execution")
        with self._lock:
            several = self._executions.get(arn)
        if not several:
            raise Refused("ExecutionDoesNotExist", f"Execution Does Not Exist: '{arn}'")
        return several[-1]

    def _stop(self, exchange: Exchange) -> dict[str, Any]:
        asked = exchange.parameters
        return {"stopDate": self._found(exchange).stop(asked.get("error"), asked.get("cause"))}

    def _describe(self, exchange: Exchange) -> dict[str, Any]:
        execution = self._found(exchange)
        shown = {
            **_listed(execution),
            "input": execution.input,
            "inputDetails": {"included": True},
            **_outcome(execution),
        }
        if "output" in shown:
            shown["outputDetails"] = {"included": True}
        if execution.status in {"RUNNING", "SUCCEEDED"}:
            shown["redriveStatus"] = "NOT_REDRIVABLE"
            shown["redriveStatusReason"] = f"Execution is {execution.status} and cannot be redriven"
        else:
            shown["redriveStatus"] = "REDRIVABLE"
        return shown

    def _describe_machine(self, exchange: Exchange) -> dict[str, Any]:
        machine = self._found(exchange).machine
        shown: dict[str, Any] = {
            "stateMachineArn": machine.arn,
            "name": machine.name,
            "definition": machine.definition,
            "roleArn": machine.role,
            "updateDate": machine.updated,
            "loggingConfiguration": {"includeExecutionData": False, "level": "OFF"},
            "tracingConfiguration": {"enabled": False},
        }
        return {**shown, "revisionId": machine.revision} if machine.revision else shown

    def _history(self, exchange: Exchange) -> dict[str, Any]:
        asked = exchange.parameters
        check_paging(exchange, 1024)
        events = self._found(exchange).history()
        if asked.get("reverseOrder"):
            events.reverse()
        if asked.get("includeExecutionData") is False:
            events = [_without_data(event) for event in events]
        return _page("events", events, exchange)

    def _list(self, exchange: Exchange) -> dict[str, Any]:
        asked = exchange.parameters
        check_paging(exchange, 3096)
        status = asked.get("statusFilter")
        if status is not None and status not in _STATUSES:
            raise invalid(status, "statusFilter", f"Member must satisfy enum value set: [{', '.join(_STATUSES)}]")
        arn = str(asked.get("stateMachineArn", ""))
        machine = self._machine(arn)
        if machine.kind == "EXPRESS":
            raise Refused("StateMachineTypeNotSupported", _NOT_THIS_TYPE)
        listed = [
            one
            for one in self._known()
            if one.machine.arn == machine.arn
            and arn in {machine.arn, one.machine.version, one.machine.alias}
            and status in {None, one.status}
        ]
        # Running executions by their start, others by their end, the latest first.
        listed.sort(key=lambda one: one.stopped or one.started, reverse=True)
        return _page("executions", [_listed(one) for one in listed], exchange)

    def _machine(self, arn: str) -> Machine:
        try:
            return self.machines.snapshot(arn)
        except Refused as refused:
            with self._lock:
                of_it = [one[-1].machine for one in self._executions.values() if one[-1].machine.arn == arn]
            if refused.code == "StateMachineDeleting" and of_it:
                return of_it[-1]
            raise

    # --- deletion of a state machine ---------------------------------------------------------------------------

    def _delete_machine(self, exchange: Exchange) -> dict[str, Any]:
        arn = self.machines.begin_deletion(str(exchange.parameters.get("stateMachineArn", "")))
        if arn is not None:
            for execution in self.running():
                if execution.machine.arn == arn:
                    execution.deleted = True
            self._delete_if_free(arn)
        return {}

    def _delete_if_free(self, arn: str) -> None:
        if self.machines.is_deleting(arn) and not any(one.machine.arn == arn for one in self.running()):
            self.machines.finish_deletion(arn)


def _answering(call: Callable[[Exchange], Any]) -> Callable[[Exchange], Response]:
    def answer(exchange: Exchange) -> Response:
        try:
            return Response.of_json(call(exchange))
        except Refused as refused:
            return refused.response(exchange)

    return answer


def _listed(execution: Execution) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "executionArn": execution.arn,
        "stateMachineArn": execution.machine.arn,
        "name": execution.name,
        "status": execution.status,
        "startDate": execution.started,
        "redriveCount": 0,
    }
    optional = {
        "stopDate": execution.stopped,
        "stateMachineVersionArn": execution.machine.version or None,
        "stateMachineAliasArn": execution.machine.alias or None,
    }
    return {**shown, **{name: value for name, value in optional.items() if value is not None}}


def _outcome(execution: Execution) -> dict[str, Any]:
    outcome = {"output": execution.output, "error": execution.error, "cause": execution.cause}
    return {name: value for name, value in outcome.items() if value is not None}


def _without_data(event: dict[str, Any]) -> dict[str, Any]:
    """An event without inputs and outputs, as `includeExecutionData` False asks for."""
    data = {"input", "output", "parameters"}
    return {
        name: {key: value for key, value in member.items() if key not in data} if isinstance(member, dict) else member
        for name, member in event.items()
    }


def _page(name: str, items: list[dict[str, Any]], exchange: Exchange) -> dict[str, Any]:
    """One page and the token of the next; a token that nobody gave is InvalidToken."""
    asked = exchange.parameters
    size = int(asked.get("maxResults") or _PAGE)
    token = asked.get("nextToken")
    start = 0
    if token:
        try:
            start = int(base64.b64decode(str(token), validate=True).decode("ascii").removeprefix("once:"))
        except (ValueError, binascii.Error):
            raise Refused("InvalidToken", "Invalid Token: 'Invalid token'") from None
    page: dict[str, Any] = {name: items[start : start + size]}
    if start + size < len(items):
        page["nextToken"] = base64.b64encode(f"once:{start + size}".encode()).decode()
    return page
