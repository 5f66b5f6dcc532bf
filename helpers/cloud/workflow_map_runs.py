"""Map runs: what a Map state in distributed mode tells about its iterations.

moto's interpreter keeps the records. Its iterations are no executions of their own, as they are on AWS.
Source: Step Functions API reference, "ListMapRuns", "DescribeMapRun", "UpdateMapRun".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .exchange import Exchange
from .workflow_execution import Execution
from .workflow_names import Refused, check_arn


class MapRuns:
    """Answers the three calls. `known` gives the executions that are kept, `found` the one that a call names."""

    def __init__(self, known: Callable[[], list[Execution]], found: Callable[[Exchange], Execution]) -> None:
        self._known = known
        self._found = found

    def calls(self) -> dict[str, Callable[[Exchange], Any]]:
        """The calls by their actions."""
        return {"ListMapRuns": self._list, "DescribeMapRun": self._describe, "UpdateMapRun": self._update}

    def _list(self, exchange: Exchange) -> dict[str, Any]:
        return {"mapRuns": [_plain(record.list_item()) for record in self._found(exchange).map_runs()]}

    def _describe(self, exchange: Exchange) -> dict[str, Any]:
        return _plain(self._record(exchange).describe())

    def _update(self, exchange: Exchange) -> dict[str, Any]:
        asked = exchange.parameters
        self._record(exchange).update(
            max_concurrency=asked.get("maxConcurrency"),
            tolerated_failure_count=asked.get("toleratedFailureCount"),
            tolerated_failure_percentage=asked.get("toleratedFailurePercentage"),
        )
        return {}

    def _record(self, exchange: Exchange) -> Any:
        arn = str(exchange.parameters.get("mapRunArn", ""))
        check_arn(arn, "mapRun")
        for execution in self._known():
            for record in execution.map_runs():
                if record.map_run_arn == arn:
                    return record
        raise Refused("ResourceNotFound", f"Resource not found: '{arn}'")


def _plain(members: dict[str, Any]) -> dict[str, Any]:
    """Without what is not there, and with the names of states as text."""
    return {name: getattr(value, "value", value) for name, value in members.items() if value is not None}
