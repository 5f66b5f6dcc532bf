"""lessons/course.toml: which lessons there are, in which order; and where everything lies."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from helpers.course.source import SourceError


@dataclass(frozen=True, slots=True)
class Folders:
    """The places of a checkout."""

    root: Path

    @property
    def lessons(self) -> Path:
        return self.root / "lessons"

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def helpers(self) -> Path:
        return self.root / "helpers"

    @property
    def locale(self) -> Path:
        return self.helpers / "locale"

    @property
    def template(self) -> Path:
        """The POT file of the helpers' texts."""
        return self.locale / "once.pot"

    def shown(self, path: Path) -> str:
        """`path` as messages name it: from the root, with slashes."""
        return (path.relative_to(self.root) if path.is_relative_to(self.root) else path).as_posix()


HERE = Folders(Path(__file__).resolve().parents[2])


@dataclass(frozen=True, slots=True)
class Lesson:
    """An entry of course.toml. `minutes` is the time that a learner needs, `number` counts from 1."""

    slug: str
    number: int
    title: str
    minutes: int
    folder: Path

    @property
    def notebook(self) -> str:
        """The file name in notebooks/<language>/."""
        return f"{self.number:02d}_{self.folder.name}.ipynb"

    @property
    def template(self) -> Path:
        """The POT file of the lesson's texts."""
        return self.folder / "lesson.pot"

    def catalog(self, language: str) -> Path:
        return self.folder / f"{language}.po"


@dataclass(frozen=True, slots=True)
class Course:
    """The course: its title, the same in all languages, and its lessons in order."""

    title: str
    lessons: tuple[Lesson, ...]

    def lesson(self, slug: str) -> Lesson:
        """:raises LookupError: there is no such lesson."""
        for lesson in self.lessons:
            if slug in (lesson.slug, lesson.folder.name):
                return lesson
        known = ", ".join(lesson.slug for lesson in self.lessons)
        raise LookupError(f"no lesson {slug!r} in course.toml; there is: {known}")


def read_course(folders: Folders = HERE) -> Course:
    """:raises SourceError: course.toml is missing, is not TOML, or a lesson lacks something."""
    path = folders.lessons / "course.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        lessons = tuple(
            Lesson(
                slug=entry["slug"],
                number=number,
                title=entry["title"],
                minutes=entry["minutes"],
                folder=folders.lessons / entry["slug"].replace("-", "_"),
            )
            for number, entry in enumerate(content.get("lessons", []), start=1)
        )
        return Course(content["course"]["title"], lessons)
    except FileNotFoundError as error:
        raise SourceError(path, 1, "the file is missing") from error
    except tomllib.TOMLDecodeError as error:
        raise SourceError(path, 1, f"not valid TOML: {error}") from error
    except KeyError as error:
        raise SourceError(path, 1, f"{error.args[0]!r} is missing") from error


def languages(folders: Folders = HERE) -> tuple[str, ...]:
    """The languages of the course: those with a catalog in some lesson, sorted."""
    return tuple(sorted({catalog.stem for catalog in folders.lessons.glob("*/*.po")}))
