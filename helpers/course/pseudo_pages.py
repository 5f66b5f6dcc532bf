"""`python -m helpers.course.pseudo_pages`: what the course shows outside of notebooks, in the language in use.

Worksheets, notes, slides, the report of an experiment, the doctor's lines and the launcher's troubles, as one JSON
object on stdout, for `pseudo.unseen_pages`: it runs this module in a copy of the course in the pseudo-language.
"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from nbformat.v4 import new_notebook

from helpers.classroom.choice import title_of
from helpers.classroom.handout import for_the_class, for_the_teacher
from helpers.classroom.notes_page import notes_page
from helpers.classroom.slides import slides
from helpers.classroom.teaching import read_notes
from helpers.course.index import section
from helpers.course.pseudo import INDEX
from helpers.course.syllabus import HERE, Folders, Lesson, read_course
from helpers.grid.plan import read_experiment, runs
from helpers.grid.report import report_page
from helpers.grid.results import Row
from helpers.lab.language import use
from helpers.lab.lesson_texts import LessonTexts
from helpers.launcher import doctor, troubles, words
from helpers.launcher.jupyter import FIRST_PORT
from helpers.launcher.terminal import Trouble

_MOST_MB = 10**12
"""More than a disk has."""


def pages(language: str, folders: Folders = HERE) -> Iterator[tuple[str, str]]:
    """(name, HTML or lines) of each."""
    use(language)
    course = read_course(folders)
    yield INDEX, section(course, language, folders, "")
    for lesson in course.lessons:
        texts, notes = LessonTexts(lesson.slug), read_notes(lesson)
        title = title_of(lesson, language)
        yield f"{lesson.slug}, worksheet", for_the_class(title, texts, notes)
        yield f"{lesson.slug}, worksheet with answers", for_the_teacher(title, texts, notes)
        yield f"{lesson.slug}, notes", notes_page(title, notes)
        yield f"{lesson.slug}, slides", slides(new_notebook(), title, notes)  # `unseen` looks at the cells
        yield f"{lesson.slug}, report of an experiment", _report(lesson, title)
    words.choose(["--language", language])
    yield "doctor", "\n".join(finding.lines() for finding in _findings(folders.root))
    yield "launcher", "\n".join(f"{trouble.what}\n{trouble.next_step}" for trouble in _troubles(folders.root))


def _report(lesson: Lesson, title: str) -> str:
    """A report of runs that were never made: one is right, one writes twice, one went wrong, the rest is missing."""
    grid = read_experiment(lesson).grid
    planned = runs(grid, "")
    counted = {"sent": 1, "executions": 1, "runs": 2, "failed_runs": 1, "refused": 1, "dead_lettered": 1, "orders": [1]}
    rows = [
        Row(planned[0].values, "a.ipynb", {**counted, "accepted": 1}, "", 1),
        Row(planned[1].values, "b.ipynb", {**counted, "accepted": 2}, "", 1),
        Row(planned[2].values, "c.ipynb", {}, "`ValueError`", 1),
    ]
    return report_page(title, title, grid, rows, len(planned))


def _findings(root: Path) -> Iterator[doctor.Finding]:
    yield doctor.disk(root, 0)
    yield doctor.disk(root, _MOST_MB)
    yield from doctor.folders(root)
    yield doctor.venv_module()
    yield doctor.port(FIRST_PORT)
    yield doctor.browser()
    yield doctor.git(root)


def _troubles(root: Path) -> Iterator[Trouble]:
    yield troubles.no_venv_module()
    for output in ("No space left on device", "CERTIFICATE_VERIFY_FAILED", "Max retries exceeded", "hash mismatch", ""):
        yield troubles.failed_set_up("", output, root)
    for number in (errno.ENOSPC, errno.EACCES):
        if trouble := troubles.cannot_write(OSError(number, "`E`", str(root / "a")), root):
            yield trouble


if __name__ == "__main__":
    json.dump(dict(pages(sys.argv[1])), sys.stdout)
