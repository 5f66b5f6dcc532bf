"""The bundled worker beside AWS's own client for Python: same handlers, same payloads, same log events."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from typing import Any, Literal

import pytest

from helpers.cloud import Cloud
from helpers.cloud.lambda_runtime import RunResult
from tests.cloud.deploying import Deployer
from tests.cloud.runtime_handlers import HANDLERS, SMALL

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or importlib.util.find_spec("awslambdaric") is None,
    reason="AWS publishes awslambdaric for Linux only",
)

Client = Literal["bundled", "awslambdaric"]

_ONE_OF_MANY = """
    import importlib
    def handler(event, context):
        module, event = event
        return importlib.import_module(module).handler(event, context)
    """


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    cloud.functions.transition_seconds = 0.02
    return Deployer(cloud)


@pytest.fixture
def results(request: pytest.FixtureRequest, cloud: Cloud, functions: Deployer) -> tuple[RunResult, RunResult]:
    """What the same handler does in the bundled worker and in AWS's."""
    source, event, settings = request.param
    name = functions.create(source, Timeout=2, **settings)
    both = []
    clients: tuple[Client, Client] = ("bundled", "awslambdaric")
    for client in clients:
        cloud.runtime.client = client
        try:
            both.append(cloud.runtime.invoke(name, event, request_id="the-run", client_context='{"custom": {"a": 1}}'))
        finally:
            cloud.runtime.client = "bundled"
            cloud.runtime.forget(name)
    return both[0], both[1]


OWN_FRAME = r'File "(?:[^"]*/awslambdaric/[^"]*|/var/runtime/[^"]*|<frozen runpy>)"'
"""A line of a trace that is about the client itself."""


def _comparable(result: RunResult) -> Any:
    """A payload without the folders that only the bundled worker gives AWS's names."""
    text = result.payload.decode("utf-8", "backslashreplace")
    text = re.sub(r"line repeated \d+ more", "line repeated N more", text)
    text = re.sub(r"/[^\"\\]*?/once-code-[^/]+/code-\d+/", "/var/task/", text)
    text = re.sub(r"/[^\"\\ ]*?/lib/python3\.\d+/(?=importlib|json|logging)", "/var/lang/lib/python3/", text)
    text = re.sub(r"/var/lang/lib/python3\.\d+/", "/var/lang/lib/python3/", text)
    try:
        payload = json.loads(text)
    except ValueError:
        return text
    if isinstance(payload, dict) and "stackTrace" in payload:
        payload["stackTrace"] = [line for line in payload["stackTrace"] if not re.search(OWN_FRAME, line)]
    return payload


def _events(result: RunResult) -> list[str]:
    """Log events without times, durations and the lines that only AWS's client adds."""
    events = []
    for text in result.log:
        text = re.sub(r"/[^\"\s]*?/once-code-[^/]+/code-\d+/", "/var/task/", text)
        text = re.sub(r"/[^\"\s]*?/lib/python3\.\d+/(?=importlib|json|logging)", "/var/lang/lib/python3/", text)
        text = re.sub(r"/var/lang/lib/python3\.\d+/", "/var/lang/lib/python3/", text)
        text = re.sub(r"\[Previous line repeated \d+ more times\]", "[Previous line repeated N more times]", text)
        if result.outcome == "crash" and text.startswith((" ", "Traceback", "During handling", "[ERROR]")):
            continue  # the trace that Python itself writes, with the frames of the client
        text = re.sub(rf"\n\s*{OWN_FRAME}[^\n]*(?:\n\s+(?!File)[^\n]*)?", "", text)
        text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "TIME", text)
        text = re.sub(r"\[\d{13}\]", "[TIME]", text)
        text = re.sub(r"\d+(\.\d+)? (ms|MB)", "N", text)
        if "LAMBDA_WARNING" not in text and (text or result.outcome != "crash"):
            events.append(text)
    return events


def _case(name: str, **settings: Any) -> Any:
    return pytest.param((*HANDLERS[name], settings), id=name)


# Python warns of a coroutine that nobody awaited when it is thrown away: before the end of the run, or after it.
SETTINGS = {"is asynchronous": {"Environment": {"Variables": {"PYTHONWARNINGS": "ignore"}}}}


@pytest.mark.parametrize("results", [_case(name, **SETTINGS.get(name, {})) for name in HANDLERS], indirect=True)
def test_same_outcome_payload_and_log(results: tuple[RunResult, RunResult]) -> None:
    ours, reference = results
    assert (ours.outcome, ours.function_error, ours.error_type) == (
        reference.outcome,
        reference.function_error,
        reference.error_type,
    )
    assert _comparable(ours) == _comparable(reference)
    if ours.error_type == "Function.ResponseSizeTooLarge":
        # AWS's client ends after that line, with a trace of its own.
        assert _events(ours)[:3] == _events(reference)[:3]
    else:
        assert _events(ours) == _events(reference)


@pytest.fixture(scope="module")
def small_results(cloud: Cloud, functions: Deployer) -> dict[str, list[RunResult]]:
    """What each of the small handlers does in the bundled worker and in AWS's."""
    modules = {f"case_{number}": case for number, case in enumerate(SMALL.values())}
    files = {f"{module}.py": source for module, (source, _) in modules.items()}
    name = functions.create({"app.py": _ONE_OF_MANY, **files}, Timeout=2)
    results: dict[str, list[RunResult]] = {case: [] for case in SMALL}
    clients: tuple[Client, Client] = ("bundled", "awslambdaric")
    for client in clients:
        cloud.runtime.client = client
        try:
            for (module, (_, event)), told in zip(modules.items(), results.values(), strict=True):
                payload = f'["{module}", '.encode() + event + b"]"
                context = '{"custom": {"a": 1}}'
                told.append(cloud.runtime.invoke(name, payload, request_id="the-run", client_context=context))
        finally:
            cloud.runtime.client = "bundled"
            cloud.runtime.forget(name)
    return results


@pytest.mark.parametrize("case", SMALL)
def test_same_outcome_payload_and_log_of_a_small_handler(small_results: dict[str, list[RunResult]], case: str) -> None:
    ours, reference = small_results[case]
    assert (ours.outcome, ours.error_type) == (reference.outcome, reference.error_type)
    assert _comparable(ours) == _comparable(reference)
    if case not in {"raises much"}:  # the frames of the client itself are cut off at another place
        assert [text for text in _events(ours) if "INIT_START" not in text] == [
            text for text in _events(reference) if "INIT_START" not in text
        ]


@pytest.mark.parametrize(
    "results",
    [
        _case("returns letters", Runtime="python3.13"),
        _case("raises", Runtime="python3.13"),
        _case("returns an object", Runtime="python3.12"),
    ],
    indirect=True,
)
def test_same_bytes_for_newer_runtimes(results: tuple[RunResult, RunResult]) -> None:
    ours, reference = results
    assert ours.payload.partition(b'"stackTrace"')[0] == reference.payload.partition(b'"stackTrace"')[0]


@pytest.mark.parametrize(
    "handler",
    ["handler", "app.", ".handler", "no.such.module", "sys.exit", "app.handler.more", "app/handler"],
)
def test_same_answer_to_a_bad_handler_name(cloud: Cloud, functions: Deployer, handler: str) -> None:
    name = functions.create("def handler(event, context):\n    pass", Handler=handler)
    ours = cloud.runtime.invoke(name, b"{}", request_id="the-run")
    cloud.runtime.client = "awslambdaric"
    try:
        cloud.runtime.forget(name)
        reference = cloud.runtime.invoke(name, b"{}", request_id="the-run")
    finally:
        cloud.runtime.client = "bundled"
        cloud.runtime.forget(name)
    assert _comparable(ours) == _comparable(reference)
