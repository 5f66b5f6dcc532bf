"""What can keep the course from being set up, each with the next step, in the reader's language."""

from __future__ import annotations

import errno
import re
import sys
from pathlib import Path

from helpers.launcher.terminal import Trouble, command
from helpers.launcher.words import _

NEEDED_MB = 750
# EDQUOT is not defined on Windows.
FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
# The last two: a file lies where a folder should be.
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}

_NETWORK = re.compile(
    r"name resolution|NameResolutionError|NewConnectionError|ConnectTimeout|ReadTimeout|timed out|ProxyError|"
    r"Max retries exceeded|Connection refused|Connection reset|Network is unreachable|dns error|"
    r"error sending request|Failed to fetch|No matching distribution found",
    re.IGNORECASE,
)
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate|UnknownIssuer", re.IGNORECASE)
_DISK_FULL = re.compile(r"No space left on device|Errno 28|not enough space on the disk|os error 28", re.IGNORECASE)
_CHANGED = re.compile(r"DO NOT MATCH THE HASHES|hash mismatch", re.IGNORECASE)


def hopeless(output: str) -> bool:
    """Whether another program would fail for the same reason: no network, no room, no trust."""
    return any(pattern.search(output) for pattern in (_NETWORK, _DISK_FULL, _CERTIFICATE))


def failed_set_up(what: str, output: str, log: Path) -> Trouble:
    """What to say about a program of the set-up that failed, from what it printed."""
    again = _("Then type `{command}` again. Details: {log}").format(command=command("lab"), log=log)
    failure = known_failure(output)
    if failure is None:
        last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), _("no output"))
        said = _("The last line of the output: {line}").format(line=last)
        failure = Trouble(f"{what} {said}", _("Read the log and put right what it says."))
    return Trouble(failure.what, f"{failure.next_step} {again}")


def known_failure(output: str) -> Trouble | None:
    """What kept pip or uv from its work, when what it printed tells."""
    if _DISK_FULL.search(output):
        return Trouble(
            _("The disk is full. The course needs about {size} MB.").format(size=NEEDED_MB),
            _("Make room on the disk."),
        )
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


def bring_back(root: Path, *names: str) -> str:
    """How to get files of the course back that are damaged or missing. A downloaded folder has no git to ask.

    :param names: their paths from the course's folder `root`.
    """
    if (root / ".git").exists():
        return _("Bring back what is missing: `{command}`.").format(command=f"git checkout -- {' '.join(names)}")
    return _("Download the course once more, and take from it: {names}.").format(names=", ".join(names))


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
    return Trouble(
        _("The folder {folder} cannot be written to ({reason}).").format(folder=folder, reason=error.strerror),
        _(
            "Give yourself the right to write there. Or move the course into a folder of your own, for example in "
            "your home folder. Then type the command again."
        ),
    )
