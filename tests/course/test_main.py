"""The commands, and what is promised about them: a fourth language is catalogs and no code."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from helpers.course import catalogs
from helpers.course.__main__ import main
from helpers.course.syllabus import Folders, Lesson


def contents(folder: Path, pattern: str) -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in sorted(folder.glob(pattern)) if path.is_file()}


def call(folders: Folders, *arguments: str) -> int:
    return main(["--root", str(folders.root), *arguments])


def test_i18n_changes_nothing_when_nothing_changed(folders: Folders) -> None:
    before = contents(folders.root, "**/*.po")
    assert call(folders, "i18n") == 0
    assert contents(folders.root, "**/*.po") == before


def test_i18n_says_what_is_left_to_do(
    folders: Folders, lesson: Lesson, replace_in, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_in(lesson.folder / "lesson.md", "2. Count: how many?", "2. Count: how many?\n3. Go to the next room.")
    assert call(folders, "i18n") == 0
    said = capsys.readouterr().out
    assert "lessons/small_lesson/fr.po: 23 entries, 1 empty, 0 fuzzy" in said
    assert call(folders, "gates") == 1
    assert "lessons/small_lesson/fr.po [title:7]: no translation. Translate it" in capsys.readouterr().err


def test_a_great_many_failures_are_counted(
    folders: Folders, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helpers.course.__main__.SHOWN", 3)
    assert call(folders, "i18n", "--language", "eo") == 0
    assert call(folders, "gates") == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert lines[-1] == "… 29 in all (helpers/locale/eo.po: 7, lessons/small_lesson/eo.po: 22)"


@pytest.mark.parametrize("command", ["i18n", "status", "gates", "build --draft"])
@pytest.mark.parametrize("wrong", ["../x", "x", "FR", "fr-FR", "xx", "de.po", ""])
def test_what_is_no_language_makes_no_files(
    folders: Folders, command: str, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folders.root, "**/*")
    assert call(folders, *command.split(), "--language", wrong) == 1
    assert f"“{wrong}” is no language" in capsys.readouterr().err
    assert contents(folders.root, "**/*") == before


def test_the_source_has_no_catalogs(folders: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folders, "i18n", "--language", "en") == 1
    assert "the language of the source" in capsys.readouterr().err
    assert not list(folders.root.rglob("en.po"))


def test_a_language_that_has_no_catalogs_yet_is_named_in_the_next_step(
    folders: Folders, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folders, "gates", "--language", "pt_BR") == 1
    assert "Run `make i18n LANG_=pt_BR`" in capsys.readouterr().err
    assert call(folders, "status", "--language", "pt_BR") == 0
    assert "after `make i18n LANG_=pt_BR`" in capsys.readouterr().out


def test_gates_say_that_all_is_well(folders: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folders, "gates") == 0
    assert capsys.readouterr().out == "All gates passed.\n"


def test_a_fourth_language_is_catalogs_and_no_code(folders: Folders) -> None:
    assert call(folders, "i18n", "--language", "eo") == 0
    for path in (folders.lessons / "small_lesson" / "eo.po", folders.locale / "eo.po"):
        catalog = catalogs.read(path)
        for message in catalog:
            if message.id:
                plural = isinstance(message.id, tuple)
                message.string = tuple(f"⟦{text}⟧" for text in message.id) if plural else f"⟦{message.id}⟧"
        catalogs.write(path, catalog)
    assert call(folders, "gates") == 0
    assert call(folders, "build", "--no-execute") == 0
    assert contents(folders.notebooks, "eo/*").keys() == {
        (folders.notebooks / "eo" / name).as_posix() for name in ("01_small_lesson.ipynb", "index.ipynb")
    }
    index = json.loads((folders.notebooks / "index.ipynb").read_text(encoding="utf-8"))
    assert "[1. ⟦A queue in one minute⟧](eo/01_small_lesson.ipynb) | ⟦1 minute⟧" in "".join(index["cells"][1]["source"])


def test_build_writes_what_check_compares(folders: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folders, "build", "--no-execute") == 0
    assert capsys.readouterr().out == "5 notebooks built, 5 of them changed.\n"
    assert call(folders, "build", "--no-execute", "--check") == 0
    path = folders.notebooks / "ru" / "01_small_lesson.ipynb"
    path.write_bytes(path.read_bytes().replace("Имя".encode(), b"Name"))
    before = path.read_bytes()
    assert call(folders, "build", "--no-execute", "--check") == 1
    said = capsys.readouterr().err
    assert "+++ notebooks/ru/01_small_lesson.ipynb (built)" in said
    assert "Run `make notebooks`" in said
    assert path.read_bytes() == before


def test_outputs_that_are_stored_are_for_a_comparison_only(
    folders: Folders, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        call(folders, "build", "--pseudo")
    assert "goes with --check only" in capsys.readouterr().err


def test_build_stops_at_a_gate_unless_it_is_a_draft(folders: Folders, retranslate) -> None:
    retranslate("fr", "title:5", "")
    assert call(folders, "build", "--no-execute") == 1
    assert not folders.notebooks.exists()
    assert call(folders, "build", "--no-execute", "--language", "ru", "--lesson", "small-lesson") == 0
    assert call(folders, "build", "--no-execute", "--draft") == 0
    french = (folders.notebooks / "fr" / "01_small_lesson.ipynb").read_text(encoding="utf-8")
    assert "1. Read the queue." in french


def test_the_source_can_be_seen_in_english(folders: Folders, tmp_path: Path) -> None:
    output = tmp_path / "preview"
    assert call(folders, "build", "--no-execute", "--language", "en", "--output", str(output)) == 0
    assert [path.relative_to(output).as_posix() for path in output.rglob("*.ipynb")] == ["en/01_small_lesson.ipynb"]


def test_a_file_in_place_of_a_folder_is_one_message(
    folders: Folders, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "preview"
    output.touch()
    assert call(folders, "build", "--no-execute", "--output", str(output)) == 1
    assert f"needs the folder {output}." in capsys.readouterr().err


def test_an_unknown_lesson_is_an_error(folders: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(folders, "build", "--lesson", "other") == 1
    assert "there is: small-lesson" in capsys.readouterr().err


def test_the_module_is_a_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["helpers.course", "--help"])
    monkeypatch.delitem(sys.modules, "helpers.course.__main__")
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("helpers.course", run_name="__main__")
    assert "i18n" in capsys.readouterr().out
