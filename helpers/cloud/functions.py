"""The control plane of Lambda beside moto: states, deployments and what Lambda refuses.

moto keeps the functions; this module unpacks their code, gives them the states that AWS gives (Pending and Active,
InProgress and Successful), and tells the runtime what is deployed.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from . import async_destinations, function_checks
from .deployment import BadArchive, FunctionSpec
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .function_names import split_name
from .invocations import Invocations
from .journal import Deployed
from .lambda_calls import LambdaCalls
from .lambda_runtime import FunctionMissing
from .layers import Layers
from .logs import runtime_arn
from .responses import Response, error
from .uploaded_code import uploaded
from .work import Busy

if TYPE_CHECKING:
    from moto.awslambda.models import LambdaFunction

    from .account import Cloud

PREFIX = f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:"

TRANSITION_SECONDS = 0.15
"""How long a function stays Pending or InProgress at least: on AWS the next line of a program meets that state too."""

_CREATING = "The function is being created."


@dataclass
class _State:
    """What moto does not keep about a function."""

    revision_id: str
    active: bool = False
    updating: bool = False
    log_group: str = ""
    dead_letter: str = ""

    @property
    def changing(self) -> bool:
        return not self.active or self.updating


class Functions:
    """The functions of one account; registers itself at the boundary."""

    def __init__(self, account: Cloud) -> None:
        self.transition_seconds = TRANSITION_SECONDS
        self._account = account
        self._boundary = account.boundary
        self._runtime = account.runtime
        self._states: dict[str, _State] = {}
        self._specs: dict[tuple[str, str], FunctionSpec] = {}
        self._reserved: dict[str, int] = {}
        self._changed = threading.Condition()
        self._deploying = threading.Lock()
        self._closed = threading.Event()
        self._runtime.resolve = self.resolve
        self._runtime.reserved = self._reserved.get
        self._runtime.on_close(self.close)
        self.invocations = Invocations(account, self)
        LambdaCalls(account)
        self._layers = Layers(self._boundary)
        self._register()

    def _register(self) -> None:
        boundary = self._boundary
        boundary.route("lambda", "CreateFunction", self._create)
        boundary.route("lambda", "UpdateFunctionCode", self._update)
        boundary.route("lambda", "UpdateFunctionConfiguration", self._update)
        boundary.route("lambda", "PublishVersion", self._publish)
        boundary.route("lambda", "GetFunction", self._get)
        for action in ("GetFunction", "GetFunctionConfiguration", "ListFunctions", "ListVersionsByFunction"):
            boundary.after("lambda", action, lambda _, answer: self._edit(answer, self._complete_all))
        boundary.after("lambda", "DeleteFunction", self._deleted)
        boundary.after("lambda", "PutFunctionConcurrency", self._concurrency_changed)
        boundary.after("lambda", "DeleteFunctionConcurrency", self._concurrency_changed)

    # --- what is deployed --------------------------------------------------------------------------------------

    def resolve(self, function_name: str) -> tuple[FunctionSpec, str]:
        """What runs under a name or an ARN, and the ARN that was asked for. Waits for a function that is being created.

        Raises FunctionMissing.
        """
        name, qualifier = split_name(function_name)
        if not qualifier:
            spec = self._specs.get((name, "$LATEST"))
            if spec is not None:
                return spec, spec.arn
        arn = f"{PREFIX}{name}" + (f":{qualifier}" if qualifier else "")
        self.wait_until_ready(name)
        with self._boundary.lock:
            spec = self._specs.get((name, qualifier or "$LATEST"))
            if spec is None:
                function = self._function(name, qualifier, arn)
                spec = self._specs.get((name, str(function.version))) or self._spec_of(function)
        return spec, arn

    def state_of(self, function_name: str) -> str:
        """State of a function as AWS names it: Pending or Active. Raises FunctionMissing."""
        name, qualifier = split_name(function_name)
        with self._boundary.lock:
            self._function(name, qualifier, f"{PREFIX}{name}" + (f":{qualifier}" if qualifier else ""))
        state = self._states.get(name)
        return "Active" if state is None or state.active else "Pending"

    def wait_until_ready(self, name: str, timeout: float = 30.0) -> None:
        """Wait until a function is neither being created nor updated. A function that nobody knows is."""
        with self._changed:
            self._changed.wait_for(lambda: not (name in self._states and self._states[name].changing), timeout)

    def busy(self) -> list[Busy]:
        """The functions that are being created or updated, and the asynchronous events that can run now."""
        with self._changed:
            changing = [name for name, state in self._states.items() if state.changing]
        return [*(Busy("function", name) for name in changing), *self.invocations.busy()]

    def close(self) -> None:
        """Start nothing more."""
        self._closed.set()
        self.invocations.close()
        with self._changed:
            for state in self._states.values():
                state.active, state.updating = True, False
            self._changed.notify_all()

    def _function(self, name: str, qualifier: str, arn: str) -> LambdaFunction:
        from moto.awslambda.exceptions import UnknownFunctionException
        from moto.awslambda.models import lambda_backends

        try:
            return lambda_backends[ACCOUNT_ID][REGION].get_function(name, qualifier or None)
        except UnknownFunctionException:
            raise FunctionMissing(arn) from None

    def _spec_of(self, function: LambdaFunction) -> FunctionSpec:
        """The deployed state of one of moto's functions; unpacks its code and layers when that has not been done."""
        version, code, layers = str(function.version), "", list[str]()
        if function.package_type == "Zip" and getattr(function, "code_bytes", b""):
            code = self._unpack(function.code_bytes)
            layers = [self._unpack(archive) for archive in self._layers.archives(function)]
        state = self._states.get(function.function_name)
        spec = FunctionSpec(
            name=function.function_name,
            version=version,
            arn=f"{PREFIX}{function.function_name}",
            handler=function.handler or "",
            runtime=function.run_time or "",
            role=function.role,
            timeout=float(function.timeout),
            memory=int(function.memory_size),
            environment=dict(function.environment_vars or {}),
            code_sha256=getattr(function, "code_sha_256", ""),
            revision=uuid.uuid4().hex,
            code=code,
            layers=tuple(layers),
            log_group=(state.log_group if state else "") or f"/aws/lambda/{function.function_name}",
        )
        self._specs[spec.key] = spec
        return spec

    def _unpack(self, data: bytes) -> str:
        return self._runtime.code.unpacked(data, hashlib.sha256(data).hexdigest())

    # --- create and update -------------------------------------------------------------------------------------

    def _create(self, exchange: Exchange) -> Response:
        parameters = exchange.parameters
        refused = function_checks.refusal(parameters, creating=True)
        if refused:
            return error(exchange, *refused)
        with self._deploying:
            try:
                self._unpack_upload(parameters.get("Code") or {})
            except BadArchive as problem:
                return error(exchange, "InvalidParameterValueException", str(problem))
            with self._boundary.lock:
                answer = self._role_refusal(exchange) or self._boundary.ask_moto(exchange)
                if answer.status >= 400:
                    return answer
                name, _ = split_name(str(parameters.get("FunctionName", "")))
                state = _State(
                    str(uuid.uuid4()), log_group=_log_group(parameters), dead_letter=_dead_letter(parameters)
                )
                with self._changed:
                    self._states[name] = state
            self._edit(answer, self._complete)
            self._begin(name, state, deployed=True)
            self._runtime.expect_runs()
        return answer

    def _update(self, exchange: Exchange) -> Response:
        parameters = exchange.parameters
        name, _ = split_name(str(parameters.get("FunctionName", "")))
        of_code = exchange.action == "UpdateFunctionCode"
        with self._deploying:
            refused = self._cannot_change(exchange, name) or function_checks.refusal(parameters, creating=False)
            if isinstance(refused, Response):
                return refused
            if refused:
                return error(exchange, *refused)
            try:
                self._unpack_upload(parameters if of_code else {})
            except BadArchive as problem:
                return error(exchange, "InvalidParameterValueException", str(problem))
            with self._boundary.lock:
                answer = self._role_refusal(exchange) or self._boundary.ask_moto(exchange)
                if answer.status >= 400 or (of_code and parameters.get("DryRun")):
                    return answer
                self._function(name, "", "").last_modified = _now()
                state = self._states.setdefault(name, _State("", active=True))
                with self._changed:
                    state.updating, state.revision_id = True, str(uuid.uuid4())
                    state.log_group = _log_group(parameters) or state.log_group
                    if parameters.get("DeadLetterConfig") is not None:
                        state.dead_letter = _dead_letter(parameters)
            self._edit(answer, self._complete)
            self._begin(name, state, deployed=of_code)
        return answer

    def _publish(self, exchange: Exchange) -> Response:
        name, _ = split_name(str(exchange.parameters.get("FunctionName", "")))
        refused = self._cannot_change(exchange, name)
        if refused:
            return refused
        answer = self._boundary.ask_moto(exchange)
        self._edit(answer, self._complete)
        return answer

    def _cannot_change(self, exchange: Exchange, name: str) -> Response | None:
        """The refusal of a change to a function that is changing already, or that has changed since it was read."""
        with self._changed:
            state = self._states.get(name)
            if state is None:
                return None
            why = ""
            if not state.active:
                why = "The function is currently in the following state: Pending"
            elif state.updating:
                why = f"An update is in progress for resource: {PREFIX}{name}"
            known = exchange.parameters.get("RevisionId")
            revision = state.revision_id
        if why:
            message = f"The operation cannot be performed at this time. {why}"
            return error(exchange, "ResourceConflictException", message, 409)
        if known and known != revision:
            message = (
                "The Revision Id provided does not match the latest Revision Id. Call the GetFunction/GetAlias API to "
                "retrieve the latest Revision Id"
            )
            return error(exchange, "PreconditionFailedException", message, 412)
        return None

    def _role_refusal(self, exchange: Exchange) -> Response | None:
        """The refusal of a role that Lambda cannot assume, or that may not send to the dead-letter queue."""
        parameters = exchange.parameters
        name, _ = split_name(str(parameters.get("FunctionName", "")))
        role = str(parameters.get("Role") or "")
        if role and re.fullmatch(r"arn:aws:iam::\d{12}:role/.+", role) and not function_checks.can_be_assumed(role):
            return error(exchange, *function_checks.NOT_ASSUMABLE)
        target = _dead_letter(parameters)
        if not role and target:
            try:
                role = str(self._function(name, "", "").role)
            except FunctionMissing:
                return None
        refused = async_destinations.refusal_of_target(role, target, dead_letter=True) if target else None
        return error(exchange, *refused) if refused else None

    def dead_letter_queue(self, name: str) -> str:
        """The ARN of the queue that gets a function's asynchronous events after their last attempt; may be empty."""
        state = self._states.get(name)
        return state.dead_letter if state else ""

    def _unpack_upload(self, code: dict[str, Any]) -> None:
        """Unpack the code of a request, if there is any. Raises BadArchive."""
        data = uploaded(code, self._boundary.lock)
        if data is not None:
            self._unpack(data)

    # --- transitions -------------------------------------------------------------------------------------------

    def _begin(self, name: str, state: _State, deployed: bool) -> None:
        """Let a new or changed function become ready a little later."""
        work = (name, state, time.monotonic() + self.transition_seconds, deployed)
        threading.Thread(target=self._finish, args=work, name="once-deploy", daemon=True).start()

    def _finish(self, name: str, state: _State, ready_at: float, deployed: bool) -> None:
        self._closed.wait(max(0.0, ready_at - time.monotonic()))
        try:
            with self._boundary.lock:
                if self._closed.is_set() or self._states.get(name) is not state:
                    return  # deleted meanwhile
                spec = self._spec_of(self._function(name, "", ""))
        except (FunctionMissing, BadArchive):
            return
        finally:
            with self._changed:
                state.active, state.updating, state.revision_id = True, False, str(uuid.uuid4())
                self._changed.notify_all()
        self._runtime.replace(spec)
        if deployed:
            self._account.journal.record(Deployed, function=name, code_sha256=spec.code_sha256)
        self._drop_unused_code()
        self._boundary.changed.notify()

    def _drop_unused_code(self) -> None:
        with self._deploying:
            used = {folder for spec in list(self._specs.values()) for folder in (spec.code, *spec.layers)}
            self._runtime.code.keep(used | self._runtime.code_in_use())

    # --- answers -----------------------------------------------------------------------------------------------

    def _get(self, exchange: Exchange) -> Response:
        # boto3's waiters look, then sleep for a second: so a look at a function that is about to be ready takes
        # that little time itself. GetFunctionConfiguration tells the state of the moment.
        self.wait_until_ready(split_name(str(exchange.parameters.get("FunctionName", "")))[0], 5.0)
        return self._boundary.ask_moto(exchange)

    def _edit(self, answer: Response, change: Callable[[dict[str, Any]], None]) -> None:
        if answer.status < 400 and answer.payload:
            body = answer.json()
            change(body)
            answer.replace_json(body)
            answer.headers = {name: value for name, value in answer.headers.items() if name.lower() != "content-length"}

    def _complete_all(self, body: dict[str, Any]) -> None:
        """Complete each configuration in an answer, wherever it stands."""
        for configuration in [
            body,
            body.get("Configuration"),
            *body.get("Functions", []),
            *body.get("Versions", []),
        ]:
            self._complete(configuration)

    def _complete(self, configuration: dict[str, Any] | None) -> None:
        """Give a function's configuration the members that moto lacks."""
        if not configuration or "FunctionName" not in configuration:
            return
        name = configuration["FunctionName"]
        latest = configuration.get("Version") in {"$LATEST", None}
        with self._changed:
            state = self._states.get(name) or _State(str(uuid.uuid5(uuid.NAMESPACE_URL, name)), active=True)
            active, updating = state.active or not latest, state.updating and latest
            configuration["RevisionId"] = state.revision_id
            group = state.log_group or f"/aws/lambda/{name}"
            if state.dead_letter:
                configuration["DeadLetterConfig"] = {"TargetArn": state.dead_letter}
        configuration["LoggingConfig"] = {"LogFormat": "Text", "LogGroup": group}
        if configuration.get("Runtime"):
            configuration["RuntimeVersionConfig"] = {"RuntimeVersionArn": runtime_arn(configuration["Runtime"])}
        configuration["State"] = "Active" if active else "Pending"
        if not active:
            configuration |= {"StateReason": _CREATING, "StateReasonCode": "Creating"}
            configuration.pop("LastUpdateStatus", None)
            return
        configuration["LastUpdateStatus"] = "InProgress" if updating else "Successful"
        if updating:
            configuration |= {"LastUpdateStatusReason": _CREATING, "LastUpdateStatusReasonCode": "Creating"}

    def _deleted(self, exchange: Exchange, answer: Response) -> None:
        if answer.status >= 400:
            return
        name, qualifier = split_name(str(exchange.parameters.get("FunctionName", "")))
        version = exchange.parameters.get("Qualifier") or qualifier or None
        with self._changed:
            for key in [key for key in self._specs if key[0] == name and version in {None, key[1]}]:
                del self._specs[key]
            if version is None:
                self._states.pop(name, None)
                self._reserved.pop(name, None)
                self._changed.notify_all()
        self._runtime.forget(name, version)
        threading.Thread(target=self._drop_unused_code, name="once-deploy", daemon=True).start()

    def _concurrency_changed(self, exchange: Exchange, answer: Response) -> None:
        if answer.status >= 400:
            return
        name, _ = split_name(str(exchange.parameters.get("FunctionName", "")))
        limit = exchange.parameters.get("ReservedConcurrentExecutions")
        if exchange.action == "PutFunctionConcurrency" and limit is not None:
            self._reserved[name] = int(limit)
        else:
            self._reserved.pop(name, None)


def _log_group(parameters: dict[str, Any]) -> str:
    return str((parameters.get("LoggingConfig") or {}).get("LogGroup") or "")


def _dead_letter(parameters: dict[str, Any]) -> str:
    return str((parameters.get("DeadLetterConfig") or {}).get("TargetArn") or "")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"
