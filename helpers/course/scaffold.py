"""A new lesson that runs as it is written: its source, its world, its checks, its worker and a first test.

The files are those of `new_lesson/` beside this module, with the names of the lesson in them (`string.Template`). Each
text of the helpers in them is in the catalogs already: only the lesson itself is new to translators.
"""

from __future__ import annotations

import json
import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from helpers.course.syllabus import Folders, read_course

TEMPLATES = Path(__file__).with_name("new_lesson")
MINUTES = 10
"""Minutes: the sum of the teaching notes in new_lesson/lesson.toml."""

# Queues, functions and tables are called by the first word of the slug, and AWS allows a function 64 characters.
LONGEST_SLUG = 40
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_IMPORTS = re.compile(r"(?:^from helpers\.\S+ import .*\n)+", re.MULTILINE)
_WORLDS = re.compile(r"^WORLDS = \{\n(?:    .*\n)*", re.MULTILINE)


class NotPossible(Exception):
    """The lesson cannot be made under this name. Nothing was written."""


@dataclass(frozen=True, slots=True)
class _Names:
    slug: str
    title: str
    prefix: str

    @property
    def module(self) -> str:
        return self.slug.replace("-", "_")

    @property
    def class_name(self) -> str:
        return "".join(part.capitalize() for part in self.slug.split("-"))


def new_lesson(folders: Folders, slug: str, title: str = "") -> list[Path]:
    """Write the lesson `slug` as the last one of the course. Returns what was written, the changed files last.

    :raises NotPossible: the slug cannot be used or is taken, or one of the files is there already.
    """
    names = _names(folders, slug, title)
    world = folders.helpers / "lab" / "lesson_world.py"
    course = folders.lessons / "course.toml"
    changed = {course: _in_course(course, names), world: _in_worlds(world, names)}
    if (weblate := folders.root / "deploy" / "weblate" / "components.json").exists():
        changed[weblate] = _in_components(weblate, names)
    written = _files(folders, names)
    if there := [folders.shown(path) for path in written if path.exists()]:
        raise NotPossible(f"{', '.join(there)}: there already. Choose another slug; nothing was written.")
    for path, text in {**written, **changed}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return [*written, *changed]


def _names(folders: Folders, slug: str, title: str) -> _Names:
    if not _SLUG.fullmatch(slug) or len(slug) > LONGEST_SLUG:
        what = f"The slug {slug!r} cannot be used: small letters a to z, digits, and single hyphens between them"
        raise NotPossible(f"{what}, at most {LONGEST_SLUG} characters. For example: bounded-retries")
    if keyword.iskeyword(slug.replace("-", "_")):
        raise NotPossible(f"The slug {slug!r} cannot be used: it is a word of Python, and it names a module.")
    lessons = read_course(folders).lessons
    if slug in {lesson.slug for lesson in lessons}:
        raise NotPossible(f"There is a lesson {slug!r} already: lessons/{slug.replace('-', '_')}")
    title = " ".join(title.split()) or slug.replace("-", " ").capitalize()
    first = f"{slug.partition('-')[0]}-"
    taken = re.findall(r'^prefix = "(.*)"$', (folders.lessons / "course.toml").read_text(encoding="utf-8"), re.M)
    free = not any(one.startswith(first) or first.startswith(one) for one in taken)
    return _Names(slug, title, first if free else f"{slug}-")


def _files(folders: Folders, names: _Names) -> dict[Path, str]:
    """The new files with their texts."""
    lesson, lab, tests = folders.lessons / names.module, folders.helpers / "lab", folders.root / "tests" / "lab"
    places = {
        lesson / "lesson.md": "lesson.md",
        lesson / "lesson.toml": "lesson.toml",
        lesson / "handlers" / "app.py": "app.py.txt",
        lab / f"{names.module}.py": "world.py.txt",
        lab / f"{names.module}_checks.py": "checks.py.txt",
        tests / f"test_{names.module}.py": "test.py.txt",
    }
    values = {name: getattr(names, name) for name in ("slug", "title", "prefix", "module", "class_name")}
    return {path: _read(TEMPLATES / name, values) for path, name in places.items()}


def _read(path: Path, values: dict[str, str]) -> str:
    text = Template(path.read_text(encoding="utf-8")).substitute(values)
    # Where the lesson's own module stands among the imports depends on its name.
    return _IMPORTS.sub(lambda found: "".join(sorted(found[0].splitlines(keepends=True), key=_imported)), text)


def _imported(line: str) -> str:
    return line.split()[1]


def _in_course(path: Path, names: _Names) -> str:
    """course.toml with the lesson at its end."""
    entry = {"slug": names.slug, "title": names.title, "minutes": MINUTES, "prefix": names.prefix}
    # A string of JSON is a string of TOML.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items()]
    before = path.read_text(encoding="utf-8").rstrip("\n")
    return "\n".join([before, "", "[[lessons]]", *lines, 'after = ["a little Python"]', ""])


def _in_worlds(path: Path, names: _Names) -> str:
    """lesson_world.py with the lesson's world at the end of WORLDS."""
    text = path.read_text(encoding="utf-8")
    found = _WORLDS.search(text)
    if found is None:
        raise NotPossible(f"{path.name} has no WORLDS to enter the lesson in.")
    entry = f'    "{names.slug}": "helpers.lab.{names.module}:{names.class_name}",\n'
    return text[: found.end()] + entry + text[found.end() :]


def _in_components(path: Path, names: _Names) -> str:
    """The components of Weblate with one for the lesson: that of the last lesson, under other names."""
    components = json.loads(path.read_text(encoding="utf-8"))
    folder = f"lessons/{names.module}"
    own = {"name": f"Lesson {names.slug}", "slug": names.slug, "filemask": f"{folder}/*.po"}
    new = {**components[-1], **own, "new_base": f"{folder}/lesson.pot"}
    return json.dumps([*components, new], indent=2, ensure_ascii=False) + "\n"
