"""The pseudo-language: every text in ⟦brackets⟧. What a notebook shows outside of them, no translator saw.

`unseen` looks at the cells of a lesson; `pseudo_run` runs lessons in the pseudo-language, and `unseen_outputs` looks at
what the helpers show there; `unseen_pages` looks at what is shown outside of notebooks. None of them sees what only a
browser's script writes, what a lesson shows only after a mistake, or an error that nobody makes here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from pathlib import Path

from nbformat import NotebookNode

from helpers.course import catalogs
from helpers.course.blocks import markdown
from helpers.course.comments import code_pieces, comment_pieces
from helpers.course.entries import Entry, lesson_entries, translated
from helpers.course.exceptions import Exceptions, read_exceptions
from helpers.course.execute import AT_ONCE, environment, execute
from helpers.course.inline import inline
from helpers.course.messages import helper_entries
from helpers.course.notebook import lesson_notebook
from helpers.course.outputs import words_shown
from helpers.course.pieces import WORD
from helpers.course.source import Cell, LessonSource, read_lesson
from helpers.course.syllabus import Folders, Lesson, read_course

# babel must know it, for its plurals and numbers, and the course must not have it: Esperanto.
LANGUAGE = "eo"

INDEX = "index"
"""The one page that is Markdown."""

_MARKED = re.compile(r"⟦[^⟦⟧]*⟧")
_READ_ALOUD = re.compile(r"""\b(?:aria-label|title|alt|placeholder)=(["'])(.*?)\1""", re.DOTALL)
_COMMENTED = {"python": "python", "py": "python", "ipython3": "python", "bash": "shell", "sh": "shell"}


def in_brackets(context: str, text: str) -> str:
    """A translation into the pseudo-language."""
    return f"⟦{text}⟧"


def unseen(source: LessonSource) -> Iterator[tuple[str, str]]:
    """(cell id, words) for each text that reaches the notebook without passing through a catalog."""
    for cell in translated(source, in_brackets):
        for words in unseen_in(cell):
            yield cell.id, words


def unseen_in(cell: Cell) -> Iterator[str]:
    """The words of a cell in the pseudo-language that are not in brackets."""
    if cell.kind == "code":
        unmarked = replace(cell, source=_without_marked(cell.source))
        yield from (piece.text for piece in code_pieces(unmarked.source) if WORD.search(piece.text))
        return
    for token in markdown().parse(cell.source):
        rest = _without_marked(token.content)
        info = token.info.strip()
        if token.type == "inline":
            rest = inline(rest).plain
        elif token.type == "html_block":
            rest = re.sub(r"<[^>]*>", "", rest)
        elif token.type == "fence" and info in _COMMENTED:
            rest = " ".join(piece.text for piece in comment_pieces(rest, _COMMENTED[info]))
        elif token.type != "fence" or info not in ("", "text", "mermaid"):
            continue
        if WORD.search(rest):
            yield " ".join(rest.split())


def pseudo_run(copy: Folders, lessons: Sequence[Lesson]) -> dict[str, NotebookNode]:
    """The lessons as they ran in `copy`, a `pseudo_course`, by their slugs.

    :raises ExecutionError: a cell fails.
    """
    notebooks = {lesson.slug: lesson_notebook(read_lesson(lesson.folder), in_brackets) for lesson in lessons}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [
            pool.submit(execute, notebook, copy.notebooks / LANGUAGE, LANGUAGE, copy.root)
            for notebook in notebooks.values()
        ]
        for job in jobs:
            job.result()
    return notebooks


def unseen_outputs(copy: Folders, ran: NotebookNode) -> Iterator[tuple[str, str]]:
    """(cell id, words) for each text that a lesson showed in the pseudo-language and that passed through no catalog."""
    exceptions = read_exceptions(copy.lessons / "exceptions.toml")
    for cell in ran.cells:
        for words in dict.fromkeys(unseen_in_outputs(cell, exceptions)):
            yield cell.id, words


def unseen_in_outputs(cell: NotebookNode, exceptions: Exceptions) -> Iterator[str]:
    """The words that the outputs of a cell show, or read aloud, outside of brackets.

    Only outputs with text/html are looked at: those are made by the helpers for people. What is in `<code>` is a name
    or an answer of a service.
    """
    for output in cell.get("outputs", []):
        yield from unseen_in_html(output.get("data", {}).get("text/html", ""), exceptions)


def unseen_in_html(html: str, exceptions: Exceptions) -> Iterator[str]:
    """The words that HTML or plain lines show, or read aloud, outside of brackets."""
    html = _without_marked(re.sub(r"<(style|script)\b.*?</\1>", " ", html, flags=re.DOTALL))
    spoken = [unescape(found[2]) for found in _READ_ALOUD.finditer(html)]
    for line in [*words_shown(html).split("\n"), *spoken]:
        if WORD.search(line) and not exceptions.may_stay(line, LANGUAGE):
            yield " ".join(line.split())


def unseen_pages(copy: Folders) -> Iterator[tuple[str, str]]:
    """(page, words) for each text outside of notebooks that did not pass through a catalog.

    They are made in `copy`, a `pseudo_course`: see `pseudo_pages`.

    :raises CalledProcessError: they cannot be made.
    """
    made = subprocess.run(
        [sys.executable, "-m", "helpers.course.pseudo_pages", LANGUAGE],
        cwd=copy.root,
        env=environment(os.environ, str(copy.root / "home"), LANGUAGE, copy.root),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    exceptions = read_exceptions(copy.lessons / "exceptions.toml")
    for name, shown in json.loads(made.stdout).items():
        page = Cell(name, "markdown", shown, {}, 1)
        for words in dict.fromkeys(unseen_in(page) if name == INDEX else unseen_in_html(shown, exceptions)):
            yield name, words


def pseudo_course(folders: Folders, place: Path) -> Folders:
    """A copy of the course in `place` whose only language is the pseudo-language."""
    copy = Folders(place)
    # With its bytecode, which is right for files of the same age: the kernel need not compile the helpers anew.
    unwanted = shutil.ignore_patterns("*.po", "*.ipynb")
    shutil.copytree(folders.helpers, copy.helpers, ignore=unwanted)
    shutil.copytree(folders.lessons, copy.lessons, ignore=unwanted)
    for lesson in read_course(copy).lessons:
        _write(lesson.catalog(LANGUAGE), lesson_entries(lesson))
    _write(copy.locale / f"{LANGUAGE}.po", helper_entries(copy))
    return copy


def _write(path: Path, entries: list[Entry]) -> None:
    catalog = catalogs.read(path)
    catalogs.update(catalog, entries)
    for message in catalog:
        if isinstance(message.id, (list, tuple)):
            message.string = tuple(f"⟦{text}⟧" for text in message.id)
        elif message.id:
            message.string = f"⟦{message.id}⟧"
    catalogs.write(path, catalog)


def _without_marked(text: str) -> str:
    """`text` without what is in brackets, also where a translated text holds another one."""
    while (rest := _MARKED.sub("", text)) != text:
        text = rest
    return text
