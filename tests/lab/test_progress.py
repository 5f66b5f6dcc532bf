"""What a learner has passed: remembered beside the answers, counted for each lesson and language."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.lab import language
from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.lesson_texts import LessonTexts
from helpers.lab.progress import progress_of, remember


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_current", "en")
    monkeypatch.setenv("ONCE_HOME", str(tmp_path))


def test_nothing_is_passed_in_the_beginning() -> None:
    lessons = progress_of("fr")
    assert [lesson.number for lesson in lessons] == list(range(1, len(lessons) + 1))
    assert all(lesson.left and lesson.words and lesson.predictions for lesson in lessons)
    assert not any(lesson.passed or lesson.begun or lesson.done for lesson in lessons)
    assert lessons[0].notebook == "fr/01_order_file.ipynb"


def test_a_step_counts_once_in_its_language_and_in_the_order_of_the_lesson(tmp_path: Path) -> None:
    answers = Answers("idempotent-consumer", "fr")
    for step in ("deploy", "connect", "deploy", "a-step-of-old"):
        remember(answers, step)
    assert (tmp_path / "answers/idempotent-consumer/fr/progress-deploy.txt").read_text(encoding="utf-8") == "passed\n"
    [lesson] = [lesson for lesson in progress_of("fr") if lesson.passed]
    assert len(lesson.passed) + len(lesson.left) == 5
    assert [title[:2] for title in lesson.passed] == ["2.", "3."]
    assert not any(lesson.passed for lesson in progress_of("ru"))


def test_what_cannot_be_saved_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> Path:
        raise AnswerNotSaved("not saved", "no folder", "copy it")

    monkeypatch.setattr(Answers, "write", refuse)
    remember(Answers("idempotent-consumer", "fr"), "connect")
    assert not any(lesson.passed for lesson in progress_of("fr"))


def test_words_and_predictions_count_when_they_say_something() -> None:
    answers = Answers("order-file", "en")
    right = LessonTexts("order-file").prediction("write").choices[2].text
    answers.write("vocabulary-chain", "mine")
    answers.write("vocabulary-event", " \n")
    answers.write("vocabulary-item", "this word has an example already")
    answers.write("prediction-write", right)
    answers.write("prediction-batch", "a choice of an older lesson")
    lesson = progress_of("en")[0]
    assert (lesson.written, lesson.words) == (1, 3)
    assert (lesson.predicted, lesson.predictions) == (1, 6)
    assert lesson.begun
    assert not lesson.done


def test_what_was_deleted_or_damaged_is_no_progress() -> None:
    answers = Answers("order-file", "en")
    for step in ("connect", "upload", "write"):
        remember(answers, step)
    path = answers.write("vocabulary-chain", "mine")
    assert len(progress_of("en")[0].passed) == 3
    (path.parent / "progress-connect.txt").unlink()
    (path.parent / "progress-upload.txt").write_bytes(b"\xff\xfe\x00")
    (path.parent / "progress-write.txt").write_text("", encoding="utf-8")
    path.write_bytes(b"\xff\xfe")
    assert not progress_of("en")[0].begun
    for step in LessonTexts("order-file").checked_steps:
        remember(answers, step)
    assert progress_of("en")[0].done, "a check that passes again counts again"
