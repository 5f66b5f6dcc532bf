"""The loopback server in front of the boundary: on 127.0.0.1 and nowhere else, keep-alive, quiet, bounded.

Each connection has a thread: a call to Invoke, a long poll or a held call may wait as long as it likes, and a
request is read, answered and written without a change of threads. A connection that only waits for its client is
nothing that must be kept: when there are as many connections as there may be, the one that waits longest makes
room. So neither half-sent requests nor idle clients keep anybody out.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import socket
import sys
import threading
import time
import traceback
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from .boundary import Application
from .exchange import LARGEST_BODY
from .http_request import Body, Budget, Gone, Head, Refused, Source, environ_of, parse_head
from .kept_threads import KeptThreads

LOOPBACK = "127.0.0.1"

MOST_CONNECTIONS = 512

_IDLE_SECONDS = 3600.0
_PATIENCE = 10.0
_BODY_SECONDS = 60.0
_WRITE_SECONDS = 60.0
_BODIES = 4 * LARGEST_BODY
"""Bytes of all bodies that are read or answered at a time."""

_LINGER = 2.0
"""Seconds in which a client that still sends may read why it was refused (RFC 9112, 9.6)."""


class PortInUse(OSError):
    """Another program listens on the port. `port` is its number."""

    def __init__(self, port: int) -> None:
        super().__init__(
            errno.EADDRINUSE, f"port {port} is in use by another program; choose another one, or 0 for any free port"
        )
        self.port = port


class Server:
    """Serves `application` on 127.0.0.1 from threads of its own. `port` 0 takes any free port.

    `patience` is how many seconds a client may take to send the head of a request, or between two parts of a body.
    Raises PortInUse when the port is taken.
    """

    def __init__(
        self,
        application: Application,
        port: int = 0,
        patience: float = _PATIENCE,
        most_connections: int = MOST_CONNECTIONS,
    ) -> None:
        self.application = application
        self.patience = patience
        self.budget = Budget(_BODIES)
        self._most = most_connections
        self._listener = _listening(port)
        self.port: int = self._listener.getsockname()[1]
        self._connections: set[_Connection] = set()
        self._threads = KeptThreads("once-connection")
        self._lock = threading.Lock()
        self.closed = False
        self._thread = threading.Thread(target=self._accept, name="once-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and drop the connections: idle ones at once, those that are answered within a second."""
        self.closed = True
        # Closing a listener does not wake up who waits for it on each system; a connection does.
        with contextlib.suppress(OSError):
            socket.create_connection((LOOPBACK, self.port), timeout=1).close()
        self._thread.join(timeout=5)
        self._listener.close()
        end = time.monotonic() + 1
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.make_room()
        for connection in connections:
            connection.join(max(0.0, end - time.monotonic()))
            connection.hang_up()
        for connection in connections:
            connection.join(max(0.0, end + 4 - time.monotonic()))
        self._threads.close()

    def ended(self, connection: _Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._connections)

    def _accept(self) -> None:
        while not self.closed:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                if not self.closed:  # no more descriptors, for example: others may be given back
                    time.sleep(0.05)
                continue
            if self.closed:
                peer.close()  # type: ignore[unreachable]  # another thread closes the server
                return
            with contextlib.suppress(OSError):
                self._begin(peer)

    def _begin(self, peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            crowded = len(self._connections) >= self._most
            waiting = [one for one in self._connections if one.waiting_since] if crowded else []
        # Who never asked anything goes before a client that keeps its connection for the next call.
        waiting.sort(key=lambda one: (one.answered > 0, one.waiting_since))
        if crowded and not any(one.make_room() for one in waiting):
            peer.settimeout(1)
            peer.sendall(_simple(503, "All connections are in use."))
            peer.close()
            return
        connection = _Connection(self, peer)
        with self._lock:
            self._connections.add(connection)
        try:
            self._threads.start(connection.run)
        except RuntimeError:  # no more threads
            self.ended(connection)
            peer.close()


class _Connection:
    """One client. `waiting_since` is the time since which nothing is done but wait for it, 0 while it is served."""

    def __init__(self, server: Server, peer: socket.socket) -> None:
        self._server = server
        self._peer = peer
        self._source = Source(peer, server.patience)
        self.waiting_since = time.monotonic()
        self.answered = 0
        self._deciding = threading.Lock()
        self._dropped = False
        self._ended = threading.Event()

    def make_room(self) -> bool:
        """End the connection if it waits for its client, from any thread. Returns whether it did."""
        with self._deciding:
            if not self.waiting_since or self._dropped:
                return False
            self._dropped = True
        self.hang_up()
        self._server.ended(self)
        return True

    def hang_up(self) -> None:
        """End the connection at once, from any thread."""
        with contextlib.suppress(OSError):
            self._peer.shutdown(socket.SHUT_RDWR)

    def join(self, timeout: float) -> None:
        """Wait until the connection has ended."""
        self._ended.wait(timeout)

    def run(self) -> None:
        """Serve the client until one of the two goes."""
        try:
            while self._serve_one():
                self.answered += 1
                self.waiting_since = time.monotonic()
        except OSError:  # the client went away
            pass
        except Exception:
            traceback.print_exc()
        finally:
            self.hang_up()
            self._peer.close()
            self._server.ended(self)
            self._ended.set()

    def _serve_one(self) -> bool:
        """Answer one request. Returns whether the connection is kept."""
        if not self._source.wait(_IDLE_SECONDS):
            return False
        try:
            head = parse_head(self._source.head())
        except Refused as problem:
            return self._refuse(problem)
        except TimeoutError:
            return self._refuse(Refused(408, "The request did not come in time."))
        begin = functools.partial(self._begin_body, head)
        body = Body(self._source, head.length, self._server.budget, begin, self._served, _BODY_SECONDS)
        try:
            return self._answer(head, body)
        except Refused as problem:
            return self._refuse(problem)
        except Gone:
            return False
        except TimeoutError:
            return self._refuse(Refused(408, "The body did not come in time."))
        finally:
            body.release()

    def _begin_body(self, head: Head) -> None:
        if head.expects:
            self._peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _answer(self, head: Head, body: Body) -> bool:
        environ: dict[str, Any] = environ_of(head, body, self._server.port)
        environ["wsgi.errors"] = sys.stderr
        environ["once.hang_up"] = self.hang_up
        if not body.left:
            self._served()
        answer: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            answer[:] = [status, headers]
            return lambda data: None

        try:
            payload = b"".join(self._server.application(environ, start_response))
        except (Refused, OSError):
            raise
        except Exception:
            traceback.print_exc()
            raise Refused(500, "The server failed; see its error output.") from None
        keeps = head.keeps and not body.left and not self._server.closed
        status, headers = answer
        self._send(head, status, headers, payload, keeps)
        if body.left:
            self._linger()
        return keeps

    def _served(self) -> None:
        """The request is complete: from here on the client waits, not we."""
        with self._deciding:
            if self._dropped:
                raise Gone("the connection made room for another one")
            self.waiting_since = 0.0

    def _send(self, head: Head, status: str, headers: list[tuple[str, str]], payload: bytes, keeps: bool) -> None:
        bare = status[:3] in {"204", "304"}
        lines = [f"HTTP/1.1 {status}", f"Date: {_date(int(time.time()))}"]
        for name, value in headers:
            lowered = name.lower()
            if lowered == "connection" or (bare and lowered == "content-length"):
                continue
            lines.append(f"{name}: {value}")
        if not keeps:
            lines.append("Connection: close")
        data = "\r\n".join(_one_line(line) for line in lines).encode("latin-1", "replace") + b"\r\n\r\n"
        if not bare and head.method != "HEAD":
            data += payload
        if len(data) > 65_536:
            self._peer.settimeout(_WRITE_SECONDS)
            self._peer.sendall(data)
            self._peer.settimeout(self._server.patience)
        else:
            self._peer.sendall(data)

    def _refuse(self, problem: Refused) -> bool:
        self._peer.sendall(_simple(problem.status, problem.sentence))
        self._linger()
        return False

    def _linger(self) -> None:
        """Read on for a moment: closed with unread data, the connection would be reset and the answer lost."""
        self.waiting_since = self.waiting_since or time.monotonic()
        with contextlib.suppress(OSError):
            self._peer.shutdown(socket.SHUT_WR)
            end = time.monotonic() + _LINGER
            self._peer.settimeout(_LINGER)
            left = LARGEST_BODY
            while left > 0 and time.monotonic() < end and (data := self._peer.recv(262_144)):
                left -= len(data)


@functools.lru_cache(2)
def _date(moment: int) -> str:
    """Seconds since the epoch as HTTP writes them. Most answers are given in a second that had one already."""
    return formatdate(moment, usegmt=True)


def _one_line(text: str) -> str:
    """A header cannot begin another one."""
    return text.replace("\r", " ").replace("\n", " ")


def _simple(status: int, sentence: str) -> bytes:
    body = f"{sentence}\n".encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    )
    return head.encode() + b"Connection: close\r\n\r\n" + body


def _listening(port: int) -> socket.socket:
    """A listener on 127.0.0.1. Raises PortInUse."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "nt":  # there SO_REUSEADDR would let another program take the port away
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined]  # of Windows
        else:  # a port whose last connections are not forgotten yet can be opened again
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(1024)
    except OSError as problem:
        listener.close()
        if port and (problem.errno == errno.EADDRINUSE or _taken(port)):
            raise PortInUse(port) from problem
        raise
    return listener


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
