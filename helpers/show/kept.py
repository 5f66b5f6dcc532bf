"""What a reader sees of a control when the kernel that drew it is gone: its static form, in an output of its own.

JupyterLab and Notebook draw only the richest form of a bundle. In a trusted notebook that is the widget, and
without its kernel they write "Error displaying widget: model not found" in its place, although HTML lies in the
same bundle (jupyterlab-manager, `WidgetRenderer.renderModel`). To save the state of the widgets instead would
draw buttons and fields that look alive and do nothing, and needs a setting that not every server has.

So under a Jupyter server a bundle leaves the kernel as two outputs: the widget, then the HTML. A rule in the HTML
hides the HTML while the widget above it is connected, and hides the place of the widget while it is not. Other
viewers choose within a bundle (Visual Studio Code: microsoft/vscode-jupyter, issue 12611) or know no widgets, so
elsewhere a bundle stays whole; so do the notebooks that are stored with the course.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from helpers.lab.language import _
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.markup import page, paragraph, plain

_CHILD = ".jp-OutputArea-child"
# JupyterLab gives each output the attribute data-mime-type, except the place of a widget.
_PLACE = "> .jp-OutputArea-output.lm-Panel:not([data-mime-type])"
# The view of a widget has this class while its kernel is away (@jupyter-widgets/base, DOMWidgetView). That of an
# anywidget never has it, so such a widget is shown in a box of ipywidgets.
_CONNECTED = f"{_PLACE} > :not(.jupyter-widgets-disconnected)"
# After a shut-down the view keeps its looks, and only the sign in the notebook's toolbar knows (JupyterLab 4.6).
_NOTEBOOK = ".jp-NotebookPanel"
_SHUT_DOWN = ':has(.jp-Notebook-ExecutionIndicator:is([data-status="unknown"], [data-status="dead"]))'
_BEFORE_KEPT = f":has(+ {_CHILD} .once-kept)"
_LIVE = f"{_CHILD}:has({_CONNECTED}) + {_CHILD}:has(.once-kept)"
# The sign changes with each cell that runs. Where one of these rules then asked after all elements of the notebook, by
# `:not(… *)`, half of the page's work was that: 6 of 13 s in a lesson.
_HIDDEN = (
    f"{_NOTEBOOK}:not({_SHUT_DOWN}) {_LIVE}",
    f"{_LIVE}:not({_NOTEBOOK} *)",
    f"{_CHILD}:has({_PLACE}):not(:has({_CONNECTED})){_BEFORE_KEPT}",
    f"{_NOTEBOOK}{_SHUT_DOWN} {_CHILD}:has({_PLACE}){_BEFORE_KEPT}",
)
_STYLE = f"<style>{', '.join(_HIDDEN)} {{display: none}}</style>"


def install(shell: Any) -> None:
    """Let an IPython shell send a widget and its static form as two outputs. May be called again."""
    formatter = shell.display_formatter
    if getattr(formatter.format, "keeps_static_form", False) or not under_a_server():
        return
    format_one = formatter.format

    def format_both(value: Any, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = format_one(value, include, exclude)
        if WIDGET_VIEW not in data or "text/html" not in data:
            return data, metadata
        # Without a text, nbconvert warns that it cannot represent the output.
        shell.display_pub.publish({WIDGET_VIEW: data[WIDGET_VIEW], "text/plain": ""})
        rest = {kind: content for kind, content in data.items() if kind != WIDGET_VIEW}
        return rest | {"text/html": kept(data["text/html"])}, metadata

    format_both.keeps_static_form = True  # type: ignore[attr-defined]  # a mark on a function
    formatter.format = format_both


def kept(html: str) -> str:
    """The static form, with a line that says how to get the live one back."""
    advice = page([paragraph(plain(_("To use it, run the cells again from the top. Your saved answers are kept.")))])
    return f'{_STYLE}<div class="once-kept">{advice}{html}</div>'


def under_a_server(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether jupyter_server started this kernel for a notebook (services/sessions/sessionmanager.py)."""
    return "JPY_SESSION_NAME" in environ
