"""The table of the learner's progress, and the check that feeds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import lab
from helpers.lab.answers import Answers
from helpers.lab.checks import CheckItem, CheckReport
from helpers.lab.language import UnknownLanguage
from helpers.lab.progress import LessonProgress, remember
from helpers.show import Lab, progress
from helpers.show.own_progress import ShownProgress
from tests.show.shown import Outline


def test_the_table_says_how_many_steps_and_which() -> None:
    shown = ShownProgress(
        [LessonProgress(1, "A <b>", 25, 3, ("2. One", "3. Two & more")), LessonProgress(2, "B", 1, 5, ())]
    )
    data = shown._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"}
    first, second = data["text/plain"].splitlines()[3:]
    assert "25 minutes" in first
    assert "2 of 3" in first
    assert first.endswith("2. One; 3. Two & more")
    assert "1 minute " in second
    assert second.endswith("0 of 5")
    outline = Outline(data["text/html"])
    assert [head["scope"] for head in outline.all("th")] == ["col"] * 4 + ["row"] * 2
    assert "3. Two & more" in outline.words
    assert "1. A <b>" in outline.words


def test_each_language_has_a_table_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONCE_HOME", str(tmp_path))
    remember(Answers("idempotent-consumer", "ru"), "connect")
    russian, french = progress("ru"), progress("fr")
    assert "1 из 5" in russian.text()
    assert "1 sur 5" not in french.text()
    assert '<div lang="ru"' in russian.html()
    assert '<div lang="fr"' in french.html()
    with pytest.raises(UnknownLanguage):
        progress("xx")


@pytest.mark.parametrize(("outcome", "names"), [("right", ["progress-connect"]), ("not-yet", [])])
def test_a_check_is_remembered_when_it_passed(
    answers: Answers, monkeypatch: pytest.MonkeyPatch, outcome: str, names: list[str]
) -> None:
    report = CheckReport("connect", "Connect", (CheckItem("a", outcome, "A queue.", "", ""),))
    monkeypatch.setattr(lab.Lab, "check", lambda self, step: report)
    opened = Lab.__new__(Lab)
    opened._answers = answers
    assert opened.check("connect") is report
    assert answers.names() == names
