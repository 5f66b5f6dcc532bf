from __future__ import annotations

import pytest

from helpers.course.entries import lesson_entries, translated
from helpers.course.source import SourceError, read_lesson
from helpers.course.syllabus import Lesson


def test_entries_are_in_the_order_of_the_source_and_numbered_within_their_cell(lesson: Lesson) -> None:
    contexts = [entry.context for entry in lesson_entries(lesson)]
    assert contexts[:3] == ["course:title", "title:0", "title:1"]
    assert contexts[9:13] == ["drawing:0", "drawing:comment:0", "write-file:comment:0", "write-file:comment:1"]
    assert contexts[-2:] == ["check:read:empty:hint", "check:read:empty:solution"]
    assert len(contexts) == len(set(contexts))


def test_a_text_that_is_only_code_is_no_entry(lesson: Lesson) -> None:
    assert "vocabulary:queue:model" not in [entry.context for entry in lesson_entries(lesson)]


def test_notes_are_remarks(lesson: Lesson) -> None:
    [entry] = [entry for entry in lesson_entries(lesson) if entry.context == "title:2"]
    assert entry.remark == "the names of the columns are short."


def test_english_gives_the_source_without_its_notes(lesson: Lesson) -> None:
    source = read_lesson(lesson.folder)
    cells = translated(source, lambda _, text: text)
    for before, after in zip(source.cells, cells, strict=True):
        note = "<!-- note: the names of the columns are short. -->\n\n"
        assert after.source == before.source.replace(note, "")


def test_each_piece_is_asked_for_by_its_context(lesson: Lesson) -> None:
    asked: list[str] = []
    translated(read_lesson(lesson.folder), lambda context, text: asked.append(context) or text)
    of_cells = [entry.context for entry in lesson_entries(lesson) if entry.kind != "text"]
    assert asked == of_cells


def test_what_cannot_be_translated_is_named_with_its_line(lesson: Lesson, replace_in) -> None:
    replace_in(lesson.folder / "lesson.md", "1. Read the queue.", "```{note}\nwords\n```\n\n1. Read the queue.")
    with pytest.raises(SourceError, match=r"lesson\.md:24: the directive \{note\}"):
        lesson_entries(lesson)
