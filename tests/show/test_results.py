"""How helpers.lab's plain types look: complete, escaped, the same each time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from helpers.lab.checks import CheckItem, CheckReport, Solution
from helpers.lab.comparison import compare
from helpers.lab.errors import BadParameter
from helpers.lab.evidence import Order
from helpers.lab.executions import Arrow, Attempt, Execution, HistoryRow, State, StateMachine, Visit
from helpers.lab.experiments import BatchResult, ExperimentResult
from helpers.lab.explorer import Action, Counterexample, Exploration, GuardTable
from helpers.lab.faults import FaultNotice
from helpers.lab.guard_comparison import GuardComparison
from helpers.lab.history import Step
from helpers.lab.lab import Outcome
from helpers.lab.presets import Counted, Preset, Script
from helpers.lab.presets import Step as PresetStep
from helpers.lab.properties import PROPERTIES, Report, Verdict
from helpers.lab.rest import Rest, WorkflowRest
from helpers.lab.terminal import Terminal
from helpers.lab.view import DecisionView, ExecutionView, MessageView, QueueView, RunView, View
from helpers.show import formatters
from helpers.show.formatters import SHOWN, bundle_of
from tests.show.shown import Outline

EVIL = "<img src=x onerror=alert(1)>&"

REPORT = CheckReport(
    "connect",
    "Connect an empty queue",
    (
        CheckItem("a", "right", "The queue `q05-jobs` exists.", "", "not shown", "not shown"),
        CheckItem("b", "not-yet", "One mapping.", f"found `{EVIL}`", "Look at the *ARN*.", "Run `<settle>()`."),
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

STEPS = (
    Step("sent", 1, message=1, order=EVIL, quantity=4),
    Step("sent", 2, message=2, valid=False),
    Step("received", 3, message=1, delivery=1, run=1, order=EVIL, quantity=4),
    Step("stored", 4, message=1, delivery=1, run=1, order=EVIL, quantity=4, known=False),
    Step("stored", 5, message=1, delivery=2, run=30, order=EVIL, quantity=5, before=4, known=True, changed=True),
)

REPORT_OF_HISTORY = Report(
    (
        Verdict("charged-once", "broken", STEPS[3:]),
        Verdict("unchanged", "cannot-tell"),
        Verdict("nothing-lost", "holds"),
    ),
    len(STEPS),
)

EXPLORATION = Exploration(
    EVIL,
    1,
    (("charged-once", "broken"), *((name, "cannot-tell") for name in PROPERTIES[1:])),
    (Counterexample("charged-once", "same-message", STEPS, (Action(0, "call"),)),),
    "fails",
    EVIL,
)

PRESET = Preset(
    None,  # type: ignore[arg-type]
    Script("double-charge", EVIL, f"`{EVIL}`", EVIL, "connect", (PresetStep(EVIL, print), PresetStep("Go on.", print))),
)

MACHINE = StateMachine(EVIL, EVIL, (State(EVIL, "Fail", ends=True),), (Arrow(EVIL, EVIL, "choice", EVIL),))
VISIT = Visit(EVIL, "Fail", (Attempt("failed", error=EVIL, message=EVIL),), "failed", EVIL)

VALUES: list[Any] = [
    REPORT,
    VIEW,
    View((), (), (), (), (), None),
    OUTCOME,
    ExperimentResult("read-then-write", "interleaved", 2, 2, 2, 0, 1, 2),
    GuardComparison(("none",), ("none",), 3, (ExperimentResult("none", "none", 1, 1, 1, 0, 1, 1),)),
    BatchResult(False, 3, (("order-1", 3), (EVIL, 3)), 9, 10),
    Rest(),
    Rest(0, 1, 0, 30, ("It failed: `x < 1`.", "1 message is hidden.")),
    FaultNotice("send-again", f"Sent: `{EVIL}`"),
    Terminal(f". '/tmp/{EVIL}'"),
    PRESET,
    Counted(EVIL, 2, 1, 1, True),
    Counted("double-charge-1", 2, 2, 0, True, 2),
    compare({"a": EVIL, "b": 1, "c": []}, {"a": EVIL, "b": 2, EVIL: {"d": 1}}),
    compare("a", "a"),
    REPORT_OF_HISTORY,
    EXPLORATION,
    GuardTable((EXPLORATION, EXPLORATION)),
    WorkflowRest(waiting=(EVIL,)),
    MACHINE,
    Execution(EVIL, "FAILED", MACHINE, (VISIT,), (HistoryRow(1, "TaskFailed", EVIL, "failed", EVIL),), error=EVIL),
    Solution("queue", f"Run `{EVIL}`."),
    Solution("queue", ""),
    replace(VIEW, executions=(ExecutionView(EVIL, "FAILED", EVIL, None, 1, EVIL),)),
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
        *("svg", "path", "polygon", "rect", "circle", "text", "tspan", "img"),
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
    assert len(outline.all("details")) == 4, "a hint for each of three points, and one solution"
    assert "not shown" not in outline.text
    assert "1 of 4 points are right." in outline.text
    assert len(outline.all("li")) == 4


def test_a_solution_is_inside_its_hint_and_only_there() -> None:
    data = bundle_of(REPORT)
    hint, solution = data["text/html"].index("Look at the"), data["text/html"].index("&lt;settle&gt;()")
    between = data["text/html"][hint:solution]
    assert "<details" in between
    assert "</details>" not in between, "the hint is still open: who has not opened it sees no solution"
    assert "settle" not in data["text/plain"]
    assert data["text/plain"].endswith('To see a solution, run: lab.check("connect").solution("b")')


def test_a_solution_is_given_to_who_asks_for_it() -> None:
    assert bundle_of(REPORT.solution("b"))["text/plain"] == "→ Run <settle>()."
    assert "<code" in bundle_of(REPORT.solution("b"))["text/html"]
    assert str(REPORT.solution("b")) == "Run `<settle>()`."
    assert bundle_of(REPORT.solution("a"))["text/plain"] == "✓ This point is right. There is nothing to do."
    with pytest.raises(BadParameter, match=r"no point `z`[\s\S]*`b`, `c`, `d`\."):
        REPORT.solution("z")


def test_a_report_that_is_all_right() -> None:
    report = CheckReport("connect", "", REPORT.items[:1])
    assert bundle_of(report)["text/plain"].endswith("Everything is right.")


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


def test_a_table_of_guards_has_a_row_for_each_and_says_what_it_is_bound_to() -> None:
    shown = bundle_of(GuardTable((EXPLORATION,)))
    page = Outline(shown["text/html"])
    assert [cell["scope"] for cell in page.all("th")] == ["col"] * (2 + len(PROPERTIES)) + ["row"]
    assert "Bound: one or two deliveries" in shown["text/plain"]
    assert "the handler fails with a simple job" in shown["text/plain"]


def test_a_story_names_workers_and_messages_and_no_ids() -> None:
    text = bundle_of(EXPLORATION)["text/plain"]
    assert "Worker A receives message 1, delivery 1." in text
    assert "Worker 30 overwrites the order" in text
    assert "its quantity was 4 and is now 5." in text
    assert "Message 2 is sent. Its body is not a valid job." in text


def test_a_comparison_says_of_each_field_if_it_is_the_same() -> None:
    data = bundle_of(compare({"a": "x", "b": 1, "c": 0}, {"a": "x", "b": "1", "more": {"d": 1}}))
    rows = data["text/plain"].splitlines()[3:6]
    assert ["✓" in row for row in rows] == [True, False, False]
    assert '"1"' in rows[1], "a text is seen to be one"
    assert "Plain Python and the service differ." in data["text/plain"]
    assert "`more`" in data["text/plain"]
    assert "agree" in bundle_of(compare({"a": 1}, {"a": 1, "b": 2}))["text/plain"]


def test_counts_say_in_sign_and_words_whether_an_order_was_written_once() -> None:
    once, twice = (bundle_of(Counted("a-1", 2, accepted, 1, True, 2))["text/plain"] for accepted in (1, 2))
    assert once.startswith("✓")
    assert "1 accepted write. 1 refused write." in once
    assert twice.startswith("✗")
    assert "without a guard: 2 accepted writes" in twice
