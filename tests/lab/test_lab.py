"""Starting, closing, resetting and misusing a lab."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.lab import Lab
from helpers.lab.errors import (
    BadParameter,
    LabClosed,
    LabError,
    NoScratchFolder,
    NoSuchLanguage,
    NothingSent,
    StepMissing,
    UnknownLesson,
)
from helpers.lab.idempotent_consumer import IdempotentConsumer
from tests.lab.conftest import Learner

ROOT = Path(__file__).resolve().parents[2]


def test_the_lesson_provides_what_it_says(learner):
    worker = learner.client("lambda").get_function_configuration(FunctionName="q05-worker")
    assert (worker["Handler"], worker["Timeout"]) == ("app.handler", 5)
    assert worker["Environment"]["Variables"] == {"ORDERS_TABLE": "q05-orders"}
    assert worker["State"] == "Active"
    assert learner.client("dynamodb").list_tables()["TableNames"] == ["q05-orders", "q05-reference"]
    assert learner.client("dynamodb").scan(TableName="q05-orders")["Items"] == []
    reference = learner.client("dynamodb").scan(TableName="q05-reference")["Items"]
    assert reference == [{"id": {"S": "reference"}, "note": {"S": "keep unchanged"}}]
    assert learner.client("sqs").list_queues().get("QueueUrls", []) == []


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ('dynamodb.put_item(TableName="q05-orders", Item={"id": {"S": "a"}})', True),
        ('dynamodb.put_item(TableName="q05-reference", Item={"id": {"S": "a"}})', False),
        ('dynamodb.scan(TableName="q05-orders")', False),
        ('boto3.client("sqs").get_queue_url(QueueName="q05-jobs")', False),
        ('boto3.client("sqs").send_message(QueueUrl=os.environ["URL"], MessageBody="x")', False),
    ],
)
def test_the_role_has_exactly_the_rights_of_the_lesson(learner, call, allowed):
    url = learner.make_queue()
    learner.configure(Environment={"Variables": {"URL": url}})
    learner.deploy(f'import os, boto3\ndynamodb = boto3.client("dynamodb")\ndef handler(event, context):\n    {call}\n')
    answer = learner.client("lambda").invoke(FunctionName="q05-worker", Payload=b"{}")
    text = answer["Payload"].read().decode()
    assert (text == "null") is allowed, text
    assert ("AccessDenied" in text) is not allowed


def test_boto3_of_the_notebook_reaches_this_account_only(lab):
    import boto3

    assert os.environ["AWS_ENDPOINT_URL"] == lab.cloud.endpoint
    assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"


def test_the_scratch_folder_is_there_and_goes_away(lab):
    folder = lab.folder
    (folder / "app.py").write_text("x = 1", encoding="utf-8", newline="\n")
    lab.reset()
    assert not folder.exists()
    assert lab.folder.is_dir()


def test_a_reset_keeps_the_address_so_clients_go_on_working(learner):
    made_earlier = learner.lab.cloud.client("sqs")
    learner.connect()
    before = learner.lab.cloud.port
    assert learner.lab.reset() is learner.lab
    assert learner.lab.cloud.port == before
    assert made_earlier.list_queues().get("QueueUrls", []) == []
    learner.first_job()
    assert learner.lab.check("deploy").passed


def test_the_same_cell_twice_gives_a_fresh_lab_and_says_so(lab, capsys):
    address = lab.cloud.endpoint
    with Lab("idempotent-consumer", "en") as second:
        assert "earlier account was closed" in capsys.readouterr().out
        assert lab.closed
        assert second.cloud.endpoint == address
        with pytest.raises(LabClosed):
            lab.check("connect")
        lab.close()
        with Lab("idempotent-consumer", "en") as third:
            assert second.closed
            Learner(third).first_job()
            assert third.check("deploy").passed
    third.close()


def test_a_step_out_of_order_names_the_step_that_is_missing(learner):
    lab = learner.lab
    with pytest.raises(StepMissing) as missing:
        lab.require("deploy")
    assert missing.value.step == "connect"
    assert lab.texts.title("connect") in missing.value.what
    assert missing.value.advice
    learner.connect()
    lab.require("connect")
    with pytest.raises(StepMissing) as missing:
        lab.require("repeat")
    assert missing.value.step == "deploy"
    learner.deploy()
    learner.send()
    lab.settle()
    lab.require("deploy")
    with pytest.raises(StepMissing) as missing:
        lab.require("repeat")
    assert missing.value.step == "repeat"
    learner.repeat()
    lab.require("repeat")
    learner.delete_mapping()
    with pytest.raises(StepMissing) as missing:
        lab.require("repeat")
    assert missing.value.step == "connect"


def test_a_question_without_an_answer_stops_nobody(learner, monkeypatch):
    learner.first_job()
    learner.lab.cloud.faults.server_error("sqs", "GetQueueUrl", times=50)
    assert learner.lab.check("connect")["queue"].outcome == "cannot-tell"
    learner.lab.require("connect")


@pytest.mark.parametrize("step", ["", "six", "Connect", None])
def test_an_unknown_step_is_an_error_that_lists_the_steps(lab, step):
    with pytest.raises(BadParameter, match="clean-up"):
        lab.check(step)
    with pytest.raises(BadParameter):
        lab.require(step)


@pytest.mark.parametrize(
    "wrong",
    [
        {"duplicates": -1},
        {"duplicates": 51},
        {"duplicates": True},
        {"duplicates": "2"},
        {"duplicates": 2.0},
        {"quantity": 0},
        {"quantity": 11},
        {"quantity": False},
        {"quantity": None},
        {"fault": "earthquake"},
        {"fault": ["none"]},
        {"fault": True},
        {"port": "5000"},
        {"port": 65_536},
    ],
)
def test_a_bad_parameter_is_named_and_leaves_the_open_lab_alone(lab, wrong):
    with pytest.raises(BadParameter) as refused:
        Lab("idempotent-consumer", "en", **wrong)
    assert f"`{next(iter(wrong))}`" in refused.value.what
    assert refused.value.meaning
    assert refused.value.advice
    assert lab.check("connect")


@pytest.mark.parametrize("lesson", ["orders", "", "idempotent_consumer"])
def test_an_unknown_lesson_lists_the_known_ones(lab, lesson):
    with pytest.raises(UnknownLesson, match="`idempotent-consumer`"):
        Lab(lesson, "en")
    assert not lab.closed


def test_an_unknown_language_lists_the_known_ones(lab):
    with pytest.raises(NoSuchLanguage, match="`en`"):
        Lab("idempotent-consumer", "tlh")
    assert not lab.closed


@pytest.mark.parametrize("seconds", [-1, True, "30", None, float("nan"), float("inf"), 1e9])
def test_only_real_seconds_can_be_skipped(lab, seconds):
    with pytest.raises(BadParameter):
        lab.skip(seconds)


def test_every_error_says_three_things(lab):
    with pytest.raises(NothingSent) as error:
        lab.faults.send_again()
    assert isinstance(error.value, LabError)
    assert str(error.value).split("\n") == [error.value.what, error.value.meaning, error.value.advice]


def test_no_folder_for_temporary_files(lab, monkeypatch):
    def refuse(**_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(NoScratchFolder, match="Permission denied"):
        Lab("idempotent-consumer", "en")


def run_python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "ONCE_LANGUAGE": "en", **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


WHOLE_LESSON = """
import sys
sys.path.insert(0, "tests/lab")
from tests.lab.conftest import Learner
from helpers.lab import Lab
lab = Lab("idempotent-consumer")
learner = Learner(lab)
learner.first_job()
print(lab.check("deploy").passed, lab.folder, lab.cloud.port)
"""


def test_two_labs_in_two_processes_do_not_meet_and_a_home_that_cannot_be_written_does_not_matter(learner, tmp_path):
    learner.first_job()
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o500)
    other = run_python(WHOLE_LESSON, HOME=str(home), USERPROFILE=str(home), XDG_DATA_HOME=str(home / "data"))
    assert other.returncode == 0, other.stderr
    passed, folder, port = other.stdout.strip().splitlines()[-1].split()
    assert passed == "True"
    assert int(port) != learner.lab.cloud.port
    assert not Path(folder).exists(), "the scratch folder goes away with the process"
    assert learner.lab.outcome()["runs"] == 1
    assert list(home.iterdir()) == []


def test_a_port_in_use_is_said_in_three_sentences_and_a_lab_needs_no_widgets_and_no_ipython(lab):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_python(
            "import sys\n"
            "from helpers.lab import Lab\n"
            "from helpers.lab.errors import PortTaken\n"
            f"try:\n    Lab('idempotent-consumer', port={port})\n"
            "except PortTaken as error:\n    print(error)\n"
            "with Lab('idempotent-consumer') as lab:\n    print(lab.check('connect')['queue'].outcome)\n"
            "    lab.view()\n    lab.faults.armed()\n"
            "print([name for name in ('IPython', 'ipywidgets', 'helpers.show') if name in sys.modules])"
        )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert str(port) in lines[0]
    assert len(lines) == 6
    assert lines[-2:] == ["not-attempted", "[]"]


@pytest.mark.parametrize("seconds", [-1, True, "30", None, float("nan"), float("inf"), 601])
def test_settle_waits_a_real_and_limited_time(lab, seconds):
    with pytest.raises(BadParameter):
        lab.settle(seconds)


def test_a_number_too_long_to_write_is_out_of_range(lab):
    with pytest.raises(BadParameter):
        lab.experiment("none", copies=10**5000)


@pytest.mark.parametrize("moment", ["closing", "opening"])
def test_an_interrupt_of_a_reset_leaves_a_whole_lab(learner, monkeypatch, moment):
    provide = IdempotentConsumer.provide

    def interrupted(lesson):
        signal.raise_signal(signal.SIGINT)
        provide(lesson)

    with monkeypatch.context() as patched:
        if moment == "closing":
            learner.lab._closing.callback(signal.raise_signal, signal.SIGINT)
        else:
            patched.setattr(IdempotentConsumer, "provide", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.lab.reset()
    assert set(learner.outcomes("connect").values()) == {"not-attempted"}
    learner.connect()
    assert set(learner.outcomes("connect").values()) == {"right"}


def test_a_table_that_the_learner_makes_is_creating_as_on_aws(lab: Lab) -> None:
    client = lab.cloud.client("dynamodb")
    client.create_table(
        TableName="own",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.put_item(TableName="own", Item={"id": {"S": "a"}})
    client.get_waiter("table_exists").wait(TableName="own")
    client.put_item(TableName="own", Item={"id": {"S": "a"}})
    client.delete_table(TableName="own")
