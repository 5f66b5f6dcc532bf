import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    [record] = event["Records"]
    job = json.loads(record["body"])
    dynamodb.update_item(
        TableName=ORDERS,
        Key={"id": {"S": job["id"]}},
        UpdateExpression="SET quantity = :quantity ADD effects :one",  # an addition is not idempotent
        ExpressionAttributeValues={":quantity": {"N": str(job["quantity"])}, ":one": {"N": "1"}},
    )
    return job
