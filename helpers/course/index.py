"""notebooks/index.ipynb: choose a language and a lesson. Plain links work in JupyterLab and on GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babel import Locale, UnknownLocaleError
from nbformat import NotebookNode

from helpers.course import catalogs
from helpers.course.gates import lookup
from helpers.course.notebook import notebook_of
from helpers.course.source import Cell
from helpers.course.syllabus import Course, Folders, Lesson
from helpers.lab.language import read_catalog

_PROGRESS = """from helpers.show import progress

progress("{language}")"""


def index_notebook(course: Course, spoken: Sequence[str], folders: Folders) -> NotebookNode:
    """One page for all languages: a section for each, with its lessons, their minutes and the learner's progress."""
    names = " · ".join(language_name(language) for language in spoken)
    cells = [Cell("title", "markdown", f"# {course.title}\n\n{names}", {}, 1)]
    for language in spoken:
        name = language.lower().replace("_", "-")
        cells.append(Cell(name, "markdown", section(course, language, folders), {}, 1))
        cells.append(Cell(f"{name}-progress", "code", _PROGRESS.format(language=language), {}, 1))
    return notebook_of(cells)


def section(course: Course, language: str, folders: Folders) -> str:
    """The Markdown of one language."""
    return "\n".join(_lines(course, language, folders))


def language_name(language: str) -> str:
    """What the language calls itself: "Français". A language that babel does not know keeps its code."""
    try:
        name = Locale.parse(language).get_display_name(language) or language
    except (UnknownLocaleError, ValueError):
        return language
    return name[:1].upper() + name[1:]


def _lines(course: Course, language: str, folders: Folders) -> Iterator[str]:
    texts = read_catalog(folders.locale / f"{language}.po")
    _, ngettext = texts.gettext, texts.ngettext
    yield f"## {language_name(language)}"
    yield ""
    yield _("Choose a lesson. Run its cells from top to bottom.")
    yield ""
    yield f"| {_('Lesson')} | {_('Time')} |"
    yield "| --- | --- |"
    for lesson in course.lessons:
        time = ngettext("{minutes} minute", "{minutes} minutes", lesson.minutes)
        time = time.format(minutes=lesson.minutes)
        yield f"| [{lesson.number}. {_title(lesson, language)}]({language}/{lesson.notebook}) | {time} |"
    yield ""
    yield _("Run this cell to see how far you are.")


def _title(lesson: Lesson, language: str) -> str:
    return lookup(catalogs.read(lesson.catalog(language)))("course:title", lesson.title)
