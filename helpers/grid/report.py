"""The report of a grid: one HTML file with charts and the table, in the language in use. It asks nothing of any
network. Its numbers are those of the executed notebooks, to which each row leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers.classroom.slides import PAGES
from helpers.grid.chart import each_once, legend, panels
from helpers.grid.plan import Values
from helpers.grid.results import Row
from helpers.grid.words import in_words, row_in_words
from helpers.lab.language import _, current, labelled, ngettext
from helpers.show.markup import prose

_STYLE = Path(__file__).with_name("report.css")

_COUNTS = ("sent", "executions", "runs", "failed_runs", "accepted", "refused", "dead_lettered")


def report_page(title: str, step: str, grid: Values, rows: Sequence[Row], planned: int) -> str:
    """The page. `step` is the heading of the last step that is counted, `planned` the number of runs of the grid."""
    style = (PAGES / "theme.css").read_text(encoding="utf-8") + _STYLE.read_text(encoding="utf-8")
    name = _("Experiment")
    good = [row for row in rows if not row.error]
    return (
        f'<!doctype html>\n<html lang="{escape(current())}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(labelled(name, title))}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<header><p>{escape(name)}</p>\n<h1>{escape(title)}</h1>\n"
        f"{_opening(step, grid, rows, planned)}</header>\n<main>\n"
        f"{_charts(grid, rows) if good else ''}{_failed(rows)}{_table(grid, rows) if good else ''}"
        "</main>\n</body>\n</html>\n"
    )


def _opening(step: str, grid: Values, rows: Sequence[Row], planned: int) -> str:
    bad, open_ = sum(bool(row.error) for row in rows), planned - len(rows)
    parts = [ngettext("{count} run of the lesson.", "{count} runs of the lesson.", len(rows)).format(count=len(rows))]
    if bad:
        parts.append(ngettext("{count} run went wrong.", "{count} runs went wrong.", bad).format(count=bad))
    if open_:
        parts.append(
            ngettext("{count} run is still missing.", "{count} runs are still missing.", open_).format(count=open_)
        )
    counted = _("Each run executed the notebook up to the end of “{step}”, and counted what happened until then.")
    parts.append(counted.format(step=step))
    chosen = "".join(
        f'<li><code translate="no">{escape(name)}</code>: '
        f"{', '.join(f'<code translate=no>{escape(str(value))}</code>' for value in values)}</li>"
        for name, values in grid.items()
    )
    return f"<p>{escape(' '.join(parts))}</p>\n<ul class=grid>{chosen}</ul>\n"


def _charts(grid: Values, rows: Sequence[Row]) -> str:
    first = next(iter(grid))
    items = "".join(f"<li>{icon}<span>{escape(words)}</span></li>" for icon, words in legend())
    line = escape(_("The vertical line: each order is written once."))
    one_by_one = panels(first, rows)
    # In pairs: four, two or one side by side, never three and one.
    pairs = ("".join(one_by_one[place : place + 2]) for place in range(0, len(one_by_one), 2))
    drawn = "".join(f"<div>{pair}</div>" for pair in pairs)
    side_by_side = _(
        "Workers run side by side here. A guard that reads before it writes depends on which one is faster."
    )
    remark = escape(f"{side_by_side} {_('The numbers of such a guard can differ from run to run.')}")
    return (
        f"<section><h2>{escape(_('Writes tried and writes accepted'))}</h2>\n"
        f'<p class="verdict">{_verdict(first, rows)}</p>\n'
        f'<ul class="legend">{items}<li><b aria-hidden="true">│</b><span>{line}</span></li></ul>\n'
        f'<div class="panels">{drawn}</div>\n<p class="soft">{remark}</p></section>\n'
    )


def _verdict(first: str, rows: Sequence[Row]) -> str:
    """What the charts show, in one sentence."""
    values = list(dict.fromkeys(row.values[first] for row in rows))
    safe = [value for value in values if each_once([row for row in rows if row.values[first] == value])]
    if len(safe) == len(values):
        return escape(_("Each order was written once in all of these runs."))
    if not safe:
        return escape(_("There is no {name} with which each order was written once in all of these runs.")).format(
            name=f"<code translate=no>{escape(first)}</code>"
        )
    names = ", ".join(f"`{value}`" for value in safe)
    return prose(_("Only with {values} was each order written once in all runs.").format(values=names)).html


def _failed(rows: Sequence[Row]) -> str:
    bad = [row for row in rows if row.error]
    if not bad:
        return ""
    items = "".join(
        f"<li>{escape(row_in_words(row.values))}<br>{escape(row.error)}<br>"
        f'<a href="{quote(row.file)}">{escape(_("the notebook with the error"))}</a></li>'
        for row in bad
    )
    again = escape(_("Type the same command in the terminal: it runs only what is missing."))
    return f"<section><h2>✗ {escape(_('Runs that went wrong'))}</h2><ul>{items}</ul><p>{again}</p></section>\n"


def _table(grid: Values, rows: Sequence[Row]) -> str:
    counts = [name for name in _COUNTS if any(row.outcome.get(name) for row in rows)]
    heads = [
        *(f"<code translate=no>{escape(name)}</code>" for name in grid),
        *(escape(_heads()[name]) for name in counts),
    ]
    heads += [escape(_("orders asked for")), escape(_("each once?")), escape(_("notebook"))]
    body = "".join(_line(row, counts) for row in rows if not row.error)
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    return (
        f"<section><h2>{escape(_('All numbers'))}</h2>\n"
        f'<div class="wide" role="group" tabindex="0" aria-label="{escape(_("All numbers"))}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n"
        f'<p><a href="results.csv">{escape(_("The same as a file for a spreadsheet (CSV)"))}</a></p></section>\n'
    )


def _line(row: Row, counts: Sequence[str]) -> str:
    values = [
        f'title="{escape(in_words(name, value))}"><code translate=no>{escape(str(value))}</code>'
        for name, value in row.values.items()
    ]
    head = f'<th scope="row" {values[0]}</th>{"".join(f"<td {value}</td>" for value in values[1:])}'
    numbers = "".join(f"<td class=n>{row.outcome.get(name, '')}</td>" for name in counts)
    once = f"✓ {escape(_('yes'))}" if row.right else f"<b class=wrong>✗ {escape(_('no'))}</b>"
    link = f'<a href="{quote(row.file)}">{escape(_("open"))}</a>'
    return f"<tr>{head}{numbers}<td class=n>{row.wanted}</td><td>{once}</td><td>{link}</td></tr>"


def _heads() -> Mapping[str, Any]:
    return {
        "sent": _("messages sent"),
        "executions": _("executions"),
        "runs": _("function runs"),
        "failed_runs": _("failed function runs"),
        "accepted": _("accepted writes"),
        "refused": _("refused writes"),
        "dead_lettered": _("dead-lettered messages"),
    }
