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
    if failed:
        raise ValueError(failed)  # the whole batch returns, finished jobs too


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
