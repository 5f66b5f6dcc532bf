"""The quick queue answers what moto's own answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto.sqs import models
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import Message, Queue

from helpers.cloud import fast_queue

NOW = 1_000_000.0
COUNTS = (
    "approximate_number_of_messages",
    "approximate_number_of_messages_delayed",
    "approximate_number_of_messages_not_visible",
)


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "unix_time_millis", lambda: NOW)


def a_queue(times: list[tuple[float, float]]) -> Queue:
    queue = Queue("q", "us-east-1", "123456789012")
    for number, (visible_at, delayed_until) in enumerate(times):
        message = Message(str(number), "body")
        message.visible_at, message.delayed_until = NOW + visible_at, NOW + delayed_until
        if number % 2:
            message._old_receipt_handles = [None, f"old-{number}"]  # type: ignore[list-item]
            message.receipt_handle = f"new-{number}"
        if visible_at >= 0:
            queue.pending_messages.add(message)
        queue._messages.append(message)
    return queue


# What is delayed was not received yet, so it is not hidden.
moments = st.sampled_from([(-1.0, -1.0), (-1.0, 0.0), (-1.0, 1.0), (0.0, -1.0), (0.0, 0.0), (1.0, -1.0), (1.0, 0.0)])


def answers(queue: Queue) -> dict[str, Any]:
    """What moto says of a queue, as a client sees it."""
    seen: dict[str, Any] = {name: str(getattr(queue, name)) for name in COUNTS}
    seen["attributes"] = {name: str(value) for name, value in queue.attributes.items()}
    seen["messages"] = [message.id for message in queue.messages]
    seen["any"] = bool(queue.messages)
    seen["number"] = len(queue.messages)
    return seen


@settings(deadline=None)
@given(st.lists(moments, max_size=6))
def test_messages_and_counts_are_those_of_moto(times: list[tuple[float, float]]) -> None:
    queue = a_queue(times)
    expected = answers(queue)
    undo = fast_queue.install()
    try:
        assert answers(queue) == expected
    finally:
        undo()


def deletions(queue: Queue, handles: list[str]) -> list[Any]:
    found: list[Any] = []
    for handle in handles:
        try:
            queue.delete_message(handle)
            found.append([message.id for message in queue._messages])
        except ReceiptHandleIsInvalid:
            found.append("invalid")
    return [*found, {handle for handle in queue.deleted_messages if handle}]


@settings(deadline=None)
@given(st.lists(moments, max_size=6), st.lists(st.sampled_from(["new-1", "old-1", "new-3", "old-3", "new-5", "x"])))
def test_a_message_is_deleted_by_any_of_its_handles_as_in_moto(
    times: list[tuple[float, float]], handles: list[str]
) -> None:
    expected = deletions(a_queue(times), handles)
    undo = fast_queue.install()
    try:
        assert deletions(a_queue(times), handles) == expected
    finally:
        undo()


def test_undo_gives_moto_back_as_it_was() -> None:
    before = [vars(place)[name] for place, name, _ in fast_queue.REPLACED]
    undo = fast_queue.install()
    assert [vars(place)[name] for place, name, _ in fast_queue.REPLACED] == [new for _, _, new in fast_queue.REPLACED]
    undo()
    assert [vars(place)[name] for place, name, _ in fast_queue.REPLACED] == before


def test_handles_have_motos_form_and_differ() -> None:
    handles = {fast_queue.receipt_handle() for _ in range(100)}
    assert len(handles) == 100
    assert {len(handle) for handle in handles} == {185}
    assert all(handle.isascii() and handle.islower() for handle in handles)
