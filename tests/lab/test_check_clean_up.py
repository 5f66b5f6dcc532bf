"""lab.check("clean-up"): what is gone, what is kept, and what an error does not prove."""

from __future__ import annotations

from functools import partial

import pytest
from botocore.exceptions import ClientError

from tests.lab.conftest import Learner


@pytest.fixture
def worked(learner: Learner) -> Learner:
    learner.first_job()
    learner.repeat()
    learner.redrive()
    return learner


def test_before_anything_was_made_there_is_nothing_to_clean(learner):
    assert learner.outcomes("clean-up") == {
        "mapping": "not-attempted",
        "queues": "not-attempted",
        "orders": "not-attempted",
        "log-group": "not-attempted",
        "kept": "right",
        "reference": "right",
    }


def test_a_clean_up_that_forgets_something_first(worked):
    assert list(worked.outcomes("clean-up").values()) == ["not-attempted"] * 4 + ["right"] * 2
    worked.delete_logs()
    assert worked.outcomes("clean-up")["log-group"] == "right"
    worked.send()
    worked.lab.settle()
    assert "again" in worked.detail("clean-up", "log-group")
    worked.delete_mapping()
    assert worked.outcomes("clean-up")["mapping"] == "right"
    worked.client("sqs").delete_queue(QueueUrl=worked.url)
    assert "`q05-dead`" in worked.detail("clean-up", "queues")
    worked.delete_queues()
    assert worked.outcomes("clean-up")["queues"] == "right"
    assert worked.outcomes("break")["redrive"] == "not-attempted"
    worked.client("dynamodb").delete_item(TableName="q05-orders", Key={"id": {"S": "dedup-order"}})
    assert "`other-order`" in worked.detail("clean-up", "orders")
    worked.delete_orders()
    worked.delete_logs()
    report = worked.lab.check("clean-up")
    assert report.passed, str(report)


def test_what_the_lesson_provides_must_stay(learner):
    table = learner.client("dynamodb")
    reference = {"id": {"S": "reference"}, "note": {"S": "changed"}}
    table.put_item(TableName="q05-reference", Item=reference)
    assert "`changed`" in learner.detail("clean-up", "reference")
    table.put_item(TableName="q05-reference", Item={"id": {"S": "another"}})
    assert "`q05-reference`: 2." in learner.detail("clean-up", "reference")
    table.delete_table(TableName="q05-reference")
    assert "`q05-reference`" in learner.detail("clean-up", "reference")
    assert "`q05-reference`" in learner.detail("clean-up", "kept")
    table.delete_table(TableName="q05-orders")
    assert "`q05-orders`" in learner.detail("clean-up", "orders")
    learner.client("lambda").delete_function(FunctionName="q05-worker")
    assert "`q05-worker`" in learner.detail("clean-up", "kept")


def test_an_answer_that_proves_nothing_is_never_a_verdict(worked, monkeypatch):
    services = worked.lab._lesson.services
    for code in ("AccessDenied", "InvalidClientTokenId", "ExpiredTokenException", "ThrottlingException"):
        with monkeypatch.context() as patch:
            for service in ("sqs", "lambda", "dynamodb", "logs"):
                patch.setattr(services.client(service), "_make_api_call", partial(refuse, code))
            for step in ("connect", "clean-up"):
                report = worked.lab.check(step)
                answered = [item for item in report.items if item.id != "no-early-job"]
                assert {item.outcome for item in answered} == {"cannot-tell"}
                assert all(code in item.detail for item in answered)
    worked.lab.cloud.server.close()
    for step in worked.lab.steps:
        for item in worked.lab.check(step).items:
            if item.outcome in {"right", "not-yet"}:
                # The journal alone decides these.
                assert item.id in {"condition", "runs", "decisions", "no-early-job"}, (step, item)
            elif step == "clean-up":
                assert item.outcome == "cannot-tell"
                assert "proves nothing" in item.detail
    worked.lab.close()


def refuse(code: str, operation_name: str, _parameters: object) -> None:
    raise ClientError({"Error": {"Code": code, "Message": "no"}}, operation_name)
