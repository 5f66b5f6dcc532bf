"""The two static forms of everything that is shown: text/plain and text/html.

Both are complete and the same on each run: no object ids, no clock times, no paths. HTML takes its colours
from JupyterLab's theme (`--jp-*`, with a fallback for other viewers), gives sizes in em, and names its
language. Nothing that comes from outside (an order id, an error text) reaches HTML unescaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from helpers.lab.language import current

_BORDER = "var(--jp-border-color1,#bdbdbd)"
_SHADE = "var(--jp-layout-color2,rgba(128,128,128,.12))"
_SOFT_TEXT = "var(--jp-content-font-color2,inherit)"
TONES = {
    "good": "var(--jp-success-color1,#388e3c)",
    "bad": "var(--jp-error-color1,#d32f2f)",
    "open": "var(--jp-warn-color1,#f57c00)",
    "calm": "var(--jp-brand-color1,#1976d2)",
}

SCROLLED_BY_KEYBOARD = 'role="group" tabindex="0" data-lm-suppress-shortcuts="true"'
"""A frame that scrolls, for a learner without a mouse. No landmark: a lesson has dozens of them. JupyterLab takes the
arrow keys for its headings (`notebook:move-cursor-heading-below-or-expand`) unless a part of the page keeps them."""

_ROOT = (
    "font-family:var(--jp-content-font-family,sans-serif);color:var(--jp-content-font-color1,inherit);"
    "font-size:1em;line-height:1.5;max-width:64em;overflow-wrap:break-word"
)
_CODE = "font-family:var(--jp-code-font-family,monospace);font-size:.95em;overflow-wrap:anywhere"
# Code up to this length stays on one line: `attribute_not_exists(id)` fits a pane of 360 px.
_WHOLE_CODE = 24
_CELL = (
    f"border:1px solid {_BORDER};padding:.35em .6em;text-align:left;vertical-align:top;white-space:normal;"
    "font-weight:normal;max-width:28em"
)
_HEAD = _CELL.replace("font-weight:normal", "font-weight:bold") + f";background:{_SHADE}"
_ROW_HEAD = _CELL.replace("font-weight:normal", "font-weight:bold")
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums"

# A star with a space beside it is a multiplication: `quantity * 250`.
_STRONG = re.compile(r"\*\*(\S(?:[^*]*\S)?)\*\*")
_EMPHASIS = re.compile(r"\*(\S(?:[^*]*\S)?)\*")


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of content in both forms. `html` is ready to use: only the functions below make it."""

    text: str
    html: str


def plain(value: object) -> Cell:
    """Text as it is."""
    return Cell(str(value), escape(str(value)))


def code(value: object) -> Cell:
    """A name, a value or a condition, in code font."""
    text = str(value)
    # Long code may break anywhere, so without a least width a narrow table would make it a column of letters.
    more = "" if len(text) <= _WHOLE_CODE else ";display:inline-block;min-width:12em"
    return Cell(text, _code_html(text, more))


def prose(source: str) -> Cell:
    """A sentence of a lesson: `code`, **strong** and *emphasis* as in Markdown, nothing else."""
    parts = re.split(r"(`[^`]+`)", source)
    html = [_code_html(part[1:-1]) if part.startswith("`") else _emphasis(escape(part)) for part in parts]
    return Cell(source, "".join(html))


def marked(words: str) -> Cell:
    """Words that begin with a sign ("✓ accepted"); the sign stays on their line."""
    mark, space, rest = words.partition(" ")
    return plain(f"{mark}\u00a0{rest}" if space and len(mark) == 1 else words)


def blank() -> Cell:
    """A place to write on, on paper too."""
    line = f"display:inline-block;min-width:9em;width:100%;border-bottom:1px solid {_BORDER};line-height:1.8"
    return Cell("_" * 24, f'<span style="{line}">&nbsp;</span>')


def without_marks(source: str) -> str:
    """The sentence for a place that takes no markup (the label of a button)."""
    return _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", source.replace("`", "")))


def _code_html(text: str, more: str = "") -> str:
    whole = ";white-space:nowrap" if len(text) <= _WHOLE_CODE else ""
    return f'<code style="{_CODE}{whole}{more}">{escape(text)}</code>'


def _emphasis(html: str) -> str:
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", html))


@dataclass(frozen=True, slots=True)
class Table:
    """A table with header cells; the first column names its row. `numeric`: columns of numbers, from 0.

    `keys` name the rows for a page that changes them one by one (helpers/show/static/live_view.js).
    """

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: frozenset[int] = field(default_factory=frozenset)
    empty: str = ""
    keys: Sequence[str] = ()

    def html(self) -> str:
        """As HTML. A wide table scrolls in its own frame, also by keyboard."""
        caption = (
            '<caption style="caption-side:top;text-align:left;font-weight:bold;padding:.3em 0;'
            f'color:inherit">{escape(self.caption)}</caption>'
        )
        if not self.rows and self.empty:
            said = heading(self.caption) + paragraph(plain(self.empty))
            return f'<div style="margin:.8em 0">{said}</div>'
        head = "".join(self._html_cell("col", n, plain(name)) for n, name in enumerate(self.headers))
        body = "".join(
            f"<tr{self._key(place)}>"
            + "".join(self._html_cell("row" if n == 0 else None, n, cell) for n, cell in enumerate(row))
            + "</tr>"
            for place, row in enumerate(self.rows)
        )
        return (
            f'<div {SCROLLED_BY_KEYBOARD} aria-label="{escape(self.caption)}" '
            'style="overflow-x:auto;margin:.8em 0">'
            '<table style="border-collapse:collapse;margin:0;table-layout:auto;width:auto;'
            f'min-width:min(24em,100%);font-size:1em;color:inherit">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def text(self) -> str:
        """As aligned columns."""
        if not self.rows and self.empty:
            return f"{self.caption}\n  {self.empty}"
        lines = [list(self.headers), *([cell.text for cell in row] for row in self.rows)]
        widths = [max(len(line[n]) for line in lines) for n in range(len(self.headers))]
        drawn = ["  ".join(self._aligned(n, line[n], widths[n]) for n in range(len(line))) for line in lines]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([self.caption, *(("  " + line).rstrip() for line in [drawn[0], rule, *drawn[1:]])])

    def _key(self, place: int) -> str:
        return f' data-k="{escape(self.keys[place])}"' if self.keys else ""

    def _aligned(self, column: int, value: str, width: int) -> str:
        return value.rjust(width) if column in self.numeric else value.ljust(width)

    def _html_cell(self, scope: str | None, column: int, cell: Cell) -> str:
        style = {"col": _HEAD, "row": _ROW_HEAD, None: _CELL}[scope]
        if column in self.numeric:
            style = f"{style};{_NUMBER}"
        tag, attribute = ("th", f' scope="{scope}"') if scope else ("td", "")
        return f'<{tag}{attribute} style="{style}">{cell.html}</{tag}>'


def page(parts: Iterable[str]) -> str:
    """The root of one piece of HTML: the reader's language (for screen readers), the theme's font."""
    return f'<div lang="{escape(current())}" style="{_ROOT}">{"".join(parts)}</div>'


def box(tone: str, body: str, *, live: bool = False) -> str:
    """A box with a coloured edge. The colour only repeats what a sign and words say; `live` is read aloud."""
    role = ' role="status" aria-live="polite"' if live else ""
    return (
        f'<div{role} style="border-left:.3em solid {TONES[tone]};background:{_SHADE};'
        f'padding:.5em .8em;margin:.4em 0">{body}</div>'
    )


def paragraph(cell: Cell, *, soft: bool = False) -> str:
    """One paragraph; `soft` for a remark."""
    return f'<p style="margin:.2em 0{f";color:{_SOFT_TEXT}" if soft else ""}">{cell.html}</p>'


def heading(text: str) -> str:
    """A heading that does not enter JupyterLab's table of contents (headings of outputs would)."""
    return f'<p style="margin:.2em 0;font-weight:bold">{escape(text)}</p>'


def folded(summary: str, body: Cell) -> str:
    """Something to open on request, by mouse or keyboard."""
    return (
        f'<details style="margin:.2em 0"><summary style="cursor:pointer">{escape(summary)}</summary>'
        f'<div style="padding:.2em 0 .2em 1.1em">{body.html}</div></details>'
    )


def sign(mark: str) -> str:
    """A mark beside words that say the same; a screen reader reads only the words."""
    style = "display:inline-block;width:1.4em;font-weight:bold"
    return f'<span aria-hidden="true" style="{style}">{escape(mark)}</span>'
