"""What the packages of an environment and the lock files say of themselves, read without any package.

An installed package has a folder "six-1.17.0.dist-info" with the list of its files, RECORD (packaging.python.org,
"Recording installed projects").
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Locked:
    """A package in a lock file. `marker` says where it is needed; "": everywhere."""

    name: str
    version: str
    marker: str


def locked(lock: Path) -> Iterator[Locked]:
    """The packages of a lock file; one that has several versions comes several times."""
    for line in lock.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)\s*;?\s*([^\\]*)", line):
            yield Locked(_normal(found[1]), found[2], found[3].strip())


def requirement(lock: Path, name: str) -> str | None:
    """The lines of one package in a lock file, with its hashes; None when the lock file does not have it."""
    found = re.search(rf"^{re.escape(name)}==[^\n]*(?:\n[ \t]+[^\n]*)*", lock.read_text(encoding="utf-8"), re.MULTILINE)
    return None if found is None else found.group(0) + "\n"


def installed(environment: Path) -> dict[str, str]:
    """The packages that are in the folder of an environment: name -> version. Takes milliseconds."""
    return dict(_named(record) for record in _records(environment))


def gone_files(environment: Path) -> list[str]:
    """Files that the packages' own lists name and that are gone."""
    gone = []
    for record in _records(environment):
        with record.open(encoding="utf-8", newline="") as file:
            names = [row[0] for row in csv.reader(file) if row and not row[0].endswith(".pyc")]
        gone += [name for name in names if not (record.parents[1] / name).exists()]
    return gone


def _records(environment: Path) -> list[Path]:
    # No "**": it would walk through all packages.
    places = ("Lib", "lib/python3*")
    found = {path for place in places for path in environment.glob(f"{place}/site-packages/*.dist-info/RECORD")}
    return sorted(found)


def _named(record: Path) -> tuple[str, str]:
    package, _dash, version = record.parent.name.removesuffix(".dist-info").rpartition("-")
    return _normal(package), version


def _normal(name: str) -> str:
    """A package's name as all tools understand it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
