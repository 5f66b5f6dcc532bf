"""One HTTP/1.1 request from a connection: a strict reader with bounds.

Whatever a program that is no SDK may send, a request has one meaning or none: ambiguous lengths, folded or repeated
control headers, bare line ends and targets that name another host are refused, never guessed at. Nothing here waits
or grows without end. Source: RFC 9110 and RFC 9112 (sections 2.2, 3.2, 5.1, 6.3, 7.1).
"""

from __future__ import annotations

import io
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

HEAD_LIMIT = 65_536
"""Bytes of request line and headers. AWS's largest header values are policies and client contexts of a few KB."""

HEADERS_LIMIT = 200
TRAILER_LIMIT = 16_384

METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"})

_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20}) ([\x21-\x7e]+) HTTP/(\d)\.(\d)")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\x09\x20-\x7e\x80-\xff]*)?")
_QUOTED_SLASH = re.compile(b"%2f", re.IGNORECASE)
_ONCE_ONLY = frozenset({b"host", b"content-length", b"transfer-encoding", b"origin", b"x-amz-target"})


class Refused(Exception):
    """The request cannot be answered: `status` and a sentence. The connection ends after the answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Malformed(Refused, ValueError):
    """What was sent is not HTTP, or could be read in two ways."""

    def __init__(self, sentence: str) -> None:
        super().__init__(400, sentence)


class Gone(ConnectionError):
    """The client closed the connection, perhaps in the middle of a request: then nothing of it is carried out."""


class Budget:
    """Bytes that the bodies of all requests may take together while they are read and answered."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, count: int) -> None:
        """Raises Refused (503) when there is not so much left."""
        with self._lock:
            if count > self._left:
                raise Refused(503, "Too many large requests at once.")
            self._left -= count

    def give(self, count: int) -> None:
        with self._lock:
            self._left += count


class Source:
    """The bytes of one connection. `patience` is how many seconds a client may take for a head, or between two parts
    of a body."""

    def __init__(self, peer: socket.socket, patience: float) -> None:
        self.peer = peer
        self.patience = patience
        self._buffer = bytearray()
        peer.settimeout(patience)

    def wait(self, seconds: float) -> bool:
        """Wait for the first byte of a request. Returns False when none came in time or the client went away."""
        end = time.monotonic() + seconds
        while not self._buffer:
            try:
                self._fill(end)
            except TimeoutError:
                if time.monotonic() >= end:
                    return False
            except OSError:
                return False
        return True

    def head(self) -> bytes:
        """Request line and headers, without the empty line after them. Raises Refused, TimeoutError, Gone."""
        end = time.monotonic() + self.patience
        searched = 0
        while True:
            if self._buffer.startswith(b"\r\n"):  # RFC 9112, 2.2: an empty line before a request is passed over
                del self._buffer[:2]
            found = self._buffer.find(b"\r\n\r\n", max(0, searched - 3), HEAD_LIMIT)
            if found >= 0:
                head = bytes(self._buffer[:found])
                del self._buffer[: found + 4]
                return head
            searched = len(self._buffer)
            if searched >= HEAD_LIMIT:
                raise Refused(431, "The headers are too large.")
            self._fill(end)

    def line(self, limit: int, end: float) -> bytes:
        """A line without its end. Raises Malformed when it is longer than `limit`."""
        while (found := self._buffer.find(b"\r\n", 0, limit)) < 0:
            if len(self._buffer) >= limit:
                raise Malformed("A line in the body is too long.")
            self._fill(end)
        line = bytes(self._buffer[:found])
        del self._buffer[: found + 2]
        return line

    def exactly(self, count: int, end: float, reserve: Callable[[int], None]) -> bytes:
        """`count` bytes, before the time `end` (monotonic). `reserve` is told of what arrives."""
        reserve(min(count, len(self._buffer)))
        while len(self._buffer) < count:
            before = len(self._buffer)
            self._fill(end, 1 << 20)
            reserve(len(self._buffer) - before)
        if count == len(self._buffer):
            piece, self._buffer = bytes(self._buffer), bytearray()
            return piece
        piece = bytes(self._buffer[:count])
        del self._buffer[:count]
        return piece

    def _fill(self, end: float, most: int = 65_536) -> None:
        if time.monotonic() > end:
            raise TimeoutError("the request did not come in time")
        data = self.peer.recv(most)
        if not data:
            raise Gone("the connection ended")
        self._buffer += data


class Body(io.RawIOBase):
    """`wsgi.input`: the body is read from the connection when, and only if, the application asks for it.

    `read` gives all of it or raises: Refused (malformed, too much at once), TimeoutError, Gone. `begin` is called
    before the first byte is waited for, `complete` when the last one is there; `seconds` is for all of it.
    """

    def __init__(
        self,
        source: Source,
        length: int | None,
        budget: Budget,
        begin: Callable[[], None],
        complete: Callable[[], None],
        seconds: float,
    ) -> None:
        super().__init__()
        self._source, self._length, self._budget = source, length, budget
        self._begin, self._complete, self._seconds = begin, complete, seconds
        self._taken = 0
        self.left = length != 0
        """Whether there is something on the connection that was not read."""

    def read(self, most: int = -1) -> bytes:
        """The whole body. Raises Refused (413) when it has more than `most` bytes."""
        if not self.left:
            return b""
        if self._length is not None and 0 <= most < self._length:
            raise Refused(413, "The request is too large.")
        self._begin()
        end = time.monotonic() + self._seconds
        if self._length is None:
            body = self._chunks(most, end)
        else:
            body = self._source.exactly(self._length, end, self._reserve)
        self.left = False
        self._complete()
        return body

    def release(self) -> None:
        """Give back what the body took of the budget."""
        if self._taken:
            self._budget.give(self._taken)
            self._taken = 0

    def _reserve(self, count: int) -> None:
        self._budget.take(count)
        self._taken += count

    def _chunks(self, most: int, end: float) -> bytes:
        body = bytearray()
        while True:
            size_line = _CHUNK.fullmatch(self._source.line(1024, end))
            if not size_line:
                raise Malformed("A chunk has no size.")
            size = int(size_line.group(1), 16)
            if not size:
                self._pass_over_trailers(end)
                return bytes(body)
            if 0 <= most < len(body) + size:
                raise Refused(413, "The request is too large.")
            body += self._source.exactly(size, end, self._reserve)
            if self._source.exactly(2, end, self._reserve) != b"\r\n":
                raise Malformed("A chunk is longer than its size.")

    def _pass_over_trailers(self, end: float) -> None:
        left = TRAILER_LIMIT
        while line := self._source.line(left, end):
            left -= len(line) + 2
            if left < 2:
                raise Malformed("The trailers are too large.")


@dataclass(frozen=True)
class Head:
    """A request's line and headers. Names are in lower case, values as they were sent; `length` None is a body in
    chunks."""

    method: str
    target: str
    version: tuple[int, int]
    headers: dict[bytes, bytes]
    length: int | None

    @property
    def keeps(self) -> bool:
        """Whether the client wants to use the connection again."""
        tokens = {token.strip().lower() for token in self.headers.get(b"connection", b"").split(b",")}
        return self.version >= (1, 1) and b"close" not in tokens

    @property
    def expects(self) -> bool:
        """Whether the client waits for a word before it sends the body."""
        return self.version >= (1, 1) and self.headers.get(b"expect", b"").lower() == b"100-continue"


def parse_head(data: bytes) -> Head:
    """Raises Refused for what is not one clear request to this server."""
    first, *lines = data.split(b"\r\n")
    found = _REQUEST_LINE.fullmatch(first)
    if not found:
        raise Malformed("This is not a request of HTTP/1.1.")
    method, target, version = found[1].decode(), found[2].decode(), (int(found[3]), int(found[4]))
    if version[0] != 1:
        raise Refused(505, "This server speaks HTTP/1.1.")
    if method not in METHODS:
        raise Refused(501, "This server does not know the method.")
    if not target.startswith("/") or "#" in target:
        raise Malformed("The target must be a path: this server is no proxy.")
    if len(lines) > HEADERS_LIMIT:
        raise Refused(431, "There are too many headers.")
    headers = _headers(lines)
    return Head(method, target, version, headers, _length(headers, version))


def _headers(lines: list[bytes]) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name) or _FORBIDDEN.search(value):
            raise Malformed("A header is malformed.")
        name, value = name.lower(), value.strip(b" \t")
        if name in headers:
            if name in _ONCE_ONLY:
                raise Malformed(f"There are two headers {name.decode()}.")
            value = headers[name] + b", " + value
        headers[name] = value
    return headers


def _length(headers: dict[bytes, bytes], version: tuple[int, int]) -> int | None:
    coding, length = headers.get(b"transfer-encoding"), headers.get(b"content-length")
    if coding is not None:
        if length is not None or version < (1, 1):
            raise Malformed("The length of the body can be read in two ways.")
        if coding.lower() != b"chunked":
            raise Refused(501, "This server does not know the transfer coding.")
        return None
    if length is None:
        return 0
    if not re.fullmatch(rb"[0-9]{1,15}", length):
        raise Malformed("The length of the body is not a number.")
    return int(length)


def environ_of(head: Head, body: Body, port: int) -> dict[str, object]:
    """The request as WSGI describes it (PEP 3333). ``%2F`` stays as it is in the path: it does not separate."""
    path, _, query = head.target.partition("?")
    unquoted = b"%2F".join(unquote_to_bytes(part) for part in _QUOTED_SLASH.split(path.encode("ascii")))
    environ: dict[str, object] = {
        "REQUEST_METHOD": head.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquoted.decode("latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": head.target,
        "RAW_URI": head.target,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{head.version[0]}.{head.version[1]}",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": body,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for header, value in head.headers.items():
        environ["HTTP_" + header.decode().upper().replace("-", "_")] = value.decode("latin-1")
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if "HTTP_" + name in environ:
            environ[name] = environ.pop("HTTP_" + name)
    return environ
