"""The receives of a standard queue as they can be: out of order, and without messages that are there.

SQS Developer Guide, "Amazon SQS short and long polling": a standard queue keeps its messages on many servers. A short
poll asks some of them, so it can come back with fewer messages than there are, or with none; a long poll asks them
all. The order is that of no queue. By default the emulated queues keep their order, so that outputs repeat.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from moto.sqs.models import Message


class Scatter:
    """Spreads a queue's messages over `servers`, the same way for the same seed and the same calls."""

    def __init__(self, seed: int, servers: int = 4) -> None:
        self._random = random.Random(seed)
        self._servers = servers
        self._server_of: WeakKeyDictionary[Message, int] = WeakKeyDictionary()

    def sample(self, messages: Iterable[Message], short: bool) -> list[Message]:
        """The messages that a receive meets, in the order in which it meets them."""
        met = list(messages)
        for message in met:
            if message not in self._server_of:
                self._server_of[message] = self._random.randrange(self._servers)
        if short:
            asked = set(self._random.sample(range(self._servers), self._random.randrange(1, self._servers)))
            met = [message for message in met if self._server_of[message] in asked]
        self._random.shuffle(met)
        return met
