"""The teacher's notes: one entry for each step, minutes that fill the lesson, answers to the predictions."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.classroom.notes_page import notes_page
from helpers.classroom.teaching import heading_of, read_notes, step_titles
from helpers.course.source import SourceError
from helpers.course.syllabus import HERE, Lesson, languages, read_course
from helpers.lab.language import use
from helpers.lab.lesson_texts import LessonTexts

pytestmark = pytest.mark.usefixtures("in_english")

LESSONS = read_course(HERE).lessons
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)


@each_lesson
def test_the_minutes_of_the_steps_are_those_of_the_lesson(lesson: Lesson) -> None:
    notes = read_notes(lesson)
    assert sum(one.minutes for one in notes) == lesson.minutes
    assert [one.begins for one in notes] == [0, *(one.ends for one in notes)][:-1]


@each_lesson
def test_each_step_has_its_notes_with_the_answers_of_its_prediction(lesson: Lesson) -> None:
    notes = {one.step: one for one in read_notes(lesson)}
    assert list(notes) == list(step_titles(lesson))
    for step in LessonTexts(lesson.slug).predictions:
        page = notes[step].html()
        assert page.count("✓ right") == 1, step
        assert page.count("✗ wrong") == len(LessonTexts(lesson.slug).prediction(step).choices) - 1, step


@pytest.mark.parametrize("language", languages(HERE))
def test_the_page_of_notes_is_in_the_language_of_the_reader_and_asks_no_network(language: str) -> None:
    use(language)
    page = notes_page("X", read_notes(LESSONS[1]))
    assert f'<html lang="{language}">' in page
    assert "src=" not in page
    assert "http" not in page
    assert LessonTexts(LESSONS[1].slug).prediction("connect").choices[1].feedback.split("`")[0] in page


def test_notes_for_a_step_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "order_file"
    shutil.copytree(LESSONS[0].folder, folder)
    text = (folder / "lesson.toml").read_text(encoding="utf-8")
    more = '\n[[teaching]]\nstep = "nowhere"\nminutes = 1\nask = "?"\ndemo = "!"\n'
    (folder / "lesson.toml").write_text(text + more, encoding="utf-8")
    with pytest.raises(SourceError, match="nowhere"):
        read_notes(replace(LESSONS[0], folder=folder))


def test_a_heading_loses_its_marks() -> None:
    assert heading_of("text\n\n## 2. Read `app.py` *once*\n\nmore") == "2. Read app.py once"
    assert heading_of("no heading") == ""
