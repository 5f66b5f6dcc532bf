"""A queue, a deployed function that does what its messages say, and a mapping between them."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.cloud import Cloud
from helpers.cloud.journal import Event, RunEnded, RunStarted

HANDLER = """
import json, os, time

def do(record, answer):
    order = json.loads(record["body"])
    what = order.get("do")
    if what == "fail" and int(record["attributes"]["ApproximateReceiveCount"]) < order.get("until", 1000):
        raise ValueError("asked to fail")
    if what == "exit":
        os._exit(3)
    if what == "sleep":
        time.sleep(order["seconds"])
    if what == "wait":
        while not os.path.exists(order["file"]):
            time.sleep(0.01)
    if what == "report":
        answer["batchItemFailures"].append({"itemIdentifier": record["messageId"]})
    if what == "answer":
        return order["answer"]
    if what == "delete":
        import boto3
        boto3.client("sqs").delete_message(QueueUrl=order["queue"], ReceiptHandle=record["receiptHandle"])
    return answer

def handler(event, context):
    answer = {"batchItemFailures": []}
    for record in event["Records"]:
        answer = do(record, answer)
    return answer
"""


class Stage:
    """One function, and queues and mappings as a test needs them."""

    def __init__(self, cloud: Cloud, timeout: int = 20, name: str = "stage-worker") -> None:
        self.cloud = cloud
        self.sqs = cloud.client("sqs")
        self.functions = cloud.client("lambda")
        self.role = self.make_role(name, ["sqs:*", "logs:*"])
        self.function = self.deploy(name, timeout)

    def make_role(self, name: str, actions: list[str], resource: str = "*") -> str:
        iam = self.cloud.client("iam")
        trust = {"Version": "2012-10-17", "Statement": [_trust()]}
        arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        statement = {"Effect": "Allow", "Action": actions, "Resource": resource}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_role_policy(RoleName=name, PolicyName="work", PolicyDocument=document)
        return str(arn)

    def deploy(self, name: str, timeout: int = 20, role: str = "") -> str:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("app.py", HANDLER)
        self.functions.create_function(
            FunctionName=name,
            Runtime="python3.12",
            Role=role or self.role,
            Handler="app.handler",
            Code={"ZipFile": archive.getvalue()},
            Timeout=timeout,
        )
        self.functions.get_waiter("function_active_v2").wait(FunctionName=name, WaiterConfig={"Delay": 1})
        return name

    def queue(self, name: str, **attributes: Any) -> str:
        """Make a queue and return its URL."""
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}
        return str(self.sqs.create_queue(QueueName=name, Attributes=texts)["QueueUrl"])

    def arn(self, url: str) -> str:
        return f"arn:aws:sqs:us-east-1:123456789012:{url.rpartition('/')[2]}"

    def map(self, url: str, **settings: Any) -> str:
        """Make a mapping, wait until it is as it was asked to be, and return its UUID."""
        settings = {"FunctionName": self.function, **settings}
        uuid = self.functions.create_event_source_mapping(EventSourceArn=self.arn(url), **settings)["UUID"]
        self.wait_for_state(uuid, "Enabled" if settings.get("Enabled", True) else "Disabled")
        return str(uuid)

    def state(self, uuid: str) -> str:
        try:
            return str(self.functions.get_event_source_mapping(UUID=uuid)["State"])
        except self.functions.exceptions.ResourceNotFoundException:
            return "gone"

    def wait_for_state(self, uuid: str, state: str) -> None:
        self.wait_until(lambda: self.state(uuid) == state)

    def send(self, url: str, *orders: dict[str, Any], **members: Any) -> list[str]:
        """Send messages and return their ids."""
        return [
            self.sqs.send_message(QueueUrl=url, MessageBody=json.dumps(order), **members)["MessageId"]
            for order in orders
        ]

    def count(self, url: str, kind: str = "") -> int:
        """How many messages a queue holds: visible ones, or those that are NotVisible or Delayed."""
        name = f"ApproximateNumberOfMessages{kind}"
        return int(self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name])

    def runs(self, url: str) -> list[list[dict[str, Any]]]:
        """The records of each run that a queue caused, in the order in which the runs began."""
        return [records for _, records in self.starts(url)]

    def starts(self, url: str) -> list[tuple[RunStarted, list[dict[str, Any]]]]:
        found = []
        for event in self.cloud.journal.events(RunStarted):
            records = json.loads(event.payload).get("Records", [])
            if records and records[0]["eventSourceARN"] == self.arn(url):
                found.append((event, records))
        return found

    def ended(self, url: str) -> int:
        """How many of a queue's runs have ended."""
        known = {event.request_id for event, _ in self.starts(url)}
        return sum(event.request_id in known for event in self.cloud.journal.events(RunEnded))

    def events(self, kind: type[Event], url: str) -> list[Any]:
        name = url.rpartition("/")[2]
        return [event for event in self.cloud.journal.events(kind) if getattr(event, "queue", None) == name]

    def wait_until(self, done: Callable[[], object], timeout: float = 20) -> None:
        """Wait for a condition that the account brings about. Looks again when something in it changed."""
        end = time.monotonic() + timeout
        while True:
            seen = self.cloud.boundary.changed.count
            if done():
                return
            assert time.monotonic() < end, "the condition did not come true"
            self.cloud.boundary.changed.wait(seen, 0.05)


def release(file: Path) -> None:
    """Let the runs go on that wait for a file."""
    file.touch()


def _trust() -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
