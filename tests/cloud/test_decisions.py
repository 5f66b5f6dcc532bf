from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.journal import WriteDecision

ABSENT = "attribute_not_exists(id)"
FOUR = {"id": {"S": "a"}, "quantity": {"N": "4"}}
ONE = {"id": {"S": "a"}, "quantity": {"N": "1"}}


@pytest.fixture
def orders(cloud: Cloud) -> Iterator[Any]:
    client = cloud.client("dynamodb")
    client.create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    client.get_waiter("table_exists").wait(TableName="orders")
    yield client
    client.delete_table(TableName="orders")


def decisions(cloud: Cloud, since: int) -> list[WriteDecision]:
    return cloud.journal.events(WriteDecision, since=since)


def test_an_accepted_write_shows_nothing_before_and_the_item_after(cloud: Cloud, orders: Any) -> None:
    since = cloud.journal.last
    orders.put_item(TableName="orders", Item=FOUR, ConditionExpression=ABSENT)
    (decision,) = decisions(cloud, since)
    assert (decision.accepted, decision.condition, decision.before, decision.after) == (True, ABSENT, None, FOUR)
    assert (decision.table, decision.key, decision.action) == ("orders", {"id": {"S": "a"}}, "PutItem")


def test_a_refused_write_shows_the_same_item_before_and_after(cloud: Cloud, orders: Any) -> None:
    orders.put_item(TableName="orders", Item=FOUR)
    since = cloud.journal.last
    with pytest.raises(ClientError) as refusal:
        orders.put_item(
            TableName="orders",
            Item=ONE,
            ConditionExpression=ABSENT,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert refusal.value.response["Error"] == {
        "Code": "ConditionalCheckFailedException",
        "Message": "The conditional request failed",
    }
    assert refusal.value.response["Item"] == FOUR
    (decision,) = decisions(cloud, since)
    assert (decision.accepted, decision.before, decision.after) == (False, FOUR, FOUR)
    assert decision.error == "ConditionalCheckFailedException"


def test_an_unconditional_overwrite_is_visible(cloud: Cloud, orders: Any) -> None:
    since = cloud.journal.last
    orders.put_item(TableName="orders", Item=FOUR)
    orders.put_item(TableName="orders", Item=ONE)
    first, second = decisions(cloud, since)
    assert (first.condition, second.before, second.after) == (None, FOUR, ONE)


def test_updates_deletes_batches_and_transactions_are_decisions_too(cloud: Cloud, orders: Any) -> None:
    since = cloud.journal.last
    key = {"id": {"S": "a"}}
    orders.update_item(
        TableName="orders",
        Key=key,
        UpdateExpression="ADD attempts :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    orders.batch_write_item(RequestItems={"orders": [{"PutRequest": {"Item": {"id": {"S": "b"}}}}]})
    orders.transact_write_items(TransactItems=[{"Delete": {"TableName": "orders", "Key": key}}])
    orders.delete_item(TableName="orders", Key={"id": {"S": "b"}})
    assert [(d.action, d.accepted, d.after) for d in decisions(cloud, since)] == [
        ("UpdateItem", True, {"id": {"S": "a"}, "attempts": {"N": "1"}}),
        ("PutItem", True, {"id": {"S": "b"}}),
        ("DeleteItem", True, None),
        ("DeleteItem", True, None),
    ]


def test_a_write_to_no_table_is_no_decision(cloud: Cloud) -> None:
    since = cloud.journal.last
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        cloud.client("dynamodb").put_item(TableName="nowhere", Item=FOUR)
    assert decisions(cloud, since) == []


def test_one_of_many_concurrent_conditional_writes_wins(cloud: Cloud, orders: Any) -> None:
    """moto alone has no lock here: two winners were seen (aws-facts)."""
    since = cloud.journal.last
    outcomes: list[str] = []
    barrier = threading.Barrier(8)

    def write(number: int) -> None:
        client = cloud.client("dynamodb")
        barrier.wait()
        for order in range(20):
            item = {"id": {"S": f"race-{order}"}, "by": {"N": str(number)}}
            with contextlib.suppress(client.exceptions.ConditionalCheckFailedException):
                client.put_item(TableName="orders", Item=item, ConditionExpression=ABSENT)
                outcomes.append(f"race-{order}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == sorted(f"race-{order}" for order in range(20))
    assert len(decisions(cloud, since)) == 160


def test_concurrent_counters_lose_nothing(cloud: Cloud, orders: Any) -> None:
    def add() -> None:
        client = cloud.client("dynamodb")
        for _ in range(25):
            client.update_item(
                TableName="orders",
                Key={"id": {"S": "counter"}},
                UpdateExpression="ADD n :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    threads = [threading.Thread(target=add) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    item = orders.get_item(TableName="orders", Key={"id": {"S": "counter"}}, ConsistentRead=True)["Item"]
    assert item["n"] == {"N": "150"}
