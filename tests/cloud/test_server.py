from __future__ import annotations

import concurrent.futures
import http.client
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from helpers.cloud import Cloud, PortInUse
from helpers.cloud.server import LOOPBACK, Server


def ask(cloud: Cloud, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(LOOPBACK, cloud.port, timeout=10)
    body = json.dumps({})
    connection.request(
        "POST",
        "/",
        body,
        {
            "X-Amz-Target": "AmazonSQS.ListQueues",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/sqs/aws4_request, Signature=b",
            **headers,
        },
    )
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_it_listens_on_loopback_only(cloud: Cloud) -> None:
    if sys.platform != "linux":
        pytest.skip("reads the socket table of Linux")
    table = "".join(Path("/proc/net", name).read_text(encoding="ascii") for name in ("tcp", "tcp6"))
    listening = [line.split()[1] for line in table.splitlines() if line.split()[3] == "0A"]
    mine = [address for address in listening if address.endswith(f":{cloud.port:04X}")]
    assert mine == [f"0100007F:{cloud.port:04X}"]


def test_an_sdk_is_answered(cloud: Cloud) -> None:
    assert ask(cloud)[0] == 200
    assert ask(cloud, Host=f"localhost:{cloud.port}")[0] == 200


def test_another_host_name_is_refused(cloud: Cloud) -> None:
    """DNS rebinding: a web page's own host name can resolve to 127.0.0.1."""
    assert ask(cloud, Host=f"attacker.example:{cloud.port}")[0] == 403


def test_a_web_page_is_refused(cloud: Cloud) -> None:
    status, body = ask(cloud, Origin="https://attacker.example")
    assert status == 403
    assert b"programs on this machine only" in body


@pytest.mark.parametrize(
    ("path", "mode", "status"),
    [
        ("/?Action=DeleteQueue&QueueUrl=q", "no-cors", 403),
        ("/?Action=DeleteQueue&QueueUrl=q", "navigate", 403),
        ("/bucket/picture.png", "no-cors", 403),
        ("/bucket/report.txt", "navigate", 404),
    ],
)
def test_a_web_page_is_refused_when_it_sends_no_origin(cloud: Cloud, path: str, mode: str, status: int) -> None:
    connection = http.client.HTTPConnection(LOOPBACK, cloud.port, timeout=10)
    connection.request("GET", path, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode})
    assert connection.getresponse().status == status
    connection.close()


def test_a_body_over_the_limit_is_refused_before_it_is_read(cloud: Cloud) -> None:
    with socket.create_connection((LOOPBACK, cloud.port), timeout=10) as sock:
        sock.sendall(
            f"POST / HTTP/1.1\r\nHost: {LOOPBACK}:{cloud.port}\r\nContent-Length: 999999999999\r\n\r\n".encode()
        )
        assert b" 413 " in sock.recv(200).split(b"\r\n")[0]


def test_connections_are_kept_alive(cloud: Cloud) -> None:
    connection = http.client.HTTPConnection(LOOPBACK, cloud.port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/moto-api/data.json")
        connection.getresponse().read()
        assert connection.sock is not None


def test_a_taken_port_is_named() -> None:
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=f"port {port} is in use") as refusal:
            Server(lambda environ, start: [], port)
    assert refusal.value.port == port


def test_the_port_is_free_again_after_close() -> None:
    first = Server(lambda environ, start: [])
    first.close()
    second = Server(lambda environ, start: [], first.port)
    assert second.port == first.port
    second.close()


def test_a_process_with_an_open_account_can_end() -> None:
    program = "from helpers.cloud import Cloud; cloud = Cloud(); print(cloud.endpoint, flush=True)"
    start = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 0, ended.stderr
    assert time.monotonic() - start < 30


def test_a_body_in_chunks_without_a_size_is_malformed(cloud: Cloud) -> None:
    head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{cloud.port}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", cloud.port), timeout=10) as connection:
        connection.sendall(head + b"no number\r\n{}\r\n0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def _waiting_polls() -> int:
    """How many threads of the server are inside a long poll."""
    count = 0
    for frame in sys._current_frames().values():
        inner: FrameType | None = frame
        while inner is not None and inner.f_code.co_name != "_receive":
            inner = inner.f_back
        count += inner is not None
    return count


def test_calls_that_wait_leave_a_thread_for_others(cloud: Cloud) -> None:
    """More calls wait than the server has threads at its start."""
    url = cloud.client("sqs").create_queue(QueueName="waited-for")["QueueUrl"]
    sqs = cloud.client("sqs", config=Config(max_pool_connections=90))
    with concurrent.futures.ThreadPoolExecutor(90) as pool:
        polls = [pool.submit(sqs.receive_message, QueueUrl=url, WaitTimeSeconds=20) for _ in range(90)]
        end = time.monotonic() + 15
        while _waiting_polls() < 90 and time.monotonic() < end:
            cloud.boundary.changed.wait(cloud.boundary.changed.count, 0.02)
        assert _waiting_polls() == 90
        cloud.client("sqs").delete_queue(QueueUrl=url)
        for poll in polls:
            with pytest.raises(ClientError, match="does not exist"):
                poll.result(timeout=20)
