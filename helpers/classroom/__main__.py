"""`python -m helpers.classroom`: slides, pages to print, and what `make project` needs before JupyterLab starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from helpers.classroom.choice import Unknown, chosen_editions, chosen_language, chosen_lesson, speak, title_of
from helpers.classroom.handout import for_the_class, for_the_teacher
from helpers.classroom.notes_page import notes_page
from helpers.classroom.paper import NotPrinted, browser, to_pdf
from helpers.classroom.projection import fresh_answers, prepare
from helpers.classroom.slides import slides
from helpers.classroom.stored import stored_notebook
from helpers.classroom.teaching import read_notes
from helpers.copies.notebook_file import NotANotebook
from helpers.course.source import SourceError
from helpers.course.syllabus import HERE, Course, Folders, read_course
from helpers.lab.language import _, use
from helpers.lab.lesson_texts import LessonTexts
from helpers.launcher import words
from helpers.launcher.terminal import complain
from helpers.launcher.troubles import cannot_write, damaged_notebook, missing_of_course
from helpers.launcher.usage import Parser, program


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: done; 1: something is wrong, and was said on stderr."""
    words.choose(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(arguments)
    folders = Folders(options.root.resolve())
    speak(options.language)
    try:
        options.run(options, folders, read_course(folders))
    except (Unknown, SourceError, NotPrinted) as error:
        print(f"Once: {error}", file=sys.stderr)
        return 1
    except NotANotebook as damaged:
        complain(damaged_notebook(folders.root, damaged.path))
        return 1
    except OSError as error:
        refused = missing_of_course(error, folders.root) or cannot_write(error, folders.root)
        if refused is None:
            raise
        complain(refused)
        return 1
    return 0


def write_slides(options: argparse.Namespace, folders: Folders, course: Course) -> None:
    """Write build/slides/<language>/<lesson>.html for the lessons and languages that are wanted."""
    output = options.output or folders.root / "build" / "slides"
    editions = chosen_editions(course, folders, options.lesson, options.language, "slides")
    # All of them first: when one is damaged, none is written.
    stored = [stored_notebook(folders.notebooks / language / lesson.notebook) for lesson, language in editions]
    for (lesson, language), notebook in zip(editions, stored, strict=True):
        use(language)
        page = slides(notebook, title_of(lesson, language), read_notes(lesson))
        path = output / language / f"{Path(lesson.notebook).stem}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8", newline="\n")
        _say(_("Written: {path}").format(path=folders.shown(path)))


def write_handouts(options: argparse.Namespace, folders: Folders, course: Course) -> None:
    """Write build/handouts/<language>/<lesson>.html and <lesson>_teacher.html; as PDF too, where a browser can."""
    output = options.output or folders.root / "build" / "handouts"
    program = browser() if options.pdf else None
    for lesson, language in chosen_editions(course, folders, options.lesson, options.language, "handouts"):
        use(language)
        title, texts, notes = title_of(lesson, language), LessonTexts(lesson.slug), read_notes(lesson)
        for name, edition in (("", for_the_class), ("_teacher", for_the_teacher)):
            path = output / language / f"{Path(lesson.notebook).stem}{name}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(edition(title, texts, notes), encoding="utf-8", newline="\n")
            if program:
                to_pdf(program, path, path.with_suffix(".pdf"))
            written = _("Written: {path} and .pdf") if program else _("Written: {path}")
            _say(written.format(path=folders.shown(path)))
    if options.pdf and not program:
        _say(_("There is no Chromium, Chrome or Edge here to make PDFs. Print the pages from any browser."))


def _say(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    print(f"Once: {text}".encode(encoding, "replace").decode(encoding), flush=True)


def prepare_projection(options: argparse.Namespace, folders: Folders, course: Course) -> None:
    """Write the notebook for the projector and the page of notes; print their places, each as "name TAB place"."""
    lesson = chosen_lesson(course, folders, options.lesson, "project")
    language = chosen_language(course, folders, options.language, "project")
    use(language)
    place = folders.root / "work" / "projection" / language
    copy, kept = prepare(folders.notebooks / language / lesson.notebook, place)
    page = place / f"{copy.stem}.html"
    text = notes_page(title_of(lesson, language), read_notes(lesson))
    page.write_text(text, encoding="utf-8", newline="\n")
    answers, earlier = fresh_answers(place)
    if left := [folders.shown(path) for path in (kept, earlier) if path]:
        print(f"kept\t{', '.join(left)}")
    print(f"answers\t{answers}")
    print(f"notebook\t{folders.shown(copy)}")
    print(f"notes\t{page}")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=program("helpers.classroom"), description=__doc__)
    parser.add_argument("--root", type=Path, default=HERE.root, help="another checkout")
    commands = parser.add_subparsers(required=True)
    pages = commands.add_parser("slides", help="write slides from the stored notebooks")
    pages.set_defaults(run=write_slides)
    pages.add_argument("--output", type=Path, help="another folder than build/slides/")
    paper = commands.add_parser("handouts", help="write pages to print")
    paper.set_defaults(run=write_handouts)
    paper.add_argument("--output", type=Path, help="another folder than build/handouts/")
    paper.add_argument("--no-pdf", dest="pdf", action="store_false", help="only the HTML")
    projection = commands.add_parser("project", help="write what `make project` opens")
    projection.set_defaults(run=prepare_projection)
    for command in (pages, paper, projection):
        command.add_argument("--lesson", help="for example idempotent-consumer")
        command.add_argument("--language", help="for example fr")
    return parser


if __name__ == "__main__":
    sys.exit(main())
