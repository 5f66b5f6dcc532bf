"""Which runs a grid has: each value of one name with each value of the others.

The usual grid of a lesson stands in its lesson.toml (`[experiment]`). A name is a parameter of the lesson, or `guard`
where the lesson has workers with other guards.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from helpers.course.source import SourceError
from helpers.course.syllabus import Lesson
from helpers.lab.errors import BadParameter
from helpers.lab.language import _
from helpers.lab.lesson_world import world_of

GUARD = "guard"
MOST_RUNS = 2000

Values = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """`[experiment]` of a lesson.toml. `until` and `code` are cells, `own` those that only the lesson's own worker
    lets run; `orders` is what the jobs ask for, None where the stored orders say it."""

    until: str
    grid: Values
    code: str = ""
    own: tuple[str, ...] = ()
    orders: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One combination. `key` tells it from a run of other values or of another notebook."""

    values: Mapping[str, Any]
    key: str

    @property
    def file(self) -> str:
        """The name of the executed notebook: readable, and the same on each system."""
        words = "_".join(re.sub(r"[^A-Za-z0-9-]+", "-", str(value)).strip("-") or "-" for value in self.values.values())
        return f"{words[:80]}_{self.key[:10]}.ipynb"

    @property
    def named(self) -> str:
        return named(self.values)


def named(values: Mapping[str, Any]) -> str:
    """Values as they are typed: "guard=none, duplicates=3"."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def read_experiment(lesson: Lesson) -> Experiment:
    """:raises SourceError: lesson.toml has no usable `[experiment]`."""
    path = lesson.folder / "lesson.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8")).get("experiment")
    try:
        if not content:
            raise KeyError("[experiment]")
        grid = {name: tuple(values) for name, values in content["grid"].items()}
        own = tuple(content.get("own", ()))
        return Experiment(content["until"], grid, content.get("code", ""), own, content.get("orders"))
    except KeyError as error:
        raise SourceError(path, 1, f"experiment: {error.args[0]!r} is missing") from error


def choose(lesson: Lesson, usual: Values, chosen: Mapping[str, str]) -> dict[str, tuple[Any, ...]]:
    """The values of each name. `chosen` has what was typed, "0,2,7"; it takes the place of the usual values.

    :raises BadParameter: a name or a value that the lesson does not have; far too many runs.
    """
    world = world_of(lesson.slug)
    defaults = asdict(world.Parameters())
    known = [*([GUARD] if world.guards else []), *defaults]
    grid: dict[str, tuple[Any, ...]] = {name: tuple(values) for name, values in usual.items()}
    for name, text in chosen.items():
        if name not in known:
            raise BadParameter(
                _("The lesson has no parameter `{name}`.").format(name=name[:40]),
                _(
                    "A grid takes the parameters of the lesson's first code cell, "
                    "and `guard` where the lesson has several guards."
                ),
                _("Choose one of these: {choices}.").format(choices=", ".join(f"`{one}`" for one in known)),
            )
        values = [part.strip() for part in text.split(",") if part.strip()]
        if not values:
            example = usual.get(name, (defaults.get(name, "none"),))[:2]
            raise BadParameter(
                _("`{name}` has no value.").format(name=name),
                _("Each name of a grid needs one value or more."),
                _("Write the values with commas between them, for example `{example}`.").format(
                    example=f"{name}={','.join(str(value) for value in example)}"
                ),
            )
        grid[name] = tuple(dict.fromkeys(_typed(value, defaults.get(name)) for value in values))
    for name, wanted in grid.items():
        for value in wanted:
            if name == GUARD:
                world.check_guard(value)
            else:
                world.choose({name: value})
    _bounded(grid)
    # The guard first: the report has a chart for each value of the first name.
    return dict(sorted(grid.items(), key=lambda pair: pair[0] != GUARD))


def runs(grid: Values, digest: str) -> list[Run]:
    """All combinations. `digest` is that of the notebook and of what it reads."""
    found = []
    for combined in itertools.product(*grid.values()):
        values = dict(zip(grid, combined, strict=True))
        said = json.dumps([digest, sorted(values.items())], ensure_ascii=False)
        found.append(Run(values, hashlib.sha256(said.encode()).hexdigest()))
    return found


def _typed(value: str, usual: object) -> Any:
    """A value as the parameter's usual one is typed: "3" is a number for `duplicates`; what is none stays text."""
    return int(value) if isinstance(usual, int) and re.fullmatch(r"[+-]?[0-9]{1,9}", value) else value


def _bounded(grid: Values) -> None:
    count = 1
    for values in grid.values():
        count *= len(values)
    if count > MOST_RUNS:
        raise BadParameter(
            _("This grid has {count} runs.").format(count=count),
            _("Each run takes some seconds. At most {most} are allowed.").format(most=MOST_RUNS),
            _("Choose fewer values."),
        )
