"""A small course in French and Russian, copied for each test, and catalogs to write into."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.course import catalogs
from helpers.course.syllabus import HERE, Folders, Lesson, read_course

FIXTURE = Path(__file__).parent / "fixture"


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A copy of the small course, with the rules of the real one."""
    root = tmp_path / "course"
    shutil.copytree(FIXTURE, root)
    for name in ("glossary.csv", "typography.toml"):
        shutil.copy(HERE.lessons / name, root / "lessons" / name)
    return Folders(root)


@pytest.fixture
def lesson(folders: Folders) -> Lesson:
    return read_course(folders).lessons[0]


@pytest.fixture
def retranslate(lesson: Lesson) -> Callable[[str, str, str], Path]:
    """retranslate(language, msgctxt, text) writes one translation into the catalog of the small lesson."""

    def write(language: str, context: str, text: str) -> Path:
        path = lesson.catalog(language)
        catalog = catalogs.read(path)
        [message] = [message for message in catalog if message.context == context]
        message.string = text
        catalogs.write(path, catalog)
        return path

    return write


@pytest.fixture
def replace_in() -> Callable[[Path, str, str], None]:
    """replace_in(path, old, new) edits a text file; `old` must be there."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")

    return replace
