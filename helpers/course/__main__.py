"""`python -m helpers.course`: catalogs, gates, notebooks, a new lesson. For people who work on the course."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from babel import localedata
from nbformat import NotebookNode

from helpers.course import catalogs
from helpers.course.build import BuildError, build, build_index, differences, write
from helpers.course.entries import Entry, lesson_entries
from helpers.course.execute import ExecutionError
from helpers.course.failure import Failure
from helpers.course.gates import check_course, read_rules
from helpers.course.messages import helper_entries
from helpers.course.pseudo import pseudo_course, pseudo_run, unseen_outputs, unseen_pages
from helpers.course.scaffold import NotPossible, new_lesson
from helpers.course.source import SourceError
from helpers.course.status import status, table
from helpers.course.syllabus import HERE, Folders, languages, read_course
from helpers.launcher.troubles import cannot_write

SOURCE_LANGUAGE = "en"
_TAG = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?")

# More failures than this have one cause, such as a new language.
SHOWN = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: done, nothing wrong; 1: something is wrong, and was said on stderr."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if getattr(options, "pseudo", False) and not options.check:
        parser.error("--pseudo takes outputs that are stored: it goes with --check only")
    for language in getattr(options, "language", None) or ():
        # What is no language would become the name of files, "../x" outside of their folder too.
        if language != SOURCE_LANGUAGE and not (_TAG.fullmatch(language) and localedata.exists(language)):
            return _fail([f"“{language}” is no language. Write for example “de”, or “pt_BR” with a country."])
        if language == SOURCE_LANGUAGE and options.run in (update_catalogs, show_status):
            return _fail([f"“{language}” is the language of the source: it has no catalogs."])
    try:
        return int(options.run(options, Folders(options.root.resolve())))
    except (SourceError, LookupError, NotPossible) as error:
        return _fail([str(error)])
    except ExecutionError as error:
        return _fail([str(error)])
    except BuildError as error:
        return _fail(_listed(error.failures))
    except OSError as error:
        refused = cannot_write(error, options.root.resolve())
        if refused is None:
            raise
        return _fail([refused.what, refused.next_step])


def update_catalogs(options: argparse.Namespace, folders: Folders) -> int:
    """Every catalog and template gets the entries of its source; what is translated stays."""
    rules = read_rules(folders).typography
    for template, entries, paths in _catalogs(options, folders):
        catalogs.write_bytes(template, catalogs.template(entries))
        for path in paths:
            catalog = catalogs.read(path, rules.of(path.stem).plural_forms)
            catalogs.update(catalog, entries)
            catalogs.write(path, catalog)
            messages = [message for message in catalog if message.id]
            fuzzy = sum(message.fuzzy for message in messages)
            empty = sum(not all(catalogs.strings(message)) for message in messages)
            print(f"{folders.shown(path)}: {len(messages)} entries, {empty} empty, {fuzzy} fuzzy")
    return 0


def show_status(options: argparse.Namespace, folders: Folders) -> int:
    """A table of what is translated; with --check, exit code 1 when something is not."""
    found = [status(path, entries, folders) for _, entries, paths in _catalogs(options, folders) for path in paths]
    print(*table(sorted(found, key=lambda one: one.language)), sep="\n")
    waiting = sum(one.total - one.translated for one in found)
    return _fail([f"{waiting} texts wait for a translation."]) if options.check and waiting else 0


def _catalogs(options: argparse.Namespace, folders: Folders) -> Iterator[tuple[Path, list[Entry], list[Path]]]:
    """The template, the entries and the catalogs of each lesson, and of the helpers."""
    wanted = options.language or sorted({*languages(folders), *_helper_languages(folders)})
    for lesson in read_course(folders).lessons:
        yield lesson.template, lesson_entries(lesson), [lesson.catalog(language) for language in wanted]
    yield folders.template, helper_entries(folders), [folders.locale / f"{language}.po" for language in wanted]


def check_gates(options: argparse.Namespace, folders: Folders) -> int:
    """Say what the gates find."""
    failures = check_course(folders, options.language or None)
    if failures:
        return _fail(_listed(failures))
    print("All gates passed.")
    return 0


def run_pseudo(options: argparse.Namespace, folders: Folders) -> int:
    """Run the lessons in the pseudo-language, make the pages, and say which words pass through no catalog."""
    with tempfile.TemporaryDirectory(prefix="once-pseudo-", ignore_cleanup_errors=True) as place:
        copy = pseudo_course(folders, Path(place) / "course")
        found = _unseen(copy, pseudo_run(copy, read_course(copy).lessons))
    return _fail(found) if found else 0


def _unseen(copy: Folders, ran: Mapping[str, NotebookNode]) -> list[str]:
    """What pages and lessons showed in the pseudo-language that passed through no catalog."""
    found = [f"{page}: “{words}” reaches no catalog. Use _()" for page, words in unseen_pages(copy)]
    for slug, notebook in ran.items():
        for cell, words in unseen_outputs(copy, notebook):
            found.append(f"{slug} [{cell}]: “{words}” reaches no catalog. Use _() of helpers.lab.language")
    return found


def make_lesson(options: argparse.Namespace, folders: Folders) -> int:
    """Write a new lesson that runs, and say what comes next."""
    for path in new_lesson(folders, options.slug, options.title):
        print(folders.shown(path))
    module = options.slug.replace("-", "_")
    print(
        f"The lesson runs as it is. See it in English, before anything is translated:\n"
        f"  python -m helpers.course build --language en --lesson {options.slug} --output build/preview\n"
        f"  python -m pytest tests/lab/test_{module}.py\n"
        f"Then write your own lesson in its place: docs/maintaining.md."
    )
    return 0


def build_notebooks(options: argparse.Namespace, folders: Folders) -> int:
    """Gates, then notebooks, then either write them or compare them with those in notebooks/."""
    course = read_course(folders)
    spoken = options.language or list(languages(folders))
    lessons = [course.lesson(slug) for slug in options.lesson] if options.lesson else list(course.lessons)
    if not options.draft:
        failures = check_course(folders, spoken)
        if failures:
            return _fail(_listed(failures))
    output = options.output or folders.notebooks
    with tempfile.TemporaryDirectory(prefix="once-check-", ignore_cleanup_errors=True) as temporary:
        place = Path(temporary) if options.check else output
        run = not options.no_execute
        ran = None
        if options.pseudo:
            copy = pseudo_course(folders, place / "pseudo")
            ran = pseudo_run(copy, lessons)
            if found := _unseen(copy, ran):
                return _fail(found)
        built = build(folders, lessons, spoken, place, run, options.draft, output if options.pseudo else None, ran)
        if spoken != [SOURCE_LANGUAGE]:
            built |= build_index(folders, course, languages(folders), place, run, options.draft)
    if options.check:
        complete = not (options.language or options.lesson)
        found = list(differences(built, output, complete))
        if found:
            return _fail([*found, "The notebooks are not those of the lessons. Run `make notebooks`."])
        print(f"{len(built)} notebooks are up to date.")
        return 0
    changed = write(built, output)
    print(f"{len(built)} notebooks built, {len(changed)} of them changed.")
    return 0


def _helper_languages(folders: Folders) -> set[str]:
    return {path.stem for path in folders.locale.glob("*.po")}


def _listed(failures: Sequence[Failure]) -> list[str]:
    """The failures, and for each file how many; of a great many only the first ones."""
    if len(failures) <= SHOWN:
        return [str(failure) for failure in failures]
    files = Counter(failure.file for failure in failures)
    counts = ", ".join(f"{file}: {count}" for file, count in sorted(files.items()))
    return [*(str(failure) for failure in failures[:SHOWN]), f"… {len(failures)} in all ({counts})"]


def _fail(messages: Sequence[str]) -> int:
    print(*messages, sep="\n", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m helpers.course", description=__doc__)
    parser.add_argument("--root", type=Path, default=HERE.root, help="another checkout")
    commands = parser.add_subparsers(required=True)

    i18n = commands.add_parser("i18n", help="bring the catalogs up to date with lessons/ and helpers/")
    i18n.set_defaults(run=update_catalogs)
    state = commands.add_parser("status", help="say how far the translations are")
    state.set_defaults(run=show_status)
    state.add_argument("--check", action="store_true", help="fail when something is not translated")
    gates = commands.add_parser("gates", help="check the source and the catalogs")
    gates.set_defaults(run=check_gates)
    notebooks = commands.add_parser("build", help="write notebooks/ from lessons/")
    notebooks.set_defaults(run=build_notebooks)

    pseudo = commands.add_parser("pseudo", help="find texts of the helpers that pass through no catalog")
    pseudo.set_defaults(run=run_pseudo)

    lesson = commands.add_parser("new-lesson", help="write a small lesson that runs, to begin from")
    lesson.set_defaults(run=make_lesson)
    lesson.add_argument("slug", help="its name in small letters with hyphens, for example bounded-retries")
    lesson.add_argument("--title", default="", help="its English title (default: made from the slug)")

    for command in (i18n, state, gates, notebooks):
        command.add_argument("--language", action="append", help="only this one; may be given again")
    notebooks.add_argument("--lesson", action="append", help="only this one; may be given again")
    notebooks.add_argument("--check", action="store_true", help="compare with notebooks/, write nothing")
    notebooks.add_argument("--no-execute", action="store_true", help="do not run the cells")
    notebooks.add_argument(
        "--pseudo",
        action="store_true",
        help="with --check: run each lesson in the pseudo-language only; the editions keep the outputs that are stored",
    )
    notebooks.add_argument("--draft", action="store_true", help="pass over the gates of the catalogs")
    notebooks.add_argument("--output", type=Path, help="another folder than notebooks/")
    return parser


if __name__ == "__main__":
    sys.exit(main())
