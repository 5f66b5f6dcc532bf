"""Stores each order once, however often its message comes."""

import json
import os

import boto3
from botocore.exceptions import ClientError

table = boto3.client("dynamodb")


def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        try:
            table.put_item(
                TableName=os.environ["TABLE"],
                Item={"id": {"S": order["id"]}, "total": {"N": str(order["total"])}},
                ConditionExpression="attribute_not_exists(id)",
            )
        except ClientError as refusal:
            if refusal.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            print(f"order {order['id']} was stored before")
