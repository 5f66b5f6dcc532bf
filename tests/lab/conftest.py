"""A lab per test module, and a learner who works through the lesson with plain boto3 calls."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.lab import Lab
from helpers.lab.idempotent_consumer import HANDLERS

GUARDED = (HANDLERS / "app.py").read_text(encoding="utf-8")
PROVIDED = (HANDLERS / "unguarded.py").read_text(encoding="utf-8")


class Learner:
    """Does what the cells of the lesson do."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def client(self, service: str) -> Any:
        """A client of the learner's; the lab's own ones, because making one takes as long as a test."""
        return self.lab._lesson.services.client(service)

    @property
    def url(self) -> str:
        return self.client("sqs").get_queue_url(QueueName="q05-jobs")["QueueUrl"]

    def make_queue(self, name: str = "q05-jobs", **attributes: str) -> str:
        wanted = attributes or {"VisibilityTimeout": "30"}
        return self.client("sqs").create_queue(QueueName=name, Attributes=wanted)["QueueUrl"]

    def map(self, queue: str = "q05-jobs", function: str = "q05-worker", **options: Any) -> str:
        made = self.client("lambda").create_event_source_mapping(
            EventSourceArn=f"arn:aws:sqs:us-east-1:123456789012:{queue}",
            FunctionName=function,
            **{"BatchSize": 1, "Enabled": True, **options},
        )
        self.lab.settle()
        return made["UUID"]

    def connect(self) -> str:
        self.make_queue()
        return self.map()

    def deploy(self, code: str = GUARDED, file: str = "app.py", written: str | None = None) -> None:
        """Deploy `code`; `written` is what stands in the scratch folder (default: the same)."""
        (self.lab.folder / "app.py").write_text(code if written is None else written, encoding="utf-8", newline="\n")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as package:
            package.writestr(file, code)
        self.client("lambda").update_function_code(FunctionName="q05-worker", ZipFile=archive.getvalue())
        self.lab.settle()

    def configure(self, **settings: Any) -> None:
        self.client("lambda").update_function_configuration(FunctionName="q05-worker", **settings)
        self.lab.settle()

    def send(self, order: str = "dedup-order", quantity: Any = 4, body: str | None = None) -> None:
        text = json.dumps({"id": order, "quantity": quantity}) if body is None else body
        self.client("sqs").send_message(QueueUrl=self.url, MessageBody=text)

    def first_job(self, code: str = GUARDED) -> None:
        """Steps connect and deploy, with the first job."""
        self.connect()
        self.deploy(code)
        self.send()
        self.lab.settle()

    def repeat(self, duplicates: int = 2, at_once: bool = False) -> None:
        """Step repeat; one job at a time needs one worker process, all at once up to one for each."""
        for job in [("dedup-order", 4)] * duplicates + [("other-order", 1)]:
            self.send(*job)
            if not at_once:
                self.lab.settle()
        self.lab.settle()

    def redrive(self, count: int = 3, target: str = "q05-dead") -> None:
        self.client("sqs").create_queue(QueueName=target)
        arn = f"arn:aws:sqs:us-east-1:123456789012:{target}"
        policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": count})
        self.client("sqs").set_queue_attributes(QueueUrl=self.url, Attributes={"RedrivePolicy": policy})

    def returns(self, times: int) -> None:
        for _return in range(times):
            self.lab.skip(30)
            self.lab.settle()

    def delete_mapping(self) -> None:
        functions = self.client("lambda")
        for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
            functions.delete_event_source_mapping(UUID=mapping["UUID"])
        self.lab.settle()

    def delete_queues(self) -> None:
        for url in self.client("sqs").list_queues(QueueNamePrefix="q05-").get("QueueUrls", []):
            self.client("sqs").delete_queue(QueueUrl=url)

    def delete_orders(self) -> None:
        for item in self.client("dynamodb").scan(TableName="q05-orders")["Items"]:
            self.client("dynamodb").delete_item(TableName="q05-orders", Key={"id": item["id"]})

    def delete_logs(self) -> None:
        self.client("logs").delete_log_group(logGroupName="/aws/lambda/q05-worker")

    def outcomes(self, step: str) -> dict[str, str]:
        return {item.id: item.outcome for item in self.lab.check(step).items}

    def detail(self, step: str, point: str, outcome: str = "not-yet") -> str:
        """The detail of a point that has this outcome."""
        item = self.lab.check(step)[point]
        assert item.outcome == outcome, item
        return item.detail


def start_over(lab: Lab) -> None:
    """What the lesson provides, and nothing else, in the account that is open: quicker than a new account."""
    learner = Learner(lab)
    lab.faults.clear()
    learner.delete_mapping()
    learner.delete_queues()
    functions, tables = learner.client("lambda"), learner.client("dynamodb")
    kept = lab._lesson.services
    if kept.function("q05-worker") is None or any(kept.items(t) is None for t in ("q05-orders", "q05-reference")):
        lab.reset()
        return
    for function in functions.list_functions()["Functions"]:
        if function["FunctionName"] != "q05-worker":
            functions.delete_function(FunctionName=function["FunctionName"])
    given = {"Timeout": 5, "Environment": {"Variables": {"ORDERS_TABLE": "q05-orders"}}}
    found = kept.function("q05-worker")
    if any(found[name] != value for name, value in given.items()):
        learner.configure(**given)
    learner.deploy(PROVIDED)
    (lab.folder / "app.py").unlink()
    learner.delete_orders()
    tables.put_item(TableName="q05-reference", Item={"id": {"S": "reference"}, "note": {"S": "keep unchanged"}})
    if kept.has_log_group("/aws/lambda/q05-worker"):
        learner.delete_logs()
    # SQS refuses a name for 60 seconds after its queue was deleted.
    lab.cloud.skip(61)
    lab.settle()
    lab._lesson.provided_at = lab.cloud.journal.last
    lab._lesson.provided_code = kept.function("q05-worker")["CodeSha256"]
    lab._end_of_repeat, lab._repeat_passed = None, False


@pytest.fixture(scope="module")
def opened() -> Iterator[Lab]:
    lab = Lab("idempotent-consumer", "en")
    yield lab
    lab.close()


@pytest.fixture
def lab(opened: Lab) -> Lab:
    """The module's lab as it was in the beginning."""
    if opened.closed:
        opened.__init__("idempotent-consumer", "en")  # type: ignore[misc]
    elif opened.cloud.journal.last != opened._lesson.provided_at:
        start_over(opened)
    return opened


@pytest.fixture
def learner(lab: Lab) -> Learner:
    return Learner(lab)
