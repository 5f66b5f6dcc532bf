"""Which runs a grid has, from lesson.toml and from what somebody typed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from helpers.classroom.stored import stored_notebook
from helpers.course.source import SourceError
from helpers.course.syllabus import HERE, Lesson, read_course
from helpers.grid.derived import WITH_GUARD, NotUsable, derive, digest_of
from helpers.grid.plan import choose, read_experiment, runs
from helpers.lab.errors import BadParameter

pytestmark = pytest.mark.usefixtures("in_english")

LESSONS = read_course(HERE).lessons
CONSUMER = read_course(HERE).lesson("idempotent-consumer")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_the_usual_grid_of_each_lesson_has_values_and_cells_that_the_lesson_has(lesson: Lesson) -> None:
    experiment = read_experiment(lesson)
    grid = choose(lesson, experiment.grid, {})
    assert len(runs(grid, "")) >= 10
    notebook = derive(stored_notebook(HERE.notebooks / "fr" / lesson.notebook), experiment, "guard" in grid)
    names = [cell.id for cell in notebook.cells]
    assert names[-2:] == [experiment.until, "outcome"]
    assert not any(cell.get("outputs") for cell in notebook.cells)
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert (sources.get(experiment.code) == WITH_GUARD) == ("guard" in grid)
    assert not set(experiment.own) & set(names)


def test_what_is_typed_takes_the_place_of_the_usual_values_and_numbers_are_numbers() -> None:
    grid = choose(CONSUMER, {"fault": ["none"], "duplicates": [1]}, {"duplicates": "0, 7,7", "guard": "counter"})
    assert grid == {"guard": ("counter",), "fault": ("none",), "duplicates": (0, 7)}
    assert [run.named for run in runs(grid, "")] == [
        "guard=counter, fault=none, duplicates=0",
        "guard=counter, fault=none, duplicates=7",
    ]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"colour": "red"}, "no parameter `colour`"),
        ({"fault": "rain"}, "rain"),
        ({"guard": "hope"}, '"conditional-write"'),
        ({"duplicates": "51"}, "from 0 to 50"),
        ({"duplicates": "three"}, "whole number"),
        ({"duplicates": " , "}, "has no value.*`duplicates=0,3`"),
        ({"guard": ""}, "`guard=none,read-then-write`"),
        ({"quantity": ""}, "`quantity=[0-9]+`"),
        ({"duplicates": ",".join(map(str, range(51))), "quantity": ",".join(map(str, range(1, 11)))}, "6120 runs"),
    ],
)
def test_a_wrong_name_or_value_is_explained_before_anything_runs(typed: dict[str, str], said: str) -> None:
    with pytest.raises(BadParameter, match=f"(?s){said}"):
        choose(CONSUMER, read_experiment(CONSUMER).grid, typed)


def test_a_run_is_another_one_for_other_values_or_another_notebook_and_the_same_in_another_order() -> None:
    (first,) = runs({"fault": ["none"], "duplicates": [3]}, "a")
    (turned,) = runs({"duplicates": [3], "fault": ["none"]}, "a")
    (other,) = runs({"fault": ["none"], "duplicates": [4]}, "a")
    (changed,) = runs({"fault": ["none"], "duplicates": [3]}, "b")
    assert first.key == turned.key
    assert len({first.key, other.key, changed.key}) == 3
    assert first.file.startswith("none_3_")


def test_names_of_files_are_plain_whatever_the_values_are() -> None:
    (run,) = runs({"customer": ["Зоя + Lev é"]}, "")
    assert run.file.isascii()
    assert not set(run.file) & set(' /\\:*?"<>|+')


def test_the_digest_follows_the_cells_and_what_they_read() -> None:
    stored = stored_notebook(HERE.notebooks / "fr" / CONSUMER.notebook)
    notebook = derive(stored, read_experiment(CONSUMER), with_guard=True)
    digest = digest_of(notebook, "code")
    assert digest != digest_of(notebook, "other code")
    notebook.cells[1].source += " "
    assert digest != digest_of(notebook, "code")


def test_a_lesson_without_an_experiment_or_with_a_cell_that_is_gone_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "lesson.toml").write_text("[[vocabulary]]\n", encoding="utf-8")
    with pytest.raises(SourceError, match="experiment"):
        read_experiment(replace(CONSUMER, folder=tmp_path))
    gone = replace(read_experiment(CONSUMER), until="nowhere")
    with pytest.raises(NotUsable, match="nowhere"):
        derive(stored_notebook(HERE.notebooks / "fr" / CONSUMER.notebook), gone, with_guard=True)
