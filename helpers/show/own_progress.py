"""The table of the page that leads to the lessons: how far the learner is in each of them.

Each number has a bar of signs beside it, which says the same again: nothing depends on a colour. The table is made
from the answers each time the cell runs.
"""

from __future__ import annotations

from html import escape
from typing import Any

from helpers.lab import language as languages
from helpers.lab.language import _
from helpers.lab.progress import LessonProgress, progress_of
from helpers.show.bundle import bundle
from helpers.show.markup import Cell, Table, box, page, paragraph, plain, sign

_BAR = 8
"""Signs in a bar."""


class ShownProgress:
    """One row for each lesson, in the language in use when it is made: the page has one table for each language."""

    def __init__(self, lessons: list[LessonProgress]) -> None:
        headers = [_("Lesson"), _("Steps passed"), _("Examples written"), _("Predictions made")]
        self._table = Table(_("Your progress"), headers, [_row(lesson) for lesson in lessons])
        self._advice = _advice(lessons)
        self._html = page([self._table.html(), box("calm", sign("→") + plain(self._advice).html)])

    def text(self) -> str:
        return f"{self._table.text()}\n→ {self._advice}"

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
        return _("Go on with the lesson “{lesson}”.").format(lesson=going_on.title)
    return _("Go on with the lesson “{lesson}”. Its next step is “{step}”.").format(
        lesson=going_on.title, step=going_on.left[0]
    )


def _row(lesson: LessonProgress) -> list[Cell]:
    title = f"{lesson.number}. {lesson.title}"
    link = f'<a href="{escape(lesson.notebook)}" style="color:var(--jp-content-link-color,#1565c0)">{escape(title)}</a>'
    mark, words = _state(lesson)
    state = plain(words)
    return [
        Cell(f"{title} ({mark} {words})", link + paragraph(Cell(state.text, sign(mark) + state.html))),
        _measured(len(lesson.passed), len(lesson.passed) + len(lesson.left)),
        _measured(lesson.written, lesson.words),
        _measured(lesson.predicted, lesson.predictions),
    ]


def _state(lesson: LessonProgress) -> tuple[str, str]:
    if lesson.done:
        return "✓", _("all steps passed")
    return ("◐", _("begun")) if lesson.begun else ("○", _("not begun"))


def _measured(done: int, total: int) -> Cell:
    """A number in words, and a bar that shows it. The bar is only full when all is done, only empty when nothing is."""
    filled = done * _BAR // total if total else 0
    filled = min(max(filled, 1), _BAR - 1) if 0 < done < total else filled
    bar = "▰" * filled + "▱" * (_BAR - filled)
    words = _("{passed} of {count}").format(passed=done, count=total)
    drawn = f'<span aria-hidden="true" style="white-space:nowrap;letter-spacing:.05em">{bar}</span>'
    return Cell(f"{bar} {words}", f'<span style="white-space:nowrap">{escape(words)}</span><br>{drawn}')
