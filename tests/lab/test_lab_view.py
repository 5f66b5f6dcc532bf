"""lab.view(): a snapshot that says the same for the same lesson."""

from __future__ import annotations

from helpers.lab.view import DecisionView, MessageView, QueueView, RunView


def test_an_empty_account(learner):
    view = learner.lab.view()
    assert (view.queues, view.orders, view.decisions, view.runs, view.messages) == ((), (), (), (), ())
    assert view.reference == "keep unchanged"


def test_the_first_job(learner):
    learner.first_job()
    view = learner.lab.view()
    order = {"id": "dedup-order", "quantity": 4, "total_cents": 1100}
    assert view.queues == (QueueView("q05-jobs", 0, 0, 0),)
    condition = "attribute_not_exists(id)"
    decision = DecisionView(1, "q05-orders", "dedup-order", "PutItem", condition, True, None, order)
    assert view.decisions == (decision,)
    result = {"id": "dedup-order", "quantity": 4, "processed": True, "duplicate": False}
    assert view.runs == (RunView(1, "q05-worker", (1,), "succeeded", result, ""),)
    assert view.messages == (MessageView(1, '{"id": "dedup-order", "quantity": 4}', 1, "acknowledged"),)


def test_the_order_of_sending_decides_whatever_runs_first(learner):
    learner.first_job()
    learner.repeat(duplicates=4)
    view = learner.lab.view()
    assert [decision.key for decision in view.decisions] == ["dedup-order"] * 5 + ["other-order"]
    assert [decision.accepted for decision in view.decisions] == [True] + [False] * 4 + [True]
    assert [run.messages for run in view.runs] == [(number,) for number in range(1, 7)]
    assert all(one.before == one.after for one in view.decisions if not one.accepted)


def test_messages_show_where_they_are(learner):
    learner.first_job()
    learner.redrive(count=1)
    learner.send(body="bad")
    learner.lab.settle()
    assert [message.state for message in learner.lab.view().messages] == ["acknowledged", "in flight"]
    assert "JSONDecodeError" in learner.lab.view().runs[-1].reason
    learner.returns(1)
    assert learner.lab.view().messages[-1].state == "dead-lettered"
    learner.delete_mapping()
    learner.send("late-order", 1)
    assert learner.lab.view().messages[-1].state == "visible"


def test_history_stays_when_the_resources_are_gone(learner):
    learner.first_job()
    learner.delete_mapping()
    learner.delete_queues()
    learner.delete_orders()
    view = learner.lab.view()
    assert (view.queues, view.orders) == ((), ())
    assert len(view.decisions) == 1
    assert view.reference == "keep unchanged"
