"""``python -m helpers.launcher``: the door that also opens for a Python which is too old.

This file keeps to the syntax of Python 3.6, because an old Python must be able to read it in order to say
what is missing.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NEWEST_TRIED = 19


def words(arguments):
    """Speak the reader's language, where this Python can read its catalog."""
    global _
    try:
        from helpers.launcher.words import _ as spoken
        from helpers.launcher.words import choose

        choose(arguments)
        _ = spoken
    except Exception:  # older than Python 3.7: English
        pass


def _(message):
    return message


def newer_python():
    """Return the path of a Python on this machine that is new enough, or None."""
    if not hasattr(shutil, "which"):  # Python 2
        return None
    for minor in range(NEWEST_TRIED, OLDEST[1] - 1, -1):
        path = shutil.which("python3.%d" % minor)  # noqa: UP031
        if path and subprocess.call([path, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def in_utf8():
    """Start this program again in UTF-8 mode, where Python cannot read the names of folders as everything else does.

    With LC_ALL=C and PYTHONUTF8=0 the name of a folder is other text here than in the course's programs: the .venv
    would seem to have moved. The program takes the place of this one, with its number, its signals and its exit code.
    """
    if "utf8" in getattr(sys, "_xoptions", {}):  # it was; the programs that start from here write UTF-8
        os.environ.pop("PYTHONIOENCODING", None)
        return
    if os.name == "nt" or getattr(sys.flags, "utf8_mode", True):  # a Python older than 3.7 has no such mode
        return
    if sys.getfilesystemencoding().lower().replace("-", "") == "utf8":
        return
    environment = dict(os.environ)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    if encoding.lower() not in ("ascii", "us-ascii", "ansi_x3.4-1968"):
        environment.setdefault("PYTHONIOENCODING", encoding + ":replace")  # the terminal's letters stay what they are
    os.execve(sys.executable, [sys.executable, "-X", "utf8", "-m", "helpers"] + sys.argv[1:], environment)  # noqa: RUF005


def main():
    """Run the command line with a Python that is new enough; return the exit code."""
    in_utf8()
    if sys.version_info >= OLDEST:
        from helpers.launcher.command import run

        return run(sys.argv[1:])
    words(sys.argv[1:])
    found = newer_python()
    if found:
        text = _("{newer} is used in place of {older}, which is too old.")
        sys.stderr.write("Once: " + text.format(newer=found, older=sys.executable) + "\n")
        return subprocess.call([found, "-m", "helpers"] + sys.argv[1:])  # noqa: RUF005
    command = "py -m helpers lab" if os.name == "nt" else "make lab PYTHON=python3.12"
    what = _("This is Python {here}. The course needs Python {oldest} or newer.")
    what = what.format(here="%d.%d" % tuple(sys.version_info[:2]), oldest="%d.%d" % OLDEST)  # noqa: UP031
    step = _("Install a newer Python beside this one. Then type `{command}`.").format(command=command)
    sys.stderr.write("Once: " + what + "\n" + _("Next: {step}").format(step=step) + "\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
