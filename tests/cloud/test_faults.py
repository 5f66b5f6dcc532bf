from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from helpers.cloud import Cloud
from helpers.cloud.journal import Call, Caller, FaultFired, WriteDecision
from tests.cloud.deploying import Deployer

KEY = {"id": {"S": "a"}}
NO_RETRY = Config(retries={"total_max_attempts": 1})


@pytest.fixture
def table(cloud: Cloud) -> Iterator[Any]:
    client = cloud.client("dynamodb")
    client.create_table(
        TableName="faulty",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    client.get_waiter("table_exists").wait(TableName="faulty")
    yield client
    cloud.faults.clear()
    client.delete_table(TableName="faulty")


def test_a_throttled_call_is_retried_by_the_sdk(cloud: Cloud, table: Any) -> None:
    cloud.faults.throttle("dynamodb", "GetItem", times=2)
    since = cloud.journal.last
    table.get_item(TableName="faulty", Key=KEY)
    errors = [call.error for call in cloud.journal.events(Call, since=since)]
    assert errors == ["ThrottlingException"] * 2 + [None]
    assert cloud.faults.armed() == []


def test_a_server_error_does_nothing_and_says_500(cloud: Cloud, table: Any) -> None:
    cloud.faults.server_error("dynamodb", "PutItem")
    with pytest.raises(ClientError) as failure:
        cloud.client("dynamodb", config=NO_RETRY).put_item(TableName="faulty", Item=KEY)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert "Item" not in table.get_item(TableName="faulty", Key=KEY)


def test_a_lost_answer_comes_after_the_write(cloud: Cloud, table: Any) -> None:
    cloud.faults.lose_answer("dynamodb", "PutItem")
    with pytest.raises(ConnectionClosedError):
        cloud.client("dynamodb", config=NO_RETRY).put_item(TableName="faulty", Item=KEY)
    assert table.get_item(TableName="faulty", Key=KEY)["Item"] == KEY


def test_the_sdk_that_lost_an_answer_meets_its_own_success(cloud: Cloud, table: Any) -> None:
    cloud.faults.lose_answer("dynamodb", "PutItem")
    with pytest.raises(ClientError, match="ConditionalCheckFailedException"):
        table.put_item(TableName="faulty", Item=KEY, ConditionExpression="attribute_not_exists(id)")


def test_a_held_call_waits_for_another_callers_call(cloud: Cloud, table: Any) -> None:
    cloud.boundary.callers["AKIAFIRST"] = lambda: cloud_caller("first")
    cloud.boundary.callers["AKIASECOND"] = lambda: cloud_caller("second")
    first, second = (
        cloud.session().client(
            "dynamodb",
            endpoint_url=cloud.endpoint,
            aws_access_key_id=key,
            aws_secret_access_key="x",
            region_name="us-east-1",
        )
        for key in ("AKIAFIRST", "AKIASECOND")
    )
    fault = cloud.faults.hold("dynamodb", "PutItem", until=("dynamodb", ("Query", "GetItem")), function="first")
    since = cloud.journal.last
    writing = threading.Thread(target=lambda: first.put_item(TableName="faulty", Item=KEY))
    writing.start()
    assert cloud.faults.wait_until_held(fault)
    assert cloud.faults.held() == 1
    second.get_item(TableName="faulty", Key=KEY)
    writing.join(timeout=10)
    assert [call.action for call in cloud.journal.events(Call, since=since)] == ["GetItem", "PutItem"]
    assert cloud.faults.held() == 0


def cloud_caller(name: str) -> Caller:
    return Caller("function", name, f"request-of-{name}")


@pytest.fixture(scope="module", autouse=True)
def functions(cloud: Cloud) -> None:
    """Functions whose names the faults of these tests name; nothing runs them."""
    deployer = Deployer(cloud)
    for name in ("first", "second", "crashing", "worker"):
        deployer.create("def handler(event, context): pass", ready=False, FunctionName=name)


def test_a_held_call_is_let_go_by_release_and_by_clear(cloud: Cloud, table: Any) -> None:
    for end in (cloud.faults.release, cloud.faults.cancel, lambda _: cloud.faults.clear()):
        fault = cloud.faults.hold("dynamodb", "PutItem")
        writing = threading.Thread(target=lambda: table.put_item(TableName="faulty", Item=KEY))
        writing.start()
        assert cloud.faults.wait_until_held(fault)
        end(fault)
        writing.join(timeout=10)
        assert not writing.is_alive()


@pytest.mark.parametrize(("when", "written"), [("before", False), ("after", True)])
def test_a_crash_before_the_call_leaves_nothing_and_one_after_it_the_write(
    cloud: Cloud, table: Any, monkeypatch: pytest.MonkeyPatch, when: Any, written: bool
) -> None:
    killed: list[str] = []
    monkeypatch.setattr(cloud.faults, "_kill", killed.append)
    cloud.boundary.callers["AKIACRASH"] = lambda: cloud_caller("crashing")
    client = cloud.session().client(
        "dynamodb",
        endpoint_url=cloud.endpoint,
        aws_access_key_id="AKIACRASH",
        aws_secret_access_key="x",
        config=NO_RETRY,
    )
    cloud.faults.crash("crashing", when=when)
    other = cloud.faults.lose_answer("dynamodb", "PutItem", function="crashing") if when == "before" else None
    since = cloud.journal.last
    with contextlib.suppress(ClientError):
        client.put_item(TableName="faulty", Item=KEY)
    assert killed == ["request-of-crashing"]
    assert ("Item" in table.get_item(TableName="faulty", Key=KEY)) is written
    assert len(cloud.journal.events(WriteDecision, since=since)) == written
    assert cloud.faults.armed() == ([other] if other else [])


@pytest.mark.parametrize("end", ["cancel", "clear"])
def test_a_hold_that_never_fired_leaves_nobody_listening(cloud: Cloud, end: str) -> None:
    before = cloud.journal._subscribers
    fault = cloud.faults.hold("dynamodb", "PutItem", until=("dynamodb", "GetItem"))
    assert len(cloud.journal._subscribers) == len(before) + 1
    if end == "cancel":
        cloud.faults.cancel(fault)
    else:
        cloud.faults.clear()
    assert cloud.journal._subscribers == before


def test_nobody_is_held_without_a_call(cloud: Cloud, table: Any) -> None:
    fault = cloud.faults.hold("dynamodb", "PutItem")
    assert not cloud.faults.wait_until_held(fault, timeout=0.05)


def test_a_fault_for_a_function_passes_over_the_learner(cloud: Cloud, table: Any) -> None:
    cloud.faults.server_error("dynamodb", "PutItem", function="worker")
    table.put_item(TableName="faulty", Item=KEY)
    assert len(cloud.faults.armed()) == 1


def test_a_fault_that_fired_is_in_the_journal(cloud: Cloud, table: Any) -> None:
    since = cloud.journal.last
    cloud.faults.delay(0.01, "dynamodb", "GetItem")
    table.get_item(TableName="faulty", Key=KEY)
    (fired,) = cloud.journal.events(FaultFired, since=since)
    assert (fired.fault, fired.call) == ("delay dynamodb:GetItem by 0.01 s", "dynamodb:GetItem")


def test_clear_lets_go_a_call_that_was_just_taken_and_does_not_wait_yet(
    cloud: Cloud, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = cloud.faults._wait

    def late(*arguments: Any) -> Any:
        cloud.faults.clear()
        return wait(*arguments)

    monkeypatch.setattr(cloud.faults, "_wait", late)
    cloud.faults.hold("dynamodb", "GetItem")
    client = cloud.client("dynamodb", config=Config(read_timeout=10, retries={"total_max_attempts": 1}))
    assert "Item" not in client.get_item(TableName="faulty", Key=KEY)


def test_clear_disarms_all_and_counts_them(cloud: Cloud, table: Any) -> None:
    cloud.faults.throttle("dynamodb", "GetItem", times=9)
    cloud.faults.server_error("dynamodb", "GetItem")
    assert cloud.faults.clear() == 2
    since = cloud.journal.last
    table.get_item(TableName="faulty", Key=KEY)
    assert cloud.journal.events(FaultFired, since=since) == []


@pytest.mark.parametrize("times", [0, -1, 1.5, True, "2"])
def test_how_often_a_fault_fires_is_a_whole_number_above_zero(cloud: Cloud, times: Any) -> None:
    with pytest.raises(ValueError, match="at least once"):
        cloud.faults.throttle("dynamodb", "GetItem", times=times)
