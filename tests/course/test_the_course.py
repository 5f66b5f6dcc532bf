"""The course itself, not the small one. That its gates pass and its notebooks are those of its lessons, the step
before the tests looks at: `python -m helpers.course build --check` (helpers/launcher/suite.py)."""

from __future__ import annotations

import functools

import pytest

from helpers.course import catalogs
from helpers.course.entries import Entry, lesson_entries
from helpers.course.messages import helper_entries
from helpers.course.syllabus import HERE, languages, read_course

pytestmark = pytest.mark.early

COURSE = read_course(HERE)
LANGUAGES = languages(HERE)


def test_the_course_is_in_french_russian_and_spanish() -> None:
    assert set(LANGUAGES) >= {"fr", "ru", "es"}


@functools.cache
def entries() -> list[list[Entry]]:
    """The entries of each lesson, and those of the helpers."""
    return [*(lesson_entries(lesson) for lesson in COURSE.lessons), helper_entries(HERE)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_i18n_would_change_no_catalog(language: str) -> None:
    paths = [*(lesson.catalog(language) for lesson in COURSE.lessons), HERE.locale / f"{language}.po"]
    for path, there in zip(paths, entries(), strict=True):
        catalog = catalogs.read(path)
        catalogs.update(catalog, there)
        assert catalogs.to_bytes(catalog) == path.read_bytes(), f"{HERE.shown(path)}: run `make i18n`"


def test_i18n_would_change_no_template() -> None:
    for path, there in zip([*(lesson.template for lesson in COURSE.lessons), HERE.template], entries(), strict=True):
        assert path.read_bytes() == catalogs.template(there), f"{HERE.shown(path)}: run `make i18n`"
