"""The load run in small: real workers under crashes and lost answers by rate, twice with the same seed."""

from __future__ import annotations

import pytest

from benchmarks.load import Report, load, main

MESSAGES = 100


@pytest.fixture(scope="module")
def first() -> Report:
    return load(MESSAGES, crash=0.08, lose=0.05, seed=7)


def test_under_crashes_and_lost_answers_every_order_is_there_exactly_once_and_nothing_is_lost(first: Report) -> None:
    assert first.holds, str(first)
    kinds = {fault.partition(" dynamodb")[0] for fault, _ in first.hits}
    assert kinds == {"crash before", "crash after", "lose the answer of"}


def test_the_same_seed_hits_the_same_orders_though_workers_run_at_once(first: Report) -> None:
    again = load(MESSAGES, crash=0.08, lose=0.05, seed=7)
    assert again.hits == first.hits


def test_a_property_that_fails_ends_the_program_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], first: Report
) -> None:
    failed = Report({"messages": "1"}, {"no message is lost": False}, first.hits)
    for report, status in ((failed, 1), (Report({}, {"no message is lost": True}, first.hits), 0)):
        monkeypatch.setattr("benchmarks.load.load", lambda *_, report=report: report)
        assert main([]) == status
        assert ("FAILS" in capsys.readouterr().out) is bool(status)
