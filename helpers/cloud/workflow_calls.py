"""The calls that a workflow makes: requests over loopback that carry the execution and its role.

A call is signed with a key of its execution, by which the boundary knows who calls. Names of errors: Step Functions
Developer Guide, "Handle Lambda service exceptions", and recorded against AWS: ``Service.Code`` where the service's
model names the code, otherwise the name that the AWS SDK for Java gives to all others.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from . import environment
from .journal import Caller
from .workflow_threads import Ended

if TYPE_CHECKING:
    from .account import Cloud
    from .workflow_execution import Execution

_LONGEST_ANSWER = 3600
"""Seconds. A call of a workflow has no time-out of its own; a function runs 15 minutes at most."""


class SdkClientException(ClientError):  # type: ignore[misc]  # botocore has no types
    """The call had no answer: the connection broke (the AWS SDK for Java's name)."""

    def __init__(self, problem: Exception, operation: str) -> None:
        message = f"Unable to execute HTTP request: {problem}"
        error = {"Code": "SdkClientException", "Message": message}
        answer = {"HTTPStatusCode": 0, "RequestId": "null"}
        super().__init__({"Error": error, "ResponseMetadata": answer}, operation)


class Calls:
    """The clients of one account, shared by its executions; each call is signed for the execution that makes it."""

    def __init__(self, account: Cloud) -> None:
        self._account = account
        self._lock = threading.Lock()
        self._clients: dict[str, Any] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._signing = threading.local()
        self._session: Any = None

    def call(self, service: str, method: str, execution: Execution, role: str, arguments: dict[str, Any]) -> Any:
        """Make a call for an execution under a role. Raises ClientError, and Ended when the execution is over."""
        if execution.over:
            raise Ended
        client = self._client(service)
        with self._signed_by(self._key(execution, role or execution.role)):
            try:
                answer = getattr(client, method)(**arguments)
                self._signing.metadata = dict(answer.get("ResponseMetadata", {}))
                return answer
            except ClientError:
                raise
            except BotoCoreError as problem:
                if execution.over:
                    raise Ended from problem
                raise SdkClientException(problem, method) from problem

    def last_metadata(self) -> dict[str, Any]:
        """What came with the last answer that this thread had."""
        return dict(self._signing.metadata)

    def operation(self, service: str, method: str) -> Any | None:
        """The model of an operation by the method's name; None when there is none."""
        meta = self._client(service).meta
        name = meta.method_to_api_mapping.get(method)
        return meta.service_model.operation_model(name) if name else None

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            clients = list(self._clients.values())
            self._clients.clear()
        for client in clients:
            client.close()

    @contextlib.contextmanager
    def _signed_by(self, key: str) -> Iterator[None]:
        before = getattr(self._signing, "key", None)
        self._signing.key = key
        try:
            yield
        finally:
            self._signing.key = before

    def _key(self, execution: Execution, role: str) -> str:
        with self._lock:
            key = self._keys.get((execution.arn, role))
            if key is None:
                key = self._keys[execution.arn, role] = f"ASIA{secrets.token_hex(8).upper()}"
                caller = Caller("workflow", execution.machine_name, execution.arn, role)
                self._account.boundary.callers[key] = lambda: caller
            return key

    def _client(self, service: str) -> Any:
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._new_client(service)
            return self._clients[service]

    def _new_client(self, service: str) -> Any:
        from botocore.config import Config
        from botocore.credentials import Credentials

        if self._session is None:
            self._session = self._account.session()
        config = Config(
            parameter_validation=False,
            inject_host_prefix=False,
            retries={"total_max_attempts": 1},
            connect_timeout=10,
            read_timeout=_LONGEST_ANSWER,
            max_pool_connections=64,
        )
        with environment.isolated():
            client = self._session.client(service, endpoint_url=self._account.endpoint, config=config)

        def sign(request: Any, **_: Any) -> None:
            signing = request.context.setdefault("signing", {})
            signing["request_credentials"] = Credentials(self._signing.key, "emulated")

        client.meta.events.register("before-sign", sign)
        return client


class CallingClient:
    """Looks like a boto3 client to the interpreter: each method makes one call for one execution."""

    def __init__(self, calls: Calls, service: str, execution: Execution, role: str) -> None:
        self._calls = calls
        self._service = service
        self._execution = execution
        self._role = role

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda **arguments: self._calls.call(self._service, method, self._execution, self._role, arguments)


def lambda_result(tasks: Any) -> Callable[..., None]:
    """What a task of Lambda gives: all that AWS gives (Developer Guide, "Invoke an AWS Lambda function")."""

    def run(env: Any, parameters: dict[str, Any], region: str, state_credentials: Any) -> None:
        client = tasks.boto_client_for(service="lambda", region=region, state_credentials=state_credentials)
        answer = client.invoke(**parameters)
        text = answer["Payload"].read().decode("utf-8")
        if answer.get("FunctionError"):
            raise tasks.LambdaFunctionErrorException(answer["FunctionError"], text)
        result = {
            "ExecutedVersion": answer.get("ExecutedVersion"),
            "LogResult": answer.get("LogResult"),
            "Payload": _read(text),
            **_metadata(answer["ResponseMetadata"], _OF_LAMBDA),
            "StatusCode": answer["StatusCode"],
        }
        env.stack.append({name: value for name, value in result.items() if name == "Payload" or value is not None})

    return run


def with_metadata(calls: Calls, asked: Callable[..., None]) -> Callable[..., None]:
    """A task's call whose result gets SdkHttpMetadata and SdkResponseMetadata."""

    def run(self: Any, env: Any, **more: Any) -> None:
        asked(self, env=env, **more)
        env.stack[-1].update(_metadata(calls.last_metadata(), {}))

    return run


def names_of_the_request(calls: Calls) -> Callable[..., None]:
    """Parameters have the spelling of the state's language (PascalCase), requests that of the service's model."""

    def normalise(
        self: Any, parameters: Any, boto_service_name: str | None = None, service_action_name: str | None = None
    ) -> None:
        operation = calls.operation(
            self._get_boto_service_name(boto_service_name), self._get_boto_service_action(service_action_name)
        )
        if operation is not None and operation.input_shape is not None:
            self._to_boto_request(parameters, operation.input_shape)

    return normalise


def names_of_the_result(calls: Calls) -> Callable[..., None]:
    """The other way round, for results; their members come in the order of the alphabet, as AWS gives them."""

    def normalise(
        self: Any, response: Any, boto_service_name: str | None = None, service_action_name: str | None = None
    ) -> None:
        operation = calls.operation(
            self._get_boto_service_name(boto_service_name), self._get_boto_service_action(service_action_name)
        )
        if operation is not None and operation.output_shape is not None:
            self._from_boto_response(response, operation.output_shape)
            in_order = dict(sorted(response.items()))
            response.clear()
            response.update(in_order)

    return normalise


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


_HEADERS = {
    "connection": "Connection",
    "content-length": "Content-Length",
    "content-type": "Content-Type",
    "date": "Date",
    "x-amz-executed-version": "X-Amz-Executed-Version",
    "x-amz-log-result": "X-Amz-Log-Result",
    "x-amzn-remapped-content-length": "x-amzn-Remapped-Content-Length",
    "x-amzn-requestid": "x-amzn-RequestId",
    "x-amzn-trace-id": "X-Amzn-Trace-Id",
    "x-amz-crc32": "x-amz-crc32",
}
"""The headers that results show, in the services' own spelling: the SDK for Python makes them small."""


_OF_LAMBDA = {"x-amzn-remapped-content-length": "0", "x-amzn-trace-id": "root=1-{time:08x}-{random};sampled=0"}
"""Headers that Lambda adds and the loopback server does not send."""


def _metadata(answered: dict[str, Any], more: dict[str, str]) -> dict[str, Any]:
    """The two members about the answer itself. `more` are headers that the service would have sent too."""
    random = secrets.token_hex(12)
    added = {name: value.format(time=int(time.time()), random=random) for name, value in more.items()}
    shown = {"connection": "keep-alive", **added, **answered.get("HTTPHeaders", {})}
    headers = {name: shown[lower] for lower, name in _HEADERS.items() if lower in shown}
    return {
        "SdkHttpMetadata": {
            "AllHttpHeaders": {name: [value] for name, value in headers.items()},
            "HttpHeaders": headers,
            "HttpStatusCode": answered["HTTPStatusCode"],
        },
        "SdkResponseMetadata": {"RequestId": answered.get("RequestId", headers.get("x-amzn-RequestId", ""))},
    }


def service_task_error(prefix: str, others: str, service: str) -> Callable[[Any], tuple[str, str]]:
    """How error and cause of a service's refusal are written; `others` names codes that its model does not have."""

    def told(refusal: Any) -> tuple[str, str]:
        code, message = refusal.response["Error"]["Code"], refusal.response["Error"]["Message"]
        if isinstance(refusal, SdkClientException):
            return f"{prefix}.{code}", message
        metadata = refusal.response["ResponseMetadata"]
        details = "; ".join(
            (
                f"Service: {service}",
                f"Status Code: {metadata['HTTPStatusCode']}",
                f"Error Code: {code}",
                f"Request ID: {metadata.get('RequestId', '')}",
                "Proxy: null",
            )
        )
        named = type(refusal).__name__ if type(refusal) is not ClientError else others
        return f"{prefix}.{named}", f"{message} ({details})"

    return told


lambda_task_error = service_task_error("Lambda", "AWSLambdaException", "AWSLambda")
