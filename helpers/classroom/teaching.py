"""The teacher's notes of a lesson: minutes, what to ask, what to show, which wrong answers to expect.

Their source is `[[teaching]]` in lesson.toml, one entry for each step; the translations are in the lesson's catalogs
(msgctxt "teaching:<step>:<field>"). A step is a cell of lesson.md that begins a slide.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from helpers.course import catalogs
from helpers.course.entries import translated
from helpers.course.gates import lookup
from helpers.course.slideshow import slide_type
from helpers.course.source import LessonSource, SourceError, read_lesson
from helpers.course.syllabus import Lesson
from helpers.lab.language import _, current, labelled, lesson_text, ngettext
from helpers.lab.lesson_texts import LessonTexts, Prediction
from helpers.show.markup import prose, without_marks


@dataclass(frozen=True, slots=True)
class Notes:
    """What the teacher reads about one step. It begins `begins` minutes after the lesson and takes `minutes`.

    `watch` is empty where no wrong answer is to be expected; `prediction` is the question that the step asks, if any.
    """

    step: str
    title: str
    begins: int
    minutes: int
    ask: str
    demo: str
    watch: str
    prediction: Prediction | None

    @property
    def ends(self) -> int:
        return self.begins + self.minutes

    @property
    def time(self) -> str:
        """ "4 min · 5–9": how long it takes, and from which minute to which."""
        if not self.minutes:
            return _("after the class")
        minutes = ngettext("{minutes} minute", "{minutes} minutes", self.minutes).format(minutes=self.minutes)
        return _("{duration} (from minute {begin} to minute {end})").format(
            duration=minutes, begin=self.begins, end=self.ends
        )

    def html(self) -> str:
        """The notes as HTML, without the title."""
        return "".join(self._parts())

    def _parts(self) -> Iterator[str]:
        for sign, label, text in (
            ("?", _("Question"), self.ask),
            ("▶", _("What to do"), self.demo),
            ("!", _("What to watch for"), self.watch),
        ):
            if text:
                said = f'<b><span aria-hidden="true">{sign} </span>{escape(labelled(label, ""))}</b>'
                yield f"<p>{said}{prose(text).html}</p>"
        if self.prediction:
            asked = escape(labelled(_("What the class predicts"), ""))
            yield f"<p><b>{asked}</b>{prose(self.prediction.question).html}</p><ol>"
            for choice in self.prediction.choices:
                mark, word = ("✓", _("right")) if choice.right else ("✗", _("wrong"))
                verdict = f'<b class="{"right" if choice.right else "wrong"}">{mark} {escape(word)}</b>'
                said = f"{prose(choice.text).html} {verdict}<br>{prose(choice.feedback).html}"
                yield f"<li>{said}</li>"
            yield "</ol>"


def read_notes(lesson: Lesson) -> list[Notes]:
    """The notes of a lesson in the language in use, in the order of lesson.md.

    :raises SourceError: an entry names a step that lesson.md does not have, or lacks something.
    """
    source = read_lesson(lesson.folder)
    titles = step_titles(lesson, source)
    path = lesson.folder / "lesson.toml"
    entries = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("teaching", []):
        if entry.get("step") not in titles:
            raise SourceError(path, 1, f"teaching: no slide of lesson.md begins the step {entry.get('step')!r}")
        for field in ("minutes", "ask", "demo"):
            if field not in entry:
                raise SourceError(path, 1, f"teaching, step {entry['step']!r}: {field!r} is missing")
        entries[entry["step"]] = entry
    texts = LessonTexts(lesson.slug)
    found: list[Notes] = []
    begins = 0
    for step, title in titles.items():
        if entry := entries.get(step):
            said = {
                field: lesson_text(lesson.slug, f"teaching:{step}:{field}", entry.get(field, ""))
                for field in ("ask", "demo", "watch")
            }
            question = texts.prediction(step) if step in texts.predictions else None
            found.append(Notes(step, title, begins, entry["minutes"], **said, prediction=question))
            begins += entry["minutes"]
    return found


def step_titles(lesson: Lesson, source: LessonSource | None = None) -> dict[str, str]:
    """The steps of a lesson (ids of the cells that begin a slide) with their headings in the language in use."""
    source = source or read_lesson(lesson.folder)
    cells = translated(source, lookup(catalogs.read(lesson.catalog(current()))))
    return {
        cell.id: heading_of(cell.source)
        for cell in cells
        if cell.kind == "markdown" and slide_type(cell.kind, cell.metadata) == "slide"
    }


def heading_of(markdown: str) -> str:
    """The first heading of a cell, without its marks; empty if it has none."""
    found = re.search(r"^#{1,6}\s+(.+?)\s*$", markdown, re.MULTILINE)
    return without_marks(found[1]) if found else ""
