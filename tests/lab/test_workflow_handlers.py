"""The handlers of protected-workflow on the deployed function: what they accept, refuse, print, write and return."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from helpers.lab import Lab
from helpers.lab.protected_workflow import HANDLERS
from tests.lab.workflow_learner import GUARDED, PROVIDED, WorkflowLearner

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def learner() -> Iterator[WorkflowLearner]:
    with Lab("protected-workflow", "en") as lab:
        learner = WorkflowLearner(lab)
        learner.deploy()
        yield learner


@pytest.fixture(scope="module")
def call(learner: WorkflowLearner) -> Call:
    def invoke(**event: Any) -> Any:
        answer = learner.client("lambda").invoke(FunctionName="ev05-worker", Payload=json.dumps(event).encode())
        return json.loads(answer["Payload"].read())

    return invoke


def attempts(learner: WorkflowLearner, order: str) -> int | None:
    items = learner.lab._lesson.services.items("ev05-attempts") or []
    return next((int(item["attempts"]["N"]) for item in items if item["id"]["S"] == order), None)


def test_a_failure_after_the_write_is_a_duplicate_in_the_next_attempt(call: Call, learner: WorkflowLearner) -> None:
    failed = call(id="after", quantity=4, mode="after-write")
    assert failed["errorType"] == "TransientOrderError"
    assert learner.orders()["after"] == (4, 1100)
    again = call(id="after", quantity=4, mode="after-write")
    assert again == {"id": "after", "quantity": 4, "total_cents": 1100, "duplicate": True}
    assert attempts(learner, "after") == 2


def test_a_failure_before_the_write_stores_nothing(call: Call, learner: WorkflowLearner) -> None:
    assert call(id="before", quantity=1, mode="flaky")["errorType"] == "TransientOrderError"
    assert "before" not in learner.orders()
    assert call(id="before", quantity=1, mode="flaky")["duplicate"] is False


def test_an_order_may_fail_more_than_once(call: Call) -> None:
    results = [call(id="more", quantity=1, mode="flaky", failures=2) for _attempt in range(3)]
    assert [result.get("errorType") for result in results] == ["TransientOrderError", "TransientOrderError", None]


def test_the_summary_reads_what_is_stored(call: Call) -> None:
    call(id="sum", quantity=1, mode="normal")
    assert call(stage="summary", id="sum") == {"id": "sum", "total_cents": 350, "completed": True}


def test_conflicting_content_fails_and_changes_nothing(call: Call, learner: WorkflowLearner) -> None:
    call(id="conflict", quantity=4)
    assert call(id="conflict", quantity=5)["errorType"] == "ConditionalCheckFailedException"
    assert learner.orders()["conflict"] == (4, 1100)


@pytest.mark.parametrize(
    "event",
    [
        {"id": "bad", "quantity": 1, "mode": "permanent"},
        {"id": "bad"},
        {"id": 7, "quantity": 1},
        {"id": "", "quantity": 1},
        {"quantity": 1},
        *({"id": "bad", "quantity": quantity} for quantity in (0, 11, -1, True, "4", 2.5, 4.0, None, [4])),
    ],
)
def test_what_is_not_valid_is_refused_before_anything_is_counted(
    call: Call, learner: WorkflowLearner, event: dict[str, Any]
) -> None:
    assert call(**event)["errorType"] == "InvalidOrder"
    assert attempts(learner, "bad") is None


def test_the_log_says_what_came_and_what_came_out(call: Call, learner: WorkflowLearner) -> None:
    call(id="log", quantity=1)
    services = learner.lab._lesson.services
    came, went = (services.log_lines("/aws/lambda/ev05-worker", word) or [] for word in ("WORKFLOW", "RESULT"))
    assert [line.strip() for line in came if '"log"' in line] == ['WORKFLOW {"id": "log", "quantity": 1}']
    assert [line.strip() for line in went if '"log"' in line] == [
        'RESULT {"duplicate": false, "id": "log", "quantity": 1, "total_cents": 350}'
    ]


def test_the_provided_worker_writes_again(call: Call, learner: WorkflowLearner) -> None:
    learner.deploy(PROVIDED)
    call(id="unguarded", quantity=4)
    assert call(id="unguarded", quantity=5)["duplicate"] is False
    assert learner.orders()["unguarded"] == (5, 1350)
    learner.deploy(GUARDED)


def test_the_lesson_writes_the_handler_that_is_tested_here() -> None:
    lesson = (HANDLERS.parent / "lesson.md").read_text(encoding="utf-8")
    assert GUARDED.rstrip("\n") in lesson


def test_the_two_handlers_differ_only_in_the_write() -> None:
    marker = "def write_once"
    assert GUARDED.partition(marker)[0] == PROVIDED.partition(marker)[0]
