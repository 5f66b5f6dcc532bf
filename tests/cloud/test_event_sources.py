"""The control plane of event source mappings: answers, states and refusals as AWS gives them."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from helpers.cloud import Cloud, event_filter, sqs_records
from helpers.cloud.mapping import function_arn
from tests.cloud.queue_stage import Stage, release

ALWAYS = {
    "UUID",
    "BatchSize",
    "MaximumBatchingWindowInSeconds",
    "EventSourceArn",
    "EventSourceMappingArn",
    "FunctionArn",
    "LastModified",
    "State",
    "StateTransitionReason",
    "FunctionResponseTypes",
}
WINDOW = "Maximum batch window in seconds must be greater than 0 if maximum batch size is greater than 10"
ABSENT = "12345678-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


@pytest.fixture
def queue(stage: Stage) -> str:
    return stage.queue(f"q-{uuid.uuid4()}")


def refusal(call: Callable[..., Any], **members: Any) -> tuple[str, str, int]:
    """Code, sentence and HTTP status of a call that must be refused."""
    with pytest.raises(ClientError) as refused:
        call(**members)
    answer = refused.value.response
    return answer["Error"]["Code"], answer["Error"]["Message"], answer["ResponseMetadata"]["HTTPStatusCode"]


def create(stage: Stage, url: str, **settings: Any) -> dict[str, Any]:
    members = {"EventSourceArn": stage.arn(url), "FunctionName": stage.function, **settings}
    answer: dict[str, Any] = stage.functions.create_event_source_mapping(**members)
    return answer


def create_refused(stage: Stage, url: str, **settings: Any) -> tuple[str, str, int]:
    members = {"EventSourceArn": stage.arn(url), "FunctionName": stage.function, **settings}
    return refusal(stage.functions.create_event_source_mapping, **members)


def test_create_answers_202_with_state_creating_then_enabled(stage: Stage, queue: str) -> None:
    answer = create(stage, queue)
    assert answer.pop("ResponseMetadata")["HTTPStatusCode"] == 202
    assert set(answer) == ALWAYS
    assert answer["State"] == "Creating"
    assert answer["StateTransitionReason"] == "USER_INITIATED"
    assert (answer["BatchSize"], answer["MaximumBatchingWindowInSeconds"]) == (10, 0)
    assert answer["FunctionResponseTypes"] == []
    assert answer["FunctionArn"] == f"arn:aws:lambda:us-east-1:123456789012:function:{stage.function}"
    assert answer["EventSourceMappingArn"].endswith(f":event-source-mapping:{answer['UUID']}")
    assert isinstance(answer["LastModified"], datetime.datetime)
    stage.wait_for_state(answer["UUID"], "Enabled")
    described = stage.functions.get_event_source_mapping(UUID=answer["UUID"])
    assert described.pop("ResponseMetadata")["HTTPStatusCode"] == 200
    assert described == {**answer, "State": "Enabled"}


def test_create_disabled_answers_202_with_state_disabled(stage: Stage, queue: str) -> None:
    answer = create(stage, queue, Enabled=False)
    assert (answer["ResponseMetadata"]["HTTPStatusCode"], answer["State"]) == (202, "Disabled")


def test_update_answers_202_with_the_new_values_and_a_state_that_passes(stage: Stage, queue: str) -> None:
    mapping = stage.map(queue)
    update = stage.functions.update_event_source_mapping
    answer = update(UUID=mapping, BatchSize=3, FunctionResponseTypes=["ReportBatchItemFailures"])
    assert (answer["ResponseMetadata"]["HTTPStatusCode"], answer["State"]) == (202, "Updating")
    assert (answer["BatchSize"], answer["FunctionResponseTypes"]) == (3, ["ReportBatchItemFailures"])
    stage.wait_for_state(mapping, "Enabled")
    assert update(UUID=mapping, Enabled=False)["State"] == "Disabling"
    stage.wait_for_state(mapping, "Disabled")
    assert update(UUID=mapping, BatchSize=4)["State"] == "Updating"
    stage.wait_for_state(mapping, "Disabled")
    assert update(UUID=mapping, Enabled=True)["State"] == "Enabling"
    stage.wait_for_state(mapping, "Enabled")
    described = stage.functions.get_event_source_mapping(UUID=mapping)
    assert (described["BatchSize"], described["FunctionResponseTypes"]) == (4, ["ReportBatchItemFailures"])


def test_update_keeps_what_it_does_not_name_and_empty_values_take_away(stage: Stage, queue: str) -> None:
    criteria = {"Filters": [{"Pattern": '{"body": {"a": ["b"]}}'}]}
    mapping = stage.map(
        queue,
        BatchSize=20,
        MaximumBatchingWindowInSeconds=5,
        ScalingConfig={"MaximumConcurrency": 7},
        FilterCriteria=criteria,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )
    kept = stage.functions.update_event_source_mapping(UUID=mapping, BatchSize=21)
    assert (kept["BatchSize"], kept["MaximumBatchingWindowInSeconds"]) == (21, 5)
    assert (kept["ScalingConfig"], kept["FilterCriteria"]) == ({"MaximumConcurrency": 7}, criteria)
    taken = stage.functions.update_event_source_mapping(
        UUID=mapping, ScalingConfig={}, FilterCriteria={}, FunctionResponseTypes=[]
    )
    assert "ScalingConfig" not in taken
    assert "FilterCriteria" not in taken
    assert taken["FunctionResponseTypes"] == []


def test_update_to_another_function_delivers_there(stage: Stage, queue: str) -> None:
    other = stage.deploy("stage-other")
    mapping = stage.map(queue)
    answer = stage.functions.update_event_source_mapping(UUID=mapping, FunctionName=other)
    assert answer["FunctionArn"].endswith(":function:stage-other")
    stage.wait_for_state(mapping, "Enabled")
    stage.send(queue, {"n": 1})
    stage.cloud.settle()
    assert [event.function for event, _ in stage.starts(queue)] == [other]


def test_delete_answers_202_with_state_deleting_then_the_mapping_is_gone(stage: Stage, queue: str) -> None:
    mapping = stage.map(queue)
    answer = stage.functions.delete_event_source_mapping(UUID=mapping)
    assert (answer["ResponseMetadata"]["HTTPStatusCode"], answer["State"]) == (202, "Deleting")
    stage.wait_for_state(mapping, "gone")
    assert mapping not in [each["UUID"] for each in stage.functions.list_event_source_mappings()["EventSourceMappings"]]


def test_calls_right_after_each_other_do_not_meet_a_transition(stage: Stage, queue: str) -> None:
    for _ in range(5):
        mapping = create(stage, queue)["UUID"]
        stage.functions.update_event_source_mapping(UUID=mapping, BatchSize=1)
        stage.functions.delete_event_source_mapping(UUID=mapping)
    stage.cloud.settle()


def test_a_mapping_in_use_can_not_be_updated_or_deleted_again(stage: Stage, queue: str, tmp_path: Any) -> None:
    mapping = stage.map(queue)
    stage.send(queue, {"do": "wait", "file": str(tmp_path / "go")})
    stage.wait_until(lambda: stage.runs(queue))
    stage.functions.delete_event_source_mapping(UUID=mapping)
    in_use = "the event source mapping because it is in use."
    refused = refusal(stage.functions.delete_event_source_mapping, UUID=mapping)
    assert refused == ("ResourceInUseException", f"Cannot delete {in_use}", 400)
    refused = refusal(stage.functions.update_event_source_mapping, UUID=mapping, BatchSize=1)
    assert refused == ("ResourceInUseException", f"Cannot update {in_use}", 400)
    release(tmp_path / "go")
    stage.wait_for_state(mapping, "gone")


@pytest.mark.parametrize("action", ["get", "update", "delete"])
def test_an_unknown_mapping_is_not_found(stage: Stage, action: str) -> None:
    call = getattr(stage.functions, f"{action}_event_source_mapping")
    assert refusal(call, UUID=ABSENT) == (
        "ResourceNotFoundException",
        "The resource you requested does not exist.",
        404,
    )


def test_the_same_queue_and_function_again_is_a_conflict(stage: Stage, queue: str) -> None:
    mapping = stage.map(queue)
    assert create_refused(stage, queue, BatchSize=1) == (
        "ResourceConflictException",
        f'An event source mapping with SQS arn (" {stage.arn(queue)} ") and function (" {stage.function} ") already '
        f"exists. Please update or delete the existing mapping with UUID {mapping}",
        409,
    )


def test_an_unknown_queue_is_refused(stage: Stage) -> None:
    assert create_refused(stage, "http://127.0.0.1/123456789012/nowhere") == (
        "InvalidParameterValueException",
        "Error occurred while ReceiveMessage. SQS Error Code: AWS.SimpleQueueService.NonExistentQueue. "
        "SQS Error Message: The specified queue does not exist.",
        400,
    )


def test_an_unknown_function_is_refused(stage: Stage, queue: str) -> None:
    for name in ("nobody", f"{stage.function}:7", f"{stage.function}:live"):
        refused = create_refused(stage, queue, FunctionName=name)
        assert refused == ("InvalidParameterValueException", "Function does not exist", 400)


def test_a_visibility_timeout_below_the_functions_timeout_is_refused(stage: Stage) -> None:
    slow = stage.deploy("stage-slow", timeout=60)
    url = stage.queue("too-short")
    sentence = "Queue visibility timeout: 30 seconds is less than Function timeout: 60 seconds"
    refused = create_refused(stage, url, FunctionName=slow)
    assert refused == ("InvalidParameterValueException", sentence, 400)
    stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "60"})
    mapping = stage.map(url, FunctionName=slow)
    # Later changes of the queue are free; the next update of the mapping meets them.
    stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "30"})
    refused = refusal(stage.functions.update_event_source_mapping, UUID=mapping, BatchSize=1)
    assert refused == ("InvalidParameterValueException", sentence, 400)
    assert stage.functions.update_event_source_mapping(UUID=mapping, Enabled=False)["State"] == "Disabling"


@pytest.mark.parametrize(
    ("actions", "missing"),
    [
        (["logs:*"], "ReceiveMessage"),
        (["sqs:ReceiveMessage"], "DeleteMessage"),
        (["sqs:ReceiveMessage", "sqs:DeleteMessage"], "GetQueueAttributes"),
    ],
)
def test_a_role_without_rights_on_the_queue_is_refused(
    stage: Stage, queue: str, actions: list[str], missing: str
) -> None:
    name = f"stage-without-{missing}"
    role = stage.make_role(name, actions)
    stage.deploy(name, role=role)
    sentence = f"The function execution role does not have permissions to call {missing} on SQS"
    assert create_refused(stage, queue, FunctionName=name) == ("InvalidParameterValueException", sentence, 400)


def test_rights_on_another_queue_are_not_enough(stage: Stage, queue: str) -> None:
    role = stage.make_role("stage-elsewhere", ["sqs:*"], "arn:aws:sqs:us-east-1:123456789012:elsewhere")
    stage.deploy("stage-elsewhere", role=role)
    assert "call ReceiveMessage on SQS" in create_refused(stage, queue, FunctionName="stage-elsewhere")[1]


@pytest.mark.parametrize(
    ("settings", "code", "sentence"),
    [
        ({"BatchSize": 11}, "InvalidParameterValueException", WINDOW),
        (
            {"BatchSize": 10_001, "MaximumBatchingWindowInSeconds": 1},
            "ValidationException",
            "1 validation error detected: Value '10001' at 'batchSize' failed to satisfy constraint: "
            "Member must have value less than or equal to 10000",
        ),
        (
            {"MaximumBatchingWindowInSeconds": 301},
            "ValidationException",
            "1 validation error detected: Value '301' at 'maximumBatchingWindowInSeconds' failed to satisfy "
            "constraint: Member must have value less than or equal to 300",
        ),
        (
            {"ScalingConfig": {"MaximumConcurrency": 1001}},
            "ValidationException",
            "1 validation error detected: Value '1001' at 'scalingConfig.maximumConcurrency' failed to satisfy "
            "constraint: Member must have value less than or equal to 1000",
        ),
        (
            {"StartingPosition": "LATEST"},
            "InvalidParameterValueException",
            "StartingPosition is not valid for SQS event sources.",
        ),
        (
            {"FilterCriteria": {"Filters": [{"Pattern": "no JSON"}]}},
            "InvalidParameterValueException",
            "Invalid filter pattern definition.",
        ),
        (
            {"ParallelizationFactor": 2},
            "InvalidParameterValueException",
            "Unsupported ParallelizationFactor parameter for given event source mapping type.",
        ),
        (
            {"FunctionResponseTypes": ["Other"]},
            "ValidationException",
            "1 validation error detected: Value '[Other]' at 'functionResponseTypes' failed to satisfy constraint: "
            "Member must satisfy constraint: [Member must satisfy enum value set: [ReportBatchItemFailures]]",
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_values_that_aws_refuses(stage: Stage, queue: str, settings: dict[str, Any], code: str, sentence: str) -> None:
    assert create_refused(stage, queue, **settings) == (code, sentence, 400)
    mapping = stage.map(queue)
    if "StartingPosition" not in settings:
        refused = refusal(stage.functions.update_event_source_mapping, UUID=mapping, **settings)
        assert refused == (code, sentence, 400)


def test_the_smallest_concurrency_is_two(stage: Stage, queue: str) -> None:
    unchecked = stage.cloud.client("lambda", config=_unchecked())
    members = {"EventSourceArn": stage.arn(queue), "FunctionName": stage.function}
    code, sentence, _ = refusal(
        unchecked.create_event_source_mapping, ScalingConfig={"MaximumConcurrency": 1}, **members
    )
    assert (code, sentence.endswith("Member must have value greater than or equal to 2")) == (
        "ValidationException",
        True,
    )
    assert create(stage, queue, ScalingConfig={"MaximumConcurrency": 2})["ScalingConfig"] == {"MaximumConcurrency": 2}


def test_a_large_batch_needs_a_window_also_in_an_update(stage: Stage, queue: str) -> None:
    mapping = stage.map(queue)
    refused = refusal(stage.functions.update_event_source_mapping, UUID=mapping, BatchSize=11)
    assert refused == ("InvalidParameterValueException", WINDOW, 400)
    answer = stage.functions.update_event_source_mapping(
        UUID=mapping, BatchSize=10_000, MaximumBatchingWindowInSeconds=1
    )
    assert answer["BatchSize"] == 10_000


def test_a_fifo_queue_takes_ten_at_most_and_no_window(stage: Stage) -> None:
    url = stage.queue("limits.fifo", FifoQueue="true")
    assert create_refused(stage, url, BatchSize=11)[1] == WINDOW
    refused = create_refused(stage, url, BatchSize=11, MaximumBatchingWindowInSeconds=1)
    assert refused == ("InvalidParameterValueException", "Batching window is not supported for FIFO queues", 400)
    assert create(stage, url, BatchSize=10)["BatchSize"] == 10


@pytest.mark.parametrize("service", ["kinesis", "dynamodb"])
def test_other_sources_are_said_to_be_not_emulated(stage: Stage, service: str) -> None:
    arn = f"arn:aws:{service}:us-east-1:123456789012:stream/s"
    code, sentence, _ = refusal(
        stage.functions.create_event_source_mapping,
        EventSourceArn=arn,
        FunctionName=stage.function,
        StartingPosition="LATEST",
    )
    assert (code, f"{service} are not emulated" in sentence) == ("InvalidParameterValueException", True)


def test_a_source_is_required(stage: Stage) -> None:
    refused = refusal(stage.functions.create_event_source_mapping, FunctionName=stage.function)
    assert refused == ("InvalidParameterValueException", "Unrecognized event source.", 400)


def test_list_filters_by_queue_and_by_any_form_of_the_functions_name(stage: Stage) -> None:
    listed = stage.deploy("stage-listed")
    urls = [stage.queue(f"listed-{n}") for n in range(3)]
    mappings = [stage.map(url, FunctionName=listed) for url in urls]
    stage.map(urls[0])
    for name in (listed, f"123456789012:function:{listed}", function_arn(listed)):
        found = stage.functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        assert [each["UUID"] for each in found] == mappings
    found = stage.functions.list_event_source_mappings(EventSourceArn=stage.arn(urls[0]))["EventSourceMappings"]
    assert len(found) == 2
    both = stage.functions.list_event_source_mappings(EventSourceArn=stage.arn(urls[0]), FunctionName=listed)
    assert [each["UUID"] for each in both["EventSourceMappings"]] == mappings[:1]
    pages = stage.functions.get_paginator("list_event_source_mappings").paginate(
        FunctionName=listed, PaginationConfig={"PageSize": 2}
    )
    assert [len(page["EventSourceMappings"]) for page in pages] == [2, 1]
    assert stage.functions.list_event_source_mappings(FunctionName="nobody")["EventSourceMappings"] == []


def test_moto_knows_of_no_mapping(stage: Stage, queue: str) -> None:
    from moto.awslambda.models import lambda_backends
    from moto.sqs.models import sqs_backends

    stage.map(queue)
    assert not lambda_backends["123456789012"]["us-east-1"]._event_source_mappings
    name = queue.rpartition("/")[2]
    assert not sqs_backends["123456789012"]["us-east-1"].queues[name].lambda_event_source_mappings


@pytest.mark.parametrize(
    ("pattern", "body", "passes"),
    [
        ({"a": ["x"]}, {"a": "x"}, True),
        ({"a": ["x", "y"]}, {"a": "z"}, False),
        ({"a": ["x"], "b": [1]}, {"a": "x"}, False),
        ({"a": {"b": [1]}}, {"a": {"b": 1.0}}, True),
        ({"a": [None]}, {"a": None}, True),
        ({"a": [True]}, {"a": 1}, False),
        ({"a": ["x"]}, {"a": ["w", "x"]}, True),
        ({"a": [{"exists": True}]}, {"a": ""}, True),
        ({"a": [{"exists": False}]}, {"b": 1}, True),
        ({"a": [{"exists": False}]}, {"a": 1}, False),
        ({"a": [{"prefix": "us-"}]}, {"a": "us-1"}, True),
        ({"a": [{"suffix": ".png"}]}, {"a": "x.jpg"}, False),
        ({"a": [{"equals-ignore-case": "ABC"}]}, {"a": "abc"}, True),
        ({"a": [{"numeric": [">=", 0, "<", 10]}]}, {"a": 10}, False),
        ({"a": [{"numeric": ["=", 5]}]}, {"a": 5}, True),
        ({"a": [{"numeric": ["=", 5]}]}, {"a": "5"}, False),
        ({"a": [{"anything-but": ["x"]}]}, {"a": "y"}, True),
        ({"a": [{"anything-but": ["x"]}]}, {}, False),
        ({"a": [{"anything-but": {"prefix": "x"}}]}, {"a": "xy"}, False),
        ({"$or": [{"a": [1]}, {"b": [2]}]}, {"b": 2}, True),
        ({"$or": [{"a": [1]}, {"b": [2]}]}, {"a": 2, "b": 1}, False),
    ],
    ids=json.dumps,
)
def test_filter_patterns(pattern: dict[str, Any], body: dict[str, Any], passes: bool) -> None:
    parsed = event_filter.parse_pattern(json.dumps({"body": pattern}))
    assert event_filter.matches([parsed], {"body": json.dumps(body)}) is passes


def test_a_text_pattern_fits_a_text_body_only() -> None:
    text = event_filter.parse_pattern('{"body": [{"prefix": "go"}]}')
    json_pattern = event_filter.parse_pattern('{"body": {"a": [1]}}')
    assert event_filter.matches([text], {"body": "go on"})
    assert not event_filter.matches([json_pattern], {"body": "go on"})
    assert event_filter.matches([json_pattern, text], {"body": "go on"})


@pytest.mark.parametrize(
    "pattern",
    ["", "[]", "{}", '{"a": "x"}', '{"a": []}', '{"a": {}}', '{"a": [{"like": "x"}]}', '{"a": [{"numeric": [">"]}]}'],
)
def test_patterns_that_lambda_refuses(pattern: str) -> None:
    with pytest.raises(event_filter.InvalidPattern):
        event_filter.parse_pattern(pattern)


@given(st.lists(st.sampled_from("abc"), unique=True))
def test_exactly_the_reported_messages_failed(reported: list[str]) -> None:
    answer = {"batchItemFailures": [{"itemIdentifier": each} for each in reported]}
    assert sqs_records.failed_messages(json.dumps(answer).encode(), ["a", "b", "c"]) == set(reported)


@pytest.mark.parametrize(
    ("payload", "failed"), [(b"", set()), (b'""', set()), (b"[]", set()), (b"{", None), (b"7", None), (b"false", None)]
)
def test_answers_that_no_python_handler_gives(payload: bytes, failed: set[str] | None) -> None:
    assert sqs_records.failed_messages(payload, ["a"]) == failed


def _unchecked() -> Any:
    from botocore.config import Config

    return Config(parameter_validation=False)
