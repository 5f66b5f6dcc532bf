"""Calls that are answered without Flask get the answers that they get through it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from moto.moto_api._internal import mock_random
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from helpers.cloud import Cloud
from helpers.cloud.boundary import Application
from helpers.cloud.direct import Direct

TARGETS = {"sqs": "AmazonSQS", "dynamodb": "DynamoDB_20120810"}
Answer = tuple[str, dict[str, str], bytes]


class Refuses:
    """Stands for moto's own application where the short way must be taken."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        raise AssertionError(f"the ordinary way was taken for {environ.get('HTTP_X_AMZ_TARGET')}")


def environ_of(service: str, action: str, members: Any, **headers: str) -> dict[str, Any]:
    body = members if isinstance(members, bytes) else json.dumps(members).encode()
    credential = f"Credential=AKIAONCELEARNER00001/20261129/us-east-1/{service}/aws4_request"
    return {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/",
        "QUERY_STRING": "",
        "RAW_URI": "/",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "4566",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "127.0.0.1:4566",
        "HTTP_AUTHORIZATION": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0",
        "HTTP_X_AMZ_TARGET": f"{TARGETS.get(service, service)}.{action}",
        "HTTP_USER_AGENT": "Boto3/1.42",
        "CONTENT_TYPE": "application/x-amz-json-1.0",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        **headers,
    }


def ask(application: Application, environ: dict[str, Any]) -> Answer:
    """The answer as status, headers (small letters, without those that the server replaces) and body."""
    found: list[Any] = []
    body = b"".join(application(environ, lambda status, headers, *_: found.extend((status, headers)) or bytes))
    dropped = ("server", "date", "access-control-")
    headers = {name.lower(): value for name, value in found[1] if not name.lower().startswith(dropped)}
    return found[0].split(" ", 1)[0], headers, body


@pytest.fixture(scope="module")
def account() -> Iterator[Cloud]:
    with Cloud() as cloud:
        sqs, dynamodb = cloud.client("sqs"), cloud.client("dynamodb")
        url = sqs.create_queue(QueueName="direct")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody="waiting", DelaySeconds=900)
        dynamodb.create_table(
            TableName="direct",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
        dynamodb.get_waiter("table_exists").wait(TableName="direct")
        dynamodb.put_item(TableName="direct", Item={"id": {"S": "à"}, "n": {"N": "1"}, "b": {"B": b"\x00\xff"}})
        yield cloud


QUEUE = "http://127.0.0.1:4566/123456789012/direct"
ABSENT = {"Item": {"id": {"S": "à"}}, "ConditionExpression": "attribute_not_exists(id)"}

CALLS = [
    ("sqs", "ListQueues", {}),
    ("sqs", "GetQueueUrl", {"QueueName": "direct"}),
    ("sqs", "GetQueueUrl", {"QueueName": "missing"}),
    ("sqs", "GetQueueAttributes", {"QueueUrl": QUEUE, "AttributeNames": ["All"]}),
    ("sqs", "GetQueueAttributes", {"QueueUrl": QUEUE, "AttributeNames": ["Nonsense"]}),
    ("sqs", "ReceiveMessage", {"QueueUrl": QUEUE, "WaitTimeSeconds": 0}),
    ("sqs", "ReceiveMessage", {"QueueUrl": QUEUE, "MaxNumberOfMessages": 11}),
    ("sqs", "DeleteMessage", {"QueueUrl": QUEUE, "ReceiptHandle": "nonsense"}),
    ("sqs", "SendMessage", {"QueueUrl": QUEUE + "x", "MessageBody": "a=b&c=d"}),
    ("sqs", "SendMessage", {"QueueUrl": QUEUE, "MessageBody": "\x00"}),
    ("sqs", "TagQueue", {"QueueUrl": QUEUE, "Tags": {"a": "b"}}),
    ("sqs", "CreateQueue", {"QueueName": "direct", "Attributes": {"VisibilityTimeout": "7"}}),
    ("dynamodb", "ListTables", {}),
    ("dynamodb", "DescribeTable", {"TableName": "direct"}),
    ("dynamodb", "DescribeTable", {"TableName": "missing"}),
    ("dynamodb", "GetItem", {"TableName": "direct", "Key": {"id": {"S": "à"}}}),
    ("dynamodb", "GetItem", {"TableName": "direct", "Key": {"id": {"S": "b"}}}),
    ("dynamodb", "GetItem", {"TableName": "direct", "Key": {"other": {"S": "b"}}}),
    ("dynamodb", "PutItem", {"TableName": "direct", **ABSENT}),
    ("dynamodb", "PutItem", {"TableName": "direct", **ABSENT, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
    ("dynamodb", "PutItem", {"TableName": "direct", "Item": {"id": {"S": "p=q&r"}}, "ReturnConsumedCapacity": "TOTAL"}),
    ("dynamodb", "PutItem", {"TableName": "missing", "Item": {"id": {"S": "a"}}}),
    ("dynamodb", "Query", {"TableName": "direct", "KeyConditionExpression": "nonsense"}),
    ("dynamodb", "Scan", {"TableName": "direct", "Select": "COUNT"}),
    ("dynamodb", "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "direct", **ABSENT}}]}),
    ("dynamodb", "BatchGetItem", {"RequestItems": {"direct": {"Keys": [{"id": {"S": "à"}}]}}}),
]


def outcome(application: Application, environ: dict[str, Any]) -> Answer | tuple[type, str]:
    """The answer, or what moto raised: the boundary makes AWS's error of it."""
    mock_random.seed(7)  # the same ids both times
    try:
        return ask(application, environ)
    except Exception as problem:
        return type(problem), str(problem)


@pytest.mark.parametrize(("service", "action", "members"), CALLS, ids=lambda value: str(value)[:40])
def test_the_short_way_answers_as_motos_server(
    account: Cloud, service: str, action: str, members: dict[str, Any]
) -> None:
    with account.boundary.lock:
        ordinary = outcome(DomainDispatcherApplication(create_backend_app), environ_of(service, action, members))
        short = outcome(Direct(Refuses()), environ_of(service, action, members))
    assert short == ordinary


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"text"', b"\xff\xfe", b"a=b", b'{"QueueUrl": 5}', b"null"])
@pytest.mark.parametrize(("service", "action"), [("sqs", "SendMessage"), ("dynamodb", "GetItem"), ("sqs", "Nonsense")])
def test_a_body_that_is_no_request_fares_the_same_both_ways(
    account: Cloud, service: str, action: str, body: bytes
) -> None:
    with account.boundary.lock:
        ordinary = outcome(DomainDispatcherApplication(create_backend_app), environ_of(service, action, body))
        short = outcome(Direct(Refuses()), environ_of(service, action, body))
    assert short == ordinary


@pytest.mark.parametrize(
    "changes",
    [
        {"HTTP_X_AMZ_TARGET": "DynamoDBStreams_20120810.ListStreams"},
        {"HTTP_X_AMZ_TARGET": "AmazonSQS.ListQueues", "CONTENT_TYPE": "application/x-www-form-urlencoded"},
        {"HTTP_CONTENT_ENCODING": "gzip"},
        {"PATH_INFO": "/123456789012/direct"},
        {"REQUEST_METHOD": "GET"},
        {"HTTP_AUTHORIZATION": "AWS4-HMAC-SHA256 Credential=A/20261129/us-east-1/s3/aws4_request, Signature=0"},
        {"HTTP_AUTHORIZATION": ""},
    ],
    ids=str,
)
def test_what_is_not_plainly_one_of_the_two_services_takes_the_ordinary_way(changes: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="the ordinary way was taken"):
        ask(Direct(Refuses()), environ_of("sqs", "ListQueues", {}, **changes))
