"""`python -m helpers doctor`: looks at this machine and says, line by line, what is right and what to do.

What can be seen without the course's packages is looked at here; the rest by `helpers.launcher.probe`, which runs with
the Python that has them. Nothing is changed on the machine.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from helpers.copies.learner import WORK, Copies
from helpers.launcher.environment import LOCKS, OLDEST, Environment, has_venv_module
from helpers.launcher.installed import Installed, old_jupyterlab, too_old
from helpers.launcher.jupyter import FIRST_PORT, has_display
from helpers.launcher.packages import requirement
from helpers.launcher.terminal import Trouble, command, printed
from helpers.launcher.troubles import NEEDED_MB, foreign, in_the_way, known_failure, no_venv_module, not_a_folder
from helpers.launcher.words import _

Outcome = Literal["good", "note", "bad", "unknown"]

RUNNING_MB = 100
"""Room for what a session writes: logs, deployed functions, copies."""

_SIGNS: dict[Outcome, str] = {"good": "✓", "note": "!", "bad": "✗", "unknown": "?"}
_ASCII = {"✓": "OK", "✗": "X", "→": "->"}
_PROBE_SECONDS = 120.0
_SMALL_PACKAGE = "six"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `next_step` is empty where nothing is to be done; only "bad" keeps the course from running."""

    outcome: Outcome
    words: str
    next_step: str = ""

    def lines(self) -> str:
        line = f"{_shown(_SIGNS[self.outcome])} {self.words}"
        return f"{line}\n  {_shown('→')} {self.next_step}" if self.next_step else line


def _shown(sign: str) -> str:
    """A sign as this terminal can show it."""
    try:
        "".join(_ASCII).encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return _ASCII.get(sign, sign)
    return sign


def doctor(environment: Environment) -> int:
    """Print what was found as it is found; return 0 when the course can run here, else 1."""
    bad = 0
    for finding in findings(environment):
        printed(finding.lines())
        bad += finding.outcome == "bad"
    printed("")
    if bad:
        printed(
            _("Not everything is right. Begin with the first line that has the sign {sign}.").format(sign=_shown("✗"))
        )
    else:
        printed(_("The course can run on this machine. To open it: `{command}`.").format(command=command("lab")))
    return 1 if bad else 0


def findings(environment: Environment) -> Iterator[Finding]:
    """All lines, in an order in which what is wrong first explains what follows."""
    python = environment.python if environment.ready("course") else None
    set_up = python is None
    yield Finding("good", f"Python {sys.version.split()[0]}")
    yield disk(environment.root, NEEDED_MB if set_up else RUNNING_MB)
    yield from folders(environment.root)
    yield installed(environment)
    if set_up:
        yield venv_module()
        yield network(environment)
    yield port(FIRST_PORT)
    yield browser()
    yield git(environment.root)
    if python is None:
        words = _("JupyterLab, its kernel and the emulated account can be tried only after the set-up.")
        yield Finding("unknown", words, _("Then type `{command}` again.").format(command=command("doctor")))
    else:
        yield from course(environment, python)


def disk(folder: Path, needed: int) -> Finding:
    """Room on the disk of the course. `needed` in MB."""
    free = shutil.disk_usage(folder).free // 1_000_000
    if free < needed:
        words = _("The disk has {free} MB left. The course needs {needed} MB.")
        return Finding("bad", words.format(free=free, needed=needed), _("Make room on the disk."))
    return Finding("good", _("The disk has room: {free} MB.").format(free=free))


def folders(root: Path) -> Iterator[Finding]:
    """Whether the folders take files. It is tried: permission bits say nothing on Windows, or to an administrator."""
    refused = []
    work = root / WORK
    for folder in (work, *(work / language for language in Copies(root).languages)):
        if (file := in_the_way(folder)) is not None:
            yield _of(not_a_folder(file))
            return
    for folder in (root, work, Path(tempfile.gettempdir())):
        try:
            if folder.exists():
                with tempfile.TemporaryFile(dir=folder):
                    pass
        except OSError as error:
            refused.append((folder, error))
    for folder, refusal in refused:
        yield Finding(
            "bad",
            _("The folder {folder} cannot be written to ({reason}).").format(folder=folder, reason=refusal.strerror),
            _("Give yourself the right to write there, or move the course into a folder of your own."),
        )
    if not refused:
        yield Finding("good", _("The folders of the course can be written to."))


def installed(environment: Environment) -> Finding:
    """The state of .venv, or of the environment of somebody else's making that is used in its place."""
    if isinstance(environment, Installed):
        return Finding("good", _("The packages of the course are installed in {folder}.").format(folder=sys.prefix))
    repair = _("Repair it: `{command}`.").format(command=command("setup"))
    stamp = environment.stamp()
    if not environment.folder.exists():
        words = _("The course is not set up yet: there is no folder .venv.")
        return Finding("note", words, _("Set it up: `{command}`.").format(command=command("lab")))
    if stamp is not None and stamp.state == "installing":
        return Finding("bad", _("An earlier set-up did not come to its end."), repair)
    if environment.foreign():
        return _of(foreign(OLDEST))
    if not environment.ready("course"):
        words = _(
            "The environment .venv does not fit this course: it is older, or was made in another place or by another "
            "program."
        )
        return Finding("bad", words, repair)
    if gone := environment.missing():
        words = _("Files are missing in .venv: {count}. One of them is {name}.")
        return Finding("bad", words.format(count=len(gone), name=gone[0]), repair)
    if other := environment.other_versions():
        words = _("Packages in .venv have another version than the course expects: {names}.")
        return Finding("bad", words.format(names=", ".join(other[:5])), repair)
    return Finding("good", _("The environment .venv is complete."))


def venv_module() -> Finding:
    """What a set-up needs of this Python."""
    if has_venv_module():
        return Finding("good", _("This Python can make environments (module venv)."))
    return _of(no_venv_module())


def network(environment: Environment) -> Finding:
    """Whether pip reaches its package index: it fetches the smallest package of the lock file."""
    wanted = requirement(environment.root / LOCKS["course"], _SMALL_PACKAGE)
    if wanted is None or importlib.util.find_spec("pip") is None:
        return Finding("unknown", _("This Python has no pip, so the network was not tried. The set-up brings its own."))
    options = ["--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--retries", "0", "--timeout", "10"]
    with tempfile.TemporaryDirectory(prefix="once-doctor-") as folder:
        lock = Path(folder) / "one.lock"
        lock.write_text(wanted, encoding="utf-8", newline="\n")
        given = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, "-r", str(lock)]
        done = subprocess.run(given, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode == 0:
        return Finding("good", _("The package index can be reached."))
    failure = known_failure(done.stdout + done.stderr)
    if failure is not None:
        return _of(failure)
    last = [line for line in done.stderr.splitlines() if line.strip()] or [_("no output")]
    return Finding("bad", _("pip cannot download packages: {line}").format(line=last[-1]), _("Put right what it says."))


def port(number: int) -> Finding:
    """The first port that JupyterLab tries. When it is taken, JupyterLab takes the next one by itself."""
    with socket.socket() as listener:
        if os.name != "nt":  # on Windows this option would share a port that is in use
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", number))
        except OSError:
            words = _("Port {port} is in use, by another JupyterLab perhaps. The course takes the next free one.")
            return Finding("note", words.format(port=number))
    return Finding("good", _("Port {port} is free.").format(port=number))


def browser() -> Finding:
    """Whether a page can be opened here."""
    by_hand = _("Copy the address that `{command}` prints into a browser.").format(command=command("lab"))
    if not has_display():
        return Finding("note", _("There is no screen here, so no browser opens by itself."), by_hand)
    try:
        webbrowser.get()
    except webbrowser.Error:
        return Finding("note", _("No browser was found."), by_hand)
    return Finding("good", _("There is a browser."))


def git(root: Path) -> Finding:
    """Whether the course can be brought up to date with `git pull`."""
    try:
        done = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"],
            cwd=root,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        words = _("git was not found. The course runs without it, but `git pull` cannot bring it up to date.")
        return Finding("note", words)
    if done.returncode != 0 and (root / ".git").exists():
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), _("no output"))
        return Finding("note", _("git cannot read this folder: {reason}").format(reason=last.strip()))
    if done.returncode != 0:
        return Finding("note", _("This folder is no git clone. The course runs, but cannot be updated by `git pull`."))
    changed = [line[3:] for line in done.stdout.splitlines()]
    if changed:
        words = _("Files of the course were changed here: {count}. One of them is {name}.")
        step = _("Before `git pull`, put them aside: `git stash`. Your copies in the folder `work` are not touched.")
        return Finding("note", words.format(count=len(changed), name=changed[0]), step)
    return Finding("good", _("git can bring the course up to date."))


def course(environment: Environment, python: Path) -> Iterator[Finding]:
    """What the probe saw with the course's own Python."""
    repair = _("Repair .venv: `{command}`.").format(command=command("setup"))
    seen = _probe(environment, python)
    version = str(seen.get("jupyterlab", ""))
    if not version:
        yield Finding("bad", _("JupyterLab is not installed."), repair)
    elif too_old(version):
        yield _of(old_jupyterlab(environment, version))
    else:
        yield Finding("good", f"JupyterLab {version}")
    tried = {
        "kernel": (_("A kernel starts and runs a cell."), _("No kernel could be started: {reason}")),
        "account": (
            _("The emulated account answers on 127.0.0.1."),
            _("The emulated account does not answer on 127.0.0.1: {reason}"),
        ),
        "worker": (
            _("A function of the emulated account runs."),
            _("A function of the emulated account could not be run: {reason}"),
        ),
    }
    for name, (right, wrong) in tried.items():
        reason = seen.get(name, seen.get("error", _("no output")))
        if reason == "":
            yield Finding("good", right)
        else:
            advice = _("If a firewall or a virus scanner is at work here, allow Python to use 127.0.0.1. {repair}")
            yield Finding("bad", wrong.format(reason=reason), advice.format(repair=repair))
    yield _answers(seen.get("answers"))


def _answers(seen: Any) -> Finding:
    if not isinstance(seen, dict):
        return Finding("unknown", _("The folder of your answers could not be looked at."))
    if seen["folder"] is None:
        return Finding(
            "bad",
            _("No folder can be written to, so your answers would not be saved."),
            _("Set ONCE_HOME to a folder of yours and start the course again."),
        )
    if not seen["first"]:
        words = _("Your usual folder cannot be written to. Your answers are kept in {folder}.")
        step = _("Set ONCE_HOME to a folder of yours and start the course again.")
        return Finding("note", words.format(folder=seen["folder"]), step)
    return Finding("good", _("Your answers are kept in {folder}.").format(folder=seen["folder"]))


def _probe(environment: Environment, python: Path) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [python, "-m", "helpers.launcher.probe"],
            cwd=environment.root,
            env=environment.variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
        )
        lines = done.stdout.splitlines() or [""]
        return dict(json.loads(lines[-1]))
    except subprocess.TimeoutExpired:
        return {"error": _("no answer after {seconds} s").format(seconds=round(_PROBE_SECONDS))}
    except (OSError, ValueError) as error:
        return {"error": str(error)}


def _of(trouble: Trouble) -> Finding:
    return Finding("bad", trouble.what, trouble.next_step)
