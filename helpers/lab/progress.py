"""How far a learner is, read from the answers: steps whose check has passed once, examples written, predictions made.

That a check passed is kept beside the answers, one small file for each step. Nothing else is counted or stored: what
the learner deletes, or a damaged file, is no progress any more.
"""

from __future__ import annotations

import contextlib
import tomllib
from dataclasses import dataclass

from helpers.lab.answers import AnswerNotSaved, Answers
from helpers.lab.language import LESSONS
from helpers.lab.lesson_texts import LessonTexts


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """One lesson. `passed` and `left` hold the titles of steps: those whose check has passed once, and the others.

    `notebook` is the way to the lesson from the page that leads to the lessons, with slashes.
    """

    number: int
    title: str
    notebook: str
    passed: tuple[str, ...]
    left: tuple[str, ...]
    written: int
    words: int
    predicted: int
    predictions: int

    @property
    def begun(self) -> bool:
        return bool(self.passed or self.written or self.predicted)

    @property
    def done(self) -> bool:
        """Each step has passed. Examples and predictions are for the learner alone."""
        return not self.left


def remember(answers: Answers, step: str) -> None:
    """The check of `step` has passed. A folder that cannot be written to stops nobody."""
    with contextlib.suppress(AnswerNotSaved, OSError):
        if not _has_passed(answers, step):
            answers.write(_name(step), f"{_PASSED}\n")


def progress_of(language: str) -> list[LessonProgress]:
    """The lessons in their order, with what was done in `language`. Titles are in the language in use."""
    course = tomllib.loads((LESSONS / "course.toml").read_text(encoding="utf-8"))
    return [_of(number, lesson["slug"], language) for number, lesson in enumerate(course["lessons"], start=1)]


def _of(number: int, slug: str, language: str) -> LessonProgress:
    texts, answers = LessonTexts(slug), Answers(slug, language)
    steps = {step: texts.title(step) or step for step in texts.checked_steps}
    passed = [step for step in steps if _has_passed(answers, step)]
    blanks = [row.id for row in texts.vocabulary if not row.example]
    choices = {step: {choice.text for choice in texts.prediction(step).choices} for step in texts.predictions}
    return LessonProgress(
        number=number,
        title=texts.heading,
        notebook=f"{language}/{number:02d}_{slug.replace('-', '_')}.ipynb",
        passed=tuple(steps[step] for step in passed),
        left=tuple(title for step, title in steps.items() if step not in passed),
        written=sum(bool(answers.read(f"vocabulary-{name}").strip()) for name in blanks),
        words=len(blanks),
        predicted=sum(answers.read(f"prediction-{step}") in found for step, found in choices.items()),
        predictions=len(choices),
    )


_PASSED = "passed"


def _has_passed(answers: Answers, step: str) -> bool:
    return answers.read(_name(step)).strip() == _PASSED


def _name(step: str) -> str:
    return f"progress-{step}"
