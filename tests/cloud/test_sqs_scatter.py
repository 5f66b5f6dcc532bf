"""A standard queue as it can be, on request.

Sources: SQS Developer Guide, "Amazon SQS short and long polling" and "Amazon SQS standard queues" (at least once, any
order).
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from helpers.cloud import Cloud
from tests.cloud.queue_stage import Stage

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def sqs(cloud: Cloud) -> Any:
    return cloud.client("sqs")


def filled(sqs: Any, count: int = 10) -> tuple[str, str]:
    name = f"scattered-{next(_numbers)}"
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    for number in range(count):
        sqs.send_message(QueueUrl=url, MessageBody=str(number))
    return name, url


def polls(sqs: Any, url: str, times: int = 12) -> list[list[str]]:
    """The bodies that each of several short polls met."""
    answers = [sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=4).get("Messages", []) for _ in range(times)]
    return [[message["Body"] for message in answer] for answer in answers]


def test_a_queue_keeps_its_order_and_answers_in_full_by_default(sqs: Any) -> None:
    _, url = filled(sqs)
    assert polls(sqs, url, 3) == [["0", "1", "2", "3"], ["4", "5", "6", "7"], ["8", "9"]]


def test_a_scattered_queue_is_out_of_order_and_its_short_polls_are_partial(cloud: Cloud, sqs: Any) -> None:
    name, url = filled(sqs)
    cloud.queues.scatter(name, seed=3)
    answers = polls(sqs, url)
    met = [body for answer in answers for body in answer]
    assert sorted(met) == sorted(set(met))
    assert met != sorted(met)
    left = 10
    partial = []
    for answer in answers:
        partial.append(len(answer) < min(4, left))
        left -= len(answer)
    assert any(partial)
    assert set(met) == {str(number) for number in range(10)}


def test_a_scattered_queue_repeats_with_its_seed(cloud: Cloud, sqs: Any) -> None:
    runs = []
    for seed in (7, 7, 8):
        name, url = filled(sqs)
        cloud.queues.scatter(name, seed=seed)
        runs.append(polls(sqs, url))
    assert runs[0] == runs[1] != runs[2]


def test_a_long_poll_asks_all_servers(cloud: Cloud, sqs: Any) -> None:
    """Developer Guide: long polling queries all servers, so a message that is there is met."""
    for seed in range(5):
        name, url = filled(sqs, 1)
        cloud.queues.scatter(name, seed=seed)
        assert len(sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1)["Messages"]) == 1


def test_an_order_that_was_scattered_can_be_kept_again(cloud: Cloud, sqs: Any) -> None:
    name, url = filled(sqs)
    cloud.queues.scatter(name, seed=3)
    cloud.queues.keep_order(name)
    assert polls(sqs, url, 1) == [["0", "1", "2", "3"]]


def test_a_mapping_meets_a_scattered_queue_out_of_order_and_in_full(cloud: Cloud) -> None:
    """Lambda polls long: nothing is left behind."""
    stage = Stage(cloud)
    url = stage.queue("scattered-and-mapped")
    orders = [{"id": str(number)} for number in range(6)]
    sent = stage.send(url, *orders)
    cloud.queues.scatter("scattered-and-mapped", seed=2)
    stage.map(url, BatchSize=6)
    cloud.settle()
    delivered = [record["messageId"] for run in stage.runs(url) for record in run]
    assert sorted(delivered) == sorted(sent)
    assert delivered != sent


def test_only_a_standard_queue_can_be_scattered(cloud: Cloud, sqs: Any) -> None:
    sqs.create_queue(QueueName="ordered.fifo", Attributes={"FifoQueue": "true"})
    with pytest.raises(ValueError, match="keeps its order"):
        cloud.queues.scatter("ordered.fifo")
    with pytest.raises(KeyError, match="nobody"):
        cloud.queues.scatter("nobody")
