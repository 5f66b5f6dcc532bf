"""What all tests hold: one account at a time in a process, so each module closes what it opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files with the mark `early` first: what takes long may not begin when the other worker has finished."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture(scope="module", autouse=True)
def _no_account_stays_open() -> Iterator[None]:
    """Set up before the module's own fixtures, so torn down after them."""
    yield
    account = sys.modules.get("helpers.cloud.account")
    left = getattr(account, "_open", None)
    if left is not None:
        left.close()
        pytest.fail("this module leaves an emulated account open; the next module could not open its own")


@pytest.fixture(scope="module", autouse=True)
def _no_language_stays_chosen() -> Iterator[None]:
    """A command speaks the language that it was called with. That of the next module begins in English."""
    yield
    words = sys.modules.get("helpers.launcher.words")
    if words is not None:
        words._translations.clear()


@pytest.fixture
def in_english() -> Iterator[None]:
    """The helpers speak English, and then the language of before."""
    from helpers.lab.language import current, use

    before = current()
    use("en")
    yield
    use(before)
