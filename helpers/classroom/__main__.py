"""`python -m helpers.classroom`: the slides, and what `make project` needs before JupyterLab starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

from helpers.classroom.notes_page import notes_page
from helpers.classroom.projection import fresh_answers, prepare
from helpers.classroom.slides import slides
from helpers.classroom.teaching import read_notes
from helpers.course import catalogs
from helpers.course.gates import lookup
from helpers.course.source import SourceError
from helpers.course.syllabus import HERE, Course, Folders, Lesson, languages, read_course
from helpers.lab.language import SOURCE, use


class Unknown(LookupError):
    """A lesson or a language that the course does not have. The text says which there are."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: done; 1: something is wrong, and was said on stderr."""
    options = _parser().parse_args(arguments)
    folders = Folders(options.root.resolve())
    try:
        options.run(options, folders, read_course(folders))
    except (Unknown, SourceError) as error:
        print(f"Once: {error}", file=sys.stderr)
        return 1
    return 0


def write_slides(options: argparse.Namespace, folders: Folders, course: Course) -> None:
    """Write build/slides/<language>/<lesson>.html for the lessons and languages that are wanted."""
    lessons = [_lesson(course, options.lesson)] if options.lesson else list(course.lessons)
    spoken = [_language(folders, options.language)] if options.language else list(languages(folders))
    output = options.output or folders.root / "build" / "slides"
    for lesson in lessons:
        for language in spoken:
            use(language)
            notebook = nbformat.read(folders.notebooks / language / lesson.notebook, nbformat.NO_CONVERT)
            page = slides(notebook, _title(lesson, language), read_notes(lesson))
            path = output / language / f"{Path(lesson.notebook).stem}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8", newline="\n")
            print(f"Once: wrote {folders.shown(path)}")


def prepare_projection(options: argparse.Namespace, folders: Folders, course: Course) -> None:
    """Write the notebook for the projector and the page of notes; print their places, each as "name TAB place"."""
    if not options.lesson:
        raise Unknown(f"say which lesson. {_choices(folders, course)}")
    if not options.language:
        raise Unknown(f"say which language. {_choices(folders, course)}")
    lesson = _lesson(course, options.lesson, folders)
    language = _language(folders, options.language, course)
    use(language)
    place = folders.root / "work" / "projection" / language
    copy, kept = prepare(folders.notebooks / language / lesson.notebook, place)
    page = place / f"{copy.stem}.html"
    text = notes_page(_title(lesson, language), read_notes(lesson))
    page.write_text(text, encoding="utf-8", newline="\n")
    answers, earlier = fresh_answers(place)
    if left := [folders.shown(path) for path in (kept, earlier) if path]:
        print(f"kept\t{', '.join(left)}")
    print(f"answers\t{answers}")
    print(f"notebook\t{folders.shown(copy)}")
    print(f"notes\t{page}")


def _title(lesson: Lesson, language: str) -> str:
    return lookup(catalogs.read(lesson.catalog(language)))("course:title", lesson.title)


def _lesson(course: Course, wanted: str, folders: Folders = HERE) -> Lesson:
    for lesson in course.lessons:
        if wanted in (lesson.slug, lesson.folder.name, str(lesson.number), Path(lesson.notebook).stem):
            return lesson
    raise Unknown(f"there is no lesson {wanted!r}. {_choices(folders, course)}")


def _language(folders: Folders, wanted: str, course: Course | None = None) -> str:
    if wanted in languages(folders):
        return wanted
    more = " The notebooks have no English edition." if wanted == SOURCE else ""
    raise Unknown(f"there is no language {wanted!r}.{more} {_choices(folders, course or read_course(folders))}")


def _choices(folders: Folders, course: Course) -> str:
    slugs = ", ".join(lesson.slug for lesson in course.lessons)
    return (
        f"Lessons: {slugs}. Languages: {', '.join(languages(folders))}.\n"
        f"Next: make project LESSON={course.lessons[-1].slug} LANG_={languages(folders)[0]}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m helpers.classroom", description=__doc__)
    parser.add_argument("--root", type=Path, default=HERE.root, help="another checkout")
    commands = parser.add_subparsers(required=True)
    pages = commands.add_parser("slides", help="write slides from the stored notebooks")
    pages.set_defaults(run=write_slides)
    pages.add_argument("--output", type=Path, help="another folder than build/slides/")
    projection = commands.add_parser("project", help="write what `make project` opens")
    projection.set_defaults(run=prepare_projection)
    for command in (pages, projection):
        command.add_argument("--lesson", help="for example idempotent-consumer")
        command.add_argument("--language", help="for example fr")
    return parser


if __name__ == "__main__":
    sys.exit(main())
