"""A reader of a lesson: runs its code cells, makes mistakes in them, and then does what a solution says.

A solution is read as a learner reads it, sentence by sentence, until the point is right:

* ``the cell with `X` `` (or ``the cells with `X` and `Y` ``): the one cell of this step, or else of the lesson so
  far, that contains X, as the lesson has it.
* ``Write `X` for `Y` … run the cell again``: that cell, with X in the place of Y.
* ``lab.reset()``: the fresh account; and where the sentence goes on to "all cells", all cells up to this check.
* any other code span that is a call, a loop or a deletion is run as it stands.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from helpers.course.source import Cell, read_lesson
from helpers.lab import Lab
from helpers.lab.checks import CheckItem
from helpers.lab.language import LESSONS

# Questions, pictures and experiments in accounts of their own: no check of a step depends on them.
_LEFT_OUT = re.compile(
    r"start|live|vocabulary|outcome|.*-(predict|panel|view|check|compare|picture|history|timeline)"
    r"|break-(counter|message-id|race|batch|schedules)-.*"
)
_SPAN = re.compile(r"`([^`]+)`")
_CELLS = re.compile(r"cells? with ((?:`[^`]+`(?:, | and )?)+)")
_REPLACED = re.compile(r"[Ww]rite `([^`]+)` for `([^`]+)`")


@dataclass(frozen=True)
class Mistake:
    """What a learner does wrong on the way to the check of `step`, so that `points` are not right."""

    step: str
    points: tuple[str, ...]
    skip: tuple[str, ...] = ()
    change: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    then: str = ""
    through: str = ""
    """The last cell that is run, where the check does not need the whole lesson."""
    long: bool = False
    """Needs most of the lesson, or the lesson twice."""


class Walk:
    """One lesson, cell by cell, in one account."""

    def __init__(self, lab: Lab, folder: str) -> None:
        self.lab = lab
        cells = read_lesson(LESSONS / folder).cells
        self._cells = [cell for cell in cells if cell.kind == "code"]
        self._names: dict[str, Any] = {}
        self._step = ""
        self._last: Cell | None = None

    def go(self, mistake: Mistake) -> None:
        """The cells up to the check of the step, with the mistake.

        Where the last mistake was put right before any of these cells, the walk goes on from there; otherwise it
        begins in a fresh account.
        """
        goes_on = self._step and self._all_right()
        before = {cell.id for cell in self._up_to_check()} if goes_on else set()
        if before & {*mistake.skip, *mistake.change, mistake.through}:
            before = set()
        if not before:
            self.lab.reset()
            self._names = {"lab": self.lab}
        self._step = mistake.step
        for cell in self._up_to_check():
            if cell.id in mistake.skip or cell.id in before:
                continue
            old, new = mistake.change.get(cell.id, ("", ""))
            assert old in cell.source, (cell.id, old)
            with contextlib.suppress(Exception):  # as in a notebook: the next cell can be run all the same
                self._run(cell.source.replace(old, new) if old else cell.source)
            if cell.id == mistake.through:
                break
        if mistake.then:
            self._execute(mistake.then)

    def found(self, point: str) -> CheckItem:
        return self.lab.check(self._step)[point]

    def solve(self, point: str) -> None:
        """Do what the solution says, until the point is right."""
        if self.found(point).outcome == "right":
            return
        for sentence in re.split(r"(?<=[.?]) (?=[A-Z])", self.found(point).solution):
            for act in self._acts(sentence):
                act()
            if self.found(point).outcome == "right":
                return

    def _all_right(self) -> bool:
        return self.lab.check(self._step).passed

    def _acts(self, sentence: str) -> Iterator[Any]:
        of_cells = [match.span(1) for match in _CELLS.finditer(sentence)]
        for span in _SPAN.finditer(sentence):
            text = span[1]
            if any(start <= span.start() < end for start, end in of_cells):
                yield lambda text=text: self._run_cell(self._cell_with(text))
            elif text == "lab.reset()":
                yield self.lab.reset
                if "all cells" in sentence:
                    yield self._all_again
            elif _is_act(text):
                yield lambda text=text: self._execute(text)
        replaced = _REPLACED.search(sentence)
        if replaced and "again" in sentence:
            yield lambda: self._again(replaced[2], replaced[1])

    def _all_again(self) -> None:
        self._names = {"lab": self.lab}
        for cell in self._up_to_check():
            self._run_cell(cell)

    def _again(self, old: str, new: str) -> None:
        assert self._last is not None
        assert old in self._last.source
        self._run(self._last.source.replace(old, new))

    def _run_cell(self, cell: Cell) -> None:
        self._last = cell
        self._run(cell.source)

    def _run(self, source: str) -> None:
        first, _line, rest = source.partition("\n")
        if first.startswith("%%writefile"):
            (self.lab.folder / "app.py").write_text(rest, encoding="utf-8", newline="\n")
        else:
            self._execute(source)

    def _execute(self, source: str) -> None:
        exec(compile(source, "cell", "exec"), self._names)

    def _up_to_check(self) -> Iterable[Cell]:
        end = next(number for number, cell in enumerate(self._cells) if cell.id == f"{self._step}-check")
        cells = self._cells[:end]
        if self._step == "clean-up":
            cells = [cell for cell in cells if not cell.id.startswith("break")]
        return [cell for cell in cells if not _LEFT_OUT.fullmatch(cell.id)]

    def _cell_with(self, text: str) -> Cell:
        end = next(number for number, cell in enumerate(self._cells) if cell.id == f"{self._step}-check")
        so_far = self._cells[:end]
        begin = max((n + 1 for n, cell in enumerate(so_far) if cell.id.endswith("-check")), default=0)
        for cells in (so_far[begin:], so_far):
            found = [cell for cell in cells if text in cell.source]
            if found:
                assert len(found) == 1, f"{text} is in {[cell.id for cell in found]}"
                return found[0]
        raise AssertionError(f"no cell of the lesson so far contains {text}")


def _is_act(text: str) -> bool:
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return False
    return isinstance(statement, ast.For) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
