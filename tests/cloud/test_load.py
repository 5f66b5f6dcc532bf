"""The load run in small: real workers under crashes and lost answers by rate, twice with the same seed."""

from __future__ import annotations

import pytest

from benchmarks.load import Report, load, main

pytestmark = pytest.mark.early

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


@pytest.mark.parametrize(
    ("argument", "text", "said"),
    [
        ("--messages", "0", "at least 1"),
        ("--messages", "-5", "at least 1"),
        ("--batch", "0", "at least 1"),
        ("--batch", "20000", "at most 10000"),
        ("--crash", "2", "a share from 0 to 0.5"),
        ("--crash", "-0.1", "a share from 0 to 0.5"),
        ("--lose", "nan", "a share from 0 to 0.5"),
    ],
)
def test_an_argument_that_cannot_be_is_named_before_anything_starts(
    capsys: pytest.CaptureFixture[str], argument: str, text: str, said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([f"{argument}={text}"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert argument in told
    assert said in told
