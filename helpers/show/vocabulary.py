"""The vocabulary table: word, meaning, example. Blank example cells are for the learner to fill in.

In a live page it is a table of ipywidgets whose text is saved as it is typed and comes back after a restart. A
good answer is offered below an example as soon as there is one: who writes first learns more from comparing.
Elsewhere it is a plain table, always with blank cells: what a learner wrote never enters a stored notebook.
"""

from __future__ import annotations

import base64
import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets

from helpers.lab.answers import Answers
from helpers.lab.language import _, current, labelled, ngettext
from helpers.lab.lesson_texts import VocabularyRow
from helpers.show.bundle import bundle
from helpers.show.callbacks import shown_errors
from helpers.show.live import beside_cells, root, row, while_connected
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
_LINES_ON_PAPER = 2
_PRINTED = """body{font-family:sans-serif;margin:1.5em;color:#000;background:#fff}
h1{font-size:1.3em;margin:0 0 .6em}
.who{display:flex;gap:2em;margin:0 0 1em}.who span{flex:1;border-bottom:1px solid #000;padding-bottom:.2em}
table{width:100%!important;table-layout:fixed!important}th:first-child{width:20%}
td,th{max-width:none!important;border-color:#555!important}tr{break-inside:avoid}
code{font-family:monospace,monospace!important;font-size:.95em!important}
@page{margin:1.5cm}@media print{body{margin:0}}"""


class Vocabulary:
    """The vocabulary of one lesson, whose title is `lesson`. Show it in a cell, or use the methods."""

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

    def compare(self) -> Compared:
        """The learner's examples beside good answers; words without an example are only counted."""
        written = {name: text for name, text in self.examples.items() if text.strip()}
        entries = [entry for entry in self._entries if entry.id in written]
        rows = [(prose(entry.word), plain(written[entry.id]), prose(entry.model)) for entry in entries]
        return Compared(rows, len(self.blanks) - len(rows))

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
        """A complete HTML page to print; examples that the learner has not written are lines to write on.

        With `blank_lines` it is the page for a class: all of the learner's examples are lines, and there is a line
        for a name and a date. With a `path`, the page is written there too.
        """
        written = {} if blank_lines else self.examples
        title = _("Vocabulary")
        table = paper_table(self._entries, lambda entry: _own(written.get(entry.id, ""), _LINES_ON_PAPER))
        names = "".join(f"<span>{escape(labelled(what, ''))}</span>" for what in (_("Name"), _("Date")))
        who = f'<p class="who">{names}</p>'
        document = (
            f'<!DOCTYPE html>\n<html lang="{escape(current())}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width">\n'
            f"<title>{escape(labelled(title, self._lesson))}</title>\n"
            f"<style>{_PRINTED}</style>\n</head>\n<body>\n<h1>{escape(self._lesson)}</h1>\n"
            f"{who if blank_lines else ''}{table}\n</body>\n</html>\n"
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
        return page([paper_table(self._entries, lambda _entry: blank())])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.widget)


def paper_table(entries: Iterable[VocabularyRow], own: Callable[[VocabularyRow], Cell]) -> str:
    """The table as HTML that stays as it is. `own` gives the example of an entry for which the learner writes one."""
    rows = [
        (prose(entry.word), prose(entry.meaning), prose(entry.example) if entry.example else own(entry))
        for entry in entries
    ]
    return Table(_("Vocabulary"), [_("Word"), _("Meaning"), _("Example")], rows).html()


def _own(written: str, lines: int) -> Cell:
    """What the learner wrote, or lines to write on."""
    line = blank()
    return plain(written) if written.strip() else Cell(line.text, line.html * lines)


class Compared:
    """Examples of the learner beside good answers. `left`: how many words have no example yet."""

    def __init__(self, rows: Sequence[Sequence[Cell]], left: int) -> None:
        headers = [_("Word"), _("Your example"), _("A good answer")]
        first = _("Write an example first. Then it stands here, beside a good answer.")
        self._table = Table(_("Your examples and good answers"), headers, rows, empty=first)
        more = ngettext("{count} word has no example yet.", "{count} words have no example yet.", left)
        self._more = more.format(count=left) if left and rows else ""

    def text(self) -> str:
        return "\n".join(filter(None, [self._table.text(), self._more]))

    def html(self) -> str:
        return page([self._table.html(), paragraph(plain(self._more))] if self._more else [self._table.html()])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self)


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
        self._models = {entry.id: entry.model for entry in entries if not entry.example}
        self._compared: dict[str, ipywidgets.HTML] = {}
        first = paragraph(
            plain(_("Write your own example first. Then you can open a good answer and compare.")), soft=True
        )
        rows = [row([_bold(_("Word")), _bold(_("Meaning")), _bold(_("Example"))], _COLUMNS, head=True)]
        for entry in entries:
            example = prose(entry.example).html if entry.example else self._field(entry)
            rows.append(row([_bold(entry.word), prose(entry.meaning).html, example], _COLUMNS))
        self.root = root(heading(_("Vocabulary")) + first, [*rows, self._status, self._downloads])
        self.load()

    def load(self) -> None:
        """Put what is saved into the fields."""
        self._loading = True
        try:
            for name, field in self._fields.items():
                if name not in self._unsaved:
                    field.value = self._answers.take(_file(name))
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
        self._compared[name] = ipywidgets.HTML()

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
        answer = ipywidgets.VBox([field, self._marks[name], self._compared[name]])
        answer.add_class("once-answer")
        return answer

    def _mark(self, name: str) -> None:
        """Say below a field whether it is saved, and offer a good answer to who has written one."""
        if name in self._unsaved:
            said = f"{sign('✗')}<strong>{plain(_('Not saved.')).html}</strong>"
        elif self._fields[name].value.strip():
            said = sign("✓") + plain(_("Saved.")).html
        else:
            said = ""
        status = f'<div role="status" aria-live="polite">{while_connected(said)}</div>'
        self._marks[name].value = page([status, *self._from_elsewhere(name)])
        model = self._models[name] if self._fields[name].value.strip() else ""
        # The same value again is no change: what the learner has opened stays open while they type.
        self._compared[name].value = page([folded(_("Compare with a good answer"), prose(model))]) if model else ""

    def _from_elsewhere(self, name: str) -> list[str]:
        """What a second notebook had written here before this one wrote: still there, and shown on request."""
        other = self._answers.replaced(_file(name))
        if other is None or other.text.strip() == self._fields[name].value.strip():
            return []
        kept = f'<p style="margin:.2em 0;white-space:pre-wrap">{plain(other.text).html}</p>'
        where = paragraph(
            prose(_("The other text is also kept in the file `{file}`.").format(file=other.file.name)), soft=True
        )
        said = sign("!") + plain(_("Another notebook had written something else here.")).html
        return [box("open", said + folded(_("Show the other text"), Cell(other.text, kept + where)))]

    def _say(self) -> None:
        """What is filled in, in words, and where it is kept when that is not the usual place."""
        total = len(self._fields)
        filled = sum(bool(field.value.strip()) for field in self._fields.values())
        sentence = ngettext(
            "{filled} of {total} example is filled in. It is saved as you type.",
            "{filled} of {total} examples are filled in. They are saved as you type.",
            total,
        ).format(filled=filled, total=total)
        if self._unsaved:
            waiting = ngettext("{count} example is not saved.", "{count} examples are not saved.", len(self._unsaved))
            self._status.value = page([box("bad", sign("✗") + plain(waiting.format(count=len(self._unsaved))).html)])
            return
        body = sign("✓") + plain(sentence).html
        notice = self._answers.notice
        if notice:
            body += paragraph(plain(labelled(_("Please note"), notice)))
        self._status.value = page([while_connected(box("open" if notice else "good", body))])
        self._downloads.value = self._links()

    def _show_error(self, name: str, html: str) -> None:
        self._mark(name)
        self._marks[name].value += html
        self._say()

    def _links(self) -> str:
        sheet, paper = self._vocabulary.csv().encode("utf-8-sig"), self._vocabulary.printable().encode()
        for_class = self._vocabulary.printable(blank_lines=True).encode()
        name = f"vocabulary-{current()}"
        links = [
            _download(_("Download as a table (CSV)"), f"{name}.csv", "text/csv", sheet),
            _download(_("Download a page to print (HTML)"), f"{name}.html", "text/html", paper),
            _download(_("Download an empty page for a class (HTML)"), f"{name}-empty.html", "text/html", for_class),
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
