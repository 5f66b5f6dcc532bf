import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    failed = []
    for record in event["Records"]:
        try:
            store(json.loads(record["body"]))
        except ValueError:
            failed.append(record["messageId"])
    # Only these messages return; the others are acknowledged.
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def store(job):
    print("JOB", job["id"])
    quantity = {"N": str(int(job["quantity"]))}
    try:
        dynamodb.put_item(
            TableName=ORDERS,
            Item={"id": {"S": job["id"]}, "quantity": quantity},
            ConditionExpression="attribute_not_exists(id)",
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        print("DUPLICATE", job["id"])
