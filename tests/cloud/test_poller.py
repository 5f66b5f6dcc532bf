"""Delivery from a queue to a function: one test for each row of the facts, and their neighbours."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from helpers.cloud import Cloud, NotAtRest
from helpers.cloud.journal import (
    MessageAcknowledged,
    MessageDeadLettered,
    MessageReceived,
    MessageReturned,
    RunEnded,
    RunStarted,
)
from tests.cloud.queue_stage import Stage, release


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


def bodies(runs: list[list[dict[str, Any]]]) -> list[list[Any]]:
    return [[json.loads(record["body"]).get("n") for record in records] for records in runs]


def counts(runs: list[list[dict[str, Any]]]) -> list[str]:
    return [record["attributes"]["ApproximateReceiveCount"] for records in runs for record in records]


def test_send_message_returns_while_the_function_still_runs(stage: Stage, tmp_path: Path) -> None:
    url = stage.queue("at-once")
    stage.map(url)
    stage.send(url, {"do": "wait", "file": str(tmp_path / "go")})
    assert stage.ended(url) == 0
    release(tmp_path / "go")
    stage.cloud.settle()
    assert stage.ended(url) == 1
    assert stage.count(url) == stage.count(url, "NotVisible") == 0


def test_messages_that_were_waiting_are_delivered_once_the_mapping_is_enabled(stage: Stage) -> None:
    url = stage.queue("waiting-before")
    sent = stage.send(url, {"n": 1}, {"n": 2})
    stage.map(url)
    stage.cloud.settle()
    assert sorted(record["messageId"] for records in stage.runs(url) for record in records) == sorted(sent)


def test_messages_sent_while_disabled_are_delivered_once_the_mapping_is_enabled(stage: Stage) -> None:
    url = stage.queue("sent-while-disabled")
    uuid = stage.map(url, Enabled=False)
    stage.send(url, {"n": 1})
    stage.cloud.settle()
    assert stage.runs(url) == []
    stage.functions.update_event_source_mapping(UUID=uuid, Enabled=True)
    stage.wait_for_state(uuid, "Enabled")
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[1]]


def test_a_delayed_message_is_delivered_when_its_delay_ends(stage: Stage) -> None:
    url = stage.queue("delayed")
    stage.map(url)
    stage.send(url, {"n": 1}, DelaySeconds=600)
    stage.cloud.settle()
    assert (stage.runs(url), stage.count(url, "Delayed")) == ([], 1)
    stage.cloud.skip(601)
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[1]]


def test_a_delay_ends_in_real_time_without_any_call(stage: Stage) -> None:
    url = stage.queue("delayed-a-second")
    stage.map(url)
    stage.send(url, {"n": 1}, DelaySeconds=1)
    stage.wait_until(lambda: stage.ended(url) == 1)


def test_a_batch_holds_at_most_ten_records_by_default(stage: Stage) -> None:
    url = stage.queue("ten")
    stage.send(url, *({"n": n} for n in range(23)))
    stage.map(url)
    stage.cloud.settle()
    sizes = sorted(len(records) for records in stage.runs(url))
    assert sizes == [3, 10, 10]


def test_a_larger_batch_is_gathered_in_the_batching_window(stage: Stage) -> None:
    url = stage.queue("window")
    stage.map(url, BatchSize=50, MaximumBatchingWindowInSeconds=300)
    stage.send(url, *({"n": n} for n in range(12)))
    stage.wait_until(lambda: stage.count(url, "NotVisible") == 12)
    with pytest.raises(NotAtRest, match="12 queue window"):
        stage.cloud.settle(timeout=0.1)
    assert stage.runs(url) == []
    stage.cloud.skip(301)
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [list(range(12))]


def test_a_full_batch_does_not_wait_for_its_window(stage: Stage) -> None:
    url = stage.queue("full-window")
    stage.send(url, *({"n": n} for n in range(11)))
    stage.map(url, BatchSize=11, MaximumBatchingWindowInSeconds=300)
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [list(range(11))]


def test_disabling_gives_up_what_the_window_gathered(stage: Stage) -> None:
    url = stage.queue("window-disabled", VisibilityTimeout="60")
    uuid = stage.map(url, BatchSize=50, MaximumBatchingWindowInSeconds=300)
    stage.send(url, {"n": 1})
    stage.wait_until(lambda: stage.count(url, "NotVisible") == 1)
    stage.functions.update_event_source_mapping(UUID=uuid, Enabled=False)
    stage.wait_for_state(uuid, "Disabled")
    stage.cloud.skip(301)
    stage.cloud.settle()
    assert (stage.runs(url), stage.count(url)) == ([], 1)


def test_a_batch_that_fails_comes_again_after_the_visibility_timeout(stage: Stage) -> None:
    url = stage.queue("fails-once", VisibilityTimeout="120")
    sent = stage.send(url, {"n": 1}, {"n": 2, "do": "fail", "until": 2})
    stage.map(url)
    stage.cloud.settle()
    assert stage.count(url, "NotVisible") == 2
    stage.cloud.skip(119)
    stage.cloud.settle()
    assert len(stage.runs(url)) == 1
    stage.cloud.skip(2)
    stage.cloud.settle()
    first, second = stage.runs(url)
    assert [r["messageId"] for r in first] == [r["messageId"] for r in second] == sent
    assert {r["receiptHandle"] for r in first}.isdisjoint(r["receiptHandle"] for r in second)
    assert counts([first, second]) == ["1", "1", "2", "2"]
    assert (
        first[0]["attributes"]["ApproximateFirstReceiveTimestamp"]
        == (second[0]["attributes"]["ApproximateFirstReceiveTimestamp"])
    )
    assert stage.count(url) == stage.count(url, "NotVisible") == 0
    assert [event.reason for event in stage.events(MessageReturned, url)] == ["error", "error"]


def test_a_visibility_timeout_ends_in_real_time_without_any_call(stage: Stage) -> None:
    stage.deploy("stage-second", timeout=1)
    url = stage.queue("visible-after-a-second", VisibilityTimeout="1")
    stage.map(url, FunctionName="stage-second")
    stage.send(url, {"do": "fail", "until": 2})
    stage.wait_until(lambda: len(stage.runs(url)) == 2)
    assert counts(stage.runs(url)) == ["1", "2"]


@pytest.mark.parametrize(("order", "reason"), [({"do": "sleep", "seconds": 30}, "timeout"), ({"do": "exit"}, "crash")])
def test_a_run_that_ends_without_an_answer_gives_its_messages_back(
    stage: Stage, order: dict[str, Any], reason: str
) -> None:
    if reason == "timeout":
        stage.deploy("stage-short", timeout=1)
    url = stage.queue(f"ends-by-{reason}")
    stage.map(url, FunctionName="stage-short" if reason == "timeout" else stage.function)
    stage.send(url, order)
    stage.cloud.settle()
    assert stage.count(url, "NotVisible") == 1
    assert [event.reason for event in stage.events(MessageReturned, url)] == [reason]
    stage.sqs.purge_queue(QueueUrl=url)


def test_a_throttled_run_gives_its_messages_back(stage: Stage) -> None:
    stage.deploy("stage-throttled")
    stage.functions.put_function_concurrency(FunctionName="stage-throttled", ReservedConcurrentExecutions=0)
    url = stage.queue("throttled")
    stage.map(url, FunctionName="stage-throttled")
    stage.send(url, {"n": 1})
    stage.cloud.settle()
    assert (stage.runs(url), stage.count(url, "NotVisible")) == ([], 1)
    assert [event.reason for event in stage.events(MessageReturned, url)] == ["throttled"]
    stage.functions.delete_function_concurrency(FunctionName="stage-throttled")
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert counts(stage.runs(url)) == ["2"]


def test_only_reported_messages_return(stage: Stage) -> None:
    url = stage.queue("reports")
    sent = stage.send(url, {"n": 1}, {"n": 2, "do": "report"}, {"n": 3})
    stage.map(url, FunctionResponseTypes=["ReportBatchItemFailures"])
    stage.cloud.settle()
    returned = stage.events(MessageReturned, url)
    assert [(event.message_id, event.reason) for event in returned] == [(sent[1], "reported")]
    assert [event.message_id for event in stage.events(MessageAcknowledged, url)] == [sent[0], sent[2]]
    assert stage.count(url, "NotVisible") == 1
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[1, 2, 3], [2]]


def test_a_report_is_ignored_unless_the_mapping_asks_for_it(stage: Stage) -> None:
    url = stage.queue("report-ignored")
    stage.send(url, {"do": "report"})
    stage.map(url)
    stage.cloud.settle()
    assert stage.count(url) == stage.count(url, "NotVisible") == 0


@pytest.mark.parametrize(
    "answer", [{}, None, {"batchItemFailures": []}, {"batchItemFailures": None}, {"other": 1}], ids=json.dumps
)
def test_an_answer_that_reports_nothing_means_that_all_succeeded(stage: Stage, answer: Any) -> None:
    url = stage.queue("all-good-" + hashlib.md5(json.dumps(answer).encode()).hexdigest())
    stage.send(url, {"n": 1}, {"do": "answer", "answer": answer})
    stage.map(url, FunctionResponseTypes=["ReportBatchItemFailures"])
    stage.cloud.settle()
    assert len(stage.runs(url)) == 1
    assert stage.count(url) == stage.count(url, "NotVisible") == 0


@pytest.mark.parametrize(
    "answer",
    [
        {"batchItemFailures": [{"itemIdentifier": "unknown"}]},
        {"batchItemFailures": [{"itemIdentifier": ""}]},
        {"batchItemFailures": [{"itemIdentifier": None}]},
        {"batchItemFailures": [{"id": "x"}]},
        {"batchItemFailures": "all"},
        "no object",
    ],
    ids=json.dumps,
)
def test_an_answer_that_makes_no_sense_means_that_all_failed(stage: Stage, answer: Any) -> None:
    url = stage.queue("all-bad-" + hashlib.md5(json.dumps(answer).encode()).hexdigest())
    stage.send(url, {"n": 1}, {"do": "answer", "answer": answer})
    stage.map(url, FunctionResponseTypes=["ReportBatchItemFailures"])
    stage.cloud.settle()
    assert stage.count(url, "NotVisible") == 2
    assert stage.events(MessageAcknowledged, url) == []
    stage.sqs.purge_queue(QueueUrl=url)


def test_an_exception_means_that_all_failed_also_when_failures_are_reported(stage: Stage) -> None:
    url = stage.queue("report-and-raise")
    stage.send(url, {"n": 1}, {"do": "fail"})
    stage.map(url, FunctionResponseTypes=["ReportBatchItemFailures"])
    stage.cloud.settle()
    assert stage.count(url, "NotVisible") == 2
    stage.sqs.purge_queue(QueueUrl=url)


def test_after_max_receive_count_runs_the_message_is_in_the_dead_letter_queue(stage: Stage) -> None:
    dead = stage.queue("dead")
    url = stage.queue("dies", RedrivePolicy={"deadLetterTargetArn": stage.arn(dead), "maxReceiveCount": 3})
    stage.map(url)
    (sent,) = stage.send(url, {"do": "fail"})
    for _ in range(5):
        stage.cloud.settle()
        stage.cloud.skip(31)
    stage.cloud.settle()
    assert counts(stage.runs(url)) == ["1", "2", "3"]
    assert stage.count(url) == stage.count(url, "NotVisible") == 0
    (moved,) = stage.events(MessageDeadLettered, url)
    assert (moved.message_id, moved.dead_letter_queue) == (sent, "dead")
    (message,) = stage.sqs.receive_message(QueueUrl=dead, AttributeNames=["All"])["Messages"]
    assert message["MessageId"] == sent
    assert message["Attributes"]["SentTimestamp"] == stage.runs(url)[0][0]["attributes"]["SentTimestamp"]


def test_a_message_is_not_dead_before_its_last_visibility_timeout_ends(stage: Stage) -> None:
    dead = stage.queue("dead-later")
    url = stage.queue("dies-later", RedrivePolicy={"deadLetterTargetArn": stage.arn(dead), "maxReceiveCount": 1})
    stage.map(url)
    stage.send(url, {"do": "fail"})
    stage.cloud.settle()
    assert (stage.count(url, "NotVisible"), stage.count(dead)) == (1, 0)
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert (stage.count(url, "NotVisible"), stage.count(dead)) == (0, 1)


def test_a_mapping_on_the_dead_letter_queue_gets_what_arrives_there(stage: Stage) -> None:
    dead = stage.queue("dead-mapped")
    url = stage.queue("dies-mapped", RedrivePolicy={"deadLetterTargetArn": stage.arn(dead), "maxReceiveCount": 1})
    stage.map(url)
    stage.map(dead)
    (sent,) = stage.send(url, {"do": "fail", "until": 2})
    stage.cloud.settle()
    stage.cloud.skip(31)
    stage.cloud.settle()
    ((record,),) = stage.runs(dead)
    assert record["messageId"] == sent
    assert record["attributes"]["DeadLetterQueueSourceArn"] == stage.arn(url)


def test_a_deleted_dead_letter_queue_takes_nothing(stage: Stage) -> None:
    dead = stage.queue("dead-and-gone")
    url = stage.queue("survives", RedrivePolicy={"deadLetterTargetArn": stage.arn(dead), "maxReceiveCount": 1})
    stage.sqs.delete_queue(QueueUrl=dead)
    stage.map(url)
    stage.send(url, {"do": "fail", "until": 2})
    stage.cloud.settle()
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert counts(stage.runs(url)) == ["1", "2"]


def test_a_queue_that_is_its_own_dead_letter_queue_goes_on_delivering(stage: Stage) -> None:
    url = stage.queue("its-own")
    policy = json.dumps({"deadLetterTargetArn": stage.arn(url), "maxReceiveCount": "1"})
    stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": policy})
    stage.map(url)
    stage.send(url, {"do": "fail", "until": 2})
    stage.cloud.settle()
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert counts(stage.runs(url)) == ["1", "2"]


def test_deleting_the_mapping_stops_delivery(stage: Stage) -> None:
    url = stage.queue("stops")
    uuid = stage.map(url)
    assert stage.functions.delete_event_source_mapping(UUID=uuid)["State"] == "Deleting"
    stage.wait_for_state(uuid, "gone")
    stage.send(url, {"n": 1})
    stage.cloud.settle()
    assert (stage.runs(url), stage.count(url)) == ([], 1)


@pytest.mark.parametrize("how", ["delete", "disable"])
def test_a_run_under_way_ends_and_its_messages_are_settled(stage: Stage, tmp_path: Path, how: str) -> None:
    url = stage.queue(f"under-way-{how}")
    uuid = stage.map(url)
    stage.send(url, {"do": "wait", "file": str(tmp_path / "go")})
    stage.wait_until(lambda: stage.runs(url))
    if how == "delete":
        stage.functions.delete_event_source_mapping(UUID=uuid)
        assert stage.state(uuid) == "Deleting"
    else:
        stage.functions.update_event_source_mapping(UUID=uuid, Enabled=False)
        assert stage.state(uuid) == "Disabling"
    stage.send(url, {"n": 1})
    release(tmp_path / "go")
    stage.cloud.settle()
    assert stage.state(uuid) == ("gone" if how == "delete" else "Disabled")
    assert len(stage.runs(url)) == len(stage.events(MessageAcknowledged, url)) == 1
    assert (stage.count(url), stage.count(url, "NotVisible")) == (1, 0)


def test_a_record_has_the_members_that_aws_sends(stage: Stage) -> None:
    url = stage.queue("record")
    stage.map(url)
    (sent,) = stage.send(url, {"é": "ü"})
    stage.cloud.settle()
    ((record,),) = stage.runs(url)
    assert list(record) == [
        "messageId",
        "receiptHandle",
        "body",
        "attributes",
        "messageAttributes",
        "md5OfBody",
        "eventSource",
        "eventSourceARN",
        "awsRegion",
    ]
    assert record["messageId"] == sent
    assert record["body"] == json.dumps({"é": "ü"})
    assert record["md5OfBody"] == hashlib.md5(record["body"].encode()).hexdigest()
    assert record["messageAttributes"] == {}
    assert (record["eventSource"], record["awsRegion"]) == ("aws:sqs", "us-east-1")
    attributes = record["attributes"]
    assert set(attributes) == {
        "ApproximateReceiveCount",
        "SentTimestamp",
        "SenderId",
        "ApproximateFirstReceiveTimestamp",
    }
    assert all(isinstance(value, str) for value in attributes.values())
    now = stage.cloud.clock.now() * 1000
    assert now - 20_000 < int(attributes["SentTimestamp"]) <= int(attributes["ApproximateFirstReceiveTimestamp"]) <= now


def test_message_attributes_have_lambdas_shape(stage: Stage) -> None:
    url = stage.queue("attributes")
    stage.map(url)
    members = {
        "text": {"DataType": "String", "StringValue": "a"},
        "number": {"DataType": "Number", "StringValue": "4"},
        "bytes": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"},
    }
    answer = stage.sqs.send_message(QueueUrl=url, MessageBody="{}", MessageAttributes=members)
    stage.cloud.settle()
    ((record,),) = stage.runs(url)
    lists = {"stringListValues": [], "binaryListValues": []}
    assert record["messageAttributes"] == {
        "text": {"stringValue": "a", **lists, "dataType": "String"},
        "number": {"stringValue": "4", **lists, "dataType": "Number"},
        "bytes": {"binaryValue": "AP8=", **lists, "dataType": "Binary.png"},
    }
    assert record["md5OfMessageAttributes"] == answer["MD5OfMessageAttributes"]


def test_a_fifo_record_says_its_group_and_place(stage: Stage) -> None:
    url = stage.queue("record.fifo", FifoQueue="true")
    stage.map(url)
    stage.send(url, {"n": 1}, MessageGroupId="g", MessageDeduplicationId="d")
    stage.cloud.settle()
    ((record,),) = stage.runs(url)
    attributes = record["attributes"]
    assert (attributes["MessageGroupId"], attributes["MessageDeduplicationId"]) == ("g", "d")
    assert attributes["SequenceNumber"].isdigit()


def test_a_fifo_group_keeps_its_order_when_its_head_fails(stage: Stage) -> None:
    url = stage.queue("order.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    stage.send(url, {"n": 1}, {"n": 2, "do": "fail", "until": 2}, {"n": 3}, MessageGroupId="a")
    stage.send(url, {"n": 10}, {"n": 11}, MessageGroupId="b")
    stage.map(url, BatchSize=1)
    stage.cloud.settle()
    started = [n for (n,) in bodies(stage.runs(url))]
    assert [n for n in started if n < 10] == [1, 2]
    assert [n for n in started if n >= 10] == [10, 11]
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert [n for (n,) in bodies(stage.runs(url)) if n < 10] == [1, 2, 2, 3]


def test_one_fifo_group_is_handled_by_one_run_at_a_time(stage: Stage, tmp_path: Path) -> None:
    url = stage.queue("alone.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    stage.map(url, BatchSize=1)
    stage.send(url, {"do": "wait", "file": str(tmp_path / "go")}, {"n": 2}, MessageGroupId="a")
    stage.send(url, {"n": 3}, MessageGroupId="b")
    stage.wait_until(lambda: len(stage.runs(url)) == 2 and stage.ended(url) == 1)
    assert bodies(stage.runs(url)) == [[None], [3]]
    release(tmp_path / "go")
    stage.cloud.settle()
    assert bodies(stage.runs(url))[2:] == [[2]]


@pytest.mark.parametrize("limit", [None, 2])
def test_batches_run_at_once_up_to_the_limit(
    stage: Stage, tmp_path: Path, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without hesitation all that may start is taken in one go, so that one look shows whether it was too much.
    monkeypatch.setattr("helpers.cloud.poller._PATIENCE", 0.0)
    url = stage.queue(f"concurrent-{limit}")
    scaling = {"ScalingConfig": {"MaximumConcurrency": limit}} if limit else {}
    stage.send(url, *({"do": "wait", "file": str(tmp_path / "go"), "n": n} for n in range(7)))
    stage.map(url, BatchSize=1, **scaling)
    most = limit or 5
    stage.wait_until(lambda: len(stage.runs(url)) == most)
    assert (stage.count(url, "NotVisible"), stage.count(url)) == (most, 7 - most)
    release(tmp_path / "go")
    stage.cloud.settle()
    known = {event.request_id for event, _ in stage.starts(url)}
    running = highest = 0
    for event in stage.cloud.journal.events(RunStarted, RunEnded):
        if event.request_id in known:
            running += 1 if isinstance(event, RunStarted) else -1
            highest = max(highest, running)
    assert (len(known), highest) == (7, most)


def test_a_batch_stays_within_six_megabytes(stage: Stage) -> None:
    url = stage.queue("large")
    body = json.dumps({"text": "x" * 1_000_000})
    for _ in range(8):
        stage.sqs.send_message(QueueUrl=url, MessageBody=body)
    stage.map(url, BatchSize=10, MaximumBatchingWindowInSeconds=1)
    stage.wait_until(lambda: stage.ended(url) == 2)
    sizes = [len(event.payload.encode()) for event, _ in stage.starts(url)]
    assert [len(records) for records in stage.runs(url)] == [6, 2]
    assert max(sizes) <= 6 * 1024 * 1024


def test_messages_that_no_filter_lets_pass_are_deleted_without_a_run(stage: Stage) -> None:
    url = stage.queue("filtered")
    pattern = json.dumps({"body": {"n": [{"numeric": [">", 2]}]}})
    stage.map(url, FilterCriteria={"Filters": [{"Pattern": pattern}]})
    stage.send(url, {"n": 1}, {"n": 3}, {"other": 1})
    stage.sqs.send_message(QueueUrl=url, MessageBody="no JSON")
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[3]]
    assert stage.count(url) == stage.count(url, "NotVisible") == 0


def test_an_expired_message_is_not_delivered(stage: Stage) -> None:
    url = stage.queue("expires", MessageRetentionPeriod="60")
    uuid = stage.map(url, Enabled=False)
    stage.send(url, {"n": 1})
    stage.cloud.skip(61)
    stage.send(url, {"n": 2})
    stage.functions.update_event_source_mapping(UUID=uuid, Enabled=True)
    stage.wait_for_state(uuid, "Enabled")
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[2]]
    assert stage.count(url) == 0


def test_two_mappings_of_one_queue_share_its_messages(stage: Stage) -> None:
    stage.deploy("stage-second-reader")
    url = stage.queue("shared")
    stage.map(url, BatchSize=1)
    stage.map(url, FunctionName="stage-second-reader", BatchSize=1)
    sent = stage.send(url, *({"n": n} for n in range(10)))
    stage.cloud.settle()
    assert sorted(record["messageId"] for records in stage.runs(url) for record in records) == sorted(sent)


def test_a_message_that_the_handler_deleted_is_acknowledged_once(stage: Stage) -> None:
    url = stage.queue("self-deleting")
    stage.map(url)
    stage.send(url, {"do": "delete", "queue": url})
    stage.cloud.settle()
    (event,) = stage.events(MessageAcknowledged, url)
    assert event.caller.kind == "function"


def test_a_lost_acknowledgement_brings_the_same_message_again(stage: Stage) -> None:
    url = stage.queue("lost-acknowledgement")
    stage.map(url)
    stage.cloud.faults.lose_acknowledgement("lost-acknowledgement")
    sent = stage.send(url, {"n": 1})
    stage.cloud.settle()
    assert stage.count(url, "NotVisible") == 1
    assert stage.events(MessageAcknowledged, url) == []
    assert stage.cloud.faults.armed() == []
    stage.cloud.skip(31)
    stage.cloud.settle()
    assert [record["messageId"] for records in stage.runs(url) for record in records] == sent * 2
    assert counts(stage.runs(url)) == ["1", "2"]
    (acknowledged,) = stage.events(MessageAcknowledged, url)
    assert acknowledged.message_id == sent[0]


def test_the_journal_tells_which_run_got_a_message(stage: Stage) -> None:
    url = stage.queue("told")
    uuid = stage.map(url)
    (sent,) = stage.send(url, {"n": 1})
    stage.cloud.settle()
    ((run, _),) = stage.starts(url)
    (received,) = stage.events(MessageReceived, url)
    (acknowledged,) = stage.events(MessageAcknowledged, url)
    assert (received.message_id, received.receive_count) == (sent, 1)
    assert (received.caller.kind, received.caller.name) == ("service", uuid)
    assert received.caller.request_id == acknowledged.caller.request_id == run.request_id
    assert (run.source, received.number < run.number < acknowledged.number) == ("mapping", True)


def test_a_queue_that_is_deleted_and_made_again_is_polled_again(stage: Stage) -> None:
    url = stage.queue("made-again")
    uuid = stage.map(url)
    stage.sqs.delete_queue(QueueUrl=url)
    stage.cloud.settle()
    assert stage.state(uuid) == "Enabled"
    stage.cloud.skip(61)
    stage.queue("made-again")
    stage.send(url, {"n": 1})
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[1]]


def test_messages_wait_while_the_function_does_not_exist(stage: Stage) -> None:
    stage.deploy("stage-comes-and-goes")
    url = stage.queue("no-function")
    uuid = stage.map(url, FunctionName="stage-comes-and-goes")
    stage.functions.delete_function(FunctionName="stage-comes-and-goes")
    stage.send(url, {"n": 1})
    stage.cloud.settle()
    assert (stage.state(uuid), stage.count(url)) == ("Enabled", 1)
    stage.deploy("stage-comes-and-goes")
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[1]]


def test_a_hidden_message_is_at_rest_and_a_visible_one_is_not(stage: Stage, tmp_path: Path) -> None:
    url = stage.queue("rest")
    stage.map(url, BatchSize=1, ScalingConfig={"MaximumConcurrency": 2})
    stage.send(url, *[{"do": "wait", "file": str(tmp_path / "go")}] * 3)
    stage.wait_until(lambda: len(stage.runs(url)) == 2)
    kinds = {(busy.kind, busy.name, busy.count) for busy in stage.cloud.busy()}
    assert ("queue", "rest", 1) in kinds
    assert any(kind == "mapping" and count == 2 for kind, _, count in kinds)
    release(tmp_path / "go")
    stage.cloud.settle()
    stage.send(url, {"do": "fail", "until": 2})
    stage.cloud.settle()
    assert stage.count(url, "NotVisible") == 1


def test_the_handle_of_a_run_that_lasted_too_long_still_deletes_on_a_standard_queue(
    stage: Stage, tmp_path: Path
) -> None:
    url = stage.queue("late", VisibilityTimeout="30")
    stage.map(url)
    stage.send(url, {"do": "wait", "file": str(tmp_path / "go")})
    stage.wait_until(lambda: len(stage.runs(url)) == 1)
    stage.cloud.skip(31)
    stage.wait_until(lambda: len(stage.runs(url)) == 2)
    release(tmp_path / "go")
    stage.cloud.settle()
    assert counts(stage.runs(url)) == ["1", "2"]
    assert stage.count(url) == stage.count(url, "NotVisible") == 0
    assert len(stage.events(MessageAcknowledged, url)) == 1


def test_slow_runs_get_company_after_a_moment(stage: Stage, tmp_path: Path) -> None:
    url = stage.queue("company")
    stage.map(url, BatchSize=1)
    stage.send(url, *[{"do": "wait", "file": str(tmp_path / "go")}] * 3)
    stage.wait_until(lambda: len(stage.runs(url)) == 3)
    assert stage.ended(url) == 0
    release(tmp_path / "go")
    stage.cloud.settle()


def test_quick_runs_follow_each_other_in_one_worker(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helpers.cloud.poller._PATIENCE", 60.0)
    url = stage.queue("quick")
    stage.send(url, *({"n": n} for n in range(20)))
    stage.map(url, BatchSize=1)
    stage.cloud.settle()
    assert bodies(stage.runs(url)) == [[n] for n in range(20)]


def until_next_look(stage: Stage) -> float | None:
    """Seconds for which the poller would sleep now; None: until something happens."""
    return stage.cloud.event_sources._poller._deliver()


def test_the_poller_sleeps_until_the_next_message_becomes_visible(cloud: Cloud) -> None:
    for mapping in cloud.event_sources.mappings():
        cloud.client("lambda").delete_event_source_mapping(UUID=mapping["UUID"])
    cloud.settle()
    stage = Stage(cloud, name="sleeper")
    assert until_next_look(stage) is None
    url = stage.queue("sleeps.fifo", FifoQueue="true", ContentBasedDeduplication="true", VisibilityTimeout="600")
    stage.map(url, BatchSize=1)
    assert until_next_look(stage) is None
    stage.send(url, {"do": "fail"}, {"n": 2}, MessageGroupId="a")
    stage.cloud.settle()
    assert 550 < (until_next_look(stage) or 0) <= 601
    delayed = stage.queue("sleeps-less")
    stage.map(delayed)
    stage.send(delayed, {"n": 1}, DelaySeconds=100)
    assert 50 < (until_next_look(stage) or 0) <= 101
