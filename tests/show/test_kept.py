"""Widget and static form: two outputs under a Jupyter server, one bundle elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import helpers
from helpers.show import kept, live
from helpers.show.bundle import WIDGET_VIEW, bundle

HELPERS = Path(helpers.__file__).parent


class Switch:
    """Something with a live and a static form."""

    def text(self) -> str:
        return "off"

    def html(self) -> str:
        return "<p>off</p>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, ipywidgets.Button())


@pytest.fixture
def shell(tmp_path: Path) -> InteractiveShell:
    """A shell that leaves nothing in the home of whoever runs the tests."""
    config = Config()
    config.HistoryManager.enabled = False
    return InteractiveShell(config=config, ipython_dir=str(tmp_path / "ipython"))


class Sent(list[dict[str, Any]]):
    """In place of the shell's publisher."""

    def publish(self, data: dict[str, Any]) -> None:
        self.append(data)


def shown(shell: InteractiveShell, value: object) -> tuple[Sent, dict[str, Any]]:
    """What is sent before the output of `value`, and that output."""
    sent = Sent()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shell, "display_pub", sent)
        data, _metadata = shell.display_formatter.format(value)
    return sent, data


def test_two_outputs_under_a_server(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/course/notebooks/fr/02_x.ipynb")
    kept.install(shell)
    kept.install(shell)
    sent, data = shown(shell, Switch())
    assert [set(one) for one in sent] == [{WIDGET_VIEW, "text/plain"}], "once, though it was installed twice"
    assert set(data) == {"text/plain", "text/html"}
    assert data["text/plain"] == "off"
    assert data["text/html"].endswith("<p>off</p></div>")
    assert data["text/html"].startswith("<style>")


def test_one_bundle_elsewhere(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    kept.install(shell)
    sent, data = shown(shell, Switch())
    assert sent == []
    assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
    assert data["text/html"] == "<p>off</p>"


@pytest.mark.parametrize("value", [3, ipywidgets.Button()], ids=["plain", "a widget without HTML"])
def test_other_values_are_left_alone(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    before = shown(shell, value)
    monkeypatch.setenv("JPY_SESSION_NAME", "/course/notebooks/fr/02_x.ipynb")
    kept.install(shell)
    assert shown(shell, value) == before


def test_no_rule_asks_after_all_elements_when_the_sign_of_the_kernel_changes() -> None:
    """`:has(…) *` has a browser compute the style of everything below, each time that something in `…` may have
    changed. In a lesson that was half of what the page did."""
    styles = "".join(path.read_text(encoding="utf-8") for path in HELPERS.rglob("*.css")) + kept.kept("") + live._STYLE
    assert ":has(" in styles
    assert re.findall(r":has\([^{}]*\) \*", styles) == []
