"""What a gate says: where, what is wrong, and what to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """`file` from the root of the course; `context` is a msgctxt or a cell id, "" for the whole file."""

    file: str
    context: str
    what: str
    advice: str

    def __str__(self) -> str:
        return f"{self.file}{f' [{self.context}]' if self.context else ''}: {self.what}. {self.advice}"
