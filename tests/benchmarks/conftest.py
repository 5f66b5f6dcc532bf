from __future__ import annotations

from tests.cloud.conftest import cloud

__all__ = ["cloud"]
