"""Each solution of lesson.toml is true: a point that is not right becomes right by what its solution says.

For each point, a mistake of a learner is made in a real account, and the solution is done word by word. A run of all
tests tries those that are quick; `ONCE_ALL_SOLUTIONS=1 pytest tests/lab/test_solutions.py` tries them all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from helpers.lab import Lab
from helpers.lab.lesson_texts import LessonTexts
from tests.lab.lesson_walk import Mistake, Walk

_NO_GUARD = (
    '            ConditionExpression="attribute_not_exists(id)",  # judged inside the write itself\n'
    '            ReturnValuesOnConditionCheckFailure="ALL_OLD",  # a refusal brings the stored order\n',
    "",
)

_TOTAL = ("* 250 + 100", "* 250")

ORDER_FILE = (
    Mistake("connect", ("notification",), change={"connect-try": ("ObjectCreated", "ObjectRemoved")}),
    Mistake(
        "connect",
        ("bucket", "queue", "policy"),
        change={
            "connect-bucket": ("shop-order-files", "shop-order-file"),
            "connect-queue": ('"30"', '"45"'),
            "connect-policy": ("sqs:SendMessage", "sqs:ReceiveMessage"),
        },
    ),
    Mistake(
        "upload",
        ("test-event", "uploaded", "arrived"),
        skip=("upload-receive",),
        change={
            "upload-test": ('sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])', "pass"),
            "upload-put": ('key = f"orders', 'key = f"order'),
        },
    ),
    Mistake("write", ("refused",), change={"write-twice": ('"second": put_real_item_once()', '"second": {}')}),
    Mistake(
        "write",
        ("condition", "stored", "refused"),
        long=True,
        change={"toy-write": _TOTAL, "write-do": (', ConditionExpression="attribute_not_exists(id)"', "")},
    ),
    Mistake(
        "batch",
        ("deleted", "redrive", "mapping", "good", "broken"),
        skip=("batch-upload", "batch-return", "batch-dead"),
        change={
            "batch-delete": ('sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=real["ReceiptHandle"])', ""),
            "batch-redrive": ('"maxReceiveCount": 3', '"maxReceiveCount": 5'),
            "batch-connect": ('["ReportBatchItemFailures"])', "[], Enabled=False)"),
        },
    ),
    Mistake(
        "break",
        ("again", "copy", "slow", "dead"),
        long=True,
        skip=("break-upload", "break-send", "break-broken"),
        change={"break-slow": ("lab.faults.slow_worker()", "")},
    ),
    Mistake(
        "clean-up",
        ("mapping", "bucket", "queues", "orders", "log-group"),
        long=True,
        skip=("clean-up-mapping", "clean-up-bucket", "clean-up-queues", "clean-up-orders"),
    ),
    Mistake(
        "clean-up",
        ("kept", "reference"),
        through="parameters",
        then="import boto3\nboto3.client('dynamodb').delete_table(TableName='shop-reference')",
    ),
)

IDEMPOTENT_CONSUMER = (
    Mistake("connect", ("mapping",), skip=("connect-mapping",)),
    Mistake(
        "connect",
        ("queue", "batch-size", "enabled"),
        change={"connect-queue": ('"30"', '"45"'), "connect-mapping": ("1, Enabled=True", "10, Enabled=False")},
    ),
    Mistake("connect", ("no-early-job",), then="sqs.send_message(QueueUrl=queue_url, MessageBody='{}')"),
    Mistake("deploy", ("code",), change={"deploy-pack": ('ZipInfo("app.py")', 'ZipInfo("code/app.py")')}),
    Mistake(
        "deploy",
        ("condition", "order"),
        long=True,
        change={"deploy-code": _NO_GUARD},
        then="dynamodb.delete_item(TableName='q05-orders', Key={'id': {'S': 'dedup-order'}})",
    ),
    Mistake(
        "deploy", ("drained",), change={"deploy-code": ('job["quantity"] * 250', 'job["amount"] * 250')}, long=True
    ),
    Mistake("repeat", ("runs",), skip=("repeat-send",)),
    Mistake(
        "repeat",
        ("drained",),
        change={"deploy-code": ('if refusal.response["Item"] != order:', "if order:")},
        long=True,
    ),
    Mistake(
        "repeat",
        ("decisions", "results", "orders"),
        long=True,
        change={"deploy-code": _NO_GUARD},
        then="dynamodb.put_item(TableName='q05-orders', Item={'id': {'S': 'mine'}})",
    ),
    Mistake(
        "break",
        ("redrive", "conflict", "crash", "slow"),
        long=True,
        skip=("break-conflict-send", "break-crash-again"),
        change={
            "break-conflict-redrive": ('"maxReceiveCount": 3', '"maxReceiveCount": 5'),
            "break-crash-run": ("lab.faults.crash_after_write()", ""),
            "break-slow-run": ("lab.faults.slow_worker()", ""),
        },
    ),
    Mistake(
        "clean-up",
        ("mapping", "queues", "orders", "log-group"),
        long=True,
        skip=("clean-up-mapping", "clean-up-queues", "clean-up-orders", "clean-up-logs"),
    ),
    Mistake(
        "clean-up",
        ("kept", "reference"),
        through="provided-tables",
        then="dynamodb.delete_table(TableName='q05-reference')",
    ),
)

PROTECTED_WORKFLOW = (
    Mistake(
        "deploy",
        ("settings",),
        then="lambda_client.update_function_configuration(FunctionName='ev05-worker', Handler='app.main')",
    ),
    Mistake("deploy", ("code",), skip=("deploy-update",)),
    Mistake(
        "connect",
        ("role", "policy"),
        change={
            "connect-role": ("states.amazonaws.com", "lambda.amazonaws.com"),
            "connect-policy": ("lambda:InvokeFunction", "lambda:*"),
        },
        then="iam.put_role_policy(RoleName='ev05-workflow-role', PolicyName='Mine', PolicyDocument=policy)",
    ),
    Mistake(
        "connect",
        ("machine", "states", "retry", "catch"),
        change={
            "connect-choice": ('"Default": "Rejected"', '"Default": "StoreOrder"'),
            "connect-store": (
                '2}\ncatch = {"ErrorEquals": ["InvalidOrder"], "ResultPath": "$.failure"',
                '3}\ncatch = {"ErrorEquals": ["InvalidOrder"], "ResultPath": "$.saved"',
            ),
            "connect-create": ('name="ev05-orders"', 'name="ev05-other"'),
        },
    ),
    Mistake(
        "run", ("first", "repeated", "different", "runs"), skip=("run-first", "run-repeat", "run-different"), long=True
    ),
    Mistake(
        "run",
        ("decisions", "orders", "first", "repeated"),
        long=True,
        change={"deploy-code": _NO_GUARD},
        then="dynamodb.delete_item(TableName='ev05-orders', Key={'id': {'S': 'different-order'}})",
    ),
    Mistake(
        "break",
        ("flaky", "rejected", "quantities", "conflict", "permission", "same-name", "bounded"),
        long=True,
        skip=(
            "break-flaky-run",
            "break-permanent-run",
            "break-quantity-run",
            "break-conflict-run",
            "break-permission-run",
            "break-permission-back",
            "break-name-run",
            "break-name-closed",
            "break-failures-run",
        ),
    ),
    Mistake(
        "clean-up",
        ("machine", "role", "orders", "log-group"),
        long=True,
        skip=("clean-up-machine", "clean-up-role", "clean-up-items", "clean-up-logs"),
    ),
    Mistake(
        "clean-up",
        ("kept", "reference"),
        through="provided-tables",
        then="dynamodb.delete_table(TableName='ev05-reference')",
    ),
)

MISTAKES = {
    "order-file": ORDER_FILE,
    "idempotent-consumer": IDEMPOTENT_CONSUMER,
    "protected-workflow": PROTECTED_WORKFLOW,
}


@pytest.mark.parametrize("slug", MISTAKES)
def test_each_point_has_a_mistake_here(slug: str) -> None:
    texts = LessonTexts(slug)
    points = {(step, point) for step in texts.checked_steps for point in texts.checks(step)}
    assert {(mistake.step, point) for mistake in MISTAKES[slug] for point in mistake.points} == points


LONG = pytest.mark.skipif(
    os.environ.get("ONCE_ALL_SOLUTIONS") != "1",
    reason="takes long; with ONCE_ALL_SOLUTIONS=1 every solution is tried: do it after a change of a solution",
)


@pytest.fixture(scope="module")
def walk(request: pytest.FixtureRequest) -> Iterator[Walk]:
    with Lab(request.param, "en") as lab:
        yield Walk(lab, request.param.replace("-", "_"))


@pytest.mark.parametrize(
    ("walk", "mistake"),
    [
        pytest.param(
            slug, mistake, marks=LONG if mistake.long else (), id=f"{slug}-{mistake.step}-{'+'.join(mistake.points)}"
        )
        for slug, mistakes in MISTAKES.items()
        for mistake in mistakes
    ],
    indirect=["walk"],
    scope="module",
)
def test_a_solution_makes_its_point_right(walk: Walk, mistake: Mistake) -> None:
    walk.go(mistake)
    before = {point: walk.found(point) for point in mistake.points}
    assert [point for point, item in before.items() if item.outcome == "right"] == []
    for point in mistake.points:
        walk.solve(point)
        assert walk.found(point).outcome == "right", (before[point], walk.found(point))
