"""From measurements to figures: medians with their spread, ratios, and the tables of docs/benchmarks.md."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .engines import Measurement


@dataclass(frozen=True)
class Spread:
    """The median of several values, the smallest and the largest."""

    median: float
    least: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Raises ValueError when there are none."""
        known = sorted(values)
        if not known:
            raise ValueError("no values")
        return cls(statistics.median(known), known[0], known[-1], len(known))

    def text(self, digits: int = 1) -> str:
        """For example ``131.0 (128.2–135.9)``; one value alone has no spread."""
        if self.count == 1:
            return f"{self.median:.{digits}f}"
        return f"{self.median:.{digits}f} ({self.least:.{digits}f}–{self.most:.{digits}f})"


def spread(measurements: Sequence[Measurement], value: Callable[[Measurement], float]) -> Spread:
    """The spread of one property of some measurements."""
    return Spread.of(value(one) for one in measurements)


@dataclass(frozen=True)
class Goal:
    """Something to reach: what was found, and the limit, which is the least or the most that is good."""

    name: str
    found: float
    limit: float
    at_least: bool = False
    digits: int = 2
    unit: str = ""

    @property
    def reached(self) -> bool:
        return self.found >= self.limit if self.at_least else self.found <= self.limit

    def row(self) -> list[str]:
        word = "at least" if self.at_least else "at most"
        found = f"{self.found:.{self.digits}f}{self.unit}"
        return [self.name, f"{word} {self.limit:g}{self.unit}", found, "yes" if self.reached else "**no**"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown: words to the left, the columns after the first to the right."""
    lines = [list(head), [":--", *["--:"] * (len(head) - 1)], *[list(row) for row in rows]]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


COLUMNS: tuple[tuple[str, Callable[[Measurement], float], int], ...] = (
    ("messages per second", lambda one: one.flow.per_second, 1),
    ("ms for one message", lambda one: 1000 / one.flow.per_second, 1),
    ("processor ms for one message, server and workers", lambda one: one.cpu_per_message, 1),
    ("start, s", lambda one: one.start, 2),
    ("set-up, s", lambda one: one.flow.set_up, 2),
    ("first order stored after, s", lambda one: one.flow.first_item, 2),
    ("largest resident memory, server and workers, MB", lambda one: one.memory, 0),
)


def comparison(engines: dict[str, list[Measurement]]) -> str:
    """One row for each figure, one column for each engine, and the ratio of the first to the second."""
    names = list(engines)
    rows = []
    for name, value, digits in COLUMNS:
        found = [spread(engines[engine], value) for engine in names]
        ratio = [f"{found[0].median / found[1].median:.2f}"] if len(found) > 1 else []
        rows.append([name, *(one.text(digits) for one in found), *ratio])
    return table(["", *names, *(["ratio"] if len(names) > 1 else [])], rows)


def growth(engines: dict[str, dict[int, list[Measurement]]]) -> str:
    """What one message costs, by how many there are."""
    rows = []
    for engine, sizes in engines.items():
        for size, measurements in sorted(sizes.items()):
            rows.append(
                [
                    engine,
                    f"{size:,}",
                    spread(measurements, lambda one: one.flow.per_second).text(),
                    spread(measurements, lambda one: 1000 / one.flow.per_second).text(),
                    spread(measurements, lambda one: one.cpu_per_message).text(),
                    spread(measurements, lambda one: one.memory).text(0),
                ]
            )
    return table(["", "messages", "per second", "ms for one", "processor ms for one", "memory, MB"], rows)
