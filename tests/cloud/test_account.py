from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from helpers.cloud import AccountOpen, Cloud
from helpers.cloud.__main__ import main as command_line
from helpers.cloud.server import LOOPBACK


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """An account for one test: other tests of this module open their own."""
    with Cloud() as account:
        yield account


def test_an_account_starts_empty_and_ends_with_its_block() -> None:
    with Cloud() as first:
        sqs = first.client("sqs")
        sqs.create_queue(QueueName="left-behind")
        sqs.delete_queue(QueueUrl=sqs.create_queue(QueueName="deleted")["QueueUrl"])
    with Cloud() as second:
        sqs = second.client("sqs")
        assert "QueueUrls" not in sqs.list_queues()
        # A deleted queue's name waits for 60 seconds in its own account only.
        sqs.create_queue(QueueName="deleted")


def test_one_account_at_a_time_in_a_process(cloud: Cloud) -> None:
    with pytest.raises(AccountOpen, match="close it first"):
        Cloud()
    assert cloud.client("sqs").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_close_can_be_called_again_and_the_port_used_again() -> None:
    account = Cloud()
    port = account.port
    account.client("sqs").list_queues()  # leaves a connection in TIME_WAIT
    account.close()
    account.close()
    with Cloud(port) as again:
        assert again.endpoint == f"http://127.0.0.1:{port}"


def test_time_cannot_run_back(cloud: Cloud) -> None:
    with pytest.raises(ValueError, match="time does not run back"):
        cloud.skip(-1)


@pytest.mark.parametrize("seconds", ["5", None, True, float("inf"), float("nan"), 1e12])
def test_what_is_no_time_is_not_skipped_and_the_account_works_on(cloud: Cloud, seconds: Any) -> None:
    before = cloud.clock.skipped
    with pytest.raises(ValueError, match="cannot skip"):
        cloud.skip(seconds)
    assert cloud.clock.skipped == before
    assert cloud.client("iam").create_role(RoleName="dated", AssumeRolePolicyDocument="{}")["Role"]["CreateDate"]


@pytest.mark.parametrize("port", [-1, 65536, "5000", None, True])
def test_what_is_no_port_is_named_and_no_account_is_left_open(port: Any) -> None:
    with pytest.raises(ValueError, match=f"port is {port!r}: a whole number from 0 to 65535"):
        Cloud(port)
    with Cloud() as account:
        assert account.port


def test_the_code_of_a_function_that_is_not_there_is_a_key_error(cloud: Cloud) -> None:
    with pytest.raises(KeyError, match="nobody"):
        cloud.deployed_code("nobody")


@pytest.mark.parametrize("waiting", ["long poll", "delayed call"])
def test_a_call_that_waits_neither_holds_up_the_end_nor_reaches_the_next_account(waiting: str) -> None:
    with Cloud() as first:
        url = first.client("sqs").create_queue(QueueName="q")["QueueUrl"]
        if waiting == "delayed call":
            delay = first.faults.delay(60, "sqs", "ReceiveMessage")
        sqs = first.client("sqs", config=Config(retries={"total_max_attempts": 1}))
        poll = threading.Thread(target=_quietly, args=(sqs.receive_message, url), daemon=True)
        poll.start()
        old = first.boundary
        while not (delay.fired if waiting == "delayed call" else _threads_in("_receive")):
            old.changed.wait(old.changed.count, 0.05)
        closing = time.monotonic()
    assert time.monotonic() - closing < 15, "close waited for the poll's 20 seconds, or for the delay"
    with Cloud() as second:
        sqs = second.client("sqs")
        url = sqs.create_queue(QueueName="q")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody="for the second account")
        old.changed.notify()
        end = time.monotonic() + 10
        while _threads_in("_receive", "_fire") and time.monotonic() < end:
            old.changed.wait(old.changed.count, 0.05)
        assert not _threads_in("_receive", "_fire")
        assert len(sqs.receive_message(QueueUrl=url)["Messages"]) == 1
    poll.join(10)
    assert not poll.is_alive()


def _quietly(receive: Any, url: str) -> None:
    with contextlib.suppress(BotoCoreError, ClientError):
        receive(QueueUrl=url, WaitTimeSeconds=20)


def _threads_in(*functions: str) -> bool:
    """Whether some thread is inside a function of the cloud with one of these names."""
    for frame in sys._current_frames().values():
        inner: Any = frame
        while inner is not None:
            if inner.f_code.co_name in functions and "cloud" in inner.f_code.co_filename:
                return True
            inner = inner.f_back
    return False


def test_ids_repeat_with_the_seed() -> None:
    def message_id(seed: int) -> str:
        with Cloud(seed=seed) as account:
            sqs = account.client("sqs")
            url = sqs.create_queue(QueueName="q")["QueueUrl"]
            return str(sqs.send_message(QueueUrl=url, MessageBody="x")["MessageId"])

    assert message_id(1) == message_id(1)
    assert message_id(1) != message_id(2)


def served(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "helpers.cloud", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, encoding="utf-8", cwd=cwd)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def wait_until(condition: object, limit: float) -> bool:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.02)
    return False


def test_the_command_says_where_it_listens_and_stops_when_asked() -> None:
    process = served("--port", "0")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("The account listens on http://127.0.0.1:"), line
    port = int(line.rpartition(":")[2])
    assert listens(port)
    process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
    assert process.wait(timeout=15) == 0 or os.name != "posix"
    assert not listens(port)
    process.stdout.close()


def test_the_command_names_a_taken_port(cloud: Cloud) -> None:
    process = served("--port", str(cloud.port))
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"port {cloud.port} is in use" in errors
    assert "Traceback" not in errors


@pytest.mark.skipif(os.name == "nt", reason="for POSIX shells")
def test_the_line_to_type_finds_the_file(tmp_path: Path) -> None:
    """A POSIX shell looks in PATH for a name without a folder."""
    process = served("--port", "0", "--environment-file", "aws own.sh", cwd=tmp_path)
    assert process.stdout is not None
    line = next(line.strip() for line in process.stdout if line.startswith("  . "))
    done = subprocess.run(
        ["sh", "-c", f"{line} && echo $AWS_ENDPOINT_URL"], cwd=tmp_path, capture_output=True, text=True
    )
    process.terminate()
    process.communicate(timeout=15)
    assert done.stdout.startswith("http://127.0.0.1:"), done.stderr


def test_a_file_in_a_folder_that_is_not_there_is_refused(
    cloud: Cloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, said in ((tmp_path / "no" / "aws.sh", "there is no folder"), (tmp_path, "is a folder")):
        with pytest.raises(SystemExit, match="2"):
            command_line(["--port", "0", "--environment-file", str(file)])
        printed = capsys.readouterr()
        assert said in printed.err
        assert printed.out == ""
    with pytest.raises(FileNotFoundError, match=r"no folder for this file.*aws\.sh"):
        cloud.write_environment_file(tmp_path / "no" / "aws.sh")


def test_the_command_refuses_what_is_not_a_port() -> None:
    process = served("--port", "70000")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "70000 is not a port" in errors


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
def test_the_port_is_free_after_kill_9() -> None:
    process = served("--port", "0")
    assert process.stdout is not None
    port = int(process.stdout.readline().rpartition(":")[2])
    process.kill()
    process.wait(timeout=10)
    assert wait_until(lambda: not listens(port), 5)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((LOOPBACK, port))
    process.stdout.close()
