from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.entries import lesson_entries
from helpers.course.notebook import lesson_notebook
from helpers.course.source import SourceError, read_lesson
from helpers.course.syllabus import Lesson

FORM = "run = '''\naws sqs list-queues \\\n    --query 'length(QueueUrls || `[]`)'\n'''\n"


def write(lesson: Lesson, text: str) -> None:
    (lesson.folder / "cli.toml").write_text(text, encoding="utf-8", newline="\n")


def test_a_form_is_folded_below_its_cell_on_no_slide_and_only_its_heading_is_translated(lesson: Lesson) -> None:
    write(lesson, FORM)
    source = read_lesson(lesson.folder)
    cells = lesson_notebook(source, lambda _, text: f"«{text}»").cells
    names = [cell.id for cell in cells]
    form = cells[names.index("run") + 1]
    assert (form.id, form.cell_type) == ("run-cli", "markdown")
    assert form.metadata == {"tags": ["cli"], "slideshow": {"slide_type": "skip"}}
    assert form.source == (
        "<details><summary>«The same with the AWS CLI»</summary>\n\n"
        "```sh\naws sqs list-queues \\\n    --query 'length(QueueUrls || `[]`)'\n```\n\n</details>"
    )
    assert [entry.text for entry in lesson_entries(lesson, source)].count("The same with the AWS CLI") == 1


def test_a_lesson_without_forms_has_no_text_for_them(lesson: Lesson) -> None:
    assert "course:cli" not in [entry.context for entry in lesson_entries(lesson)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("runn = 'aws sqs list-queues'\n", "no code cell 'runn'"),
        ("title = 'aws sqs list-queues'\n", "no code cell 'title'"),
        ("run = 'sqs list-queues'\n", "'run' is not a text with a command"),
        ("run = ['aws sqs list-queues']\n", "'run' is not a text with a command"),
        ("run = 'aws\n", "not valid TOML"),
    ],
)
def test_a_wrong_form_is_named(lesson: Lesson, text: str, what: str) -> None:
    write(lesson, text)
    with pytest.raises(SourceError, match=what) as caught:
        read_lesson(lesson.folder)
    assert Path(str(caught.value).split(":")[0]).name == "cli.toml"


def test_the_id_of_a_form_is_not_that_of_another_cell(lesson: Lesson, replace_in) -> None:
    replace_in(lesson.folder / "lesson.md", ":id: write-file", ":id: run-cli")
    write(lesson, FORM)
    with pytest.raises(SourceError, match="'run-cli' is taken"):
        read_lesson(lesson.folder)
