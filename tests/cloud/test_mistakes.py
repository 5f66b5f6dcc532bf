"""Requests that break a service's model are the caller's mistake: status 400, never 500, never a hang."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.cloud import Cloud
from helpers.cloud.journal import Call

TARGETS = {"dynamodb": "DynamoDB_20120810", "sqs": "AmazonSQS"}


@pytest.fixture(scope="module", autouse=True)
def table(cloud: Cloud) -> Any:
    client = cloud.client("dynamodb")
    client.create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    client.get_waiter("table_exists").wait(TableName="orders")
    cloud.client("sqs").create_queue(QueueName="jobs")
    return client


def ask(
    cloud: Cloud, service: str, action: str, body: Any, path: str = "/", method: str = "POST", form: bool = False
) -> Any:
    """Send what no SDK would send. Returns status and body."""
    credential = f"Credential=AKIA/20260101/us-east-1/{service}/aws4_request"
    headers = {"Authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0"}
    if form:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    if service in TARGETS:
        headers["X-Amz-Target"] = f"{TARGETS[service]}.{action}"
    connection = http.client.HTTPConnection("127.0.0.1", cloud.port, timeout=20)
    try:
        connection.request(method, path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("service", "action", "body", "code"),
    [
        ("sqs", "SendMessage", b"[" * 100_000, "SerializationException"),
        ("sqs", "SendMessage", {"QueueUrl": "jobs"}, "MissingParameter"),
        ("sqs", "SendMessage", {"QueueUrl": "jobs", "MessageBody": {"a": 1}}, "SerializationException"),
        ("sqs", "SendMessage", {"QueueUrl": "jobs", "MessageBody": "\ud800"}, "InvalidMessageContents"),
        ("sqs", "SendMessageBatch", {"QueueUrl": "jobs", "Entries": {"Id": "a"}}, "SerializationException"),
        ("sqs", "DeleteMessage", {"QueueUrl": "jobs", "ReceiptHandle": {}}, "SerializationException"),
        ("sqs", "NoSuchAction", {}, "UnknownOperationException"),
        ("dynamodb", "PutItem", {"TableName": "orders"}, "ValidationException"),
        ("dynamodb", "PutItem", {"TableName": ["orders"], "Item": {}}, "SerializationException"),
        ("dynamodb", "TransactWriteItems", {"TransactItems": ["x"]}, "SerializationException"),
        ("dynamodb", "BatchWriteItem", {"RequestItems": []}, "SerializationException"),
        ("dynamodb", "NoSuchAction", {}, "UnknownOperationException"),
    ],
)
def test_a_request_against_the_model_is_refused(
    cloud: Cloud, capfd: pytest.CaptureFixture[str], service: str, action: str, body: Any, code: str
) -> None:
    since = cloud.journal.last
    status, answer = ask(cloud, service, action, body)
    assert (status, json.loads(answer)["__type"]) == (400, code)
    assert [(call.action, call.error) for call in cloud.journal.events(Call, since=since)] == [(action, code)]
    assert capfd.readouterr().err == ""


def test_an_unknown_action_of_the_query_protocol_is_refused(cloud: Cloud, capfd: pytest.CaptureFixture[str]) -> None:
    status, answer = ask(cloud, "iam", "", b"Action=NoSuchAction&Version=2010-05-08", form=True)
    assert (status, b"<Code>InvalidAction</Code>" in answer) == (400, True)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/2015-03-31/functions", {"Runtime": "python3.11", "Handler": "a.b", "Code": [1]}),
        ("POST", "/2015-03-31/functions", {"Runtime": "python3.11", "Handler": "a.b", "Environment": [1]}),
        ("POST", "/2015-03-31/event-source-mappings", {"EventSourceArn": "arn:aws:sqs:r:1:q", "FilterCriteria": 5}),
        ("POST", "/2015-03-31/event-source-mappings", {"EventSourceArn": "arn:aws:sqs:r:1:q", "ScalingConfig": 5}),
    ],
)
def test_lambda_refuses_it_too(cloud: Cloud, method: str, path: str, body: Any) -> None:
    status, answer = ask(cloud, "lambda", "", body, path, method)
    assert (status, json.loads(answer)["Type"]) == (400, "User")


@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        ({"ConditionExpression": "attribute_not_exists("}, "Invalid ConditionExpression: Syntax error; "),
        ({"ConditionExpression": "attribute_not_exist(id)"}, "Invalid ConditionExpression: "),
        ({"ConditionExpression": "id = = :x"}, "Invalid ConditionExpression: "),
        ({"Item": {"id": {}}}, "Supplied AttributeValue is empty, "),
    ],
)
def test_a_learners_typing_error_is_not_a_server_error(
    table: Any, capfd: pytest.CaptureFixture[str], arguments: dict[str, Any], begin: str
) -> None:
    with pytest.raises(ClientError) as refusal:
        table.put_item(**{"TableName": "orders", "Item": {"id": {"S": "a"}}, **arguments})
    assert refusal.value.response["Error"]["Code"] == "ValidationException"
    assert refusal.value.response["Error"]["Message"].startswith(begin)
    assert capfd.readouterr().err == ""


MEMBERS = st.sampled_from(
    [
        *("TableName", "Item", "Key", "Put", "Delete", "id", "S", "N", "TransactItems", "RequestItems", "PutRequest"),
        *("ConditionExpression", "UpdateExpression", "QueueUrl", "MessageBody", "Entries", "Id", "ReceiptHandle"),
        *("DelaySeconds", "MessageAttributes", "MaxNumberOfMessages"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["orders", "jobs", "S", "id"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS | st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ACTIONS = st.sampled_from(
    [
        *(("dynamodb", name) for name in ("PutItem", "UpdateItem", "TransactWriteItems", "BatchWriteItem", "Query")),
        *(("sqs", name) for name in ("SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessageBatch")),
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTIONS, st.dictionaries(MEMBERS, JSON, max_size=4))
def test_no_request_makes_the_account_fail(cloud: Cloud, call: tuple[str, str], members: dict[str, Any]) -> None:
    status, answer = ask(cloud, *call, {"TableName": "orders", "QueueUrl": "jobs", **members})
    assert status < 500, answer
