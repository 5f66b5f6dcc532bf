import json
import os

import boto3

ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")


class InvalidJob(ValueError):
    pass


def handler(event, context):
    print("EVENT", json.dumps(event, sort_keys=True))
    [record] = event["Records"]  # exactly one record, or this line fails
    job = read_job(record["body"])
    print("JOB", json.dumps(job, sort_keys=True))
    processed = write_once(job)
    result = {**job, "processed": processed, "duplicate": not processed}
    print("RESULT", json.dumps(result, sort_keys=True))
    return result


def read_job(body):
    job = json.loads(body)
    if not isinstance(job, dict) or set(job) != {"id", "quantity"}:
        raise InvalidJob(f"keys: {body}")
    if type(job["id"]) is not str or not job["id"]:
        raise InvalidJob(f"id: {body}")
    # type() and not isinstance(): for Python, True is an int.
    if type(job["quantity"]) is not int or not 1 <= job["quantity"] <= 10:
        raise InvalidJob(f"quantity: {body}")
    return job


def write_once(job):
    total = job["quantity"] * 250 + 100
    order = {
        "id": {"S": job["id"]},
        "quantity": {"N": str(job["quantity"])},
        "total_cents": {"N": str(total)},
    }
    try:
        dynamodb.put_item(
            TableName=ORDERS,
            Item=order,
            ConditionExpression="attribute_not_exists(id)",  # judged inside the write itself
            ReturnValuesOnConditionCheckFailure="ALL_OLD",  # a refusal brings the stored order
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as refusal:
        if refusal.response["Item"] != order:
            raise  # same id, other details: never acknowledged silently
        return False
    return True
