"""The vocabulary table: word, meaning, example. Blank example cells are for the learner to fill in.

In a live page it is a table of ipywidgets whose text is saved as it is typed and comes back after a restart.
Elsewhere it is a plain table, always with blank cells: what a learner wrote never enters a stored notebook.
"""

from __future__ import annotations

import base64
import csv
import io
import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets

from helpers.lab.answers import Answers
from helpers.lab.language import _, current, labelled, ngettext
from helpers.lab.lesson_texts import VocabularyRow
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.live import beside_cells, root, row, words
from helpers.show.markup import (
    Cell,
    Table,
    blank,
    box,
    folded,
    heading,
    page,
    paragraph,
    plain,
    prose,
    sign,
    without_marks,
)

_COLUMNS = ("1 1 8em", "3 1 15em", "3 1 15em")


class Vocabulary:
    """The vocabulary of one lesson. Show it in a cell, or use the methods."""

    def __init__(self, entries: Sequence[VocabularyRow], answers: Answers, *, lesson: str) -> None:
        self._entries = list(entries)
        self._answers = answers
        self._lesson = lesson
        self._widget: _LiveTable | None = None

    @property
    def blanks(self) -> list[str]:
        """Ids of the entries whose example the learner gives, in the order of the table."""
        return [entry.id for entry in self._entries if not entry.example]

    @property
    def examples(self) -> Mapping[str, str]:
        """The learner's examples by entry id; "" where nothing is written yet."""
        return {name: self._answers.read(_file(name)) for name in self.blanks}

    def write(self, name: str, example: str) -> None:
        """Save an example for the entry `name`, as typing into the table does.

        :raises KeyError: no blank entry has this id.
        :raises helpers.lab.answers.AnswerNotSaved: no folder can be written to.
        """
        if name not in self.blanks:
            raise KeyError(name)
        self._answers.write(_file(name), example)
        self.refresh()

    def refresh(self) -> None:
        """Show in the live table what is saved now (another notebook may have written)."""
        if self._widget is not None:
            self._widget.load()

    @property
    def widget(self) -> ipywidgets.Widget:
        """The live table; one per Vocabulary, it may be shown in several places."""
        if self._widget is None:
            self._widget = _LiveTable(self, self._entries, self._answers)
        return self._widget.root

    def csv(self) -> str:
        """The table as CSV: word, meaning, example with what the learner wrote."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\r\n")  # RFC 4180, 2.1
        writer.writerow([_("Word"), _("Meaning"), _("Example")])
        written = self.examples
        for entry in self._entries:
            example = without_marks(entry.example) if entry.example else written[entry.id]
            cells = (entry.word, without_marks(entry.meaning), example)
            writer.writerow([_harmless(cell) for cell in cells])
        return stream.getvalue()

    def export_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table to `path` as CSV (UTF-8 with a mark: spreadsheets then read Cyrillic)."""
        path = Path(path)
        path.write_bytes(self.csv().encode("utf-8-sig"))
        return path

    def printable(self, path: str | os.PathLike[str] | None = None, *, blank_lines: bool = False) -> str:
        """A complete HTML page to print; empty cells (with `blank_lines`, all) are lines to write on.

        With a `path`, the page is written there too.
        """
        written = {} if blank_lines else self.examples
        rows = [self._row(entry, written.get(entry.id, "")) for entry in self._entries]
        title = _("Vocabulary")
        table = self._table(rows).html()
        document = (
            f'<!DOCTYPE html>\n<html lang="{escape(current())}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width">\n'
            f"<title>{escape(labelled(title, self._lesson))}</title>\n"
            "<style>body{font-family:sans-serif;margin:1.5em;color:#000;background:#fff}"
            "table{width:100%!important}td,th{height:3em}tr{break-inside:avoid}</style>\n"
            f"</head>\n<body>\n{table}\n</body>\n</html>\n"
        )
        if path is not None:
            Path(path).write_text(document, encoding="utf-8", newline="\n")
        return document

    def text(self) -> str:
        lines = [_("Vocabulary")]
        for entry in self._entries:
            lines.append(f"  {labelled(entry.word, without_marks(entry.meaning))}")
            lines.append(f"      {labelled(_('Example'), without_marks(entry.example) or blank().text)}")
        return "\n".join(lines)

    def html(self) -> str:
        return page([self._table([self._row(entry, "") for entry in self._entries]).html()])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)

    def _table(self, rows: Sequence[Sequence[Cell]]) -> Table:
        return Table(_("Vocabulary"), [_("Word"), _("Meaning"), _("Example")], rows)

    @staticmethod
    def _row(entry: VocabularyRow, written: str) -> tuple[Cell, Cell, Cell]:
        example = prose(entry.example) if entry.example else plain(written) if written.strip() else blank()
        return prose(entry.word), prose(entry.meaning), example


class _LiveTable:
    """The widgets of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary, entries: Sequence[VocabularyRow], answers: Answers) -> None:
        self._vocabulary = vocabulary
        self._answers = answers
        self._loading = False
        self._unsaved: set[str] = set()  # tried again with the next key stroke anywhere in the table
        self._status = ipywidgets.HTML()
        self._downloads = ipywidgets.HTML()
        self._fields: dict[str, ipywidgets.Textarea] = {}
        self._marks: dict[str, ipywidgets.HTML] = {}
        rows = [row([_bold(_("Word")), _bold(_("Meaning")), _bold(_("Example"))], _COLUMNS, head=True)]
        for entry in entries:
            example = prose(entry.example).html if entry.example else self._field(entry)
            rows.append(row([_bold(entry.word), prose(entry.meaning).html, example], _COLUMNS))
        self.root = root(heading(_("Vocabulary")), [*rows, self._status, self._downloads])
        self.load()

    def load(self) -> None:
        """Put what is saved into the fields."""
        self._loading = True
        try:
            for name, text in self._vocabulary.examples.items():
                if name not in self._unsaved:
                    self._fields[name].value = text
                    self._mark(name)
        finally:
            self._loading = False
        beside_cells(*self._fields.values())
        self._say()

    def _field(self, entry: VocabularyRow) -> ipywidgets.Widget:
        name = entry.id
        field = ipywidgets.Textarea(
            placeholder=_("Write your own example here"),
            # A label of its own: seen in a narrow pane, where no heading stands above, and always read aloud.
            description=_("Your example: {word}").format(word=without_marks(entry.word)),
            rows=2,
            continuous_update=True,
            layout=ipywidgets.Layout(width="100%", height="auto", margin="0"),
        )
        field.add_class("once-field")
        self._fields[name] = field
        self._marks[name] = ipywidgets.HTML()

        @shown_errors(lambda html: self._show_error(name, html))
        def save(change: Mapping[str, Any]) -> None:
            if self._loading:
                return
            self._unsaved.add(name)
            for waiting in [name, *sorted(self._unsaved - {name})]:
                self._answers.write(_file(waiting), self._fields[waiting].value)
                self._unsaved.discard(waiting)
                self._mark(waiting)
            self._say()

        field.observe(save, names="value")
        parts: list[ipywidgets.Widget] = [field, self._marks[name]]
        if entry.model:
            parts.append(words(folded(_("A good answer, to compare with yours"), prose(entry.model))))
        return ipywidgets.VBox(parts)

    def _mark(self, name: str) -> None:
        """Say beside a field whether it is saved."""
        if name in self._unsaved:
            said = f"{sign('✗')}<strong>{plain(_('Not saved.')).html}</strong>"
        elif self._fields[name].value.strip():
            said = sign("✓") + plain(_("Saved.")).html
        else:
            said = ""
        self._marks[name].value = page([f'<div role="status" aria-live="polite">{said}</div>'] if said else [])

    def _say(self) -> None:
        """What is filled in, in words, and where it is kept when that is not the usual place."""
        total = len(self._fields)
        filled = sum(bool(field.value.strip()) for field in self._fields.values())
        sentence = ngettext(
            "{filled} of {total} example is filled in. It is saved as you type.",
            "{filled} of {total} examples are filled in. They are saved as you type.",
            total,
        ).format(filled=filled, total=total)
        body = sign("✓") + plain(sentence).html
        notice = self._answers.notice
        if notice:
            body += paragraph(plain(labelled(_("Please note"), notice)))
        self._status.value = page([box("open" if notice else "good", body)])
        self._downloads.value = self._links()

    def _show_error(self, name: str, html: str) -> None:
        self._mark(name)
        self._marks[name].value += html
        self._status.value = html

    def _links(self) -> str:
        sheet, paper = self._vocabulary.csv().encode("utf-8-sig"), self._vocabulary.printable().encode()
        name = f"vocabulary-{current()}"
        links = [
            _download(_("Download as a table (CSV)"), f"{name}.csv", "text/csv", sheet),
            _download(_("Download a page to print (HTML)"), f"{name}.html", "text/html", paper),
        ]
        return page([f'<p style="margin:.3em 0">{" · ".join(links)}</p>'])


def _bold(source: str) -> str:
    return f"<strong>{prose(source).html}</strong>"


def _download(label: str, name: str, kind: str, content: bytes) -> str:
    address = f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode('ascii')}"
    style = "color:var(--jp-content-link-color,#1565c0);text-decoration:underline"
    return f'<a download="{name}" href="{address}" style="{style}">{escape(label)}</a>'


def _file(name: str) -> str:
    return f"vocabulary-{name}"


def _harmless(cell: str) -> str:
    """A spreadsheet takes a cell that starts with one of these for a formula (OWASP, "CSV Injection")."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
