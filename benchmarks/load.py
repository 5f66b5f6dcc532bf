"""Load with faults: many orders, crashes and lost answers by rate, and at the end every order exactly once.

    python -m benchmarks.load --messages 10000 --crash 0.05 --lose 0.05 --seed 7

A queue, a deployed function with a conditional write, a table. A share of the writes ends with the death of the
worker's process (half of them before the write, half after it) or without an answer. Hidden messages come back by
`skip`, so nobody waits. What is counted comes from the services and from a subscription to the journal: the journal
itself keeps the latest events only. Prints a table and exits with 1 when a property does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psutil

from helpers.cloud import Cloud
from helpers.cloud.journal import (
    Event,
    FaultFired,
    MessageAcknowledged,
    MessageDeadLettered,
    MessageReceived,
    MessageSent,
    RunEnded,
    WriteDecision,
)

QUEUE, DEAD, TABLE, FUNCTION = "load-orders", "load-dead", "load-orders", "load-worker"
VISIBILITY = 30
LARGEST_BATCH = 10_000
MOST_RECEIVES = 50
"""A message that is hit by chance again and again must not end in the dead-letter queue: that would be a loss."""

HANDLER = """
import json
import os

import boto3

dynamodb = boto3.client("dynamodb")


def handler(event, context):
    for record in event["Records"]:
        order = json.loads(record["body"])
        try:
            dynamodb.put_item(
                TableName=os.environ["TABLE"],
                Item={"id": {"S": order["id"]}, "quantity": {"N": str(order["quantity"])}},
                ConditionExpression="attribute_not_exists(id)",
            )
        except dynamodb.exceptions.ConditionalCheckFailedException:
            pass
"""


@dataclass
class Seen:
    """What the journal told while it ran. Messages are counted by id, writes by the key of the order, faults by what
    they hit."""

    sent: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    received: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, event: Event) -> None:
        """Count one event."""
        with self.lock:
            match event:
                case MessageSent(queue=queue, message_id=message) if queue == QUEUE:
                    self.sent.add(message)
                case MessageReceived(queue=queue) if queue == QUEUE:
                    self.received += 1
                case MessageAcknowledged(queue=queue, message_id=message) if queue == QUEUE:
                    self.acknowledged.add(message)
                case MessageDeadLettered(queue=queue, message_id=message) if queue == QUEUE:
                    self.dead.add(message)
                case WriteDecision(table=table, accepted=accepted, key=key) if table == TABLE:
                    if accepted:
                        self.accepted[key["id"]["S"]] += 1
                    else:
                        self.refused += 1
                case RunEnded(outcome=outcome):
                    self.runs[outcome] += 1
                case FaultFired(fault=fault, subject=subject):
                    self.faults[fault, subject] += 1


@dataclass(frozen=True)
class Report:
    """The figures of one load run, for each property whether it held, and how often each fault hit which order."""

    figures: dict[str, str]
    properties: dict[str, bool]
    hits: Counter[tuple[str, str]]

    @property
    def holds(self) -> bool:
        return all(self.properties.values())

    def __str__(self) -> str:
        rows = [
            *self.figures.items(),
            *((name, "holds" if held else "FAILS") for name, held in self.properties.items()),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def load(
    messages: int,
    crash: float = 0.05,
    lose: float = 0.05,
    seed: int = 7,
    batch: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> Report:
    """Run the load in an account of its own. `crash` and `lose` are shares of the writes, 0 for none."""
    seen = Seen()
    # Not of this account: the process may have children already, such as a test run's driver of a browser.
    before = set(psutil.Process().children(recursive=True))
    begun = time.perf_counter()
    with _peak_memory() as peak:
        with Cloud(seed=seed) as cloud:
            cloud.journal.subscribe(seen.tell)
            _deploy(cloud, batch)
            armed = _arm(cloud, crash, lose)
            started = time.perf_counter()
            _send(cloud, messages)
            sent_after = time.perf_counter() - started
            skips = _run_dry(cloud, seen, messages, say)
            seconds = time.perf_counter() - started
            orders = _orders(cloud)
            left = {name: _left(cloud, name) for name in (QUEUE, DEAD)}
        held = _wait_for_none(list(set(psutil.Process().children(recursive=True)) - before))
    wanted = Counter({f"order-{number}": 1 for number in range(messages)})
    properties = {
        "every order is stored exactly once": orders == wanted,
        "every order was written exactly once": seen.accepted == wanted,
        "no message is lost (sent = acknowledged + dead-lettered)": (
            len(seen.sent) == messages and seen.sent == seen.acknowledged | seen.dead
        ),
        "no message is in the dead-letter queue": not seen.dead and left[DEAD] == 0,
        "no message is left in the queue": left[QUEUE] == 0,
        "no worker process is left after close": held == 0,
        "the faults fired": all(fault.fired for fault in armed) or messages < _ENOUGH,
    }
    figures = {
        "messages": f"{messages} (batch {batch}, seed {seed})",
        "seconds": f"{seconds:.1f} ({messages / seconds:.0f} messages/s; sent after {sent_after:.1f} s)",
        "set-up and close": f"{time.perf_counter() - begun - seconds:.1f} s",
        "deliveries": f"{seen.received} ({skips} skips of the visibility timeout)",
        "runs": ", ".join(f"{count} {outcome}" for outcome, count in sorted(seen.runs.items())),
        "writes": f"{sum(seen.accepted.values())} accepted, {seen.refused} refused by the condition",
        **{f"fault: {fault.description}": str(fault.fired) for fault in armed},
        "peak memory": f"{peak.kernel:.0f} MB this process, {peak.workers:.0f} MB workers ({peak.most} at most)",
    }
    return Report(figures, properties, seen.faults)


_ENOUGH = 100
"""Messages. With fewer a rate of a few percent may hit none."""


def _deploy(cloud: Cloud, batch: int) -> None:
    sqs, dynamodb = cloud.client("sqs"), cloud.client("dynamodb")
    iam, functions = cloud.client("iam"), cloud.client("lambda")
    dead = sqs.create_queue(QueueName=DEAD)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": MOST_RECEIVES})
    attributes = {"VisibilityTimeout": str(VISIBILITY), "RedrivePolicy": policy}
    queue = sqs.create_queue(QueueName=QUEUE, Attributes=attributes)["QueueUrl"]
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    dynamodb.get_waiter("table_exists").wait(TableName=TABLE)
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    role = iam.create_role(RoleName="load", AssumeRolePolicyDocument=_document(trust))["Role"]["Arn"]
    rights = {"Effect": "Allow", "Action": ["sqs:*", "dynamodb:PutItem", "logs:*"], "Resource": "*"}
    iam.put_role_policy(RoleName="load", PolicyName="work", PolicyDocument=_document(rights))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("app.py", HANDLER)
    functions.create_function(
        FunctionName=FUNCTION,
        Runtime="python3.13",
        Role=role,
        Handler="app.handler",
        Code={"ZipFile": packed.getvalue()},
        Timeout=VISIBILITY,
        Environment={"Variables": {"TABLE": TABLE}},
    )
    functions.get_waiter("function_active_v2").wait(FunctionName=FUNCTION, WaiterConfig={"Delay": 1})
    source = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    window = {"MaximumBatchingWindowInSeconds": 1} if batch > 10 else {}
    functions.create_event_source_mapping(EventSourceArn=source, FunctionName=FUNCTION, BatchSize=batch, **window)
    cloud.settle()


def _document(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _arm(cloud: Cloud, crash: float, lose: float) -> list[Any]:
    """Half of the crashes come before the write, half after it, so that a share of `crash` meets a write in all."""
    armed = []
    if crash:
        armed += [cloud.faults.crash(FUNCTION, when="before", rate=crash / 2)]
        armed += [cloud.faults.crash(FUNCTION, when="after", rate=crash / 2)]
    if lose:
        armed += [cloud.faults.lose_answer("dynamodb", "PutItem", function=FUNCTION, rate=lose)]
    return armed


def _send(cloud: Cloud, messages: int) -> None:
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName=QUEUE)["QueueUrl"]
    for start in range(0, messages, 10):
        numbers = range(start, min(start + 10, messages))
        bodies = [json.dumps({"id": f"order-{number}", "quantity": number % 10 + 1}) for number in numbers]
        entries = [{"Id": str(index), "MessageBody": body} for index, body in enumerate(bodies)]
        answer = sqs.send_message_batch(QueueUrl=url, Entries=entries)
        if answer.get("Failed"):
            raise RuntimeError(f"not sent: {answer['Failed']}")


def _run_dry(cloud: Cloud, seen: Seen, messages: int, say: Callable[[str], None]) -> int:
    """Let the queue run empty. At each rest the visibility timeout of what crashed is skipped; returns how often."""
    skips = 0
    while True:
        _settle(cloud, seen, say)
        if len(seen.acknowledged) + len(seen.dead) >= messages or skips > MOST_RECEIVES:
            return skips
        cloud.skip(VISIBILITY + 1)
        skips += 1


def _settle(cloud: Cloud, seen: Seen, say: Callable[[str], None]) -> None:
    """Wait for rest. A minute without a message that was acknowledged is a hang."""
    from helpers.cloud import NotAtRest

    before = -1
    while True:
        try:
            cloud.settle(timeout=60)
        except NotAtRest as busy:
            now = len(seen.acknowledged)
            if now == before:
                raise RuntimeError(f"it hangs with {now} acknowledged: {busy}") from busy
            before = now
            say(f"{now} acknowledged, {dict(seen.runs)}")
        else:
            return


def _orders(cloud: Cloud) -> Counter[str]:
    pages = cloud.client("dynamodb").get_paginator("scan").paginate(TableName=TABLE)
    return Counter(item["id"]["S"] for page in pages for item in page["Items"])


def _left(cloud: Cloud, queue: str) -> int:
    """How many messages a queue holds, whatever their state."""
    sqs = cloud.client("sqs")
    names = ["ApproximateNumberOfMessages" + kind for kind in ("", "NotVisible", "Delayed")]
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(attributes[name]) for name in names)


def _wait_for_none(children: list[psutil.Process]) -> int:
    """How many of the processes are still there after they had a moment to end."""
    _, alive = psutil.wait_procs(children, timeout=5)
    return sum(1 for child in alive if child.is_running() and child.status() != psutil.STATUS_ZOMBIE)


@dataclass
class _Peak:
    """Largest resident sizes seen in MB, and the largest number of worker processes."""

    kernel: float = 0.0
    workers: float = 0.0
    most: int = 0


@contextlib.contextmanager
def _peak_memory(pause: float = 0.5) -> Iterator[_Peak]:
    peak, over, me = _Peak(), threading.Event(), psutil.Process()

    def look() -> None:
        while not over.wait(pause):
            sizes = []
            for child in me.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    sizes.append(child.memory_info().rss / 1e6)
            peak.kernel = max(peak.kernel, me.memory_info().rss / 1e6)
            peak.workers = max(peak.workers, sum(sizes))
            peak.most = max(peak.most, len(sizes))

    thread = threading.Thread(target=look, name="peak-memory", daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number


def _batch(text: str) -> int:
    number = _count(text)
    if number > LARGEST_BATCH:
        raise argparse.ArgumentTypeError(f"{text}: at most {LARGEST_BATCH}")
    return number


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 0.5:
        raise argparse.ArgumentTypeError(f"{text}: a share from 0 to 0.5; with more, messages run out of deliveries")
    return share


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, run, print. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__.split("\n")[0])
    parser.add_argument("--messages", type=_count, default=10_000)
    parser.add_argument("--crash", type=_share, default=0.05, help="share of the writes that end with a crash")
    parser.add_argument("--lose", type=_share, default=0.05, help="share of the writes whose answer is lost")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--batch", type=_batch, default=1, help="messages in one run")
    asked = parser.parse_args(arguments)
    report = load(
        asked.messages, asked.crash, asked.lose, asked.seed, asked.batch, lambda text: print(text, file=sys.stderr)
    )
    print(report)
    return 0 if report.holds else 1


if __name__ == "__main__":
    sys.exit(main())
