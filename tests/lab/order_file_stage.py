"""A learner who works through the lesson *order-file* with plain boto3 calls."""

from __future__ import annotations

import json
from typing import Any

from helpers.lab import Lab

ARN = "arn:aws:sqs:us-east-1:123456789012:"
BUCKET, QUEUE, DEAD = "shop-order-files", "shop-uploads", "shop-dead"


class Shopper:
    """Does what the cells of the lesson do."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def client(self, service: str) -> Any:
        return self.lab._lesson.services.client(service)

    def url(self, queue: str = QUEUE) -> str:
        return str(self.client("sqs").get_queue_url(QueueName=queue)["QueueUrl"])

    def connect(self, **statement: Any) -> None:
        """Step connect. `statement` replaces members of the policy's statement."""
        self.client("s3").create_bucket(Bucket=BUCKET)
        self.client("sqs").create_queue(QueueName=QUEUE, Attributes={"VisibilityTimeout": "30"})
        self.allow(**statement)
        self.notify()

    def allow(self, **changes: Any) -> None:
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "s3.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": ARN + QUEUE,
            **changes,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.client("sqs").set_queue_attributes(QueueUrl=self.url(), Attributes={"Policy": policy})

    def notify(self, *events: str, queue: str = QUEUE) -> None:
        rule = {"QueueArn": ARN + queue, "Events": list(events or ("s3:ObjectCreated:*",))}
        self.client("s3").put_bucket_notification_configuration(
            Bucket=BUCKET, NotificationConfiguration={"QueueConfigurations": [rule]}
        )
        self.lab.settle()

    def receive(self) -> list[dict[str, Any]]:
        answer = self.client("sqs").receive_message(QueueUrl=self.url(), MaxNumberOfMessages=10)
        return list(answer.get("Messages", []))

    def delete(self, message: dict[str, Any]) -> None:
        self.client("sqs").delete_message(QueueUrl=self.url(), ReceiptHandle=message["ReceiptHandle"])

    def drop_test_event(self) -> None:
        for message in self.receive():
            self.delete(message)

    def put(self, key: str, body: bytes | str | None = None, quantity: Any = 1) -> None:
        """Upload a file; without a body, the order that its key names."""
        if body is None:
            body = json.dumps({"id": "/".join(key.split("/")[1:]), "quantity": quantity})
        content = body.encode() if isinstance(body, str) else body
        self.client("s3").put_object(Bucket=BUCKET, Key=key, Body=content)

    def upload(self) -> dict[str, Any]:
        """Step upload; the message about the first file, received and not deleted."""
        self.drop_test_event()
        self.put("orders/Ana Ruiz/1001", quantity=4)
        self.lab.settle()
        (message,) = self.receive()
        return message

    def write(self, order: str = "Ana Ruiz/1001", total: int = 1100, guarded: bool = True) -> bool:
        """A write by hand; whether it was accepted."""
        tables = self.client("dynamodb")
        item = {"id": {"S": order}, "quantity": {"N": "4"}, "total_cents": {"N": str(total)}}
        condition = {"ConditionExpression": "attribute_not_exists(id)"} if guarded else {}
        try:
            tables.put_item(TableName="shop-orders", Item=item, **condition)
        except tables.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def redrive(self, count: int = 3, target: str = DEAD) -> None:
        self.client("sqs").create_queue(QueueName=target)
        policy = json.dumps({"deadLetterTargetArn": ARN + target, "maxReceiveCount": count})
        self.client("sqs").set_queue_attributes(QueueUrl=self.url(), Attributes={"RedrivePolicy": policy})

    def map(self, **options: Any) -> None:
        chosen = {"BatchSize": 10, "FunctionResponseTypes": ["ReportBatchItemFailures"], **options}
        self.client("lambda").create_event_source_mapping(
            EventSourceArn=ARN + QUEUE, FunctionName="shop-worker", **chosen
        )
        self.lab.settle()

    def up_to_write(self) -> None:
        """Steps connect, upload and write, and the first message deleted."""
        self.connect()
        message = self.upload()
        self.write()
        self.write()
        self.delete(message)

    def up_to_batch(self, returns: int = 3) -> None:
        self.up_to_write()
        self.redrive()
        for key in self.lab._lesson.batch_keys.values():  # type: ignore[attr-defined]
            self.put(key)
        self.lab.settle()
        self.map()
        self.returns(returns)

    def returns(self, times: int) -> None:
        for _return in range(times):
            self.lab.skip(30)
            self.lab.settle()

    def orders(self) -> list[tuple[str, int | None, int | None]]:
        return [(one.id, one.quantity, one.total_cents) for one in self.lab.view().orders]

    def clean_up(self) -> None:
        functions, sqs, tables = self.client("lambda"), self.client("sqs"), self.client("dynamodb")
        for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
            functions.delete_event_source_mapping(UUID=mapping["UUID"])
        self.lab.settle()
        self.empty_bucket()
        self.client("s3").delete_bucket(Bucket=BUCKET)
        for url in sqs.list_queues(QueueNamePrefix="shop-").get("QueueUrls", []):
            sqs.delete_queue(QueueUrl=url)
        for item in tables.scan(TableName="shop-orders")["Items"]:
            tables.delete_item(TableName="shop-orders", Key={"id": item["id"]})
        self.client("logs").delete_log_group(logGroupName="/aws/lambda/shop-worker")

    def empty_bucket(self) -> None:
        for file in self.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", []):
            self.client("s3").delete_object(Bucket=BUCKET, Key=file["Key"])

    def outcomes(self, step: str) -> dict[str, str]:
        return {item.id: item.outcome for item in self.lab.check(step).items}

    def detail(self, step: str, point: str, outcome: str = "not-yet") -> str:
        """The detail of a point that has this outcome."""
        item = self.lab.check(step)[point]
        assert item.outcome == outcome, item
        return item.detail
