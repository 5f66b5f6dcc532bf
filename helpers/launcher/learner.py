"""The learner's copies, as the launcher makes them: before JupyterLab opens, and afresh when the learner asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.copies.learner import PAGE, STORED, Copies, Copy, NoSuchCopy
from helpers.copies.notebook_file import NotANotebook
from helpers.launcher.environment import Environment
from helpers.launcher.jupyter import View, chosen_language, known_languages
from helpers.launcher.terminal import Trouble, command, say
from helpers.launcher.troubles import bring_back, damaged_notebook, missing_file
from helpers.launcher.words import _


def course_view(environment: Environment, language: str | None) -> View:
    """Make the copies and say which lessons have changed; what JupyterLab then opens is a copy.

    :raises Trouble: a file of the course is missing or damaged.
    :raises OSError: the folder work cannot be written to, or the disk is full.
    """
    copies = Copies(environment.root)
    _expect_file(environment, f"{STORED}/{PAGE}")
    with _explained(environment.root):
        changed = copies.refresh()
    for copy in changed:
        say(_announcement(environment, copy))
    return View(page=copies.page(language))


def start_afresh(environment: Environment, lesson: str | None, language: str | None) -> None:
    """Make a new copy of a lesson; the old one is kept beside it.

    :raises Trouble: there is no such lesson or language, or a file of the course is missing or damaged.
    :raises OSError: the folder work cannot be written to, or the disk is full.
    """
    copies = Copies(environment.root)
    with _explained(environment.root):
        lessons, languages = tuple(copies.lessons), known_languages(environment)
        example = command("fresh", lesson=lessons[-1] if lessons else "", language=languages[0] if languages else "")
        if lesson is None or language is None:
            raise Trouble(
                _("Say which lesson, and in which language."), _("For example: `{command}`.").format(command=example)
            )
        try:
            copy = copies.lesson(lesson, chosen_language(environment, language, "fresh", lesson=lesson))
        except NoSuchCopy as unknown:
            raise Trouble(
                _("There is no lesson “{lesson}”. There are these: {known}.").format(
                    lesson=lesson, known=", ".join(unknown.known)
                ),
                _("Choose one of these lessons, for example `{command}`.").format(command=example),
            ) from unknown
        _expect_file(environment, _shown(environment, copy.stored))
        kept = copy.start_afresh()
    if kept is not None:
        say(_("Your earlier copy is kept: {file}").format(file=_shown(environment, kept)))
    say(_("The new copy is ready: {file}").format(file=_shown(environment, copy.path)))
    say(_("Your answers and your progress are as they were."))


def _announcement(environment: Environment, copy: Copy) -> str:
    text = (
        _("Your copy {file} is damaged. It stays as it is. To start this lesson afresh: `{command}`.")
        if copy.state == "unreadable"
        else _("A lesson has changed. Your copy {file} stays as it is. To start this lesson afresh: `{command}`.")
    )
    afresh = command("fresh", lesson=copy.lesson, language=copy.language)
    return text.format(file=_shown(environment, copy.path), command=afresh)


def _expect_file(environment: Environment, name: str) -> None:
    if not (environment.root / name).is_file():
        raise missing_file(environment.root, name)


@contextmanager
def _explained(root: Path) -> Iterator[None]:
    try:
        yield
    except NotANotebook as damaged:
        raise damaged_notebook(root, damaged.path) from damaged
    except (ValueError, FileNotFoundError) as error:
        raise Trouble(
            _("A file of the course is damaged or missing: {reason}.").format(reason=error),
            bring_back(root, "lessons", "notebooks"),
        ) from error


def _shown(environment: Environment, path: Path) -> str:
    return path.relative_to(environment.root).as_posix()
