"""What the tests of the launcher share: it speaks English, whatever this computer is set to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.launcher import words


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ONCE_LANGUAGE", "en")
    words.choose([])
    yield
    words._translations.clear()
