"""What the tests of the launcher share: it speaks English, whatever this computer and the command are set to.

tests/launcher/test_words.py is about its other languages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.launcher import words
from helpers.launcher.environment import Environment


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ONCE_LANGUAGE", "en")
    monkeypatch.setattr(words, "read_messages", lambda path: {})
    words.choose([])
    yield
    words._translations.clear()


def put_in(environment: Environment, package: str, version: str) -> Path:
    """What an installer leaves of a package without files; returns the folder that says what it is."""
    packages = environment.folder / ("Lib" if os.name == "nt" else "lib/python3.12") / "site-packages"
    about = packages / f"{package}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "RECORD").write_text("", encoding="utf-8")
    return about
