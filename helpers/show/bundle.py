"""One displayed object = text/plain + text/html, and the widget where there is one.

A viewer takes the richest form that it can draw: a live page the widget; GitHub, nbconvert and an untrusted
notebook the HTML. So no viewer is left with "Error displaying widget" alone.
"""

from __future__ import annotations

from typing import Any, Protocol

import ipywidgets

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Shown(Protocol):
    """What each shown object gives: the two static forms."""

    def text(self) -> str: ...

    def html(self) -> str: ...


def bundle(shown: Shown, widget: ipywidgets.Widget | None = None) -> dict[str, Any]:
    """The MIME bundle of a shown object."""
    data: dict[str, Any] = {"text/plain": shown.text(), "text/html": shown.html()}
    if widget is not None:
        view = view_of(widget)
        if WIDGET_VIEW in view:
            data[WIDGET_VIEW] = view[WIDGET_VIEW]
    return data


def view_of(widget: ipywidgets.Widget) -> dict[str, Any]:
    """What a widget gives to be displayed. (anywidget gives its metadata with it; there is none of it here.)"""
    view = widget._repr_mimebundle_()
    return dict(view[0] if isinstance(view, tuple) else view or {})
