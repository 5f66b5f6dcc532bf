from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.messages import helper_entries
from helpers.course.source import SourceError
from helpers.course.syllabus import Folders


@pytest.fixture
def module(folders: Folders) -> Path:
    return folders.helpers / "lab" / "zz_last.py"


def test_texts_come_in_the_order_of_the_files(folders: Folders, module: Path) -> None:
    module.write_text('x = language._("Last." " Really.")\ny = _("Lesson")\n', encoding="utf-8")
    found = helper_entries(folders)
    assert [entry.text for entry in found][:3] == ["The queue is ready.", "{n} message waits.", found[2].text]
    assert found[-1].text == "Last. Really."
    assert found[0].remark == "shown above the queue."
    assert found[1].plural == "{n} messages wait."
    [lesson] = [entry for entry in found if entry.text == "Lesson"]
    assert lesson.places == ("helpers/lab/said.py", "helpers/lab/zz_last.py")


@pytest.mark.parametrize("call", ['_(f"{x} y")', "_(x)", 'ngettext("a", b, 2)', '_("a" + x)'])
def test_a_text_that_is_no_literal_is_an_error(folders: Folders, module: Path, call: str) -> None:
    module.write_text(f"a = 1\nb = {call}\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"zz_last.py:2: .* takes a literal"):
        helper_entries(folders)


def test_two_plurals_of_one_text_are_an_error(folders: Folders, module: Path) -> None:
    module.write_text('a = ngettext("{n} message waits.", "{n} others.", 2)\n', encoding="utf-8")
    with pytest.raises(SourceError, match="another plural"):
        helper_entries(folders)


@pytest.mark.parametrize("call", ['_("{n} message waits.")', '_("Lesson"); ngettext("Lesson", "Lessons", 2)'])
def test_a_text_with_and_without_a_plural_is_an_error(folders: Folders, module: Path, call: str) -> None:
    module.write_text(call + "\n", encoding="utf-8")
    with pytest.raises(SourceError, match="with and without a plural"):
        helper_entries(folders)


def test_a_file_that_is_not_python_is_an_error(folders: Folders, module: Path) -> None:
    module.write_text("a = _(\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"zz_last.py:1: not valid Python"):
        helper_entries(folders)
