"""lab.check("break"): what the guarded worker withstood."""

from __future__ import annotations

import pytest

from helpers.lab.idempotent_consumer import HANDLERS
from tests.lab.conftest import GUARDED

UNGUARDED = (HANDLERS / "unguarded.py").read_text(encoding="utf-8")

HEAD = """import json, os, boto3
ORDERS = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")
def handler(event, context):
    job = json.loads(event["Records"][0]["body"])
    key, numbers = {"id": {"S": job["id"]}}, (job["quantity"], job["quantity"] * 250 + 100)
    quantity, total = ({"N": str(number)} for number in numbers)
"""
OTHER_WRITES = {
    "update": HEAD
    + """
    try:
        dynamodb.update_item(TableName=ORDERS, Key=key, UpdateExpression="SET quantity = :q, total_cents = :t",
            ConditionExpression="attribute_not_exists(id)",
            ExpressionAttributeValues={":q": quantity, ":t": total})
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return {"processed": False, "duplicate": True}
    return {"processed": True, "duplicate": False}
""",
    "transaction": HEAD
    + """
    put = {"TableName": ORDERS, "Item": {**key, "quantity": quantity, "total_cents": total},
        "ConditionExpression": "attribute_not_exists(id)"}
    try:
        dynamodb.transact_write_items(TransactItems=[{"Put": put}])
    except dynamodb.exceptions.TransactionCanceledException:
        return {"processed": False, "duplicate": True}
    return {"processed": True, "duplicate": False}
""",
}


def test_nothing_was_broken_yet(learner):
    learner.first_job()
    assert set(learner.outcomes("break").values()) == {"not-attempted"}


def test_a_conflict_ends_in_the_dead_letter_queue(learner):
    learner.first_job()
    learner.redrive()
    assert learner.outcomes("break")["redrive"] == "right"
    learner.lab.faults.other_details()
    learner.lab.settle()
    assert "1 of 3" in learner.detail("break", "conflict")
    learner.returns(3)
    assert learner.outcomes("break")["conflict"] == "right"


def test_another_redrive_policy_is_named(learner):
    learner.first_job()
    learner.redrive(count=5)
    assert "5" in learner.detail("break", "redrive")
    learner.redrive(target="q05-bin")
    assert "`q05-bin`" in learner.detail("break", "redrive")


def test_a_conflict_that_was_swallowed_is_named(learner):
    learner.first_job(GUARDED.replace("            raise  #", "            pass  #"))
    learner.lab.faults.other_details()
    learner.lab.settle()
    assert "acknowledged silently" in learner.detail("break", "conflict")


def test_a_crash_after_the_write_gives_a_duplicate_and_one_order(learner):
    learner.first_job()
    learner.lab.faults.crash_after_write()
    assert [fault.fault for fault in learner.lab.faults.armed()] == ["crash-after-write"]
    learner.send("crash-order", 2)
    rest = learner.lab.settle()
    assert learner.lab.faults.armed() == []
    assert (rest.in_flight, rest.wait_seconds) == (1, 30)
    assert "hidden" in learner.detail("break", "crash")
    learner.returns(1)
    assert learner.outcomes("break")["crash"] == "right"


def test_a_crash_that_hit_a_refused_write_proves_nothing(learner):
    learner.first_job()
    learner.lab.cloud.faults.crash("q05-worker")
    learner.send()
    learner.lab.settle()
    assert "not accepted" in learner.detail("break", "crash")


def test_a_crash_of_an_unguarded_worker_reports_no_duplicate(learner):
    learner.first_job(UNGUARDED)
    learner.lab.faults.crash_after_write()
    learner.send("crash-order", 2)
    learner.lab.settle()
    learner.returns(1)
    assert "did not report a duplicate" in learner.detail("break", "crash")


def test_a_slow_worker_handles_one_message_twice_and_writes_once(learner):
    learner.first_job()
    learner.lab.faults.slow_worker()
    learner.send("slow-order", 3)
    rest = learner.lab.settle()
    assert (rest.visible, rest.in_flight) == (0, 0)
    assert learner.outcomes("break")["slow"] == "right"
    outcome = learner.lab.outcome()
    assert [one for one in outcome["orders"] if one["id"] == "slow-order"] == [
        {"id": "slow-order", "quantity": 3, "total_cents": 850, "runs": 2, "accepted": 1, "refused": 1}
    ]


def test_a_slow_unguarded_worker_writes_twice(learner):
    learner.first_job(UNGUARDED)
    learner.lab.faults.slow_worker()
    learner.send("slow-order", 3)
    learner.lab.settle()
    assert "two runs: 2." in learner.detail("break", "slow")


@pytest.mark.parametrize("write", ["update", "transaction"])
def test_the_faults_meet_a_guard_in_another_kind_of_write(learner, write):
    learner.first_job(OTHER_WRITES[write])
    learner.lab.faults.crash_after_write()
    learner.send("crash-order", 2)
    learner.lab.settle()
    learner.returns(1)
    learner.lab.faults.slow_worker()
    learner.send("slow-order", 3)
    learner.lab.settle()
    outcomes = learner.outcomes("break")
    assert (outcomes["crash"], outcomes["slow"]) == ("right", "right"), str(learner.lab.check("break"))
