"""lab.use_guard: a worker with another guard in the place of the learner's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.lab import Lab
from helpers.lab.errors import BadParameter, NotInLesson
from tests.lab.conftest import Learner


@pytest.fixture(scope="module")
def opened() -> Iterator[Lab]:
    with Lab("idempotent-consumer", "en") as lab:
        yield lab


def test_a_worker_that_reads_first_may_read_only_while_it_is_chosen(opened: Lab) -> None:
    learner = Learner(opened)
    path = opened.use_guard("read-then-write")
    assert path == opened.folder / "app.py"
    learner.first_job(path.read_text(encoding="utf-8"))
    learner.send()
    opened.settle()
    outcome = opened.outcome()
    assert (outcome["guard"], outcome["accepted"], outcome["failed_runs"]) == ("read-then-write", 1, 0)
    opened.use_guard("none")
    learner.send()
    opened.settle()
    assert opened.outcome()["failed_runs"] == 1, "the deployed worker reads, and may not any more"


def test_a_guard_that_there_is_not_is_named_with_those_that_there_are(opened: Lab) -> None:
    with pytest.raises(BadParameter, match=r"(?s)hope.*conditional-write"):
        opened.use_guard("hope")


def test_a_fresh_account_has_no_guard(opened: Lab) -> None:
    opened.use_guard("counter")
    opened.reset()
    assert "guard" not in opened.outcome()


def test_a_lesson_with_one_worker_has_no_guards(opened: Lab) -> None:
    with Lab("order-file", "en") as other, pytest.raises(NotInLesson):
        other.use_guard("none")
