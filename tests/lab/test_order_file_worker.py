"""The worker of the lesson *order-file* on the deployed function: what it stores, refuses, reports and prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote_plus

import pytest

from helpers.lab import Lab
from helpers.lab.services import zip_of
from tests.lab.order_file_stage import BUCKET, Shopper


@pytest.fixture(scope="module")
def shopper() -> Iterator[Shopper]:
    with Lab("order-file", "en") as lab:
        shopper = Shopper(lab)
        shopper.client("s3").create_bucket(Bucket=BUCKET)
        yield shopper


@pytest.fixture(scope="module")
def handle(shopper: Shopper) -> Callable[..., list[str]]:
    """Invoke the worker with message bodies m-1, m-2, …; the names of those that it reports."""

    def call(*bodies: str) -> list[str]:
        records = [{"messageId": f"m-{place}", "body": body} for place, body in enumerate(bodies, 1)]
        answer = shopper.client("lambda").invoke(
            FunctionName="shop-worker", Payload=json.dumps({"Records": records}).encode()
        )
        result = json.loads(answer["Payload"].read())
        return [one["itemIdentifier"] for one in result["batchItemFailures"]]

    return call


def about(key: str) -> str:
    record = {"s3": {"bucket": {"name": BUCKET}, "object": {"key": quote_plus(key, safe="/")}}}
    return json.dumps({"Records": [record]})


def last_line(shopper: Shopper) -> str:
    """The last line that the worker printed."""
    log = shopper.lab._lesson.evidence().runs("shop-worker")[-1].log
    return [line.strip() for line in log if line.startswith(("STORED", "DUPLICATE", "WAITING", "TEST"))][-1]


def stored(shopper: Shopper) -> dict[str, tuple[Any, Any]]:
    return {one.id: (one.quantity, one.total_cents) for one in shopper.lab.view().orders}


@pytest.mark.parametrize(
    "customer",
    ["Ana Ruiz", "Zoë", "Élodie & Cie", "Иван Петров", "a+b", "100%", "a?b#c=d", "%41", "名前"],
)
def test_each_key_is_decoded_and_stored_once(shopper, handle, customer):
    key = f"orders/{customer}/7"
    shopper.put(key, quantity=4)
    assert handle(about(key)) == []
    assert last_line(shopper) == f"STORED {key}"
    assert handle(about(key)) == []
    assert last_line(shopper) == f"DUPLICATE {key}"
    assert stored(shopper)[f"{customer}/7"] == (4, 1100)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("hello", "not JSON"),
        ("", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b" " * 1_048_576, "bytes: 1048576"),
        ("[]", "fields: []"),
        ("4", "fields: 4"),
        ('{"id": "bad/1"}', "fields:"),
        ('{"id": "bad/1", "quantity": 1, "more": 1}', "fields:"),
        ('{"id": 1, "quantity": 1}', "id: 1,"),
        ('{"id": "Eva/1", "quantity": 1}', "id: 'Eva/1'"),
        ('{"id": "bad/1", "quantity": true}', "quantity: True"),
        ('{"id": "bad/1", "quantity": "4"}', "quantity: '4'"),
        ('{"id": "bad/1", "quantity": 0}', "quantity: 0"),
        ('{"id": "bad/1", "quantity": 11}', "quantity: 11"),
        ('{"id": "bad/1", "quantity": 2.5}', "quantity: 2.5"),
        ('{"id": "bad/1", "quantity": null}', "quantity: None"),
    ],
)
def test_a_bad_file_waits_and_says_why(shopper, handle, body, said):
    shopper.put("orders/bad/1", body)
    assert handle(about("orders/bad/1")) == ["m-1"]
    assert last_line(shopper).startswith(f"WAITING BadOrder {said}")
    assert last_line(shopper).endswith("key: orders/bad/1")
    assert "bad/1" not in stored(shopper)


@pytest.mark.parametrize("key", ["orders/m-2", "orders/a/b/1", "orders//1", "orders/a/", "file"])
def test_only_a_key_with_three_parts_is_good(shopper, handle, key):
    shopper.put(key, "{}")
    assert handle(about(key)) == ["m-1"]
    assert last_line(shopper) == f"WAITING BadOrder key: {key}"


@pytest.mark.parametrize("body", ["{this is not JSON", "", "[]", "4", "{}", '{"Records": [{}]}', '{"Records": null}'])
def test_a_message_that_is_no_event_waits(shopper, handle, body):
    assert handle(body) == ["m-1"]
    assert last_line(shopper).startswith("WAITING ")


def test_a_missing_file_waits(shopper, handle):
    assert handle(about("orders/nobody/1")) == ["m-1"]
    assert last_line(shopper).startswith("WAITING ")


def test_the_test_event_is_dropped(shopper, handle):
    assert handle(json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": BUCKET})) == []
    assert last_line(shopper) == "TEST EVENT"


def test_one_broken_message_does_not_stop_the_others(shopper, handle):
    for number in (1, 3):
        shopper.put(f"orders/batch/{number}")
    assert handle(about("orders/batch/1"), about("orders/m-2"), about("orders/batch/3")) == ["m-2"]
    assert {"batch/1", "batch/3"} <= set(stored(shopper))


def test_other_details_under_the_same_key_wait_and_change_nothing(shopper, handle):
    shopper.put("orders/other/1", quantity=4)
    assert handle(about("orders/other/1")) == []
    shopper.put("orders/other/1", quantity=5)
    assert handle(about("orders/other/1")) == ["m-1"]
    assert "stored with other details: other/1" in last_line(shopper)
    assert stored(shopper)["other/1"] == (4, 1100)


OTHER_CODE = """
import boto3

def handler(event, context):
    getattr(boto3.client(event["service"]), event["call"])(**event["options"])
"""


@pytest.mark.parametrize(
    ("service", "call", "options"),
    [
        ("dynamodb", "scan", {"TableName": "shop-orders"}),
        ("dynamodb", "put_item", {"TableName": "shop-reference", "Item": {"id": {"S": "reference"}}}),
        ("s3", "put_object", {"Bucket": BUCKET, "Key": "orders/a/1", "Body": "x"}),
        ("s3", "list_objects_v2", {"Bucket": BUCKET}),
    ],
)
def test_the_role_allows_only_what_the_worker_needs(shopper, service, call, options):
    functions = shopper.client("lambda")
    # The last tests of this module: the worker has other code from here on.
    functions.update_function_code(FunctionName="shop-worker", ZipFile=zip_of({"app.py": OTHER_CODE}))
    shopper.lab.settle()
    payload = json.dumps({"service": service, "call": call, "options": options})
    answer = json.loads(functions.invoke(FunctionName="shop-worker", Payload=payload)["Payload"].read())
    assert "AccessDenied" in answer["errorMessage"]
