"""The account's side of the Lambda Runtime API for one worker.

Each worker has a listener of its own on 127.0.0.1, as each execution environment on AWS has. So
``AWS_LAMBDA_RUNTIME_API`` has the documented form ``host:port``, which all clients accept (AWS's own client for
Python cannot report a failed start to an address with a path). The thread that invokes a function is the
server of its worker meanwhile: no other thread wakes up for a run.
Source: AWS Lambda Developer Guide, "Using the Lambda runtime API".
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

RESPONSE_LIMIT = 6_291_556
"""Bytes of a result (Lambda quotas: 6 MB; the number is the one in AWS's error message)."""

_HEAD_LIMIT = 1_100_000  # AWS's client sends up to 1 MB of X-Ray data in a header
_BODY_LIMIT = RESPONSE_LIMIT + 65536
_SLICE = 0.02


class TimedOut(Exception):
    """The worker did not call in time."""


class Ended(Exception):
    """The worker's process has ended."""


@dataclass
class Request:
    """One call of a worker. `size` counts the body, of which at most a bounded part is kept."""

    connection: Connection
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    size: int


class Connection:
    """One connection of a worker: bytes in, requests out."""

    def __init__(self, peer: socket.socket) -> None:
        self.socket = peer
        self._buffer = bytearray()
        self._dropped = 0

    def fill(self) -> bool:
        """Read what is there. Returns False at the end of the connection."""
        try:
            data = self.socket.recv(262_144)
        except OSError:
            return False
        self._buffer += data
        return bool(data)

    def take(self) -> Request | None:
        """The next complete request."""
        end = self._buffer.find(b"\r\n\r\n", 0, _HEAD_LIMIT)
        if end < 0:
            if len(self._buffer) > _HEAD_LIMIT:
                raise OSError("the head of a request is too large")
            return None
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        method, path, _ = f"{lines[0]}  ".split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        start = end + 4
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return self._chunked(method, path, headers, start)
        length = int(headers.get("content-length", "0"))
        missing = start + length - len(self._buffer) - self._dropped
        if missing > 0:
            surplus = len(self._buffer) - start - _BODY_LIMIT
            if surplus > 0:
                del self._buffer[start + _BODY_LIMIT :]
                self._dropped += surplus
            return None
        body = bytes(self._buffer[start : start + length - self._dropped])
        del self._buffer[: start + length - self._dropped]
        self._dropped = 0
        return Request(self, method, path, headers, body, length)

    def _chunked(self, method: str, path: str, headers: Mapping[str, str], at: int) -> Request | None:
        body = bytearray()
        while True:
            line = self._buffer.find(b"\r\n", at)
            if line < 0:
                return None
            size = int(bytes(self._buffer[at:line]).split(b";")[0], 16)
            at = line + 2
            if len(self._buffer) < at + size + 2:
                if len(self._buffer) > 4 * _BODY_LIMIT:
                    raise OSError("the body of a request is too large")
                return None
            body += self._buffer[at : at + size]
            at += size + 2
            if not size:
                del self._buffer[:at]
                return Request(self, method, path, headers, bytes(body), len(body))

    def reply(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer the request that was taken last."""
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in {"Content-Type": "application/json", **headers}.items()]
        self.socket.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


_REASONS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    413: "Payload Too Large",
}


class Endpoint:
    """Where one worker calls. Not thread-safe: the thread that holds the worker uses it."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=8)
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._connections: list[Connection] = []

    def receive(self, deadline: float, alive: Callable[[], bool], drain: Callable[[], bool]) -> Request:
        """The worker's next call. Raises TimedOut at `deadline` (monotonic seconds), Ended when the process has ended.

        `drain` is called now and then, reads the worker's output and returns whether there was any.
        """
        pause = _SLICE
        while True:
            request = self._taken()
            if request is not None:
                return request
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut
            ready = self._selector.select(min(left, pause))
            for key, _ in ready:
                self._read(key.fileobj)
            if not ready:
                pause = 0.001 if drain() else _SLICE
            if (not ready or not self._connections) and not alive() and not self._selector.select(0):
                raise Ended

    def close(self) -> None:
        for connection in self._connections:
            connection.socket.close()
        self._selector.close()
        self._listener.close()

    def _taken(self) -> Request | None:
        for connection in list(self._connections):
            try:
                request = connection.take()
            except (OSError, ValueError):  # not HTTP: nobody to answer
                self._drop(connection)
                continue
            if request is not None and self._accepted(request):
                return request
        return None

    def _read(self, ready: object) -> None:
        if ready is self._listener:
            with contextlib.suppress(OSError):
                peer, _ = self._listener.accept()
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                peer.settimeout(30)
                connection = Connection(peer)
                self._connections.append(connection)
                self._selector.register(peer, selectors.EVENT_READ)
            return
        connection = next(other for other in self._connections if other.socket is ready)
        if not connection.fill():
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._selector.unregister(connection.socket)
        self._connections.remove(connection)
        connection.socket.close()

    def _accepted(self, request: Request) -> bool:
        # A page in a browser can send requests to loopback; no runtime sends Origin or another host.
        if request.headers.get("host") == self.address and not {"origin", "sec-fetch-site"} & request.headers.keys():
            return True
        refuse(request, 403, "Forbidden", "Only the worker may call here.")
        return False


def refuse(request: Request, status: int, kind: str, message: str) -> None:
    """Answer with an error in the form of the Runtime API."""
    with contextlib.suppress(OSError):
        request.connection.reply(status, json.dumps({"errorMessage": message, "errorType": kind}).encode(), {})


def accept(request: Request) -> None:
    """Answer that a result or an error has arrived."""
    with contextlib.suppress(OSError):
        request.connection.reply(202, b'{"status":"OK"}', {})
