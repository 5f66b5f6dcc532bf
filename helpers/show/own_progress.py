"""On the page that leads to the lessons: how far the learner is in each of them.

Each number has a bar of signs beside it, which says the same again: nothing depends on a colour. It is made from the
answers each time the cell runs. As text it is a table; as HTML a list, whose numbers wrap in a narrow pane.

Among the learner's copies it also says which lessons have changed, and lets a lesson begin afresh.
"""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from html import escape
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from helpers.copies.learner import Copies, NoSuchCopy
from helpers.lab import language as languages
from helpers.lab.language import _, labelled
from helpers.lab.progress import LessonProgress, progress_of
from helpers.show import formatters
from helpers.show.bundle import bundle
from helpers.show.markup import Cell, Table, box, heading, page, plain, sign
from helpers.show.note import ShownNote
from helpers.show.own_copy import NotStartedAfresh, StartAfresh, folder_of_page, start_afresh

_BAR = 8
"""Signs in a bar."""


class ShownProgress:
    """One entry for each lesson, in the language in use when it is made: the page has one for each language.

    `place` leads from the page to the folder above the lessons. `changed`: numbers of the lessons that have changed
    since the learner's copies were made.
    """

    def __init__(self, lessons: list[LessonProgress], place: str = "", changed: Container[int] = ()) -> None:
        measures = [_("Steps passed"), _("Examples written"), _("Predictions made")]
        title, advice = _("Your progress"), _advice(lessons)
        table = Table(title, [_("Lesson"), *measures], [_row(lesson) for lesson in lessons])
        notes = [f"! {lesson.number}. {_changed()}" for lesson in lessons if lesson.number in changed]
        self._text = "\n".join([table.text(), *notes, f"→ {advice}"])
        entries = "".join(_entry(lesson, measures, place, lesson.number in changed) for lesson in lessons)
        listed = f'<ul style="list-style:none;margin:.3em 0;padding:0">{entries}</ul>'
        self._html = page([heading(title), listed, box("calm", sign("→") + plain(advice).html)])

    def text(self) -> str:
        return self._text

    def html(self) -> str:
        return self._html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self)

    def afresh(self, lesson: str) -> ShownNote:
        """A new copy of a lesson, called by its slug or its number; the old copy is kept beside it, with its date.

        :raises NotStartedAfresh: this page is not among the learner's copies; there is no such lesson; or the folder
            cannot be written to.
        """
        raise NotStartedAfresh(
            _("This page belongs to the course itself, and not to your copies."),
            _("Nothing was changed."),
            _("Start the course with `{command}`: then you work in copies.").format(command="python -m helpers lab"),
        )


class OwnProgress(ShownProgress):
    """The same among the learner's copies, with a button for each lesson."""

    def __init__(self, lessons: list[LessonProgress], place: str, copies: Copies, language: str) -> None:
        own = {lesson.number: copies.lesson(str(lesson.number), language) for lesson in lessons}
        super().__init__(lessons, place, {number for number, copy in own.items() if copy.state == "older"})
        self._copies, self._language = copies, language
        self._controls = StartAfresh(
            {own[lesson.number].lesson: f"{lesson.number}. {lesson.title}" for lesson in lessons},
            lambda slug: f'progress("{language}").afresh("{slug}")',
            self.afresh,
        )

    def afresh(self, lesson: str) -> ShownNote:
        languages.use(self._language)  # the page that leads to all lessons speaks several
        return start_afresh(self._copies, str(lesson), self._language)

    def _ipython_display_(self) -> None:
        # Two outputs: JupyterLab leads the links of HTML to their places, and those of a widget to nowhere.
        display(bundle(self), raw=True)
        display(self._controls)


def progress(language: str) -> ShownProgress:
    """What the learner has done in the lessons of `language`.

    :raises UnknownLanguage: `language` has no catalog.
    """
    lessons = progress_of(languages.use(language))
    shell = get_ipython()
    if shell is not None:
        formatters.install(shell)
    folder = folder_of_page()
    place = "" if folder.name not in languages.known_languages() else "../"
    copies = Copies.around(folder)
    if copies is not None:
        with suppress(NoSuchCopy, OSError, ValueError):  # a damaged course: the progress at least
            return OwnProgress(lessons, place, copies, languages.current())
    return ShownProgress(lessons, place)


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


def _changed() -> str:
    return _("This lesson has changed since your copy was made. Your copy stays as it is.")


def _entry(lesson: LessonProgress, measures: list[str], place: str, changed: bool) -> str:
    title = escape(f"{lesson.number}. {lesson.title}")
    note = box("open", sign("!") + plain(_changed()).html) if changed else ""
    link = f'<a href="{escape(place + lesson.notebook)}" style="color:var(--jp-content-link-color,#1565c0)">{title}</a>'
    mark, words = _state(lesson)
    numbers = "".join(
        f'<span style="flex:1 1 11em">{escape(labelled(measure, _counted(done, total)))}<br>'
        f'<span aria-hidden="true" style="letter-spacing:.05em">{_bar(done, total)}</span></span>'
        for measure, (done, total) in zip(measures, _numbers(lesson), strict=True)
    )
    return (
        '<li style="margin:0;padding:.6em 0;border-top:1px solid var(--jp-border-color1,#bdbdbd)">'
        f'<strong>{link}</strong> · <span style="white-space:nowrap">{sign(mark)}{escape(words)}</span>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.3em 1.5em;margin:.3em 0 0">{numbers}</div>{note}</li>'
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
