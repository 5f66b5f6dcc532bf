"""One order flow, timed against any AWS endpoint that runs Lambda functions: queue, function, conditional write.

    python -m benchmarks.order_flow http://127.0.0.1:5000 --messages 200

Half of the messages repeat an order id, so half of the conditional writes are refused. The handler makes its client
in each run, as handlers of beginners do, and prints one line. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import boto3

HANDLER = """
import json

import boto3
from botocore.exceptions import ClientError


def handler(event, context):
    table = boto3.client("dynamodb")
    for record in event["Records"]:
        order = json.loads(record["body"])
        print("order", order["id"])
        item = {"id": {"S": order["id"]}, "quantity": {"N": str(order["quantity"])}}
        try:
            table.put_item(
                TableName="orders",
                Item=item,
                ConditionExpression="attribute_not_exists(id)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
"""

_PRINT = """        print("order", order["id"])\n"""

_TRUST = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
_ALLOW = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@dataclass(frozen=True)
class Flow:
    """What one flow took. Seconds; `sender_cpu` is the processor time of the program that sends and looks."""

    messages: int
    set_up: float
    first_item: float
    seconds: float
    sender_cpu: float

    @property
    def per_second(self) -> float:
        return self.messages / self.seconds


class Wrong(RuntimeError):
    """The endpoint did something else than the flow expects: its time means nothing."""


def run(
    endpoint: str,
    messages: int,
    limit: float = 900,
    begun: Callable[[], None] = lambda: None,
    silent: bool = False,
) -> Flow:
    """Set the flow up on a fresh account and time it. `begun` is called when the messages begin.

    A `silent` handler prints nothing.

    Raises Wrong when not every order is stored once, or not within `limit` seconds.
    """
    clients = {name: _client(endpoint, name) for name in ("sqs", "lambda", "dynamodb", "iam")}
    sqs, table = clients["sqs"], clients["dynamodb"]
    start = time.perf_counter()
    queue = _set_up(endpoint, clients, silent)
    set_up = time.perf_counter() - start

    _send(sqs, queue, "first")
    first = _wait_for("the first order", lambda: "Item" in _stored(table, "first"), 60)
    _wait_for("an empty queue", lambda: _left(sqs, queue) == 0, 60)

    begun()
    start, cpu = time.perf_counter(), time.process_time()
    orders = max(1, messages // 2)
    for number in range(messages):
        _send(sqs, queue, f"order-{number % orders}")
    _wait_for("an empty queue", lambda: _left(sqs, queue) == 0, limit)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu

    count = _count(table)
    if count != min(orders, messages) + 1:
        raise Wrong(f"{count} orders stored, {min(orders, messages) + 1} expected")
    return Flow(messages, set_up, first, seconds, cpu)


def _client(endpoint: str, service: str) -> Any:
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def _set_up(endpoint: str, clients: dict[str, Any], silent: bool) -> str:
    """Role, table, function, queue and mapping. Returns the queue's URL."""
    iam, functions, sqs = clients["iam"], clients["lambda"], clients["sqs"]
    role = iam.create_role(RoleName="orders", AssumeRolePolicyDocument=_policy(_TRUST))["Role"]["Arn"]
    iam.put_role_policy(RoleName="orders", PolicyName="all", PolicyDocument=_policy(_ALLOW))
    clients["dynamodb"].create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    clients["dynamodb"].get_waiter("table_exists").wait(TableName="orders")
    functions.create_function(
        FunctionName="orders",
        Runtime="python3.12",
        Role=role,
        Handler="app.handler",
        Code={"ZipFile": _archive(silent)},
        Timeout=10,
        Environment={"Variables": {"AWS_ENDPOINT_URL": endpoint}},
    )
    url = str(sqs.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "60"})["QueueUrl"])
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    functions.create_event_source_mapping(FunctionName="orders", EventSourceArn=arn, BatchSize=1)
    return url


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _archive(silent: bool) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        target.writestr("app.py", HANDLER.replace(_PRINT, "") if silent else HANDLER)
    return packed.getvalue()


def _send(sqs: Any, queue: str, order: str) -> None:
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"id": order, "quantity": 1}))


def _stored(table: Any, order: str) -> dict[str, Any]:
    return dict(table.get_item(TableName="orders", Key={"id": {"S": order}}))


def _count(table: Any) -> int:
    pages = table.get_paginator("scan").paginate(TableName="orders", Select="COUNT")
    return sum(page["Count"] for page in pages)


def _left(sqs: Any, queue: str) -> int:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    return sum(
        int(count) for count in sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"].values()
    )


def _wait_for(what: str, reached: Callable[[], bool], limit: float) -> float:
    """Look until `reached` says so; return the seconds it took."""
    start = time.perf_counter()
    while not reached():
        if time.perf_counter() - start > limit:
            raise Wrong(f"{what}: not reached within {limit} s")
        time.sleep(0.02)
    return time.perf_counter() - start


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.order_flow", description=__doc__.splitlines()[0])
    parser.add_argument("endpoint")
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--silent", action="store_true", help="the handler prints nothing")
    options = parser.parse_args(arguments)
    try:
        flow = run(options.endpoint, options.messages, silent=options.silent)
    except Wrong as wrong:
        print(f"order_flow: {wrong}", file=sys.stderr)
        return 1
    print(json.dumps({**asdict(flow), "per_second": round(flow.per_second, 1)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
