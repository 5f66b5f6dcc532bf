"""lab.settle(): rest, what waits, and what does not come to rest."""

from __future__ import annotations

import threading

import pytest

from helpers.cloud import Busy
from helpers.lab.errors import StillBusy
from helpers.lab.rest import Rest, still_busy
from tests.lab.conftest import GUARDED

ENDLESS = "def handler(event, context):\n    while True:\n        pass\n"
LOUD = 'def handler(event, context):\n    print("x" * 5_000_000)\n'


def test_an_untouched_account_is_at_rest(lab):
    assert lab.settle() == Rest()
    assert str(lab.settle()) == "At rest. Visible: 0. In flight: 0. Delayed: 0."


def test_an_endless_loop_ends_with_its_timeout_and_is_explained(learner):
    learner.connect()
    learner.configure(Timeout=1)
    learner.deploy(ENDLESS)
    learner.send()
    rest = learner.lab.settle()
    assert (rest.in_flight, rest.wait_seconds) == (1, 30)
    assert "timeout of the function" in rest.notes[0]
    assert "lab.skip(30)" in rest.notes[1]
    assert "timeout of the function" in learner.detail("deploy", "condition")


def test_the_wait_is_bounded_and_says_what_is_busy(learner):
    learner.connect()
    learner.deploy(ENDLESS)
    learner.send()
    with pytest.raises(StillBusy) as busy:
        learner.lab.settle(timeout=0.3)
    assert "`q05-worker`" in busy.value.meaning
    assert "`app.py`" in busy.value.advice


def test_a_print_of_five_megabytes_simply_works(learner):
    learner.connect()
    learner.deploy(LOUD)
    learner.send()
    assert learner.lab.settle().in_flight == 0
    assert learner.lab.outcome()["runs"] == 1
    assert learner.lab.outcome()["failed_runs"] == 0


def test_a_held_call_is_named(learner):
    learner.first_job()
    hold = learner.lab.cloud.faults.hold("dynamodb", "PutItem", function="q05-worker")
    learner.send()
    assert learner.lab.cloud.faults.wait_until_held(hold)
    with pytest.raises(StillBusy, match="held by a fault"):
        learner.lab.settle(timeout=0.2)
    learner.lab.cloud.faults.cancel(hold)
    assert learner.lab.settle() == Rest()


def test_clearing_the_faults_lets_a_slow_worker_go_on(learner):
    learner.first_job()
    learner.lab.faults.slow_worker()
    learner.send("slow-order", 3)
    changed = learner.lab.cloud.boundary.changed
    while not learner.lab.cloud.faults.held():
        assert changed.wait(changed.count, 10)
    learner.lab.faults.clear()
    assert learner.lab.settle() == Rest()
    assert learner.lab.outcome()["runs"] == 2


def test_waits_can_be_skipped_until_the_queue_has_drained(learner):
    learner.first_job()
    learner.lab.faults.crash_after_write()
    learner.send("crash-order", 2)
    assert learner.lab.settle(skip_waits=True) == Rest()
    assert learner.lab.outcome()["runs"] == 3


def test_a_message_that_always_fails_does_not_hold_the_notebook(learner):
    learner.first_job()
    learner.send(body="{}")
    with pytest.raises(StillBusy, match="dead-letter queue"):
        learner.lab.settle(skip_waits=True)


def test_a_failing_message_says_why_and_when_it_comes_back(learner):
    learner.first_job()
    learner.send(body="not json")
    rest = learner.lab.settle()
    assert rest.in_flight == 1
    assert "JSONDecodeError" in rest.notes[0]
    assert "1 message is hidden" in str(rest)


def test_each_busy_kind_has_words():
    kinds = ("run", "queue", "mapping", "function", "held")
    words = {still_busy([Busy(kind, "name", 2)], 3).meaning for kind in kinds}
    assert len(words) == len(kinds)


def test_settling_from_another_thread_works(learner):
    learner.first_job(GUARDED)
    learner.send()
    found = []
    thread = threading.Thread(target=lambda: found.append(learner.lab.settle()))
    thread.start()
    thread.join(30)
    assert found == [Rest()]
