"""Chromium and JupyterLab for the tests in a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Playwright, expect, sync_playwright

from tests.browser.jupyterlab import Server, server

# A page that shares the cores with other tests answers later; what never comes true still fails.
expect.set_options(timeout=30_000)

HOW = "apt-get install -y --no-install-recommends chromium fonts-dejavu fonts-noto-core"


def system_chromium() -> str | None:
    """Path of the browser that this machine has, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the system's Chromium."""
    path = system_chromium()
    if path is None:
        message = f"no Chromium on this machine; to get it: {HOW}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """Ends with the module: its event loop would run on below the tests that come after."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def served(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One JupyterLab for all modules of a process: to start it takes longer than most tests."""
    with server(tmp_path_factory.mktemp("served")) as started:
        yield started


@pytest.fixture(scope="module")
def running(served: Server) -> Server:
    """JupyterLab, and a learner who has not written anything yet."""
    shutil.rmtree(served.home, ignore_errors=True)
    return served
