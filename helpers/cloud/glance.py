"""A look at queues and tables from inside the process: no call passes the boundary, and the journal stays as it is.

A view that follows the account all the time must not do it with calls: each call would be an event, and so a
reason to look again. What these functions give is what the services themselves would answer at this moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .decisions import as_json, stored_item
from .journal import Item

if TYPE_CHECKING:
    from moto.sqs.models import Queue

    from .account import Cloud

Place = Literal["visible", "in flight", "delayed"]


@dataclass(frozen=True, slots=True)
class QueueNow:
    """One queue. `places` says where each of its messages is, by message id.

    `changes_at` is when the next message becomes visible by itself, in seconds of the account's clock; None when time
    alone changes nothing.
    """

    name: str
    places: Mapping[str, Place]
    changes_at: float | None

    def count(self, place: Place) -> int:
        """How many messages are there, as GetQueueAttributes counts them."""
        return sum(1 for one in self.places.values() if one == place)


def queues(cloud: Cloud, names: Iterable[str]) -> dict[str, QueueNow]:
    """Those of the queues that exist."""
    from .account import backends

    with cloud.boundary.lock:
        known = backends("sqs").queues
        now = cloud.clock.now() * 1000
        return {name: _queue(name, known[name], now) for name in names if name in known}


def _queue(name: str, queue: Queue, now: float) -> QueueNow:
    places: dict[str, Place] = {}
    later: list[float] = []
    for message in list(queue._messages):
        if message.delayed_until > now:
            places[message.id] = "delayed"
        else:
            places[message.id] = "in flight" if message.visible_at >= now else "visible"
        if places[message.id] != "visible":
            later.append(max(message.delayed_until, message.visible_at))
    return QueueNow(name, places, min(later) / 1000 if later else None)


def items(cloud: Cloud, table: str) -> list[Item] | None:
    """All items of a table as DynamoDB JSON, None when there is no such table."""
    from .account import backends

    with cloud.boundary.lock:
        known = backends("dynamodb").tables.get(table)
        return None if known is None else [as_json(item) for item in known.all_items()]


def item(cloud: Cloud, table: str, key: Item) -> Item | None:
    """One item of a table, None when it is not there (any more)."""
    with cloud.boundary.lock:
        return stored_item(table, key)


def definition(cloud: Cloud, execution: str) -> str | None:
    """The definition that an execution follows, None when the account does not keep the execution (any more)."""
    return cloud.workflows.definition_of(execution)
