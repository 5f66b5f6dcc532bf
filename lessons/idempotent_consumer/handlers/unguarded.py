import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


def handler(event, context):
    [record] = event["Records"]
    job = json.loads(record["body"])
    total = job["quantity"] * 250 + 100
    order = {
        "id": {"S": job["id"]},
        "quantity": {"N": str(job["quantity"])},
        "total_cents": {"N": str(total)},
    }
    dynamodb.put_item(TableName=ORDERS, Item=order)  # no condition: each delivery writes again
    print("RESULT", json.dumps(job, sort_keys=True))
    return job
