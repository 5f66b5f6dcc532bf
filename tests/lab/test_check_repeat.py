"""lab.check("repeat"): evidence that the number of orders alone would hide."""

from __future__ import annotations

from helpers.lab.idempotent_consumer import HANDLERS
from tests.lab.conftest import GUARDED

UNGUARDED = (HANDLERS / "unguarded.py").read_text(encoding="utf-8")
MESSAGE_ID = (HANDLERS / "message_id_key.py").read_text(encoding="utf-8")


def test_one_job_is_no_repetition(learner):
    learner.first_job()
    outcomes = learner.outcomes("repeat")
    assert outcomes.pop("drained") == "right"
    assert set(outcomes.values()) == {"not-attempted"}


def test_four_runs_two_writes_two_refusals_are_right(learner):
    learner.first_job()
    learner.repeat(at_once=True)
    report = learner.lab.check("repeat")
    assert report.passed, str(report)
    assert report["runs"].detail == "4 messages, 4 runs."
    assert report["decisions"].detail == "Accepted: 2. Refused: 2."


def test_missing_copies_are_counted(learner):
    learner.first_job()
    learner.repeat(duplicates=1)
    assert "2 of 3" in learner.detail("repeat", "runs")


def test_the_independent_order_is_missed(learner):
    learner.first_job()
    learner.send()
    learner.send()
    learner.lab.settle()
    assert "`other-order`" in learner.detail("repeat", "runs")


def test_messages_without_a_run_are_counted(learner):
    learner.first_job()
    learner.delete_mapping()
    learner.repeat()
    assert learner.detail("repeat", "runs").startswith("3 messages")
    assert "Visible: 3" in learner.detail("repeat", "drained")


def test_an_overwrite_is_seen_although_the_table_looks_right(learner):
    learner.first_job(UNGUARDED)
    learner.repeat()
    assert learner.outcomes("repeat")["orders"] == "right"
    assert "overwritten 2 times" in learner.detail("repeat", "decisions")


def test_results_that_call_an_overwrite_a_first_write_are_not_right(learner):
    """Variation 2 of "Change it yourself": the reference handler without its condition."""
    lines = GUARDED.splitlines(keepends=True)
    learner.first_job("".join(line for line in lines if "Condition" not in line or "except" in line))
    learner.repeat()
    assert '"duplicate": true' in learner.detail("repeat", "results")


def test_a_condition_that_is_always_true_is_no_guard(learner):
    learner.first_job(GUARDED.replace('"attribute_not_exists(id)"', '"attribute_not_exists(nothing)"'))
    learner.repeat()
    assert "overwritten" in learner.detail("repeat", "decisions")


def test_the_message_id_as_key_is_named(learner):
    learner.first_job(MESSAGE_ID)
    learner.repeat()
    assert "message id" in learner.detail("repeat", "decisions")


def test_a_repeated_job_that_fails_is_named(learner):
    learner.first_job(GUARDED.replace('if refusal.response["Item"] != order:', "if refusal:"))
    learner.repeat()
    assert "ConditionalCheckFailedException" in learner.detail("repeat", "results")
    assert "In flight: 2" in learner.detail("repeat", "drained")


def test_a_result_that_does_not_tell_a_duplicate_is_shown(learner):
    learner.first_job(GUARDED.replace('"duplicate": not processed', '"duplicate": False'))
    learner.repeat()
    assert '"duplicate": true' in learner.detail("repeat", "results")


def test_missing_log_lines_are_counted(learner):
    learner.first_job(GUARDED.replace('print("RESULT"', 'print("DONE"'))
    learner.repeat()
    assert "log: 0. Runs that succeeded: 4." in learner.detail("repeat", "results")


def test_a_swallowed_conflict_is_named(learner):
    learner.first_job(GUARDED.replace("            raise  #", "            pass  #"))
    learner.send(quantity=7)
    learner.repeat()
    assert "acknowledged silently" in learner.detail("repeat", "results")


def test_orders_that_were_touched_by_hand_are_named(learner):
    learner.first_job()
    learner.repeat()
    table = learner.client("dynamodb")
    table.put_item(TableName="q05-orders", Item={"id": {"S": "mine"}})
    assert "`mine`" in learner.detail("repeat", "orders")
    table.delete_item(TableName="q05-orders", Key={"id": {"S": "mine"}})
    changed = {"id": {"S": "dedup-order"}, "quantity": {"N": "5"}, "total_cents": {"N": "1350"}}
    table.put_item(TableName="q05-orders", Item=changed)
    assert "quantity 5" in learner.detail("repeat", "orders")
    table.delete_item(TableName="q05-orders", Key={"id": {"S": "dedup-order"}})
    assert "`dedup-order` was written, but" in learner.detail("repeat", "orders")


def test_the_outcome_stays_what_it_was_at_the_end_of_the_step(learner):
    learner.first_job()
    learner.repeat()
    learner.lab.check("repeat")
    outcome = learner.lab.outcome()
    assert {name: outcome[name] for name in ("sent", "runs", "accepted", "refused", "acknowledged")} == {
        "sent": 4,
        "runs": 4,
        "accepted": 2,
        "refused": 2,
        "acknowledged": 4,
    }
    assert outcome["orders"][0] == {
        "id": "dedup-order", "quantity": 4, "total_cents": 1100, "runs": 3, "accepted": 1, "refused": 2,
    }  # fmt: skip
    assert outcome["parameters"] == {"duplicates": 2, "quantity": 4, "fault": "none"}
    learner.send("later-order", 2)
    learner.lab.settle()
    learner.delete_mapping()
    learner.delete_queues()
    learner.delete_orders()
    learner.delete_logs()
    assert learner.lab.outcome() == outcome


def test_a_result_may_be_written_by_a_logger(learner):
    logger = "import logging\nlogging.getLogger().setLevel(20)\n"
    learner.first_job(logger + GUARDED.replace('print("RESULT", ', 'logging.info("RESULT %s", '))
    learner.repeat()
    report = learner.lab.check("repeat")
    assert report.passed, str(report)
