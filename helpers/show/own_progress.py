"""On the page that leads to the lessons: how far the learner is in each of them.

Each number has a bar of signs beside it, which says the same again: nothing depends on a colour. It is made from the
answers each time the cell runs. As text it is a table; as HTML a list, whose numbers wrap in a narrow pane.
"""

from __future__ import annotations

from html import escape
from typing import Any

from helpers.lab import language as languages
from helpers.lab.language import _, labelled
from helpers.lab.progress import LessonProgress, progress_of
from helpers.show.bundle import bundle
from helpers.show.markup import Cell, Table, box, heading, page, plain, sign

_BAR = 8
"""Signs in a bar."""


class ShownProgress:
    """One entry for each lesson, in the language in use when it is made: the page has one for each language."""

    def __init__(self, lessons: list[LessonProgress]) -> None:
        measures = [_("Steps passed"), _("Examples written"), _("Predictions made")]
        title, advice = _("Your progress"), _advice(lessons)
        table = Table(title, [_("Lesson"), *measures], [_row(lesson) for lesson in lessons])
        self._text = f"{table.text()}\n→ {advice}"
        entries = "".join(_entry(lesson, measures) for lesson in lessons)
        listed = f'<ul style="list-style:none;margin:.3em 0;padding:0">{entries}</ul>'
        self._html = page([heading(title), listed, box("calm", sign("→") + plain(advice).html)])

    def text(self) -> str:
        return self._text

    def html(self) -> str:
        return self._html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self)


def progress(language: str) -> ShownProgress:
    """What the learner has done in the lessons of `language`. The links begin at the folder above the lessons.

    :raises UnknownLanguage: `language` has no catalog.
    """
    return ShownProgress(progress_of(languages.use(language)))


def _advice(lessons: list[LessonProgress]) -> str:
    """What to do next, in one or two sentences."""
    if not any(lesson.begun for lesson in lessons):
        return _("Nothing is here yet. Open the first lesson and run its cells from the top. Then run this cell again.")
    # The lesson that was begun comes before one that was not, whatever their order is.
    waiting = [lesson for lesson in lessons if not lesson.done]
    going_on = next((lesson for lesson in waiting if lesson.begun), waiting[0] if waiting else None)
    if going_on is None:
        return _("You have passed all steps of all lessons.")
    if not going_on.begun:
        return _("The next lesson is “{lesson}”.").format(lesson=going_on.title)
    return _("Go on with the lesson “{lesson}”. Its next step is “{step}”.").format(
        lesson=going_on.title, step=going_on.left[0]
    )


def _row(lesson: LessonProgress) -> list[Cell]:
    mark, words = _state(lesson)
    bars = [plain(f"{_bar(done, total)} {_counted(done, total)}") for done, total in _numbers(lesson)]
    return [plain(f"{lesson.number}. {lesson.title} ({mark} {words})"), *bars]


def _entry(lesson: LessonProgress, measures: list[str]) -> str:
    title = escape(f"{lesson.number}. {lesson.title}")
    link = f'<a href="{escape(lesson.notebook)}" style="color:var(--jp-content-link-color,#1565c0)">{title}</a>'
    mark, words = _state(lesson)
    numbers = "".join(
        f'<span style="flex:1 1 11em">{escape(labelled(measure, _counted(done, total)))}<br>'
        f'<span aria-hidden="true" style="letter-spacing:.05em">{_bar(done, total)}</span></span>'
        for measure, (done, total) in zip(measures, _numbers(lesson), strict=True)
    )
    return (
        '<li style="margin:0;padding:.6em 0;border-top:1px solid var(--jp-border-color1,#bdbdbd)">'
        f'<strong>{link}</strong> · <span style="white-space:nowrap">{sign(mark)}{escape(words)}</span>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.3em 1.5em;margin:.3em 0 0">{numbers}</div></li>'
    )


def _numbers(lesson: LessonProgress) -> list[tuple[int, int]]:
    steps = len(lesson.passed) + len(lesson.left)
    return [(len(lesson.passed), steps), (lesson.written, lesson.words), (lesson.predicted, lesson.predictions)]


def _state(lesson: LessonProgress) -> tuple[str, str]:
    if lesson.done:
        return "✓", _("all steps passed")
    return ("◐", _("begun")) if lesson.begun else ("○", _("not begun"))


def _counted(done: int, total: int) -> str:
    return _("{passed} of {count}").format(passed=done, count=total)


def _bar(done: int, total: int) -> str:
    """A bar that is only full when all is done, and only empty when nothing is."""
    filled = done * _BAR // total if total else 0
    filled = min(max(filled, 1), _BAR - 1) if 0 < done < total else filled
    return "▰" * filled + "▱" * (_BAR - filled)
