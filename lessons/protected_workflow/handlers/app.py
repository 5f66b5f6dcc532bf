import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
ATTEMPTS = os.environ["ATTEMPTS_TABLE"]
dynamodb = boto3.client("dynamodb")


class InvalidOrder(ValueError):
    pass


class TransientOrderError(RuntimeError):
    pass


def handler(event, context):
    print("WORKFLOW", json.dumps(event, sort_keys=True))
    result = summary(event["id"]) if event.get("stage") == "summary" else store(event)
    print("RESULT", json.dumps(result, sort_keys=True))
    return result


def summary(order_id):
    key = {"id": {"S": order_id}}
    item = dynamodb.get_item(TableName=ORDERS, Key=key, ConsistentRead=True)["Item"]
    return {"id": order_id, "total_cents": int(item["total_cents"]["N"]), "completed": True}


def store(order):
    check(order)
    attempt = count_attempt(order["id"])
    # The mode plays an accident. By default, only the first attempt fails.
    accident = order.get("mode") if attempt <= order.get("failures", 1) else None
    if accident == "flaky":
        raise TransientOrderError(f"before write: {attempt}")
    total = order["quantity"] * 250 + 100
    written = write_once(order["id"], order["quantity"], total)
    if accident == "after-write":
        raise TransientOrderError(f"after write: {attempt}")  # stored, but the workflow does not know
    return {"id": order["id"], "quantity": order["quantity"], "total_cents": total, "duplicate": not written}


def check(order):
    if order.get("mode") == "permanent":
        raise InvalidOrder("mode: permanent")
    if type(order.get("id")) is not str or not order["id"]:
        raise InvalidOrder(f"id: {order.get('id')!r}")
    # type() and not isinstance(): for Python, True is an int.
    if type(order.get("quantity")) is not int or not 1 <= order["quantity"] <= 10:
        raise InvalidOrder(f"quantity: {order.get('quantity')!r}")


def count_attempt(order_id):
    # A diagnostic in a table of its own: it is no business write.
    answer = dynamodb.update_item(
        TableName=ATTEMPTS,
        Key={"id": {"S": order_id}},
        UpdateExpression="ADD attempts :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    return int(answer["Attributes"]["attempts"]["N"])


def write_once(order_id, quantity, total):
    order = {"id": {"S": order_id}, "quantity": {"N": str(quantity)}, "total_cents": {"N": str(total)}}
    try:
        dynamodb.put_item(
            TableName=ORDERS,
            Item=order,
            ConditionExpression="attribute_not_exists(id)",  # judged inside the write itself
            ReturnValuesOnConditionCheckFailure="ALL_OLD",  # a refusal brings the stored order
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as refusal:
        if refusal.response["Item"] != order:
            raise  # same id, other content: a conflict, not a duplicate
        return False
    return True
