"""A check report: each point with its outcome in words, what was found, a hint on request, and then the solution.

The solution lies inside the hint, so that it is offered to those who have opened the hint. Both are plain
`<details>`: they open without a kernel and without JavaScript, also in a stored page.
"""

from __future__ import annotations

from helpers.lab.checks import CheckItem, CheckReport, Solution, in_words
from helpers.lab.language import _, labelled
from helpers.show.markup import Cell, box, folded, heading, page, paragraph, plain, prose, sign
from helpers.show.note import ShownNote

_LOOKS = {
    "right": ("✓", "good"),
    "not-yet": ("✗", "bad"),
    "not-attempted": ("○", "calm"),
    "cannot-tell": ("?", "open"),
}


class ShownReport:
    """Both forms of a report."""

    def __init__(self, report: CheckReport) -> None:
        self._report = report

    def text(self) -> str:
        lines = [self._heading()]
        for item in self._report.items:
            mark, _tone = _LOOKS[item.outcome]
            lines.append(f"  {mark} {labelled(in_words(item.outcome), item.text)}")
            if item.detail:
                lines.append(f"      {item.detail}")
            if item.hint and item.outcome != "right":
                lines.append(f"      {labelled(_('Hint'), item.hint)}")
        lines.append(self._summary())
        asked = next((item.id for item in self._report.open if item.solution), None)
        if asked:
            call = f'lab.check("{self._report.step}").solution("{asked}")'
            lines.append(labelled(_("To see a solution, run"), call))
        return "\n".join(lines)

    def html(self) -> str:
        parts = [heading(self._heading())]
        for item in self._report.items:
            mark, tone = _LOOKS[item.outcome]
            words = plain(in_words(item.outcome)).html
            body = f"{sign(mark)}<strong>{words}</strong> · {prose(item.text).html}"
            if item.detail:
                body += paragraph(prose(item.detail))
            if item.hint and item.outcome != "right":
                body += _hint(item)
            parts.append(f'<li style="list-style:none;margin:0;padding:0">{box(tone, body)}</li>')
        parts[1:] = [f'<ul style="margin:.3em 0;padding:0">{"".join(parts[1:])}</ul>']
        return page([*parts, paragraph(plain(self._summary()))])

    def _heading(self) -> str:
        title = self._report.title
        return _("Check: {step}").format(step=title) if title else _("Check")

    def _summary(self) -> str:
        right = sum(item.outcome == "right" for item in self._report.items)
        total = len(self._report.items)
        if right == total:
            return _("Everything is right.")
        return _("{right} of {total} points are right.").format(right=right, total=total)


def solution(found: Solution) -> ShownNote:
    """One solution that was asked for."""
    mark, tone = ("→", "calm") if found.text else ("✓", "good")
    return ShownNote(mark, tone, [str(found)])


def _hint(item: CheckItem) -> str:
    hint = prose(item.hint)
    more = folded(_("Still stuck? Show the solution"), prose(item.solution)) if item.solution else ""
    return folded(_("Hint"), Cell(hint.text, hint.html + more))
