"""The table of the learner's progress, and the check that feeds it."""

from __future__ import annotations

from dataclasses import replace
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

FIRST = LessonProgress(1, "A <b>", "en/01_a.ipynb", ("2. One",), ("3. Two & more", "4. Three"), 12, 12, 1, 20)
OTHER = LessonProgress(2, "B", "en/02_b.ipynb", (), ("1. Zero",), 0, 3, 0, 4)


def test_it_says_how_much_in_words_and_bars_and_links_to_the_lessons() -> None:
    data = ShownProgress([OTHER, FIRST])._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"}
    other, first = data["text/plain"].splitlines()[3:5]
    assert "2. B (○ not begun)" in other
    assert "▱▱▱▱▱▱▱▱ 0 of 3" in other
    assert "1. A <b> (◐ begun)" in first
    assert ["▰▰▱▱▱▱▱▱ 1 of 3" in first, "▰▰▰▰▰▰▰▰ 12 of 12" in first, "▰▱▱▱▱▱▱▱ 1 of 20" in first] == [True] * 3
    outline = Outline(data["text/html"])
    assert len(outline.all("li")) == 2
    for words in ("Steps passed: 1 of 3", "Examples written: 12 of 12", "Predictions made: 1 of 20"):
        assert words in outline.words
    assert [link["href"] for link in outline.all("a")] == ["en/02_b.ipynb", "en/01_a.ipynb"]
    assert "1. A <b>" in outline.words


def test_it_says_what_to_do_next() -> None:
    assert "Nothing is here yet. Open the first lesson" in ShownProgress([OTHER]).text()
    assert "Go on with the lesson “A <b>”. Its next step is “3. Two & more”." in ShownProgress([OTHER, FIRST]).text()
    done = replace(FIRST, left=())
    assert "The next lesson is “B”." in ShownProgress([done, OTHER]).text()
    assert ShownProgress([done]).text().endswith("→ You have passed all steps of all lessons.")


def test_a_bar_is_full_only_when_all_is_done() -> None:
    shown = ShownProgress([replace(FIRST, written=99, words=100)]).text()
    assert "▰▰▰▰▰▰▰▱ 99 of 100" in shown


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
