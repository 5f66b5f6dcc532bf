"""All patches on moto, in one place. Each names what it replaces and why, and notices when moto moved it.

`verify` compares the source that is replaced, or relied on, with the source that the patch was written for. The
account does not start on a moto that it does not know; tests/cloud/test_patches.py says the same before a release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import moto

from . import direct, dispatch, dynamodb_comparisons, fast_queue, log_groups, s3_notifications, sent_events, sqs_backend
from .clock import Clock
from .places import PatchMoved, Place, digest

__all__ = ["PLACES", "Applied", "PatchMoved", "Place", "digest", "verify"]


PLACES: tuple[Place, ...] = (
    *direct.PLACES,
    *dispatch.PLACES,
    *dynamodb_comparisons.PLACES,
    *fast_queue.PLACES,
    *log_groups.PLACES,
    *sent_events.PLACES,
    *s3_notifications.PLACES,
    *sqs_backend.PLACES,
    Place(
        "moto.core.utils",
        "unix_time",
        "3b8a914ec48034ee",
        "The account's clock replaces it in moto.sqs.models, so that time can be skipped.",
    ),
    Place(
        "moto.core.utils",
        "unix_time_millis",
        "ff60f16b31859fa2",
        "The account's clock replaces it in moto.sqs.models, so that time can be skipped.",
    ),
    Place("moto.backends", "list_of_moto_modules", "f7f966c4452733db", "Its answer, which never changes, is kept."),
    Place(
        "moto.sqs.models",
        "Message.visible",
        "abe34eec4e2e6a47",
        "It must ask unix_time_millis of moto.sqs.models, which the account's clock replaces.",
    ),
)


VERIFIED = "5.2.5"
"""The release of moto in which tests/cloud/test_patches.py found every place as it was. What was released does not
change, so the account does not read the sources again each time that it starts (a tenth of its start)."""


def verify() -> None:
    """Raise PatchMoved when any place moved."""
    if moto.__version__ == VERIFIED:
        return
    for place in PLACES:
        place.verify()


class Applied:
    """The patches, applied. `undo` gives moto back as it was."""

    def __init__(self, clock: Clock, port: int) -> None:
        self._undo: list[Callable[[], None]] = []
        from moto import backends
        from moto.sqs import models as sqs

        self._replace(sqs, "unix_time", lambda dt=None: clock.now() if dt is None else _unix_time(dt))
        self._replace(sqs, "unix_time_millis", lambda dt=None: (clock.now() if dt is None else _unix_time(dt)) * 1000)
        self._undo.append(fast_queue.install())
        self._undo.append(log_groups.install())
        self._undo.append(dynamodb_comparisons.install())
        self._undo.append(sqs_backend.install())
        # moto's dispatcher lists the folders of all its services for each request.
        modules = tuple(backends.list_of_moto_modules())
        self._replace(backends, "list_of_moto_modules", lambda: modules)
        self._environment("MOTO_PORT", str(port))
        self._environment("MOTO_LAMBDA_CONCURRENCY_QUOTA", "1000")
        for module, name, new in dispatch.replacements():
            self._replace(module, name, new)
        for name, value in dispatch.ENVIRONMENT.items():
            self._environment(name, value)

    def undo(self) -> None:
        """Take all patches back."""
        while self._undo:
            self._undo.pop()()

    def _replace(self, module: Any, name: str, new: Any) -> None:
        old = getattr(module, name)
        setattr(module, name, new)
        self._undo.append(lambda: setattr(module, name, old))

    def _environment(self, name: str, value: str) -> None:
        old = os.environ.get(name)
        os.environ[name] = value

        def undo() -> None:
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old

        self._undo.append(undo)


def _unix_time(moment: Any) -> float:
    from moto.core.utils import unix_time

    return float(unix_time(moment))
