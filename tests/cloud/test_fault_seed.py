"""Faults by rate: which calls they hit follows from the seed and from what a call is about, never from threads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.journal import FaultFired

ORDERS = 150


@pytest.fixture(scope="module")
def table(cloud: Cloud) -> Any:
    options = Config(retries={"mode": "standard", "total_max_attempts": 1}, max_pool_connections=20)
    client = cloud.client("dynamodb", config=options)
    client.create_table(
        TableName="seeded",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    client.get_waiter("table_exists").wait(TableName="seeded")
    return client


@pytest.fixture(autouse=True)
def no_faults_left(cloud: Cloud) -> Iterator[None]:
    yield
    cloud.faults.clear()


def hits(
    cloud: Cloud, table: Any, seed: int | None, rate: float = 0.2, order_of_calls: int = 0
) -> set[tuple[int, int]]:
    """Write each order twice from many threads. Returns the pairs (order, attempt) that were hit."""
    if seed is not None:
        cloud.faults.seed(seed)
    fault = cloud.faults.server_error("dynamodb", "PutItem", rate=rate)

    def write(number: int) -> set[tuple[int, int]]:
        hit = set()
        for attempt in range(2):
            try:
                table.put_item(TableName="seeded", Item={"id": {"S": str(number)}, "n": {"N": str(attempt)}})
            except ClientError:
                hit.add((number, attempt))
        return hit

    numbers = list(range(ORDERS))
    random.Random(order_of_calls).shuffle(numbers)
    with ThreadPoolExecutor(8) as threads:
        found = set().union(*threads.map(write, numbers))
    cloud.faults.cancel(fault)
    assert fault.fired == len(found)
    return found


def test_the_faults_begin_with_the_seed_of_the_account(cloud: Cloud, table: Any) -> None:
    # The first test of this file: nothing has chosen another seed yet.
    assert hits(cloud, table, None) == hits(cloud, table, 42)


def test_the_same_seed_hits_the_same_calls_in_any_order_and_another_seed_others(cloud: Cloud, table: Any) -> None:
    first = hits(cloud, table, 7, order_of_calls=1)
    assert hits(cloud, table, 7, order_of_calls=2) == first
    assert hits(cloud, table, 8) != first
    # 300 draws at 0.2: 60 on average, and four standard deviations are 28.
    assert 32 <= len(first) <= 88
    assert {attempt for _, attempt in first} == {0, 1}


def test_a_rate_of_one_hits_each_call_until_it_is_cancelled(cloud: Cloud, table: Any) -> None:
    fault = cloud.faults.server_error("dynamodb", "PutItem", rate=1)
    for count in (1, 2, 3):
        with pytest.raises(ClientError):
            table.put_item(TableName="seeded", Item={"id": {"S": "always"}})
        assert (fault.fired, fault.remaining) == (count, None)
    cloud.faults.cancel(fault)
    table.put_item(TableName="seeded", Item={"id": {"S": "always"}})
    assert fault.fired == 3


def same(call: str, *variants: dict[str, Any]) -> Any:
    return pytest.param(call, variants, id=call)


@pytest.mark.parametrize(
    ("action", "variants"),
    [
        same(
            "PutItem",
            {"TableName": "seeded", "Item": {"id": {"S": "a"}, "n": {"N": "1"}}},
            {"TableName": "seeded", "Item": {"id": {"S": "a"}, "n": {"N": "2"}}, "ReturnValues": "ALL_OLD"},
        ),
        same(
            "UpdateItem",
            {"TableName": "seeded", "Key": {"id": {"S": "a"}}},
            {"TableName": "seeded", "Key": {"id": {"S": "a"}}, "UpdateExpression": "SET n = n"},
        ),
        same(
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": "seeded", "Item": {"id": {"S": "a"}}}}]},
            {
                "TransactItems": [{"Put": {"TableName": "seeded", "Item": {"id": {"S": "a"}, "n": {"N": "2"}}}}],
                "ClientRequestToken": "one of many",
            },
        ),
        same(
            "BatchWriteItem",
            {"RequestItems": {"seeded": [{"PutRequest": {"Item": {"id": {"S": "a"}}}}]}},
            {"RequestItems": {"seeded": [{"PutRequest": {"Item": {"id": {"S": "a"}, "n": {"N": "2"}}}}]}},
        ),
        same(
            "BatchGetItem",
            {"RequestItems": {"seeded": {"Keys": [{"id": {"S": "a"}}]}}},
            {"RequestItems": {"seeded": {"Keys": [{"id": {"S": "a"}}], "ConsistentRead": True}}},
        ),
    ],
)
def test_what_a_call_is_about_is_its_table_and_its_key(
    cloud: Cloud, table: Any, action: str, variants: tuple[dict[str, Any], ...]
) -> None:
    since = cloud.journal.last
    cloud.faults.server_error("dynamodb", action, rate=1, resource="seeded")
    for parameters in variants:
        with pytest.raises(ClientError):
            table._make_api_call(action, parameters)
    fired = cloud.journal.events(FaultFired, since=since)
    assert [event.subject for event in fired] == ['seeded {"id":{"S":"a"}}'] * len(variants)


def test_what_a_message_is_about_is_its_queue_and_body_whatever_its_id_and_handle(cloud: Cloud) -> None:
    sqs = cloud.client("sqs", config=Config(retries={"total_max_attempts": 1}))
    url = sqs.create_queue(QueueName="seeded")["QueueUrl"]
    for _ in range(2):
        sqs.send_message(QueueUrl=url, MessageBody="the same order")
    messages = [sqs.receive_message(QueueUrl=url)["Messages"][0] for _ in range(2)]
    since = cloud.journal.last
    cloud.faults.server_error("sqs", ("SendMessage", "DeleteMessage"), rate=1, resource="seeded")
    for message in messages:
        with pytest.raises(ClientError):
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    with pytest.raises(ClientError):
        sqs.send_message(QueueUrl=url, MessageBody="the same order")
    assert len({event.subject for event in cloud.journal.events(FaultFired, since=since)}) == 1
    with pytest.raises(ClientError):
        sqs.send_message(QueueUrl=url, MessageBody="another order")
    assert len({event.subject for event in cloud.journal.events(FaultFired, since=since)}) == 2
