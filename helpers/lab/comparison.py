"""Two values field by field: what a learner built in plain Python, and what a service answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ComparedField:
    """One field of the learner's value. `path` is written like `Records[0].s3.bucket.name`; `there` says whether the
    service's value has the field, `same` whether it has the same value."""

    path: str
    ours: Any
    theirs: Any
    there: bool

    @property
    def same(self) -> bool:
        return self.there and type(self.ours) is type(self.theirs) and bool(self.ours == self.theirs)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields of the learner's value, and the paths that only the service's value has: of each branch its root."""

    fields: tuple[ComparedField, ...]
    only_theirs: tuple[str, ...]

    @property
    def agree(self) -> bool:
        """Whether each field of the learner's value is the same in the service's."""
        return all(field.same for field in self.fields)


def compare(ours: Any, theirs: Any) -> Comparison:
    """Compare two values made of dictionaries, lists, texts and numbers, as JSON knows them."""
    mine, other = dict(_fields(ours)), dict(_fields(theirs))
    fields = tuple(ComparedField(path, value, other.get(path), path in other) for path, value in mine.items())
    return Comparison(fields, tuple(_more(ours, theirs, "")))


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of each part that holds no other parts; an empty dictionary or list is such a part."""
    parts = dict(_parts(value, path))
    if not parts:
        yield path, value
    for inner, member in parts.items():
        yield from _fields(member, inner)


def _more(ours: Any, theirs: Any, path: str) -> Iterator[str]:
    """The paths where the service's value goes further than the learner's."""
    mine = dict(_parts(ours, path))
    for inner, member in _parts(theirs, path):
        if inner not in mine:
            yield inner
        else:
            yield from _more(mine[inner], member, inner)


def _parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The members of a dictionary or list with their paths."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield f"{path}.{name}" if path else str(name), member
    elif isinstance(value, list | tuple):
        for place, member in enumerate(value):
            yield f"{path}[{place}]", member
