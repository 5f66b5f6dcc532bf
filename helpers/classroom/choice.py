"""The lesson and the language that a command line names."""

from __future__ import annotations

from pathlib import Path

from helpers.course import catalogs
from helpers.course.gates import lookup
from helpers.course.syllabus import Course, Folders, Lesson, languages
from helpers.lab.language import SOURCE, _, known_languages, use
from helpers.launcher import words
from helpers.launcher.terminal import command as typed


class Unknown(LookupError):
    """A lesson or a language that the course does not have, or another wrong choice. The text says what there is."""


def speak(wanted: str | None) -> None:
    """Say what is wrong in the language that a command line names, where the course has it; else in the system's."""
    words.choose(["--language", wanted or ""])
    if wanted in known_languages():
        use(wanted)


def chosen_lesson(course: Course, folders: Folders, wanted: str | None, command: str) -> Lesson:
    """The lesson of this name, number or file. `command` is the name of the make target.

    :raises Unknown: there is none, or none was named.
    """
    if not wanted:
        raise Unknown(f"{_('Say which lesson.')} {_choices(course, folders, command)}")
    for lesson in course.lessons:
        if wanted in (lesson.slug, lesson.folder.name, str(lesson.number), Path(lesson.notebook).stem):
            return lesson
    missing = _("There is no lesson `{name}`.").format(name=wanted)
    raise Unknown(f"{missing} {_choices(course, folders, command)}")


def chosen_language(course: Course, folders: Folders, wanted: str | None, command: str) -> str:
    """A language of the course.

    :raises Unknown: there is none of this code, or none was named.
    """
    if not wanted:
        raise Unknown(f"{_('Say which language.')} {_choices(course, folders, command)}")
    if wanted in languages(folders):
        return wanted
    missing = _("There is no language `{name}`.").format(name=wanted)
    more = " " + _("The notebooks have no English edition.") if wanted == SOURCE else ""
    raise Unknown(f"{missing}{more} {_choices(course, folders, command)}")


def chosen_editions(
    course: Course, folders: Folders, lesson: str | None, language: str | None, command: str
) -> list[tuple[Lesson, str]]:
    """All editions that are wanted: of each lesson, in each language, where none is named.

    :raises Unknown: a name that the course does not have.
    """
    lessons = [chosen_lesson(course, folders, lesson, command)] if lesson else course.lessons
    spoken = [chosen_language(course, folders, language, command)] if language else languages(folders)
    return [(one, code) for one in lessons for code in spoken]


def title_of(lesson: Lesson, language: str) -> str:
    """The title of a lesson in a language."""
    return lookup(catalogs.read(lesson.catalog(language)))("course:title", lesson.title)


def _choices(course: Course, folders: Folders, command: str) -> str:
    slugs = ", ".join(lesson.slug for lesson in course.lessons)
    there = _("Lessons: {lessons}. Languages: {languages}.")
    example = typed(command, lesson=course.lessons[-1].slug, language=languages(folders)[0])
    next_step = _("Next: {step}").format(step=example)
    return f"{there.format(lessons=slugs, languages=', '.join(languages(folders)))}\n{next_step}"
