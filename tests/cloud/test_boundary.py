from __future__ import annotations

import threading
import time

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.boundary import Changed
from helpers.cloud.exchange import Exchange
from helpers.cloud.journal import Call
from helpers.cloud.responses import Response, error


def test_each_call_is_in_the_journal_with_its_outcome(cloud: Cloud) -> None:
    since = cloud.journal.last
    sqs = cloud.client("sqs")
    sqs.create_queue(QueueName="journal")
    with pytest.raises(ClientError):
        sqs.get_queue_url(QueueName="no-such-queue")
    created, missing = cloud.journal.events(Call, since=since)
    assert (created.service, created.action, created.status, created.error) == ("sqs", "CreateQueue", 200, None)
    assert created.caller.kind == "learner"
    assert created.parameters["QueueName"] == "journal"
    assert (missing.action, missing.status) == ("GetQueueUrl", 400)
    assert missing.error == "QueueDoesNotExist"


def test_a_write_notifies_and_a_read_does_not(cloud: Cloud) -> None:
    sqs = cloud.client("sqs")
    seen = cloud.boundary.changed.count
    sqs.list_queues()
    assert cloud.boundary.changed.count == seen
    sqs.create_queue(QueueName="notify")
    assert cloud.boundary.changed.count > seen


def test_a_failure_of_our_own_is_an_error_of_the_service_and_not_a_hang(
    cloud: Cloud, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(exchange: Exchange) -> Response | None:
        if exchange.name == "sqs:ListQueueTags":
            raise RuntimeError("gate fell over")
        return None

    monkeypatch.setattr(cloud.boundary, "gates", [broken, *cloud.boundary.gates])
    sqs = cloud.client("sqs")
    url = sqs.create_queue(QueueName="broken")["QueueUrl"]
    with pytest.raises(ClientError) as failure:
        sqs.list_queue_tags(QueueUrl=url)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert "gate fell over" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("service", "call", "arguments"),
    [
        ("sqs", "get_queue_url", {"QueueName": "q"}),
        ("dynamodb", "describe_table", {"TableName": "table"}),
        ("lambda", "get_function", {"FunctionName": "f"}),
        ("iam", "get_role", {"RoleName": "r"}),
        ("logs", "describe_log_groups", {}),
        ("stepfunctions", "list_state_machines", {}),
        ("s3", "get_object", {"Bucket": "bucket", "Key": "k"}),
    ],
)
def test_an_error_is_read_by_the_sdk_in_each_protocol(
    cloud: Cloud, service: str, call: str, arguments: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(exchange: Exchange) -> Response:
        return error(exchange, "OnceRefusal", "Refused <here>.", 418)

    monkeypatch.setattr(cloud.boundary, "gates", [refuse])
    with pytest.raises(ClientError) as refusal:
        getattr(cloud.client(service), call)(**arguments)
    assert refusal.value.response["Error"]["Code"] == "OnceRefusal"
    assert refusal.value.response["Error"]["Message"] == "Refused <here>."
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 418


def test_changed_wakes_a_waiter_that_looked_before() -> None:
    changed = Changed()
    seen = changed.count
    woken: list[bool] = []
    waiter = threading.Thread(target=lambda: woken.append(changed.wait(seen, 10)))
    waiter.start()
    changed.notify()
    waiter.join()
    assert woken == [True]
    assert changed.wait(seen, 0), "a change between the look and the wait is not missed"
    assert not changed.wait(changed.count, 0.01)


def test_a_long_poll_does_not_hold_up_other_calls(cloud: Cloud) -> None:
    sqs = cloud.client("sqs")
    url = sqs.create_queue(QueueName="long-poll")["QueueUrl"]
    answers: list[dict[str, object]] = []
    poll = threading.Thread(target=lambda: answers.append(sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)))
    start = time.monotonic()
    poll.start()
    cloud.client("sqs").send_message(QueueUrl=url, MessageBody="arrived")
    poll.join(timeout=15)
    assert answers[0]["Messages"][0]["Body"] == "arrived"  # type: ignore[index]
    assert time.monotonic() - start < 20, "the poll ends with the message, not with its time"
