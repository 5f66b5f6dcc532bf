"""The line that says that a lesson is ready, as a small box."""

from __future__ import annotations

from dataclasses import dataclass

from helpers.show.markup import box, page, plain, sign


@dataclass(frozen=True, slots=True)
class Ready:
    """`line`: one sentence in the reader's language, without a port or a path."""

    line: str

    def text(self) -> str:
        return f"✓ {self.line}"

    def html(self) -> str:
        return page([box("good", sign("✓") + plain(self.line).html)])
