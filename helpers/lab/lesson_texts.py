"""The texts of a lesson's lesson.toml in the reader's language: vocabulary, predictions, checks.

Each text is looked up in the lesson's catalog under the msgctxt that names its place, for example
``check:connect:queue:hint``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from helpers.lab.language import LESSONS, lesson_text


@dataclass(frozen=True, slots=True)
class VocabularyRow:
    """One word. `example` is empty where the student writes one; `model` is a possible answer."""

    id: str
    word: str
    meaning: str
    example: str
    model: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a prediction, and what there is to say about it."""

    text: str
    feedback: str
    right: bool


@dataclass(frozen=True, slots=True)
class Prediction:
    step: str
    question: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class CheckText:
    """What one point of a check says, where to look when it is not right yet, and what to type or run then."""

    text: str
    hint: str
    solution: str


class LessonTexts:
    """The texts of the lesson `slug` ("idempotent-consumer"). The language is the one in use at the time of
    reading."""

    def __init__(self, slug: str) -> None:
        self.slug = slug

    @property
    def heading(self) -> str:
        """The title of the lesson, as course.toml gives it."""
        path = LESSONS / "course.toml"
        course = _read_toml(path, path.stat().st_mtime_ns)
        titles = {lesson["slug"]: lesson["title"] for lesson in course["lessons"]}
        return self._read("course:title", titles[self.slug])

    @property
    def vocabulary(self) -> tuple[VocabularyRow, ...]:
        return tuple(self._vocabulary_row(entry) for entry in self._source.get("vocabulary", ()))

    @property
    def predictions(self) -> tuple[str, ...]:
        """The names that `prediction` knows, in the order of the lesson."""
        return tuple(entry["step"] for entry in self._source.get("predictions", ()))

    def prediction(self, step: str) -> Prediction:
        """The question before a step. Raises KeyError when there is none."""
        place = f"prediction:{step}"
        entry = self._entry("predictions", step)
        choices = tuple(
            Choice(
                self._read(f"{place}:{number}:text", choice["text"]),
                self._read(f"{place}:{number}:feedback", choice["feedback"]),
                choice["right"],
            )
            for number, choice in enumerate(entry["choices"])
        )
        return Prediction(step, self._read(f"{place}:question", entry["question"]), choices)

    @property
    def checked_steps(self) -> tuple[str, ...]:
        """The steps that have a check, in the order of the lesson."""
        return tuple(entry["step"] for entry in self._source.get("checks", ()))

    def title(self, step: str) -> str:
        """The heading of a step's section; empty when lesson.toml gives none."""
        return self._read(f"check:{step}:title", self._entry("checks", step).get("title", ""))

    def checks(self, step: str) -> Mapping[str, CheckText]:
        """The points of a step's check by id, in their order. Raises KeyError when the step has no check."""
        place = f"check:{step}"
        return {
            item["id"]: CheckText(**{name: self._read(f"{place}:{item['id']}:{name}", item[name]) for name in _OF_ITEM})
            for item in self._entry("checks", step)["items"]
        }

    @property
    def _source(self) -> dict[str, Any]:
        path = LESSONS / self.slug.replace("-", "_") / "lesson.toml"
        return _read_toml(path, path.stat().st_mtime_ns)

    def _entry(self, table: str, step: str) -> dict[str, Any]:
        entry: dict[str, Any]
        for entry in self._source.get(table, ()):
            if entry["step"] == step:
                return entry
        raise KeyError(step)

    def _read(self, context: str, source: str) -> str:
        return lesson_text(self.slug, context, source)

    def _vocabulary_row(self, entry: Mapping[str, str]) -> VocabularyRow:
        read = {name: self._read(f"vocabulary:{entry['id']}:{name}", entry[name]) for name in _COLUMNS}
        return VocabularyRow(id=entry["id"], **read)


_COLUMNS = ("word", "meaning", "example", "model")
_OF_ITEM = ("text", "hint", "solution")


@lru_cache(maxsize=8)
def _read_toml(path: Path, changed: int) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
