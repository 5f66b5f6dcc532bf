"""Task tokens: how somebody outside tells a workflow how its task ended.

Sources: Step Functions API reference, "SendTaskSuccess", "SendTaskFailure", "SendTaskHeartbeat"; Developer Guide,
"Wait for a Callback with Task Token".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .exchange import Exchange
from .workflow_execution import Execution
from .workflow_interpreter import Interpreter
from .workflow_names import Refused, check_input


class TaskTokens:
    """Answers the three calls. `known` gives the executions whose tasks may wait for a token."""

    def __init__(self, interpreter: Interpreter, known: Callable[[], list[Execution]]) -> None:
        self._interpreter = interpreter
        self._known = known

    def calls(self) -> dict[str, Callable[[Exchange], Any]]:
        """The calls by their actions."""
        return {
            "SendTaskSuccess": self._succeeded,
            "SendTaskFailure": self._failed,
            "SendTaskHeartbeat": self._lives,
        }

    def _succeeded(self, exchange: Exchange) -> dict[str, Any]:
        output = str(exchange.parameters.get("output", ""))
        _check_output(output)
        outcomes = self._interpreter.ready().callback
        return self._tell(exchange, lambda task: task.notify(outcomes.CallbackOutcomeSuccess(task.callback_id, output)))

    def _failed(self, exchange: Exchange) -> dict[str, Any]:
        outcomes = self._interpreter.ready().callback
        error, cause = exchange.parameters.get("error"), exchange.parameters.get("cause")
        return self._tell(
            exchange, lambda task: task.notify(outcomes.CallbackOutcomeFailure(task.callback_id, error, cause))
        )

    def _lives(self, exchange: Exchange) -> dict[str, Any]:
        return self._tell(exchange, lambda task: task.notify_heartbeat())

    def _tell(self, exchange: Exchange, tell: Callable[[Any], object]) -> dict[str, Any]:
        token = str(exchange.parameters.get("taskToken", ""))
        for execution in self._known():
            task = execution.task(token) if token else None
            if task is None:
                continue
            if execution.over or task._notify_event.is_set():
                raise Refused("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
            tell(task)
            return {}
        raise Refused("InvalidToken", "Invalid Token: 'Invalid token'")


def _check_output(text: str) -> None:
    """Raise Refused for a task's output that is no JSON."""
    try:
        check_input(text)
    except Refused as refused:
        raise Refused("InvalidOutput", str(refused).replace("State Machine Execution Input", "Output")) from refused
