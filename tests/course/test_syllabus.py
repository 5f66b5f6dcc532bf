from __future__ import annotations

import pytest

from helpers.course.source import SourceError
from helpers.course.syllabus import Folders, languages, read_course


def test_a_lesson_takes_its_number_from_its_place(folders: Folders) -> None:
    path = folders.lessons / "course.toml"
    text = path.read_text(encoding="utf-8")
    first = '[[lessons]]\nslug = "first-of-all"\ntitle = "First"\nminutes = 2\n\n'
    path.write_text(text.replace("[[lessons]]\n", first + "[[lessons]]\n"), encoding="utf-8")
    course = read_course(folders)
    assert [lesson.notebook for lesson in course.lessons] == ["01_first_of_all.ipynb", "02_small_lesson.ipynb"]
    assert course.lesson("small-lesson") is course.lesson("small_lesson") is course.lessons[1]
    with pytest.raises(LookupError, match="first-of-all, small-lesson"):
        course.lesson("other")


def test_languages_are_those_of_the_catalogs(folders: Folders, lesson) -> None:
    assert languages(folders) == ("fr", "ru")
    lesson.catalog("eo").write_text("", encoding="utf-8")
    assert languages(folders) == ("eo", "fr", "ru")


@pytest.mark.parametrize(
    ("content", "what"),
    [("[course\n", "not valid TOML"), ("[[lessons]]\nslug = 'x'\n", "'title' is missing"), (None, "is missing")],
)
def test_a_broken_course_is_an_error(folders: Folders, content: str | None, what: str) -> None:
    path = folders.lessons / "course.toml"
    if content is None:
        path.unlink()
    else:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=what):
        read_course(folders)
