"""What the tests of the launcher share: it speaks English, whatever this computer and the command are set to.

tests/launcher/test_words.py is about its other languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.launcher import words


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ONCE_LANGUAGE", "en")
    monkeypatch.setattr(words, "read_messages", lambda path: {})
    words.choose([])
    yield
    words._translations.clear()
