"""One displayed object = text/plain + text/html, and the widget where there is one.

A viewer takes the richest form that it can draw: a live page the widget; GitHub, nbconvert and an untrusted
notebook the HTML. So no viewer is left with "Error displaying widget" alone.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import ipywidgets

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Shown(Protocol):
    """What each shown object gives: the two static forms."""

    def text(self) -> str: ...

    def html(self) -> str: ...


@runtime_checkable
class Pictured(Protocol):
    """A shown object that is also an image by itself, for programs that take no HTML (paper, for example)."""

    def picture(self) -> str: ...


def bundle(shown: Shown, widget: ipywidgets.Widget | None = None) -> dict[str, Any]:
    """The MIME bundle of a shown object."""
    data: dict[str, Any] = {"text/plain": shown.text(), "text/html": shown.html()}
    if isinstance(shown, Pictured):
        # JupyterLab, nbconvert and VS Code prefer text/html to it.
        data["image/svg+xml"] = shown.picture()
    if widget is not None:
        view = view_of(widget)
        if WIDGET_VIEW in view:
            data[WIDGET_VIEW] = view[WIDGET_VIEW]
    return data


def view_of(widget: ipywidgets.Widget) -> dict[str, Any]:
    """What a widget gives to be displayed. (anywidget gives its metadata with it; there is none of it here.)"""
    if not hasattr(widget, "_repr_mimebundle_"):  # ipywidgets 7, which Colab has: a widget displays itself
        return {WIDGET_VIEW: widget.get_view_spec()}
    view = widget._repr_mimebundle_()
    return dict(view[0] if isinstance(view, tuple) else view or {})
