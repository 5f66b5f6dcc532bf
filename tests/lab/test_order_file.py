"""The world of the lesson *order-file*: parameters, faults, view, outcome, texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.lab import Lab
from helpers.lab.errors import BadParameter, NothingSent, NotInLesson
from helpers.lab.lesson_texts import LessonTexts
from helpers.lab.order_file import FAULTS, HANDLER, OrderFile, OrderFileParameters, order_of_key, read_event
from helpers.show.fault_panel import controls
from tests.lab.order_file_stage import BUCKET, Shopper


@pytest.fixture(scope="module")
def opened() -> Iterator[Lab]:
    with Lab("order-file", "en") as lab:
        yield lab


@pytest.fixture
def shopper(opened: Lab) -> Shopper:
    if opened.cloud.journal.last != opened._lesson.provided_at:
        opened.reset()
    return Shopper(opened)


def test_the_lesson_provides_what_it_says(shopper):
    worker = shopper.client("lambda").get_function_configuration(FunctionName="shop-worker")
    assert (worker["Handler"], worker["Timeout"], worker["State"]) == ("app.handler", 5, "Active")
    assert shopper.client("dynamodb").list_tables()["TableNames"] == ["shop-orders", "shop-reference"]
    assert shopper.client("s3").list_buckets()["Buckets"] == []
    assert shopper.client("sqs").list_queues().get("QueueUrls", []) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"customer": ""},
        {"customer": "a/b"},
        {"customer": " Ana"},
        {"customer": "a" * 61},
        {"customer": "a\nb"},
        {"customer": 7},
        {"number": 0},
        {"number": True},
        {"number": "1001"},
        {"number": 1e3},
        {"number": 999_001},
        {"broken": "m-4"},
        {"broken": None},
        {"fault": "crash-after-write"},
        {"fault": ["none"]},
        {"quantity": 4},
    ],
)
def test_a_bad_parameter_is_named_and_leaves_the_open_lab_alone(opened, wrong):
    with pytest.raises(BadParameter) as refused:
        Lab("order-file", "en", **wrong)
    assert f"`{next(iter(wrong))}`" in refused.value.what
    assert refused.value.advice
    assert not opened.closed


@pytest.mark.parametrize("customer", ["Zoë + Lev", "Иван", "100%"])
def test_a_customer_may_have_any_printable_name(customer):
    assert OrderFile.choose({"customer": customer}) == OrderFileParameters(customer=customer)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ('{"Event": "s3:TestEvent"}', ("s3:TestEvent", ())),
        (
            '{"Records": [{"eventName": "ObjectCreated:Put", "s3": {"object": {"key": "a/b+c/%C3%A9"}}}]}',
            ("ObjectCreated:Put", ("a/b c/é",)),
        ),
        ("no", ("", ())),
        ("[]", ("", ())),
        ("null", ("", ())),
        ("{}", ("", ())),
        ('{"Records": []}', ("", ())),
        ('{"Records": [1]}', ("", ())),
    ],
)
def test_a_message_is_read_as_an_event_or_as_nothing(body, read):
    assert read_event(body) == read


def test_a_key_of_three_parts_names_an_order():
    assert order_of_key("orders/Ana Ruiz/1001") == "Ana Ruiz/1001"
    assert [order_of_key(key) for key in ("orders/m-2", "orders//1", "a/b/c/d")] == [None] * 3


# --- faults -----------------------------------------------------------------------------------------------


def test_the_panel_has_a_control_for_each_fault_of_the_lesson(shopper):
    faults = shopper.lab.faults
    assert [control.method for control in controls(faults.offered)] == list(faults.offered)
    for control in controls(faults.offered):
        assert callable(getattr(faults, control.method))


def test_a_fault_that_needs_something_says_what_is_missing(shopper):
    faults = shopper.lab.faults
    with pytest.raises(NothingSent, match="no uploaded file"):
        faults.upload_again()
    for fault in (faults.send_twice, faults.broken_message):
        with pytest.raises(NothingSent, match="There is no queue `shop-uploads`"):
            fault()
    shopper.connect()
    with pytest.raises(NothingSent, match="no message about a file"):
        faults.send_twice()
    shopper.put("orders/Eva/7")
    shopper.empty_bucket()
    with pytest.raises(NothingSent, match="no uploaded file"):
        faults.upload_again()
    shopper.client("lambda").delete_function(FunctionName="shop-worker")
    with pytest.raises(NothingSent, match="There is no function `shop-worker`"):
        faults.slow_worker()


def test_each_fault_leaves_one_order_and_loses_nothing(shopper):
    shopper.up_to_batch()
    faults, before = shopper.lab.faults, shopper.orders()
    assert "comes back again and again" not in faults.broken_message().text
    faults.upload_again()
    faults.send_twice()
    shopper.lab.settle(skip_waits=True)
    assert shopper.orders() == before
    outcome = shopper.lab.outcome()
    assert (outcome["dead_lettered"], outcome["accepted"], outcome["refused"]) == (2, 3, 3)
    assert outcome["acknowledged"] + outcome["dead_lettered"] == outcome["sent"]


def test_a_fault_repeats_a_file_whose_order_was_stored_not_the_last_bad_one(shopper):
    shopper.up_to_batch()
    shopper.put("orders/Eva/7", quantity=11)
    shopper.lab.settle(skip_waits=True)
    before = shopper.lab.outcome()
    shopper.lab.faults.upload_again()
    shopper.lab.faults.send_twice()
    shopper.lab.settle(skip_waits=True)
    after = shopper.lab.outcome()
    assert after["refused"] - before["refused"] == 2
    assert after["dead_lettered"] == before["dead_lettered"]


def test_a_broken_message_without_a_dead_letter_queue_comes_back(shopper):
    shopper.connect()
    assert "comes back again and again" in shopper.lab.faults.broken_message().text


@pytest.mark.parametrize("fault", FAULTS)
def test_each_parameter_of_papermill_is_a_fault(shopper, fault):
    shopper.up_to_write()
    shopper.redrive()
    notice = shopper.lab.apply(fault)
    assert (notice is None) is (fault == "none")
    for key in shopper.lab._lesson.batch_keys.values():
        shopper.put(key)
    shopper.map()
    shopper.lab.settle(skip_waits=True)
    assert shopper.orders() == [("Ana Ruiz/1001", 4, 1100), ("Ana Ruiz/1002", 1, 350), ("Ana Ruiz/1004", 1, 350)]
    outcome = shopper.lab.outcome()
    assert outcome["acknowledged"] + outcome["dead_lettered"] == outcome["sent"]
    assert outcome["dead_lettered"] == (2 if fault == "broken-message" else 1)


# --- what is shown ----------------------------------------------------------------------------------------


def test_the_view_shows_keys_and_numbers_instead_of_times_and_ids(shopper):
    shopper.up_to_batch()
    view = shopper.lab.view()
    assert [message.body for message in view.messages][:2] == [
        "s3:TestEvent",
        "ObjectCreated:Put orders/Ana Ruiz/1001",
    ]
    assert [run.result for run in view.runs] == [{"batchItemFailures": [4]}] * 3
    assert [(one.key, one.accepted) for one in view.decisions] == [
        ("Ana Ruiz/1001", True),
        ("Ana Ruiz/1001", False),
        ("Ana Ruiz/1002", True),
        ("Ana Ruiz/1004", True),
    ]


def test_keys_of_all_kinds_go_through_the_whole_chain(shopper):
    shopper.connect()
    shopper.map()
    customers = ["Ana Ruiz", "Zoë + Lev", "Иван Петров", "a%2Fb"]
    for customer in customers:
        shopper.put(f"orders/{customer}/1", quantity=4)
    shopper.lab.settle()
    assert {order[0] for order in shopper.orders()} == {f"{customer}/1" for customer in customers}
    assert all(order[1:] == (4, 1100) for order in shopper.orders())


def test_calls_of_another_lesson_are_refused(shopper):
    for call in (
        lambda lab: lab.experiment("none"),
        lambda lab: lab.batch_experiment(partial=True),
        lambda lab: lab.explore(),
        lambda lab: lab.explore_guards(),
        lambda lab: lab.verify(),
    ):
        with pytest.raises(NotInLesson, match="This lesson has no"):
            call(shopper.lab)


def test_a_reset_provides_everything_again(shopper):
    shopper.up_to_batch(returns=1)
    shopper.lab.reset()
    assert "from the top" in shopper.lab.ready
    assert shopper.orders() == []
    assert shopper.client("s3").list_buckets()["Buckets"] == []
    shopper.up_to_batch()
    assert shopper.lab.check("batch").passed


# --- texts ------------------------------------------------------------------------------------------------


def test_the_points_of_the_checks_are_the_probes(shopper):
    texts, lesson = LessonTexts("order-file"), shopper.lab._lesson
    for step in lesson.steps:
        assert texts.title(step)
        assert set(texts.checks(step)) == set(lesson.probes(step))
        assert set(lesson.needed[step]) <= set(lesson.probes(step))


def test_there_is_one_prediction_for_each_step_and_one_right_answer():
    texts = LessonTexts("order-file")
    assert texts.predictions == OrderFile.steps
    for step in texts.predictions:
        prediction = texts.prediction(step)
        assert sum(choice.right for choice in prediction.choices) == 1
        assert all(choice.feedback for choice in prediction.choices)


def test_the_handler_in_the_text_is_the_deployed_one():
    lesson = (HANDLER.parents[1] / "lesson.md").read_text(encoding="utf-8")
    shown = lesson.partition("```python\n")[2].partition("```")[0]
    assert shown in HANDLER.read_text(encoding="utf-8")


def test_the_bucket_of_the_lesson_is_the_one_in_the_cells():
    lesson = (HANDLER.parents[1] / "lesson.md").read_text(encoding="utf-8")
    assert f'Bucket="{BUCKET}"' in lesson
