"""What the account is doing: the vocabulary of `Cloud.busy` and `Cloud.settle`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Busy:
    """Something that is not at rest. `name` is the function, queue or mapping, `count` how many of them."""

    kind: Literal["run", "queue", "mapping", "function", "execution", "held"]
    name: str
    count: int = 1


class NotAtRest(TimeoutError):
    """The account was still working when the time was over. `busy` says with what."""

    def __init__(self, busy: list[Busy]) -> None:
        super().__init__("still busy: " + ", ".join(f"{one.count} {one.kind} {one.name}".rstrip() for one in busy))
        self.busy = busy
