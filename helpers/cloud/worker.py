"""The process in which a deployed function runs: a client of the documented Lambda Runtime API.

Run as a script, never imported by the account. It depends on the standard library only and behaves as AWS's
Python runtime does: how a handler is found, what a context offers, how results and errors become JSON, how
log lines look. The process may be started before its function is known: it then reads its assignment, one line
of JSON, from standard input, and imports boto3 while it waits. When standard input ends, the account is gone
and the whole process group ends with it.

Source: AWS Lambda Developer Guide, "Using the Lambda runtime API" and "Python handlers"; compared in
the tests with AWS's own client for Python.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import io
import json
import logging
import os
import re
import signal
import socket
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn

TASK_ROOT = "/var/task"
LAYER_ROOT = "/opt"
API = "/2018-06-01/runtime"
FRAME = b"\xa5\x5a\x00\x03"
"""Begins a log event that is one piece, whatever lines it has: then length (4 bytes), time in µs (8), text."""


class Fault(Exception):
    """An error of the runtime itself, such as a handler that does not exist."""

    def __init__(self, kind: str, message: str, trace: list[str] | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.trace = kind, message, trace or []


# --- assignment: what this process is for ------------------------------------------------------------------


def read_assignment(descriptor: int) -> dict[str, Any]:
    """Read one line of JSON. Leaves the process when the input ends first: nobody needs it any more."""
    data = b""
    while not data.endswith(b"\n"):
        piece = os.read(descriptor, 65536)
        if not piece:
            os._exit(0)
        data += piece
    assignment: dict[str, Any] = json.loads(data)
    return assignment


def end_with(descriptor: int) -> None:
    """Wait for the end of standard input, then end this process and all that it started."""
    with contextlib.suppress(OSError):
        while os.read(descriptor, 4096):
            pass
    if hasattr(os, "killpg"):
        os.killpg(os.getpgid(0), signal.SIGKILL)
    os._exit(1)


def end_from_outside(descriptor: int) -> None:
    """Let Linux do the same by itself: a handler that never lets go of the interpreter's lock stops `end_with`.

    The system sends a signal to the process group when the other end of the pipe is closed (fcntl(2), F_SETSIG).
    """
    if sys.platform != "linux":
        return
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgid(0))
        fcntl.fcntl(descriptor, getattr(fcntl, "F_SETSIG", 10), signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)


def take_standard_input() -> int:
    """Keep standard input for `end_with`, and give the handler an empty one, as AWS does."""
    kept = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    return kept


def import_early() -> set[str]:
    """Import what nearly every handler imports. Returns the names of the modules that came in by it."""
    before = set(sys.modules)
    gc.disable()  # imports make much that stays: a tenth of their time would go into looking at it
    with contextlib.suppress(Exception):
        import boto3  # noqa: F401
        import botocore.auth
        import botocore.endpoint
        import botocore.httpsession
        import botocore.parsers
        import botocore.retries.standard
        import botocore.signers  # noqa: F401
    # What was imported stays: the collector need not look at it again, nor look so often. Clients of boto3 are
    # many small objects, and a handler that makes one per run spends a fifth of that time in the collector.
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 50)
    return set(sys.modules) - before


def settle_in(assignment: dict[str, Any], early: set[str]) -> None:
    """Take on environment, folder and module path of the function."""
    os.environ.clear()
    os.environ.update(assignment["environ"])
    if hasattr(time, "tzset"):
        time.tzset()
    os.chdir(assignment["task"])
    sys.dont_write_bytecode = True
    places = {assignment["task"]: TASK_ROOT, **dict.fromkeys(assignment["layers"], LAYER_ROOT)}
    sys.path_hooks.insert(0, lambda path: _finder(path, places))
    sys.path_importer_cache.clear()
    own = os.path.dirname(os.path.abspath(__file__))
    rest = [path for path in sys.path if path and os.path.abspath(path) != own]
    layers = [os.path.join(layer, "python") for layer in assignment["layers"]]
    extra = [path for path in assignment["path"] if path not in rest]
    declared = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [assignment["task"], *layers, *declared, *rest, *extra]
    # A project that is installed as editable is found by a finder of setuptools, not by a path: a deployed function
    # must not find the account's own modules.
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _module_of(finder).startswith("__editable__")]
    _forget_shadowed([assignment["task"], *layers], early)


def _module_of(finder: object) -> str:
    return str(getattr(finder, "__module__", ""))


def _forget_shadowed(folders: list[str], early: set[str]) -> None:
    """A function that brings its own copy of a library that was imported early gets its own."""
    brought: set[str] = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            brought |= {name.partition(".")[0] for name in os.listdir(folder)}
    if brought & {name.partition(".")[0] for name in early}:
        for name in early:
            sys.modules.pop(name, None)


class _TaskLoader(importlib.machinery.SourceFileLoader):
    """Compiles a function's source under the path that it would have on AWS, so that tracebacks say /var/task/app.py.

    `__file__` stays the real path: a handler can open the files beside it.
    """

    places: ClassVar[dict[str, str]] = {}

    def path_stats(self, path: Any) -> Any:
        raise OSError("no compiled copy: its paths would be the real ones")

    # The standard library calls it on the loader, where typeshed has a static method, and sends _optimize.
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> types.CodeType:  # type: ignore[override]
        return super().source_to_code(data, shown(os.fsdecode(path), self.places), _optimize=_optimize)


def _finder(path: str, places: dict[str, str]) -> Any:
    if not any(path == real or path.startswith(real + os.sep) for real in places):
        raise ImportError(path)
    loader = type("TaskLoader", (_TaskLoader,), {"places": places})
    machinery = importlib.machinery
    return machinery.FileFinder(
        path,
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (loader, machinery.SOURCE_SUFFIXES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    )


def shown(path: str, places: dict[str, str]) -> str:
    """The path on AWS of a file that is really somewhere else."""
    for real, aws in places.items():
        if path.startswith(real + os.sep):
            return aws + path[len(real) :].replace(os.sep, "/")
    return path


# --- output ------------------------------------------------------------------------------------------------


class Output:
    """Where log events go: the process's standard output, as frames."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def event(self, text: str) -> None:
        """Write one log event, whatever lines it has. Raises UnicodeEncodeError for half a pair of surrogates."""
        data = text.encode("utf-8")
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        head = FRAME + len(data).to_bytes(4, "big") + (time.time_ns() // 1000).to_bytes(8, "big")
        self._write(head + data)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        with contextlib.suppress(OSError):
            while view:
                view = view[os.write(self._descriptor, view) :]


class Unbuffered(io.TextIOWrapper):
    """Writes at once: what was printed before a time-out or a crash is in the log."""

    def write(self, text: str) -> int:
        count = super().write(text)
        self.flush()
        return count


def open_output() -> Output:
    """Make print write in UTF-8, whatever the locale says, and as strict as AWS's."""
    for number, name, errors in ((1, "stdout", "strict"), (2, "stderr", "backslashreplace")):
        buffer = io.BufferedWriter(io.FileIO(number, "w", closefd=False), 65536)
        setattr(sys, name, Unbuffered(buffer, "utf-8", errors, "\n"))
    return Output(1)


class LogHandler(logging.Handler):
    """AWS's format of a log record; one record is one event."""

    def __init__(self, output: Output) -> None:
        super().__init__()
        self.output = output
        self.log_sink = self  # the context's `log` looks for it, as AWS's does
        form = "[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t%(aws_request_id)s\t%(message)s\n"
        formatter = logging.Formatter(form, "%Y-%m-%dT%H:%M:%S")
        formatter.converter = time.gmtime
        self.setFormatter(formatter)
        self.addFilter(self._with_request_id)
        self.request_id = ""

    def _with_request_id(self, record: logging.LogRecord) -> bool:
        record.aws_request_id = self.request_id
        return True

    def emit(self, record: logging.LogRecord) -> None:
        # A record that cannot be formatted is the handler's error, as with AWS's client: nothing is caught.
        self.output.event(self.format(record))

    def log(self, text: str) -> None:
        self.output.event(text)


# --- context -----------------------------------------------------------------------------------------------


class Record:
    """A fixed set of attributes, None unless given: client, identity and client context of AWS."""

    names: tuple[str, ...] = ()

    def __init__(self, values: dict[str, Any]) -> None:
        for name in self.names:
            setattr(self, name, values.get(name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{','.join(f'{name}={getattr(self, name)}' for name in self.names)}])"


class CognitoIdentity(Record):
    names = ("cognito_identity_id", "cognito_identity_pool_id")


class Client(Record):
    names = ("installation_id", "app_title", "app_version_name", "app_version_code", "app_package_name")


class ClientContext(Record):
    names = ("custom", "env", "client")
    client: Any


class LambdaContext:
    """What a handler is told about its run (AWS Lambda Developer Guide, "Using the Lambda context object")."""

    def __init__(self, headers: dict[str, str], output: Output) -> None:
        environ = os.environ
        self.aws_request_id = headers["lambda-runtime-aws-request-id"]
        self.invoked_function_arn = headers.get("lambda-runtime-invoked-function-arn")
        self.function_name = environ.get("AWS_LAMBDA_FUNCTION_NAME")
        self.function_version = environ.get("AWS_LAMBDA_FUNCTION_VERSION")
        self.memory_limit_in_mb = environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
        self.log_group_name = environ.get("AWS_LAMBDA_LOG_GROUP_NAME")
        self.log_stream_name = environ.get("AWS_LAMBDA_LOG_STREAM_NAME")
        self.tenant_id = headers.get("lambda-runtime-aws-tenant-id")
        self.client_context = _client_context(headers.get("lambda-runtime-client-context"))
        identity = _parsed(headers.get("lambda-runtime-cognito-identity"), "Cognito Identity") or {}
        self.identity = CognitoIdentity(
            {
                "cognito_identity_id": identity.get("cognitoIdentityId"),
                "cognito_identity_pool_id": identity.get("cognitoIdentityPoolId"),
            }
        )
        self._deadline = int(headers.get("lambda-runtime-deadline-ms", 0))
        self._output = output

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the run is ended by its time-out, never negative."""
        return max(0, self._deadline - int(time.time() * 1000))

    def w3c(self) -> dict[str, str]:
        """The caller's trace context, which only AWS's own services send."""
        return {}

    def log(self, message: object) -> None:
        self._output.event(str(message))

    def __repr__(self) -> str:
        shown = (
            *("aws_request_id", "log_group_name", "log_stream_name", "function_name", "memory_limit_in_mb"),
            *("function_version", "invoked_function_arn", "client_context", "identity", "tenant_id"),
        )
        return f"LambdaContext([{','.join(f'{name}={getattr(self, name)}' for name in shown)}])"


def _parsed(text: str | None, what: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError as problem:
        raise Fault("Runtime.LambdaContextUnmarshalError", f"Unable to parse {what} JSON: {problem}") from None


def _client_context(text: str | None) -> ClientContext | None:
    values = _parsed(text, "Client Context")
    if values is None:
        return None
    context = ClientContext(values)
    if context.client is not None:
        context.client = Client(context.client)
    return context


# --- results and errors ------------------------------------------------------------------------------------


class Marshaller:
    """Turns results into JSON as AWS's runtime does: a Decimal keeps its digits, a named tuple is an object."""

    def __init__(self) -> None:
        version = re.fullmatch(r"AWS_Lambda_python3\.(\d+)", os.environ.get("AWS_EXECUTION_ENV", ""))
        self._ascii = not (version and int(version.group(1)) >= 12)
        self._mark = f"decimal-{os.urandom(12).hex()}-"

    def dumps(self, value: Any) -> str:
        numbers: list[str] = []

        def default(other: Any) -> Any:
            decimal = sys.modules.get("decimal")
            if decimal and isinstance(other, decimal.Decimal):
                numbers.append("NaN" if other.is_nan() else str(other))
                return f"{self._mark}{len(numbers) - 1}"
            raise TypeError(f"Object of type {type(other).__name__} is not JSON serializable")

        with contextlib.suppress(RecursionError):  # a circle: json says so in its own words
            value = _with_objects(value)
        text = json.dumps(value, ensure_ascii=self._ascii, default=default)
        if numbers:
            text = re.sub(f'"{self._mark}(\\d+)"', lambda found: numbers[int(found.group(1))], text)
        return text

    def result(self, value: Any) -> tuple[bytes, str]:
        """The bytes of a result and their content type. Raises Fault for what is not JSON."""
        if isinstance(value, bytes):
            return value, "application/unknown"
        try:
            return self.dumps(value).encode(), "application/json"
        except Exception as problem:
            raise Fault("Runtime.MarshalError", f"Unable to marshal response: {problem}") from None


def _with_objects(value: Any) -> Any:
    """`value` with named tuples as dicts, the same object when it has none."""
    if isinstance(value, dict):
        changed = {key: _with_objects(item) for key, item in value.items() if isinstance(item, (dict, list, tuple))}
        return {**value, **changed} if any(value[key] is not item for key, item in changed.items()) else value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _with_objects(value._asdict())
    if isinstance(value, (list, tuple)):
        items = [_with_objects(item) if isinstance(item, (dict, list, tuple)) else item for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def error_payload(message: str, kind: str, trace: Iterable[str], request_id: str = "") -> dict[str, Any]:
    """An error as AWS's runtime reports it."""
    return {"errorMessage": message, "errorType": kind, "requestId": request_id, "stackTrace": list(trace)}


def payload_of(problem: BaseException, request_id: str = "") -> dict[str, Any]:
    """The error that an exception becomes. The frames of this file are left out."""
    if isinstance(problem, Fault):
        return error_payload(problem.message, problem.kind, problem.trace, request_id)
    frames = list(traceback.extract_tb(problem.__traceback__))
    while len(frames) > 1 and frames[0].filename == __file__:
        del frames[0]
    summary = traceback.FrameSummary
    lines = traceback.format_list(
        [summary(_on_aws(one.filename), one.lineno, one.name, line=one.line) for one in frames]
    )
    return error_payload(str(problem), type(problem).__name__, lines, request_id)


def _on_aws(path: str) -> str:
    """Where AWS keeps a file of the library: a trace shall not show the folders of this machine."""
    version = f"/var/lang/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    packages = [folder for folder in sys.path if os.path.basename(folder) in {"site-packages", "dist-packages"}]
    if path == __file__:
        return "/var/runtime/bootstrap.py"
    places = dict.fromkeys(packages, f"{version}/site-packages")
    places[os.path.dirname(os.__file__)] = version
    for real, aws in places.items():
        if path.startswith(real + os.sep):
            return aws + path[len(real) :].replace(os.sep, "/")
    return path


def error_event(error: dict[str, Any]) -> str:
    """The log event of an error; AWS indents the trace with no-break spaces."""
    head = "[ERROR]" + (f" {error['errorType']}" if error["errorType"] else "")
    if error["errorMessage"]:
        head += (":" if error["errorType"] else "") + f" {error['errorMessage']}"
    lines = [head, "Traceback (most recent call last):"]
    for element in error["stackTrace"]:
        for line in element.splitlines() or [""]:
            bare = line.lstrip(" ")
            lines.append("\u00a0" * (len(line) - len(bare)) + bare)
    return "\n".join(lines)


# --- handler -----------------------------------------------------------------------------------------------


def find_handler(name: str) -> Callable[[Any, Any], Any]:
    """Import the handler ``module.function``. Raises Fault with AWS's type for what goes wrong."""
    module_name, dot, function_name = name.rpartition(".")
    if not dot:
        message = f"Bad handler '{name}': not enough values to unpack (expected 2, got 1)"
        raise Fault("Runtime.MalformedHandlerName", message)
    try:
        if module_name.split(".")[0] in sys.builtin_module_names:
            message = f"Cannot use built-in module {module_name} as a handler module"
            raise Fault("Runtime.BuiltInModuleConflict", message)
        module = importlib.import_module(module_name.replace("/", "."))
    except ImportError as problem:
        raise Fault("Runtime.ImportModuleError", f"Unable to import module '{module_name}': {problem}") from problem
    except SyntaxError as problem:
        trace = [f'  File "{problem.filename}" Line {problem.lineno}\n    {problem.text}']
        message = f"Syntax error in module '{module_name}': {problem}"
        raise Fault("Runtime.UserCodeSyntaxError", message, trace) from problem
    try:
        handler: Callable[[Any, Any], Any] = getattr(module, function_name)
    except AttributeError:
        message = f"Handler '{function_name}' missing on module '{module_name}'"
        raise Fault("Runtime.HandlerNotFound", message) from None
    return handler


# --- Runtime API -------------------------------------------------------------------------------------------


class RuntimeClient:
    """One kept connection to the Runtime API."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._host = address
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = self._socket.makefile("rb", 65536)

    def next(self) -> tuple[dict[str, str], bytes]:
        """Wait for the next invocation: its headers (names in lower case) and the event's bytes."""
        _, headers, body = self._exchange(b"GET", f"{API}/invocation/next", b"", "")
        return headers, body

    def respond(self, request_id: str, result: bytes, content_type: str) -> str:
        """Hand in a result. Returns why it was refused, empty when it was not."""
        path = f"{API}/invocation/{request_id}/response"
        status, _, body = self._exchange(b"POST", path, result, content_type)
        return "" if status == 202 else f"{status}. {body.decode('utf-8', 'replace')}"

    def fail(self, error: dict[str, Any], request_id: str = "") -> None:
        """Report a run that failed, or, without a request id, a start that failed."""
        path = f"{API}/invocation/{request_id}/error" if request_id else f"{API}/init/error"
        kind = re.sub(r"[^\x21-\x7e]", "?", error["errorType"])
        header = f"Lambda-Runtime-Function-Error-Type: {kind}\r\n"
        body = Marshaller().dumps(error).encode("utf-8", "backslashreplace")
        self._exchange(b"POST", path, body, "application/json", header)

    def _exchange(
        self, method: bytes, path: str, body: bytes, content_type: str, more: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        head = f" {path} HTTP/1.1\r\nHost: {self._host}\r\n"
        if method == b"POST":
            head += f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{more}"
        self._socket.sendall(method + head.encode("ascii") + b"\r\n" + body)
        line = self._input.readline()
        if not line:
            gone()
        headers: dict[str, str] = {}
        while header := self._input.readline().strip():
            name, _, value = header.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return int(line.split(None, 2)[1]), headers, self._input.read(int(headers.get("content-length", 0)))


def gone() -> NoReturn:
    """The account closed the connection: nobody waits for this process any more."""
    os._exit(1)


def run(client: RuntimeClient, handler: Callable[[Any, Any], Any], log: LogHandler) -> NoReturn:
    """Handle invocations until the process is ended."""
    marshaller = Marshaller()
    while True:
        headers, body = client.next()
        request_id = log.request_id = headers["lambda-runtime-aws-request-id"]
        os.environ["_X_AMZN_TRACE_ID"] = headers.get("lambda-runtime-trace-id", "")
        try:
            event, context = _event(body), LambdaContext(headers, log.output)
            answer = handle_event_request(handler, event, context)  # kept: a coroutine complains when it is let go
            result, content_type = marshaller.result(answer)
            error = None
        except Exception as problem:
            error = payload_of(problem, request_id)
        if error is not None:  # outside of the block above: what fails now is not "during handling" of the other
            log.output.event(error_event(error))
            client.fail(error, request_id)
            continue
        _flush()
        refusal = client.respond(request_id, result, content_type)
        if refusal:
            log.output.event(
                f"[ERROR] [{time.time_ns() // 1_000_000}] LAMBDA_RUNTIME Failed to post handler success response. "
                f"Http response code: {refusal}"
            )


def handle_event_request(request_handler: Callable[[Any, Any], Any], event: Any, lambda_context: LambdaContext) -> Any:
    """Call the handler. Name and line stand in the trace of a handler that cannot be called so, as on AWS."""
    response = request_handler(event, lambda_context)
    return response  # noqa: RET504


def _event(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_constant)
    except _NotJson:
        found = re.search(r'(?:"(?:[^"\\]|\\.)*"|[^NI"])*', text := body.decode("utf-8", "replace"))
        problem: ValueError = json.JSONDecodeError("Expecting value", text, found.end() if found else 0)
    except ValueError as other:
        problem = other
    raise Fault("Runtime.UnmarshalError", f"Unable to unmarshal input: {problem}") from None


class _NotJson(ValueError):
    """NaN or an infinity: Python reads them, JSON has none."""


def _no_constant(name: str) -> NoReturn:
    raise _NotJson(name)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _show_end(kind: type[BaseException], problem: BaseException, trace: object) -> None:
    """What Python writes when this process ends by an exception, without the folders of this machine."""
    text = "".join(traceback.format_exception(kind, problem, problem.__traceback__))
    sys.stderr.write(text.replace(__file__, "/var/runtime/bootstrap.py"))


def main() -> None:
    """Wait for the assignment, load the handler, handle invocations."""
    account = take_standard_input()
    early = import_early() if "--early" in sys.argv else set()
    settle_in(read_assignment(account), early)
    end_from_outside(account)
    threading.Thread(target=end_with, args=(account,), name="account", daemon=True).start()
    log = LogHandler(open_output())
    sys.excepthook = _show_end
    logging.getLogger().addHandler(log)
    client = RuntimeClient(os.environ["AWS_LAMBDA_RUNTIME_API"])
    try:
        handler = find_handler(os.environ["_HANDLER"])
    except Exception as problem:
        error = payload_of(problem)
        log.output.event(error_event(error))
        client.fail(error)
        os._exit(1)
    run(client, handler, log)


if __name__ == "__main__":
    main()
