"""The learner's copies of the whole course: work/index.ipynb and work/<language>/, which git does not keep.

The pages that lead to the lessons are copies too, so that their links lead to copies. They hold nothing of the
learner's, so a page that was only run is made anew with the course.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from helpers.copies.copying import State, refresh, start_afresh, state

STORED = "notebooks"
WORK = "work"
PAGE = "index.ipynb"


class NoSuchCopy(LookupError):
    """There is no lesson or no language of this name. `wanted` was asked for, `known` is what there is."""

    def __init__(self, wanted: str, known: tuple[str, ...]) -> None:
        super().__init__(f"{wanted!r} is none of these: {', '.join(known)}")
        self.wanted = wanted
        self.known = known


@dataclass(frozen=True, slots=True)
class Copy:
    """One lesson in one language: where it is stored, where the learner's copy is."""

    lesson: str
    language: str
    stored: Path
    path: Path

    @property
    def state(self) -> State:
        """:raises OSError: a file cannot be read."""
        return state(self.stored, self.path)

    def start_afresh(self) -> Path | None:
        """A new copy; returns where the old one is now, if there was something in it.

        :raises OSError: a file cannot be moved or written.
        """
        return start_afresh(self.stored, self.path)


class Copies:
    """The copies of one checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def around(cls, folder: Path) -> Copies | None:
        """The copies in which a folder lies: it is work/ itself or work/<language>/ of a checkout. Else None."""
        for work in (folder, folder.parent):
            copies = cls(work.parent)
            if work.name == WORK and copies._course.is_file() and (work == folder or folder.name in copies.languages):
                return copies
        return None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have notebooks, sorted."""
        folders = {path.parent.name for path in (self.root / STORED).glob("*/*.ipynb")}
        return tuple(sorted(name for name in folders if not name.startswith(".")))  # .ipynb_checkpoints

    @property
    def lessons(self) -> dict[str, str]:
        """The lessons in their order: slug -> name of the notebook.

        :raises OSError: lessons/course.toml cannot be read.
        :raises ValueError: it is not what it should be.
        """
        try:
            slugs = [lesson["slug"] for lesson in tomllib.loads(self._course.read_text(encoding="utf-8"))["lessons"]]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{self._course.name}: {error!r}") from error
        return {slug: f"{number:02d}_{slug.replace('-', '_')}.ipynb" for number, slug in enumerate(slugs, start=1)}

    def lesson(self, wanted: str, language: str) -> Copy:
        """A lesson by its slug, its number or the name of its notebook.

        :raises NoSuchCopy: there is no such lesson or language.
        """
        if language not in self.languages:
            raise NoSuchCopy(language, self.languages)
        for number, (slug, name) in enumerate(self.lessons.items(), start=1):
            if wanted in (slug, slug.replace("-", "_"), str(number), name, name.removesuffix(".ipynb")):
                return self._copy(slug, name, language)
        raise NoSuchCopy(wanted, tuple(self.lessons))

    def page(self, language: str | None = None) -> str:
        """The page to begin with, from the root: that of the language, or the one that leads to them all."""
        own = f"{WORK}/{language}/{PAGE}"
        return own if language is not None and (self.root / own).is_file() else f"{WORK}/{PAGE}"

    def refresh(self) -> list[Copy]:
        """Make what is missing, replace what nobody has touched; returns the copies of lessons that have changed since.

        :raises OSError: a file cannot be read or written.
        """
        for name in (PAGE, *(f"{language}/{PAGE}" for language in self.languages)):
            self._refresh_page(self.root / STORED / name, self.root / WORK / name)
        return [copy for copy in self._lesson_copies() if refresh(copy.stored, copy.path) in ("older", "unreadable")]

    @property
    def _course(self) -> Path:
        return self.root / "lessons" / "course.toml"

    def _refresh_page(self, stored: Path, page: Path) -> None:
        # Links of an old page may lead nowhere, so a page on which somebody wrote makes room, and is kept.
        if stored.is_file() and refresh(stored, page, results_count=False) in ("older", "unreadable"):
            start_afresh(stored, page)

    def _lesson_copies(self) -> Iterator[Copy]:
        for language in self.languages:
            for slug, name in self.lessons.items():
                copy = self._copy(slug, name, language)
                if copy.stored.is_file():
                    yield copy

    def _copy(self, slug: str, name: str, language: str) -> Copy:
        return Copy(slug, language, self.root / STORED / language / name, self.root / WORK / language / name)


def opened_page(environ: Mapping[str, str] = os.environ) -> Path:
    """The notebook that this kernel belongs to, or (its name is unknown) its folder.

    jupyter_server gives the path in JPY_SESSION_NAME (services/sessions/sessionmanager.py); other programs start the
    kernel in the notebook's folder.
    """
    session = Path(environ.get("JPY_SESSION_NAME", ""))
    return session if session.suffix == ".ipynb" and session.is_file() else Path.cwd()
