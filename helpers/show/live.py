"""What the live widgets share: one root, and texts that are not cut off.

Core ipywidgets give a button or an HTML text one line of a fixed height in pixels. The few rules below undo
that; they are scoped to our own roots.
"""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets

from helpers.lab.language import _
from helpers.show.markup import box, page, plain, sign

# JupyterLab's sign of the kernel says so while nothing that is typed reaches the kernel.
_CUT = (
    ".jp-NotebookPanel:has(.jp-Notebook-ExecutionIndicator"
    ':is([data-status="connecting"], [data-status="disconnected"])) .once-live'
)
_STYLE = (
    f"""<style>
.once-cut, {_CUT} .once-saved {{display: none}}
{_CUT} .once-cut, .once-late .once-cut {{display: block}}
.once-late .once-saved, {_CUT} .once-answer:not(:focus-within):not(.once-late) .once-cut {{display: none}}
.once-waiting .once-saved {{visibility: hidden; transition: visibility 0s .3s}}
</style>"""
    + """<style>
.once-live {font-size: var(--jp-content-font-size1, 1em); --jp-widgets-font-size: 1em}
.once-live .widget-html {height: auto; min-height: 0}
.once-live .widget-html-content {
  line-height: 1.45; white-space: normal; overflow-wrap: break-word; font-size: 1em}
.once-live {container-type: inline-size}
.once-live .jupyter-button {
  white-space: normal; overflow: visible; height: auto; min-height: 2.2em; line-height: 1.35; font-size: 1em;
  margin: .15em 0; padding: .35em .8em; border: 1px solid var(--jp-content-font-color2, #616161)}
.once-live .jupyter-button:focus-visible {
  outline: .2em dashed var(--jp-content-font-color1, currentColor); outline-offset: -.1em}
.once-live .once-choice {text-align: left}
.once-live .once-chosen {
  outline: .15em solid var(--jp-brand-color1, #1976d2); outline-offset: -.15em; font-weight: bold}
.once-live .widget-text input {border: 1px solid var(--jp-content-font-color2, #616161)}
.once-live .widget-text input:focus-visible {
  outline: .15em solid var(--jp-content-font-color1, currentColor) !important; outline-offset: 0;
  border-color: var(--jp-content-font-color1, currentColor)}
.once-live .widget-text, .once-live .widget-label {height: auto; font-size: 1em; white-space: normal}
.once-live .widget-text {flex-wrap: wrap}
.once-live .widget-text > .widget-label {max-width: 100%; overflow: visible; text-overflow: clip}
.once-live .widget-text input {font-size: 1em; height: auto; min-width: 4em}
.once-live .widget-checkbox {height: auto; font-size: 1em; line-height: 1.5}
.once-live .widget-checkbox .widget-label-basic {font-size: 1em; height: auto; line-height: 1.5; white-space: normal}
.once-live .widget-checkbox label {display: flex; align-items: center; gap: .4em}
.once-live .widget-checkbox input {width: 1.1em; height: 1.1em; flex: none; margin: 0}
</style>"""
)


def root(title: str, children: Sequence[ipywidgets.Widget]) -> ipywidgets.Widget:
    """The root of a live widget; `title` is HTML."""
    box = ipywidgets.VBox([words(title, style=True), *children], layout=ipywidgets.Layout(max_width="64em"))
    box.add_class("once-live")
    return box


def beside_cells(*widgets: ipywidgets.Widget) -> None:
    """Let the page's messages to these widgets be handled while a cell runs. Call it after they were changed.

    JupyterLab sends them to a subshell of their own, but ipykernel 7.4 leads an answer to the shell that spoke
    last to the widget (ipykernel/comm/comm.py, `_reply_subshell_for`), and that is the one where the cell runs.
    Without that note the wish of JupyterLab counts. Other kernels have no such note; there, nothing changes.
    """
    for widget in widgets:
        if widget.comm is not None:
            vars(widget.comm).pop("_reply_subshell_id", None)


def words(html: str, *, style: bool = False) -> ipywidgets.HTML:
    """Static HTML in the reader's language."""
    return ipywidgets.HTML((_STYLE if style else "") + page([html]))


def while_connected(saved: str) -> str:
    """HTML that says that something is saved. While the kernel does not answer the page, it says the contrary."""
    not_yet = _("The kernel does not answer. What you type is not saved yet: the page sends it again until it is.")
    cut = sign("!") + plain(not_yet).html
    return f'<div class="once-saved">{saved}</div><div class="once-cut">{box("open", cut)}</div>'
