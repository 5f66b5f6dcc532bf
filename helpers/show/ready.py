"""The line that says that a lesson is ready, as a small box; below it what the learner must know besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helpers.show.markup import box, page, paragraph, plain, sign


@dataclass(frozen=True, slots=True)
class Ready:
    """`line`: one sentence in the reader's language, without a port or a path. `notes`: sentences, often none."""

    line: str
    notes: Sequence[str] = ()

    def text(self) -> str:
        return "\n".join(
            [f"✓ {self.line}", *(f"{'  ' if number else '! '}{note}" for number, note in enumerate(self.notes))]
        )

    def html(self) -> str:
        boxes = [box("good", sign("✓") + plain(self.line).html)]
        if self.notes:
            first, *more = self.notes
            boxes.append(box("open", sign("!") + plain(first).html + "".join(paragraph(plain(note)) for note in more)))
        return page(boxes)
