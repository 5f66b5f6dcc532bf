"""What a text holds besides its words: code spans, links, HTML tags, emphasis, numbers, placeholders."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from helpers.course.blocks import markdown

# Stands for a code span, a link's address or a placeholder in `plain`.
OBJECT = "\ufffc"

_QUOTED_WORD = re.compile(r'"([\w./-]*)"')
_ADDRESS = re.compile(r"https?://[^\s)>\]]+")
_PLACEHOLDER = re.compile(r"\{\w*(?:[.!:\[][^{}\s]*)?\}|%(?:\(\w+\))?[sdrf](?!\w)")
_NUMBER = re.compile(r"\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)*")


@dataclass(slots=True)
class Inline:
    """A text of Markdown, taken apart. `plain` is what is left: words, without code, tags or addresses."""

    plain: str = ""
    code: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    strong: int = 0
    placeholders: list[str] = field(default_factory=list)

    @property
    def numbers(self) -> list[str]:
        """The numbers in the words, each written as in code: "10 000,5" and "10,000.5" are "10000.5"."""
        return [_as_in_code(found) for found in _NUMBER.findall(self.plain)]


def inline_of(kind: str, text: str) -> Inline:
    """Take the text of an entry apart. In a comment, a word in straight quotes is code: "send-again"."""
    return inline(_QUOTED_WORD.sub(r'`"\1"`', text) if kind == "comment" else text)


@lru_cache(maxsize=4096)
def inline(text: str) -> Inline:
    """Take a text apart. Do not change the result: it is kept."""
    found = Inline()
    parts: list[str] = []
    for block in markdown().parseInline(text):
        for token in block.children or []:
            if token.type == "code_inline":
                found.code.append(token.content)
                parts.append(OBJECT)
            elif token.type == "html_inline":
                found.tags.append(re.sub(r"\s+", " ", token.content))
            elif token.type == "link_open":
                found.links.append(str(token.attrs["href"]))
            elif token.type == "image":
                found.links.append(str(token.attrs["src"]))
                parts.append(token.content)
            elif token.type == "strong_open":
                found.strong += 1
            elif token.type in ("softbreak", "hardbreak"):
                parts.append("\n")
            else:
                parts.append(token.content)
    words = _ADDRESS.sub(OBJECT, "".join(parts))
    found.placeholders = _PLACEHOLDER.findall(words)
    found.plain = _PLACEHOLDER.sub(OBJECT, words)
    return found


def _as_in_code(number: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        return number.replace(",", "")
    return re.sub(r"[\u00a0\u202f]", "", number).replace(",", ".")
