"""The texts of lesson.toml reach the reader in each language, and the checks use exactly its ids."""

from __future__ import annotations

import pytest

from helpers.lab import language
from helpers.lab.idempotent_consumer import NEEDED, STEPS, IdempotentConsumer
from helpers.lab.lesson_texts import LessonTexts


@pytest.fixture
def texts():
    before = language.current()
    language.use("en")
    yield LessonTexts("idempotent-consumer")
    language.use(before)


def test_every_step_has_a_title_and_its_points(texts):
    for step in STEPS:
        assert texts.title(step)
        points = texts.checks(step)
        assert points
        assert all(point.text and point.hint and point.solution for point in points.values())


def test_the_points_are_the_probes(texts, lab):
    lesson = lab._lesson
    assert isinstance(lesson, IdempotentConsumer)
    for step in STEPS:
        assert set(texts.checks(step)) == set(lesson.probes(step))
        assert set(NEEDED[step]) <= set(lesson.probes(step))


def test_the_vocabulary_has_blanks_and_a_model_for_each(texts):
    rows = texts.vocabulary
    assert len({row.id for row in rows}) == len(rows)
    assert all(row.word and row.meaning and row.model for row in rows)
    filled = [row for row in rows if row.example]
    assert 0 < len(filled) < len(rows)


def test_each_prediction_explains_each_answer(texts):
    assert set(STEPS) - {"break"} <= set(texts.predictions)
    for step in texts.predictions:
        prediction = texts.prediction(step)
        assert prediction.question
        assert sum(choice.right for choice in prediction.choices) == 1
        assert all(choice.text and choice.feedback for choice in prediction.choices)


def test_an_unknown_step_has_no_texts(texts):
    for read in (texts.prediction, texts.checks, texts.title):
        with pytest.raises(KeyError):
            read("nothing")


def test_translations_are_found_by_their_place(tmp_path, monkeypatch):
    folder = tmp_path / "small_lesson"
    folder.mkdir()
    (folder / "lesson.toml").write_text(
        '[[vocabulary]]\nid = "queue"\nword = "queue"\nmeaning = "A line."\nexample = ""\nmodel = "Bread."\n'
        '[[checks]]\nstep = "one"\ntitle = "One"\n'
        '[[checks.items]]\nid = "p"\ntext = "It is."\nhint = "Look."\nsolution = "Run."\n',
        encoding="utf-8",
    )
    entries = {
        "vocabulary:queue:word": ("queue", "file"),
        "check:one:title": ("One", "Un"),
        "check:one:p:hint": ("Look.", "Regardez."),
        "check:one:p:solution": ("Run.", "Lancez."),
    }
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    body = "".join(f'\nmsgctxt "{c}"\nmsgid "{i}"\nmsgstr "{s}"\n' for c, (i, s) in entries.items())
    (folder / "fr.po").write_text(header + body, encoding="utf-8")
    monkeypatch.setattr("helpers.lab.lesson_texts.LESSONS", tmp_path)
    monkeypatch.setattr("helpers.lab.language.LESSONS", tmp_path)
    monkeypatch.setattr("helpers.lab.language._current", "fr")
    texts = LessonTexts("small-lesson")
    assert texts.vocabulary[0].word == "file"
    assert texts.vocabulary[0].meaning == "A line.", "without a translation the source is shown"
    assert texts.title("one") == "Un"
    point = texts.checks("one")["p"]
    assert (point.text, point.hint, point.solution) == ("It is.", "Regardez.", "Lancez.")
