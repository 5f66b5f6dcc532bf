"""A queue, a function and a table, tested without an AWS account and without Docker. Run it with: pytest"""

import json
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import RunEnded, WriteDecision

ACCOUNT = "us-east-1:123456789012"
HERE = Path(__file__).parent


@dataclass
class Shop:
    """What the tests work with: the account, and the address of the queue of orders."""

    cloud: Cloud
    queue: str

    def send(self, order: dict) -> None:
        boto3.client("sqs").send_message(QueueUrl=self.queue, MessageBody=json.dumps(order))

    def orders(self) -> list[str]:
        items = boto3.client("dynamodb").scan(TableName="orders")["Items"]
        return sorted(item["id"]["S"] for item in items)

    def runs(self) -> int:
        return len(self.cloud.journal.events(RunEnded))


@pytest.fixture
def shop(cloud: Cloud) -> Shop:
    boto3.client("dynamodb").create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    boto3.client("dynamodb").get_waiter("table_exists").wait(TableName="orders")
    boto3.client("dynamodb").get_waiter("table_exists").wait(TableName="orders")
    queue = boto3.client("sqs").create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "60"})["QueueUrl"]
    cloud.deploy(
        "worker",
        HERE / "worker",
        may=[
            ("dynamodb:PutItem", f"arn:aws:dynamodb:{ACCOUNT}:table/orders"),
            (
                ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
                f"arn:aws:sqs:{ACCOUNT}:orders",
            ),
        ],
        variables={"TABLE": "orders"},
    )
    boto3.client("lambda").create_event_source_mapping(
        FunctionName="worker", EventSourceArn=f"arn:aws:sqs:{ACCOUNT}:orders", BatchSize=1
    )
    cloud.settle()
    return Shop(cloud, queue)


def test_an_order_that_is_sent_twice_is_stored_once(shop: Shop) -> None:
    for _ in range(2):
        shop.send({"id": "A-1", "total": 25})
    shop.cloud.settle()
    assert shop.orders() == ["A-1"]
    assert shop.runs() == 2
    assert [write.accepted for write in shop.cloud.journal.events(WriteDecision)] == [True, False]


def test_a_crash_after_the_write_loses_nothing_and_repeats_nothing(shop: Shop) -> None:
    shop.cloud.faults.crash("worker", "dynamodb", "PutItem", when="after")
    shop.send({"id": "A-2", "total": 40})
    shop.cloud.settle()
    assert shop.orders() == ["A-2"], "stored, but never acknowledged"
    shop.cloud.skip(60)  # the visibility timeout ends now: the message comes again
    shop.cloud.settle()
    assert shop.orders() == ["A-2"]
    assert shop.runs() == 2


def test_a_worker_without_the_right_to_write_stores_nothing(shop: Shop) -> None:
    boto3.client("iam").delete_role_policy(RoleName="worker-role", PolicyName="may")
    with pytest.raises(Exception, match="AccessDenied"):
        run(shop.cloud, {"Records": [{"body": json.dumps({"id": "A-3", "total": 5})}]})
    assert shop.orders() == []


def test_a_workflow_calls_the_worker_and_tries_again(shop: Shop) -> None:
    shop.cloud.faults.crash("worker", "dynamodb", "PutItem", when="before")
    step = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": "worker", "Payload.$": "$"},
        "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 2}],
        "End": True,
    }
    workflows = boto3.client("stepfunctions")
    machine = workflows.create_state_machine(
        name="store",
        definition=json.dumps({"StartAt": "Store", "States": {"Store": step}}),
        roleArn=workflow_role(),
    )["stateMachineArn"]
    records = {"Records": [{"body": json.dumps({"id": "A-4", "total": 7})}]}
    execution = workflows.start_execution(stateMachineArn=machine, input=json.dumps(records))["executionArn"]
    shop.cloud.settle()
    shop.cloud.skip(2)  # the retry comes after one second
    shop.cloud.settle()
    assert workflows.describe_execution(executionArn=execution)["status"] == "SUCCEEDED"
    assert shop.orders() == ["A-4"]


def run(cloud: Cloud, event: dict) -> None:
    """Call the worker directly; an error of the handler becomes an error of the test."""
    answer = boto3.client("lambda").invoke(FunctionName="worker", Payload=json.dumps(event).encode())
    if "FunctionError" in answer:
        raise RuntimeError(answer["Payload"].read().decode())


def workflow_role() -> str:
    """A role for the workflow that may call the worker."""
    iam = boto3.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    invoke = {
        "Effect": "Allow",
        "Action": "lambda:InvokeFunction",
        "Resource": f"arn:aws:lambda:{ACCOUNT}:function:worker",
    }
    role = iam.create_role(RoleName="store-role", AssumeRolePolicyDocument=policy(trust))["Role"]["Arn"]
    iam.put_role_policy(RoleName="store-role", PolicyName="invoke", PolicyDocument=policy(invoke))
    return role


def policy(statement: dict) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
