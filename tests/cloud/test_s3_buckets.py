"""Errors of buckets and objects next to the notifications.

Sources: S3 API Reference, "Error responses"; Amazon S3 User Guide, "General purpose bucket naming rules" and
"Conditional requests".
"""

from __future__ import annotations

from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import Call
from tests.cloud.refusals import refusal


@pytest.fixture(scope="module")
def s3(cloud: Cloud) -> Any:
    client = cloud.client("s3")
    client.create_bucket(Bucket="orders")
    client.put_object(Bucket="orders", Key="there", Body=b"first")
    return client


@pytest.mark.parametrize(
    ("call", "members", "code", "status"),
    [
        ("get_object", {"Bucket": "nobody", "Key": "x"}, "NoSuchBucket", 404),
        ("put_object", {"Bucket": "nobody", "Key": "x", "Body": b""}, "NoSuchBucket", 404),
        ("list_objects_v2", {"Bucket": "nobody"}, "NoSuchBucket", 404),
        ("delete_bucket", {"Bucket": "nobody"}, "NoSuchBucket", 404),
        ("get_object", {"Bucket": "orders", "Key": "x"}, "NoSuchKey", 404),
        ("copy_object", {"Bucket": "orders", "Key": "y", "CopySource": "orders/x"}, "NoSuchKey", 404),
        ("head_object", {"Bucket": "orders", "Key": "x"}, "404", 404),
        ("delete_bucket", {"Bucket": "orders"}, "BucketNotEmpty", 409),
        ("put_object", {"Bucket": "orders", "Key": "k" * 1025, "Body": b""}, "KeyTooLongError", 400),
        ("put_object", {"Bucket": "orders", "Key": "ю" * 513, "Body": b""}, "KeyTooLongError", 400),
    ],
)
def test_what_is_not_there_or_not_possible_is_refused(
    s3: Any, call: str, members: dict[str, Any], code: str, status: int
) -> None:
    error = refusal(getattr(s3, call), **members)
    assert (error["Code"], error["HTTPStatusCode"]) == (code, status)


@pytest.mark.parametrize(
    "name",
    [
        *("ab", "a" * 64, "Orders", "my_orders", "-orders", "orders-", "a..b", ".orders", "192.168.5.4"),
        *("xn--orders", "sthree-orders", "orders-s3alias", "orders--ol-s3"),
    ],
)
def test_a_bucket_needs_a_name_by_the_rules(s3: Any, name: str) -> None:
    """User Guide, "General purpose bucket naming rules"; the sentence is that of the API Reference."""
    # The SDK refuses some of these names itself, so the call is sent without its check.
    s3.meta.events.unregister("before-parameter-build.s3", _validate())
    try:
        error = refusal(s3.create_bucket, Bucket=name)
    finally:
        s3.meta.events.register("before-parameter-build.s3", _validate())
    assert (error["Code"], error["Message"]) == ("InvalidBucketName", "The specified bucket is not valid.")


def _validate() -> Any:
    from botocore.handlers import validate_bucket_name

    return validate_bucket_name


@pytest.mark.parametrize("name", ["abc", "a" * 63, "orders.2026", "1-2-3", "192.168.5.4.5"])
def test_a_bucket_may_have_any_other_name(s3: Any, name: str) -> None:
    """Path-style addresses: a name with dots needs no host name of its own."""
    s3.create_bucket(Bucket=name)
    s3.put_object(Bucket=name, Key="a/b", Body=b"x")
    assert s3.get_object(Bucket=name, Key="a/b")["Body"].read() == b"x"


def test_in_us_east_1_an_owner_may_create_a_bucket_again(s3: Any) -> None:
    """API Reference, CreateBucket: BucketAlreadyOwnedByYou in all regions but us-east-1, where the answer is 200."""
    assert s3.create_bucket(Bucket="orders")["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert s3.get_object(Bucket="orders", Key="there")["Body"].read() == b"first"


def test_an_upload_under_if_none_match_stores_only_what_is_new(s3: Any) -> None:
    """User Guide, "How to prevent object overwrites with conditional writes": 412 PreconditionFailed."""
    s3.put_object(Bucket="orders", Key="once", Body=b"first", IfNoneMatch="*")
    error = refusal(s3.put_object, Bucket="orders", Key="once", Body=b"second", IfNoneMatch="*")
    assert (error["Code"], error["HTTPStatusCode"], error["Condition"]) == ("PreconditionFailed", 412, "If-None-Match")
    assert error["Message"] == "At least one of the pre-conditions you specified did not hold"
    assert s3.get_object(Bucket="orders", Key="once")["Body"].read() == b"first"
    s3.delete_object(Bucket="orders", Key="once")
    s3.put_object(Bucket="orders", Key="once", Body=b"third", IfNoneMatch="*")


def test_an_upload_can_only_ask_that_there_is_nothing(s3: Any) -> None:
    """API Reference, PutObject: If-None-Match expects the ``*``."""
    error = refusal(s3.put_object, Bucket="orders", Key="there", Body=b"x", IfNoneMatch='"abc"')
    assert (error["Code"], error["HTTPStatusCode"]) == ("NotImplemented", 501)


def test_an_upload_under_if_match_replaces_only_what_it_knows(s3: Any) -> None:
    """User Guide, "Conditional requests": 412 for another entity tag, 404 for no object."""
    tag = s3.put_object(Bucket="orders", Key="versioned", Body=b"1")["ETag"]
    s3.put_object(Bucket="orders", Key="versioned", Body=b"2", IfMatch=tag)
    error = refusal(s3.put_object, Bucket="orders", Key="versioned", Body=b"3", IfMatch=tag)
    assert (error["Code"], error["HTTPStatusCode"]) == ("PreconditionFailed", 412)
    error = refusal(s3.put_object, Bucket="orders", Key="nobody", Body=b"3", IfMatch=tag)
    assert (error["Code"], error["HTTPStatusCode"]) == ("NoSuchKey", 404)


def test_an_answer_names_its_request_and_its_host_once(cloud: Cloud, s3: Any) -> None:
    """S3 API Reference, "Common response headers": x-amz-request-id and x-amz-id-2."""
    since = cloud.journal.last
    metadata = s3.head_object(Bucket="orders", Key="there")["ResponseMetadata"]
    (call,) = cloud.journal.events(Call, since=since)
    assert metadata["RequestId"] == call.request_id
    assert len(metadata["HostId"]) == 64
