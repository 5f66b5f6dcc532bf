"""Runs whose calls are let go one by one: real workers, real requests, the moment chosen here."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import Call, MessageAcknowledged, MessageReturned, RunEnded, RunStarted
from helpers.cloud.schedules import ConductedRun, Conductor, Unsteady
from tests.cloud.deploying import Deployer, eventually

ADDS = """
    import json, boto3
    client = boto3.client("dynamodb")
    def handler(event, context):
        [record] = event["Records"]
        key = {"id": {"S": json.loads(record["body"])["id"]}}
        item = client.get_item(TableName="counts", Key=key).get("Item")
        count = int(item["count"]["N"]) if item else 0
        client.put_item(TableName="counts", Item={**key, "count": {"N": str(count + 1)}})
        return count + 1
"""

AT_ONCE = """
    import threading, boto3
    client = boto3.client("dynamodb")
    def handler(event, context):
        call = lambda: client.get_item(TableName="counts", Key={"id": {"S": "x"}})
        threads = [threading.Thread(target=call) for _ in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
"""

STUBBORN = """
    import time, boto3
    client = boto3.client("dynamodb")
    def handler(event, context):
        client.get_item(TableName="counts", Key={"id": {"S": "x"}})
        time.sleep(60)
"""


@pytest.fixture(scope="module")
def deployed(cloud: Cloud) -> dict[str, str]:
    deployer = Deployer(cloud)
    rights = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}]}
    cloud.client("iam").put_role_policy(RoleName="deployed", PolicyName="all", PolicyDocument=json.dumps(rights))
    cloud.client("dynamodb").create_table(
        TableName="counts",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    cloud.client("dynamodb").get_waiter("table_exists").wait(TableName="counts")
    cloud.client("sqs").create_queue(QueueName="jobs", Attributes={"VisibilityTimeout": "30"})
    sources = {"adds": ADDS, "at-once": AT_ONCE, "stubborn": STUBBORN}
    return {name: deployer.create(source, Timeout=30) for name, source in sources.items()}


@pytest.fixture
def conductor(cloud: Cloud, deployed: dict[str, str]) -> Iterator[Conductor]:
    with Conductor(cloud, "jobs", deployed["adds"]) as conductor:
        yield conductor
        for message in conductor.waiting():
            conductor.discard(message)


def send(cloud: Cloud, order: str) -> None:
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName="jobs")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps({"id": order}))


def count(cloud: Cloud, order: str) -> int:
    item = cloud.client("dynamodb").get_item(TableName="counts", Key={"id": {"S": order}}).get("Item")
    return int(item["count"]["N"]) if item else 0


@pytest.mark.parametrize(
    ("schedule", "left"),
    [("aabb", 2), ("abab", 1), ("abba", 1), ("baab", 1), ("baba", 1), ("bbaa", 2)],
)
def test_every_interleaving_of_two_runs_can_be_chosen(cloud, conductor, schedule, left):
    order = f"order-{schedule}"
    send(cloud, order)
    send(cloud, order)
    runs = {name: conductor.receive() for name in "ab"}
    for run in runs.values():
        conductor.wait(run)
        assert (run.standing.action, run.calls) == ("GetItem", 1)
    for name in schedule:
        conductor.let_go(runs[name])
    assert all(run.ended for run in runs.values())
    assert count(cloud, order) == left
    for run in runs.values():
        conductor.acknowledge(run)
        conductor.forget(run)
    assert conductor.waiting() == []


def test_nothing_of_a_run_that_was_cut_happens_and_its_message_comes_again(cloud, conductor):
    send(cloud, "cut")
    before = cloud.journal.last
    run = conductor.receive()
    conductor.wait(run)
    conductor.let_go(run)
    assert run.standing.action == "PutItem"
    conductor.cut(run)
    assert count(cloud, "cut") == 0
    first = cloud.journal.events(RunEnded, since=before)[0]
    assert (first.request_id, first.outcome) == (run.request_id, "crash")
    assert conductor.holds(run)
    conductor.end_visibility(run)
    again = conductor.receive()
    assert (again.message.id, again.message.approximate_receive_count) == (run.message.id, 2)
    conductor.wait(again)
    while not again.ended:
        conductor.let_go(again)
    conductor.acknowledge(again)
    assert not conductor.holds(again)
    assert count(cloud, "cut") == 1
    acknowledged = cloud.journal.events(MessageAcknowledged, since=before)
    assert [(event.message_id, event.caller.request_id) for event in acknowledged] == [
        (run.message.id, again.request_id)
    ]


def test_a_killed_process_leaves_what_its_last_call_did(cloud, conductor):
    send(cloud, "killed")
    run = conductor.receive()
    conductor.wait(run)
    conductor.let_go(run)
    conductor.let_go(run, then_kill=True)
    assert run.result.outcome == "crash"
    assert count(cloud, "killed") == 1
    before = cloud.journal.last
    conductor.give_back(run)
    assert [event.reason for event in cloud.journal.events(MessageReturned, since=before)] == ["crash"]
    conductor.discard(run.message)


def test_calls_of_others_do_not_wait(cloud, conductor):
    send(cloud, "others")
    run = conductor.receive()
    conductor.wait(run)
    assert count(cloud, "others") == 0
    conductor.cut(run)
    conductor.discard(run.message)


def test_at_the_end_nobody_stands_and_no_gate_is_left(cloud, deployed):
    gates, hooks = list(cloud.boundary.gates), list(cloud.boundary.after_answer)
    send(cloud, "left")
    with Conductor(cloud, "jobs", deployed["adds"]) as conductor:
        run = conductor.receive()
        conductor.wait(run)
        conductor.discard(run.message)
    assert run.ended
    assert count(cloud, "left") == 0
    assert (cloud.boundary.gates, cloud.boundary.after_answer) == (gates, hooks)
    cloud.settle()


def drive(conductor: Conductor, run: ConductedRun) -> None:
    conductor.wait(run)
    while not run.ended:
        conductor.let_go(run)


def test_a_run_that_neither_calls_nor_ends_is_given_up(cloud, deployed):
    send(cloud, "stubborn")
    with Conductor(cloud, "jobs", deployed["stubborn"], patience=1.5) as conductor:
        run = conductor.receive()
        with pytest.raises(Unsteady, match="slow"):
            drive(conductor, run)
        conductor.discard(run.message)
    assert run.result.outcome == "crash"


def test_calls_that_a_run_makes_at_the_same_time_have_no_order_to_choose(cloud, deployed):
    send(cloud, "at-once")
    with Conductor(cloud, "jobs", deployed["at-once"]) as conductor:
        run = conductor.receive()
        eventually(lambda: run.crowded, cloud)
        with pytest.raises(Unsteady, match="parallel"):
            conductor.wait(run)
        conductor.discard(run.message)
    assert run.ended


def test_what_happens_to_chosen_names_is_written_aside(cloud, deployed):
    heard = []
    unsubscribe = cloud.journal.subscribe(heard.append)
    before = cloud.journal.last
    with cloud.journal.aside({"jobs", deployed["adds"], "counts"}) as aside:
        send(cloud, "aside")
        with Conductor(cloud, "jobs", deployed["adds"]) as conductor:
            run = conductor.receive()
            drive(conductor, run)
            conductor.acknowledge(run)
    unsubscribe()
    assert [event.function for event in aside.events(RunStarted)] == [deployed["adds"]]
    assert {event.action for event in aside.events(Call)} == {"SendMessage", "GetItem", "PutItem"}
    mine = cloud.journal.events(since=before)
    assert {getattr(event, "action", "") for event in mine} <= {"GetQueueUrl"}
    assert [event.number for event in heard] == [event.number for event in mine]
    send(cloud, "not aside")
    assert "SendMessage" in {event.action for event in cloud.journal.events(Call, since=before)}
