"""The checks of the lesson *order-file*: each point right, and each way in which it is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.lab import Lab
from helpers.lab.errors import StepMissing
from tests.lab.order_file_stage import ARN, BUCKET, DEAD, QUEUE, Shopper


@pytest.fixture(scope="module")
def opened() -> Iterator[Lab]:
    with Lab("order-file", "en") as lab:
        yield lab


@pytest.fixture
def shopper(opened: Lab) -> Shopper:
    """A fresh account."""
    if opened.cloud.journal.last != opened._lesson.provided_at:
        opened.reset()
    return Shopper(opened)


STEPS = ("connect", "upload", "write", "batch", "break", "clean-up")


def test_nothing_is_attempted_in_the_beginning(shopper):
    for step in STEPS[:-1]:
        assert set(shopper.outcomes(step).values()) == {"not-attempted"}, step
    untouched = shopper.outcomes("clean-up")
    assert (untouched.pop("kept"), untouched.pop("reference")) == ("right", "right")
    assert set(untouched.values()) == {"not-attempted"}


def test_the_whole_lesson_passes_each_check(shopper):
    shopper.connect()
    assert shopper.lab.check("connect").passed
    message = shopper.upload()
    assert shopper.lab.check("upload").passed
    assert shopper.write()
    assert not shopper.write()
    assert shopper.lab.check("write").passed
    shopper.delete(message)
    shopper.redrive()
    for key in ("orders/Ana Ruiz/1002", "orders/m-2", "orders/Ana Ruiz/1004"):
        shopper.put(key)
    shopper.map()
    assert shopper.outcomes("batch")["good"] == "right"
    assert shopper.detail("batch", "broken") == "Receives of the message so far: 1 of 3."
    shopper.returns(1)
    assert shopper.detail("batch", "broken") == "Receives of the message so far: 2 of 3."
    shopper.returns(2)
    assert shopper.lab.check("batch").passed
    shopper.lab.faults.upload_again()
    shopper.lab.settle()
    shopper.lab.faults.send_twice()
    shopper.lab.settle()
    shopper.lab.faults.slow_worker()
    shopper.put("orders/Ana Ruiz/1005", quantity=3)
    shopper.lab.settle()
    shopper.lab.faults.broken_message()
    shopper.lab.settle(skip_waits=True)
    assert shopper.lab.check("break").passed
    shopper.clean_up()
    assert shopper.lab.check("clean-up").passed
    assert shopper.lab.view().reference == "keep unchanged"


def test_a_network_error_proves_nothing(shopper):
    shopper.up_to_batch()
    before = {step: shopper.outcomes(step) for step in ("connect", "write", "batch")}
    assert {outcome for outcomes in before.values() for outcome in outcomes.values()} == {"right"}
    faults = shopper.lab.cloud.faults
    for service, action in (
        ("s3", "ListBuckets"),
        ("sqs", "GetQueueUrl"),
        ("dynamodb", "Scan"),
        ("lambda", "ListEventSourceMappings"),
    ):
        faults.server_error(service, action, times=500)
    found = {step: shopper.outcomes(step) for step in ("connect", "write", "batch")}
    assert set(found["connect"].values()) == {"cannot-tell"}
    assert found["write"]["stored"] == "cannot-tell"
    assert {found["batch"][point] for point in ("redrive", "mapping", "good")} == {"cannot-tell"}


# --- connect --------------------------------------------------------------------------------------------


def test_other_names_are_named(shopper):
    shopper.client("s3").create_bucket(Bucket="shop-files")
    shopper.client("sqs").create_queue(QueueName="shop-upload")
    assert "`shop-files`" in shopper.detail("connect", "bucket")
    assert "`shop-upload`" in shopper.detail("connect", "queue")


def test_another_timeout_policy_or_rule_is_not_yet(shopper):
    shopper.client("s3").create_bucket(Bucket=BUCKET)
    shopper.client("sqs").create_queue(QueueName=QUEUE, Attributes={"VisibilityTimeout": "10"})
    assert "10 seconds" in shopper.detail("connect", "queue")
    assert shopper.outcomes("connect")["policy"] == "not-attempted"
    for wrong in (
        {"Principal": {"Service": "sns.amazonaws.com"}},
        {"Action": "sqs:ReceiveMessage"},
        {"Effect": "Deny"},
    ):
        shopper.allow(**wrong)
        assert "s3.amazonaws.com" in shopper.detail("connect", "policy")
    assert shopper.outcomes("connect")["notification"] == "not-attempted"
    shopper.allow(Principal="*", Action=["sqs:*"])
    assert shopper.outcomes("connect")["policy"] == "right"
    shopper.notify("s3:ObjectRemoved:*")
    assert "`s3:ObjectRemoved:*`" in shopper.detail("connect", "notification")
    shopper.notify("s3:ObjectCreated:Put")
    assert shopper.outcomes("connect")["notification"] == "right"


def test_a_rule_for_another_queue_is_named(shopper):
    shopper.connect()
    sqs = shopper.client("sqs")
    other = sqs.create_queue(QueueName="shop-other")["QueueUrl"]
    policy = sqs.get_queue_attributes(QueueUrl=shopper.url(), AttributeNames=["Policy"])["Attributes"]["Policy"]
    sqs.set_queue_attributes(QueueUrl=other, Attributes={"Policy": policy.replace(ARN + QUEUE, ARN + "shop-other")})
    shopper.notify(queue="shop-other")
    assert "`shop-other`" in shopper.detail("connect", "notification")


# --- upload ---------------------------------------------------------------------------------------------


def test_a_test_event_that_stays_and_another_file_are_not_yet(shopper):
    shopper.connect()
    assert "still in the queue" in shopper.detail("upload", "test-event")
    shopper.put("orders/Eva/7")
    shopper.lab.settle()
    assert "`orders/Eva/7`" in shopper.detail("upload", "uploaded")
    assert "`orders/Ana Ruiz/1001`" in shopper.detail("upload", "arrived")
    shopper.put("orders/Ana Ruiz/1001")
    shopper.lab.settle()
    assert "Nobody has received it" in shopper.detail("upload", "arrived")
    assert len(shopper.receive()) == 3
    assert shopper.outcomes("upload")["arrived"] == "right"


# --- write ----------------------------------------------------------------------------------------------


def test_a_write_without_a_condition_and_an_overwrite_are_not_yet(shopper):
    assert shopper.write(guarded=False)
    assert "no condition" in shopper.detail("write", "condition")
    assert "only one write" in shopper.detail("write", "refused")
    assert shopper.write(guarded=False)
    assert "more than once" in shopper.detail("write", "refused")


def test_a_wrong_total_and_a_deleted_order_are_not_yet(shopper):
    shopper.write(total=1000)
    assert "total 1000" in shopper.detail("write", "stored")
    key = {"id": {"S": "Ana Ruiz/1001"}}
    shopper.client("dynamodb").delete_item(TableName="shop-orders", Key=key)
    assert "not in the table any more" in shopper.detail("write", "stored")


# --- batch ----------------------------------------------------------------------------------------------


def test_a_mapping_without_partial_responses_and_another_count_are_not_yet(shopper):
    shopper.up_to_write()
    shopper.redrive(count=5)
    assert "`maxReceiveCount` is 5" in shopper.detail("batch", "redrive")
    shopper.redrive(target="shop-grave")
    assert "`shop-grave`" in shopper.detail("batch", "redrive")
    shopper.map(FunctionResponseTypes=[])
    assert "`ReportBatchItemFailures`" in shopper.detail("batch", "mapping")


def test_without_partial_responses_the_broken_message_is_lost(shopper):
    shopper.up_to_write()
    shopper.redrive()
    shopper.put("orders/m-2")
    shopper.map(FunctionResponseTypes=[])
    assert "was deleted, although" in shopper.detail("batch", "broken")


def test_a_good_key_with_a_bad_file_says_what_the_log_says(shopper):
    shopper.up_to_write()
    shopper.map()
    shopper.put("orders/Ana Ruiz/1002", "hello")
    shopper.lab.settle()
    said = shopper.detail("batch", "good")
    assert "WAITING BadOrder not JSON, key: orders/Ana Ruiz/1002" in said


# --- break ----------------------------------------------------------------------------------------------


def test_a_worker_without_a_guard_does_not_pass(shopper):
    shopper.up_to_batch(returns=1)
    handler = shopper.lab._lesson.services.code("shop-worker")["app.py"].decode()
    from helpers.lab.services import zip_of

    unguarded = handler.replace('            ConditionExpression="attribute_not_exists(id)",\n', "")
    assert unguarded != handler
    functions = shopper.client("lambda")
    functions.update_function_code(FunctionName="shop-worker", ZipFile=zip_of({"app.py": unguarded}))
    shopper.lab.settle()
    shopper.lab.faults.upload_again()
    shopper.lab.settle()
    assert "more than once" in shopper.detail("break", "again")


def test_a_broken_message_must_not_be_deleted(shopper):
    shopper.connect()
    shopper.drop_test_event()
    shopper.lab.faults.broken_message()
    assert shopper.detail("break", "dead") == "Receives of the message so far: 0 of 3."
    for message in shopper.receive():
        shopper.delete(message)
    assert "Nobody can look at it" in shopper.detail("break", "dead")


# --- clean-up -------------------------------------------------------------------------------------------


def test_a_clean_up_half_done_says_what_is_left(shopper):
    shopper.up_to_batch()
    shopper.client("s3").delete_object(Bucket=BUCKET, Key="orders/m-2")
    assert "`orders/Ana Ruiz/1001`" in shopper.detail("clean-up", "bucket")
    shopper.empty_bucket()
    assert "still exists" in shopper.detail("clean-up", "bucket")
    shopper.client("sqs").delete_queue(QueueUrl=shopper.url(DEAD))
    assert f"`{QUEUE}`" in shopper.detail("clean-up", "queues")
    tables = shopper.client("dynamodb")
    tables.delete_item(TableName="shop-orders", Key={"id": {"S": "Ana Ruiz/1001"}})
    assert "`Ana Ruiz/1002`" in shopper.detail("clean-up", "orders")
    tables.put_item(TableName="shop-reference", Item={"id": {"S": "reference"}, "note": {"S": "changed"}})
    assert "`changed`" in shopper.detail("clean-up", "reference")
    tables.delete_table(TableName="shop-orders")
    assert "`shop-orders`" in shopper.detail("clean-up", "kept")


# --- a cell out of its order ------------------------------------------------------------------------------


def test_a_step_that_is_missing_is_named(shopper):
    with pytest.raises(StepMissing) as missing:
        shopper.lab.require("batch")
    assert missing.value.step == "connect"
    shopper.connect()
    with pytest.raises(StepMissing, match="one upload"):
        shopper.lab.require("write")
    shopper.upload()
    shopper.write()
    shopper.lab.require("write")
