"""`python -m helpers.grid`: run a lesson with all combinations of some values, and write what came out."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import nbformat

from helpers.classroom.choice import Unknown, chosen_language, chosen_lesson, speak, title_of
from helpers.classroom.stored import stored_notebook
from helpers.copies.notebook_file import NotANotebook
from helpers.course.source import SourceError
from helpers.course.syllabus import HERE, Folders, read_course
from helpers.grid.cluster import NoCluster, on_dask
from helpers.grid.derived import NotUsable, derive, digest_of
from helpers.grid.one import Job, course_digest
from helpers.grid.plan import GUARD, Experiment, Run, Values, choose, read_experiment, runs
from helpers.grid.report import report_page
from helpers.grid.results import read_rows, to_csv
from helpers.grid.runner import Start, Store, here, run_all
from helpers.lab.errors import LabError
from helpers.lab.language import _, labelled, ngettext, use
from helpers.lab.lesson_texts import LessonTexts
from helpers.lab.lesson_world import world_of
from helpers.launcher import words
from helpers.launcher.terminal import complain
from helpers.launcher.troubles import damaged_notebook, missing_of_course
from helpers.launcher.usage import Parser, program

COMMAND = "experiment"
MOST_PROCESSES = 64


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: all runs ended well; 1: some went wrong, or nothing could be run; 130: stopped by Ctrl-C."""
    words.choose(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(arguments)
    speak(options.language)
    try:
        return _experiment(options)
    except (Unknown, SourceError, NotUsable, NoCluster, LabError) as error:
        print(f"Once: {error}", file=sys.stderr)
    except NotANotebook as damaged:
        complain(damaged_notebook(HERE.root, damaged.path))
    except OSError as error:
        if (missing := missing_of_course(error, HERE.root)) is not None:
            complain(missing)
            return 1
        where = f" ({error.filename})" if error.filename else ""
        failed = _("A result could not be written{where}: {reason}.").format(where=where, reason=error.strerror)
        step = _("Make room, or choose another folder with `--output`. What is finished is kept.")
        print(f"Once: {failed}", _("Next: {step}").format(step=step), sep="\n", file=sys.stderr)
    return 1


def _experiment(options: argparse.Namespace) -> int:
    folders = HERE
    course = read_course(folders)
    lesson = chosen_lesson(course, folders, options.lesson, COMMAND)
    language = chosen_language(course, folders, options.language, COMMAND)
    use(language)
    experiment = read_experiment(lesson)
    grid = choose(lesson, experiment.grid, _typed(options.set))
    notebook = derive(stored_notebook(folders.notebooks / language / lesson.notebook), experiment, GUARD in grid)
    text = nbformat.writes(notebook)
    guards = [path.read_text(encoding="utf-8") for path in world_of(lesson.slug).guards.values()]
    plan = runs(grid, digest_of(notebook, *guards))
    store = Store(options.output or folders.root / "build" / "experiments" / language / Path(lesson.notebook).stem)
    digest = course_digest(folders.root) if options.dask else ""

    def job_of(run: Run) -> Job:
        return Job(run.key, text, run.values, language, digest)

    start = on_dask(options.dask) if options.dask else here(_processes(options.processes))
    finished = sum(store.finished(run).exists() for run in plan)
    combined = ", ".join(f"{name} × {len(values)}" for name, values in grid.items())
    planned = ngettext("{count} run: {grid}.", "{count} runs: {grid}.", len(plan))
    _say(planned.format(count=len(plan), grid=combined))
    if finished:
        there = ngettext("{count} run is finished already.", "{count} runs are finished already.", finished)
        _say(there.format(count=finished))
    write = partial(_write, folders, store, title_of(lesson, language), _step(lesson.slug), grid, experiment, plan)
    try:
        _run(plan, job_of, store, start)
    except KeyboardInterrupt:
        write()
        left = sum(not store.finished(run).exists() for run in plan)
        stopped = _("Stopped. {done} of {count} runs are kept. The same command goes on with the rest.")
        _say(stopped.format(done=len(plan) - left, count=len(plan)))
        return 130
    bad = write()
    for name, error in bad:
        _say(labelled(f"{_('the run went wrong')} ({name})", error.splitlines()[0] if error else ""))
    return 1 if bad else 0


def _run(plan: Sequence[Run], job_of: Callable[[Run], Job], store: Store, start: Start) -> None:
    began = time.monotonic()
    ended = 0

    def told(done: int, count: int, run: Run, error: str) -> None:
        nonlocal ended
        ended += 1
        left = round((time.monotonic() - began) / ended * (count - done))
        parts = [f"{done}/{count}", run.named]
        if error:
            parts.append(_("the run went wrong"))
        if done < count:
            parts.append(_("about {minutes} min {seconds} s left").format(minutes=left // 60, seconds=left % 60))
        _say(" · ".join(parts))

    run_all(plan, job_of, store, start, told)


def _write(
    folders: Folders, store: Store, title: str, step: str, grid: Values, experiment: Experiment, plan: Sequence[Run]
) -> list[tuple[str, str]]:
    """Write the table and the report; the runs that went wrong, each with its error."""
    rows = read_rows(plan, store, experiment.orders)
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / "results.csv").write_bytes(to_csv(rows).encode("utf-8-sig"))
    report = store.folder / "report.html"
    report.write_text(report_page(title, step, grid, rows, len(plan)), encoding="utf-8", newline="\n")
    for path in (store.folder / "results.csv", report):
        _say(_("Written: {path}").format(path=folders.shown(path)))
    return [(row.named, row.error) for row in rows if row.error]


def _step(slug: str) -> str:
    return LessonTexts(slug).title(world_of(slug).counted[0])


def _typed(pairs: Sequence[str]) -> dict[str, str]:
    """`--set duplicates=0,2 --set fault=none` as names with what was typed."""
    if wrong := [pair for pair in pairs if "=" not in pair]:
        said = _("`{value}` is no choice of values. Write it as name=value,value, for example `duplicates=0,2`.")
        raise Unknown(said.format(value=wrong[0]))
    return {name.strip(): values for name, _sign, values in (pair.partition("=") for pair in pairs)}


def _processes(wanted: str | None) -> int:
    if wanted is None:
        return os.cpu_count() or 1
    if not re.fullmatch("[0-9]{1,9}", wanted) or not 1 <= int(wanted) <= MOST_PROCESSES:
        said = _("{wanted} processes cannot be. Choose a number from 1 to {most}.")
        raise Unknown(said.format(wanted=wanted, most=MOST_PROCESSES))
    return int(wanted)


def _say(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    print(f"Once: {text}".encode(encoding, "replace").decode(encoding), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=program("helpers.grid"), description=__doc__)
    parser.add_argument("--lesson", help="for example idempotent-consumer")
    parser.add_argument("--language", help="for example fr")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,…", help="other values of one name")
    parser.add_argument("--processes", help="runs at once on this machine (default: one for each core)")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on this Dask scheduler's workers: tcp://host:8786")
    parser.add_argument("--output", type=Path, help="another folder than build/experiments/<language>/<lesson>")
    return parser


if __name__ == "__main__":
    sys.exit(main())
