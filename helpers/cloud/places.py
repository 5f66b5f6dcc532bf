"""Places in moto that a patch replaces or relies on, and how a change of one is noticed."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from dataclasses import dataclass
from typing import Any


class PatchMoved(RuntimeError):
    """moto no longer looks as a patch expects it."""


@dataclass(frozen=True)
class Place:
    """A piece of moto that a patch replaces or relies on: module, dotted name in it, digest of its source."""

    module: str
    name: str
    digest: str
    why: str

    def source(self) -> str:
        """The source of the place as the installed moto has it. Raises PatchMoved when it is gone."""
        try:
            found: Any = importlib.import_module(self.module)
            for part in self.name.split("."):
                found = getattr(found, part)
            found = found.fget if isinstance(found, property) else found
            return inspect.getsource(found)
        except (ImportError, AttributeError, TypeError) as gone:
            raise PatchMoved(f"moto has no {self.module}.{self.name} any more. {self.why}") from gone

    def verify(self) -> None:
        """Raise PatchMoved when the source is not the one that the patch was written for."""
        found = digest(self.source())
        if found != self.digest:
            raise PatchMoved(
                f"moto changed {self.module}.{self.name} (digest {found}, expected {self.digest}). {self.why} "
                "Read the new source, adapt helpers/cloud/patches.py and its tests, then write the new digest there."
            )


def digest(source: str) -> str:
    """A short digest of a piece of source text, white space at the ends of lines apart."""
    text = "\n".join(line.rstrip() for line in source.splitlines())
    return hashlib.sha256(text.encode()).hexdigest()[:16]
