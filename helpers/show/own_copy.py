"""The learner's own copy of a lesson: whether the lesson has changed since, and a way to start it afresh.

In `notebooks/`, where there is no copy, nothing of this is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets

from helpers.copies.learner import Copies, Copy, NoSuchCopy, opened_page
from helpers.lab.errors import LabError
from helpers.lab.language import _
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.live import root
from helpers.show.markup import box, code, heading, page, paragraph, plain, sign
from helpers.show.note import ShownNote


class NotStartedAfresh(LabError):
    """No new copy was made. The old one is where it was."""


def folder_of_page() -> Path:
    """The folder of the notebook that this kernel belongs to."""
    opened = opened_page()
    return opened if opened.is_dir() else opened.parent


def changed_lesson(lesson: str) -> bool:
    """Whether this notebook is the learner's copy of `lesson`, and of another edition than the course holds now."""
    opened = opened_page()
    folder = folder_of_page()
    copies = Copies.around(folder)
    try:
        copy = None if copies is None else copies.lesson(lesson, folder.name)
        # An earlier copy lies beside it, under another name: the learner knows that it is old.
        return copy is not None and opened in (folder, copy.path) and copy.state == "older"
    except (NoSuchCopy, OSError, ValueError):  # a damaged course must not keep a lesson from opening
        return False


def changed_note() -> list[str]:
    """What to say about it where the lesson is opened."""
    return [
        _("This lesson has changed since your copy was made. Your copy stays as it is."),
        _("You can go on with it. To get the new one, start the lesson afresh on the first page of the course."),
    ]


def start_afresh(copies: Copies, lesson: str, language: str) -> ShownNote:
    """Make a new copy of a lesson, and keep the old one beside it. Gives what to say.

    :raises NotStartedAfresh: there is no such lesson, or the folder cannot be written to.
    """
    try:
        copy = copies.lesson(lesson, language)
        kept = copy.start_afresh()
    except NoSuchCopy as unknown:
        raise NotStartedAfresh(
            _("There is no lesson “{lesson}”. There are these: {known}.").format(
                lesson=unknown.wanted, known=", ".join(unknown.known)
            ),
            _("Nothing was changed."),
            _("Choose one of these names."),
        ) from unknown
    except (OSError, ValueError) as error:
        raise NotStartedAfresh(
            _("The new copy could not be written: {reason}.").format(reason=error),
            _("Your copy is where it was."),
            _("Make room on the disk, or give yourself the right to write in this folder. Then try once more."),
        ) from error
    return ShownNote("✓", "good", list(_done(copy, kept)))


def _done(copy: Copy, kept: Path | None) -> list[str]:
    said = [_("The new copy is ready: `{file}`. Open it from the table of lessons.").format(file=copy.path.name)]
    if kept is not None:
        said.append(_("Your earlier copy is beside it: `{file}`.").format(file=kept.name))
    said.append(_("Your answers and your progress are as they were."))
    return said


class StartAfresh:
    """The lessons of one language, each with a button. `call`: what to type in a cell instead, for a lesson's slug."""

    def __init__(
        self, titles: Mapping[str, str], call: Callable[[str], str], start: Callable[[str], ShownNote]
    ) -> None:
        self._titles = dict(titles)
        self._call = call
        self._start = start

    @property
    def widget(self) -> ipywidgets.Widget:
        """The live buttons. A second press on the same one starts the lesson afresh."""
        return _LiveAfresh(self._titles, self._start).root

    def text(self) -> str:
        calls = [f"  {title}: {self._call(slug)}" for slug, title in self._titles.items()]
        return "\n".join([_("Start a lesson afresh"), f"  {_advice()}", *calls])

    def html(self) -> str:
        calls = "".join(
            f"<li>{plain(title).html}<br>{code(self._call(slug)).html}</li>" for slug, title in self._titles.items()
        )
        listed = f'<ul style="margin:.2em 0;padding-left:1.5em">{calls}</ul>'
        return page([heading(_("Start a lesson afresh")), paragraph(plain(_advice())), listed])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)


def _advice() -> str:
    return _("You get a new copy of the lesson. The old one stays beside it, with its date. Answers and progress stay.")


class _LiveAfresh:
    """The widgets: a button for each lesson, and what is said below them."""

    def __init__(self, titles: Mapping[str, str], start: Callable[[str], ShownNote]) -> None:
        # anywidget is only needed by a live page, and importing it takes its time.
        from helpers.show.choices import Choices

        self._slugs = list(titles)
        self._start = start
        self._asked: str | None = None
        self._choices = Choices(
            label=_("Start a lesson afresh"),
            choices=[plain(title).html for title in titles.values()],
            yours=f"✎\u00a0{_('press once more')}",
        )
        self._choices.on_choice(shown_errors(self._show)(self._press))
        opening = heading(_("Start a lesson afresh")) + paragraph(plain(_advice()))
        self.root = root(opening, [self._choices])

    def _press(self, number: int) -> None:
        slug = self._slugs[number - 1]
        if slug != self._asked:
            self._asked = slug
            self._show(page([box("open", sign("!") + plain(_question()).html)]))
            return
        self._asked = None
        self._choices.show(chosen=0)
        self._show(self._start(slug).html())

    def _show(self, html: str) -> None:
        self._choices.show(said=html)


def _question() -> str:
    return _("Save and close the page of this lesson, if it is open. Then press the same button once more.")
