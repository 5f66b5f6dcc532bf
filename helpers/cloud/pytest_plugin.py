"""An emulated account for the tests of any project: ``pytest_plugins = ["helpers.cloud.pytest_plugin"]``.

It is loaded only where somebody names it, so that a project that merely has the package installed notices nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from . import Cloud, opened

SCOPES = ("function", "class", "module", "package", "session")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option `cloud_scope`."""
    parser.addini("cloud_scope", f"how long one emulated account lives: {', '.join(SCOPES)}", default="function")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a scope that is none before any test is collected: later it would be an internal error of pytest."""
    _scope("cloud", config)


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    try:
        scope = str(config.getini("cloud_scope"))
    except (KeyError, ValueError):  # a test module named the plugin: too late for options
        return "function"
    if scope not in SCOPES:
        raise pytest.UsageError(f"cloud_scope is {scope!r}; it must be one of {', '.join(SCOPES)}")
    return scope


@pytest.fixture(scope=_scope)
def cloud() -> Iterator[Cloud]:
    """An empty account. boto3 and the AWS CLI use it until it is closed: no call leaves the machine.

    Each test gets its own, unless `cloud_scope` says otherwise. Workers, the server and the poller end with it.
    """
    with opened() as account:
        yield account
