"""The lesson *order-file* run by papermill with other parameters: what it reports follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import papermill
import pytest

from tests.lessons.executed import execute, stored

pytestmark = pytest.mark.early


def run(language: str, folder: Path, **parameters: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Run one edition. Returns the lesson's outcome, and the last text of each cell by its id."""
    outcome, bundles = execute("order_file", language, folder, **parameters)
    return outcome, last_texts(bundles)


def last_texts(bundles: dict[str, list[Any]]) -> dict[str, str]:
    return {name: several[-1]["text/plain"] for name, several in bundles.items() if several}


def totals(outcome: dict[str, Any]) -> dict[str, int]:
    return {one["id"]: one["total_cents"] for one in outcome["orders"]}


def failed(texts: dict[str, str]) -> list[str]:
    """The names of the cells whose check or comparison does not say that all is right."""
    return [
        name
        for name, text in texts.items()
        if name.endswith(("-check", "-compare")) and any(mark in text for mark in ("✗", "○", "  ? "))
    ]


@pytest.mark.parametrize("language", ["fr", "ru", "es"])
def test_as_it_is_given_the_toy_and_the_services_agree_and_each_check_passes(language: str) -> None:
    outcome, bundles = stored("order_file", language)
    texts = last_texts(bundles)
    assert totals(outcome) == {"Ana Ruiz/1001": 1100, "Ana Ruiz/1002": 350, "Ana Ruiz/1004": 350}
    assert (outcome["uploaded"], outcome["sent"], outcome["runs"], outcome["returned"]) == (4, 5, 3, 3)
    assert (outcome["accepted"], outcome["refused"]) == (3, 1)
    assert (outcome["acknowledged"], outcome["dead_lettered"]) == (4, 1)
    assert outcome["parameters"] == {"customer": "Ana Ruiz", "number": 1001, "broken": "m-2", "fault": "none"}
    assert len([name for name in texts if name.endswith("-check")]) == 6
    assert len([name for name in texts if name.endswith("-compare")]) == 3
    assert failed(texts) == []
    assert texts["clean-up-gone"] == "[0, 0, 0, 0, 0]"


def test_without_a_broken_message_nothing_returns_though_a_file_is_uploaded_again(tmp_path: Path) -> None:
    outcome, texts = run("fr", tmp_path, broken="none", number=2000, fault="upload-again")
    assert totals(outcome) == {f"Ana Ruiz/{2000 + place}": 350 if place else 1100 for place in range(4)}
    assert all(one["accepted"] == 1 for one in outcome["orders"])
    assert (outcome["runs"], outcome["returned"], outcome["dead_lettered"]) == (1, 0, 0)
    assert (outcome["sent"], outcome["refused"]) == (6, 2)
    assert failed(texts) == []


def test_another_customer_another_broken_message_and_a_job_that_is_sent_twice(tmp_path: Path) -> None:
    outcome, texts = run("ru", tmp_path, customer="Зоя + Lev é", number=7, broken="m-3", fault="send-twice")
    assert totals(outcome) == {"Зоя + Lev é/7": 1100, "Зоя + Lev é/8": 350, "Зоя + Lev é/9": 350}
    assert all(one["accepted"] == 1 for one in outcome["orders"])
    assert (outcome["sent"], outcome["refused"], outcome["dead_lettered"]) == (6, 2, 1)
    assert outcome["acknowledged"] == 5
    assert failed(texts) == []
    assert texts["batch-dead-read"] == "1"


@pytest.mark.parametrize(
    ("fault", "sent", "refused", "dead"),
    [("broken-message", 6, 1, 2), ("slow-worker", 5, 3, 1)],
)
def test_a_fault_makes_no_second_order_and_loses_nothing(
    tmp_path: Path, fault: str, sent: int, refused: int, dead: int
) -> None:
    outcome, texts = run("es", tmp_path, fault=fault)
    assert totals(outcome) == {"Ana Ruiz/1001": 1100, "Ana Ruiz/1002": 350, "Ana Ruiz/1004": 350}
    assert all(one["accepted"] == 1 for one in outcome["orders"])
    assert (outcome["sent"], outcome["refused"], outcome["dead_lettered"]) == (sent, refused, dead)
    assert outcome["acknowledged"] == sent - dead
    assert failed(texts) == []


def test_a_parameter_that_cannot_be_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(papermill.PapermillExecutionError) as refusal:
        run("fr", tmp_path, broken="m-9")
    assert "Lab(" in refusal.value.source, "the cell that opens the lesson, before any step"
    assert "m-9" in str(refusal.value)
