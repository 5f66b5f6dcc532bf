"""The course itself, not the small one: its catalogs are complete, its notebooks are those of its lessons."""

from __future__ import annotations

import json

import pytest

from helpers.course import catalogs
from helpers.course.__main__ import main
from helpers.course.build import build, build_index
from helpers.course.entries import lesson_entries
from helpers.course.gates import check_course
from helpers.course.messages import helper_entries
from helpers.course.syllabus import HERE, languages, read_course

pytestmark = pytest.mark.early

COURSE = read_course(HERE)
LANGUAGES = languages(HERE)


def test_the_course_is_in_french_russian_and_spanish() -> None:
    assert set(LANGUAGES) >= {"fr", "ru", "es"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_gates_pass(language: str) -> None:
    failures = [str(failure) for failure in check_course(HERE, [language])]
    assert not failures, "\n".join(["", *failures[:40]])


@pytest.mark.parametrize("language", LANGUAGES)
def test_i18n_would_change_no_catalog(language: str) -> None:
    sources = [(lesson.catalog(language), lesson_entries(lesson)) for lesson in COURSE.lessons]
    for path, entries in [*sources, (HERE.locale / f"{language}.po", helper_entries(HERE))]:
        catalog = catalogs.read(path)
        catalogs.update(catalog, entries)
        assert catalogs.to_bytes(catalog) == path.read_bytes(), f"{HERE.shown(path)}: run `make i18n`"


def test_the_stored_notebooks_hold_the_cells_of_the_lessons() -> None:
    built = build(HERE, COURSE.lessons, LANGUAGES, HERE.notebooks, run=False)
    built |= build_index(HERE, COURSE, LANGUAGES, HERE.notebooks, run=False)
    for name, content in built.items():
        stored = json.loads((HERE.notebooks / name).read_text(encoding="utf-8"))
        assert [_without_outputs(cell) for cell in stored["cells"]] == [
            _without_outputs(cell) for cell in json.loads(content)["cells"]
        ], f"{name}: run `make notebooks`"


def test_every_text_of_the_helpers_passes_through_the_catalogs(capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["pseudo"])
    assert code == 0, capfd.readouterr().err[-4000:]


def _without_outputs(cell: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in cell.items() if name not in ("outputs", "execution_count")}
