"""What a deployed function is: its settings and its unpacked code.

A ZIP comes from outside: names that lead out of the folder, links and archives that grow without end are refused
before anything is written.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import stat
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from . import leftover_processes

_LzmaError: type[Exception]
try:
    from lzma import LZMAError as _LzmaError
except ImportError:  # a Python that was built without it: such a ZIP is an unknown method
    _LzmaError = zipfile.BadZipFile

UNZIPPED_LIMIT = 262_144_000
"""Bytes of a function's unpacked code and layers (Lambda quotas: 250 MB)."""

ZIPPED_LIMIT = 52_428_800
"""Bytes of a ZIP in a request; from a bucket it may be larger (Lambda quotas: 50 MB)."""

_ENTRIES_LIMIT = 100_000
_PREFIX = "once-code-"
_OWNER = "owner"

NOT_A_ZIP = "Could not unzip uploaded file. Please check your file, then try to upload again."
ZIP_TOO_LARGE = f"Zipped size must be smaller than {ZIPPED_LIMIT} bytes"
TOO_LARGE = f"Unzipped size must be smaller than {UNZIPPED_LIMIT} bytes"


class BadArchive(ValueError):
    """The uploaded code cannot be used. The text is AWS's sentence."""


@dataclass(frozen=True)
class FunctionSpec:
    """One deployed state of a function. `revision` changes with each deployment, of code or of settings.

    `timeout` is in seconds, `memory` in MB, `code` the folder of the unpacked ZIP, `layers` those of its layers.
    """

    name: str
    version: str
    arn: str
    handler: str
    runtime: str
    role: str
    timeout: float
    memory: int
    environment: Mapping[str, str]
    code_sha256: str
    revision: str
    code: str
    layers: tuple[str, ...] = ()
    log_group: str = ""
    key: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (self.name, self.version))


def check_archive(data: bytes) -> None:
    """Raise BadArchive when `data` is not a ZIP that may be unpacked. Reads the table of contents only."""
    with _opened(data) as archive:
        _check(archive)


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except BadArchive:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        _LzmaError,
        EOFError,
        RuntimeError,
        ValueError,
        OSError,
        OverflowError,
    ) as problem:
        # Encrypted entries and unknown methods are a RuntimeError, impossible names an OSError.
        raise BadArchive(NOT_A_ZIP) from problem


def _check(archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if not entries or len(entries) > _ENTRIES_LIMIT:
        raise BadArchive(NOT_A_ZIP)
    if sum(entry.file_size for entry in entries) >= UNZIPPED_LIMIT:
        raise BadArchive(TOO_LARGE)
    if len({entry.header_offset for entry in entries}) < len(entries):  # one body under many names
        raise BadArchive(NOT_A_ZIP)
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if not _stays_inside(entry.filename) or kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
            raise BadArchive(NOT_A_ZIP)


def _stays_inside(name: str) -> bool:
    absolute = name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name)
    parts = re.split(r"[\\/]", name)
    # Windows passes over dots and spaces at the end of a name, and keeps a second file behind a colon.
    strange = os.name == "nt" and any(part.rstrip(". ") != part or ":" in part for part in parts if part != ".")
    return bool(name) and not absolute and not strange and ".." not in parts


def unpack(data: bytes, folder: Path) -> None:
    """Unpack a ZIP into the new folder. Raises BadArchive and leaves nothing behind when it cannot be done."""
    partial = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
    try:
        with _opened(data) as archive:
            _check(archive)
            for entry in archive.infolist():
                _extract(archive, entry, partial)
        _make_read_only(partial)
        os.replace(partial, folder)
    except BaseException:
        remove(partial)
        raise


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    target = folder.joinpath(*(part for part in entry.filename.split("/") if part not in {"", "."}))
    if entry.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, open(target, "wb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
        if copy.tell() != entry.file_size:
            raise BadArchive(NOT_A_ZIP)
    if os.name != "nt":
        # Only whether it can be executed is taken over: AWS lets a function read its code whatever the ZIP says.
        target.chmod(0o644 | (entry.external_attr >> 16 & 0o111))


def _make_read_only(folder: Path) -> None:
    """A function cannot write to /var/task."""
    if os.name == "nt":
        return
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            path = os.path.join(place, name)
            os.chmod(path, os.stat(path).st_mode & 0o555)
        os.chmod(place, 0o555)


def remove(folder: Path) -> None:
    """Remove a folder and all that is in it, read-only or not. Never fails."""
    for place, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(place, 0o755)
    shutil.rmtree(folder, ignore_errors=True)


class CodeStore:
    """The temporary folder of one account: unpacked code, and a folder per worker for its temporary files.

    `wants_sdk`: whether any code that was unpacked imports boto3, as far as a glance can tell.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        self._owner = _hold(self.folder / _OWNER)
        self._lock = threading.Lock()
        self._unpacked: dict[str, Path] = {}
        self._count = 0
        self.wants_sdk = False

    def unpacked(self, data: bytes, digest: str) -> str:
        """The folder with the content of a ZIP; `digest` identifies the content. Raises BadArchive."""
        with self._lock:
            known = self._unpacked.get(digest)
            if known is None:
                self._count += 1
                known = self.folder / f"code-{self._count}"
                unpack(data, known)
                self._unpacked[digest] = known
                self.wants_sdk = self.wants_sdk or _wants_sdk(known)
            return str(known)

    def keep(self, used: Iterable[str]) -> None:
        """Remove the unpacked code that is in none of the folders `used`."""
        folders = set(used)
        with self._lock:
            unused = {digest: path for digest, path in self._unpacked.items() if str(path) not in folders}
            for digest in unused:
                del self._unpacked[digest]
        for path in unused.values():
            remove(path)

    def temporary(self) -> str:
        """A new empty folder for one worker's temporary files."""
        return tempfile.mkdtemp(prefix="tmp-", dir=self.folder)

    def close(self) -> None:
        self._owner.close()
        remove(self.folder)


def _wants_sdk(folder: Path) -> bool:
    """Code that lies in folders is not read: it counts as code that does."""
    return any(path.is_dir() or (path.suffix == ".py" and b"boto" in path.read_bytes()) for path in folder.iterdir())


def remove_leftovers(older_than: float = 60.0) -> None:
    """Remove the folders of accounts whose process was killed: nobody holds their `owner` file any more.

    Folders younger than `older_than` seconds stay: their account may be about to start.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > older_than and _abandoned(path / _OWNER):
                leftover_processes.end(str(path.resolve()))
                remove(path)


def _hold(path: Path) -> IO[str]:
    """Open a file so that other processes can tell that it is in use, until this process ends in whatever way."""
    held = open(path, "w", encoding="utf-8")  # noqa: SIM115
    if os.name != "nt":
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX)
    return held


def _abandoned(path: Path) -> bool:
    """Whether nobody holds the file. Raises OSError when it is not there, or (on Windows) in use."""
    if os.name == "nt":
        path.unlink()
        return True
    import fcntl

    with open(path, encoding="utf-8") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
