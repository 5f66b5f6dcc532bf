"""What is no SDK's request: web pages, other hosts, lengths with two meanings, clients that send half or nothing."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.cloud import Cloud
from helpers.cloud.http_request import HEAD_LIMIT, HEADERS_LIMIT
from helpers.cloud.server import LOOPBACK, Server

QUERY = "Action=DeleteQueue&QueueUrl=kept"
JSON = b'{"QueueUrl": "kept"}'
TARGET = {"X-Amz-Target": "AmazonSQS.DeleteQueue", "Content-Type": "application/x-amz-json-1.0"}
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/sqs/aws4_request, Signature=b"}


@pytest.fixture(scope="module", autouse=True)
def kept(cloud: Cloud) -> Iterator[None]:
    """A queue that each refused request tries to delete."""
    sqs = cloud.client("sqs")
    sqs.create_queue(QueueName="kept")
    yield
    assert sqs.get_queue_url(QueueName="kept")["QueueUrl"]


def send(port: int, data: bytes, more: bytes = b"", timeout: float = 10) -> bytes:
    """Send bytes as they are, then read to the end of the connection."""
    with socket.create_connection((LOOPBACK, port), timeout=timeout) as peer:
        with contextlib.suppress(ConnectionError):
            peer.sendall(data)
            peer.sendall(more)
            peer.shutdown(socket.SHUT_WR)
        answer = bytearray()
        with contextlib.suppress(ConnectionError):
            while piece := peer.recv(65536):
                answer += piece
    return bytes(answer)


def statuses(answer: bytes) -> list[int]:
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d\d\d) ", answer)]


def request(cloud: Cloud, *lines: str, method: str = "POST", target: str = "/", host: str | None = None) -> bytes:
    """A request that would delete the queue if it were let in."""
    shown = f"Host: {LOOPBACK}:{cloud.port}" if host is None else host
    known = [f"{name}: {value}" for name, value in {**TARGET, **SIGNED}.items()]
    head = [f"{method} {target} HTTP/1.1", *([shown] if shown else []), *known, *lines]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n"


# --- who asks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("Host: {port}", 403),
        ("Host: attacker.example:{port}", 403),
        ("Host: 127.0.0.1", 403),
        ("Host: 127.0.0.1:1", 403),
        ("Host: 127.0.0.1.:{port}", 403),
        ("Host: localhost.:{port}", 403),
        ("Host: LOCALHOST:{port}", 403),
        ("Host: user@127.0.0.1:{port}", 403),
        ("Host: 127.0.0.1:{port}@attacker.example", 403),
        ("Host: [::1]:{port}", 403),
        ("Host: 127.1:{port}", 403),
        ("Host: 0.0.0.0:{port}", 403),
        ("Host: 127.0.0.1:{port}, attacker.example", 403),
        ("Host:", 403),
        ("", 403),
        ("Host : 127.0.0.1:{port}", 400),
        ("Host: attacker.example\r\nHost: 127.0.0.1:{port}", 400),
        ("Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}", 400),
        ("Host: 127.0.0.1:{port}\r\n folded.example", 400),
        ("X-Forwarded-Host: 127.0.0.1:{port}", 403),
    ],
)
def test_only_the_two_names_of_the_account_are_answered(cloud: Cloud, host: str, status: int) -> None:
    """DNS rebinding sends another name; every other spelling is one that no SDK sends."""
    data = request(cloud, f"Content-Length: {len(JSON)}", host=host.format(port=cloud.port))
    assert statuses(send(cloud.port, data, JSON)) == [status]


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1:{port}/", "http://attacker.example/", "//attacker.example", "*", "attacker.example:80", "/#a"],
)
def test_a_target_that_names_another_host_is_no_way_in(cloud: Cloud, target: str) -> None:
    data = request(cloud, "Origin: http://attacker.example", "Content-Length: 0", target=target.format(port=cloud.port))
    assert statuses(send(cloud.port, data)) in ([400], [403])


CHROME = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36"
PAGES: dict[str, tuple[str, str, list[str]]] = {
    "fetch": ("POST", "/", ["Origin: https://attacker.example"]),
    "fetch from a file": ("POST", "/", ["Origin: null"]),
    "fetch from the account's own origin": ("POST", "/", ["Origin: http://127.0.0.1:{port}"]),
    "fetch that names no origin": ("POST", "/", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]),
    "a script of an object in the account": ("GET", f"/?{QUERY}", ["Sec-Fetch-Site: same-origin"]),
    "preflight": ("OPTIONS", "/", ["Origin: https://attacker.example", "Access-Control-Request-Method: POST"]),
    "preflight to loopback": ("OPTIONS", "/", ["Origin: null", "Access-Control-Request-Private-Network: true"]),
    "form": ("POST", "/", ["Origin: null", "Sec-Fetch-Mode: navigate"]),
    "form of an old browser": ("POST", "/", [CHROME]),
    "image": ("GET", f"/?{QUERY}", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"]),
    "image of an old browser": ("GET", f"/?{QUERY}", [CHROME]),
    "image with an escaped action": ("GET", f"/?%41ction={QUERY[7:]}", ["Sec-Fetch-Mode: navigate"]),
    "link with an action": ("GET", f"/?{QUERY}", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]),
    "typed address with an action": ("GET", f"/?{QUERY}", ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"]),
    "event source": ("GET", "/", ["Accept: text/event-stream", "Sec-Fetch-Mode: cors"]),
    "web socket": ("GET", "/", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: a"]),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_a_web_page_gets_neither_an_answer_nor_permission(cloud: Cloud, page: tuple[str, str, list[str]]) -> None:
    method, target, lines = page
    marks = [line.format(port=cloud.port) for line in lines]
    answer = send(cloud.port, request(cloud, *marks, "Content-Length: 0", method=method, target=target))
    assert statuses(answer) == [403]
    assert b"access-control-" not in answer.lower()


def test_the_rules_that_a_bucket_has_for_pages_open_nothing(cloud: Cloud) -> None:
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket="open")
    rule = {"AllowedMethods": ["GET", "PUT"], "AllowedOrigins": ["*"]}
    s3.put_bucket_cors(Bucket="open", CORSConfiguration={"CORSRules": [rule]})
    s3.put_object(Bucket="open", Key="page.html", Body=b"<script></script>", ContentType="text/html")
    for method in ("GET", "PUT", "OPTIONS"):
        lines = ("Origin: https://attacker.example", "Access-Control-Request-Method: PUT", "Content-Length: 0")
        answer = send(cloud.port, request(cloud, *lines, method=method, target="/open/page.html"))
        assert statuses(answer) == [403]
        assert b"access-control-" not in answer.lower()
    assert s3.get_object(Bucket="open", Key="page.html")["Body"].read() == b"<script></script>"


def test_nothing_listens_on_another_address_of_the_machine(cloud: Cloud) -> None:
    """::1 too: what asks for localhost falls back to 127.0.0.1."""
    names = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)} | {"::1"}
    for address in names - {LOOPBACK}:
        if not isinstance(address, str) or address.startswith("127."):
            continue
        with pytest.raises(OSError, match=r".+"):
            socket.create_connection((address, cloud.port), timeout=2).close()


@pytest.mark.skipif(sys.platform == "win32", reason="permission bits are a matter of POSIX")
def test_only_its_owner_can_read_or_change_the_environment_file(cloud: Cloud, tmp_path: Path) -> None:
    """A shell runs what stands in it."""
    file = tmp_path / "account.sh"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o666)
    cloud.write_environment_file(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


# --- one meaning or none -----------------------------------------------------------------------------------

LENGTHS: dict[str, tuple[list[str], bytes, int]] = {
    "both lengths": (["Content-Length: 5", "Transfer-Encoding: chunked"], b"0\r\n\r\n", 400),
    "both lengths, the other way": (["Transfer-Encoding: chunked", "Content-Length: 5"], b"0\r\n\r\n", 400),
    "two lengths": (["Content-Length: 2", "Content-Length: 3"], b"{}", 400),
    "the same length twice": (["Content-Length: 2", "Content-Length: 2"], b"{}", 400),
    "a list of lengths": (["Content-Length: 2, 2"], b"{}", 400),
    "a negative length": (["Content-Length: -1"], b"{}", 400),
    "a signed length": (["Content-Length: +2"], b"{}", 400),
    "a length with an underscore": (["Content-Length: 1_0"], b"{}", 400),
    "a length in other digits": (["Content-Length: ²"], b"{}", 400),
    "an empty length": (["Content-Length:"], b"{}", 400),
    "a length without end": (["Content-Length: " + "9" * 40], b"{}", 400),
    "two codings": (["Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n", 501),
    "two coding headers": (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], b"0\r\n\r\n", 400),
    "an unknown coding": (["Transfer-Encoding: xchunked"], b"0\r\n\r\n", 501),
    "a chunk without a size": (["Transfer-Encoding: chunked"], b"\r\n{}\r\n0\r\n\r\n", 400),
    "a negative chunk": (["Transfer-Encoding: chunked"], b"-2\r\n{}\r\n0\r\n\r\n", 400),
    "a chunk with a prefix": (["Transfer-Encoding: chunked"], b"0x2\r\n{}\r\n0\r\n\r\n", 400),
    "a chunk longer than its size": (["Transfer-Encoding: chunked"], b"2\r\n{}}\r\n0\r\n\r\n", 400),
    "a chunk of many gigabytes": (["Transfer-Encoding: chunked"], b"FFFFFFFF\r\n{}", 413),
    "a size of many digits": (["Transfer-Encoding: chunked"], b"0" * 2000 + b"\r\n\r\n", 400),
    "trailers without end": (["Transfer-Encoding: chunked"], b"0\r\n" + b"a: b\r\n" * 9000, 400),
    "a folded header": (["X-A: 1\r\n Transfer-Encoding: chunked"], b"", 400),
    "a name with a space": (["Transfer-Encoding : chunked"], b"0\r\n\r\n", 400),
    "a bare line feed": (["X-A: 1\nTransfer-Encoding: chunked"], b"0\r\n\r\n", 400),
    "a bare carriage return": (["X-A: 1\rX-B: 2"], b"", 400),
    "a null": (["X-A: \0"], b"", 400),
    "no colon": (["nonsense"], b"", 400),
    "two targets": (["X-Amz-Target: AmazonSQS.ListQueues"], b"", 400),
}


@pytest.mark.parametrize(("lines", "body", "status"), LENGTHS.values(), ids=LENGTHS.keys())
def test_a_request_with_two_meanings_has_none(cloud: Cloud, lines: list[str], body: bytes, status: int) -> None:
    """Request smuggling: what follows such a body must not become a request of its own."""
    smuggled = request(cloud, f"Content-Length: {len(JSON)}") + JSON
    assert statuses(send(cloud.port, request(cloud, *lines), body + smuggled)) == [status]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 505),
        (b"GET / HTTP/1.10\r\n\r\n", 400),
        (b"BREW / HTTP/1.1\r\n\r\n", 501),
        (b"TRACE / HTTP/1.1\r\n\r\n", 501),
        (b"get / HTTP/1.1\r\n\r\n", 501),
        (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
        (b"GET /\0 HTTP/1.1\r\n\r\n", 400),
        (b"GET /" + b"a" * HEAD_LIMIT + b" HTTP/1.1\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * (HEADERS_LIMIT + 1) + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * HEAD_LIMIT + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.0\r\n\r\n", 403),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ],
)
def test_what_is_not_a_request_of_http_is_refused(cloud: Cloud, data: bytes, status: int) -> None:
    assert statuses(send(cloud.port, data)) == [status]


def test_requests_in_a_row_are_answered_in_a_row(cloud: Cloud) -> None:
    """Pipelining, with bodies of both kinds and an empty line between two requests."""
    listing = request(cloud, "Content-Length: 2").replace(b"DeleteQueue", b"ListQueues") + b"{}"
    chunked = request(cloud, "Transfer-Encoding: chunked").replace(b"DeleteQueue", b"ListQueues")
    last = request(cloud, "Content-Length: 2", "Connection: close").replace(b"DeleteQueue", b"ListQueues") + b"{}"
    body = b'1;ext="a"\r\n{\r\n00001\r\n}\r\n0\r\nTrailer: yes\r\n\r\n'
    answer = send(cloud.port, listing + chunked + body + b"\r\n" + last + listing)
    assert statuses(answer) == [200, 200, 200]
    assert answer.count(b"/kept") == 3


def test_a_body_that_ends_early_is_carried_out_by_nobody(cloud: Cloud) -> None:
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket="early")
    for lines, body in (("Content-Length: 10", b"half"), ("Transfer-Encoding: chunked", b"4\r\nhalf\r\n")):
        head = f"PUT /early/half HTTP/1.1\r\nHost: {LOOPBACK}:{cloud.port}\r\n{lines}\r\n\r\n".encode()
        assert send(cloud.port, head, body) == b""
    assert "Contents" not in s3.list_objects_v2(Bucket="early")


def test_who_waits_for_a_word_before_the_body_gets_it_unless_refused(cloud: Cloud) -> None:
    expecting = ("Expect: 100-continue", "Content-Length: 2")
    listing = request(cloud, *expecting, "Connection: close").replace(b"DeleteQueue", b"ListQueues")
    assert statuses(send(cloud.port, listing, b"{}")) == [100, 200]
    assert statuses(send(cloud.port, request(cloud, *expecting, "Origin: null"))) == [403]


def test_a_header_of_an_answer_cannot_begin_another_one() -> None:
    def application(environ: object, start: Callable[..., object]) -> list[bytes]:
        start("200 OK", [("X-A", "one\r\nX-B: two\r\n\r\nbody"), ("X-Ю", "заказ"), ("Content-Length", "2")])
        return [b"ok"]

    server = Server(application)
    try:
        answer = send(server.port, b"GET / HTTP/1.0\r\n\r\n")
    finally:
        server.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert (body, b"\r\nX-B" in head) == (b"ok", False)


# --- clients that send half, or nothing --------------------------------------------------------------------


def _echo(environ: dict[str, object], start: Callable[..., object]) -> list[bytes]:
    body = environ["wsgi.input"].read()  # type: ignore[attr-defined]
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@contextlib.contextmanager
def serving(**settings: float) -> Iterator[Server]:
    server = Server(_echo, **settings)  # type: ignore[arg-type]
    try:
        yield server
    finally:
        server.close()


def ask(port: int) -> bytes:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=10)
    try:
        connection.request("POST", "/", b"here")
        return connection.getresponse().read()
    finally:
        connection.close()


BEGINNINGS = {
    "nothing": b"",
    "half a head": b"POST / HTTP/1.1\r\nHost: ",
    "half a body": b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\nhalf",
    "half a chunk": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFF\r\nhalf",
}


@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS.keys())
def test_clients_that_send_half_keep_nobody_out(beginning: bytes) -> None:
    """Three times as many as there can be connections; the newest still wait for their client meanwhile."""
    with serving(most_connections=50, patience=60) as server, contextlib.ExitStack() as open_peers:
        for _ in range(150):
            peer = open_peers.enter_context(socket.create_connection((LOOPBACK, server.port), timeout=10))
            peer.sendall(beginning)
        start = time.monotonic()
        assert ask(server.port) == b"here"
        assert time.monotonic() - start < 5
        assert server.connections <= 50


@pytest.mark.parametrize("beginning", [one for one in BEGINNINGS.values() if one], ids=[*BEGINNINGS][1:])
def test_who_stops_in_the_middle_is_told_after_a_time(beginning: bytes) -> None:
    with serving(patience=0.2) as server, socket.create_connection((LOOPBACK, server.port), timeout=10) as peer:
        peer.sendall(beginning)
        assert statuses(peer.recv(1000)) == [408]
        assert server.connections <= 1


def test_a_head_in_drops_has_no_more_time_than_another() -> None:
    """Slow loris: each byte comes in time, the head does not."""
    with serving(patience=0.5) as server, socket.create_connection((LOOPBACK, server.port), timeout=10) as peer:
        answered = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not answered.wait(0.05):
                    peer.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert statuses(peer.recv(1000)) == [408]
        finally:
            answered.set()
            dripping.join()


def test_a_client_that_is_answered_keeps_its_connection_when_others_crowd_in() -> None:
    with serving(most_connections=10, patience=60) as server, contextlib.ExitStack() as open_peers:
        client = http.client.HTTPConnection(LOOPBACK, server.port, timeout=10)
        client.request("POST", "/", b"first")
        assert client.getresponse().read() == b"first"
        for _ in range(30):
            open_peers.enter_context(socket.create_connection((LOOPBACK, server.port), timeout=10))
        assert ask(server.port) == b"here"
        kept = client.sock
        client.request("POST", "/", b"second")
        assert client.getresponse().read() == b"second"
        assert client.sock is kept
        client.close()


def test_when_all_connections_are_served_a_further_one_is_told() -> None:
    inside, leave = threading.Semaphore(0), threading.Event()

    def application(environ: object, start: Callable[..., object]) -> list[bytes]:
        inside.release()
        leave.wait(10)
        start("200 OK", [("Content-Length", "0")])
        return []

    server = Server(application, most_connections=3)
    try:
        with contextlib.ExitStack() as open_peers:
            for _ in range(3):
                peer = open_peers.enter_context(socket.create_connection((LOOPBACK, server.port), timeout=10))
                peer.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert inside.acquire(timeout=10)
            assert statuses(send(server.port, b"GET / HTTP/1.1\r\n\r\n")) in ([503], [])
            leave.set()
    finally:
        leave.set()
        server.close()


def test_large_bodies_at_once_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helpers.cloud.server._BODIES", 1000)
    head = b"POST / HTTP/1.1\r\nContent-Length: 900\r\n\r\n"

    def the_second_is_refused_and_the_first_is_served(port: int) -> bool:
        with socket.create_connection((LOOPBACK, port), timeout=10) as first, contextlib.suppress(ConnectionError):
            first.sendall(head + b"a" * 800)
            if statuses(send(port, head + b"a" * 900)) == [503]:
                first.sendall(b"a" * 100)
                return statuses(first.recv(2000)) == [200]
        return False

    with serving(patience=60) as server:
        # Nobody outside sees when the server has read the first head, and the second may overtake it: then again.
        end = time.monotonic() + 30
        while not the_second_is_refused_and_the_first_is_served(server.port):
            assert time.monotonic() < end
        assert ask(server.port) == b"here"


def test_a_client_that_does_not_read_its_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helpers.cloud.server._WRITE_SECONDS", 0.3)

    def application(environ: dict[str, object], start: Callable[..., object]) -> list[bytes]:
        start("200 OK", [("Content-Length", "50000000")])
        return [bytes(50_000_000)]

    server = Server(application)
    try:
        with socket.create_connection((LOOPBACK, server.port), timeout=10) as peer:
            peer.sendall(b"GET / HTTP/1.1\r\n\r\n")
            end = time.monotonic() + 10
            while server.connections != 0:
                assert time.monotonic() < end
                time.sleep(0.01)
    finally:
        server.close()


def test_hundreds_of_idle_connections_do_not_disturb_a_call(cloud: Cloud) -> None:
    before = cloud.server.connections
    with contextlib.ExitStack() as open_peers:
        for _ in range(400):
            open_peers.enter_context(socket.create_connection((LOOPBACK, cloud.port), timeout=10))
        assert json.dumps(cloud.client("sqs").list_queues()["QueueUrls"])
    end = time.monotonic() + 10
    while cloud.server.connections > before + 5:
        assert time.monotonic() < end
        time.sleep(0.01)
