"""How far a learner is: which steps' checks have passed once. Kept beside the answers, one small file for each step."""

from __future__ import annotations

import contextlib
import tomllib
from dataclasses import dataclass

from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.language import LESSONS, lesson_text
from helpers.lab.lesson_texts import LessonTexts


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """One lesson. `passed` holds the titles of the steps whose check has passed, `steps` counts all of them."""

    number: int
    title: str
    minutes: int
    steps: int
    passed: tuple[str, ...]


def remember(answers: Answers, step: str) -> None:
    """The check of `step` has passed. A folder that cannot be written to stops nobody."""
    with contextlib.suppress(AnswerNotSaved, OSError):
        if not answers.read(_name(step)):
            answers.write(_name(step), "passed\n")


def progress_of(language: str) -> list[LessonProgress]:
    """The lessons in their order, with what was passed in `language`. Titles are in the language in use."""
    course = tomllib.loads((LESSONS / "course.toml").read_text(encoding="utf-8"))
    found: list[LessonProgress] = []
    for number, lesson in enumerate(course["lessons"], start=1):
        slug = lesson["slug"]
        texts, answers = LessonTexts(slug), Answers(slug, language)
        passed = tuple(texts.title(step) or step for step in texts.checked_steps if answers.read(_name(step)))
        title = lesson_text(slug, "course:title", lesson["title"])
        found.append(LessonProgress(number, title, lesson["minutes"], len(texts.checked_steps), passed))
    return found


def _name(step: str) -> str:
    return f"progress-{step}"
