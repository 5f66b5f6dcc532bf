"""A new lesson runs as it is written, says what it cannot do, and takes nobody's place."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

from helpers.course.__main__ import main
from helpers.course.messages import helper_entries
from helpers.course.scaffold import LONGEST_SLUG, MINUTES, TEMPLATES, NotPossible, new_lesson
from helpers.course.syllabus import HERE, Folders, read_course


@pytest.fixture
def copy(tmp_path: Path) -> Folders:
    """The course without its notebooks and tests."""
    unwanted = shutil.ignore_patterns("__pycache__", "vendor", "pages")
    for name in ("helpers", "lessons"):
        shutil.copytree(HERE.root / name, tmp_path / name, ignore=unwanted)
    shutil.copy(HERE.root / "pyproject.toml", tmp_path)
    shutil.copytree(HERE.root / "deploy" / "weblate", tmp_path / "deploy" / "weblate")
    return Folders(tmp_path)


def contents(folders: Folders) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folders.root.rglob("*") if path.is_file()}


def test_a_new_lesson_builds_runs_and_passes_its_checks_and_the_gates_of_the_source(copy: Folders) -> None:
    known = {entry.text for entry in helper_entries(copy)}
    written = new_lesson(copy, "made-for-a-test", 'Retries "with" an end')
    assert {entry.text for entry in helper_entries(copy)} == known, "nothing new for translators outside of the lesson"
    linted = [path for path in written if path.suffix == ".py"]
    for command in (["check"], ["format", "--check"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *linted], cwd=copy.root, check=True, timeout=60)
    output = copy.root / "preview"
    arguments = ["build", "--language", "en", "--lesson", "made-for-a-test", "--output", str(output)]
    assert main(["--root", str(copy.root), *arguments]) == 0
    (path,) = output.rglob("*.ipynb")
    assert path.name == read_course(copy).lessons[-1].notebook
    cells = {cell.id: cell for cell in nbformat.read(path, 4).cells}
    shown = json.dumps(
        {name: cell.outputs for name, cell in cells.items() if name.endswith("-check")}, ensure_ascii=False
    )
    assert shown.count("✓") >= 2 * 7, "in HTML and as plain text"
    assert not any(mark in shown for mark in ("✗", "○"))
    datas = [output.get("data", {}) for output in cells["outcome"].outputs]
    (outcome,) = (data["application/json"] for data in datas if "application/json" in data)
    assert (outcome["lesson"], outcome["sent"], outcome["accepted"]) == ("made-for-a-test", 1, 1)


def test_a_new_lesson_is_the_last_of_the_course_and_its_names_are_its_own(copy: Folders) -> None:
    before = read_course(copy).lessons
    new_lesson(copy, "made-for-a-test", 'Retries "with" an end')
    new_lesson(copy, "made-again")
    *others, first, second = read_course(copy).lessons
    assert tuple(others) == before
    assert (first.title, first.minutes, second.title) == ('Retries "with" an end', MINUTES, "Made again")
    course = tomllib.loads((copy.lessons / "course.toml").read_text(encoding="utf-8"))
    prefixes = [lesson["prefix"] for lesson in course["lessons"]]
    assert prefixes[-2:] == ["made-", "made-again-"]
    worlds = (copy.helpers / "lab/lesson_world.py").read_text(encoding="utf-8")
    assert '    "made-again": "helpers.lab.made_again:MadeAgain",\n}\n' in worlds
    components = json.loads((copy.root / "deploy/weblate/components.json").read_text(encoding="utf-8"))
    assert components[-1]["new_base"] == "lessons/made_again/lesson.pot"
    assert components[-1].keys() == components[-3].keys()
    notes = tomllib.loads((TEMPLATES / "lesson.toml").read_text(encoding="utf-8"))["teaching"]
    assert sum(one["minutes"] for one in notes) == MINUTES


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("", "small letters"),
        ("Retries", "small letters"),
        ("made_for_a_test", "small letters"),
        ("../retries", "small letters"),
        ("-retries", "small letters"),
        ("повторы", "small letters"),
        ("a" * (LONGEST_SLUG + 1), f"at most {LONGEST_SLUG} characters"),
        ("import", "a word of Python"),
        ("order-file", "There is a lesson 'order-file' already"),
        ("checks", "helpers/lab/checks.py: there already"),
    ],
)
def test_a_slug_that_cannot_be_used_is_refused_and_nothing_is_written(copy: Folders, slug: str, said: str) -> None:
    before = contents(copy)
    with pytest.raises(NotPossible) as refused:
        new_lesson(copy, slug)
    assert said in str(refused.value)
    assert contents(copy) == before


def test_the_command_says_what_it_wrote_and_refuses_to_write_it_again(
    copy: Folders, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--root", str(copy.root), "new-lesson", "made-for-a-test"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert said.startswith("lessons/made_for_a_test/lesson.md\n")
    assert "build --language en --lesson made-for-a-test" in said
    assert main(arguments) == 1
    assert "There is a lesson 'made-for-a-test' already" in capsys.readouterr().err
