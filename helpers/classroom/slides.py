"""Slides from a stored notebook: one HTML file that asks nothing of any network.

reveal.js (vendor/reveal) turns the pages. What stands on one page is decided in the browser, where the real letters
can be measured (pages/slides.js): what does not fit goes on on the next page, long code and tables at a sensible line.
Nothing is made smaller, so that the last row can read it. Widgets show the static form that is stored beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from nbconvert.filters.highlight import Highlight2HTML
from nbformat import NotebookNode

from helpers.classroom.flowchart import flowchart
from helpers.classroom.teaching import Notes, heading_of
from helpers.course.slideshow import slide_type
from helpers.lab.language import _, current, labelled
from helpers.show.picture import with_drawings

HERE = Path(__file__).parent
PAGES = HERE / "pages"
REVEAL = HERE / "vendor" / "reveal"

# What these calls show says everything; on a slide their line of code would only stand in the way.
_SPEAKS_FOR_ITSELF = re.compile(r"lab\.(?:predict|vocabulary)\([^\n]*\)")


def slides(notebook: NotebookNode, title: str, notes: Sequence[Notes]) -> str:
    """The HTML file, in the language in use."""
    styles = [(REVEAL / "reveal.css").read_text(encoding="utf-8"), _page("theme.css"), _page("slides.css")]
    # The map of the minified code is not beside the page: without this line a browser's tools would look for it.
    reveal = re.sub(r"\n//# sourceMappingURL=.*", "", (REVEAL / "reveal.js").read_text(encoding="utf-8"))
    return (
        f'<!doctype html>\n<html lang="{escape(current())}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # An empty icon, or the browser asks for one.
        '<link rel="icon" href="data:,">\n'
        f"<style>\n{''.join(styles)}\n</style>\n</head>\n<body>\n"
        f'<div class="reveal"><div class="slides"></div></div>\n'
        f'<div id="once-source" hidden>{"".join(_steps(notebook.cells))}</div>\n'
        f"{''.join(_note(one) for one in notes)}"
        f'<script type="application/json" id="once-texts">{_json(_texts(notes))}</script>\n'
        f"<noscript>{escape(_('These slides need JavaScript.'))}</noscript>\n"
        f"<script>\n{_script(reveal)}\n</script>\n<script>\n{_script(_page('slides.js'))}\n</script>\n"
        f"<script>\n{_script(_page('speaker.js'))}\n</script>\n</body>\n</html>\n"
    )


def _steps(cells: Iterable[NotebookNode]) -> Iterator[str]:
    """A <section> for each step, in it a <div> for each page as the slide types ask for it."""
    step: list[str] = []
    opened = False
    for cell in cells:
        kind = slide_type(cell.cell_type, cell.metadata)
        if kind in ("skip", "notes") or not cell.source.strip():
            continue
        if kind == "slide" or not step:
            if step:
                yield f"{''.join(step)}</div></section>"
            title = heading_of(cell.source) if cell.cell_type == "markdown" else ""
            step = [f'<section data-step="{escape(cell.id)}" data-title="{escape(title)}"><div>']
            opened = True
        elif kind == "subslide" and not opened:
            step.append("</div><div>")
        step += _blocks(cell, fragment=kind == "fragment")
        opened = False
    if step:
        yield f"{''.join(step)}</div></section>"


def _blocks(cell: NotebookNode, fragment: bool) -> Iterator[str]:
    """What a cell shows, one piece of HTML after the other. Outputs come with a press of their own: guess first."""
    if cell.cell_type == "markdown":
        yield markdown(cell.source)
        return
    speaks = _SPEAKS_FOR_ITSELF.fullmatch(cell.source.strip()) is not None
    if not speaks:
        yield code(cell.source)
    hidden = " fragment" if fragment or not speaks else ""
    question = " once-question" if speaks else ""
    for output in cell.outputs:
        if shown := _output(output):
            yield f'<div class="once-output{hidden}{question}">{shown}</div>'


def _output(output: NotebookNode) -> str:
    """The richest static form. An error shows its last line, which names it."""
    if output.output_type == "stream":
        return _text(output.text)
    if output.output_type == "error":
        return _text(f"{output.ename}: {output.evalue}")
    data = output.get("data", {})
    if "text/html" in data:
        return with_drawings(str(data["text/html"]))
    if "image/svg+xml" in data:
        return str(data["image/svg+xml"])
    return _text(data["text/plain"]) if "text/plain" in data else ""


def markdown(source: str) -> str:
    """Markdown of a lesson as HTML. Python in it is coloured, a flow chart is drawn."""
    return str(_MARKDOWN.render(source))


def code(source: str) -> str:
    """Python, line by line, so that a long cell can go on on the next page."""
    html = Highlight2HTML()(source.strip("\n"), language="python")
    coloured = html[html.index("<pre>") + len("<pre>") : html.rindex("</pre>")].removeprefix("<span></span>")
    return f'<pre class="once-code" translate="no">{_lines(coloured)}</pre>'


def _text(text: str) -> str:
    return f'<pre class="once-text" translate="no">{_lines(escape(text))}</pre>'


def _lines(html: str) -> str:
    # The formatter ends each <span> with its line, so a line can stand alone.
    return "".join(f"<span>{line}\n</span>" for line in html.rstrip("\n").split("\n"))


def _fence(self: RendererHTML, tokens: Sequence[Token], index: int, *_rest: object) -> str:
    token = tokens[index]
    language = token.info.strip()
    if language == "mermaid":
        return flowchart(token.content)
    return code(token.content) if language == "python" else _text(token.content)


_MARKDOWN = MarkdownIt("commonmark").enable("table")
_MARKDOWN.add_render_rule("fence", _fence)


def _note(notes: Notes) -> str:
    heading = f"<h1>{escape(notes.title)}</h1><p>{escape(notes.time)}</p>"
    return f'<template class="once-notes" data-step="{escape(notes.step)}">{heading}{notes.html()}</template>\n'


def _texts(notes: Sequence[Notes]) -> dict[str, str]:
    return {
        "continued": _("continued"),
        "previous": _("Previous slide"),
        "next": _("Next slide"),
        "up": _("Slide above"),
        "down": _("Slide below"),
        "resume": _("Go on"),
        "notes": _("Notes for the teacher"),
        "none": _("There are no notes for this slide."),
        "upcoming": _("Next"),
        "clock": labelled(_("Minutes since the start"), "{minutes}"),
        "planned": labelled(_("Minutes planned"), str(notes[-1].ends if notes else 0)),
        "blocked": _("The browser blocked the window with the notes. Allow pop-up windows, then press S again."),
        "more": _("Scroll to see more"),
    }


def _page(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")


def _script(text: str) -> str:
    return text.replace("</script", "<\\/script")
