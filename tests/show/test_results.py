"""How helpers.lab's plain types look: complete, escaped, the same each time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers.lab.checks import CheckItem, CheckReport
from helpers.lab.evidence import Order
from helpers.lab.experiments import BatchResult, ExperimentResult
from helpers.lab.faults import FaultNotice
from helpers.lab.lab import Outcome
from helpers.lab.rest import Rest
from helpers.lab.view import DecisionView, MessageView, QueueView, RunView, View
from helpers.show import formatters
from helpers.show.formatters import SHOWN, bundle_of
from tests.show.shown import Outline

EVIL = "<img src=x onerror=alert(1)>&"

REPORT = CheckReport(
    "connect",
    "Connect an empty queue",
    (
        CheckItem("a", "right", "The queue `q05-jobs` exists.", "", "not shown"),
        CheckItem("b", "not-yet", "One mapping.", f"found `{EVIL}`", "Look at the *ARN*."),
        CheckItem("c", "not-attempted", "A job.", "", "Send one."),
        CheckItem("d", "cannot-tell", "An order.", "No answer.", "Run it again."),
    ),
)

VIEW = View(
    queues=(QueueView("q05-jobs", 1, 2, 3),),
    orders=(Order(EVIL, 4, 1100), Order("odd", None, None)),
    decisions=(
        DecisionView(1, "q05-orders", EVIL, "PutItem", "attribute_not_exists(id)", True, None, {"id": EVIL}),
        DecisionView(2, "q05-orders", EVIL, "PutItem", None, False, {"id": EVIL}, {"id": EVIL}),
    ),
    runs=(
        RunView(1, "q05-worker", (1,), "succeeded", {"id": EVIL, "processed": True}, ""),
        RunView(2, "q05-worker", (), "crash", None, f"The process ended: `{EVIL}`."),
    ),
    messages=(MessageView(1, f'{{"id": "{EVIL}"}}', 1, "acknowledged"), MessageView(2, EVIL, 3, "dead-lettered")),
    reference=EVIL,
)

OUTCOME = Outcome(
    lesson="idempotent-consumer",
    parameters={"duplicates": 2},
    sent=4,
    runs=4,
    failed_runs=0,
    accepted=2,
    refused=2,
    acknowledged=4,
    dead_lettered=0,
    executions=0,
    orders=[{"id": EVIL, "quantity": 4, "total_cents": 1100, "runs": 3, "accepted": 1, "refused": 2}],
)

VALUES: list[Any] = [
    REPORT,
    VIEW,
    View((), (), (), (), (), None),
    OUTCOME,
    ExperimentResult("read-then-write", "interleaved", 2, 2, 2, 0, 1, 2),
    BatchResult(False, 3, (("order-1", 3), (EVIL, 3)), 9, 10),
    Rest(),
    Rest(0, 1, 0, 30, ("It failed: `x < 1`.", "1 message is hidden.")),
    FaultNotice("send-again", f"Sent: `{EVIL}`"),
]


def test_each_type_is_covered_here() -> None:
    assert {type(value) for value in VALUES} == set(SHOWN)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_static_forms(value: Any) -> None:
    data = bundle_of(value)
    assert data == bundle_of(value)
    outline = Outline(data["text/html"])
    assert outline.elements[0][1]["lang"] == "en"
    assert {name for name, _attributes in outline.elements} <= {
        *("div", "p", "ul", "li", "span", "strong", "em", "code", "br"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    }
    assert data["text/plain"].strip()
    assert "0x" not in data["text/plain"], "no ids of objects"


@pytest.mark.parametrize("value", [VIEW, OUTCOME], ids=lambda value: type(value).__name__)
def test_an_order_id_of_html_is_shown_as_it_is(value: Any) -> None:
    assert EVIL in Outline(bundle_of(value)["text/html"]).text
    assert EVIL in bundle_of(value)["text/plain"]


def test_a_report_says_each_outcome_in_words_and_folds_its_hints() -> None:
    outline = Outline(bundle_of(REPORT)["text/html"])
    for words in ("✓right", "✗not yet", "○not attempted", "?cannot tell"):
        assert words in outline.text
    assert len(outline.all("details")) == 3, "what is right needs no hint"
    assert "not shown" not in outline.text
    assert "1 of 4 points are right." in outline.text
    assert len(outline.all("li")) == 4


def test_a_report_that_is_all_right() -> None:
    report = CheckReport("connect", "", REPORT.items[:1])
    assert "Everything is right." in bundle_of(report)["text/plain"]


def test_an_outcome_is_tables_for_people_and_json_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(formatters, "display", lambda data, **_options: shown.append(data))
    formatters.show_outcome(OUTCOME)
    tables, data = shown
    assert "What happened" in tables["text/plain"]
    assert set(tables) == {"text/plain", "text/html"}
    assert data["application/json"] == json.loads(json.dumps(dict(OUTCOME)))


def test_decisions_and_runs_are_told_apart_without_colour() -> None:
    text = bundle_of(VIEW)["text/plain"]
    for words in ("✓ accepted", "✗ refused", "✓ succeeded", "✗ crash", "✓ acknowledged", "✗ in the dead-letter"):
        assert words.replace(" ", "\u00a0", 1) in text


def test_the_numbers_of_an_experiment() -> None:
    lines = bundle_of(VALUES[4])["text/plain"].splitlines()
    assert lines[-1].split() == ["read-then-write", "interleaved", "2", "2", "2", "0", "1", "2"]
