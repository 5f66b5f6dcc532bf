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

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or importlib.util.find_spec("awslambdaric") is None,
    reason="AWS publishes awslambdaric for Linux only",
)

Client = Literal["bundled", "awslambdaric"]

HANDLERS: dict[str, tuple[str, bytes]] = {
    "returns an object": (
        "def handler(event, context):\n    return {'a': [1, 2.5, None, True], 'é': event}",
        b'{"x": "y"}',
    ),
    "returns nothing": ("def handler(event, context):\n    pass", b"{}"),
    "returns letters": ("def handler(event, context):\n    return 'élève заказ ñ 🙂'", b"{}"),
    "returns bytes": ("def handler(event, context):\n    return b'[1,  2]'", b"{}"),
    "returns decimals": (
        "from decimal import Decimal as D\n"
        "def handler(event, context):\n    return [D('1.10'), {'n': D('4')}, D('NaN'), D('1E+3')]",
        b"{}",
    ),
    "returns a named tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\n"
        "def handler(event, context):\n    return [P(1, (2, 3)), {'p': P(None, P('a', 'b'))}]",
        b"{}",
    ),
    "returns odd keys": (
        "def handler(event, context):\n    return {1: 'a', None: 'b', True: 'c', 2.5: 'd'}",
        b"{}",
    ),
    "returns large": ("def handler(event, context):\n    return event * 2", b'"' + b"z" * 2_500_000 + b'"'),
    "returns too much": ("def handler(event, context):\n    return 'x' * 6_300_000", b"{}"),
    "returns a set": ("def handler(event, context):\n    return {1}", b"{}"),
    "returns a circle": ("def handler(event, context):\n    a = []\n    a.append(a)\n    return a", b"{}"),
    "returns a tuple key": ("def handler(event, context):\n    return {(1, 2): 3}", b"{}"),
    "raises": (
        "def check(n):\n    raise ValueError(f'quantité {n}')\ndef handler(event, context):\n    check(0)",
        b"{}",
    ),
    "raises with a cause": (
        "def handler(event, context):\n    try:\n        {}['id']\n    except KeyError as e:\n"
        "        raise RuntimeError('no order') from e",
        b"{}",
    ),
    "raises without a message": (
        "class Bad(Exception): pass\ndef handler(event, context):\n    raise Bad",
        b"{}",
    ),
    "raises lines": ("def handler(event, context):\n    raise ValueError('one\\n  two')", b"{}"),
    "raises a group": (
        "def handler(event, context):\n    raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])",
        b"{}",
    ),
    "raises in a library": (
        "import json\ndef handler(event, context):\n    json.loads(event['text'])",
        b'{"text": "{"}',
    ),
    "exits": ("import sys\ndef handler(event, context):\n    print('bye')\n    sys.exit(0)", b"{}"),
    "exits with a status": ("import sys\ndef handler(event, context):\n    sys.exit(3)", b"{}"),
    "ends at once": ("import os\ndef handler(event, context):\n    print('bye')\n    os._exit(0)", b"{}"),
    "takes too long": (
        "import time\ndef handler(event, context):\n    print('start')\n    time.sleep(60)",
        b"{}",
    ),
    "imports what is missing": ("import no_such_module\ndef handler(event, context):\n    pass", b"{}"),
    "has no handler": ("def other(event, context):\n    pass", b"{}"),
    "has a syntax error": ("def handler(event, context)\n    pass", b"{}"),
    "fails while loading": ("raise LookupError('no table')", b"{}"),
    "prints": (
        "import sys\ndef handler(event, context):\n    print('one\\ntwo')\n    print('é', file=sys.stderr)\n"
        "    print('without an end', end='')",
        b"{}",
    ),
    "logs": (
        "import logging\ndef handler(event, context):\n    logging.warning('two\\nlines %s', 'é')\n"
        "    logging.getLogger('x').error('e')\n    logging.info('hidden')\n    context.log('by context')",
        b"{}",
    ),
    "describes its context": (
        """
        NAMES = ("function_name", "function_version", "invoked_function_arn", "memory_limit_in_mb", "log_group_name")

        def handler(event, context):
            told = {name: getattr(context, name) for name in NAMES}
            told["left"] = context.get_remaining_time_in_millis() > 500
            return told | {"client": repr(context.client_context), "identity": repr(context.identity)}
        """,
        b"{}",
    ),
    "gets a broken event": ("def handler(event, context):\n    return event", b'{"a": '),
}


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
            both.append(
                cloud.runtime.invoke(name, event, request_id="the-run", client_context='{"custom": {"a": 1}}')
            )
        finally:
            cloud.runtime.client = "bundled"
            cloud.runtime.forget(name)
    return both[0], both[1]


def _comparable(result: RunResult) -> Any:
    """A payload without the folders that only the bundled worker gives AWS's names."""
    text = result.payload.decode("utf-8", "backslashreplace")
    text = re.sub(r"/[^\"\\]*?/once-code-[^/]+/code-\d+/", "/var/task/", text)
    text = re.sub(r"/[^\"\\ ]*?/lib/python3\.\d+/(?=importlib|json)", "/var/lang/lib/python3/", text)
    text = re.sub(r"/var/lang/lib/python3\.\d+/", "/var/lang/lib/python3/", text)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _events(result: RunResult) -> list[str]:
    """Log events without times, durations and the lines that only AWS's client adds."""
    events = []
    for text in result.log:
        text = re.sub(r"/[^\"\s]*?/once-code-[^/]+/code-\d+/", "/var/task/", text)
        text = re.sub(r"/[^\"\s]*?/lib/python3\.\d+/(?=importlib|json)", "/var/lang/lib/python3/", text)
        text = re.sub(r"/var/lang/lib/python3\.\d+/", "/var/lang/lib/python3/", text)
        text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "TIME", text)
        text = re.sub(r"\[\d{13}\]", "[TIME]", text)
        text = re.sub(r"\d+(\.\d+)? (ms|MB)", "N", text)
        if "LAMBDA_WARNING" not in text:
            events.append(text)
    return events


def _case(name: str, **settings: Any) -> Any:
    return pytest.param((*HANDLERS[name], settings), id=name)


@pytest.mark.parametrize("results", [_case(name) for name in HANDLERS], indirect=True)
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
