"""The vocabulary table: word, meaning, example. Blank example cells are for the learner to fill in.

In a live page what is typed is saved at once, and comes back after a restart. A good answer is offered below an
example as soon as there is one: who writes first learns more from comparing.
Elsewhere it is a plain table, always with blank cells: what a learner wrote never enters a stored notebook.
"""

from __future__ import annotations

import csv
import io
import os
import threading
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
from helpers.show.live import root, while_connected
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
        if self._widget is not None:
            self._widget.written(name)

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

    def csv(self, written: Mapping[str, str] | None = None) -> str:
        """The table as CSV: word, meaning, example with what the learner wrote (`written`: by entry id)."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\r\n")  # RFC 4180, 2.1
        writer.writerow([_("Word"), _("Meaning"), _("Example")])
        written = self.examples if written is None else written
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

    def printable(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        blank_lines: bool = False,
        written: Mapping[str, str] | None = None,
    ) -> str:
        """A complete HTML page to print; examples that the learner has not written are lines to write on.

        With `blank_lines` it is the page for a class: all of the learner's examples are lines, and there is a line
        for a name and a date. With a `path`, the page is written there too. `written`: other examples than are saved.
        """
        if blank_lines:
            written = {}
        elif written is None:
            written = self.examples
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
    """The vocabulary on the page, and what it does with what the learner types."""

    def __init__(self, vocabulary: Vocabulary, entries: Sequence[VocabularyRow], answers: Answers) -> None:
        # anywidget is only needed by a live page, and importing it takes its time.
        from helpers.show.vocabulary_widget import VocabularyWidget

        self._vocabulary = vocabulary
        self._answers = answers
        self._unsaved: set[str] = set()  # tried again with the next key stroke anywhere in the table
        self._authors: dict[str, str] = {}  # the page that a text came from, by the text's entry
        # A page is heard beside the cells: what is read from the files must not be older than what came meanwhile.
        self._one_by_one = threading.RLock()
        self._models = {entry.id: entry.model for entry in entries if not entry.example}
        self._texts = dict.fromkeys(self._models, "")
        self._marks = dict.fromkeys(self._models, "")
        self.widget = VocabularyWidget(
            entries=[_shown(entry) for entry in entries],
            place="/".join(answers.below.parts),
            words={
                "heads": [_("Word"), _("Meaning"), _("Example")],
                "placeholder": _("Write your own example here"),
                "files": [
                    {"kind": "table", "label": _("Download as a table (CSV)")},
                    {"kind": "page", "label": _("Download a page to print (HTML)")},
                    {"kind": "empty", "label": _("Download an empty page for a class (HTML)")},
                ],
            },
        )
        self.widget.on_entry(self._entered)
        first = paragraph(
            plain(_("Write your own example first. Then you can open a good answer and compare.")), soft=True
        )
        self.root = root(heading(_("Vocabulary")) + first, [self.widget])
        self.load()

    def load(self) -> None:
        """Put what is saved into the fields."""
        with self._one_by_one:
            for name in self._texts:
                if name not in self._unsaved:
                    self._texts[name] = self._answers.take(_file(name))
                    self._mark(name)
            self._show()

    def written(self, name: str) -> None:
        """Another way than the page has saved a text: what the page could not save of it is an older one."""
        with self._one_by_one:
            self._unsaved.discard(name)
            self._authors.pop(name, None)
            self.load()

    def _entered(self, content: Mapping[str, Any]) -> dict[str, Any] | None:
        """A message of the page: a text that was typed, or a file that is asked for.

        A text comes with the page that it was typed in (`by`), and with the text that this page saw before (`over`).
        """
        with self._one_by_one:
            if "file" in content:
                return {**self._download(content["file"]), **self._left_over()}
            name, text, by = str(content["entry"]), str(content["text"]), str(content.get("by"))
            there = self._texts[name]
            if self._authors.get(name) != by and content.get("over") != there and not text.startswith(there):
                # It has waited, and another page or the kernel before was heard meanwhile: that is news to the
                # learner, so it is kept.
                self._answers.forget(_file(name))
            self._authors[name] = by
            self._typed(name, text)
            return self._left_over() or None

    def _left_over(self) -> dict[str, Any]:
        """What the page is to keep for the next kernel."""
        return {"unsaved": sorted(self._unsaved)} if self._unsaved else {}

    def _typed(self, name: str, text: str) -> None:
        self._texts[name] = text
        self._unsaved.add(name)

        @shown_errors(lambda html: self._mark(name, html))
        def save() -> None:
            for waiting in [name, *sorted(self._unsaved - {name})]:
                self._answers.write(_file(waiting), self._texts[waiting])
                self._unsaved.discard(waiting)
                self._mark(waiting)

        save()
        self._show()

    def _mark(self, name: str, error: str = "") -> None:
        """What stands below a field: whether it is saved, and what else there is to know."""
        if name in self._unsaved:
            said = f"{sign('✗')}<strong>{plain(_('Not saved.')).html}</strong>"
        elif self._texts[name].strip():
            said = sign("✓") + plain(_("Saved.")).html
        else:
            said = ""
        status = f'<div role="status" aria-live="polite">{while_connected(said)}</div>'
        self._marks[name] = page([status, *self._from_elsewhere(name)]) + error

    def _good(self, name: str) -> str:
        """A good answer, for who has written one."""
        model = self._models[name] if self._texts[name].strip() else ""
        return page([folded(_("Compare with a good answer"), prose(model))]) if model else ""

    def _from_elsewhere(self, name: str) -> list[str]:
        """What a second notebook had written here before this one wrote: still there, and shown on request."""
        other = self._answers.replaced(_file(name))
        if other is None or other.text.strip() == self._texts[name].strip():
            return []
        kept = f'<p style="margin:.2em 0;white-space:pre-wrap">{plain(other.text).html}</p>'
        where = paragraph(
            prose(_("The other text is also kept in the file `{file}`.").format(file=other.file.name)), soft=True
        )
        said = sign("!") + plain(_("Another notebook had written something else here.")).html
        return [box("open", said + folded(_("Show the other text"), Cell(other.text, kept + where)))]

    def _show(self) -> None:
        self.widget.show(
            texts=dict(self._texts),
            marks=dict(self._marks),
            good={name: self._good(name) for name in self._texts},
            status=self._status(),
        )

    def _status(self) -> str:
        """What is filled in, in words, and where it is kept when that is not the usual place."""
        if self._unsaved:
            waiting = ngettext("{count} example is not saved.", "{count} examples are not saved.", len(self._unsaved))
            return page([box("bad", sign("✗") + plain(waiting.format(count=len(self._unsaved))).html)])
        total = len(self._texts)
        filled = sum(bool(text.strip()) for text in self._texts.values())
        sentence = ngettext(
            "{filled} of {total} example is filled in. It is saved as you type.",
            "{filled} of {total} examples are filled in. They are saved as you type.",
            total,
        ).format(filled=filled, total=total)
        body = sign("✓") + plain(sentence).html
        notice = self._answers.notice
        if notice:
            body += paragraph(plain(labelled(_("Please note"), notice)))
        return page([while_connected(box("open" if notice else "good", body))])

    def _download(self, kind: str) -> dict[str, str]:
        """A file of what is on the page, also of what could not be saved. The page sends what was typed before."""
        name = f"vocabulary-{current()}"
        if kind == "table":
            # The mark by which spreadsheets know UTF-8.
            return {
                "name": f"{name}.csv",
                "type": "text/csv;charset=utf-8",
                "content": "\ufeff" + self._vocabulary.csv(self._texts),
            }
        blank_lines = kind == "empty"
        content = self._vocabulary.printable(blank_lines=blank_lines, written=self._texts)
        return {"name": f"{name}{'-empty' * blank_lines}.html", "type": "text/html;charset=utf-8", "content": content}


def _shown(entry: VocabularyRow) -> dict[str, Any]:
    """An entry as the page takes it; the example is None where the learner writes one."""
    return {
        "id": entry.id,
        "word": _bold(entry.word),
        "meaning": prose(entry.meaning).html,
        "example": prose(entry.example).html if entry.example else None,
        "label": _("Your example: {word}").format(word=without_marks(entry.word)),
    }


def _bold(source: str) -> str:
    return f"<strong>{prose(source).html}</strong>"


def _file(name: str) -> str:
    return f"vocabulary-{name}"


def _harmless(cell: str) -> str:
    """A spreadsheet takes a cell that starts with one of these for a formula (OWASP, "CSV Injection")."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
