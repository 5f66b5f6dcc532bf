"""From lessons/ to notebooks/: a pure function, byte for byte the same on each run and each machine."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from helpers.course import catalogs
from helpers.course.entries import lesson_entries
from helpers.course.execute import AT_ONCE, ExecutionError, execute
from helpers.course.failure import Failure
from helpers.course.gates import lookup, read_rules
from helpers.course.index import PAGE, index_notebook, language_page, lead_up
from helpers.course.notebook import lesson_notebook, to_bytes
from helpers.course.outputs import clean, unfit
from helpers.course.source import read_lesson
from helpers.course.syllabus import Course, Folders, Lesson

# English shorter than this many words is also found in code: "right", "not yet".
_SENTENCE_WORDS = 3


class BuildError(Exception):
    """Notebooks that may not be written. `failures` says why; nothing was written."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__("\n".join(str(failure) for failure in failures))
        self.failures = list(failures)


@dataclass(frozen=True, slots=True)
class _Edition:
    """A lesson in one language; `job` is its execution, None if it does not run."""

    lesson: Lesson
    language: str
    notebook: NotebookNode
    job: Future[None] | None = None

    @property
    def name(self) -> str:
        return f"{self.language}/{self.lesson.notebook}"


def build(
    folders: Folders,
    lessons: Sequence[Lesson],
    spoken: Sequence[str],
    output: Path,
    run: bool = True,
    draft: bool = False,
    stored: Path | None = None,
    ran: Mapping[str, NotebookNode] | None = None,
) -> dict[Path, bytes]:
    """The notebooks of `lessons` in the languages `spoken`, by their path from `output`.

    They run in `output`/<language>/ (`run=False`: they do not run). With `stored` they take their outputs from the
    notebooks in that folder instead; `ran` has the lessons as they ran in another language, by their slugs: the stored
    outputs must be of the same kinds. A draft may show English. Nothing is written: see `write`.

    :raises BuildError: a cell failed, or an output may not be stored.
    """
    built: dict[Path, bytes] = {}
    failures: list[Failure] = []
    for elsewhere in (ran or {}).values():
        clean(elsewhere)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # Only the kernels run side by side: CPython 3.11 cannot parse in two threads (python/cpython#106905).
        started: list[_Edition] = []
        for lesson, language, notebook in _unrun(lessons, spoken):
            runs = run and stored is None
            where = output / language
            job = pool.submit(execute, notebook, where, language, folders.root) if runs else None
            started.append(_Edition(lesson, language, notebook, job))
        for edition in started:
            lesson, notebook = edition.lesson, edition.notebook
            try:
                if edition.job:
                    edition.job.result()
                elif stored and (stored / edition.name).exists():
                    _take_outputs(notebook, nbformat.read(stored / edition.name, nbformat.NO_CONVERT))
                path = Path(edition.language, lesson.notebook)
                built[path] = finished(folders, lesson, edition.language, notebook, draft)
                if ran and lesson.slug in ran:
                    failures += _other_kinds(edition, ran[lesson.slug])
            except ExecutionError as error:
                failures.append(Failure(edition.name, error.cell, str(error), "Run the cell in JupyterLab"))
            except BuildError as error:
                failures += error.failures
    if failures:
        raise BuildError(failures)
    return built


def _take_outputs(notebook: NotebookNode, stored: NotebookNode) -> None:
    """Give the code cells the outputs of the cells with the same ids."""
    outputs = {cell.id: cell.outputs for cell in stored.cells if cell.cell_type == "code"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = outputs.get(cell.id, [])


def _other_kinds(edition: _Edition, ran: NotebookNode) -> Iterator[Failure]:
    """What a comparison of texts does not see: other streams, types, metadata than in the language that ran."""
    for cell, other in zip(edition.notebook.cells, ran.cells, strict=True):
        if cell.cell_type == "code" and _kinds(cell) != _kinds(other):
            yield Failure(edition.name, cell.id, "other kinds of outputs than a run gives", "Run `make notebooks`")


def _kinds(cell: NotebookNode) -> list[tuple[object, ...]]:
    return [
        (output.output_type, output.get("name"), sorted(output.get("data", {})), output.get("metadata"))
        for output in cell.outputs
    ]


def finished(folders: Folders, lesson: Lesson, language: str, notebook: NotebookNode, draft: bool = False) -> bytes:
    """The bytes of a notebook that has run. :raises BuildError: an output may not be stored."""
    clean(notebook)
    if failures := list(_unfit(notebook, folders, lesson, language, draft)):
        raise BuildError(failures)
    return to_bytes(notebook)


def _unrun(lessons: Sequence[Lesson], spoken: Sequence[str]) -> list[tuple[Lesson, str, NotebookNode]]:
    found: list[tuple[Lesson, str, NotebookNode]] = []
    for lesson in lessons:
        source = read_lesson(lesson.folder)
        for language in spoken:
            translate = lookup(catalogs.read(lesson.catalog(language)))
            found.append((lesson, language, lesson_notebook(source, translate)))
    return found


def build_index(
    folders: Folders, course: Course, spoken: Sequence[str], output: Path, run: bool = True, draft: bool = False
) -> dict[Path, bytes]:
    """The pages that lead to the lessons, by their paths from notebooks/: one for all languages, one for each.

    The first runs in `output` (`run=False`: it does not); the others have the same cells, and take their outputs.

    :raises BuildError: an output may not be stored.
    :raises ExecutionError: a cell failed.
    """
    path = Path(PAGE)
    notebook = index_notebook(course, spoken, folders)
    if run and spoken:
        execute(notebook, output, spoken[0], folders.root)
    clean(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    failures = [
        Failure(path.name, cell.id, what, advice)
        for language, cell in zip(spoken, code, strict=True)
        for what, advice in dict.fromkeys(unfit(cell, "en" if draft else language))
    ]
    if failures:
        raise BuildError(failures)
    built = {path: to_bytes(notebook)}
    for language in spoken:
        page = language_page(course, language, spoken, folders)
        _take_outputs(page, notebook)
        lead_up(page)
        clean(page)
        built[Path(language, PAGE)] = to_bytes(page)
    return built


def write(built: dict[Path, bytes], output: Path) -> list[Path]:
    """Write the notebooks, each whole or not at all; returns those that changed."""
    changed: list[Path] = []
    for name, content in built.items():
        path = output / name
        if path.exists() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_bytes(content)
        os.replace(temporary, path)
        changed.append(path)
    return changed


def differences(built: dict[Path, bytes], output: Path, complete: bool) -> Iterator[str]:
    """How the notebooks in `output` differ from those just built, as unified diffs.

    `complete`: `built` is everything, so that another lesson's notebook in `output` is one too many.
    """
    for name, content in sorted(built.items()):
        path = output / name
        stored = path.read_bytes() if path.exists() else b""
        if stored != content:
            lines = difflib.unified_diff(
                stored.decode("utf-8", "replace").splitlines(),
                content.decode().splitlines(),
                f"notebooks/{name.as_posix()} (stored)",
                f"notebooks/{name.as_posix()} (built)",
                lineterm="",
            )
            yield "\n".join(lines) or f"notebooks/{name.as_posix()}: other line ends"
    if complete:
        for path in sorted(output.glob("*/[0-9][0-9]_*.ipynb")):
            name = path.relative_to(output)
            if name not in built:
                yield f"notebooks/{name.as_posix()}: no lesson has this notebook; remove it"


def _unfit(notebook: NotebookNode, folders: Folders, lesson: Lesson, language: str, draft: bool) -> Iterator[Failure]:
    allowed = read_rules(folders).exceptions.output_sentences
    english = list(_translated_sentences(folders, lesson, language))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # The same text is in text/plain and in text/html: said once.
            for what, advice in dict.fromkeys(unfit(cell, "en" if draft else language, english, allowed)):
                yield Failure(f"{language}/{lesson.notebook}", cell.id, what, advice)


def _translated_sentences(folders: Folders, lesson: Lesson, language: str) -> Iterator[str]:
    """English texts that a widget or a helper shows and that have a translation which differs."""
    of_widgets = {entry.context for entry in lesson_entries(lesson) if entry.kind == "text"}
    for path in (lesson.catalog(language), folders.locale / f"{language}.po"):
        for message in catalogs.read(path):
            text = message.id[0] if isinstance(message.id, (list, tuple)) else message.id
            shown = message.context is None or message.context in of_widgets
            long = "{" not in text and len(text.split()) >= _SENTENCE_WORDS
            if shown and long and catalogs.strings(message)[0] not in ("", text):
                yield text
