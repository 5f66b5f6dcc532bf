"""What the tests of the lessons share: one kernel, which ends with them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lessons.executed import end_kernel


@pytest.fixture(scope="module", autouse=True)
def _kernel_ends() -> Iterator[None]:
    yield
    end_kernel()
