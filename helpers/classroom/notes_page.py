"""The teacher's notes as a page of their own, for the other screen or on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from helpers.classroom.slides import PAGES
from helpers.classroom.teaching import Notes
from helpers.lab.language import _, current, labelled, ngettext


def notes_page(title: str, notes: Sequence[Notes]) -> str:
    """The page, in the language in use. It asks nothing of any network."""
    style = "".join((PAGES / name).read_text(encoding="utf-8") for name in ("theme.css", "notes.css"))
    minutes = notes[-1].ends if notes else 0
    whole = ngettext("{minutes} minute", "{minutes} minutes", minutes).format(minutes=minutes)
    return (
        f'<!doctype html>\n<html lang="{escape(current())}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(labelled(_('Notes for the teacher'), title))}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<header><p>{escape(_('Notes for the teacher'))} · {whole}</p>\n"
        f"<h1>{escape(title)}</h1>\n{_keys()}</header>\n<main>\n{''.join(section(one) for one in notes)}</main>\n"
        "</body>\n</html>\n"
    )


def section(notes: Notes) -> str:
    """The notes of one step, with its title and its minutes."""
    return (
        f'<section id="{escape(notes.step)}">\n<h2>{escape(notes.title)}</h2>\n'
        f'<p class="time">{escape(notes.time)}</p>\n{notes.html()}\n</section>\n'
    )


def _keys() -> str:
    keys = (
        ("Shift + Enter", _("run the cell and go on")),
        ("Page Down", _("the next step, at the top of the screen")),
        ("Page Up", _("the step before")),
        ("Ctrl + Alt + D", _("dark theme")),
        ("Ctrl + Alt + L", _("light theme")),
    )
    rows = "".join(f'<tr><th scope="row"><kbd>{key}</kbd></th><td>{escape(text)}</td></tr>' for key, text in keys)
    return f"<table><caption>{escape(_('Keys for the projected notebook'))}</caption><tbody>{rows}</tbody></table>\n"
