"""The simulated learner never waits without a limit, whatever the server does meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketHandler

from benchmarks import hub_learner
from benchmarks.hub_channel import Channel, NoAnswer
from benchmarks.hub_learner import Learner, WrongCell
from benchmarks.hub_server import Hub, NoHub

Answers = Callable[[WebSocketHandler, dict[str, Any]], None]


def status(kernel: WebSocketHandler, state: str, parent: dict[str, Any]) -> None:
    message = {"msg_type": "status", "parent_header": parent, "content": {"execution_state": state}}
    kernel.write_message(json.dumps(message))


@pytest.fixture
def kernels() -> Iterator[Callable[[Answers], str]]:
    """Gives the address of a server whose kernel answers a request as the test says."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    servers: list[HTTPServer] = []

    async def start(answer: Answers) -> str:
        class Kernel(WebSocketHandler):
            def on_message(self, message: str | bytes) -> None:
                answer(self, json.loads(message))

        servers.append(HTTPServer(Application([(".*/channels", Kernel)])))
        (socket,) = bind_sockets(0, "127.0.0.1")
        servers[-1].add_sockets([socket])
        return f"127.0.0.1:{socket.getsockname()[1]}"

    async def stop() -> None:
        for server in servers:
            server.stop()
            await server.close_all_connections()

    yield lambda answer: asyncio.run_coroutine_threadsafe(start(answer), loop).result(10)
    asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def run(address: str, seconds: float = 10) -> list[Any]:
    channel = Channel(f"ws://{address}/channels", "secret", 10)
    try:
        return list(channel.run("1", seconds))
    finally:
        channel.close()


def pings(kernel: WebSocketHandler, request: dict[str, Any]) -> None:
    """As Jupyter's server does every 30 s. The answer comes at last, so that who waits for it is seen to do so."""

    async def ping() -> None:
        for _ in range(100):
            await asyncio.sleep(0.05)
            kernel.ping(b"")
        status(kernel, "idle", request["header"])

    kernel.on_close = asyncio.ensure_future(ping()).cancel  # type: ignore[method-assign]


def test_pings_do_not_prolong_the_wait_for_a_cell(kernels) -> None:
    with pytest.raises(NoAnswer, match="still running after 0 s"):
        run(kernels(pings), 0.3)


@pytest.mark.parametrize("state", ["restarting", "dead"])
def test_a_kernel_that_died_is_not_waited_for(kernels, state: str) -> None:
    with pytest.raises(NoAnswer, match=f"the kernel is {state}"):
        run(kernels(lambda kernel, request: status(kernel, state, {})))


def test_a_connection_that_the_server_closes_is_not_waited_for(kernels) -> None:
    with pytest.raises(NoAnswer, match="connection lost"):
        run(kernels(lambda kernel, request: kernel.close()))


def test_a_cell_ends_when_its_kernel_is_idle_again(kernels) -> None:
    def answer(kernel: WebSocketHandler, request: dict[str, Any]) -> None:
        status(kernel, "idle", {"msg_id": "another"})
        kernel.write_message(b"\0", binary=True)
        status(kernel, "busy", request["header"])
        status(kernel, "idle", request["header"])

    states = [message["content"]["execution_state"] for message in run(kernels(answer))]
    assert states == ["busy", "idle"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(pings, "still running"), (None, "not connected")],
    ids=["silent kernel", "no server"],
)
def test_the_learner_whose_kernel_never_answers_is_named(kernels, monkeypatch, tmp_path, answer, reason) -> None:
    monkeypatch.setattr(hub_learner, "KERNEL_SECONDS", 1)
    monkeypatch.setattr(hub_learner, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(hub_learner, "RETRY_SECONDS", 0.1)
    address = kernels(answer) if answer else "127.0.0.1:1"
    learner = Learner(Hub(f"http://{address}", "secret", tmp_path, 0), "learner3", "a.ipynb")
    monkeypatch.setattr(Hub, "call", lambda *arguments: {"kernel": {"id": "k"}})
    with pytest.raises(WrongCell, match=f"learner3: its kernel has not answered .*: {reason}"):
        learner.run([("first", "1", False)])


def test_a_server_that_ends_while_it_starts_is_not_waited_for(monkeypatch, tmp_path) -> None:
    hub = Hub("http://127.0.0.1:1", "secret", tmp_path, 0)
    monkeypatch.setattr(Hub, "call", lambda *arguments: {"servers": {}})
    with pytest.raises(NoHub, match="The server of learner3 ended"):
        hub.start_server("learner3")


def test_a_request_without_an_answer_is_named(tmp_path) -> None:
    with pytest.raises(NoHub, match=r"POST /user/learner3/api/sessions: .*refused"):
        Hub("http://127.0.0.1:1", "secret", tmp_path, 0).call("POST", "/user/learner3/api/sessions", {})
