"""The picture of a state machine and of an execution, and the history as a table: complete, strict, the same again."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from helpers.lab import language
from helpers.lab.executions import Execution, condition_of, read_definition, story
from helpers.show.executions import ShownExecution, ShownStateMachine
from helpers.show.state_layout import layout
from tests.lab.workflow_learner import DEFINITION
from tests.show.shown import Outline

MACHINE = read_definition("ev05-orders", json.dumps(DEFINITION))


def event(number: int, kind: str, member: str, **details: Any) -> dict[str, Any]:
    return {"id": number, "type": kind, f"{member}EventDetails": details}


def entered(number: int, kind: str, state: str) -> dict[str, Any]:
    return event(number, f"{kind}StateEntered", "stateEntered", name=state, input="{}")


def left(number: int, kind: str, state: str) -> dict[str, Any]:
    return event(number, f"{kind}StateExited", "stateExited", name=state, output="{}")


def failed(number: int, error: str, cause: str = "") -> list[dict[str, Any]]:
    return [
        event(number, "TaskScheduled", "taskScheduled", parameters=json.dumps({"Payload": {"id": "a"}})),
        event(number + 1, "TaskStarted", "taskStarted"),
        event(number + 2, "TaskFailed", "taskFailed", error=error, cause=cause),
    ]


def succeeded(number: int, **payload: Any) -> list[dict[str, Any]]:
    output = {"Payload": payload, "StatusCode": 200, "SdkHttpMetadata": {"Date": "Mon, 01 Jan 2024 00:00:00 GMT"}}
    return [
        event(number, "TaskScheduled", "taskScheduled", parameters="{}"),
        event(number + 1, "TaskSucceeded", "taskSucceeded", output=json.dumps(output)),
    ]


CHOSEN = [
    event(1, "ExecutionStarted", "executionStarted", input='{"id": "a", "quantity": 4}'),
    entered(2, "Choice", "CheckQuantity"),
    left(3, "Choice", "CheckQuantity"),
    entered(4, "Task", "StoreOrder"),
]
CAUSE = json.dumps({"errorMessage": "after write: 1", "errorType": "TransientOrderError", "requestId": "r-1"})
RETRIED = [
    *CHOSEN,
    *failed(5, "TransientOrderError", CAUSE),
    *succeeded(8, duplicate=True),
    left(10, "Task", "StoreOrder"),
    entered(11, "Task", "ReadSummary"),
    *succeeded(12, completed=True),
    left(14, "Task", "ReadSummary"),
    event(15, "ExecutionSucceeded", "executionSucceeded", output='{"total_cents": 1100}'),
]
REJECTED = [
    *CHOSEN,
    *failed(5, "InvalidOrder"),
    left(8, "Task", "StoreOrder"),
    entered(9, "Fail", "Rejected"),
    event(10, "ExecutionFailed", "executionFailed", error="OrderRejected"),
]
REFUSED = [
    *CHOSEN,
    *failed(5, "ConditionalCheckFailedException"),
    event(8, "ExecutionFailed", "executionFailed", error="ConditionalCheckFailedException"),
]


def told(events: list[dict[str, Any]], status: str, error: str = "") -> Execution:
    return story("an-order", MACHINE, {"status": status, **({"error": error} if error else {})}, events)


RETRY = told(RETRIED, "SUCCEEDED")
CATCH = told(REJECTED, "FAILED", "OrderRejected")
CONFLICT = told(REFUSED, "FAILED", "ConditionalCheckFailedException")
WAITING = told([*CHOSEN, *failed(5, "TransientOrderError", CAUSE)], "RUNNING")


def ways(execution: Execution) -> list[tuple[str, str, str]]:
    return [(arrow.source, arrow.kind, arrow.target) for arrow in execution.path]


def test_a_retry_is_two_attempts_of_one_stay() -> None:
    visit = RETRY.visit("StoreOrder")
    assert visit is not None
    assert (visit.outcome, visit.retries) == ("passed", 1)
    assert [attempt.outcome for attempt in visit.attempts] == ["failed", "succeeded"]
    assert visit.attempts[0].message == "after write: 1"
    assert visit.attempts[1].result == {"duplicate": True}
    assert ways(RETRY) == [("CheckQuantity", "choice", "StoreOrder"), ("StoreOrder", "next", "ReadSummary")]


def test_a_caught_error_and_a_failed_state_are_told_apart() -> None:
    assert [(visit.state, visit.outcome, visit.error) for visit in CATCH.visits] == [
        ("CheckQuantity", "passed", ""),
        ("StoreOrder", "caught", "InvalidOrder"),
        ("Rejected", "failed", "OrderRejected"),
    ]
    assert ways(CATCH)[-1] == ("StoreOrder", "catch", "Rejected")
    assert CONFLICT.visits[-1].outcome == "failed"
    assert WAITING.visits[-1].outcome == "waiting"


@pytest.mark.usefixtures("own_page")
@pytest.mark.parametrize(
    ("execution", "said"),
    [
        (RETRY, ["↻ retries: 1 of 2", "✗ 1 TransientOrderError", "✓ 2 duplicate: true", "✓ 1 completed: true"]),
        (CATCH, ["✗ 1 InvalidOrder", "→ error caught", "✗ OrderRejected", "– not reached"]),
        (CONFLICT, ["FailedException", "✗ failed", "– not reached"]),
        (WAITING, ["✗ 1 TransientOrderError", "… waits for a retry"]),
    ],
)
def test_the_picture_says_in_words_what_it_says_in_colours(execution: Execution, said: list[str]) -> None:
    outline = Outline(ShownExecution(execution).html())
    for words in [*said, "CheckQuantity", "StoreOrder", "ReadSummary", "Rejected", "otherwise", "quantity > 0"]:
        assert words in outline.text
    [svg] = outline.all("svg")
    assert svg["role"] == "img"
    for visit in execution.visits:
        assert visit.state in (svg["aria-label"] or "")


@pytest.mark.usefixtures("own_page")
def test_the_way_that_was_taken_differs_in_its_line_too() -> None:
    paths = [attributes["style"] or "" for attributes in Outline(ShownExecution(RETRY).html()).all("path")]
    dashed = [style for style in paths if "dasharray" in style]
    # Four arrows, the start and the loop of the retry; two of the arrows were not taken.
    assert (len(paths), len(dashed)) == (6, 2)
    assert not [style for style in paths if "dasharray" in style and "stroke-width:3" in style]


@pytest.mark.usefixtures("own_page")
def test_a_loop_is_drawn_only_where_something_was_retried() -> None:
    def loops(html: str) -> int:
        return len(re.findall(r' d="M[^"]* C', html))

    assert loops(ShownExecution(RETRY).html()) == 1
    assert loops(ShownExecution(CATCH).html()) == 0
    assert loops(ShownStateMachine(MACHINE).html()) == 1


@pytest.mark.usefixtures("own_page")
def test_sizes_are_in_em_and_colours_come_from_the_theme() -> None:
    html = ShownExecution(CATCH).html()
    [svg] = Outline(html).all("svg")
    style = svg["style"] or ""
    largest, least = (float(re.search(rf"{name}-width:([\d.]+)em", style)[1]) for name in ("max", "min"))  # type: ignore[index]
    width = float((svg["viewbox"] or "").split()[2]) / 16
    assert largest / width == pytest.approx(1.75, abs=0.01), "14 px text becomes 24.5 px in a wide pane"
    assert least / width == pytest.approx(0.75, abs=0.01)
    for colour in re.findall(r"(?:fill|stroke|color):([^;\"]+)", html):
        assert colour.startswith("var(--jp-") or colour in {"none", "inherit"}


def test_the_history_has_header_cells_and_hides_what_differs_from_run_to_run() -> None:
    shown = ShownExecution(RETRY)
    outline = Outline(shown.html())
    assert [cell.get("scope") for cell in outline.all("th")].count("col") == 5
    assert len([cell for cell in outline.all("th") if cell.get("scope") == "row"]) == len(RETRIED)
    for form in (shown.text(), shown.html()):
        assert "GMT" not in form
        assert "r-1" not in form
    assert shown.html() == ShownExecution(told(RETRIED, "SUCCEEDED")).html()


def test_what_a_reader_wrote_reaches_the_picture_escaped() -> None:
    wild = json.loads(json.dumps(DEFINITION).replace("Rejected", "<b>&"))
    html = ShownStateMachine(read_definition("x", json.dumps(wild))).html()
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;" in html


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"Variable": "$.quantity", "NumericGreaterThan": 0}, "quantity > 0"),
        ({"Variable": "$.a", "StringEquals": "x"}, 'a = "x"'),
        ({"Variable": "$.a", "NumericLessThanEqualsPath": "$.b"}, "a ≤ b"),
        ({"Variable": "$.a", "IsPresent": True}, "a IsPresent true"),
        ({"Not": {"Variable": "$.a", "BooleanEquals": True}}, "¬ (a = true)"),
        (
            {"And": [{"Variable": "$.a", "NumericEquals": 1}, {"Variable": "$.b", "NumericEquals": 2}]},
            "a = 1 ∧ b = 2",
        ),
    ],
)
def test_conditions_are_written_short(rule: dict[str, Any], said: str) -> None:
    assert condition_of(rule) == said


def ring(names: str) -> dict[str, Any]:
    """Choices that each lead on and back: circles, ways down over several states, a state that nothing leads to."""
    states: dict[str, Any] = {}
    for place, name in enumerate(names):
        rules = [{"Variable": "$.a", "NumericEquals": n, "Next": other} for n, other in enumerate(names)]
        states[name] = {"Type": "Choice", "Choices": rules, "Default": names[place - 1]}
    return {"StartAt": names[0], "States": {**states, "Lost": {"Type": "Succeed"}}}


@pytest.mark.parametrize("plan", [DEFINITION, ring("AB"), ring("ABCDEF"), ring("A")])
def test_no_two_states_stand_in_the_same_place(plan: dict[str, Any]) -> None:
    machine = read_definition("x", json.dumps(plan))
    sizes = {state.name: (9.0, 4.0) for state in machine.states}
    placed = layout(machine, sizes, dict.fromkeys(machine.arrows, 3.0))
    boxes = list(placed.boxes.values())
    assert len(boxes) == len(machine.states)
    for place, one in enumerate(boxes):
        assert 0 < one.x < one.right < placed.width
        assert 0 < one.y < one.bottom < placed.height
        for other in boxes[place + 1 :]:
            assert one.right < other.x or other.right < one.x or one.bottom < other.y or other.bottom < one.y
    Outline(ShownStateMachine(machine).html())


def test_labels_are_in_the_readers_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_current", "fr")
    assert "History of the execution" in ShownExecution(RETRY).text() or "Historique" in ShownExecution(RETRY).text()
    assert 'lang="fr"' in ShownExecution(RETRY).html()
