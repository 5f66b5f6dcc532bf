"""Where the processor time of one message goes: the parts of the account, and what boto3 itself costs.

The account runs in this process and the flow in another one, so that the times of the account's threads are its own.
Each part is wrapped; what a part spends in another one counts there only. These are processor times of threads:
waiting is free.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .engines import ROOT, Watch

HTTP = "HTTP: read requests, write answers"
BOUNDARY = "boundary: who calls what, checks, faults, journal"
PERMISSIONS = "permissions of the function's role"
ROUTE = "on the way to moto: request object, headers, region, account"
MOTO = "moto: parameters, queue or table, the answer as JSON"
POLLER = "poller: receive, record, acknowledge"
RUN = "run: Runtime API, log events, START, END, REPORT"


@dataclass(frozen=True)
class Part:
    """One line of the budget: what it is, in which process, milliseconds of processor time for one message."""

    name: str
    process: str
    milliseconds: float


class Meter:
    """Adds up the thread time of wrapped functions by part, exclusive of the parts inside."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._local = threading.local()
        self._undo: list[Callable[[], None]] = []

    def around(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """The same function; what it takes counts as `part`."""

        @functools.wraps(function)
        def measured(*arguments: Any, **named: Any) -> Any:
            with self._counting(part):
                return function(*arguments, **named)

        return measured

    def wrap(self, owner: type, method: str, part: str) -> None:
        """Count what a method takes as `part`, until `close`."""
        function = vars(owner)[method]
        setattr(owner, method, self.around(function, part))
        self._undo.append(lambda: setattr(owner, method, function))

    def close(self) -> None:
        """Give the classes their methods back."""
        while self._undo:
            self._undo.pop()()

    @contextmanager
    def _counting(self, part: str) -> Iterator[None]:
        outer: list[float] | None = getattr(self._local, "inside", None)
        inside = self._local.inside = [0.0]
        begun = time.thread_time()
        try:
            yield
        finally:
            spent = time.thread_time() - begun
            self._local.inside = outer
            if outer is not None:
                outer[0] += spent
            with self._lock:
                self.seconds[part] += spent - inside[0]


def measure(messages: int = 1000) -> list[Part]:
    """Run the flow once, and say where the time went."""
    from helpers.cloud import Cloud

    meter = Meter()
    try:
        _wrap(meter)
        with Cloud() as cloud:
            gates = cloud.boundary.gates
            gates[:] = [
                meter.around(gate, PERMISSIONS) if gate.__module__.endswith("permissions") else gate for gate in gates
            ]
            spent, workers, sender = _flow(cloud.endpoint, messages, meter)
            client, put, send = _callers(cloud)
    finally:
        meter.close()
    return [
        Part("the handler's boto3.client", "worker", client),
        Part("the handler's put_item: boto3's side", "worker", put),
        Part("Runtime API, JSON, print, and what the process had to share", "worker", max(0.0, workers - client - put)),
        *(Part(part, "account", spent.get(part, 0.0)) for part in (HTTP, BOUNDARY, PERMISSIONS, ROUTE, MOTO)),
        *(Part(part, "account", spent.get(part, 0.0)) for part in (POLLER, RUN)),
        Part("send_message: boto3's side", "sender", send),
        Part("looking whether the queue is empty", "sender", max(0.0, sender - send)),
    ]


def _wrap(meter: Meter) -> None:
    from moto.core.responses import BaseResponse
    from moto.dynamodb.responses import DynamoHandler

    from helpers.cloud import boundary, direct, lambda_runtime, poller, server

    for owner, method, part in (
        (server._Connection, "run", HTTP),
        (server.Server, "_begin", HTTP),
        (boundary.Boundary, "__call__", BOUNDARY),
        (direct.Direct, "__call__", ROUTE),
        (BaseResponse, "call_action", MOTO),
        (DynamoHandler, "call_action", MOTO),
        (poller.Poller, "_deliver", POLLER),
        (poller.Poller, "_run", POLLER),
        (lambda_runtime.Runtime, "invoke", RUN),
    ):
        meter.wrap(owner, method, part)


def _flow(endpoint: str, messages: int, meter: Meter) -> tuple[dict[str, float], float, float]:
    """Milliseconds for one message: of the account by part, of the workers, of the sender."""
    code = (
        "import json, sys; from benchmarks.order_flow import run\n"
        "def begun(): print('begun', flush=True); sys.stdin.readline()\n"
        f"print(json.dumps(run({endpoint!r}, {messages}, begun=begun).sender_cpu))"
    )
    watch = Watch(os.getpid())
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdout is not None
    process.stdout.readline()
    before, workers = dict(meter.seconds), _workers(watch, process.pid)
    answer, _ = process.communicate("\n", timeout=900)
    workers = _workers(watch, process.pid) - workers
    watch.stop()
    spent = {part: (seconds - before.get(part, 0.0)) * 1000 / messages for part, seconds in meter.seconds.items()}
    return spent, workers * 1000 / messages, json.loads(answer) * 1000 / messages


def _workers(watch: Watch, sender: int) -> float:
    """Seconds of the children that are workers."""
    _, children = watch.cpu()
    return children - watch.cpu_of(sender)


def _callers(cloud: Any, times: int = 200) -> tuple[float, float, float]:
    """Milliseconds of the calling thread: to make a client, to put an item, to send a message."""
    import boto3

    cloud.install()
    make: Callable[[], Any] = functools.partial(boto3.client, "dynamodb")
    table, sqs = make(), boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
    # Nothing is delivered meanwhile: it would take processor time away.
    mapping = cloud.event_sources.mappings()[0]["UUID"]
    boto3.client("lambda").delete_event_source_mapping(UUID=mapping)
    item = {"id": {"S": "budget"}, "quantity": {"N": "1"}}
    calls = (
        make,
        lambda: table.put_item(TableName="orders", Item=item),
        lambda: sqs.send_message(QueueUrl=url, MessageBody=json.dumps({"id": "budget", "quantity": 1})),
    )
    client, put, send = (_thread_time(call, times) for call in calls)
    cloud.uninstall()
    return client, put, send


def _thread_time(call: Callable[[], Any], times: int) -> float:
    call()
    begun = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - begun) * 1000 / times
