"""Tables that are being created, and items whose time to live has passed.

Sources: DynamoDB API Reference, "CreateTable", "DescribeTable", "UpdateTimeToLive"; DynamoDB Developer Guide, "Using
time to live (TTL) in DynamoDB" and "Working with expired items and time to live".
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.dynamodb_tables import TTL_DELAY
from helpers.cloud.journal import WriteDecision

YEAR = 365 * 86_400
NAMES = (f"table-{number}" for number in itertools.count(1))


@pytest.fixture(scope="module")
def client(cloud: Cloud) -> Any:
    return cloud.client("dynamodb")


def create(client: Any) -> str:
    name = next(NAMES)
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


def refusal(call: Any, **members: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as problem:
        call(**members)
    return problem.value.response["Error"]["Code"], problem.value.response["Error"]["Message"]


# --- CREATING ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def creating(cloud: Cloud) -> Iterator[None]:
    before, cloud.tables.creating_seconds = cloud.tables.creating_seconds, 5.0
    yield
    cloud.tables.creating_seconds = before


@pytest.mark.usefixtures("creating")
def test_a_new_table_is_creating_and_cannot_be_used_yet(client: Any) -> None:
    name = create(client)
    item = {"id": {"S": "a"}}
    missing = ("ResourceNotFoundException", "Requested resource not found")
    assert refusal(client.put_item, TableName=name, Item=item) == missing
    assert refusal(client.get_item, TableName=name, Key=item) == missing
    assert refusal(client.scan, TableName=name) == missing
    assert refusal(client.batch_write_item, RequestItems={name: [{"PutRequest": {"Item": item}}]}) == missing
    assert refusal(client.transact_write_items, TransactItems=[{"Put": {"TableName": name, "Item": item}}]) == missing
    sentence = f"Attempt to change a resource which is still in use: Table is being created: {name}"
    assert refusal(client.delete_table, TableName=name) == ("ResourceInUseException", sentence)


@pytest.mark.usefixtures("creating")
def test_the_waiter_finds_the_table_active_at_its_first_look(client: Any) -> None:
    name = create(client)
    begun = time.monotonic()
    client.get_waiter("table_exists").wait(TableName=name)
    assert time.monotonic() - begun < 10, "boto3 looks again after 20 seconds"
    client.put_item(TableName=name, Item={"id": {"S": "a"}})


@pytest.mark.usefixtures("creating")
def test_skipped_time_makes_a_table_active(cloud: Cloud, client: Any) -> None:
    name = create(client)
    cloud.skip(5)
    client.put_item(TableName=name, Item={"id": {"S": "a"}})


def test_the_answers_name_the_states(cloud: Cloud, client: Any) -> None:
    client.get_waiter("table_exists").wait(TableName=create(client))
    name = create(client)
    assert client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE"
    assert client.delete_table(TableName=name)["TableDescription"]["TableStatus"] == "DELETING"
    client.get_waiter("table_not_exists").wait(TableName=name)


# --- time to live -----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(client: Any) -> str:
    name = create(client)
    client.get_waiter("table_exists").wait(TableName=name)
    return name


def enable(client: Any, table: str, attribute: str = "until", enabled: bool = True) -> None:
    specification = {"Enabled": enabled, "AttributeName": attribute}
    client.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)


def left(client: Any, table: str) -> set[str]:
    return {item["id"]["S"] for item in client.scan(TableName=table, ConsistentRead=True)["Items"]}


def test_an_expired_item_stays_readable_until_it_is_deleted_days_later(cloud: Cloud, client: Any, table: str) -> None:
    """Within two days, typically: here after 48 hours of the account's clock. A condition must look at the time."""
    enable(client, table)
    now = cloud.clock.now()
    client.put_item(TableName=table, Item={"id": {"S": "a"}, "until": {"N": str(int(now) + 60)}})
    client.put_item(TableName=table, Item={"id": {"S": "later"}, "until": {"N": str(int(now) + 90_000)}})
    cloud.skip(3600)
    assert left(client, table) == {"a", "later"}, "expired, and still there"
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        client.put_item(TableName=table, Item={"id": {"S": "a"}}, ConditionExpression="attribute_not_exists(id)")
    since = cloud.journal.last
    cloud.skip(TTL_DELAY)
    assert left(client, table) == {"later"}
    (decision,) = cloud.journal.events(WriteDecision, since=since)
    assert (decision.action, decision.caller.name, decision.after) == ("DeleteItem", "dynamodb.amazonaws.com", None)


def test_what_is_no_number_or_too_old_is_never_deleted(cloud: Cloud, client: Any, table: str) -> None:
    """ "Items with an expiration time greater than 5 years in the past are not deleted"; the type must be Number."""
    enable(client, table)
    now = int(cloud.clock.now())
    values: dict[str, dict[str, Any]] = {
        "text": {"S": str(now - 60)},
        "old": {"N": str(now - 6 * YEAR)},
        "milliseconds": {"N": str(now * 1000)},
        "recent": {"N": str(now - 4 * YEAR)},
    }
    for name, value in values.items():
        client.put_item(TableName=table, Item={"id": {"S": name}, "until": value})
    client.put_item(TableName=table, Item={"id": {"S": "without"}})
    cloud.skip(2 * TTL_DELAY)
    assert left(client, table) == {"text", "old", "milliseconds", "without"}


def test_a_long_skip_deletes_what_expired_on_the_way(cloud: Cloud, client: Any, table: str) -> None:
    enable(client, table)
    client.put_item(TableName=table, Item={"id": {"S": "a"}, "until": {"N": str(int(cloud.clock.now()) + 60)}})
    cloud.skip(7 * YEAR)
    assert left(client, table) == set()


def test_nothing_is_deleted_while_the_time_to_live_is_off(cloud: Cloud, client: Any, table: str) -> None:
    client.put_item(TableName=table, Item={"id": {"S": "a"}, "until": {"N": "1"}})
    cloud.skip(2 * TTL_DELAY)
    assert left(client, table) == {"a"}


def test_the_time_to_live_changes_once_an_hour(cloud: Cloud, client: Any, table: str) -> None:
    """API Reference, "UpdateTimeToLive": further calls within the hour are a ValidationException."""
    assert refusal(enable, client=client, table=table, enabled=False) == (
        "ValidationException",
        "TimeToLive is already disabled",
    )
    enable(client, table)
    for members, sentence in (
        ({}, "TimeToLive is already enabled"),
        ({"attribute": "other"}, "TimeToLive is active on a different AttributeName: current AttributeName is until"),
        ({"enabled": False}, "Time to live has been modified multiple times within a fixed interval"),
    ):
        assert refusal(enable, client=client, table=table, **members) == ("ValidationException", sentence)
    cloud.skip(3600)
    enable(client, table, enabled=False)
    described = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert described == {"TimeToLiveStatus": "DISABLED"}
