"""The table of the page that leads to the lessons: how far the learner is in each of them."""

from __future__ import annotations

from html import escape
from typing import Any

from helpers.lab import language as languages
from helpers.lab.language import _, ngettext
from helpers.lab.progress import LessonProgress, progress_of
from helpers.show.bundle import bundle
from helpers.show.markup import Cell, Table, page, plain


class ShownProgress:
    """One row for each lesson, in the language in use when it is made: the page has one table for each language."""

    def __init__(self, lessons: list[LessonProgress]) -> None:
        headers = [_("Lesson"), _("Time"), _("Steps passed"), _("Which ones")]
        table = Table(_("Your progress"), headers, [_row(lesson) for lesson in lessons])
        self._text, self._html = table.text(), page([table.html()])

    def text(self) -> str:
        return self._text

    def html(self) -> str:
        return self._html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self)


def progress(language: str) -> ShownProgress:
    """The steps that the learner has passed in the lessons of `language`.

    :raises UnknownLanguage: `language` has no catalog.
    """
    return ShownProgress(progress_of(languages.use(language)))


def _row(lesson: LessonProgress) -> list[Cell]:
    time = ngettext("{minutes} minute", "{minutes} minutes", lesson.minutes)
    return [
        plain(f"{lesson.number}. {lesson.title}"),
        plain(time.format(minutes=lesson.minutes)),
        plain(_("{passed} of {count}").format(passed=len(lesson.passed), count=lesson.steps)),
        Cell("; ".join(lesson.passed), "<br>".join(escape(step) for step in lesson.passed)),
    ]
