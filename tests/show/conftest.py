"""What the tests of helpers.show share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.lab import language
from helpers.lab.answers import Answers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_current", "en")


@pytest.fixture(autouse=True)
def _no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


@pytest.fixture
def own_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel writes to a page of the learner's own Jupyter server."""
    monkeypatch.setenv("JPY_SESSION_NAME", "copy.ipynb")


@pytest.fixture
def answers(tmp_path: Path) -> Answers:
    return Answers("idempotent-consumer", "en", environ={"ONCE_HOME": str(tmp_path / "home")})


@pytest.fixture
def no_widgets() -> Iterator[None]:
    """Closes every widget that a test made."""
    import ipywidgets

    yield
    ipywidgets.Widget.close_all()
