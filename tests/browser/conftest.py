"""Chromium for the tests in a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Playwright, expect, sync_playwright

# A page that shares the cores with other tests answers later; what never comes true still fails.
expect.set_options(timeout=30_000)

HOW = "apt-get install -y --no-install-recommends chromium fonts-dejavu fonts-noto-core"


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the system's Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
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
