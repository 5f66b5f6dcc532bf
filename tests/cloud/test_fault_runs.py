"""Faults on real functions: processes that die, calls that are late, lost or refused, and what the handler sees."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config

from helpers.cloud import Cloud
from helpers.cloud.faults import POISON
from helpers.cloud.journal import (
    Call,
    FaultFired,
    MessageDeadLettered,
    MessageReceived,
    RunEnded,
    WriteDecision,
)
from tests.cloud.deploying import Deployer
from tests.cloud.queue_stage import Stage

HANDLER = """
import json
import boto3
from botocore.config import Config

NO_RETRY = {"mode": "standard", "total_max_attempts": 1}

def client(retries):
    return boto3.client("dynamodb", config=Config(retries=retries, read_timeout=20))

table = client(NO_RETRY)

def handler(event, context):
    print("handler begins")
    if "Records" in event:
        event = json.loads(event["Records"][0]["body"])
    orders = client(event["retries"]) if "retries" in event else table
    try:
        orders.put_item(TableName="orders", Item={"id": {"S": event["id"]}},
                        ConditionExpression="attribute_not_exists(id)")
    except Exception as problem:
        if event.get("catch"):
            return [type(problem).__name__, str(problem)]
        raise
    return "done"
"""

PATIENT = {"mode": "standard", "total_max_attempts": 3}


class Shop(Stage):
    """A worker that writes one order, called directly or by a queue."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud, name="stage")
        self.deployer = Deployer(cloud)
        self.worker_role = self.make_role("writes", ["dynamodb:*", "sqs:*", "logs:*"])
        for name, seconds in (("shop", 15), ("hasty", 1)):
            self.deployer.create(HANDLER, Timeout=seconds, Role=self.worker_role, FunctionName=name, ready=False)
        for name in ("shop", "hasty"):
            self.functions.get_waiter("function_active_v2").wait(FunctionName=name, WaiterConfig={"Delay": 1})
        self.table = cloud.client("dynamodb")
        self.table.create_table(
            TableName="orders",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
        self.table.get_waiter("table_exists").wait(TableName="orders")

    def invoke(self, order: str, function: str = "shop", **more: Any) -> Any:
        return self.deployer.invoke(function, {"id": order, **more})[0]

    def stored_now(self, order: str) -> None:
        """Ask with a client whose retries do not wait long."""
        quick = self.cloud.client("dynamodb", config=Config(retries={"mode": "standard"}))
        quick.get_item(TableName="orders", Key={"id": {"S": order}})

    def stored(self, order: str) -> bool:
        return "Item" in self.table.get_item(TableName="orders", Key={"id": {"S": order}})


@pytest.fixture(scope="module")
def opened(cloud: Cloud) -> Shop:
    return Shop(cloud)


@pytest.fixture
def shop(opened: Shop) -> Iterator[Shop]:
    yield opened
    opened.cloud.faults.clear()


# --- the process dies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "printed", "stored"),
    [("start", False, False), ("before", True, False), ("after", True, True), ("end", True, True)],
)
def test_a_process_that_is_killed_leaves_what_was_done_until_then(
    shop: Shop, when: Any, printed: bool, stored: bool
) -> None:
    order, faults = f"crash-{when}", shop.cloud.faults
    fault = faults.crash_run("shop", when) if when in {"start", "end"} else faults.crash("shop", when=when)
    since = shop.cloud.journal.last
    payload = shop.invoke(order)
    assert payload["errorType"] == "Runtime.ExitError"
    assert payload["errorMessage"].endswith("Error: Runtime exited with error: signal: killed")
    (run,) = shop.cloud.journal.events(RunEnded, since=since)
    assert run.outcome == "crash"
    assert ("handler begins" in run.log) is printed
    assert shop.stored(order) is stored
    assert len(shop.cloud.journal.events(WriteDecision, since=since)) == stored
    assert (fault.fired, fault.remaining) == (1, 0)
    assert shop.invoke(order, catch=True) == ("done" if not stored else ["ConditionalCheckFailedException", ANY_TEXT])


class _AnyText:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    __hash__ = None  # type: ignore[assignment]


ANY_TEXT: Any = _AnyText()


# --- a call is late ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("when", "stored"), [("before", False), ("after", True)])
def test_a_call_that_is_late_ends_the_run_with_its_time_out(shop: Shop, when: Any, stored: bool) -> None:
    fault = shop.cloud.faults.delay(60, "dynamodb", "PutItem", when, function="hasty")
    payload = shop.invoke(f"late-{when}", "hasty")
    assert payload["errorType"] == "Sandbox.Timedout"
    # The request of a process that is gone does not arrive later.
    shop.wait_until(lambda: not shop.cloud.busy())
    assert shop.stored(f"late-{when}") is stored
    assert fault.fired == 1


def test_a_held_call_of_a_run_that_timed_out_never_arrives(shop: Shop) -> None:
    hold = shop.cloud.faults.hold("dynamodb", "PutItem", function="hasty")
    since = shop.cloud.journal.last
    assert shop.invoke("held-too-long", "hasty")["errorType"] == "Sandbox.Timedout"
    shop.wait_until(lambda: shop.cloud.faults.held() == 0)
    shop.cloud.faults.release(hold)
    assert not shop.stored("held-too-long")
    assert not [call for call in shop.cloud.journal.events(Call, since=since) if call.action == "PutItem"]


def test_a_slow_worker_is_overtaken_by_the_second_delivery_of_its_message(shop: Shop) -> None:
    url = shop.queue("slow", VisibilityTimeout="20")
    shop.map(url, FunctionName="shop", BatchSize=1)
    fault = shop.cloud.faults.slow("shop")
    since = shop.cloud.journal.last
    (message,) = shop.send(url, {"id": "slow", "catch": True})
    assert shop.cloud.faults.wait_until_held(fault)
    shop.cloud.skip(21)
    shop.wait_until(lambda: shop.ended(url) == 2)
    received = shop.events(MessageReceived, url)
    assert [(one.message_id, one.receive_count) for one in received] == [(message, 1), (message, 2)]
    decided = [(one.accepted, one.caller.request_id) for one in shop.cloud.journal.events(WriteDecision, since=since)]
    first, second = (one.caller.request_id for one in received)
    assert decided == [(True, second), (False, first)]


# --- a call fails -----------------------------------------------------------------------------------------------


def test_a_chosen_error_comes_out_of_the_handler_as_its_own_exception(shop: Shop) -> None:
    shop.cloud.faults.refuse("dynamodb", "PutItem", "AccessDeniedException", "no", function="shop")
    payload = shop.invoke("refused", retries=PATIENT)
    assert payload["errorType"] == "ClientError"
    assert payload["errorMessage"] == (
        "An error occurred (AccessDeniedException) when calling the PutItem operation: no"
    )
    assert any("/var/task/app.py" in line for line in payload["stackTrace"])
    assert not shop.stored("refused")


EXHAUSTED = {
    "throttle": ("ThrottlingException", "An error occurred (ThrottlingException) when calling the PutItem operation"),
    "server_error": (
        "InternalServerError",
        "An error occurred (InternalServerError) when calling the PutItem operation",
    ),
    "lose_request": ("ConnectionClosedError", "Connection was closed before we received a valid response"),
    "lose_answer": ("ConnectionClosedError", "Connection was closed before we received a valid response"),
}


@pytest.mark.parametrize(
    ("fault", "mode"),
    [*((fault, "standard") for fault in EXHAUSTED), ("throttle", "legacy")],
)
def test_retries_that_are_used_up_reach_the_handler_and_one_less_does_not(shop: Shop, fault: str, mode: str) -> None:
    retries = {"mode": mode, "total_max_attempts": 2}
    arm = getattr(shop.cloud.faults, fault)
    armed = arm("dynamodb", "PutItem", times=1, function="shop")
    lost_answer = fault == "lose_answer"
    # The retry of a write that was done meets its own success.
    once = shop.invoke(f"once-{fault}-{mode}", retries=retries, catch=True)
    assert once == (["ConditionalCheckFailedException", ANY_TEXT] if lost_answer else "done")
    assert armed.fired == 1
    if lost_answer:
        # The second attempt is refused, and its answer is lost too.
        assert shop.stored(f"once-{fault}-{mode}")
    used_up = arm("dynamodb", "PutItem", times=2, function="shop")
    kind, text = shop.invoke(f"used-up-{fault}-{mode}", retries=retries, catch=True)
    code, sentence = EXHAUSTED[fault]
    assert kind in {code, "ClientError"}
    assert text.startswith(sentence), text
    if kind != "ConnectionClosedError":
        assert "(reached max retries: 1)" in text
    assert used_up.fired == 2
    assert shop.stored(f"used-up-{fault}-{mode}") is lost_answer


# --- whom a fault hits ------------------------------------------------------------------------------------------


def test_a_fault_can_be_limited_to_a_role_a_kind_of_caller_and_a_table(shop: Shop) -> None:
    faults = shop.cloud.faults
    limits = [{"role": "stage"}, {"role": shop.worker_role}, {"role": "writes"}, {"caller": "workflow"}]
    limits += [{"caller": "function"}, {"resource": "orders"}]
    armed = [faults.refuse("dynamodb", "PutItem", "Boom", **limit) for limit in limits]
    shop.invoke("limits-1", catch=True)
    faults.cancel(armed[2])
    shop.invoke("limits-2", catch=True)
    assert [fault.fired for fault in armed] == [0, 1, 0, 0, 1, 0]
    with pytest.raises(shop.table.exceptions.ClientError, match="Boom"):
        shop.table.put_item(TableName="orders", Item={"id": {"S": "learner"}})
    assert armed[5].fired == 1


# --- messages ---------------------------------------------------------------------------------------------------


def test_a_copy_is_a_new_message_with_the_same_body_and_attributes(shop: Shop) -> None:
    url = shop.queue("copies")
    attributes = {"colour": {"DataType": "String", "StringValue": "red"}}
    (first,) = shop.send(url, {"id": "copied"}, MessageAttributes=attributes)
    copies = shop.cloud.faults.send_copy("copies", 2)
    assert len({first, *copies}) == 3
    messages = shop.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])["Messages"]
    assert {message["MessageId"] for message in messages} == {first, *copies}
    assert {(message["Body"], message["MessageAttributes"]["colour"]["StringValue"]) for message in messages} == {
        (json.dumps({"id": "copied"}), "red")
    }


def test_a_copy_of_a_batch_is_its_last_message(shop: Shop) -> None:
    url = shop.queue("batch-copies")
    entries = [{"Id": name, "MessageBody": name} for name in ("first", "last")]
    shop.sqs.send_message_batch(QueueUrl=url, Entries=entries)
    shop.cloud.faults.send_copy("batch-copies")
    messages = shop.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert sorted(message["Body"] for message in messages) == ["first", "last", "last"]


def test_a_poison_message_ends_in_the_dead_letter_queue_under_its_id(shop: Shop) -> None:
    dead = shop.queue("poisoned-dead")
    policy = {"deadLetterTargetArn": shop.arn(dead), "maxReceiveCount": 2}
    url = shop.queue("poisoned", VisibilityTimeout="20", RedrivePolicy=policy)
    shop.map(url, FunctionName="shop", BatchSize=1)
    message = shop.cloud.faults.send_poison("poisoned")
    for count in (1, 2):
        shop.wait_until(lambda count=count: shop.ended(url) == count)
        shop.cloud.settle()
        shop.cloud.skip(21)
    shop.wait_until(lambda: shop.count(dead) == 1)
    assert [one.message_id for one in shop.events(MessageDeadLettered, url)] == [message]
    (left,) = shop.sqs.receive_message(QueueUrl=dead)["Messages"]
    assert (left["MessageId"], left["Body"]) == (message, POISON)


@pytest.mark.parametrize("batch", [False, True])
def test_a_late_message_arrives_when_its_time_has_come(shop: Shop, batch: bool) -> None:
    name = f"late-{batch}"
    url = shop.queue(name)
    fault = shop.cloud.faults.late_message(name, 60)
    if batch:
        shop.sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": "a", "MessageBody": "late"}])
    else:
        shop.sqs.send_message(QueueUrl=url, MessageBody="late")
    shop.sqs.send_message(QueueUrl=url, MessageBody="in time")
    assert (shop.count(url), shop.count(url, "Delayed"), fault.fired) == (1, 1, 1)
    shop.cloud.skip(61)
    assert shop.count(url) == 2


def test_two_calls_that_are_late_do_not_let_each_other_go(shop: Shop) -> None:
    fault = shop.cloud.faults.delay(30, "dynamodb", "GetItem", times=2)
    done: list[int] = []
    threads = [threading.Thread(target=lambda n=n: done.append(n * shop.stored("x"))) for n in range(2)]
    for thread in threads:
        thread.start()
    shop.wait_until(lambda: fault.fired == 2)
    assert done == []
    shop.cloud.faults.cancel(fault)
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()


def test_what_fired_is_in_the_history_with_its_count_and_subject(shop: Shop) -> None:
    since = shop.cloud.journal.last
    fault = shop.cloud.faults.throttle("dynamodb", "GetItem", times=2, resource="orders")
    shop.stored_now("a")
    assert fault in shop.cloud.faults.history()
    assert fault not in shop.cloud.faults.armed()
    assert (fault.fired, fault.remaining) == (2, 0)
    events = shop.cloud.journal.events(FaultFired, since=since)
    assert {event.subject for event in events} == {'orders {"id":{"S":"a"}}'}
