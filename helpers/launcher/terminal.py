"""What the launcher says in the terminal, and how it runs other programs without their noise."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from helpers.launcher.words import _

HEARTBEAT_TERMINAL = 1.0
HEARTBEAT_LOG = 30.0
# The variables of the Makefile; LANG would be the system's.
_MAKE = {"lesson": "LESSON", "language": "LANG_"}


class Trouble(Exception):
    """Something that the person at the terminal must put right.

    ``what`` is one sentence about what happened, ``next_step`` one about what to do now.
    """

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(f"{what} {next_step}")
        self.what = what
        self.next_step = next_step


def printed(text: str) -> None:
    """Print lines at once, also into a pipe, with characters that a terminal lacks replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    with suppress(OSError):  # the terminal was closed
        print(text.encode(encoding, "replace").decode(encoding), flush=True)


def say(text: str) -> None:
    """Print one line about what happens."""
    printed(f"Once: {text}")


def complain(trouble: Trouble) -> None:
    """Print a trouble and its next step on standard error."""
    encoding = sys.stderr.encoding or "utf-8"
    text = f"Once: {trouble.what}\n{_('Next: {step}').format(step=trouble.next_step)}"
    print(text.encode(encoding, "replace").decode(encoding), file=sys.stderr, flush=True)


def command(name: str, **options: str) -> str:
    """What to type on this system: ``make fresh LESSON=order-file LANG_=fr`` or ``py -m helpers fresh --lesson …``."""
    if os.name == "nt" and "MAKELEVEL" not in os.environ:
        return " ".join(["py -m helpers", name, *(f"--{option} {value}" for option, value in options.items())])
    return " ".join(["make", name, *(f"{_MAKE[option]}={value}" for option, value in options.items())])


def run_logged(
    arguments: Sequence[str | os.PathLike[str]],
    log: Path,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a program with its output in ``log`` (appended); show only that time passes.

    Returns the exit code and what the program printed.
    """
    with log.open("ab") as output:
        output.write(("\n$ " + " ".join(os.fspath(part) for part in arguments) + "\n").encode("utf-8", "replace"))
        output.flush()
        start = output.tell()
        process = subprocess.Popen(
            list(arguments),
            cwd=cwd,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(process)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    with log.open("rb") as written:
        written.seek(start)
        return process.returncode, written.read().decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes]) -> None:
    started = time.monotonic()
    live = sys.stdout.isatty()
    while True:
        try:
            process.wait(HEARTBEAT_TERMINAL if live else HEARTBEAT_LOG)
            break
        except subprocess.TimeoutExpired:
            seconds = round(time.monotonic() - started)
            print(f"\r      {seconds} s" if live else f"      {seconds} s", end="" if live else "\n", flush=True)
    if live:
        print("\r" + " " * 20 + "\r", end="", flush=True)
