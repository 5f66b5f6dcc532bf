from __future__ import annotations

import io
from typing import Any

import pytest

from helpers.cloud.exchange import LARGEST_BODY, BodyTooLarge, parse, read_body
from helpers.cloud.journal import LEARNER, Caller


def environ(method: str, path: str, query: str = "", service: str = "", **more: Any) -> dict[str, Any]:
    signed = (
        f"AWS4-HMAC-SHA256 Credential=KEY/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0"
    )
    values = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query, **more}
    return {**values, "HTTP_AUTHORIZATION": signed} if service else values


def named(values: dict[str, Any], body: bytes = b"") -> tuple[str, dict[str, Any]]:
    exchange = parse(values, body, "id", lambda key: Caller("function", key))
    return exchange.name, exchange.parameters


@pytest.mark.parametrize(
    ("method", "path", "query", "name", "parameters"),
    [
        ("GET", "/2015-03-31/functions", "", "lambda:ListFunctions", {}),
        ("GET", "/2015-03-31/functions/f", "", "lambda:GetFunction", {"FunctionName": "f"}),
        ("POST", "/2015-03-31/functions/f/invocations", "", "lambda:Invoke", {"FunctionName": "f"}),
        ("PUT", "/2015-03-31/functions/f/code", "", "lambda:UpdateFunctionCode", {"FunctionName": "f"}),
        (
            "GET",
            "/2015-03-31/event-source-mappings/",
            "FunctionName=f",
            "lambda:ListEventSourceMappings",
            {"FunctionName": "f"},
        ),
        ("DELETE", "/2015-03-31/event-source-mappings/u-1", "", "lambda:DeleteEventSourceMapping", {"UUID": "u-1"}),
        ("PUT", "/bucket/a/b", "", "s3:PutObject", {"Bucket": "bucket", "Key": "a/b"}),
        (
            "PUT",
            "/bucket/a/b",
            "partNumber=1&uploadId=u",
            "s3:UploadPart",
            {"Bucket": "bucket", "Key": "a/b", "partNumber": "1", "uploadId": "u"},
        ),
        ("DELETE", "/bucket/a/b", "", "s3:DeleteObject", {"Bucket": "bucket", "Key": "a/b"}),
        (
            "DELETE",
            "/bucket/a/b",
            "uploadId=u",
            "s3:AbortMultipartUpload",
            {"Bucket": "bucket", "Key": "a/b", "uploadId": "u"},
        ),
        (
            "PUT",
            "/bucket",
            "notification",
            "s3:PutBucketNotificationConfiguration",
            {"Bucket": "bucket", "notification": ""},
        ),
        ("GET", "/bucket", "list-type=2", "s3:ListObjectsV2", {"Bucket": "bucket", "list-type": "2"}),
    ],
)
def test_rest_calls_are_named_by_method_and_path(
    method: str, path: str, query: str, name: str, parameters: dict[str, Any]
) -> None:
    assert named(environ(method, path, query, name.partition(":")[0])) == (name, parameters)


@pytest.mark.parametrize("target", ["/bucket/a%252Fb%2541", None])
def test_a_key_that_looks_quoted_is_unquoted_once(target: str | None) -> None:
    more = {"RAW_URI": target} if target else {}
    values = environ("PUT", "/bucket/a%2Fb%41", "", "s3", **more)
    assert named(values) == ("s3:PutObject", {"Bucket": "bucket", "Key": "a%2Fb%41"})


def test_a_copy_is_told_from_an_upload_by_its_header() -> None:
    values = environ("PUT", "/bucket/key", "", "s3", HTTP_X_AMZ_COPY_SOURCE="other/key")
    assert named(values)[0] == "s3:CopyObject"


def test_the_members_of_a_json_call_are_its_parameters() -> None:
    values = environ("POST", "/", "", "dynamodb", HTTP_X_AMZ_TARGET="DynamoDB_20120810.GetItem")
    assert named(values, b'{"TableName": "orders"}') == ("dynamodb:GetItem", {"TableName": "orders"})
    assert named(values, b"not json") == ("dynamodb:GetItem", {})
    assert named(values, b"[1]") == ("dynamodb:GetItem", {})


def test_the_fields_of_a_query_call_are_its_parameters() -> None:
    values = environ("POST", "/", "", "iam", CONTENT_TYPE="application/x-www-form-urlencoded; charset=utf-8")
    assert named(values, b"Action=GetRole&RoleName=r%C3%A9") == ("iam:GetRole", {"RoleName": "ré"})


def test_who_signed_is_asked_by_access_key_and_an_unsigned_call_is_the_learners() -> None:
    signed = parse(environ("GET", "/", "", "s3"), b"", "id", lambda key: Caller("function", key))
    assert signed.caller == Caller("function", "KEY")
    assert parse(environ("GET", "/"), b"", "id", lambda key: Caller("function", key)).caller == LEARNER


def test_a_body_without_a_length_is_read_only_when_chunked() -> None:
    assert read_body({"wsgi.input": io.BytesIO(b"abc")}) == b""
    assert read_body({"wsgi.input": io.BytesIO(b"abc"), "HTTP_TRANSFER_ENCODING": "chunked"}) == b"abc"
    assert read_body({"wsgi.input": io.BytesIO(b"abcdef"), "CONTENT_LENGTH": "3"}) == b"abc"


@pytest.mark.parametrize("length", [str(LARGEST_BODY + 1), "-1", "x"])
def test_a_length_out_of_bounds_is_refused(length: str) -> None:
    with pytest.raises(BodyTooLarge):
        read_body({"wsgi.input": io.BytesIO(b""), "CONTENT_LENGTH": length})
