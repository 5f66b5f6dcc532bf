"""The loopback server in front of the boundary: cheroot, keep-alive, quiet, on 127.0.0.1 and nowhere else."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
from typing import Any

from cheroot import wsgi

from .boundary import Application

LOOPBACK = "127.0.0.1"

# A call to Invoke, a long poll and a held call keep a thread while they wait. A handler's own calls must find one all
# the same, or a burst of invocations would wait for itself: the pool grows when its last thread is taken.
_THREADS = 64
_MORE_THREADS = 16
_MOST_THREADS = 1024


class PortInUse(OSError):
    """Another program listens on the port. `port` is its number."""

    def __init__(self, port: int) -> None:
        super().__init__(
            errno.EADDRINUSE, f"port {port} is in use by another program; choose another one, or 0 for any free port"
        )
        self.port = port


class _Gateway(wsgi.Gateway_10):
    """cheroot's WSGI gateway, with a way to hang up without an answer (a fault that the boundary injects)."""

    def get_environ(self) -> dict[str, Any]:
        _keep_a_thread_free(self.req.server.requests)
        environ: dict[str, Any] = super().get_environ()
        environ["once.hang_up"] = self._hang_up
        return environ

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self.req.conn.socket.shutdown(socket.SHUT_RDWR)


_growing = threading.Lock()


def _keep_a_thread_free(pool: Any) -> None:
    if not pool.idle:
        with _growing:
            if not pool.idle:
                pool.grow(_MORE_THREADS)


class Server:
    """Serves `application` on 127.0.0.1 from a thread of its own. `port` 0 takes any free port.

    Raises PortInUse when the port is taken.
    """

    def __init__(self, application: Application, port: int = 0) -> None:
        # Given a number, cheroot sets SO_REUSEADDR; without it the same port could not be opened again after `close`.
        self._server = wsgi.Server(
            (LOOPBACK, port or _free_port()),
            application,
            numthreads=_THREADS,
            max=_MOST_THREADS,
            request_queue_size=128,
            timeout=3600,
            shutdown_timeout=1,
        )
        self._server.gateway = _Gateway
        self._server.error_log = lambda *_, **__: None
        self._prepared = threading.Event()
        self._refusal: OSError | None = None
        # cheroot's threads inherit "daemon" from the thread that prepares the server; without it they would keep an
        # ending kernel alive.
        self._thread = threading.Thread(target=self._serve, name="once-server", daemon=True)
        self._thread.start()
        self._prepared.wait()
        if self._refusal is not None:
            raise PortInUse(port) if _taken(port) else self._refusal
        self.port: int = self._server.bind_addr[1]

    def _serve(self) -> None:
        try:
            self._server.prepare()
        except OSError as refusal:
            self._refusal = refusal
            return
        finally:
            self._prepared.set()
        self._server.serve()

    def close(self) -> None:
        """Stop listening and drop the connections."""
        self._server.stop()
        self._thread.join(timeout=5)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _taken(port: int) -> bool:
    if not port:
        return False
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
