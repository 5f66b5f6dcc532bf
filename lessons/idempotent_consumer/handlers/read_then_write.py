import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    [record] = event["Records"]
    job = json.loads(record["body"])
    key = {"id": {"S": job["id"]}}
    stored = dynamodb.get_item(TableName=ORDERS, Key=key, ConsistentRead=True)
    if "Item" in stored:
        return {**job, "duplicate": True}
    # Between the read and this write, another worker can read the same absence.
    dynamodb.put_item(TableName=ORDERS, Item={**key, "quantity": {"N": str(job["quantity"])}})
    return {**job, "duplicate": False}
