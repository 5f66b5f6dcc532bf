"""Pages to print for a lesson: one for each learner, with room to write, and the teacher's edition with the answers.

A4 and black ink: nothing depends on a colour, and no ground is grey. The numbers of the pages stand in margin boxes of
CSS (css-page-3, 4.2), which Chromium prints from version 131 on; another browser leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from helpers.classroom.notes_page import section
from helpers.classroom.slides import PAGES
from helpers.classroom.teaching import Notes
from helpers.lab.language import _, current, labelled, ngettext
from helpers.lab.lesson_texts import LessonTexts, Prediction, VocabularyRow
from helpers.show.markup import Cell, prose
from helpers.show.vocabulary import paper_table

_LINES_FOR_AN_EXAMPLE = 2


def for_the_class(title: str, texts: LessonTexts, notes: Sequence[Notes]) -> str:
    """The learner's edition, in the language in use. It holds no answer."""
    names = "".join(f"<span>{escape(labelled(what, ''))}</span>" for what in (_("Name"), _("Date")))
    lines = Cell("", _lines(_LINES_FOR_AN_EXAMPLE))
    own = escape(_("Write an example of your own on the lines."))
    questions = [_question(one.title, one.prediction) for one in notes if one.prediction]
    first = escape(_("Before each step, mark the answer that you expect. Write what you saw when the step is done."))
    # The heading goes with the first question: alone at the end of a page it would announce nothing.
    heading = f"<h2>{escape(_('Predictions'))}</h2>\n<p>{first}</p>\n{''.join(questions[:1])}"
    return _page(
        title,
        _("Worksheet"),
        f'<p class="who">{names}</p>\n',
        f"<section><p>{own}</p>\n{paper_table(texts.vocabulary, lambda _entry: lines)}</section>\n"
        f'<section><div class="together">{heading}</div>\n{"".join(questions[1:])}</section>\n',
    )


def for_the_teacher(title: str, texts: LessonTexts, notes: Sequence[Notes]) -> str:
    """The teacher's edition: minutes, notes, the answers with what to say to each, good examples."""
    minutes = notes[-1].ends if notes else 0
    whole = ngettext("{minutes} minute", "{minutes} minutes", minutes).format(minutes=minutes)
    return _page(
        title,
        _("For the teacher, with the answers"),
        f"<p>{escape(labelled(_('Time'), whole))}</p>\n",
        f'<div class="steps">{"".join(section(one) for one in notes)}</div>\n'
        f'<section class="sheet"><h2>{escape(_("Examples that are good answers"))}</h2>\n'
        f"{paper_table(texts.vocabulary, _model)}</section>\n",
    )


def _model(entry: VocabularyRow) -> Cell:
    return prose(entry.model)


def _question(step: str, prediction: Prediction) -> str:
    choices = "".join(
        f'<li><span class="mark" aria-hidden="true"></span>{prose(choice.text).html}</li>'
        for choice in prediction.choices
    )
    return (
        f'<div class="question"><h3>{escape(step)}</h3>\n<p>{prose(prediction.question).html}</p>\n'
        f"<ol>{choices}</ol>\n{_room(_('My reason'))}{_room(_('What I saw'))}{_lines(1)}</div>\n"
    )


def _room(label: str) -> str:
    return f'<p class="room">{escape(labelled(label, ""))}{_lines(1)}</p>\n'


def _lines(count: int) -> str:
    return '<span class="line"></span>' * count


def _page(title: str, edition: str, opening: str, body: str) -> str:
    style = (PAGES / "handout.css").read_text(encoding="utf-8")
    footer = _text_of_css([title, edition])
    return (
        f'<!doctype html>\n<html lang="{escape(current())}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(labelled(edition, title))}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>\n{style}@page {{ @bottom-left {{ content: {footer}; }} }}\n</style>\n</head>\n<body>\n"
        f"<header><p>{escape(edition)}</p>\n<h1>{escape(title)}</h1>\n{opening}</header>\n<main>\n{body}</main>\n"
        "</body>\n</html>\n"
    )


def _text_of_css(parts: Iterable[str]) -> str:
    """A string of CSS; what would end it, or the <style> around it, is written as a code point."""
    text = " · ".join(parts)
    return '"' + "".join(f"\\{ord(sign):x} " if sign in '"\\<\n' else sign for sign in text) + '"'
