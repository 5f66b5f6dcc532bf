"""The reference handler on the deployed function: what it accepts, refuses, prints and returns."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module")
def invoke(opened):
    from tests.lab.conftest import Learner

    opened.reset()
    learner = Learner(opened)
    learner.deploy()

    def call(*bodies: str) -> dict:
        records = [{"messageId": f"m-{place}", "body": body} for place, body in enumerate(bodies)]
        payload = json.dumps({"Records": records}).encode()
        answer = learner.client("lambda").invoke(FunctionName="q05-worker", Payload=payload)
        return json.loads(answer["Payload"].read())

    return call


def job(**members: object) -> str:
    return json.dumps(members)


def test_first_repeated_and_conflicting_job(invoke, opened):
    first = invoke(job(id="a", quantity=4))
    assert first == {"id": "a", "quantity": 4, "processed": True, "duplicate": False}
    again = invoke(job(quantity=4, id="a"))
    assert again == {"id": "a", "quantity": 4, "processed": False, "duplicate": True}
    assert invoke(job(id="a", quantity=5))["errorType"] == "ConditionalCheckFailedException"
    stored = opened.cloud.client("dynamodb").get_item(TableName="q05-orders", Key={"id": {"S": "a"}})["Item"]
    assert stored == {"id": {"S": "a"}, "quantity": {"N": "4"}, "total_cents": {"N": "1100"}}


@pytest.mark.parametrize("quantity", [0, 11, True, 1.0, "4", None, [4]])
def test_quantities_that_are_refused(invoke, quantity):
    assert invoke(job(id="b", quantity=quantity))["errorType"] == "InvalidJob"


@pytest.mark.parametrize("body", [job(id="", quantity=1), job(id=7, quantity=1), job(id=None, quantity=1)])
def test_ids_that_are_refused(invoke, body):
    assert invoke(body)["errorMessage"].startswith("id: ")


@pytest.mark.parametrize("body", ["{}", "[]", "4", job(id="b"), job(id="b", quantity=1, more=1)])
def test_other_keys_are_refused(invoke, body):
    assert invoke(body)["errorMessage"].startswith("keys: ")


def test_text_that_is_not_json_is_refused(invoke):
    assert invoke("four")["errorType"] == "JSONDecodeError"


@pytest.mark.parametrize("count", [0, 2])
def test_exactly_one_record(invoke, count):
    assert invoke(*[job(id="b", quantity=1)] * count)["errorType"] == "ValueError"


def test_three_lines_with_sorted_keys(invoke, opened):
    invoke(job(quantity=2, id="printed"))
    lines = opened._lesson.evidence().runs("q05-worker")[-1].log
    printed = [line.rstrip("\n") for line in lines if line.startswith(("EVENT ", "JOB ", "RESULT "))]
    assert printed[0].startswith('EVENT {"Records": [{"body": ')
    assert printed[1:] == [
        'JOB {"id": "printed", "quantity": 2}',
        'RESULT {"duplicate": false, "id": "printed", "processed": true, "quantity": 2}',
    ]
