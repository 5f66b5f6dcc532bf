"""Whatever a program asks, the account answers in the service's protocol: no failure of its own, no hang.

``ONCE_FUZZ_SECONDS=600`` lets each of these tests go on for so long, with other calls each time.
"""

from __future__ import annotations

import http.client
import json
import os
import string
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from helpers.cloud import Cloud
from tests.cloud import fuzzing
from tests.cloud.test_server_requests import send, statuses

LONG = float(os.environ.get("ONCE_FUZZ_SECONDS", "0"))


def examples(count: int) -> settings:
    """The same examples each time; in a long run, many and others."""
    if LONG:
        return settings(
            max_examples=10**7, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
        )  # fmt: skip
    return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture
def go_on() -> Callable[[], None]:
    """Ends a long run when its time is over."""
    end = time.monotonic() + LONG

    def check() -> None:
        if LONG and time.monotonic() > end:
            pytest.skip(f"{LONG:.0f} seconds without a failure")

    return check


@pytest.fixture(scope="module")
def clients(cloud: Cloud) -> dict[str, Any]:
    fuzzing.prepare(cloud)
    return {service: fuzzing.client(cloud, service) for service in fuzzing.SERVICES}


def _check(clients: dict[str, Any], call: tuple[str, str, dict[str, Any]]) -> None:
    start = time.monotonic()
    status, code = fuzzing.answer_to(clients, *call)
    assert status < 500 or (status, code) == (501, "NotImplemented"), (status, code)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("services", "count"),
    [
        (("sqs",), 50),
        (("dynamodb",), 60),
        (("lambda",), 40),
        (("stepfunctions",), 30),
        (("iam", "sts"), 30),
        (("s3",), 40),
        (("logs", "events", "sns"), 30),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else str(value),
)
def test_each_call_of_the_model_is_answered_in_its_protocol(
    clients: dict[str, Any], go_on: Callable[[], None], services: tuple[str, ...], count: int
) -> None:
    @examples(count)
    @given(fuzzing.calls(*services))
    def ask(call: tuple[str, str, dict[str, Any]]) -> None:
        go_on()
        _check(clients, call)

    ask()


FOUND: list[tuple[str, str, dict[str, Any]]] = [
    ("iam", "CreateUser", {"UserName": "a\0b"}),
    ("iam", "GetAccessKeyLastUsed", {"AccessKeyId": "\x05"}),
    ("iam", "ListVirtualMFADevices", {"Marker": "x"}),
    ("sns", "Subscribe", {}),
    ("sns", "DeleteTopic", {"TopicArn": "gone"}),
    ("sts", "GetSessionToken", {"DurationSeconds": 10**30}),
    ("lambda", "UpdateFunctionConfiguration", {"FunctionName": "kept", "Role": "arn:aws:iam::123456789012:role/odd"}),
    ("stepfunctions", "ListExecutions", {}),
    ("stepfunctions", "DescribeMapRun", {"mapRunArn": "x"}),
    ("stepfunctions", "StartSyncExecution", {"stateMachineArn": "x"}),
    ("dynamodb", "ExportTableToPointInTime", {"TableArn": "1", "S3Bucket": "é"}),
    ("dynamodb", "ExecuteStatement", {"Statement": "DELETE"}),
    ("dynamodb", "ListExports", {}),
    ("s3", "CopyObject", {"Bucket": "kept", "Key": "k", "CopySource": "nowhere"}),
    ("s3", "PutBucketAccelerateConfiguration", {"Bucket": "kept"}),
    ("s3", "PutBucketLifecycleConfiguration", {"Bucket": "kept"}),
    ("logs", "GetQueryResults", {"queryId": "t9"}),
    ("logs", "PutIndexPolicy", {"logGroupIdentifier": "kept", "policyDocument": "{}"}),
    ("events", "DescribePartnerEventSource", {"Name": ")"}),
]
"""What fuzzing found: the account failed, or its answer could not be read."""


@pytest.mark.parametrize("call", FOUND, ids=lambda call: f"{call[0]}:{call[1]}")
def test_what_failed_once_is_answered(clients: dict[str, Any], call: tuple[str, str, dict[str, Any]]) -> None:
    _check(clients, call)


# --- bodies that no SDK would write ------------------------------------------------------------------------

TARGETS = {"sqs": "AmazonSQS", "dynamodb": "DynamoDB_20120810", "states": "AWSStepFunctions", "logs": "Logs_20140328"}
MODELS = {"states": "stepfunctions"}


def _post(
    cloud: Cloud, service: str, headers: dict[str, str], body: bytes, method: str = "POST", path: str = "/"
) -> Any:
    credential = f"Credential=AKIA/20260101/us-east-1/{service}/aws4_request"
    signed = {"Authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders=host, Signature=0"}
    connection = http.client.HTTPConnection("127.0.0.1", cloud.port, timeout=20)
    try:
        connection.request(method, path, body, {**signed, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


JSON_CALLS = st.sampled_from(
    [(service, action) for service in TARGETS for action in fuzzing.operations(MODELS.get(service, service))]
)


def test_members_of_any_type_are_answered_in_json(cloud: Cloud, clients: Any, go_on: Callable[[], None]) -> None:
    @examples(50)
    @given(JSON_CALLS, st.data())
    def ask(call: tuple[str, str], data: st.DataObject) -> None:
        go_on()
        service, action = call
        model = fuzzing._model(MODELS.get(service, service)).operation_model(action).input_shape
        names = [*model.members] if model is not None else []
        chosen = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=4)) if names else []
        members = {name: data.draw(fuzzing.JSON_VALUES) for name in chosen if name != "WaitTimeSeconds"}
        headers = {"X-Amz-Target": f"{TARGETS[service]}.{action}", "Content-Type": "application/x-amz-json-1.0"}
        status, answer = _post(cloud, service, headers, json.dumps(members).encode())
        assert status < 500 or status == 501, answer
        assert isinstance(json.loads(answer or b"{}"), dict)

    ask()


def test_forms_of_any_content_are_answered(cloud: Cloud, clients: Any, go_on: Callable[[], None]) -> None:
    """The query protocol, also of SQS, whose SDKs speak JSON now."""
    actions = st.sampled_from([(one, name) for one in ("sqs", "iam", "sts", "sns") for name in fuzzing.operations(one)])
    names = st.sampled_from(
        ["QueueUrl", "QueueName", "MessageBody", "UserName", "RoleName", "Attribute.1.Name", "x.1.y.z"]
    )

    @examples(30)
    @given(actions, st.dictionaries(names | st.text(max_size=6), fuzzing.TEXTS, max_size=3), st.booleans())
    def ask(call: tuple[str, str], members: dict[str, str], in_address: bool) -> None:
        from urllib.parse import urlencode

        go_on()
        service, action = call
        form = urlencode({"Action": action, "Version": "2012-11-05", **members}, errors="replace")
        form = form[:30_000]
        headers = {} if in_address else {"Content-Type": "application/x-www-form-urlencoded"}
        path = f"/?{form}" if in_address else "/"
        status, answer = _post(cloud, service, headers, b"" if in_address else form.encode(), path=path)
        assert status < 500 or status == 501, answer

    ask()


PATHS = st.lists(
    st.sampled_from(
        [
            *("2015-03-31", "functions", "kept", "invocations", "event-source-mappings", "code", "configuration"),
            *("policy", "versions", "2017-10-31", "concurrency", "2018-10-31", "layers", "..", ".", "", "%2F", "%00"),
            *(
                "%ff",
                "%",
                "%zz",
                "é",
                "moto-api",
                "123456789012",
                "arn:aws:lambda:us-east-1:1:function:kept",
                "a" * 300,
            ),
        ]
    ),
    max_size=6,
).map("/".join)
QUERIES = st.sampled_from(
    ["", "?", "?acl", "?uploads", "?list-type=2&max-keys=x", "?versionId=%00", "?Qualifier=%ff", "?%"]
)


def test_paths_of_any_kind_are_answered(cloud: Cloud, clients: Any, go_on: Callable[[], None]) -> None:
    methods = st.sampled_from(["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "OPTIONS"])
    services = st.sampled_from(["s3", "lambda", "states", "iam", "", "nobody", "ec2"])
    bodies = st.sampled_from([b"", b"{}", b"[]", b"{", b"<a>", b"\xff", b'{"FunctionName": 5}', b"a=b"])

    @examples(30)
    @given(methods, PATHS, QUERIES, services, bodies)
    def ask(method: str, path: str, query: str, service: str, body: bytes) -> None:
        go_on()
        escaped = "".join(one if one in string.printable and one != " " else "%C3%A9" for one in path)
        status, answer = _post(cloud, service, {}, body, method, f"/{escaped}{query}")
        assert status < 500 or status == 501, answer

    ask()


def test_bytes_of_any_kind_get_one_answer_or_none(cloud: Cloud, clients: Any, go_on: Callable[[], None]) -> None:
    host = f"127.0.0.1:{cloud.port}".encode()
    pieces = st.sampled_from(
        [
            *(
                b"GET",
                b"POST",
                b" ",
                b"/",
                b"*",
                b"HTTP/1.1",
                b"HTTP/1.0",
                b"\r\n",
                b"\n",
                b"\r",
                b":",
                b"Host: ",
                host,
            ),
            *(
                b"Content-Length: ",
                b"Transfer-Encoding: chunked",
                b"0",
                b"5",
                b"\r\n\r\n",
                b"\0",
                b"\xff",
                b"{}",
                b"\t",
            ),
            *(
                b"X-Amz-Target: AmazonSQS.ListQueues",
                b"Connection: close",
                b"Expect: 100-continue",
                b"GET / HTTP/1.1\r\n",
            ),
        ]
    )

    @examples(30)
    @given(st.lists(pieces | st.binary(max_size=4), max_size=14).map(b"".join))
    def ask(data: bytes) -> None:
        go_on()
        answer = send(cloud.port, data)
        assert all(status < 500 or status in {501, 505} for status in statuses(answer)), answer

    ask()
    assert cloud.client("sqs").get_queue_url(QueueName="kept")
