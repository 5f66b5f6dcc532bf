from __future__ import annotations

from pathlib import Path

import pytest

from helpers.course.exceptions import Exceptions, read_exceptions
from helpers.course.syllabus import HERE


@pytest.mark.parametrize(
    ("plain", "language", "expected"),
    [
        ("SQS", "ru", True),
        ("SQS, DynamoDB 2.1", "ru", True),
        ("SQS queue", "ru", False),
        ("Message", "ru", False),
        ("message.", "fr", True),
        ("1. Introduction", "fr", True),
        ("1. Introduction", "ru", False),
        ("message", "ru", False),
        ("✗ no", "es", True),
        ("✗ no", "ru", False),
        ("○ visible", "fr", True),
        ("no visible queue", "es", False),
    ],
)
def test_which_texts_may_stay_english(plain: str, language: str, expected: bool) -> None:
    assert read_exceptions(HERE.lessons / "exceptions.toml").may_stay(plain, language) is expected


def test_an_excuse_belongs_to_one_entry(tmp_path: Path) -> None:
    path = tmp_path / "exceptions.toml"
    excuse = '[[glossary]]\nfile = "lessons/x"\nentry = "a:0"\nterm = "state"\nreason = "the verb"\n'
    path.write_text(excuse, encoding="utf-8")
    read = read_exceptions(path)
    assert read.excused("lessons/x", "a:0") == {"state"}
    assert read.excused("lessons/x", "a:1") == read.excused("lessons/y", "a:0") == frozenset()
    path.write_text(excuse.replace('reason = "the verb"\n', ""), encoding="utf-8")
    with pytest.raises(KeyError, match="reason"):
        read_exceptions(path)


def test_no_file_no_exceptions(tmp_path: Path) -> None:
    assert read_exceptions(tmp_path / "none.toml") == Exceptions()
