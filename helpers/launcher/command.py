"""The commands of ``python -m helpers``; the Makefile has one target for each."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from helpers.launcher import words
from helpers.launcher.environment import ROOT, Environment, remove
from helpers.launcher.installed import chosen, old_jupyterlab, too_old
from helpers.launcher.terminal import Trouble, command, complain, say
from helpers.launcher.troubles import cannot_write, missing_files, no_such_language
from helpers.launcher.usage import Parser, heading, program
from helpers.launcher.words import _
from helpers.system_language import match

_CACHES = (".cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".mypy_cache", "once_course.egg-info")
_EXPERIMENTS = "experiments"
"""The folder of build/ that `make experiment` fills: it took minutes or hours, and goes on where it stopped."""

_STOPPED = 130
"""Exit code after Ctrl-C."""

Run = Callable[[argparse.Namespace, Environment], int]


def _setup(options: argparse.Namespace, environment: Environment) -> int:
    environment.repair(options.set)
    say(_("To open the course: `{command}`.").format(command=command("lab")))
    return 0


def _lab(options: argparse.Namespace, environment: Environment) -> int:
    from helpers.launcher.jupyter import chosen_language, open_lab
    from helpers.launcher.learner import course_view

    # Before the set-up: nobody waits for minutes to read that the language has a typing error.
    language = chosen_language(environment, options.language) if options.language else None
    _prepare_for_jupyterlab(environment)
    return open_lab(environment, language, options.browser, course_view(environment, language))


def _prepare_for_jupyterlab(environment: Environment) -> None:
    environment.prepare("course")
    version = environment.jupyterlab_version()
    if version is not None and too_old(version):
        raise old_jupyterlab(environment, version)


def _doctor(options: argparse.Namespace, environment: Environment) -> int:
    from helpers.launcher.doctor import doctor

    if options.language and match(options.language, words.languages()) is None:
        raise no_such_language(options.language, words.languages(), "doctor")
    return doctor(environment)


def _fresh(options: argparse.Namespace, environment: Environment) -> int:
    from helpers.launcher.learner import start_afresh

    start_afresh(environment, options.lesson, options.language)
    return 0


def _test(options: argparse.Namespace, environment: Environment) -> int:
    from helpers.launcher.suite import run_suite

    environment.prepare("test")
    return run_suite(environment, options.only)


def _bench(options: argparse.Namespace, environment: Environment) -> int:
    python = environment.prepare("course")
    return _run(environment, [python, "-m", "benchmarks", *options.arguments])


def _pictures(options: argparse.Namespace, environment: Environment) -> int:
    python = environment.prepare("test")
    return _run(environment, [python, "-m", "tests.browser.pictures", *options.arguments])


def _course(*arguments: str) -> Callable[[argparse.Namespace, Environment], int]:
    def run(options: argparse.Namespace, environment: Environment) -> int:
        languages = [part for language in options.language for part in ("--language", language)]
        draft = ["--draft"] if getattr(options, "draft", False) else []
        return _in_course(environment, *arguments, *languages, *draft)

    return run


def _status(options: argparse.Namespace, environment: Environment) -> int:
    languages = [part for language in options.language for part in ("--language", language)]
    return _in_course(environment, "status", *languages, *(["--check"] if options.check else []))


def _lesson(options: argparse.Namespace, environment: Environment) -> int:
    return _in_course(environment, "new-lesson", options.slug, "--title", options.title)


def _in_course(environment: Environment, *arguments: str) -> int:
    python = environment.prepare("course")
    return _run(environment, [python, "-m", "helpers.course", *arguments])


def _run(environment: Environment, command_line: Sequence[str | Path]) -> int:
    done = subprocess.run(command_line, cwd=environment.root, env=environment.variables(), check=False)
    return _ended(environment, done.returncode)


def _ended(environment: Environment, code: int) -> int:
    """The exit code of a program of the environment, unless it failed because the environment is not whole.

    :raises Trouble: files of its packages are missing.
    """
    if code not in (0, _STOPPED) and (gone := environment.missing()):
        raise missing_files(gone)
    return code


def _project(options: argparse.Namespace, environment: Environment) -> int:
    from helpers.launcher.projector import project

    _prepare_for_jupyterlab(environment)
    return _ended(environment, project(environment, options.lesson, options.language, options.browser))


def _slides(options: argparse.Namespace, environment: Environment) -> int:
    python = environment.prepare("course")
    given = _given(options, "lesson", "language")
    return _run(environment, [python, "-m", "helpers.classroom", "slides", *given])


def _experiment(options: argparse.Namespace, environment: Environment) -> int:
    python = environment.prepare("course")
    given = _given(options, "lesson", "language", "processes", "dask", "output")
    given += [f"--set={pair}" for pair in options.set]
    return _to_its_end([python, "-m", "helpers.grid", *given], environment)


def _handouts(options: argparse.Namespace, environment: Environment) -> int:
    python = environment.prepare("course")
    given = _given(options, "lesson", "language")
    return _to_its_end([python, "-m", "helpers.classroom", "handouts", *given], environment)


def _given(options: argparse.Namespace, *names: str) -> list[str]:
    """What was typed, for the next program: in one word each, or a value that begins with "-" would be an option."""
    return [f"--{name}={value}" for name in names if (value := getattr(options, name))]


def _to_its_end(command_line: Sequence[str | Path], environment: Environment) -> int:
    """Run a program that answers Ctrl-C itself, and let it finish what it does then; a second Ctrl-C ends it."""
    with subprocess.Popen(command_line, cwd=environment.root, env=environment.variables()) as process:
        try:
            return _ended(environment, process.wait())
        except KeyboardInterrupt:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.kill()
                raise


def _lock(options: argparse.Namespace, environment: Environment) -> int:
    from helpers.launcher.locks import write_locks

    environment.prepare("course")
    return write_locks(environment, upgrade=not options.keep)


def _clean(options: argparse.Namespace, environment: Environment) -> int:
    for name in (".venv", *_CACHES):
        remove(environment.root / name)
    build = environment.root / "build"
    kept = (build / _EXPERIMENTS).is_dir()
    for path in sorted(build.iterdir()) if kept else [build]:
        if path.name != _EXPERIMENTS:
            remove(path)
    for folder in ("helpers", "tests", "lessons"):
        for cache in sorted((environment.root / folder).rglob("__pycache__")):
            remove(cache)
    remove(environment.root / "__pycache__")
    say(_("The folder .venv and the caches are removed. Answers and notebooks are as they were."))
    if kept:
        say(_("What experiments have written is kept: {folder}").format(folder=f"build/{_EXPERIMENTS}"))
    return 0


def parser() -> Parser:
    """The command line, in the reader's language; the options of the maintainers' commands in English."""
    result = Parser(
        prog=program("helpers"),
        description=_("Once: order processing that is safe to repeat. Each command is also a make target."),
        epilog=_("Without make, for example on Windows: {command}").format(command="py -m helpers lab"),
    )
    commands = result.add_subparsers(title=heading(_("commands")), metavar=_("command"), required=True)

    def add(name: str, text: str, run: Run) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(run=run)
        return one

    lab = add("lab", _("open the course in JupyterLab (the first time, this sets up .venv)"), _lab)
    lab.add_argument("--language", help=_("language of the pages and of JupyterLab’s menus, for example fr"))
    fresh = add("fresh", _("start a lesson afresh; your earlier copy is kept beside the new one"), _fresh)
    project = add("project", _("open a lesson for the projector, with notes for the teacher’s own screen"), _project)
    for one in (lab, project):
        one.add_argument("--no-browser", dest="browser", action="store_false", help=_("only print the address"))
    slides = add("slides", _("write slides that work offline into build/slides"), _slides)
    text = _("write pages to print into build/handouts, for the class and for the teacher")
    handouts = add("handouts", text, _handouts)
    text = _("run a lesson with all combinations of values, and write a report")
    experiment = add("experiment", text, _experiment)
    for one in (fresh, project, slides, handouts, experiment):
        one.add_argument("--lesson", help=_("for example {example}").format(example="idempotent-consumer"))
        one.add_argument("--language", help=_("for example {example}").format(example="fr"))
    text = _("other values of a parameter")
    experiment.add_argument("--set", action="append", default=[], metavar="NAME=VALUE,…", help=text)
    experiment.add_argument("--processes", help=_("how many runs at the same time (default: one for each core)"))
    text = _("run on a Dask cluster, for example {address}").format(address="tcp://host:8786")
    experiment.add_argument("--dask", metavar="ADDRESS", help=text)
    text = _("write the results into another folder than {folder}").format(
        folder="build/experiments/<language>/<lesson>"
    )
    experiment.add_argument("--output", help=text)
    examine = add("doctor", _("look at this machine and say what to do"), _doctor)
    text = _("answer in this language, for example fr (default: the system’s)")
    examine.add_argument("--language", help=text)
    setup = add("setup", _("create or repair .venv, without opening the course"), _setup)
    text = _("which set of packages to install (default: course)")
    setup.add_argument("--set", choices=("course", "test"), default="course", help=text)
    add("clean", _("remove .venv and caches; answers, notebooks and experiments stay"), _clean)
    _add_for_maintainers(add)
    add("help", _("show this list"), _help(result))
    return result


def _add_for_maintainers(add: Callable[[str, str, Run], argparse.ArgumentParser]) -> None:
    test = add("test", _("run everything that CI runs"), _test)
    test.add_argument("only", nargs="*", help="steps to run (default: all): lint types course notebooks tests")
    bench = add("bench", _("compare the speed of the emulated account with that of ministack"), _bench)
    bench.add_argument("arguments", nargs=argparse.REMAINDER, help="for python -m benchmarks, for example --rounds 1")
    pictures = add("pictures", _("photograph the lessons in JupyterLab for docs/pictures.md"), _pictures)
    pictures.add_argument("arguments", nargs=argparse.REMAINDER, help="for tests.browser.pictures: --language fr")
    notebooks = add("notebooks", _("write notebooks/ from lessons/"), _course("build"))
    i18n = add("i18n", _("bring the catalogs up to date with lessons/ and helpers/"), _course("i18n"))
    gates = add("gates", _("check lessons and translations, and build nothing"), _course("gates"))
    status = add("i18n-status", _("say how far the translations are"), _status)
    for one in (notebooks, i18n, gates, status):
        one.add_argument("--language", action="append", default=[], help="only this one, or a new one (i18n)")
    notebooks.add_argument("--draft", action="store_true", help="also when translations are missing: they stay English")
    status.add_argument("--check", action="store_true", help="fail when something is not translated")
    lesson = add("lesson", _("write a small new lesson that runs, to begin from"), _lesson)
    lesson.add_argument("slug", help="its name in small letters with hyphens, for example bounded-retries")
    lesson.add_argument("--title", default="", help="its English title (default: made from the slug)")
    lock = add("lock", _("choose new versions for requirements*.lock"), _lock)
    lock.add_argument("--keep", action="store_true", help="keep the versions that pyproject.toml still allows")


def _help(whole: Parser) -> Run:
    def run(options: argparse.Namespace, environment: Environment) -> int:
        whole.print_help()
        return 0

    return run


def run(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Run one command; return its exit code: 1 for a trouble that it explained, 2 for a wrong line."""
    words.choose(arguments)
    options = parser().parse_args(list(arguments) or ["help"])
    try:
        chosen_command: Run = options.run
        return chosen_command(options, chosen(root))
    except Trouble as trouble:
        complain(trouble)
        return 1
    except OSError as error:
        refused = cannot_write(error, root)
        if refused is None:
            raise
        complain(refused)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        say(_("Stopped."))
        return _STOPPED
