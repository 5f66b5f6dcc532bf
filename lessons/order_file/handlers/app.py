import json
import os
from urllib.parse import unquote_plus

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
LARGEST_FILE = 1000
s3 = boto3.client("s3")
dynamodb = boto3.client("dynamodb")


class BadOrder(ValueError):
    pass


def handler(event, context):
    waiting = []
    for message in event["Records"]:
        try:
            handle(message["body"])
        except Exception as problem:  # one broken message must not stop the others
            print("WAITING", type(problem).__name__, problem)
            waiting.append({"itemIdentifier": message["messageId"]})
    return {"batchItemFailures": waiting}


def handle(text):
    event = json.loads(text)
    if not isinstance(event, dict):
        raise BadOrder(f"message: {text[:100]}")
    if event.get("Event") == "s3:TestEvent":
        print("TEST EVENT")
        return
    for record in event["Records"]:
        key = unquote_plus(record["s3"]["object"]["key"])
        order = read_order(record["s3"]["bucket"]["name"], key)
        print("STORED" if store_once(order) else "DUPLICATE", key)


def read_order(bucket, key):
    parts = key.split("/")
    if len(parts) != 3 or not all(parts):
        raise BadOrder(f"key: {key}")
    _folder, customer, number = parts
    file = s3.get_object(Bucket=bucket, Key=key)
    if file["ContentLength"] > LARGEST_FILE:
        raise BadOrder(f"bytes: {file['ContentLength']}, key: {key}")
    try:
        order = json.loads(file["Body"].read())
    except ValueError as problem:
        raise BadOrder(f"not JSON, key: {key}") from problem
    if not isinstance(order, dict) or set(order) != {"id", "quantity"}:
        raise BadOrder(f"fields: {order}, key: {key}")
    if order["id"] != f"{customer}/{number}":
        raise BadOrder(f"id: {order['id']!r}, key: {key}")
    # type() and not isinstance(): for Python, True is an int.
    if type(order["quantity"]) is not int or not 1 <= order["quantity"] <= 10:
        raise BadOrder(f"quantity: {order['quantity']!r}, key: {key}")
    return order


def store_once(order):
    total = order["quantity"] * 250 + 100
    item = {
        "id": {"S": order["id"]},
        "quantity": {"N": str(order["quantity"])},
        "total_cents": {"N": str(total)},
    }
    try:
        dynamodb.put_item(
            TableName=ORDERS,
            Item=item,
            ConditionExpression="attribute_not_exists(id)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as refusal:
        if refusal.response["Item"] != item:
            raise BadOrder(f"stored with other details: {order['id']}") from refusal
        return False
    return True
