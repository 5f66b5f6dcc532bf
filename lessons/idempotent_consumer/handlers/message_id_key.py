import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    [record] = event["Records"]
    job = json.loads(record["body"])
    # The key names the delivery, not the business: a copy that is sent again has another message id.
    item = {
        "id": {"S": record["messageId"]},
        "order": {"S": job["id"]},
        "quantity": {"N": str(job["quantity"])},
    }
    try:
        dynamodb.put_item(TableName=ORDERS, Item=item, ConditionExpression="attribute_not_exists(id)")
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return {**job, "duplicate": True}
    return {**job, "duplicate": False}
