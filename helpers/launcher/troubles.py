"""What can keep the course from being set up, each with the next step, in the reader's language."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from helpers.launcher.terminal import Trouble, command
from helpers.launcher.words import _

NEEDED_MB = 750
# EDQUOT is not defined on Windows.
FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}
# With less room than this a program of the set-up fails, whatever its last line says.
_LEAST_BYTES = 20_000_000

_NETWORK = re.compile(
    r"name resolution|NameResolutionError|NewConnectionError|ConnectTimeout|ReadTimeout|timed out|ProxyError|"
    r"Max retries exceeded|Connection refused|Connection reset|Network is unreachable|dns error|"
    r"error sending request|Failed to fetch|No matching distribution found",
    re.IGNORECASE,
)
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate|UnknownIssuer", re.IGNORECASE)
_DISK_FULL = re.compile(r"No space left on device|Errno 28|not enough space on the disk|os error 28", re.IGNORECASE)
_CHANGED = re.compile(r"DO NOT MATCH THE HASHES|hash mismatch", re.IGNORECASE)


def no_room(folder: Path) -> bool:
    """Whether the disk of a folder is full, or nearly so."""
    with suppress(OSError):
        return shutil.disk_usage(folder).free < _LEAST_BYTES
    return False


def hopeless(output: str, folder: Path) -> bool:
    """Whether another program would fail for the same reason: no network, no room in `folder`, no trust."""
    return no_room(folder) or any(pattern.search(output) for pattern in (_NETWORK, _DISK_FULL, _CERTIFICATE))


def failed_set_up(what: str, output: str, log: Path) -> Trouble:
    """What to say about a program of the set-up that failed, from what it printed."""
    again = _("Then type `{command}` again. Details: {log}").format(command=command("lab"), log=log)
    failure = _disk_full() if no_room(log.parent) else known_failure(output)
    if failure is None:
        last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), _("no output"))
        said = _("The last line of the output: {line}").format(line=last)
        failure = Trouble(f"{what} {said}", _("Read the log and put right what it says."))
    return Trouble(failure.what, f"{failure.next_step} {again}")


def known_failure(output: str) -> Trouble | None:
    """What kept pip or uv from its work, when what it printed tells."""
    if _DISK_FULL.search(output):
        return _disk_full()
    if _CERTIFICATE.search(output):
        return Trouble(
            _("The package index was reached, but its certificate is not trusted here."),
            _("Behind a company’s proxy, set PIP_CERT and SSL_CERT_FILE to the file of its certificate."),
        )
    if _NETWORK.search(output):
        return Trouble(
            _("The package index cannot be reached. Only the first start needs the network."),
            _("Connect to the network. Behind a proxy, set HTTPS_PROXY."),
        )
    if _CHANGED.search(output):
        return Trouble(
            _("A downloaded package is not the one that the course expects. It was not installed."),
            _("Empty the download cache: `{command}`.").format(command="python -m pip cache purge"),
        )
    return None


def _disk_full() -> Trouble:
    return Trouble(
        _("The disk is full. The course needs about {size} MB.").format(size=NEEDED_MB),
        _("Make room on the disk."),
    )


def bring_back(root: Path, *names: str) -> str:
    """How to get files of the course back that are damaged or missing. A downloaded folder has no git to ask.

    :param names: their paths from the course's folder `root`.
    """
    if (root / ".git").exists():
        return _("Bring back what is missing: `{command}`.").format(command=f"git checkout -- {' '.join(names)}")
    return _("Download the course once more, and take from it: {names}.").format(names=", ".join(names))


def missing_file(root: Path, name: str) -> Trouble:
    """What to say about a file of the course that is not there. `name` is its path from the course's folder `root`."""
    return Trouble(_("The file {name} is missing.").format(name=name), bring_back(root, name))


def damaged_notebook(root: Path, path: Path) -> Trouble:
    """What to say about a stored notebook that is none. A class or a learner sees nothing of it."""
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    what = _("The file {name} is damaged: it is not a whole notebook. Nothing was made from it.")
    return Trouble(what.format(name=name), bring_back(root, name))


def missing_of_course(error: OSError, root: Path) -> Trouble | None:
    """What to say when an error names a file of the course that is not there; None when it is another error."""
    if not isinstance(error, FileNotFoundError) or not error.filename:
        return None
    path = Path(str(error.filename))
    return missing_file(root, path.relative_to(root).as_posix()) if path.is_relative_to(root) else None


def missing_files(gone: Sequence[str]) -> Trouble:
    """What to say about files that an environment lost after its set-up."""
    return Trouble(
        _("Files are missing in .venv: {count}. One of them is {name}.").format(count=len(gone), name=gone[0]),
        _("Repair .venv: `{command}`.").format(command=command("setup")),
    )


def no_such_language(wanted: str, known: Sequence[str], name: str, **options: str) -> Trouble:
    """What to say about a language that the course is not in. `name` and `options` make the example to type."""
    example = command(name, **options, language=known[0])
    return Trouble(
        _("The course is not in the language “{language}”. It is in these: {known}.").format(
            language=wanted, known=", ".join(known)
        ),
        _("Choose one of them, for example `{command}`.").format(command=example),
    )


def foreign(oldest: tuple[int, int]) -> Trouble:
    """What to say about a folder .venv that is not ours and of no use."""
    return Trouble(
        _("The folder .venv is already here, but it holds no working Python {oldest} or newer with pip.").format(
            oldest=".".join(str(part) for part in oldest)
        ),
        _("Delete it: `{clean}`. Then type `{command}` again.").format(clean=command("clean"), command=command("lab")),
    )


def no_venv_module() -> Trouble:
    """What to do about it."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Trouble(
        _("Python {version} is here without its module venv, which makes environments.").format(version=version),
        _(
            "On Debian or Ubuntu: `{install}`. Elsewhere: install Python from its own installer. "
            "Then type `{command}` again."
        ).format(install=f"sudo apt install python{version}-venv", command=command("lab")),
    )


def cannot_write(error: OSError, root: Path) -> Trouble | None:
    """A folder of the course takes no files, or the disk takes nothing more; None when the error is another one.

    :param root: the course's folder, named when the error names no file.
    """
    folder = Path(str(error.filename)).parent if error.filename else root
    if error.errno in FULL:
        return Trouble(
            _("The disk is full: nothing can be written to {folder}.").format(folder=folder),
            _("Make room on the disk. Then type the command again."),
        )
    if error.errno not in _REFUSED:
        return None
    blocked = error.filename if error.errno in (errno.EEXIST, errno.ENOTDIR) else None
    if blocked and (file := in_the_way(Path(str(blocked)))) is not None:
        return not_a_folder(file)
    return Trouble(
        _("The folder {folder} cannot be written to ({reason}).").format(folder=folder, reason=error.strerror),
        _(
            "Give yourself the right to write there. Or move the course into a folder of your own, for example in "
            "your home folder. Then type the command again."
        ),
    )


def in_the_way(path: Path) -> Path | None:
    """What lies where `path` or a folder above it should be a folder: a file, or a link that leads nowhere; or None."""
    for place in (path, *path.parents):
        if os.path.lexists(place):
            return None if os.path.isdir(place) else place
    return None


def not_a_folder(file: Path) -> Trouble:
    """What to say about something that `in_the_way` found."""
    return Trouble(
        _("The course needs the folder {folder}. A file or a broken link has this name.").format(folder=file),
        _("Give it another name, or delete it. Then type the command again."),
    )
