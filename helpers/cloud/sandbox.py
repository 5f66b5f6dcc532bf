"""One execution environment: a worker process with its endpoint, its log stream and its access key.

The process lives for many runs, one at a time. `Sandbox.run` is the whole life of one run: the event goes in,
the result, an error, a time-out or the end of the process comes out, and the log events are written.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from . import logs
from .deployment import CodeStore, FunctionSpec
from .runtime_api import RESPONSE_LIMIT, Ended, Endpoint, Request, TimedOut, accept, refuse
from .worker_process import WINDOWS, WorkerProcess, basic_environment, peak_memory

INIT_LIMIT = 10.0
"""Seconds that a start may take beside the function's own time-out (Lambda Developer Guide, "Init phase")."""

MEMORY_CEILING = 1024
"""MB. A process that grows beyond this and beyond the function's own memory is killed. AWS kills at the function's
memory; Python and the libraries do not take the same space on every machine, so that would not be repeatable here."""

_LOG_PAUSE = 1.0
"""Seconds between two writes of the log during a long run."""

Outcome = Literal["succeeded", "error", "timeout", "crash"]


@dataclass(frozen=True)
class Invocation:
    """One run to be. `arn` is the function's ARN as it was asked for, `client_context` JSON text or empty."""

    request_id: str
    payload: bytes
    arn: str
    client_context: str = ""


@dataclass(frozen=True)
class RunResult:
    """What came of a run. `function_error` is "Unhandled" or None, `log` its log events without the lines' ends."""

    payload: bytes
    function_error: str | None
    request_id: str
    log: list[str]
    outcome: Outcome
    error_type: str | None = None
    duration_ms: float = 0.0
    executed_version: str = "$LATEST"


def _never_dies(spec: FunctionSpec, invocation: Invocation, when: Literal["start", "end"]) -> bool:
    return False


class WorkerGone(Exception):
    """An idle worker had ended before it got the event: nothing ran."""


@dataclass(frozen=True)
class Surroundings:
    """What a sandbox needs of its account. `dies` says whether a fault ends the process at this end of a run."""

    environment: Mapping[str, str]
    code: CodeStore
    now: Callable[[], float]
    lock: threading.RLock
    dies: Callable[[FunctionSpec, Invocation, Literal["start", "end"]], bool] = _never_dies


class Sandbox:
    """A worker process for one deployed state of a function. Not thread-safe, except `kill`."""

    def __init__(
        self, spec: FunctionSpec, process: WorkerProcess | None, around: Surroundings, client: str = "bundled"
    ) -> None:
        self.spec = spec
        self.request_id = ""
        self.last_request_id = ""
        self.killed = False
        now = around.now()
        unique = uuid.uuid4().hex
        self.access_key = f"ASIAONCE{unique[:12].upper()}"
        self._around = around
        self._endpoint = Endpoint()
        self._reader = logs.OutputReader(around.now)
        self._stream = logs.LogStream(
            spec.log_group, logs.stream_name(now, spec.version, unique), around.lock, spec.role
        )
        self._temporary = around.code.temporary()
        self._waiting: Request | None = None
        self._events: list[logs.LogEvent] = []
        self._texts: list[str] = []
        self._written_at = time.monotonic()
        self._memory = 0
        self.crashing = ""
        """The run that shall end as a crash, also when its event has not reached the process yet."""
        self._cold = True
        self._started = time.monotonic()
        self._init_ms: float | None = None
        self._note(logs.init_line(spec.runtime))
        self._process = self._start(process, client)

    # --- one run -----------------------------------------------------------------------------------------------

    def run(self, invocation: Invocation) -> RunResult:
        """Run the function once. Raises WorkerGone when the process had ended before the event reached it."""
        failed = self._prepare(invocation)
        if failed is not None:
            return failed
        waiting = self._waiting
        assert waiting is not None
        self._waiting = None
        self._drain(finish=True)
        self._note(f"START RequestId: {invocation.request_id} Version: {self.spec.version}\n")
        started = time.monotonic()
        try:
            self._meet_fault(invocation, "start")
            waiting.connection.reply(200, invocation.payload, self._headers(invocation))
            payload, outcome, kind = self._answer(invocation, started + self.spec.timeout)
        except (Ended, OSError):
            payload, outcome, kind = self._crashed(invocation.request_id)
        except TimedOut:
            payload, outcome, kind = self._timed_out(invocation.request_id)
        spent = (time.monotonic() - started) * 1000
        if outcome == "timeout":
            spent = self.spec.timeout * 1000
        return self._report(invocation.request_id, payload, outcome, kind, spent)

    def _prepare(self, invocation: Invocation) -> RunResult | None:
        """Wait until the worker asks for an event. Returns the result of a start that failed."""
        self.request_id = self.last_request_id = invocation.request_id
        if not self._cold:
            self._events, self._texts = [], []
        payload: bytes
        outcome: Outcome
        kind: str
        try:
            self._waiting = self._waiting or self._next(INIT_LIMIT + (self.spec.timeout if self._cold else 0))
            if self._cold:
                self._init_ms = (time.monotonic() - self._started) * 1000
            return None
        except _InitFailed as problem:
            payload, outcome, kind = problem.payload, "error", problem.kind
        except (Ended, OSError):
            if not self._cold and self.crashing != invocation.request_id:
                raise WorkerGone from None
            payload, outcome, kind = self._crashed(invocation.request_id)
        except TimedOut:
            payload, outcome, kind = self._timed_out(invocation.request_id)
        self.kill()
        self._init_ms = (time.monotonic() - self._started) * 1000
        self._drain(finish=True)
        self._note(f"START RequestId: {invocation.request_id} Version: {self.spec.version}\n")
        return self._report(invocation.request_id, payload, outcome, kind, 0.0)

    def _next(self, seconds: float) -> Request:
        request = self._receive(time.monotonic() + seconds)
        while not request.path.endswith("/runtime/invocation/next"):
            if request.path.endswith("/runtime/init/error"):
                accept(request)
                raise _InitFailed(request.body, request.headers.get("lambda-runtime-function-error-type", ""))
            refuse(request, 404, "NotFound", f"There is nothing at {request.path}")
            request = self._receive(time.monotonic() + seconds)
        return request

    def _meet_fault(self, invocation: Invocation, when: Literal["start", "end"]) -> None:
        """End the process here if a fault wants so."""
        if self._around.dies(self.spec, invocation, when):
            self.kill()
            raise Ended

    def _answer(self, invocation: Invocation, deadline: float) -> tuple[bytes, Outcome, str | None]:
        """Wait for the result of the run."""
        request_id = invocation.request_id
        while True:
            request = self._receive(deadline)
            called = request.path.rpartition("/runtime/")[2]
            if called == f"invocation/{request_id}/response":
                self._meet_fault(invocation, "end")
                if request.size > RESPONSE_LIMIT:
                    most = f"maximum allowed payload size ({RESPONSE_LIMIT} bytes)."
                    refuse(request, 413, "RequestEntityTooLarge", f"Exceeded {most}")
                    self._let_complain()
                    kind = "Function.ResponseSizeTooLarge"
                    return _error(f"Response payload size exceeded {most}", kind), "error", kind
                accept(request)
                return request.body, "succeeded", None
            if called == f"invocation/{request_id}/error":
                accept(request)
                return request.body, "error", _error_type(request)
            if called == "invocation/next":
                refuse(request, 403, "InvalidStateTransition", "Transition from Running to Ready is not allowed")
            else:
                refuse(request, 400, "InvalidRequestID", "Invalid request ID")

    def _let_complain(self) -> None:
        """Wait until the worker has logged that its result was refused: it then asks for the next event or ends."""
        with contextlib.suppress(Ended, TimedOut, OSError, _InitFailed):
            self._waiting = self._next(2.0)

    def _crashed(self, request_id: str) -> tuple[bytes, Outcome, str]:
        code = self._process.wait(5)
        self.kill()
        message = f"RequestId: {request_id} Error: {_exit_reason(code, self.killed)}"
        self._drain(finish=True)
        self._note(f"{message}\nRuntime.ExitError\n")
        return _error(message, "Runtime.ExitError", first="errorType"), "crash", "Runtime.ExitError"

    def _timed_out(self, request_id: str) -> tuple[bytes, Outcome, str]:
        self._memory = max(self._memory, peak_memory(self._process.pid))
        self._process.kill()
        self._process.wait(5)
        self.killed = True
        sentence = f"Task timed out after {self.spec.timeout:.2f} seconds"
        self._drain(finish=True)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self._around.now()))
        self._note(f"{moment}.{int(self._around.now() * 1000) % 1000:03d}Z {request_id} {sentence}\n\n")
        kind = "Sandbox.Timedout"
        return _error(f"RequestId: {request_id} Error: {sentence}", kind, first="errorType"), "timeout", kind

    def _report(self, request_id: str, payload: bytes, outcome: Outcome, kind: str | None, spent: float) -> RunResult:
        self._drain(finish=True)
        self._memory = max(self._memory, peak_memory(self._process.pid))
        broken = outcome in {"timeout", "crash"} or (self._cold and spent == 0.0)
        status = "" if not broken else "timeout" if outcome == "timeout" else "error"
        init = self._init_ms if self._cold else None
        used = min(self._memory or 1, self.spec.memory)
        self._note(f"END RequestId: {request_id}\n")
        shown = (kind or "") if status == "error" else ""
        self._note(logs.report_line(request_id, spent, self.spec.memory, used, init, status, shown))
        self._cold = False
        self._write()
        self.request_id = ""
        error = None if outcome == "succeeded" else "Unhandled"
        return RunResult(payload, error, request_id, self._texts, outcome, kind, spent, self.spec.version)

    # --- process and log ---------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether the process can take another run."""
        return not self.killed and self._process.returncode is None

    @property
    def marks(self) -> tuple[str, str]:
        """What is in the environment of each process that this worker started, and of no other."""
        return self._process.mark, self._temporary

    def kill(self) -> None:
        """End the process, from any thread: its run ends as a crash."""
        self.killed = True
        self._process.kill()

    def close(self) -> None:
        """End the process and remove what belonged to it."""
        from pathlib import Path

        from .deployment import remove

        self.killed = True
        self._process.close()
        self._endpoint.close()
        remove(Path(self._temporary))

    def _start(self, process: WorkerProcess | None, client: str) -> WorkerProcess:
        environ = self._environ()
        if client == "bundled":
            assignment = {
                "environ": environ,
                "task": self.spec.code,
                "layers": self.spec.layers,
                "path": _library(),
            }
            if process is not None:
                try:
                    process.assign(assignment)
                    return process
                except OSError:
                    process.close()
            own = {name: value for name, value in self.spec.environment.items() if name.startswith("PYTHON")}
            process = WorkerProcess(environ={**basic_environment(), **own}, account=str(self._around.code.folder))
            process.assign(assignment)
            return process
        # AWS's client takes log frames to a file descriptor of its own; here it is the standard output.
        telemetry = {"_LAMBDA_TELEMETRY_LOG_FD": "1", "PYTHONUTF8": "1"}
        command = [sys.executable, "-m", client, self.spec.handler]
        account = str(self._around.code.folder)
        return WorkerProcess(command, environ={**environ, **telemetry}, folder=self.spec.code, account=account)

    def _receive(self, deadline: float) -> Request:
        return self._endpoint.receive(deadline, lambda: self._process.returncode is None, self._drain_during_run)

    def _drain_during_run(self) -> bool:
        self._memory = max(self._memory, peak_memory(self._process.pid))
        if self._memory > max(self.spec.memory, MEMORY_CEILING):
            self.kill()
        found = self._drain()
        if self._events and time.monotonic() - self._written_at > _LOG_PAUSE and not self._cold:
            self._write()
        return found

    def _drain(self, finish: bool = False) -> bool:
        """Read what the worker wrote. Returns whether there was any."""
        found = False
        # Twice is enough for what the run wrote: a pipe holds less. A thread that it left behind may print for ever.
        for _ in range(2 if finish else 1):
            if data := self._process.read_output():
                self._reader.feed(data)
                found = True
        if found or finish:
            for event in self._reader.finish() if finish else self._reader.take():
                self._note(event.text, event.at)
        return found

    def _note(self, text: str, at: int | None = None) -> None:
        self._events.append(logs.LogEvent(int(self._around.now() * 1000) if at is None else at, text))
        self._texts.append(text.rstrip("\n"))

    def _write(self) -> None:
        events, self._events = self._events, []
        self._written_at = time.monotonic()
        self._stream.write(logs.in_order(events))

    # --- what the worker is told -------------------------------------------------------------------------------

    def _headers(self, invocation: Invocation) -> dict[str, str]:
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(int((time.time() + self.spec.timeout) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.arn,
            "Lambda-Runtime-Trace-Id": f"Root=1-{int(time.time()):08x}-{random.getrandbits(96):024x};Sampled=0",
        }
        if invocation.client_context:
            headers["Lambda-Runtime-Client-Context"] = invocation.client_context
        return headers

    def _environ(self) -> dict[str, str]:
        """Lambda Developer Guide, "Defined runtime environment variables", and what leads SDKs to the account."""
        spec, region = self.spec, self._around.environment["AWS_REGION"]
        temporary = {"TEMP": self._temporary, "TMP": self._temporary} if WINDOWS else {"TMPDIR": self._temporary}
        home = "USERPROFILE" if WINDOWS else "HOME"
        return {
            **basic_environment(),
            **temporary,
            home: self._temporary,
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            **spec.environment,
            **self._around.environment,
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": "emulated",
            "AWS_SESSION_TOKEN": base64.b64encode(self.access_key.encode()).decode(),
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{spec.runtime}",
            "AWS_LAMBDA_FUNCTION_NAME": spec.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory),
            "AWS_LAMBDA_FUNCTION_VERSION": spec.version,
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_LAMBDA_LOG_GROUP_NAME": self._stream.group,
            "AWS_LAMBDA_LOG_STREAM_NAME": self._stream.name,
            "AWS_LAMBDA_RUNTIME_API": self._endpoint.address,
            "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
            "LAMBDA_TASK_ROOT": spec.code,
            "LAMBDA_RUNTIME_DIR": "/var/runtime",
            "_HANDLER": spec.handler,
        }


class _InitFailed(Exception):
    def __init__(self, payload: bytes, kind: str) -> None:
        super().__init__(kind)
        self.payload, self.kind = payload, kind or _kind_of(payload)


def _library() -> list[str]:
    """Where the kernel found boto3: a worker that does not find it by itself looks there."""
    import boto3

    return [os.path.dirname(os.path.dirname(os.path.abspath(boto3.__file__)))]


def _error(message: str, kind: str, first: str = "errorMessage") -> bytes:
    members = {"errorMessage": message, "errorType": kind}
    if first == "errorType":
        members = {"errorType": kind, "errorMessage": message}
    return json.dumps(members).encode()


def _error_type(request: Request) -> str:
    return _kind_of(request.body) or request.headers.get("lambda-runtime-function-error-type", "")


def _kind_of(payload: bytes) -> str:
    with contextlib.suppress(ValueError, AttributeError):
        return str(json.loads(payload).get("errorType", ""))
    return ""


def _exit_reason(code: int | None, killed: bool) -> str:
    """AWS's words for the end of a process (seen in published logs)."""
    if killed and WINDOWS:
        return "Runtime exited with error: signal: killed"
    if code is None or code == 0:
        return "Runtime exited without providing a reason"
    if code < 0:
        names: dict[int, str] = {
            signal.SIGABRT: "aborted",
            signal.SIGSEGV: "segmentation fault",
            signal.SIGTERM: "terminated",
        }
        names |= {} if WINDOWS else {signal.SIGKILL: "killed", signal.SIGBUS: "bus error"}
        return f"Runtime exited with error: signal: {names.get(-code, str(-code))}"
    return f"Runtime exited with error: exit status {code}"
