"""`python -m helpers.grid` with the lesson itself: two guards, the same duplicate."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import nbformat
import pytest

from helpers.grid.__main__ import main
from helpers.lab.language import current, ngettext, use

pytestmark = pytest.mark.early

GRID = ["--lesson", "idempotent-consumer", "--language", "ru", "--processes", "2", "--set", "duplicates=1"]
GRID += ["--set", "guard=message-id,conditional-write", "--set", "fault=none"]


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.csv").open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_lesson_with_two_guards_a_report_and_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = current()
    try:
        assert main([*GRID, "--output", str(tmp_path)]) == 0
        ours, right = rows(tmp_path)
        # Two orders are asked for, one of them twice: its copy has a message id of its own.
        assert (ours["guard"], ours["accepted"], ours["refused"], ours["once"]) == ("message-id", "3", "0", "no")
        assert (right["guard"], right["accepted"], right["refused"], right["once"]) == (
            "conditional-write",
            "2",
            "1",
            "yes",
        )
        executed = nbformat.read(tmp_path / ours["notebook"], 4)
        outcome = executed.cells[-1].outputs[-1].data["application/json"]
        assert (outcome["guard"], outcome["parameters"]["duplicates"]) == ("message-id", 1)
        deployed = next(cell for cell in executed.cells if cell.id == "deploy-code")
        assert "# guard: message-id" in json.dumps(deployed.outputs)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert '<html lang="ru">' in page
        assert page.count('role="img"') == 2
        assert "3 → 3 ✗" in page
        assert "3 → 2 ✓" in page
        assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
        assert f'href="{ours["notebook"]}"' in page
        files = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
        capsys.readouterr()
        assert main([*GRID, "--output", str(tmp_path)]) == 0
        there = ngettext("{count} run is finished already.", "{count} runs are finished already.", 2)
        assert there.format(count=2) in capsys.readouterr().out
        assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()} == files
    finally:
        use(before)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "make experiment LESSON="),
        (["--lesson", "nope", "--language", "fr"], "make experiment LESSON="),
        (["--lesson", "2", "--language", "xx"], "es, fr, ru"),
        (["--lesson", "2", "--language", "fr", "--set", "duplicates"], "duplicates=0,2"),
        (["--lesson", "2", "--language", "fr", "--set", "fault=rain"], "rain"),
        (["--lesson", "1", "--language", "fr", "--set", "guard=none"], "`guard`"),
        (["--lesson", "2", "--language", "fr", "--processes", "0"], "64"),
    ],
)
def test_a_wrong_choice_is_one_message_with_the_next_step(
    wrong: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = current()
    try:
        assert main(wrong) == 1
    finally:
        use(before)
    assert said in capsys.readouterr().err
