"""What a learner types or chooses, kept outside the notebooks: one small text file per answer.

A lesson can be pulled, reset or rebuilt without touching these files. The first of these folders
that can be written to is used. Answers are read from all of them, the newest first: nothing disappears when a
folder becomes read-only. Only a folder that ONCE_HOME names and that can be written to stands alone; when its disk is
full, nothing goes elsewhere: it would not be read there once the disk has room again.

1. ``$ONCE_HOME/answers``
2. the user's data folder (``platformdirs.user_data_path("once-course")``), ``answers`` in it
3. ``answers`` in the course's own folder (git ignores it)
4. a folder for temporary files, with a warning: it may be emptied when the computer restarts

Below it, ``<lesson>/<language>/<name>.txt`` holds the answer as UTF-8 text and nothing else, so that a
learner can read it, copy it or keep it without this program.
"""

from __future__ import annotations

import contextlib
import errno
import getpass
import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from helpers.lab.errors import LabError
from helpers.lab.language import _

Kind = Literal["chosen", "user", "course", "temporary"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_REPLACE_TRIES = 20
# EDQUOT is not defined on Windows.
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


@dataclass(frozen=True, slots=True)
class Replaced:
    """What another notebook had written where this one has just written. `file` is the copy that keeps it."""

    text: str
    file: Path


@dataclass(frozen=True, slots=True)
class Place:
    """A folder where answers may be kept. `kind` says why it is a candidate."""

    kind: Kind
    folder: Path


class AnswerNotSaved(LabError):
    """No folder would take the answer. `__cause__` is the last reason."""


def places(environ: Mapping[str, str] | None = None, course: Path | None = None) -> list[Place]:
    """Candidate folders, best first. `course`: root of the course's own folder (default: this checkout)."""
    environ = os.environ if environ is None else environ
    course = Path(__file__).resolve().parents[2] if course is None else course
    found: list[Place] = []
    if chosen := environ.get("ONCE_HOME"):
        # Unlike Path.expanduser, this leaves "~nobody" as it is, as a shell does.
        found.append(Place("chosen", Path(os.path.expanduser(chosen)) / "answers"))
    found.append(Place("user", platformdirs.user_data_path("once-course", appauthor=False) / "answers"))
    found.append(Place("course", course / "answers"))
    found.append(Place("temporary", Path(tempfile.gettempdir()) / f"once-course-{_user()}"))
    return found


class Answers:
    """The answers of one lesson in one language.

    Every process reads and writes whole files, so two notebooks may be open at once: different answers never
    meet, and when both change the same one, the text that is replaced is kept beside it (`earlier` copies).
    """

    def __init__(
        self,
        lesson: str,
        language: str,
        *,
        environ: Mapping[str, str] | None = None,
        course: Path | None = None,
    ) -> None:
        self._below = Path(_checked(lesson)) / _checked(language)
        self._places: Sequence[Place] = places(environ, course)
        self._known: dict[str, str] = {}
        self._replaced: dict[str, Replaced] = {}
        self._lock = threading.RLock()
        self._full: set[Kind] = set()
        self._use = self._first_writable(0)

    @property
    def place(self) -> Place | None:
        """Where answers are written now, or None when no folder can be written to."""
        return self._places[self._use] if self._use is not None else None

    @property
    def folder(self) -> Path | None:
        """The folder that holds this lesson's files, or None when no folder can be written to."""
        return self.place.folder / self._below if self.place else None

    @property
    def below(self) -> Path:
        """Lesson and language: the part of `folder` that is the same wherever answers are kept."""
        return self._below

    @property
    def notice(self) -> str | None:
        """A warning in the reader's language when answers are not kept where they should be, else None."""
        place = self.place
        if place is None:
            return _(
                "No folder can be written to, so your answers are not saved. They stay on this page "
                "until you close it. Copy what you want to keep, or set ONCE_HOME to a folder of yours "
                "and start the course again."
            )
        if self._use == 0:
            return None
        if "user" in self._full:
            where = (
                _("Your answers are in the folder “answers” of the course.")
                if place.kind == "course"
                else _("Your answers are in a temporary folder, which may be emptied when the computer restarts.")
            )
            step = _("Make some room on the disk and start the course again.")
            return f"{_('The disk of your usual folder is full.')} {where} {step}"
        if place.kind == "temporary":
            return _(
                "Your usual folder cannot be written to. Your answers are in a temporary folder, which "
                "may be emptied when the computer restarts. Export them, or set ONCE_HOME to a folder "
                "of yours."
            )
        if place.kind == "course":
            return _(
                "Your usual folder cannot be written to. Your answers are in the folder “answers” of the "
                "course: keep it when you replace the course with a new copy."
            )
        return _(
            "The folder that ONCE_HOME names cannot be written to. Your answers are in your usual data "
            "folder: to keep them elsewhere, set ONCE_HOME to a folder of yours and start the course again."
        )

    def read(self, name: str) -> str:
        """The answer, or "" when there is none. A file that is not UTF-8 text counts as none."""
        name = _checked(name)
        with self._lock:
            found = [
                (changed, text)
                for place in self._readable()
                for changed, text in _texts(place.folder / self._below / f"{name}.txt")
            ]
            return max(found, key=lambda pair: pair[0])[1] if found else ""

    def take(self, name: str) -> str:
        """As `read`, for a place where the learner sees the text and changes it: `write` then replaces what they saw.

        What was only read, and is replaced, might be new to the learner: `write` keeps a copy of it.
        """
        with self._lock:
            self._known[name] = self.read(name)
            self._replaced.pop(name, None)
            return self._known[name]

    def forget(self, name: str) -> None:
        """Let the next `write` keep a copy of what is there, although this notebook has seen it."""
        with self._lock:
            self._known.pop(_checked(name), None)

    def write(self, name: str, text: str) -> Path:
        """Save one answer and give its file. Complete or not at all: a reader never sees half of it.

        Moves on to the next folder when one fails. Raises `AnswerNotSaved` when all fail, or when the disk with the
        folder that ONCE_HOME names is full.
        """
        name = _checked(name)
        with self._lock:
            reason: OSError | None = None
            start = self._use if self._use is not None else 0
            for number in range(start, len(self._places)):
                path = self._places[number].folder / self._below / f"{name}.txt"
                try:
                    _make_folder(path.parent, self._places[number])
                    self._keep_what_is_there(path, name, text)
                    _replace(path, text)
                except OSError as error:
                    # A full disk is the reason that a learner can do something about.
                    reason = reason if reason is not None and reason.errno in _FULL else error
                    if self._stays(self._places[number], error):
                        break
                    continue
                self._use = number
                self._known[name] = text
                return path
            raise _not_saved(reason) from reason

    def replaced(self, name: str) -> Replaced | None:
        """What another notebook had written for this answer, and this one replaced; None when nothing was."""
        return self._replaced.get(name)

    def names(self) -> list[str]:
        """Names of the answers that exist, sorted."""
        found: set[str] = set()
        for place in self._readable():
            with contextlib.suppress(OSError):
                for path in (place.folder / self._below).glob("*.txt"):
                    if _NAME.fullmatch(path.stem) and ".earlier-" not in path.stem:
                        found.add(path.stem)
        return sorted(found)

    def _readable(self) -> Sequence[Place]:
        if self.place is not None and self.place.kind == "chosen":
            return [self.place]
        return self._places

    def _first_writable(self, start: int) -> int | None:
        for number in range(start, len(self._places)):
            refusal = _refusal(self._places[number], self._below)
            if refusal is None or self._stays(self._places[number], refusal):
                return number
        return None

    def _stays(self, place: Place, refusal: OSError) -> bool:
        """Whether to write nowhere else, although a place takes nothing now; a full disk is remembered."""
        if refusal.errno not in _FULL:
            return False
        self._full.add(place.kind)
        return place.kind == "chosen"

    def _keep_what_is_there(self, path: Path, name: str, text: str) -> None:
        """Before a file is replaced: keep a copy when it holds something that this notebook did not know."""
        try:
            there = path.read_bytes()
        except FileNotFoundError:
            return
        known = self._known.get(name)
        if not there.strip() or there == _bytes(text) or (known is not None and there == _bytes(known)):
            return
        mark = hashlib.sha256(there).hexdigest()[:8]
        copy = path.with_name(f"{name}.earlier-{mark}.txt")
        if not copy.exists():
            _replace(copy, there)
        with contextlib.suppress(UnicodeDecodeError):
            self._replaced[name] = Replaced(there.decode("utf-8"), copy)


def _not_saved(reason: OSError | None) -> AnswerNotSaved:
    if reason is not None and reason.errno in _FULL:
        return AnswerNotSaved(
            _("Your answer could not be saved: the disk is full."),
            _("It is still on this page."),
            _("Make some room on the disk. Then type or choose once more: your answer is saved then."),
        )
    return AnswerNotSaved(
        _("Your answer could not be saved: no folder can be written to."),
        _("It is still on this page."),
        _(
            "Copy your answer before you close the page. "
            "Or set ONCE_HOME to a folder of yours and start the course again."
        ),
    )


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a name for a file of answers: {name!r}")
    return name


def _user() -> str:
    """A name for the temporary folder; computers without a user database (containers) give none."""
    try:
        return re.sub(r"[^A-Za-z0-9._-]", "_", getpass.getuser()) or "user"
    except (KeyError, OSError, ImportError):
        return "user"


def _texts(path: Path) -> list[tuple[int, str]]:
    """The file as [(time of its last change in ns, text)], or [] when there is none that can be read."""
    try:
        return [(path.stat().st_mtime_ns, path.read_bytes().decode("utf-8"))]
    except (OSError, UnicodeDecodeError):
        return []


def _bytes(text: str) -> bytes:
    # A browser can send half of a character pair; it must not cost the rest of the answer.
    return text.encode("utf-8", errors="replace")


def _make_folder(folder: Path, place: Place) -> None:
    if place.kind == "temporary":
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Other users of this computer may write in the parent: take only a folder that is ours.
        if hasattr(os, "getuid") and place.folder.lstat().st_uid != os.getuid():
            raise PermissionError(f"{place.folder} belongs to another user")
    folder.mkdir(parents=True, exist_ok=True)


def _refusal(place: Place, below: Path) -> OSError | None:
    """Why a place takes no file, if so. Try it: permission bits say nothing on Windows, on network folders, or to root.

    A full disk may still take an empty file: then it is `Answers.write` that meets it.
    """
    try:
        _make_folder(place.folder / below, place)
        with tempfile.TemporaryFile(dir=place.folder / below):
            return None
    except OSError as error:
        return error


def _replace(path: Path, content: str | bytes) -> None:
    """Write beside the file, then put it in place in one step (`os.replace`, atomic on POSIX and Windows)."""
    data = _bytes(content) if isinstance(content, str) else content
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _retry_on_windows(lambda: os.replace(part, path))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _retry_on_windows(step: Callable[[], None]) -> None:
    """Windows refuses to replace a file that another program (a virus scanner) has open just now."""
    for attempt in range(_REPLACE_TRIES):
        try:
            step()
            return
        except PermissionError:
            if os.name != "nt" or attempt == _REPLACE_TRIES - 1:
                raise
            time.sleep(0.01 * (attempt + 1))
