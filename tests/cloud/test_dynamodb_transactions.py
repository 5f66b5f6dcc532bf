"""Transactions of DynamoDB: all or nothing, a reason for each action, once for each token.

Sources: DynamoDB API Reference, "TransactWriteItems", "TransactGetItems", "TransactionCanceledException"; DynamoDB
Developer Guide, "Amazon DynamoDB Transactions: How it works".
"""

from __future__ import annotations

from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.journal import WriteDecision

SKIPPED = {"Code": "None"}
ABSENT = "attribute_not_exists(id)"
NO_TYPE = "An operand in the update expression has an incorrect data type"


@pytest.fixture(scope="module")
def client(cloud: Cloud) -> Any:
    unchecked = Config(parameter_validation=False, retries={"total_max_attempts": 1})
    client = cloud.client("dynamodb", config=unchecked)
    for name in ("orders", "stock"):
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        client.get_waiter("table_exists").wait(TableName=name)
    return client


@pytest.fixture(autouse=True)
def items(client: Any) -> None:
    """Stock of three, and no order."""
    client.put_item(TableName="stock", Item={"id": {"S": "tea"}, "left": {"N": "3"}, "name": {"S": "Tea"}})
    client.delete_item(TableName="orders", Key={"id": {"S": "o"}})


def order(**members: Any) -> dict[str, Any]:
    return {"Put": {"TableName": "orders", "Item": {"id": {"S": "o"}}, "ConditionExpression": ABSENT, **members}}


def take(count: int = 1, **members: Any) -> dict[str, Any]:
    changes = {
        "TableName": "stock",
        "Key": {"id": {"S": "tea"}},
        "UpdateExpression": "SET #left = #left - :count",
        "ConditionExpression": "#left >= :count",
        "ExpressionAttributeNames": {"#left": "left"},
        "ExpressionAttributeValues": {":count": {"N": str(count)}},
    }
    return {"Update": {**changes, **members}}


def left(client: Any) -> str:
    return str(client.get_item(TableName="stock", Key={"id": {"S": "tea"}}, ConsistentRead=True)["Item"]["left"]["N"])


def ordered(client: Any) -> bool:
    return "Item" in client.get_item(TableName="orders", Key={"id": {"S": "o"}}, ConsistentRead=True)


def refused(call: Any, **members: Any) -> dict[str, Any]:
    with pytest.raises(ClientError) as problem:
        call(**members)
    response: dict[str, Any] = problem.value.response
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return response


def test_the_same_token_has_one_effect_for_ten_minutes(cloud: Cloud, client: Any) -> None:
    """ "ClientRequestToken … valid for 10 minutes after the first request that uses it is completed"."""
    request = {"TransactItems": [take()], "ClientRequestToken": "token-1"}
    client.transact_write_items(**request)
    since = cloud.journal.last
    client.transact_write_items(**request)
    cloud.skip(9 * 60)
    client.transact_write_items(**request)
    assert left(client) == "2"
    assert cloud.journal.events(WriteDecision, since=since) == [], "a repeated request decides nothing"
    cloud.skip(61)
    client.transact_write_items(**request)
    assert left(client) == "1"


def test_other_content_under_a_used_token_is_refused(client: Any) -> None:
    client.transact_write_items(TransactItems=[take()], ClientRequestToken="token-2")
    response = refused(client.transact_write_items, TransactItems=[take(2)], ClientRequestToken="token-2")
    assert response["Error"]["Code"] == "IdempotentParameterMismatchException"
    assert left(client) == "2"


def test_the_token_of_a_cancelled_transaction_is_free(client: Any) -> None:
    refused(client.transact_write_items, TransactItems=[take(9)], ClientRequestToken="token-3")
    client.transact_write_items(TransactItems=[take(1)], ClientRequestToken="token-3")
    assert left(client) == "2"


def test_boto3_makes_a_new_token_for_each_call(cloud: Cloud, client: Any) -> None:
    """So a message that is delivered again is not covered by it."""
    checked = cloud.client("dynamodb")
    checked.transact_write_items(TransactItems=[take()])
    checked.transact_write_items(TransactItems=[take()])
    assert left(client) == "1"


def test_a_condition_that_fails_cancels_all_and_says_which(cloud: Cloud, client: Any) -> None:
    since = cloud.journal.last
    actions = [order(), take(9, ReturnValuesOnConditionCheckFailure="ALL_OLD")]
    response = refused(client.transact_write_items, TransactItems=actions)
    assert response["Error"] == {
        "Code": "TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed]",
    }
    item = {"id": {"S": "tea"}, "left": {"N": "3"}, "name": {"S": "Tea"}}
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed", "Item": item}
    assert response["CancellationReasons"] == [SKIPPED, failed]
    assert (ordered(client), left(client)) == (False, "3")
    decisions = cloud.journal.events(WriteDecision, since=since)
    assert [(each.table, each.accepted, each.reason, each.before == each.after) for each in decisions] == [
        ("orders", False, "None", True),
        ("stock", False, "ConditionalCheckFailed", True),
    ]


def test_every_condition_that_fails_is_told_and_the_item_only_to_those_who_ask(client: Any) -> None:
    client.put_item(TableName="orders", Item={"id": {"S": "o"}})
    response = refused(client.transact_write_items, TransactItems=[order(), take(9)])
    assert [reason["Code"] for reason in response["CancellationReasons"]] == ["ConditionalCheckFailed"] * 2
    assert not any("Item" in reason for reason in response["CancellationReasons"])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {
                "UpdateExpression": "ADD #left :count, #name :count",
                "ExpressionAttributeNames": {"#left": "left", "#name": "name"},
            },
            NO_TYPE,
        ),
        (
            {"UpdateExpression": "SET id = :count"},
            "One or more parameter values were invalid: Cannot update attribute id. This attribute is part of the key",
        ),
        ({"Key": {"id": {"N": "1"}}}, "The provided key element does not match the schema"),
    ],
)
def test_an_action_that_cannot_be_done_cancels_all(client: Any, wrong: dict[str, Any], sentence: str) -> None:
    """Cancellation code ValidationError; also when actions before it had been done."""
    response = refused(client.transact_write_items, TransactItems=[order(), take(1, **wrong)])
    assert response["CancellationReasons"] == [SKIPPED, {"Code": "ValidationError", "Message": sentence}]
    assert (ordered(client), left(client)) == (False, "3")


@pytest.mark.parametrize("kind", ["ConditionCheck", "Delete"])
def test_a_check_and_a_deletion_take_part(client: Any, kind: str) -> None:
    key = {"TableName": "stock", "Key": {"id": {"S": "tea"}}, "ConditionExpression": "attribute_exists(id)"}
    client.transact_write_items(TransactItems=[order(), {kind: key}])
    assert ordered(client)
    missing = {**key, "Key": {"id": {"S": "coffee"}}}
    response = refused(client.transact_write_items, TransactItems=[{kind: missing}])
    assert response["CancellationReasons"][0]["Code"] == "ConditionalCheckFailed"


def many(count: int) -> list[dict[str, Any]]:
    return [{"Put": {"TableName": "orders", "Item": {"id": {"S": f"many-{n}"}}}} for n in range(count)]


def test_a_hundred_actions_are_the_most(client: Any) -> None:
    client.transact_write_items(TransactItems=many(100))
    response = refused(client.transact_write_items, TransactItems=many(101))
    assert response["Error"]["Code"] == "ValidationException"
    assert "Member must have length less than or equal to 100" in response["Error"]["Message"]


BIG = {"pad": {"S": "x" * 400_000}}


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ([], "Member must have length greater than or equal to 1"),
        ([order(), order()], "Transaction request cannot include multiple operations on one item"),
        (
            [
                take(),
                {"ConditionCheck": {"TableName": "stock", "Key": {"id": {"S": "tea"}}, "ConditionExpression": ABSENT}},
            ],
            "Transaction request cannot include multiple operations on one item",
        ),
        ([{**order(), **take()}], "TransactItems can only contain one of Check, Put, Update or Delete"),
        (
            [order(ConditionExpression="exists(id)")],
            "Invalid ConditionExpression: Invalid function name; function: exists",
        ),
        (
            [order(ExpressionAttributeValues={":u": {"S": "x"}})],
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
        ),
        ([order(Item={"id": {"S": ""}})], "cannot contain an empty string value. Key: id"),
        (
            [{"Put": {"TableName": "orders", "Item": {"id": {"S": f"big-{n}"}, **BIG}}} for n in range(11)],
            "cannot exceed 4 MB",
        ),
    ],
)
def test_a_transaction_without_sense_is_refused(client: Any, actions: Any, sentence: str) -> None:
    response = refused(client.transact_write_items, TransactItems=actions)
    assert response["Error"]["Code"] == "ValidationException"
    assert response["Error"]["Message"].endswith(sentence)
    assert (ordered(client), left(client)) == (False, "3")


def test_a_table_that_does_not_exist_is_not_found(client: Any) -> None:
    response = refused(client.transact_write_items, TransactItems=[order(), take(TableName="nothing")])
    assert response["Error"] == {"Code": "ResourceNotFoundException", "Message": "Requested resource not found"}
    assert not ordered(client)


def get(name: str, **members: Any) -> dict[str, Any]:
    return {"Get": {"TableName": "stock", "Key": {"id": {"S": name}}, **members}}


def test_items_are_read_together(client: Any) -> None:
    names = {"ProjectionExpression": "#left", "ExpressionAttributeNames": {"#left": "left"}}
    order_read = {"Get": {"TableName": "orders", "Key": {"id": {"S": "o"}}}}
    answer = client.transact_get_items(TransactItems=[get("tea", **names), get("coffee"), order_read])
    assert answer["Responses"] == [{"Item": {"left": {"N": "3"}}}, {}, {}]


@pytest.mark.parametrize(
    ("reads", "code", "sentence"),
    [
        (
            [get("tea"), get("tea")],
            "ValidationException",
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            [get(str(n)) for n in range(101)],
            "ValidationException",
            "Member must have length less than or equal to 100.",
        ),
        ([get("tea", TableName="nothing")], "ResourceNotFoundException", "Requested resource not found"),
        ([get("tea"), get("x", Key={"id": {"N": "1"}})], "TransactionCanceledException", "[None, ValidationError]"),
    ],
)
def test_a_reading_transaction_without_sense_is_refused(client: Any, reads: Any, code: str, sentence: str) -> None:
    response = refused(client.transact_get_items, TransactItems=reads)
    assert response["Error"]["Code"] == code
    assert response["Error"]["Message"].endswith(sentence)
