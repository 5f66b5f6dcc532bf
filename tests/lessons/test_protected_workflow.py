"""The lesson run by papermill with other parameters: what it reports follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import papermill
import pytest

from tests.lessons.executed import execute

pytestmark = pytest.mark.early


def run(language: str, folder: Path, **parameters: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Run one edition. Returns the lesson's outcome and the texts of its check reports by cell."""
    outcome, bundles = execute("protected_workflow", language, folder, **parameters)
    return outcome, {name: several[0]["text/plain"] for name, several in bundles.items() if name.endswith("-check")}


def order(outcome: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in outcome["orders"] if one["id"] == name)


def all_right(checks: dict[str, str]) -> bool:
    lines = [line.strip() for report in checks.values() for line in report.splitlines()]
    return len(checks) == 5 and not any(line.startswith(("✗", "○", "? ")) for line in lines)


def test_five_repeated_executions_are_one_write_and_six_refusals(tmp_path: Path) -> None:
    outcome, checks = run("fr", tmp_path, repeats=5, quantity=10)
    first = order(outcome, "protected-order")
    assert (first["quantity"], first["total_cents"]) == (10, 2600)
    assert (first["runs"], first["accepted"], first["refused"]) == (3 + 5 * 2, 1, 6)
    assert (outcome["executions"], outcome["succeeded_executions"]) == (7, 7)
    assert (outcome["runs"], outcome["failed_runs"]) == (3 + 5 * 2 + 2, 1)
    assert outcome["parameters"] == {"repeats": 5, "quantity": 10, "fault": "none"}
    assert all_right(checks), checks


def test_more_failures_than_retries_are_one_failed_execution_and_no_order(tmp_path: Path) -> None:
    outcome, checks = run("ru", tmp_path, fault="more-failures")
    assert (outcome["executions"], outcome["succeeded_executions"], outcome["failed_executions"]) == (4, 3, 1)
    assert (outcome["runs"], outcome["failed_runs"]) == (7 + 3, 1 + 3)
    assert [one["id"] for one in outcome["orders"]] == ["different-order", "protected-order"]
    assert all_right(checks), checks


def test_without_a_repeated_execution_the_retry_alone_is_refused_and_without_the_permission_nothing_runs(
    tmp_path: Path,
) -> None:
    outcome, checks = run("es", tmp_path, repeats=0, quantity=1, fault="no-permission")
    assert (outcome["executions"], outcome["failed_executions"]) == (2 + 1, 1)
    assert (outcome["runs"], outcome["accepted"], outcome["refused"]) == (5, 2, 1)
    assert [(one["id"], one["total_cents"]) for one in outcome["orders"]] == [
        ("different-order", 350),
        ("protected-order", 350),
    ]
    assert all_right(checks), checks


def test_a_parameter_that_cannot_be_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(papermill.PapermillExecutionError) as refusal:
        run("fr", tmp_path, repeats=True)
    assert "Lab(" in refusal.value.source, "the cell that opens the lesson, before any step"
    assert refusal.value.ename == "BadParameter"
    assert "repeats" in str(refusal.value)
