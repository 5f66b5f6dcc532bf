"""The explorer on real workers: the table of guards, the learner's own worker, and handlers that are not like them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helpers.cloud.schedules import Conductor
from helpers.lab import deliveries, explorations, explorer, lab
from helpers.lab.bench import Bench, code_of
from helpers.lab.errors import BadParameter
from helpers.lab.experiments import FILES
from helpers.lab.explorer import Exploration
from helpers.lab.history import History
from helpers.lab.properties import PROPERTIES
from helpers.lab.services import zip_of
from helpers.lab.story import tell

pytestmark = pytest.mark.early

BROKEN = {
    "none": {"charged-once", "unchanged", "first-details"},
    "read-then-write": {"charged-once", "stored-first", "nothing-lost", "unchanged", "first-details"},
    "message-id": {"charged-once", "first-details"},
    "condition-only": {"stored-first", "nothing-lost"},
    "conditional-write": set(),
}


def broken(found: Exploration) -> set[str]:
    assert found.reason == ""
    assert {outcome for _, outcome in found.outcomes} <= {"holds", "broken"}
    return {name for name, outcome in found.outcomes if outcome == "broken"}


def story(found: Exploration, name: str) -> tuple[str, ...]:
    counterexample = found.counterexample(name)
    assert counterexample is not None
    return tell(counterexample.steps)


@contextmanager
def at_work(opened: lab.Lab, code: bytes) -> Iterator[tuple[Bench, Conductor, explorer.Journal]]:
    services = opened._lesson.services
    worker = explorations._Worker("test", code)
    with explorations._bench(services, worker) as bench:
        bench.settle()
        with explorations._driven(services, bench) as (conductor, journal):
            yield bench, conductor, journal


def explored(opened: lab.Lab, source: str) -> Exploration:
    with at_work(opened, zip_of({"app.py": source})) as (bench, conductor, journal):
        return explorer.explore(bench, conductor, journal, "test")


def test_the_table_of_guards_is_computed_and_leaves_nothing_behind(opened, monkeypatch):
    # The whole table, side by side and the same each time, is in the lesson: nbval computes it three times.
    chosen = ("read-then-write",)
    monkeypatch.setattr(explorations, "GUARDS", chosen)
    opened.reset()
    before, last = opened.outcome(), opened.cloud.journal.last
    table = opened.explore_guards()
    assert {row.worker: broken(row) for row in table.rows} == {guard: BROKEN[guard] for guard in chosen}
    assert story(table["read-then-write"], "charged-once") == (
        "Message 1 is sent: order `demo-order`, quantity 4.",
        "Worker A receives message 1, delivery 1.",
        "Worker B receives message 1, delivery 2.",
        "Worker A reads the table: the order is not there.",
        "Worker B reads the table: the order is not there.",
        "Worker A stores the order `demo-order` with the quantity 4.",
        "Worker B stores the order `demo-order` with the quantity 4 again, over the one that is there.",
    )
    alone = opened.explore("condition-only")
    assert broken(alone) == BROKEN["condition-only"]
    assert story(alone, "stored-first")[-3:] == (
        "Worker B stores the order `demo-order` with the quantity 5.",
        "Worker A tries to store the order `demo-order`. DynamoDB refuses the write.",
        "Message 1 is acknowledged: order `demo-order`, quantity 4.",
    )
    assert opened.outcome() == before
    assert opened.cloud.journal.last - last < 300, "the lesson's own story is not pushed out"
    assert opened._lesson.services.queue_names("q05-") == []
    functions = opened._lesson.services.client("lambda").list_functions()["Functions"]
    assert [one["FunctionName"] for one in functions] == ["q05-worker"]
    assert opened.cloud.busy() == []


def test_on_real_workers_too_nothing_is_lost_by_leaving_out_what_can_be_told(opened, monkeypatch):
    monkeypatch.setattr(explorer, "SCENARIOS", ("alone", "other-details"))
    with at_work(opened, code_of(FILES["condition-only"])) as (bench, conductor, journal):
        pruned = explorer.explore(bench, conductor, journal, "test")
        everything = explorer.explore(bench, conductor, journal, "test", prune=False)
    assert pruned.outcomes == everything.outcomes
    assert pruned.schedules < everything.schedules / 2
    assert [len(one.steps) for one in pruned.counterexamples] == [len(one.steps) for one in everything.counterexamples]


def test_a_process_that_is_really_killed_leaves_the_same_history(opened):
    def without_deaths(told: History) -> list[str]:
        return [sentence for sentence in tell(told.steps) if not sentence.endswith("crashes.")]

    compared = 0
    with at_work(opened, code_of(FILES["read-then-write"])) as (bench, conductor, journal):
        for scenario in ("alone", "same-message"):
            system = deliveries.Deliveries(bench, conductor, journal, scenario)
            search = explorer.Search(system, deliveries.independent)
            ways = [(way, without_deaths(system.told())) for way in search if any(one.kind == "death" for one in way)]
            for way, told in ways[:: 1 if scenario == "alone" else 12]:
                assert without_deaths(deliveries.replay(system, way)) == told
                compared += 1
            system.clear()
    assert compared >= 3


def test_the_learners_worker_is_explored_as_it_is_deployed(lab, learner):
    assert broken(lab.explore()) == BROKEN["none"]
    learner.deploy()
    assert broken(lab.explore()) == set()
    assert lab.outcome()["runs"] == 0


def test_the_history_of_the_learners_queue_is_judged(lab, learner):
    assert {verdict.outcome for verdict in lab.verify().verdicts} == {"cannot-tell"}
    learner.connect()
    learner.send("dedup-order", 4)
    learner.send("dedup-order", 4)
    lab.settle()
    [charged] = lab.verify().broken
    # Two workers run at once here: either may be the first.
    first, second = (sentence.split(maxsplit=2) for sentence in tell(charged.witness))
    assert {first[1], second[1]} == {"A", "B"}
    assert first[2] == "stores the order `dedup-order` with the quantity 4."
    assert second[2] == "stores the order `dedup-order` with the quantity 4 again, over the one that is there."
    assert charged.property == PROPERTIES[0]


HEAD = """
import json, os, boto3
TABLE = os.environ["ORDERS_TABLE"]
dynamodb = boto3.client("dynamodb")
"""


def test_a_handler_that_calls_nothing_acknowledges_what_it_never_stored(opened):
    found = explored(opened, "def handler(event, context):\n    return 1\n")
    assert broken(found) == {"stored-first", "nothing-lost"}
    assert story(found, "nothing-lost") == (
        "Message 1 is sent: order `demo-order`, quantity 4.",
        "Worker A receives message 1, delivery 1.",
        "Message 1 is acknowledged: order `demo-order`, quantity 4.",
    )


def test_a_claim_before_the_order_loses_it_in_a_crash(opened, monkeypatch):
    monkeypatch.setattr(explorer, "SCENARIOS", ("alone",))
    claims = """
def handler(event, context):
    job = json.loads(event["Records"][0]["body"])
    claim = {"id": {"S": "claim-" + job["id"]}}
    try:
        dynamodb.put_item(TableName=TABLE, Item=claim, ConditionExpression="attribute_not_exists(id)")
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return
    item = {"id": {"S": job["id"]}, "quantity": {"N": str(job["quantity"])}}
    dynamodb.put_item(TableName=TABLE, Item=item)
"""
    found = explored(opened, HEAD + claims)
    assert broken(found) == {"stored-first", "nothing-lost"}
    assert story(found, "nothing-lost")[2:] == (
        "Worker A writes an item that is no order.",
        "Worker A crashes.",
        "Worker B receives message 1, delivery 2.",
        "Worker B tries to store the order `demo-order`. DynamoDB refuses the write.",
        "Message 1 is acknowledged: order `demo-order`, quantity 4.",
    )


@pytest.mark.parametrize(
    ("body", "reason", "error"),
    [
        ("    raise KeyError('id')", "fails", "KeyError"),
        ("    dynamodb.scan(TableName='q05-reference')", "fails", "ClientError"),
        ("    while True:\n        dynamodb.get_item(TableName=TABLE, Key={'id': {'S': 'x'}})", "too-many-calls", ""),
    ],
    ids=["raises", "is not allowed", "never stops calling"],
)
def test_a_handler_that_cannot_be_driven_gets_no_verdict(opened, body, reason, error):
    found = explored(opened, f"{HEAD}\ndef handler(event, context):\n{body}\n")
    assert (found.reason, found.error) == (reason, error)
    assert {outcome for _, outcome in found.outcomes} == {"cannot-tell"}


def test_an_unknown_guard_is_named(opened):
    with pytest.raises(BadParameter, match="`guard`"):
        opened.explore("luck")


def test_an_interrupt_leaves_nothing_behind(opened, monkeypatch):
    def interrupted(*_values, **_named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(explorer, "judge", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.explore("conditional-write")
    assert opened._lesson.services.queue_names("q05-x-") == []
    assert opened.cloud.busy() == []
