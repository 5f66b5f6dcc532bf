"""lab.faults: each fault on the deployed worker, and the papermill parameter `fault`."""

from __future__ import annotations

import time

import pytest

from helpers.lab.errors import BadParameter, NothingSent
from helpers.lab.faults import ArmedFault, FaultNotice
from helpers.lab.idempotent_consumer import FAULTS
from tests.lab.conftest import GUARDED


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
    "crash_at_start": (2, 1, 1, 0, [None, False]),
    "crash_at_end": (2, 1, 1, 1, [None, True]),
    "late_message": (1, 0, 1, 0, [False]),
    "late_answer": (2, 1, 1, 1, [None, True]),
    "lose_request": (1, 0, 1, 0, [False]),
    "refuse_write": (2, 1, 1, 0, [None, False]),
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
    if fault == "late_answer":  # the answer comes one second after the timeout of the function
        learner.configure(Timeout=1)
    before = learner.lab.outcome()
    notice = getattr(learner.lab.faults, fault)()
    assert notice.fault == fault.replace("_", "-")
    assert notice.text
    (armed,) = learner.lab.faults.armed()
    assert (armed.fault, armed.fired) == (notice.fault, 0)
    learner.send("one-more", 2)
    learner.lab.settle(skip_waits=True)
    if fault == "late_message":
        assert learner.lab.settle().delayed == 1
        learner.lab.skip(30)
        learner.lab.settle()
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


def test_two_runs_for_one_order_meet_and_the_later_one_writes_first(learner):
    learner.first_job()
    learner.lab.faults.two_at_once()
    for _copy in range(2):
        learner.send("race-order", 2)
    learner.lab.settle()
    first, second = learner.lab.view().runs[-2:]
    assert (first.result["duplicate"], second.result["duplicate"]) == (True, False)
    assert learner.lab.faults.armed() == []


def test_a_worker_that_writes_in_a_transaction_meets_itself_too(learner):
    """The later run lets the held one go with whatever write it makes."""
    before, rest = GUARDED.split("        dynamodb.put_item(\n")
    inside = rest.partition("        )\n")[0]
    learner.connect()
    learner.deploy(f"""{before}        dynamodb.transact_write_items(TransactItems=[dict(Put=dict(
{inside}        ))])
    except dynamodb.exceptions.TransactionCanceledException:
        return False
    return True
""")
    learner.lab.faults.two_at_once()
    for _copy in range(2):
        learner.send("race-order", 2)
    learner.lab.settle()
    first, second = learner.lab.view().runs[-2:]
    assert (first.result and first.result["duplicate"], second.result["duplicate"]) == (True, False)


def test_a_share_of_the_answers_is_lost_until_it_is_cancelled_and_the_same_share_again(learner):
    learner.first_job()
    faults = learner.lab.faults
    faults.lose_some_answers(50, seed=7)
    for number in range(6):
        learner.send(f"share-{number}", 1)
    learner.lab.settle(skip_waits=True)
    (armed,) = faults.armed()
    assert armed.remaining is None
    assert 0 < armed.fired < 12
    assert f"fired so far: {armed.fired}" in armed.count
    assert [one["accepted"] for one in learner.lab.outcome()["orders"] if one["id"].startswith("share-")] == [1] * 6
    assert armed.description in faults.cancel(armed.number).text
    learner.send("share-after", 1)
    learner.lab.settle()
    assert (faults.armed(), faults.history()[-1].fired) == ([], armed.fired)
    # What is drawn depends on the seed and on what a call is about, not on the time.
    learner.delete_orders()
    faults.lose_some_answers(50, seed=7)
    for number in range(6):
        learner.send(f"share-{number}", 1)
    learner.lab.settle(skip_waits=True)
    assert faults.history()[-1].fired == armed.fired


@pytest.mark.parametrize("method", ["crash_before_write", "crash_after_write", "deliver_again"])
def test_a_fault_fires_as_often_as_it_is_told(learner, method):
    learner.first_job()
    getattr(learner.lab.faults, method)(2)
    assert learner.lab.faults.armed()[-1].remaining == 2
    for order in ("one", "two"):
        learner.send(f"{method}-{order}", 2)
    learner.lab.settle(skip_waits=True)
    assert learner.lab.faults.armed() == []
    assert learner.lab.faults.history()[-1].fired == 2
    assert learner.lab.settle().in_flight == 0
    accepted = [one["accepted"] for one in learner.lab.outcome()["orders"] if one["id"].startswith(method)]
    assert accepted == [1, 1]


def test_one_fault_is_cancelled_and_the_others_stay(learner):
    faults = learner.lab.faults
    heard: list[int] = []
    faults.changed = lambda: heard.append(len(faults.armed()))
    for arm in (faults.crash_at_start, faults.lose_answer, faults.slow_worker):
        arm()
    crash, lose, slow = faults.armed()
    assert lose.description in faults.cancel(lose.number).text
    assert [one.fault for one in faults.armed()] == ["crash-at-start", "slow-worker"]
    faults.cancel(slow.number)
    assert [one.number for one in faults.armed()] == [crash.number]
    for wrong in (lose.number, 0, True, "1", None):
        with pytest.raises(BadParameter, match="has the number"):
            faults.cancel(wrong)
    faults.clear()
    with pytest.raises(BadParameter) as nothing:
        faults.cancel(crash.number)
    assert "no fault is armed" in nothing.value.advice
    assert heard == [1, 2, 3, 2, 1, 0]


def test_a_held_run_is_listed_until_it_is_let_go(learner):
    learner.first_job()
    faults = learner.lab.faults
    faults.two_at_once()
    learner.send("waits-alone", 1)
    held = faults._mine[-1][1]
    assert learner.lab.cloud.faults.wait_until_held(held)
    (armed,) = faults.armed()
    assert (armed.holding, armed.count) == (True, "a call is held now")
    faults.cancel(armed.number)
    learner.lab.settle()
    assert faults.armed() == []
    assert learner.lab.outcome()["orders"][-1]["id"] == "waits-alone"


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("late_message", 0),
        ("late_message", 901),
        ("lose_some_answers", 0),
        ("lose_some_answers", 101),
        ("deliver_again", 11),
    ],
)
def test_numbers_of_faults_are_checked_before_anything_is_armed(learner, method, wrong):
    learner.connect()
    with pytest.raises(BadParameter):
        getattr(learner.lab.faults, method)(wrong)
    assert learner.lab.faults.armed() == []


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
    queue = {"send_again", "other_details", "deliver_again", "late_message", "poison_message", "clear"}
    for fault in set(learner.lab.faults.offered) - queue:
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
