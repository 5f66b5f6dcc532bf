"""The lesson and the language that a command line names."""

from __future__ import annotations

from pathlib import Path

from helpers.course import catalogs
from helpers.course.gates import lookup
from helpers.course.syllabus import Course, Folders, Lesson, languages
from helpers.lab.language import SOURCE


class Unknown(LookupError):
    """A lesson or a language that the course does not have, or another wrong choice. The text says what there is."""


def chosen_lesson(course: Course, folders: Folders, wanted: str | None, command: str) -> Lesson:
    """The lesson of this name, number or file. `command` is the name of the make target.

    :raises Unknown: there is none, or none was named.
    """
    if not wanted:
        raise Unknown(f"say which lesson. {_choices(course, folders, command)}")
    for lesson in course.lessons:
        if wanted in (lesson.slug, lesson.folder.name, str(lesson.number), Path(lesson.notebook).stem):
            return lesson
    raise Unknown(f"there is no lesson {wanted!r}. {_choices(course, folders, command)}")


def chosen_language(course: Course, folders: Folders, wanted: str | None, command: str) -> str:
    """A language of the course.

    :raises Unknown: there is none of this code, or none was named.
    """
    if not wanted:
        raise Unknown(f"say which language. {_choices(course, folders, command)}")
    if wanted in languages(folders):
        return wanted
    more = " The notebooks have no English edition." if wanted == SOURCE else ""
    raise Unknown(f"there is no language {wanted!r}.{more} {_choices(course, folders, command)}")


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
    return (
        f"Lessons: {slugs}. Languages: {', '.join(languages(folders))}.\n"
        f"Next: make {command} LESSON={course.lessons[-1].slug} LANG_={languages(folders)[0]}"
    )
