"""Each language's lesson, run from top to bottom through the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Playwright

from helpers.lab.language import SOURCE, known_languages
from tests.browser.jupyterlab import Notebook, Seen, page, server

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = [language for language in known_languages() if language != SOURCE]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lesson_runs_in_the_page(language: str, tmp_path: Path, playwright: Playwright, chromium: str) -> None:
    (stored,) = (ROOT / "notebooks" / language).glob("*_idempotent_consumer.ipynb")
    (tmp_path / language).mkdir()
    shutil.copy(stored, tmp_path / language)
    with server(tmp_path) as running, page(playwright, chromium) as (tab, seen):
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
