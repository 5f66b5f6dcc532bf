"""JupyterLab as the launcher sets it up: in the reader's language, and with nothing over the page."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Playwright, expect

from helpers.launcher.jupyter import overrides
from tests.browser.jupyterlab import Notebook, Seen, Server, page, server, write_notebook

pytestmark = pytest.mark.browser

# The first menu, and one that the pack of the language does not leave in English.
FILE_AND_HELP = {"fr_FR": ("Fichier", "Aide"), "ru_RU": ("Файл", "Справка"), "es_ES": ("Archivo", "Ayuda")}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("served"), overrides=overrides("fr_FR")) as started:
        write_notebook(started.root / "page.ipynb", {"one": "1"})
        yield started


@pytest.fixture(scope="module")
def tab(playwright: Playwright, chromium: str) -> Iterator[tuple[Page, Seen]]:
    with page(playwright, chromium, 1366, 768) as opened:
        yield opened


@pytest.mark.parametrize("locale", FILE_AND_HELP)
def test_menus_in_the_language_and_nothing_pops_up(locale: str, running: Server, tab: tuple[Page, Seen]) -> None:
    opened, seen = tab
    if locale != "fr_FR":  # one server for all: what the menu Settings, Language does
        settings = f"{running.address}/lab/api/settings/@jupyterlab/translation-extension:plugin"
        answer = opened.request.put(settings, data={"raw": json.dumps({"locale": locale})}, headers=_xsrf(opened))
        assert answer.ok, answer.text()
    Notebook(opened, running, "page.ipynb")
    menus = opened.locator("#jp-MainMenu .lm-MenuBar-itemLabel")
    first, last = FILE_AND_HELP[locale]
    expect(menus.first).to_have_text(first)
    expect(menus.last).to_have_text(last)
    expect(opened.locator(".jp-Dialog, .Toastify__toast")).to_have_count(0)
    assert seen == Seen(), "no news from the network, no error"


def _xsrf(opened: Page) -> dict[str, str]:
    """The header with which jupyter_server accepts a change (Tornado, "Cross-site request forgery")."""
    cookies = {cookie.get("name"): cookie.get("value", "") for cookie in opened.context.cookies()}
    return {"X-XSRFToken": cookies.get("_xsrf", "")}
