"""Reads what is shown: HTML, strictly, and the widgets inside a widget."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import count
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from helpers.show.delivered import Delivered

_NUMBERS = count(1)

VOID = {"br", "hr", "meta", "link", "img", "input"}


class Outline(HTMLParser):
    """Reads HTML strictly: every element is closed in its order. Keeps elements, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def inside(widget: Any, kind: type) -> list[Any]:
    found = [widget] if isinstance(widget, kind) else []
    return found + [one for child in getattr(widget, "children", ()) for one in inside(child, kind)]


def enter(widget: Delivered, content: dict[str, Any], *, key: str = "key", number: int | None = None) -> list[Any]:
    """What the page sends when something is entered; gives what the kernel sends back to the page.

    `number` counts the messages of one page; without one, it is a new message.
    """
    sent: list[Any] = []
    with patch.object(widget, "send", sent.append):
        message = {"page": "a page", "key": key, "number": next(_NUMBERS) if number is None else number}
        widget._handle_custom_msg({**message, "content": content}, [])
    return sent
