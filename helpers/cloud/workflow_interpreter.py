"""moto's interpreter of the Amazon States Language, made part of the account.

Imported only when an account is about to need it: it costs most of a second and about 20 MB. Its threads, pauses
and clocks become the account's (`workflow_threads`), and its calls to other services are real requests that carry
the execution and its role, so that permissions, faults and the journal see them like anybody else's.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib
import logging
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from . import workflow_choices, workflow_expressions
from .places import Place
from .workflow_calls import (
    CallingClient,
    Calls,
    lambda_result,
    lambda_task_error,
    names_of_the_request,
    names_of_the_result,
    service_task_error,
    with_metadata,
)
from .workflow_threads import DatesOfTheAccount, ThreadingOfTheAccount, TimeOfTheAccount, current, event, thread

if TYPE_CHECKING:
    from .account import Cloud
    from .workflow_execution import Execution

_PACKAGE = "moto.stepfunctions.parser."
_TASKS = f"{_PACKAGE}asl.component.state.exec.state_task."

PLACES = (
    Place(
        f"{_PACKAGE}asl.utils.boto_client",
        "boto_client_for",
        "2c53599692cbcdda",
        "It is replaced, so that a call carries the execution and its role.",
    ),
    Place(
        f"{_TASKS}lambda_eval_utils",
        "execute_lambda_function_integration",
        "49295e95bce39e20",
        "It is replaced, so that the result has all members that AWS gives.",
    ),
    Place(
        f"{_TASKS}service.state_task_service_lambda",
        "StateTaskServiceLambda._error_cause_from_client_error",
        "fb3d01f2e98c40a3",
        "It is replaced: an error that Lambda's model does not name is Lambda.AWSLambdaException.",
    ),
    Place(
        f"{_TASKS}service.state_task_service_dynamodb",
        "StateTaskServiceDynamoDB._error_cause_from_client_error",
        "150167a1170f089d",
        "It is replaced: an error that DynamoDB's model does not name is DynamoDB.AmazonDynamoDBException.",
    ),
    Place(
        f"{_TASKS}service.state_task_service_sqs",
        "StateTaskServiceSqs._from_error",
        "20ac9ee455290eff",
        "It is replaced, so that the cause names service, status and request.",
    ),
    Place(
        f"{_TASKS}service.state_task_service",
        "StateTaskService",
        "82c05372361779cd",
        "Its two methods that do nothing are replaced, so that parameters and results have the names that AWS gives.",
    ),
    Place(
        f"{_PACKAGE}asl.component.state.exec.execute_state",
        "ExecutionState._evaluate_with_timeout",
        "d3afda806be960d0",
        "It must wait for an attempt in threading.Event, which the account's clock replaces.",
    ),
    Place(
        f"{_PACKAGE}asl.component.state.wait.wait_function.wait_function",
        "WaitFunction._wait_interval",
        "c05f14ad662945f9",
        "It must wait in an event of the environment, which the account's clock replaces.",
    ),
    Place(
        f"{_PACKAGE}asl.component.common.retry.retrier_decl",
        "RetrierDecl._eval_body",
        "36c754fdf7ddb604",
        "It must pause in time.sleep, which the account's clock replaces.",
    ),
    Place(
        f"{_PACKAGE}asl.component.common.error_name.error_equals_decl",
        "ErrorEqualsDecl._eval_body",
        "1b25d44ee9f254d4",
        "States.ALL is kept from matching the two errors that end an execution.",
    ),
    Place(
        f"{_PACKAGE}asl.component.program.program",
        "Program._eval_body",
        "05fa30e65a348ea1",
        "It must tell the end of an execution with one event of the history.",
    ),
    Place(
        f"{_PACKAGE}asl.eval.environment",
        "Environment.as_inner_frame_of",
        "b220bf67436f1594",
        "Frames must be of the class of their environment and share its event manager.",
    ),
    *workflow_choices.PLACES,
    *workflow_expressions.PLACES,
)


_OPTIMISED = (
    ("dynamodb", "StateTaskServiceDynamoDB"),
    ("sqs", "StateTaskServiceSqs"),
    ("sns", "StateTaskServiceSns"),
    ("sfn", "StateTaskServiceSfn"),
)
"""The services whose results carry SdkHttpMetadata and SdkResponseMetadata, as Lambda's do."""


class Loaded:
    """The classes of the interpreter that executions use."""

    def __init__(self) -> None:
        def of(module: str) -> Any:
            return importlib.import_module(_PACKAGE + module)

        with _without_ec2():
            parser = of("asl.parse.asl_parser")
            self.parse: Callable[[str], Any] = lambda text: parser.AmazonStateLanguageParser.parse(text)[0]
            self.Environment = of("asl.eval.environment").Environment
            self.EventManager = of("asl.eval.event.event_manager").EventManager
            self.EventHistoryContext = of("asl.eval.event.event_manager").EventHistoryContext
            self.AWSExecutionDetails = of("asl.eval.evaluation_details").AWSExecutionDetails
            self.EvalComponent = of("asl.component.eval_component").EvalComponent
            self.callback = of("asl.eval.callback.callback")
            self.threads: list[Any] = of("utils").TMP_THREADS
            of("asl.utils.boto_client")
        for place in PLACES:
            place.verify()


@functools.cache
def _load() -> Loaded:
    """Import the interpreter, once in a process."""
    return Loaded()


@contextlib.contextmanager
def _without_ec2() -> Iterator[None]:
    """Import the interpreter without moto's Batch service, of which it needs the names of job states only.

    Batch would import EC2 with all its tables: more than a second and 60 MB.
    """
    if "moto.batch" in sys.modules:
        yield
        return
    import moto

    empty = types.ModuleType("moto.batch")
    empty.__path__ = [f"{next(iter(moto.__path__))}/batch"]
    sys.modules["moto.batch"] = empty
    try:
        yield
    finally:
        del sys.modules["moto.batch"]


class Interpreter:
    """The interpreter of one account: `preload` imports it in the background, `ready` waits for it."""

    def __init__(self, account: Cloud) -> None:
        self.calls = Calls(account)
        self._clock = account.clock
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self._preloading: threading.Thread | None = None
        self._undo: list[Callable[[], None]] = []
        self._closed = False

    def preload(self) -> None:
        """Begin to import the interpreter in the background, if nobody did yet."""
        if self._loaded is None and self._preloading is None:
            self._preloading = threading.Thread(target=self.ready, name="once-workflow-import", daemon=True)
            self._preloading.start()

    def ready(self) -> Loaded:
        """The interpreter; waits while it is imported. Never call it while you hold the boundary's lock."""
        with self._lock:
            if self._loaded is None:
                loaded = _load()
                if not self._closed:
                    self._install()
                self._loaded = loaded
            return self._loaded

    def forget_threads(self) -> None:
        """The interpreter keeps each thread that it ever started in a list."""
        if self._loaded is not None:
            self._loaded.threads.clear()

    def close(self) -> None:
        """Give moto's modules back as they were."""
        with self._lock:
            self._closed = True
            while self._undo:
                self._undo.pop()()

    def _install(self) -> None:
        logger = logging.getLogger("moto.stepfunctions")
        level = logger.level
        # It logs each failed state as an error; here a failure is what the history and the journal tell.
        logger.setLevel(logging.CRITICAL)
        self._undo.append(lambda: logger.setLevel(level))
        original = importlib.import_module(f"{_PACKAGE}asl.utils.boto_client").boto_client_for
        extract = importlib.import_module(f"{_PACKAGE}asl.utils.json_path").extract_json
        stands_in: dict[str, tuple[Any, Any]] = {
            "threading": (threading, ThreadingOfTheAccount()),
            "time": (time, TimeOfTheAccount(self._clock)),
            "datetime": (datetime, DatesOfTheAccount(self._clock)),
            "Thread": (threading.Thread, thread),
            "Event": (threading.Event, event),
            "boto_client_for": (original, self._client_for),
            "extract_json": (extract, workflow_expressions.extracting(extract)),
        }
        for name, module in list(sys.modules.items()):
            if name.startswith(f"{_PACKAGE}asl."):
                for attribute, (expected, new) in stands_in.items():
                    if getattr(module, attribute, None) is expected:
                        self._replace(module, attribute, new)
        tasks = importlib.import_module(f"{_TASKS}lambda_eval_utils")
        self._replace(tasks, "execute_lambda_function_integration", lambda_result(tasks))
        services = f"{_TASKS}service.state_task_service_"
        errors = importlib.import_module(f"{_PACKAGE}asl.component.common.error_name.error_equals_decl").ErrorEqualsDecl
        self._replace(errors, "_eval_body", _matching(errors._eval_body))
        jsonata = importlib.import_module(f"{_PACKAGE}asl.jsonata.jsonata")
        self._replace(jsonata, "_eval_jsonata", _no_jsonata)
        of_lambda = importlib.import_module(f"{services}lambda").StateTaskServiceLambda
        self._replace(of_lambda, "_error_cause_from_client_error", staticmethod(lambda_task_error))
        of_dynamodb = importlib.import_module(f"{services}dynamodb").StateTaskServiceDynamoDB
        self._replace(
            of_dynamodb,
            "_error_cause_from_client_error",
            staticmethod(service_task_error("DynamoDB", "AmazonDynamoDBException", "AmazonDynamoDBv2")),
        )
        base = importlib.import_module(f"{_TASKS}service.state_task_service").StateTaskService
        self._replace(base, "_normalise_parameters", names_of_the_request(self.calls))
        self._replace(base, "_normalise_response", names_of_the_result(self.calls))
        for service, name in _OPTIMISED:
            of_service = getattr(importlib.import_module(f"{services}{service}"), name)
            asked = of_service._eval_service_task
            self._replace(of_service, "_eval_service_task", with_metadata(self.calls, asked))
        of_sqs = importlib.import_module(f"{services}sqs").StateTaskServiceSqs
        self._replace(of_sqs, "_from_error", _sqs_failure(of_sqs._from_error))
        for owner, name, new in workflow_choices.replacements() + workflow_expressions.replacements():
            self._replace(owner, name, new)

    def _client_for(self, region: str, service: str, state_credentials: Any = None) -> Any:
        running = current()
        if running is None:
            raise RuntimeError("a task calls a service outside of an execution")
        execution = cast("Execution", running.activity)  # its threads know only a part of it
        return CallingClient(self.calls, service, execution, getattr(state_credentials, "role_arn", ""))

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        before = owner.__dict__[name]
        setattr(owner, name, new)
        self._undo.append(lambda: setattr(owner, name, before))


def _no_jsonata(expression: str) -> Any:
    """moto has no evaluator of JSONata: what needs one fails, and says why."""
    raise RuntimeError("JSONata expressions are not emulated in this account; use JSONPath.")


def _matching(before: Callable[..., None]) -> Callable[..., None]:
    """States.ALL matches neither States.Runtime nor States.DataLimitExceeded (Developer Guide, "Error names")."""

    def match(self: Any, env: Any) -> None:
        names = [one.error_name for one in self.error_names]
        if names == ["States.ALL"] and env.stack[-1].error_name in {"States.Runtime", "States.DataLimitExceeded"}:
            env.stack.pop()
            env.stack.append(False)
        else:
            before(self, env)

    return match


def _sqs_failure(before: Callable[..., Any]) -> Callable[..., Any]:
    """How a task of SQS fails: with AWS's name and the details of the answer (Java SDK: AmazonSQSException)."""
    from botocore.exceptions import ClientError

    names = importlib.import_module(f"{_PACKAGE}asl.component.common.error_name.custom_error_name")
    failures = importlib.import_module(f"{_PACKAGE}asl.component.common.error_name.failure_event")
    api = importlib.import_module(f"{_PACKAGE}api")
    told = service_task_error("SQS", "AmazonSQSException", "AmazonSQS")

    def from_error(self: Any, env: Any, ex: Exception) -> Any:
        if not isinstance(ex, ClientError):
            return before(self, env=env, ex=ex)
        error, cause = told(ex)
        details = {
            "error": error,
            "cause": cause,
            "resource": self._get_sfn_resource(),
            "resourceType": self._get_sfn_resource_type(),
        }
        return failures.FailureEvent(
            env=env,
            error_name=names.CustomErrorName(error),
            event_type=api.HistoryEventType.TaskFailed,
            event_details={"taskFailedEventDetails": details},
        )

    return from_error
