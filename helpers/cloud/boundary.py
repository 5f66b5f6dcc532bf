"""The API boundary: one WSGI application that every call to the account passes.

It says which service, which action and who, lets permissions and faults speak, answers what moto lacks
(`route`), hands the rest to moto one at a time, and writes the journal. moto's state is not safe for threads,
so `lock` is held around moto; it is *not* held while a function runs or a long poll waits.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from wsgiref.types import StartResponse

from . import dispatch, mistakes, web_pages
from .exchange import BodyTooLarge, Environ, Exchange, environ_with_body, parse, read_body
from .journal import LEARNER, Call, Caller, Journal
from .responses import Response, error

Handler = Callable[[Exchange], Response]
Before = Callable[[Exchange], Response | None]
After = Callable[[Exchange, Response], None]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Gate = Callable[[Exchange], Response | None]

READS = ("Get", "List", "Describe", "Head", "Query", "Scan", "BatchGet", "Filter", "Lookup", "TransactGet")
"""How the names of actions begin that change nothing."""

ANY = "*"


class Changed:
    """Tells waiting threads that something in the account may have changed."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        """How often something changed so far: read it before you look at the account, then wait for more."""
        return self._count

    def notify(self) -> None:
        with self._condition:
            self._count += 1
            self._condition.notify_all()

    def wait(self, seen: int, timeout: float | None) -> bool:
        """Wait until the count is above `seen`, at most `timeout` seconds. Returns whether it is."""
        with self._condition:
            return self._condition.wait_for(lambda: self._count > seen, timeout)


class Boundary:
    """WSGI application around `moto` (moto's own WSGI application)."""

    def __init__(self, moto: Application, journal: Journal) -> None:
        self.lock = threading.RLock()
        self.changed = Changed()
        self.journal = journal
        self.callers: dict[str, Callable[[], Caller]] = {}
        self.gates: list[Gate] = []
        self.after_answer: list[After] = []
        self.hosts: frozenset[str] = frozenset()
        self._closed = False
        self._moto = moto
        self._routes: dict[tuple[str, str], Handler] = {}
        self._before: dict[tuple[str, str], list[Before]] = {}
        self._after: dict[tuple[str, str], list[After]] = {}

    def route(self, service: str, action: str, handler: Handler) -> None:
        """Let `handler` answer this call in moto's place. It runs without the lock."""
        self._routes[service, action] = handler

    def before(self, service: str, action: str, hook: Before) -> None:
        """Run `hook` inside the lock before moto answers this call; action may be ``*``.

        A hook that returns a response answers in moto's place: the hooks before moto that follow it do not run, those
        after moto do. A hook may replace the exchange's body.
        """
        self._before.setdefault((service, action), []).append(hook)

    def after(self, service: str, action: str, hook: After) -> None:
        """Run `hook` inside the lock after moto answered this call; it may change the response."""
        self._after.setdefault((service, action), []).append(hook)

    def close(self) -> None:
        """Let moto answer nothing more: calls that still wait must not reach the next account of this process."""
        with self.lock:
            self._closed = True
        self.changed.notify()

    def caller_of(self, access_key: str) -> Caller:
        """Who holds an access key. Unknown keys are the learner's: the account has no other people."""
        known = self.callers.get(access_key)
        return known() if known else LEARNER

    def ask_moto(self, exchange: Exchange, body: bytes | None = None) -> Response:
        """Let moto answer, inside the lock and between the hooks. `body` replaces the request's body."""
        keys = ((exchange.service, ANY), (exchange.service, exchange.action))
        with self.lock:
            if self._closed:
                return error(exchange, "ServiceUnavailable", "The account was closed.", 503)
            hooks = (before for key in keys for before in self._before.get(key, ()))
            response = next((answer for before in hooks if (answer := before(exchange)) is not None), None)
            if response is None:
                dispatch.begin(exchange.request_id)
                response = self._moto_response(
                    environ_with_body(exchange.environ, exchange.body if body is None else body)
                )
            for key in keys:
                for after in self._after.get(key, ()):
                    after(exchange, response)
        return response

    def answer(self, exchange: Exchange) -> Response:
        """Answer a call: gates (permissions, faults) first, then a route of ours or moto; writes the journal.

        A call that a fault loses on its way (the note "never came") is none for the account.
        """
        gates = (mistakes.forbidden_text, *self.gates)
        try:
            response = next((refusal for gate in gates if (refusal := gate(exchange)) is not None), None)
            if response is None:
                response = self._routes.get((exchange.service, exchange.action), self.ask_moto)(exchange)
        except Exception as problem:
            response = mistakes.refusal(exchange, problem) or _failure(exchange)
        if not exchange.notes.get("never came"):
            self.journal.record(
                Call,
                service=exchange.service,
                action=exchange.action,
                caller=exchange.caller,
                parameters=exchange.parameters,
                status=response.status,
                error=response.error,
                request_id=exchange.request_id,
            )
        if not exchange.action.startswith(READS):
            self.changed.notify()
        for after in self.after_answer:
            after(exchange, response)
        return response

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        response = self._respond(environ)
        response.headers.setdefault("Content-Length", str(len(response.payload)))
        start_response(f"{response.status} {_reason(response.status)}", list(response.headers.items()))
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [response.payload]

    def _respond(self, environ: Environ) -> Response:
        if self.hosts and web_pages.refused(environ, self.hosts):
            return Response(
                403, b"This account answers programs on this machine only.\n", {"Content-Type": "text/plain"}
            )
        try:
            body = read_body(environ)
        except BodyTooLarge:
            return Response(413, b"The request is too large.\n", {"Content-Type": "text/plain", "Connection": "close"})
        except ValueError:  # chunks without a size
            return Response(400, b"The body is malformed.\n", {"Content-Type": "text/plain", "Connection": "close"})
        exchange = parse(environ, body, dispatch.new_request_id(), self.caller_of)
        try:
            response = self.answer(exchange)
        except Exception:
            response = _failure(exchange)
        mistakes.readable(exchange, response)
        response.headers[_REQUEST_IDS.get(exchange.service, "x-amzn-requestid")] = exchange.request_id
        return response

    def _moto_response(self, environ: Environ) -> Response:
        response = Response()

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], object]:
            response.status = int(status.split(" ", 1)[0])
            response.headers = dict(headers)
            return lambda data: None

        chunks = self._moto(environ, start)
        try:
            response.payload = b"".join(chunks)
        finally:
            close = getattr(chunks, "close", None)
            if close:
                close()
        response.headers = {
            name: value for name, value in response.headers.items() if not name.lower().startswith(_OURS)
        }
        return response


_OURS = ("connection", "server", "date", "transfer-encoding", "access-control-")
"""How headers of moto begin that the loopback server writes itself, or that would open the account to web pages."""


_REQUEST_IDS = {"s3": "x-amz-request-id"}
"""The header that names a request, where it is another one than in most services."""


def _failure(exchange: Exchange) -> Response:
    """The answer to a call on which the account itself failed. Call it where the exception is handled."""
    traceback.print_exc()
    return error(exchange, "InternalFailure", "The emulated account failed; see its error output.", 500)


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
