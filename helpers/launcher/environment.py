"""The environment of the course: .venv, installed from a lock file, repaired when it is not whole.

A stamp in the folder says what was put in: the digests of the lock files, the place of the clone, and whether
the set-up came to its end. A start with a matching stamp does nothing; the rest follows from the stamp.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Literal

from helpers.launcher.packages import gone_files, installed, locked, requirement
from helpers.launcher.terminal import Trouble, run_logged, say
from helpers.launcher.troubles import (
    bring_back,
    failed_set_up,
    foreign,
    hopeless,
    no_room,
    no_venv_module,
)
from helpers.launcher.words import _

Set = Literal["course", "test"]

ROOT = Path(__file__).resolve().parents[2]
LOCKS: dict[Set, str] = {"course": "requirements.lock", "test": "requirements-test.lock"}
OLDEST = (3, 11)
LAYOUT = 1  # raise it when an old .venv must be made again although its lock files are the same


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is in an environment. ``sets`` maps the name of a set to the digest of the lock it came from.

    ``packages`` are the names of what the lock files put in on this system; empty in a stamp of an earlier course.
    """

    state: Literal["installing", "ready"]
    root: str
    sets: dict[Set, str] = field(default_factory=dict)
    layout: int = LAYOUT
    packages: list[str] = field(default_factory=list)


class Environment:
    """The folder .venv of one clone.

    :param root: the clone's folder; the lock files and pyproject.toml are there.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.stamp_file = self.folder / "once.json"
        self.log = self.folder / "once-setup.log"

    @property
    def python(self) -> Path:
        """The environment's interpreter, there or not."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def packages(self) -> Path:
        """A folder above or at its site-packages."""
        return self.folder

    def digest(self, name: Set) -> str:
        """SHA-256 of a lock file's text, whatever its line ends."""
        path = self.root / LOCKS[name]
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise Trouble(
                _("The file {name} cannot be read ({reason}).").format(name=LOCKS[name], reason=error.strerror),
                bring_back(self.root, LOCKS[name]),
            ) from error
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    def stamp(self) -> Stamp | None:
        """The stamp, or None when the folder has none that can be read."""
        try:
            values = json.loads(self.stamp_file.read_text(encoding="utf-8"))
            return Stamp(**values)
        except (OSError, ValueError, TypeError):
            return None

    def ready(self, name: Set) -> bool:
        """Whether the set is installed as its lock file says, in this place. Takes milliseconds."""
        stamp = self.stamp()
        return (
            stamp is not None
            and stamp.state == "ready"
            and stamp.layout == LAYOUT
            and stamp.root == str(self.root)
            and stamp.sets.get(name) == self.digest(name)
            and os.path.exists(self.python)  # Path.exists raises PermissionError for a folder that is closed
        )

    def prepare(self, name: Set) -> Path:
        """Make the environment ready for a set of packages and return its interpreter.

        Nothing is done when it is ready and no package was lost. The set ``test`` contains ``course``.

        :raises Trouble: something that the person must put right; the environment stays marked as unfinished.
        """
        if self._whole(name):
            return self.python
        with self._alone():
            if not self._whole(name):
                self._install(name)
        return self.python

    def _whole(self, name: Set) -> bool:
        return self.ready(name) and not self.lost()

    def lost(self) -> list[str]:
        """Packages that the set-up put in and that are gone, with all that says what they were. Takes milliseconds.

        After the set-up of an earlier course it is not known what it put in: then these are packages that the lock
        files name for every system.
        """
        stamp = self.stamp()
        if stamp is None:
            return []
        locks = (self.root / LOCKS[name] for name in LOCKS if name in stamp.sets)
        expected = stamp.packages or [one.name for lock in locks for one in locked(lock) if not one.marker]
        return sorted(set(expected) - installed(self.folder).keys())

    def missing(self) -> list[str]:
        """Files that belong to packages and that are gone. Takes a fraction of a second."""
        return [f"{package}.dist-info/RECORD" for package in self.lost()] + gone_files(self.folder)

    def jupyterlab_version(self) -> str | None:
        """The version of JupyterLab that is in it, or None."""
        return installed(self.folder).get("jupyterlab")

    def other_versions(self) -> list[str]:
        """Packages that somebody exchanged: "jupyterlab 3.6.8 ≠ 4.6.6". Takes milliseconds."""
        expected: dict[str, set[str]] = {}
        for one in locked(self.root / LOCKS["course"]):
            expected.setdefault(one.name, set()).add(one.version)
        return [
            f"{package} {version} ≠ {', '.join(sorted(expected[package]))}"
            for package, version in installed(self.folder).items()
            if package in expected and version not in expected[package]
        ]

    def repair(self, name: Set) -> Path:
        """Make an environment again that was changed after its set-up, though its stamp says that it is ready.

        Files were deleted from it, or packages exchanged for others.
        """
        if self.ready(name) and (gone := self.missing()):
            text = _("Files are missing in .venv: {count}. One of them is {name}. The environment is made again.")
            say(text.format(count=len(gone), name=gone[0]))
            with self._alone():
                remove(self.folder)
        elif self.ready(name) and (others := self.other_versions()):
            text = _(
                "Packages in .venv have another version than the course expects: {names}. "
                "The environment is made again."
            )
            say(text.format(names=", ".join(others[:5])))
            with self._alone():
                remove(self.folder)
        return self.prepare(name)

    def variables(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The variables for a program that runs in this environment."""
        result = dict(os.environ if base is None else base)
        # Without written bytecode each kernel and each worker would compile its packages anew.
        foreign = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__", "CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE")
        for unwanted in foreign:
            result.pop(unwanted, None)
        result["VIRTUAL_ENV"] = str(self.folder)
        result["PATH"] = os.pathsep.join([str(self.python.parent), result.get("PATH", "")])
        result["PYTHONUTF8"] = "1"
        return result

    # -- the steps of a set-up

    def _install(self, name: Set) -> None:
        digests: dict[Set, str] = {name: self.digest(name)}
        if name == "test":
            digests["course"] = self.digest("course")
        started = time.monotonic()
        if not self._usable():
            self._create()
        self._write(Stamp("installing", str(self.root)))
        self._install_packages(LOCKS[name])
        self._install_course()
        packages = {one.name for lock in digests for one in locked(self.root / LOCKS[lock])}
        there = sorted(packages & installed(self.folder).keys())
        self._write(Stamp("ready", str(self.root), digests, packages=there))
        say(_("The environment is ready ({seconds} s).").format(seconds=round(time.monotonic() - started)))

    def _usable(self) -> bool:
        """Whether packages can be put into the folder as it is; False means that it must be made."""
        if not self.folder.exists() and not self.folder.is_symlink():
            return False
        stamp = self.stamp()
        version = self._version()
        if stamp is None:
            if version is not None:
                say(_("The .venv that is already here is used."))
                return True
            raise foreign(OLDEST)
        if stamp.state == "installing":
            say(_("An earlier set-up did not come to its end. It starts again."))
        elif stamp.root != str(self.root):
            say(_("This folder has moved since .venv was made. The environment is made again."))
        elif stamp.layout != LAYOUT or version is None:
            say(_("The environment .venv no longer fits this course. It is made again."))
        else:
            say(_("Packages are missing, or their list has changed. The environment .venv is brought up to date."))
            return True
        return False

    def foreign(self) -> bool:
        """Whether the folder has no stamp and no Python that a set-up could use."""
        return self.stamp() is None and self._version() is None

    def _version(self) -> str | None:
        """The version of the environment's Python, or None if it does not start, is too old or has no pip."""
        code = f"import sys, pip; assert sys.version_info >= {OLDEST}; print(sys.version.split()[0])"
        try:
            done = subprocess.run(
                [self.python, "-c", code],
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                env=self.variables(),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    def _create(self) -> None:
        if not has_venv_module():
            raise no_venv_module()
        remove(self.folder)
        say(_("Making the environment .venv with Python {version}.").format(version=sys.version.split()[0]))
        self.folder.mkdir()
        self._write(Stamp("installing", str(self.root)))
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        code, output = run_logged(
            [interpreter, "-m", "venv", self.folder],
            self.log,
            self.root,
            self.variables() | {"PYTHONUTF8": "1"},
        )
        if code != 0 or self._version() is None:
            raise failed_set_up(_("The environment could not be made."), output, self.log)

    def _install_packages(self, lock: str) -> None:
        """Install a lock file: with uv, which is in it and takes a fifth of the time, else with pip."""
        count = sum(1 for line in (self.root / lock).read_text(encoding="utf-8").splitlines() if line[:1].isalnum())
        text = _("Installing about {count} packages. This needs the network and a few minutes, only once.")
        say(text.format(count=count))
        uv = self._uv(lock)
        if uv is not None:
            arguments: list[str | Path] = [
                "pip",
                "install",
                "--python",
                self.python,
                "--require-hashes",
                "--no-build",
                "-r",
                lock,
            ]
            code, output = run_logged([uv, *arguments], self.log, self.root, self.variables())
            if code == 0:
                return
            if no_room(self.folder):
                raise failed_set_up(_("The packages could not be installed."), output, self.log)
            say(_("uv could not install them. Trying pip, which takes longer."))
        code, output = self._pip("--require-hashes", "--only-binary", ":all:", "-r", lock)
        if code != 0:
            raise failed_set_up(_("The packages could not be installed."), output, self.log)

    def _uv(self, lock: str) -> Path | None:
        """The uv of the lock file, installed with pip first; None where there is none for this system.

        :raises Trouble: the network is missing, or the disk is full: pip would fail for the same reason.
        """
        part = self.folder / "once-uv.lock"
        text = requirement(self.root / lock, "uv")
        if text is None:
            return None
        part.write_text(text, encoding="utf-8", newline="\n")
        code, output = self._pip("--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", str(part))
        if code != 0 and hopeless(output, self.folder):
            raise failed_set_up(_("The packages could not be installed."), output, self.log)
        uv = self.python.with_name("uv.exe" if os.name == "nt" else "uv")
        return uv if code == 0 and uv.exists() else None

    def _install_course(self) -> None:
        """Make ``helpers`` importable from every folder; the build backend is the locked one."""
        code, output = self._pip("--no-build-isolation", "--no-deps", "--no-index", "--editable", ".")
        if code != 0:
            raise failed_set_up(_("The course’s own package could not be installed."), output, self.log)

    def _pip(self, *arguments: str) -> tuple[int, str]:
        options = ["--disable-pip-version-check", "--no-input", "--retries", "2"]
        return run_logged(
            [self.python, "-m", "pip", "install", *options, *arguments], self.log, self.root, self.variables()
        )

    def _write(self, stamp: Stamp) -> None:
        text = json.dumps(asdict(stamp), indent=1) + "\n"
        beside = self.stamp_file.with_suffix(".new")
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, self.stamp_file)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep a second set-up of the same clone waiting until this one has ended, in whatever way."""
        path = self.root / ".venv.lock"
        with path.open("a+", encoding="utf-8") as file:
            told = False
            while not _try_lock(file):
                if not told:
                    say(_("Another set-up of this folder is at work. Waiting for its end."))
                    told = True
                time.sleep(0.2)
            try:
                yield
            finally:
                _unlock(file)


def has_venv_module() -> bool:
    """Whether this Python can make environments; Debian ships the modules for it in a package of their own."""
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def remove(folder: Path) -> None:
    """Delete a folder, or the link or file that has its name.

    :raises Trouble: something in it is in use or not ours.
    """
    try:
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise Trouble(
            _("{folder} cannot be deleted ({reason}).").format(folder=folder, reason=error.strerror),
            _("Close the programs that use it (JupyterLab, terminals) and delete it. Then type the command again."),
        ) from error


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[str]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[str]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: better unguarded than never
            return True
        return True

    def _unlock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
