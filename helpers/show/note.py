"""Sentences in a box."""

from __future__ import annotations

from helpers.show.markup import box, page, paragraph, prose, sign


class ShownNote:
    """`mark` and `tone` say what kind of note it is; `sentences` may hold `code`."""

    def __init__(self, mark: str, tone: str, sentences: list[str]) -> None:
        self._mark, self._tone, self._sentences = mark, tone, sentences

    def text(self) -> str:
        first, *more = (sentence.replace("`", "") for sentence in self._sentences)
        return "\n".join([f"{self._mark} {first}", *(f"  {sentence}" for sentence in more)])

    def html(self) -> str:
        first, *more = self._sentences
        body = sign(self._mark) + prose(first).html + "".join(paragraph(prose(one)) for one in more)
        return page([box(self._tone, body)])
