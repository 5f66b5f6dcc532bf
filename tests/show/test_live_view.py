"""The live view as an object: it follows the account by itself, without a call, and rests when nothing changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from helpers.lab.errors import LabClosed
from helpers.show import Lab
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.live_view import LiveWidget
from tests.lab.conftest import Learner
from tests.lab.workflow_learner import WorkflowLearner
from tests.show.shown import Outline

pytestmark = pytest.mark.usefixtures("no_widgets")

HANG = 30.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONCE_HOME", str(tmp_path_factory.mktemp("home")))
        with Lab("idempotent-consumer", "en") as opened:
            yield opened


@pytest.fixture
def fresh(lab: Lab) -> Lab:
    if lab.cloud.journal.last != lab._lesson.provided_at:
        lab.reset()
    return lab


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for what the view's thread does."""
    end = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < end, f"waited for {what}"
        threading.Event().wait(0.01)


def views() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "live-view"]


def test_each_form_is_there_and_the_view_is_one(fresh: Lab) -> None:
    data = fresh.live()._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
    assert "No message was sent yet." in data["text/plain"]
    Outline(data["text/html"])
    widget = fresh.live().widget
    twice = [name for name, title in widget.titles if title in Outline(getattr(widget, name)).text]
    assert twice == [], "an empty part has its title in its summary only"
    assert fresh.live() is fresh.live()
    assert fresh.live().widget is fresh.live().widget
    assert isinstance(fresh.live().widget, LiveWidget)


def test_it_follows_a_lesson_with_everything_in_it(fresh: Lab) -> None:
    widget = fresh.live().widget
    learner = Learner(fresh)
    learner.first_job()
    learner.redrive(count=1)
    learner.repeat(duplicates=1)
    learner.send(body="<bad>")
    fresh.settle()
    learner.returns(1)
    until(lambda: "dead-lettered-" in widget.timeline, "the dead-lettered mark")
    until(lambda: "in the dead-letter queue" in widget.messages, "the message's new place")
    for html in (widget.queues, widget.timeline, widget.decisions, widget.messages, widget.runs, widget.reference):
        Outline(html)
    assert "q05-dead" in widget.queues
    assert "attribute_not_exists(id)" in widget.decisions
    assert "✗ refused" in Outline(widget.decisions).text.replace("\u00a0", " ")
    assert "+ quantity: 4" in widget.decisions, "new members of the item are marked"
    assert "= quantity: 4" in widget.decisions, "a refused write changes nothing"
    assert "REPORT" in widget.runs, "the log of a run can be opened"
    assert " ms" in widget.runs
    assert "&lt;bad&gt;" in widget.messages
    assert "<bad>" not in widget.messages
    assert "keep unchanged" in widget.reference
    learner.delete_mapping()
    learner.delete_queues()
    learner.delete_orders()
    until(lambda: "– deleted" in Outline(widget.queues).text.replace("\u00a0", " "), "the deleted queue")
    until(lambda: Outline(widget.orders).text.replace("\u00a0", " ").count("– deleted") == 2, "the deleted orders")
    assert "deleted, not acknowledged" in widget.messages
    assert "removed-" in widget.timeline


def test_at_rest_nothing_is_asked_and_nothing_is_drawn(fresh: Lab) -> None:
    view = fresh.live()
    view._repr_mimebundle_()
    Learner(fresh).first_job()
    until(lambda: "acknowledged-" in view.widget.timeline, "the first job")
    never = threading.Event()

    def rests() -> bool:
        before = fresh.cloud.journal.last, view.redraws
        return not never.wait(1.0) and (fresh.cloud.journal.last, view.redraws) == before

    until(rests, "a second in which nothing happens")


def test_a_message_that_comes_back_by_itself_is_seen_without_a_call(fresh: Lab) -> None:
    widget = fresh.live().widget
    learner = Learner(fresh)
    learner.make_queue(VisibilityTimeout="1")
    learner.send()
    learner.client("sqs").receive_message(QueueUrl=learner.url)
    until(lambda: "◐" in widget.messages, "the message in flight")
    last = fresh.cloud.journal.last
    until(lambda: "○" in widget.messages, "the message that is visible again")
    assert fresh.cloud.journal.last == last


def test_redraws_are_collected(fresh: Lab) -> None:
    view = fresh.live()
    widget = view.widget
    learner = Learner(fresh)
    learner.make_queue()
    before, begun = view.redraws, time.monotonic()
    for _ in range(60):
        learner.send()
    until(lambda: "40 older messages are not shown." in widget.messages, "all messages")
    assert view.redraws - before <= 10 * (time.monotonic() - begun) + 2


def test_who_only_reads_changes_nothing_on_the_page(fresh: Lab) -> None:
    view = fresh.live()
    widget = view.widget
    learner = Learner(fresh)
    learner.make_queue()
    until(lambda: "q05-jobs" in widget.queues, "the queue")
    before = view.redraws
    for _ in range(5):
        learner.client("sqs").list_queues()
        fresh.view()
    learner.send()
    until(lambda: "sent-" in widget.timeline, "the message")
    assert view.redraws <= before + 2


def test_reset_and_a_new_lab_go_on_with_the_same_view(fresh: Lab) -> None:
    view = fresh.live()
    widget = view.widget
    Learner(fresh).make_queue()
    Learner(fresh).send()
    until(lambda: "sent-" in widget.timeline, "the message")
    fresh.reset()
    assert fresh.live() is view
    assert "sent-" not in widget.timeline
    assert widget.status == ""
    assert len(views()) == 1
    Learner(fresh).make_queue()
    Learner(fresh).send()
    until(lambda: "sent-" in widget.timeline, "the new account's message")


def test_a_wish_of_the_page_changes_the_order(fresh: Lab) -> None:
    view = fresh.live()
    Learner(fresh).make_queue()
    Learner(fresh).send()
    until(lambda: "sent-" in view.widget.timeline, "the message")
    view._asked(view.widget, {"ask": "order"}, [])
    assert 'aria-pressed="true"' in view.widget.timeline
    view._asked(view.widget, {"ask": "order"}, [])
    assert 'aria-pressed="false"' in view.widget.timeline
    view._asked(view.widget, {"ask": "beside"}, [])
    assert view.widget.beside == view._sidecar.model_id
    assert view._sidecar.outputs[0]["data"][WIDGET_VIEW]["model_id"] == view.widget.name


def test_a_workflow_has_a_lane_for_each_execution_and_its_path() -> None:
    with Lab("protected-workflow", "en") as lab:
        widget = lab.live().widget
        assert "No execution was started yet." in widget.timeline
        learner = WorkflowLearner(lab)
        learner.deploy()
        learner.connect()
        learner.run("after-write-order", id="protected-order", quantity=4, mode="after-write")
        learner.run("rejected-order", id="other-order", quantity=0, mode="normal")
        until(lambda: "stopped-" in widget.timeline, "the end of the execution")
        text = Outline(widget.timeline).text
        assert "Execution after-write-order: attempt 2 of the state StoreOrder begins." in text
        assert "Execution after-write-order: it ends with success." in text
        assert "Execution rejected-order: it ends without success: FAILED. Error: OrderRejected." in text
        assert widget.executions.count("<details") == 2
        assert widget.executions.count("<svg") == 2
        assert "SUCCEEDED" in widget.executions
        assert (widget.queues, widget.messages) == ("", "")
        assert [name for name, _title in widget.titles][:3] == ["timeline", "executions", "orders"]


def test_close_ends_the_thread_and_says_so_and_the_next_lab_goes_on_with_the_view_in_its_language() -> None:
    lab = Lab("idempotent-consumer", "en")
    widget = lab.live().widget
    lab.live().dock()
    assert len(views()) == 1
    lab.close()
    assert views() == []
    assert "closed" in widget.status
    with pytest.raises(LabClosed):
        lab.live()
    beside = widget.beside
    with Lab("idempotent-consumer", "es") as again:
        assert again.live().widget is widget
        assert (widget.status, widget.lang, widget.words["title"]) == ("", "es", "Vista en vivo")
        assert widget.beside not in {"", beside}, "in a pane of another title, instead of the one before"
        assert len(views()) == 1
