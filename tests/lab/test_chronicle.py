"""The chronicle: each event is read once, and each message or execution has its lane."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.cloud import glance
from helpers.lab import chronicle
from helpers.lab.chronicle import Chronicle
from helpers.lab.lanes import Lane
from tests.lab.conftest import Learner


@pytest.fixture
def told(learner: Learner) -> Iterator[Chronicle]:
    return Chronicle(learner.lab.cloud, learner.lab._lesson)


def kinds(lane: Lane) -> list[str]:
    return [mark.kind for mark in lane.marks]


def test_a_message_goes_from_sent_to_acknowledged(learner, told):
    learner.first_job()
    learner.repeat(duplicates=1)
    assert told.read()
    first, second, other = told.lanes
    assert kinds(first) == ["sent", "received", "run", "written", "acknowledged"]
    assert kinds(second) == ["sent", "received", "run", "refused", "acknowledged"]
    assert (first.name, other.name, other.number) == ("dedup-order", "other-order", 3)
    assert first.over
    assert first.marks[2].outcome == "succeeded"
    assert first.marks[2].number < first.marks[3].number < first.marks[2].end
    assert [run.outcome for run in told.runs] == ["succeeded"] * 3


def test_only_what_is_new_is_read(learner, told):
    learner.first_job()
    told.read()
    before = told.read_to
    assert not told.read()
    assert told.read_to == before
    learner.send()
    assert told.read()
    assert len(told.lanes) == 2


def test_a_crash_after_the_write_and_the_way_to_the_dead_letter_queue(learner, told):
    learner.first_job()
    learner.redrive(count=2)
    learner.lab.faults.crash_after_write()
    learner.send("crash-order", 3)
    learner.lab.settle()
    learner.returns(1)
    learner.send(body="bad")
    learner.lab.settle()
    learner.returns(2)
    told.read()
    crashed, bad = told.lanes[1:]
    first = ["sent", "received", "run", "written", "crashed", "returned"]
    assert kinds(crashed) == [*first, "received", "run", "refused", "acknowledged"]
    assert kinds(bad) == ["sent", *["received", "run", "failed", "returned"] * 2, "dead-lettered"]
    assert (bad.deliveries, bad.dead, bad.over) == (2, True, False)
    assert bad.marks[3].error == "JSONDecodeError"
    assert sum(skip.seconds for skip in told.skips) == 90
    learner.delete_mapping()
    learner.delete_queues()
    told.read()
    assert bad.removed
    assert kinds(bad)[-1] == "removed"
    assert not crashed.removed, "it was acknowledged before"


def test_older_lanes_are_counted_and_not_kept(learner, told, monkeypatch):
    monkeypatch.setattr(chronicle, "MOST_LANES", 3)
    learner.make_queue()
    for _ in range(5):
        learner.send()
    told.read()
    assert [lane.number for lane in told.lanes] == [3, 4, 5]
    assert told.lanes_before == 2
    learner.map()
    learner.lab.settle()
    told.read()
    learner.send()
    told.read()
    assert [lane.number for lane in told.lanes] == [4, 5, 6]


def test_a_glance_leaves_no_trace_and_tells_when_time_alone_changes_something(learner):
    cloud = learner.lab.cloud
    learner.make_queue()
    learner.send()
    learner.client("sqs").send_message(QueueUrl=learner.url, MessageBody="later", DelaySeconds=60)
    learner.client("sqs").receive_message(QueueUrl=learner.url)
    last = cloud.journal.last
    seen = glance.queues(cloud, ("q05-jobs", "no-such-queue"))
    assert set(seen) == {"q05-jobs"}
    assert sorted(seen["q05-jobs"].places.values()) == ["delayed", "in flight"]
    assert 0 < seen["q05-jobs"].changes_at - cloud.clock.now() <= 30
    assert glance.items(cloud, "q05-orders") == []
    assert glance.items(cloud, "no-such-table") is None
    assert cloud.journal.last == last
    learner.lab.skip(61)
    assert glance.queues(cloud, ("q05-jobs",))["q05-jobs"].count("visible") == 2
