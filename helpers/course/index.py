"""notebooks/index.ipynb, which leads to all lessons, and notebooks/<language>/index.ipynb for readers of one language.

Plain links work in JupyterLab and on GitHub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from babel import Locale, UnknownLocaleError
from nbformat import NotebookNode

from helpers.course import catalogs
from helpers.course.gates import lookup
from helpers.course.notebook import notebook_of
from helpers.course.source import Cell
from helpers.course.syllabus import Course, Folders, Lesson
from helpers.lab.language import read_catalog

PAGE = "index.ipynb"

_PROGRESS = """from helpers.show import progress

progress("{language}")"""


def index_notebook(course: Course, spoken: Sequence[str], folders: Folders) -> NotebookNode:
    """One page for all languages: a section for each, with its lessons, their minutes and the learner's progress."""
    names = " · ".join(f"[{language_name(language)}]({language}/{PAGE})" for language in spoken)
    cells = [Cell("title", "markdown", f"# {course.title}\n\n{names}", {}, 1)]
    for language in spoken:
        name = _cell_id(language)
        text = f"## {language_name(language)}\n\n{section(course, language, folders, f'{language}/')}"
        cells.append(Cell(name, "markdown", text, {}, 1))
        cells.append(_progress_cell(language))
    return notebook_of(cells)


def language_page(course: Course, language: str, spoken: Sequence[str], folders: Folders) -> NotebookNode:
    """The page of one language: what `index_notebook` says in it, and links to the pages of the others."""
    others = " · ".join(f"[{language_name(other)}](../{other}/{PAGE})" for other in spoken if other != language)
    title = f"# {course.title}\n\n{section(course, language, folders, '')}"
    cells = [Cell(_cell_id(language), "markdown", title, {}, 1), _progress_cell(language)]
    if others:
        cells.append(Cell("others", "markdown", others, {}, 1))
    return notebook_of(cells)


def lead_up(page: NotebookNode) -> None:
    """Let the links in the outputs of a page of one language begin at the folder above it, as they do when it runs."""
    for cell in page.cells:
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html")
            if html:
                output["data"] = {**output["data"], "text/html": html.replace('<a href="', '<a href="../')}


def section(course: Course, language: str, folders: Folders, place: str) -> str:
    """The Markdown of one language; the lessons lie in the folder `place` from the page ("fr/")."""
    return "\n".join(_lines(course, language, folders, place))


def language_name(language: str) -> str:
    """What the language calls itself: "Français". A language that babel does not know keeps its code."""
    try:
        name = Locale.parse(language).get_display_name(language) or language
    except (UnknownLocaleError, ValueError):
        return language
    return name[:1].upper() + name[1:]


def _cell_id(language: str) -> str:
    return language.lower().replace("_", "-")


def _progress_cell(language: str) -> Cell:
    return Cell(f"{_cell_id(language)}-progress", "code", _PROGRESS.format(language=language), {}, 1)


def _lines(course: Course, language: str, folders: Folders, place: str) -> Iterator[str]:
    texts = read_catalog(folders.locale / f"{language}.po")
    _, ngettext = texts.gettext, texts.ngettext
    yield _("Choose a lesson. Run its cells from top to bottom.")
    yield ""
    yield f"| {_('Lesson')} | {_('Time')} |"
    yield "| --- | --- |"
    for lesson in course.lessons:
        time = ngettext("{minutes} minute", "{minutes} minutes", lesson.minutes)
        time = time.format(minutes=lesson.minutes)
        yield f"| [{lesson.number}. {_title(lesson, language)}]({place}{lesson.notebook}) | {time} |"
    yield ""
    start, by_hand, partly = menus(_, language)
    yield f"> {start} {by_hand}"
    yield ">"
    yield f"> {partly}"
    yield ""
    yield _("Run this cell to see how far you are.")


def menus(_: Callable[[str], str], language: str) -> tuple[str, str, str]:
    """How JupyterLab's own menus come into the reader's language, and where they do not."""
    return (
        _("**JupyterLab in your language:** start the course with `{make}` (on Windows: `{windows}`).").format(
            make=f"make lab-{language}", windows=f"py -m helpers lab --language {language}"
        ),
        _("Or choose *Settings*, then *Language*, in the menus of JupyterLab, and confirm. The page loads again."),
        _("Some menus may stay in English. Keys work in each language: `Shift`+`Enter` runs a cell."),
    )


def _title(lesson: Lesson, language: str) -> str:
    return lookup(catalogs.read(lesson.catalog(language)))("course:title", lesson.title)
