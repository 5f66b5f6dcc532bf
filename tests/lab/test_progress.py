"""What a learner has passed: remembered beside the answers, counted for each lesson and language."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.lab import language
from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.progress import progress_of, remember


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_current", "en")
    monkeypatch.setenv("ONCE_HOME", str(tmp_path))


def test_nothing_is_passed_in_the_beginning() -> None:
    lessons = progress_of("fr")
    assert [lesson.number for lesson in lessons] == list(range(1, len(lessons) + 1))
    assert all(lesson.steps and lesson.minutes and lesson.passed == () for lesson in lessons)


def test_a_step_counts_once_in_its_language_and_in_the_order_of_the_lesson(tmp_path: Path) -> None:
    answers = Answers("idempotent-consumer", "fr")
    for step in ("deploy", "connect", "deploy", "a-step-of-old"):
        remember(answers, step)
    assert (tmp_path / "answers/idempotent-consumer/fr/progress-deploy.txt").read_text(encoding="utf-8") == "passed\n"
    [lesson] = [lesson for lesson in progress_of("fr") if lesson.passed]
    assert lesson.steps == 5
    assert [title[:2] for title in lesson.passed] == ["2.", "3."]
    assert not any(lesson.passed for lesson in progress_of("ru"))


def test_what_cannot_be_saved_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> Path:
        raise AnswerNotSaved("not saved", "no folder", "copy it")

    monkeypatch.setattr(Answers, "write", refuse)
    remember(Answers("idempotent-consumer", "fr"), "connect")
    assert not any(lesson.passed for lesson in progress_of("fr"))
