"""Lambda's Invoke: synchronous, asynchronous and dry, with AWS's answers and refusals.

Source: Lambda API reference, "Invoke".
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from . import async_destinations
from .async_runs import LARGEST_AGE, PAUSES, AsyncEvent, AsyncRuns, Condition
from .exchange import Exchange
from .lambda_runtime import Closed, FunctionMissing, RunResult, Throttled, UnsupportedRuntime
from .responses import Response, error
from .sent_events import install
from .work import Busy

if TYPE_CHECKING:
    from .account import Cloud
    from .functions import Functions

REQUEST_LIMIT = 6_291_456
"""Bytes of an event (Lambda quotas: 6 MB synchronous)."""

ASYNC_REQUEST_LIMIT = 1_048_576
"""Bytes of an asynchronous event (Lambda quotas: 1 MB, since October 2025)."""

_TAIL = 4096
_NOT_NOW = "The operation cannot be performed at this time."


class Invocations:
    """Answers Invoke and runs what was invoked asynchronously."""

    def __init__(self, account: Cloud, functions: Functions) -> None:
        self._account = account
        self._functions = functions
        self._runtime = account.runtime
        self._async = AsyncRuns(account.clock, self._run_event, self._over, account.boundary.changed.notify)
        self._give_back = install(self.deliver)
        account.boundary.route("lambda", "Invoke", self._invoke)
        account.boundary.route("lambda", "InvokeAsync", self._invoke)

    def busy(self) -> list[Busy]:
        """The functions with asynchronous events that run or could run now."""
        return self._async.busy()

    def waiting(self) -> int:
        """How many asynchronous events wait for their (next) run."""
        return self._async.waiting()

    def close(self) -> None:
        """Start nothing more."""
        self._give_back()
        self._async.close()

    def deliver(self, function_name: str, payload: bytes, request_id: str) -> None:
        """Run a function later, as an asynchronous invocation does: for services that send events."""
        self._async.add(self._event(function_name, payload, request_id))

    # --- Invoke ------------------------------------------------------------------------------------------------

    def _invoke(self, exchange: Exchange) -> Response:
        name = str(exchange.parameters.get("FunctionName", ""))
        qualifier = exchange.parameters.get("Qualifier")
        if qualifier and ":" not in name.rpartition(":function:")[2]:
            name = f"{name}:{qualifier}"
        kind = exchange.header("X-Amz-Invocation-Type") or "RequestResponse"
        if exchange.action == "InvokeAsync":
            kind = "Event"
        refused = self._refusal(exchange, name, kind)
        if refused is not None:
            return refused
        if kind == "DryRun":
            return Response(204, b"", {})
        if kind == "Event":
            payload, context = exchange.body or b"{}", _client_context(exchange)
            self._async.add(self._event(name, payload, exchange.request_id, context))
            return Response(202, b"", {"Content-Type": "application/json"})
        try:
            result = self._runtime.invoke(
                name,
                exchange.body,
                _source(exchange),
                exchange.request_id,
                client_context=_client_context(exchange),
                execution=exchange.caller.request_id if exchange.caller.kind == "workflow" else "",
            )
        except FunctionMissing as problem:
            return error(exchange, "ResourceNotFoundException", str(problem), 404)
        except UnsupportedRuntime as problem:
            return error(exchange, "InvalidRuntimeException", str(problem), 502)
        except Throttled as problem:
            reason = "ReservedFunctionConcurrentInvocationLimitExceeded"
            return error(exchange, "TooManyRequestsException", str(problem), 429, Reason=reason)
        except Closed as problem:
            return error(exchange, "ServiceException", str(problem), 500)
        return _answer(exchange, result)

    def _refusal(self, exchange: Exchange, name: str, kind: str) -> Response | None:
        """Why the call is refused before anything runs."""
        limit = ASYNC_REQUEST_LIMIT if kind == "Event" else REQUEST_LIMIT
        if len(exchange.body) > limit:
            message = f"Request must be smaller than {limit} bytes for the InvokeFunction operation"
            return error(exchange, "RequestEntityTooLargeException", message, 413)
        if kind not in {"RequestResponse", "Event", "DryRun"}:
            message = (
                f"1 validation error detected: Value '{kind}' at 'invocationType' failed to satisfy constraint: "
                "Member must satisfy enum value set: [Event, RequestResponse, DryRun]"
            )
            return error(exchange, "ValidationException", message)
        try:
            state = self._functions.state_of(name)
            spec = None if state == "Pending" else self._functions.resolve(name)[0]
        except FunctionMissing as problem:
            return error(exchange, "ResourceNotFoundException", str(problem), 404)
        if spec is None:
            message = f"{_NOT_NOW} The function is currently in the following state: {state}"
            return error(exchange, "ResourceConflictException", message, 409)
        return _unreadable(exchange)

    # --- asynchronous ------------------------------------------------------------------------------------------

    def _run_event(self, event: AsyncEvent) -> RunResult:
        return self._runtime.invoke(event.function, event.payload, "async", event.request_id, event.client_context)

    def _event(self, name: str, payload: bytes, request_id: str, context: str = "") -> AsyncEvent:
        settings = self._async_settings(name)
        return AsyncEvent(
            name,
            payload,
            request_id,
            since=self._account.clock.now(),
            retries=int(settings.get("MaximumRetryAttempts", len(PAUSES))),
            age=float(settings.get("MaximumEventAgeInSeconds", LARGEST_AGE)),
            client_context=context,
        )

    def _async_settings(self, name: str) -> dict[str, Any]:
        from .function_names import split_name

        with self._account.boundary.lock:
            try:
                function = self._functions._function(split_name(name)[0], "", name)
            except FunctionMissing:
                return {}
            configured = getattr(function, "event_invoke_config", None)
            return dict(configured[-1].config) if configured else {}

    def _over(self, event: AsyncEvent, condition: Condition) -> None:
        try:
            spec, _ = self._functions.resolve(event.function)
        except FunctionMissing:
            return
        settings, dead_letter = self._async_settings(event.function), self._functions.dead_letter_queue(spec.name)
        async_destinations.deliver(self._account, event, condition, settings, dead_letter, spec.role, self.deliver)


def _source(exchange: Exchange) -> str:
    return "workflow" if exchange.caller.kind == "workflow" else "invoke"


def _unreadable(exchange: Exchange) -> Response | None:
    if not exchange.body.strip():
        return None
    try:
        json.loads(exchange.body)
    except (ValueError, RecursionError) as problem:
        message = f"Could not parse request body into json: Could not parse payload into json: {problem}"
        return error(exchange, "InvalidRequestContentException", message)
    return None


def _client_context(exchange: Exchange) -> str:
    """The caller's client context as JSON in ASCII; what cannot be read is left out."""
    try:
        return json.dumps(json.loads(base64.b64decode(exchange.header("X-Amz-Client-Context"))))
    except ValueError:
        return ""


def _answer(exchange: Exchange, result: RunResult) -> Response:
    headers = {"Content-Type": "application/json", "X-Amz-Executed-Version": result.executed_version}
    if result.function_error:
        headers["X-Amz-Function-Error"] = result.function_error
    if exchange.header("X-Amz-Log-Type") == "Tail":
        text = "".join(f"{line}\n" for line in result.log).encode()
        headers["X-Amz-Log-Result"] = base64.b64encode(text[-_TAIL:]).decode()
    return Response(200, result.payload, headers)
