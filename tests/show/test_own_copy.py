"""A learner's copy says when its lesson has changed; the first page lets a lesson begin afresh."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from helpers.copies.learner import Copies
from helpers.lab.answers import Answers
from helpers.lab.progress import remember
from helpers.show import own_progress, progress
from helpers.show.own_copy import NotStartedAfresh, StartAfresh, changed_lesson, changed_note
from helpers.show.ready import Ready
from tests.copies.conftest import run_all, type_into
from tests.show.shown import Outline, enter

ROOT = Path(__file__).resolve().parents[2]
LESSON = "02_idempotent_consumer.ipynb"


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copies:
    """The learner's copies of the real course, in a kernel that was started in work/fr."""
    root = tmp_path / "once"
    (root / "lessons").mkdir(parents=True)
    shutil.copy(ROOT / "lessons" / "course.toml", root / "lessons")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    result = Copies(root)
    result.refresh()
    monkeypatch.setenv("ONCE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(root / "work" / "fr")
    return result


def change(copies: Copies) -> None:
    """The learner works in the copy; then the course brings another edition."""
    run_all(copies.root / "work" / "fr" / LESSON)
    type_into(copies.root / "notebooks" / "fr" / LESSON, "new")


def test_a_changed_lesson_is_known_where_it_is_opened(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not changed_lesson("idempotent-consumer")
    change(copies)
    assert changed_lesson("idempotent-consumer")
    assert not changed_lesson("order-file")
    assert not changed_lesson("no-such-lesson")
    copy = copies.root / "work" / "fr" / LESSON
    monkeypatch.setenv("JPY_SESSION_NAME", str(copy))
    assert changed_lesson("idempotent-consumer")
    earlier = shutil.copy(copy, copy.with_name("02_idempotent_consumer_2030-01-02.ipynb"))
    monkeypatch.setenv("JPY_SESSION_NAME", str(earlier))
    assert not changed_lesson("idempotent-consumer"), "an earlier copy is known to be old"
    monkeypatch.setenv("JPY_SESSION_NAME", str(copies.root / "notebooks" / "fr" / LESSON))
    assert not changed_lesson("idempotent-consumer"), "the course's own notebook"


def test_a_damaged_course_keeps_no_lesson_from_opening(copies: Copies) -> None:
    change(copies)
    (copies.root / "lessons" / "course.toml").write_text("[", encoding="utf-8")
    assert not changed_lesson("idempotent-consumer")
    assert type(progress("fr")) is own_progress.ShownProgress


def test_the_box_that_says_it() -> None:
    shown = Ready("Ready.", changed_note())
    assert shown.text().splitlines()[:2] == [
        "✓ Ready.",
        "! This lesson has changed since your copy was made. Your copy stays as it is.",
    ]
    assert Outline(shown.html()).words[-2:] == changed_note()
    assert Ready("Ready.").text() == "✓ Ready."


def test_the_page_of_progress_says_it_and_starts_afresh(copies: Copies) -> None:
    change(copies)
    remember(Answers("idempotent-consumer", "fr"), "connect")
    page = progress("fr")
    assert page.text().count("\n! ") == 1
    assert "\n! 2. " in page.text()
    links = [link["href"] for link in Outline(page.html()).all("a")]
    assert links[1] == f"../fr/{LESSON}"
    before = page.text().replace("\n! ", "\n")
    said = page.afresh("idempotent-consumer")
    assert LESSON in said.text()
    [kept] = (copies.root / "work" / "fr").glob("02_*_20*.ipynb")
    assert kept.name in said.text()
    again = progress("fr").text()
    assert "\n! " not in again
    assert again.splitlines()[:4] == before.splitlines()[:4], "progress is as it was"
    assert copies.lesson("2", "fr").state == "current"


def test_links_of_a_page_above_the_languages(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copies.root / "work")
    assert [link["href"] for link in Outline(progress("ru").html()).all("a")][1] == f"ru/{LESSON}"


@pytest.mark.parametrize("folder", ["notebooks", "notebooks/fr"])
def test_the_courses_own_pages_have_no_buttons(copies: Copies, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    change(copies)
    monkeypatch.chdir(copies.root / folder)
    page = progress("fr")
    assert not hasattr(page, "_ipython_display_")
    assert "\n! " not in page.text()
    with pytest.raises(NotStartedAfresh):
        page.afresh("order-file")


@pytest.mark.parametrize("lesson", ["nothing", ""])
def test_a_wrong_lesson(copies: Copies, lesson: str) -> None:
    with pytest.raises(NotStartedAfresh) as wrong:
        progress("fr").afresh(lesson)
    assert "order-file, idempotent-consumer, protected-workflow" in str(wrong.value)


def test_a_folder_that_takes_nothing(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    from helpers.copies import copying

    def refuse(path: Path, notebook: object) -> None:
        raise PermissionError(13, "refused", str(path))

    change(copies)
    before = (copies.root / "work" / "fr" / LESSON).read_bytes()
    monkeypatch.setattr(copying, "write", refuse)
    with pytest.raises(NotStartedAfresh) as error:
        progress("fr").afresh("2")
    assert error.value.meaning
    assert error.value.advice
    assert (copies.root / "work" / "fr" / LESSON).read_bytes() == before


def test_a_lesson_begins_afresh_at_the_second_press(no_widgets: None) -> None:
    started: list[str] = []

    def start(slug: str) -> Ready:
        started.append(slug)
        return Ready(f"{slug} is new.")

    control = StartAfresh({"a": "1. A", "b": "2. B"}, lambda slug: f'afresh("{slug}")', start)
    choices = control.widget.children[1]

    def press(number: int) -> None:
        enter(choices, {"number": number})

    press(1)
    assert "Save and close" in choices.said
    press(2)
    assert "Save and close" in choices.said
    assert started == [], "two buttons, one press each"
    press(2)
    assert started == ["b"]
    assert "b is new." in choices.said
    assert choices.chosen == 0
    press(2)
    assert started == ["b"], "a third press asks again"
    assert 'afresh("b")' in control.text()
    assert 'afresh("b")' in Outline(control.html()).words
