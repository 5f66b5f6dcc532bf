"""One account per test module: starting one costs about as much as a whole module of calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.cloud import Cloud


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with Cloud() as account:
        yield account
