"""Reading jobs, orders and code: everything that a learner can send or write."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.lab import language
from helpers.lab.evidence import Order, order_of, read_job, total_cents
from helpers.lab.handler_code import problem_in
from helpers.lab.idempotent_consumer import HANDLERS
from helpers.lab.view import plain


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever language a test before has left."""
    monkeypatch.setattr(language, "_current", None)
    monkeypatch.setenv("ONCE_LANGUAGE", "en")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "quantity", "x"]), inner),
)


@pytest.mark.parametrize(("quantity", "total"), [(1, 350), (4, 1100), (10, 2600)])
def test_the_price_rule(quantity, total):
    assert total_cents(quantity) == total


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"id": "a"}',
        '{"id": "a", "quantity": true}',
        '{"id": "a", "quantity": 4.0}',
        '{"id": "a", "quantity": 0}',
        '{"id": "a", "quantity": 11}',
        '{"id": "", "quantity": 1}',
        '{"id": 5, "quantity": 1}',
        '{"id": "a", "quantity": 1, "more": 1}',
        "{'id': 'a'}",
        "\ud800",
    ],
)
def test_what_is_not_a_job(body):
    assert read_job(body) is None


@given(JSON)
def test_the_lab_and_the_reference_handler_agree_on_what_a_job_is(value):
    body = json.dumps(value)
    handler = _reference()
    try:
        judged = handler["read_job"](body)
    except (handler["InvalidJob"], ValueError):
        judged = None
    assert read_job(body) == (None if judged is None else (judged["id"], judged["quantity"]))


@given(st.text(max_size=20))
def test_any_text_can_be_a_body(body):
    assert read_job(body) is None or json.loads(body)


def test_items_as_orders_and_plain_values():
    item = {"id": {"S": "a"}, "quantity": {"N": "4"}, "total_cents": {"S": "x"}}
    assert order_of(item) == Order("a", 4, None)
    assert order_of({}) == Order("", None, None)
    values = {"a": {"N": "1.5"}, "b": {"N": "-2"}, "c": {"BOOL": True}}
    assert plain(values) == {"a": 1.5, "b": -2, "c": {"BOOL": True}}


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (b"def handler(event, context):\n    pass\n", None),
        (b"handler = lambda event, context: None\n", None),
        (b"from json import loads as handler\n", None),
        (b"if True:\n    def handler(event, context): ...\n", None),
        (b"class A:\n    def handler(self): ...\n", "handler"),
        (b"def other():\n    handler = 1\n", "handler"),
        (b"", "handler"),
        (b"x = (\n", "Line 1"),
        (b"def f():\nreturn 1\n", "Line 2"),
        (b"\xff\xfe", "app.py"),
        (b"x = 1\0", "app.py"),
    ],
)
def test_problems_in_a_handler_file(source, fault):
    found = problem_in(source, "app.py", "handler")
    assert (found is None) if fault is None else (fault in found)


def _reference() -> dict:
    """The functions of app.py without its two lines that need an account."""
    source = (HANDLERS / "app.py").read_text(encoding="utf-8")
    own = ("import boto3", "ORDERS =", "dynamodb =")
    lines = [line for line in source.split("\n") if not line.startswith(own)]
    names: dict = {}
    exec(compile("\n".join(lines), "app.py", "exec"), names)
    return names


@pytest.mark.parametrize("body", ["[" * 100_000, "1" * 5_000, '{"id":' * 50_000])
def test_json_that_python_refuses_to_read_is_no_job(body):
    assert read_job(body) is None
