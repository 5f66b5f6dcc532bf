"""lab.faults: each fault on the deployed worker, and the papermill parameter `fault`."""

from __future__ import annotations

import time

import pytest

from helpers.lab.errors import BadParameter, NothingSent
from helpers.lab.faults import ArmedFault, FaultNotice
from helpers.lab.idempotent_consumer import FAULTS


@pytest.mark.parametrize("copies", [1, 3])
def test_send_again_makes_new_messages_for_the_same_order(learner, copies):
    learner.first_job()
    notice = learner.lab.faults.send_again(copies)
    assert isinstance(notice, FaultNotice)
    assert str(copies) in notice.text
    learner.lab.settle()
    outcome = learner.lab.outcome()
    assert (outcome["sent"], outcome["runs"]) == (1 + copies, 1 + copies)
    assert (outcome["accepted"], outcome["refused"]) == (1, copies)


@pytest.mark.parametrize("copies", [0, 51, True, "2", 1.0])
def test_send_again_takes_a_whole_number(learner, copies):
    learner.first_job()
    with pytest.raises(BadParameter):
        learner.lab.faults.send_again(copies)


def test_without_a_queue_or_a_job_there_is_nothing_to_send_again(learner):
    for fault in (learner.lab.faults.send_again, learner.lab.faults.other_details):
        with pytest.raises(NothingSent, match="There is no queue `q05-jobs`"):
            fault()
    learner.connect()
    with pytest.raises(NothingSent, match="No job was sent"):
        learner.lab.faults.send_again()


@pytest.mark.parametrize(("quantity", "other"), [(4, 5), (10, 1)])
def test_other_details_keeps_the_id_and_changes_the_quantity(learner, quantity, other):
    learner.connect()
    learner.deploy()
    learner.send(quantity=quantity)
    learner.lab.settle()
    notice = learner.lab.faults.other_details()
    assert f"quantity {other}" in notice.text
    assert "no dead-letter queue" in notice.text
    assert learner.lab.settle().in_flight == 1
    assert learner.lab.view().messages[-1].body == f'{{"id": "dedup-order", "quantity": {other}}}'


def test_the_queue_hands_the_same_message_out_again(learner):
    learner.first_job()
    notice = learner.lab.faults.deliver_again()
    assert notice.text
    learner.send("twice-order", 2)
    learner.lab.settle(skip_waits=True)
    view = learner.lab.view()
    assert [message.deliveries for message in view.messages] == [1, 2]
    assert [run.result["duplicate"] for run in view.runs] == [False, False, True]
    assert learner.lab.faults.armed() == []


def test_armed_faults_are_listed_and_cleared(learner):
    learner.lab.faults.crash_after_write()
    learner.lab.faults.slow_worker()
    armed = learner.lab.faults.armed()
    assert [(one.fault, one.remaining) for one in armed] == [("crash-after-write", 1), ("slow-worker", 1)]
    assert all(isinstance(one, ArmedFault) and one.description for one in armed)
    assert "2 faults" in learner.lab.faults.clear().text
    assert learner.lab.faults.armed() == []
    assert learner.lab.faults.clear().text == "No fault was armed."


# fault: runs, failed runs, accepted and refused writes of one more order, and whether each run reports a duplicate
ONE_MORE = {
    "crash_before_write": (2, 1, 1, 0, [None, False]),
    "crash_after_write": (2, 1, 1, 1, [None, True]),
    "slow_worker": (2, 0, 1, 1, [True, False]),
    "throttle": (1, 0, 1, 0, [False]),
    "server_error": (1, 0, 1, 0, [False]),
    "lose_answer": (1, 0, 1, 1, [True]),
    "deliver_again": (2, 0, 1, 1, [False, True]),
}


@pytest.mark.parametrize("fault", ONE_MORE)
def test_each_fault_does_what_it_says_to_one_order_and_is_counted(learner, fault):
    learner.first_job()
    before = learner.lab.outcome()
    notice = getattr(learner.lab.faults, fault)()
    assert notice.fault == fault.replace("_", "-")
    assert notice.text
    (armed,) = learner.lab.faults.armed()
    assert (armed.fault, armed.fired) == (notice.fault, 0)
    learner.send("one-more", 2)
    learner.lab.settle(skip_waits=True)
    after = learner.lab.outcome()
    runs, failed, accepted, refused, duplicates = ONE_MORE[fault]
    counts = {name: after[name] - before[name] for name in ("runs", "failed_runs", "accepted", "refused")}
    assert counts == {"runs": runs, "failed_runs": failed, "accepted": accepted, "refused": refused}
    assert after["acknowledged"] == before["acknowledged"] + 1
    assert [one["id"] for one in after["orders"]] == ["dedup-order", "one-more"]
    results = [run.result for run in learner.lab.view().runs[-runs:]]
    assert [result and result["duplicate"] for result in results] == duplicates
    assert learner.lab.faults.armed() == []
    (spent,) = learner.lab.faults.history()[-1:]
    assert (spent.fault, spent.remaining) == (notice.fault, 0)
    assert spent.fired == (2 if fault == "throttle" else 1)


def test_a_poison_message_fails_until_it_is_in_the_dead_letter_queue(learner):
    learner.first_job()
    assert "comes back again and again" in learner.lab.faults.poison_message().text
    learner.redrive(2)
    learner.lab.settle(skip_waits=True)
    outcome = learner.lab.outcome()
    assert (outcome["failed_runs"], outcome["dead_lettered"]) == (2, 1)
    assert "again and again" not in learner.lab.faults.poison_message().text


@pytest.mark.parametrize("n", [0, 3, True, "2"])
def test_throttle_takes_a_whole_number_that_the_worker_survives(learner, n):
    with pytest.raises(BadParameter):
        learner.lab.faults.throttle(n)


def test_faults_of_the_queue_and_of_the_worker_need_them(learner):
    for fault in (learner.lab.faults.deliver_again, learner.lab.faults.poison_message):
        with pytest.raises(NothingSent, match="There is no queue `q05-jobs`"):
            fault()
    learner.client("lambda").delete_function(FunctionName="q05-worker")
    for fault in ("crash_before_write", "crash_after_write", "slow_worker", "throttle", "server_error", "lose_answer"):
        with pytest.raises(NothingSent, match="There is no function `q05-worker`"):
            getattr(learner.lab.faults, fault)()
    assert learner.lab.faults.armed() == []


def test_a_slow_worker_goes_on_without_settle(learner):
    learner.first_job()
    learner.lab.faults.slow_worker()
    learner.send("slow-order", 3)
    end = time.monotonic() + 20
    while learner.lab.outcome()["acknowledged"] < 2 or learner.lab.cloud.busy():
        assert time.monotonic() < end
        seen = learner.lab.cloud.boundary.changed.count
        learner.lab.cloud.boundary.changed.wait(seen, 0.1)
    assert learner.outcomes("break")["slow"] == "right"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("duplicates", [2])
def test_the_parameter_of_papermill_changes_the_counts_as_it_must(learner, fault, duplicates):
    learner.first_job()
    learner.lab.apply(fault)
    for _copy in range(duplicates):
        learner.send()
    learner.send("other-order", 1)
    rest = learner.lab.settle()
    assert (rest.visible, rest.in_flight) == (0, 0)
    report = learner.lab.check("repeat")
    assert report.passed, str(report)
    outcome = learner.lab.outcome()
    counts = {name: outcome[name] for name in _COUNTS}
    assert counts == dict(zip(_COUNTS, _EXPECTED[fault], strict=True))
    assert [(one["id"], one["total_cents"]) for one in outcome["orders"]] == [
        ("dedup-order", 1100),
        ("other-order", 350),
    ]


_COUNTS = ("sent", "runs", "accepted", "refused", "failed_runs", "acknowledged", "dead_lettered")
_EXPECTED = {
    "none": (4, 4, 2, 2, 0, 4, 0),
    "send-again": (5, 5, 2, 3, 0, 5, 0),
    "other-details": (5, 7, 2, 5, 3, 4, 1),
    "crash-after-write": (4, 5, 2, 3, 1, 4, 0),
    "slow-worker": (4, 5, 2, 3, 0, 4, 0),
}


def test_an_unknown_fault_lists_the_known_ones(lab):
    with pytest.raises(BadParameter, match="crash-after-write"):
        lab.apply("fire")
