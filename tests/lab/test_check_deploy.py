"""lab.check("deploy"): handlers that learners write, deployed and run for real."""

from __future__ import annotations

from textwrap import dedent

import pytest

from helpers.lab.idempotent_consumer import HANDLERS
from tests.lab.conftest import GUARDED

UNGUARDED = (HANDLERS / "unguarded.py").read_text(encoding="utf-8")
MESSAGE_ID = (HANDLERS / "message_id_key.py").read_text(encoding="utf-8")


def test_the_provided_code_is_no_attempt(learner):
    learner.connect()
    assert learner.outcomes("deploy") == {
        "code": "not-attempted",
        "condition": "not-attempted",
        "order": "not-attempted",
        "drained": "not-attempted",
    }


def test_the_reference_handler_is_right(learner):
    learner.first_job()
    report = learner.lab.check("deploy")
    assert report.passed, str(report)
    assert "attribute_not_exists(id)" in report["condition"].detail


@pytest.mark.parametrize("quantity", [1, 10])
def test_any_quantity_is_judged_by_the_job_that_was_sent(learner, quantity):
    learner.connect()
    learner.deploy()
    learner.send(quantity=quantity)
    learner.lab.settle()
    assert learner.lab.check("deploy").passed


def test_a_syntax_error_is_found_with_its_line_without_running_it(learner):
    learner.connect()
    learner.deploy(GUARDED.replace("def read_job(body):", "def read_job(body)"))
    line = GUARDED.split("\n").index("def read_job(body):") + 1
    detail = learner.detail("deploy", "code")
    assert f"Line {line} " in detail
    assert "`def read_job(body)`" in detail
    learner.send()
    rest = learner.lab.settle()
    assert rest.in_flight == 1
    assert "not valid Python" in " ".join(rest.notes)
    assert "not valid Python" in learner.detail("deploy", "condition")


def test_a_missing_handler_is_named(learner):
    learner.connect()
    learner.deploy(GUARDED.replace("def handler(", "def handle("))
    assert "`handler`" in learner.detail("deploy", "code")
    learner.send()
    learner.lab.settle()
    assert "handler" in learner.detail("deploy", "order")


@pytest.mark.parametrize("file", ["src/app.py", "lambda_function.py"])
def test_a_file_in_the_wrong_place_is_named(learner, file):
    learner.connect()
    learner.deploy(file=file)
    detail = learner.detail("deploy", "code")
    assert f"`{file}`" in detail
    assert "`app.py`" in detail


def test_code_that_changed_after_the_deployment_is_noticed(learner):
    learner.connect()
    learner.deploy(written=GUARDED + "\n# one more idea\n")
    assert "Pack and deploy it again" in learner.detail("deploy", "code")


def test_an_imported_handler_counts(learner):
    learner.connect()
    learner.deploy("try:\n    from json import dumps as handler\nexcept ImportError:\n    handler = None\n")
    assert learner.outcomes("deploy")["code"] == "right"


def test_a_deleted_function_is_named(learner):
    learner.connect()
    learner.client("lambda").delete_function(FunctionName="q05-worker")
    assert "q05-worker" in learner.detail("deploy", "code")


def test_an_unguarded_write_is_named(learner):
    learner.first_job(UNGUARDED)
    assert "without a condition" in learner.detail("deploy", "condition")
    assert learner.outcomes("deploy")["order"] == "right"


def test_a_repaired_handler_still_needs_a_guarded_write(learner):
    learner.first_job(UNGUARDED)
    learner.deploy()
    learner.send()
    learner.lab.settle()
    assert "Delete the item `dedup-order`" in learner.detail("deploy", "condition")
    learner.delete_orders()
    learner.send()
    learner.lab.settle()
    assert learner.outcomes("deploy")["condition"] == "right"


def test_the_message_id_as_key_is_named(learner):
    learner.first_job(MESSAGE_ID)
    assert "message id" in learner.detail("deploy", "condition")
    assert "message id" in learner.detail("deploy", "order")


def test_an_update_with_a_condition_is_a_guard_too(learner):
    learner.first_job(
        dedent(
            """
            import json, os, boto3
            table = boto3.resource("dynamodb").Table(os.environ["ORDERS_TABLE"])
            def handler(event, context):
                job = json.loads(event["Records"][0]["body"])
                table.update_item(
                    Key={"id": job["id"]},
                    UpdateExpression="SET quantity = :q, total_cents = :t",
                    ConditionExpression="attribute_not_exists(id)",
                    ExpressionAttributeValues={":q": job["quantity"], ":t": job["quantity"] * 250 + 100},
                )
            """
        )
    )
    report = learner.lab.check("deploy")
    assert report.passed, str(report)


@pytest.mark.parametrize(
    ("wrong", "seen"),
    [("* 250 + 100", "1000"), ('"quantity": {"N": str(job["quantity"])}', "quantity 40")],
)
def test_a_wrong_number_is_named(learner, wrong, seen):
    repaired = {"* 250 + 100": "* 250", '"quantity": {"N": str(job["quantity"])}': '"quantity": {"N": "40"}'}
    assert wrong in GUARDED
    learner.first_job(GUARDED.replace(wrong, repaired[wrong]))
    assert seen in learner.detail("deploy", "order")


def test_a_body_that_is_no_job_is_shown(learner):
    learner.connect()
    learner.deploy()
    learner.send(body="four pieces, please")
    learner.lab.settle()
    assert "four pieces, please" in learner.detail("deploy", "condition")
    assert "four pieces, please" in learner.detail("deploy", "order")
    assert "In flight: 1" in learner.detail("deploy", "drained")


def test_a_right_that_the_role_lacks_is_shown(learner):
    scanning = GUARDED.replace("dynamodb.put_item(", "dynamodb.scan(TableName=ORDERS)\n        dynamodb.put_item(")
    learner.first_job(scanning)
    detail = learner.detail("deploy", "order")
    assert "AccessDeniedException" in detail
    assert "line " in detail


def test_waiting_messages_say_why(learner):
    learner.make_queue()
    uuid = learner.map(Enabled=False)
    learner.deploy()
    learner.send()
    rest = learner.lab.settle()
    assert rest.visible == 1
    assert "disabled" in " ".join(rest.notes)
    assert "disabled" in learner.detail("deploy", "drained")
    learner.client("lambda").delete_event_source_mapping(UUID=uuid)
    rest = learner.lab.settle()
    assert "No mapping" in " ".join(rest.notes)
    assert "No mapping" in learner.detail("deploy", "drained")


def test_another_order_does_not_stand_for_the_order_of_the_step(learner):
    learner.connect()
    learner.deploy()
    learner.send("my-order", 3)
    learner.lab.settle()
    assert "`dedup-order`" in learner.detail("deploy", "condition")
    assert "`dedup-order`" in learner.detail("deploy", "order")
    learner.send()
    learner.lab.settle()
    report = learner.lab.check("deploy")
    assert report.passed, str(report)
