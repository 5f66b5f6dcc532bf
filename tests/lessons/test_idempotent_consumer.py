"""The lesson run by papermill with other parameters: what it reports follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import papermill
import pytest

from tests.lessons.executed import execute

pytestmark = pytest.mark.early

# Cells with resources of their own, which take no parameter: nbval runs them three times, and compares what they show.
ON_THEIR_OWN = (
    *("break-counter-", "break-message-id-", "break-race-", "break-batch-"),
    *("break-compare", "break-schedules-"),
)


def run(language: str, folder: Path, **parameters: Any) -> tuple[dict[str, Any], list[str]]:
    """Run one edition. Returns the lesson's outcome and the texts of its check reports."""
    outcome, bundles = execute("idempotent_consumer", language, folder, ON_THEIR_OWN, **parameters)
    checks = (several for name, several in bundles.items() if name.endswith("-check"))
    return outcome, [bundle["text/plain"] for several in checks for bundle in several]


def order(outcome: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in outcome["orders"] if one["id"] == name)


def test_seven_duplicates_are_eight_runs_one_write_and_seven_refusals(tmp_path: Path) -> None:
    outcome, checks = run("fr", tmp_path, duplicates=7, quantity=10)
    first = order(outcome, "dedup-order")
    assert (first["runs"], first["accepted"], first["refused"]) == (8, 1, 7)
    assert (first["quantity"], first["total_cents"]) == (10, 2600)
    assert (outcome["sent"], outcome["runs"], outcome["acknowledged"]) == (9, 9, 9)
    assert (outcome["accepted"], outcome["refused"], outcome["dead_lettered"]) == (2, 7, 0)
    assert outcome["parameters"] == {"duplicates": 7, "quantity": 10, "fault": "none"}
    assert len(checks) == 5
    assert not [report for report in checks if "✗" in report or "?" in report.splitlines()[-1]]


def test_a_crash_after_the_write_is_one_more_run_and_no_other_order(tmp_path: Path) -> None:
    outcome, _ = run("ru", tmp_path, fault="crash-after-write")
    assert outcome["runs"] == outcome["sent"] + 1
    assert outcome["failed_runs"] == 1
    assert [(one["id"], one["quantity"], one["total_cents"]) for one in outcome["orders"]] == [
        ("dedup-order", 4, 1100),
        ("other-order", 1, 350),
    ]
    assert outcome["acknowledged"] == outcome["sent"]


def test_other_details_under_the_same_id_end_in_the_dead_letter_queue(tmp_path: Path) -> None:
    outcome, _ = run("es", tmp_path, fault="other-details", duplicates=0)
    assert outcome["dead_lettered"] == 1
    assert order(outcome, "dedup-order")["total_cents"] == 1100
    assert outcome["acknowledged"] == outcome["sent"] - 1
    assert outcome["failed_runs"] == 3


def test_a_parameter_that_cannot_be_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(papermill.PapermillExecutionError) as refusal:
        run("fr", tmp_path, fault="rain")
    assert "Lab(" in refusal.value.source, "the cell that opens the lesson, before any step"
    assert "rain" in str(refusal.value)
