"""Checks: what is right, what is missing and where to look.

A point of a check has one of four outcomes. *Right* and *not yet* are judged on what the service answered
and on what the journal recorded. *Not attempted* means that there is nothing to judge. *Cannot tell*
means that the question reached no answer: a network, permission or credentials error proves neither
presence nor absence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from helpers.lab.errors import BadParameter
from helpers.lab.language import _, labelled
from helpers.lab.lesson_texts import CheckText

Outcome = Literal["right", "not-yet", "not-attempted", "cannot-tell"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What looking at one point found. `detail` is a sentence in the reader's language, or empty."""

    outcome: Outcome
    detail: str = ""


Probe = Callable[[], Finding]


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One point: `text` says what must hold, `detail` what was found, `hint` where to look.

    `solution` says what to type or run. It is for those who have read the hint: see `CheckReport.solution`.
    """

    id: str
    outcome: Outcome
    text: str
    detail: str
    hint: str
    solution: str = ""


@dataclass(frozen=True, slots=True)
class Solution:
    """What to type or run for one point. `text` is empty when the point is right already."""

    point: str
    text: str

    def __str__(self) -> str:
        return self.text or _("This point is right. There is nothing to do.")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The points of one step's check."""

    step: str
    title: str
    items: tuple[CheckItem, ...]

    @property
    def passed(self) -> bool:
        return all(item.outcome == "right" for item in self.items)

    def __getitem__(self, point: str) -> CheckItem:
        return next(item for item in self.items if item.id == point)

    @property
    def open(self) -> tuple[CheckItem, ...]:
        """The points that are not right."""
        return tuple(item for item in self.items if item.outcome != "right")

    def solution(self, point: str) -> Solution:
        """What to type or run, so that the point becomes right.

        :raises BadParameter: the report has no such point.
        """
        found = next((item for item in self.items if item.id == point), None)
        if found is None:
            raise BadParameter(
                _("This check has no point `{point}`.").format(point=str(point).replace("`", "'")[:40]),
                _("A solution is asked for by the name of its point."),
                _("Choose one of these: {choices}.").format(
                    choices=", ".join(f"`{item.id}`" for item in self.open or self.items)
                ),
            )
        return Solution(point, "" if found.outcome == "right" else found.solution)

    def __str__(self) -> str:
        lines = [self.title] if self.title else []
        for item in self.items:
            lines.append(labelled(in_words(item.outcome), item.text))
            lines += [f"  {more}" for more in (item.detail, item.hint) if more and item.outcome != "right"]
        return "\n".join(lines)


def right(detail: str = "") -> Finding:
    return Finding("right", detail)


def not_yet(detail: str) -> Finding:
    return Finding("not-yet", detail)


def not_attempted(detail: str = "") -> Finding:
    return Finding("not-attempted", detail)


def cannot_tell(detail: str) -> Finding:
    return Finding("cannot-tell", detail)


def in_words(outcome: Outcome) -> str:
    """An outcome in the reader's language."""
    return {
        "right": _("right"),
        "not-yet": _("not yet"),
        "not-attempted": _("not attempted"),
        "cannot-tell": _("cannot tell"),
    }[outcome]


def judge(step: str, title: str, texts: Mapping[str, CheckText], probes: Mapping[str, Probe]) -> CheckReport:
    """Ask each probe, in the order of the texts. A question without an answer is *cannot tell*, never a verdict."""
    items = []
    for point, text in texts.items():
        finding = ask(probes[point])
        items.append(CheckItem(point, finding.outcome, text.text, finding.detail, text.hint, text.solution))
    return CheckReport(step, title, tuple(items))


def ask(probe: Probe) -> Finding:
    """The finding of one probe; an error of the way to the service becomes *cannot tell*."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return probe()
    except ClientError as error:
        call = error.operation_name
        code = error.response.get("Error", {}).get("Code", "?")
        return cannot_tell(
            _("The call `{call}` was answered with `{code}`. This proves nothing.").format(call=call, code=code)
        )
    except (BotoCoreError, OSError) as error:
        return cannot_tell(
            _("The account gave no answer (`{error}`). This proves nothing: run the check again.").format(
                error=type(error).__name__
            )
        )


def error_code(error: Exception) -> str:
    """The AWS error code of a botocore ClientError."""
    response = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))
