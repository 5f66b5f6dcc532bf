"""Each language's lesson, run from top to bottom through the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright

from helpers.lab.language import SOURCE, known_languages
from tests.browser.jupyterlab import Notebook, Seen, Server, page, server

pytestmark = [pytest.mark.browser, pytest.mark.early]

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = [language for language in known_languages() if language != SOURCE]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("served")) as started:
        yield started


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lesson_runs_in_the_page(language: str, running: Server, playwright: Playwright, chromium: str) -> None:
    (stored,) = (ROOT / "notebooks" / language).glob("*_idempotent_consumer.ipynb")
    (running.root / language).mkdir()
    shutil.copy(stored, running.root / language)
    shutil.rmtree(running.home, ignore_errors=True)
    with page(playwright, chromium) as (tab, seen):
        notebook = Notebook(tab, running, f"{language}/{stored.name}")
        notebook.restart_and_run_all()
        assert notebook.failed_cells() == []
        assert seen == Seen()

        field = tab.locator(".once-live textarea").first
        field.scroll_into_view_if_needed()
        field.fill("Один раз, une fois, una vez")
        notebook.wait_for(lambda: bool(list(running.home.rglob("vocabulary-*.txt"))), "the answer to be saved")
        assert {one.get_attribute("lang") for one in tab.locator("[lang]").all()} - {None, "en"} == {language}
        notebook.picture(f"lesson-{language}")
        notebook.shut_down()
