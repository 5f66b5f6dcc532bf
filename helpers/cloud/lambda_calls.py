"""Calls of Lambda's control plane that moto answers otherwise than Lambda, and those that are not emulated.

Sources: Lambda API Reference (status codes, sentences), Lambda quotas (1,000 concurrent runs of an account, of which
100 stay unreserved), botocore's model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from . import async_destinations, model_constraints
from .boundary import ANY
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .function_names import split_name
from .responses import Response, error

if TYPE_CHECKING:
    from .account import Cloud

CONCURRENCY = 1000
"""Runs of an account at once."""

NOT_EMULATED = {
    "CreateFunctionUrlConfig": "Function URLs",
    "PutProvisionedConcurrencyConfig": "Provisioned concurrency",
    "CreateCodeSigningConfig": "Code signing",
    "PutFunctionCodeSigningConfig": "Code signing",
    "PutRuntimeManagementConfig": "Runtime management",
    "PutFunctionScalingConfig": "Scaling of functions",
    "PutFunctionRecursionConfig": "Recursive loop detection",
    "InvokeWithResponseStream": "Response streaming",
    "CreateCapacityProvider": "Capacity providers",
    "GetDurableExecution": "Durable executions",
}
_STATUS = {"GetAlias": 200, "UpdateAlias": 200, "DeleteAlias": 204}
"""moto answers these with 201."""

_PARAMETER = "InvalidParameterValueException"


class LambdaCalls:
    """Registers the answers and refusals."""

    def __init__(self, account: Cloud) -> None:
        self._account = account
        boundary = account.boundary
        boundary.gates += [model_constraints.gate, _unreachable]
        boundary.before("lambda", ANY, _plain_name)
        for action, what in NOT_EMULATED.items():
            boundary.route("lambda", action, _not_emulated(what))
        for action in _STATUS:
            boundary.after("lambda", action, _right_status)
        boundary.route("lambda", "GetAccountSettings", self._account_settings)
        for action in ("UpdateFunctionCode", "UpdateFunctionConfiguration"):
            boundary.before("lambda", action, _refuse_version)
        for action in ("PutFunctionEventInvokeConfig", "UpdateFunctionEventInvokeConfig"):
            boundary.before("lambda", action, self._check_destinations)
            boundary.after("lambda", action, self._keep_one_config)

    def _account_settings(self, exchange: Exchange) -> Response:
        with self._account.boundary.lock:
            functions = list(_backend().list_functions())
            reserved = sum(int(function.reserved_concurrency or 0) for function in functions)
            size = sum(int(getattr(function, "code_size", 0)) for function in functions)
        limits = {
            "TotalCodeSize": 80_530_636_800,
            "CodeSizeUnzipped": 262_144_000,
            "CodeSizeZipped": 52_428_800,
            "ConcurrentExecutions": CONCURRENCY,
            "UnreservedConcurrentExecutions": CONCURRENCY - reserved,
        }
        usage = {"TotalCodeSize": size, "FunctionCount": len(functions)}
        return Response.of_json({"AccountLimit": limits, "AccountUsage": usage})

    def _check_destinations(self, exchange: Exchange) -> Response | None:
        name, _ = split_name(str(exchange.parameters.get("FunctionName", "")))
        function = _function(name)
        given = exchange.parameters.get("DestinationConfig") or {}
        for which in ("OnSuccess", "OnFailure"):
            target = (given.get(which) or {}).get("Destination")
            if function is None or not target:
                continue
            refused = async_destinations.refusal_of_target(str(function.role), str(target), dead_letter=False)
            if refused:
                return error(exchange, *refused)
        before = function.event_invoke_config[-1:] if function is not None else []
        exchange.notes["config"] = dict(before[0].config) if before else {}
        return None

    def _keep_one_config(self, exchange: Exchange, answer: Response) -> None:
        """A put replaces, an update changes what it names; moto collects and shows the first."""
        name, _ = split_name(str(exchange.parameters.get("FunctionName", "")))
        function = _function(name)
        if answer.status >= 400 or function is None:
            return
        latest = function.event_invoke_config[-1]
        if exchange.action.startswith("Update"):
            latest.config = {**exchange.notes.get("config", {}), **latest.config}
        function.event_invoke_config = [latest]
        answer.edit_json({**answer.json(), **latest.config})


def _unreachable(exchange: Exchange) -> Response | None:
    """The refusal of a call for a function of another region or account."""
    name = exchange.parameters.get("FunctionName") if exchange.service == "lambda" else None
    if not isinstance(name, str) or not name.startswith("arn:") or name.count(":") < 6:
        return None
    region, account = name.split(":")[3:5]
    if region != REGION:
        message = f"Functions from '{region}' are not reachable in this region ('{REGION}')"
        return error(exchange, "ResourceNotFoundException", message, 404)
    if account == ACCOUNT_ID:
        return None
    action = "InvokeFunction" if exchange.action == "Invoke" else exchange.action
    message = (
        f"User: arn:aws:iam::{ACCOUNT_ID}:root is not authorized to perform: lambda:{action} on resource: {name} "
        f"because no resource-based policy allows the lambda:{action} action"
    )
    return error(exchange, "AccessDeniedException", message, 403)


def _plain_name(exchange: Exchange) -> None:
    """Ask moto for ``name`` where a caller says ``function:name`` or ``name:$LATEST``: its paths know no such forms."""
    given = exchange.parameters.get("FunctionName")
    if not isinstance(given, str) or ":" not in given:
        return
    name, qualifier = split_name(given)
    plain = name if qualifier in {"", "$LATEST"} else f"{name}:{qualifier}"
    path = exchange.environ.get("PATH_INFO", "").replace(f"/functions/{given}", f"/functions/{plain}", 1)
    query = exchange.environ.get("QUERY_STRING", "")
    target = quote(path) + (f"?{query}" if query else "")
    exchange.environ = {**exchange.environ, "PATH_INFO": path, "REQUEST_URI": target, "RAW_URI": target}


def _not_emulated(what: str) -> Any:
    def route(exchange: Exchange) -> Response:
        return error(exchange, _PARAMETER, f"{what} {'are' if what.endswith('s') else 'is'} not emulated.")

    return route


def _right_status(exchange: Exchange, answer: Response) -> None:
    if answer.status < 400:
        answer.status = _STATUS[exchange.action]


def _refuse_version(exchange: Exchange) -> Response | None:
    name, qualifier = split_name(str(exchange.parameters.get("FunctionName", "")))
    if not qualifier or qualifier == "$LATEST":
        return None
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{name}:{qualifier}"
    return error(exchange, _PARAMETER, f"A published version or an alias cannot be updated: {arn}")


def _function(name: str) -> Any | None:
    from moto.awslambda.exceptions import LambdaClientError

    try:
        return _backend().get_function(name)
    except LambdaClientError:
        return None


def _backend() -> Any:
    from .account import backends

    return backends("lambda")
