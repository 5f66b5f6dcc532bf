"""CloudWatch Logs beside moto: filter patterns, the end of old events, and the ends of time ranges.

Sources: CloudWatch Logs API Reference, "FilterLogEvents", "GetLogEvents" (events at or after endTime are not
included) and "PutRetentionPolicy". Events that are older than their group's retention, by the account's clock, are
gone; on AWS that takes up to 72 hours more, and reads do not show them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from .boundary import ANY, Boundary
from .clock import Clock
from .exchange import Exchange
from .log_patterns import InvalidFilterPattern, matcher
from .places import Place
from .responses import Response, error

if TYPE_CHECKING:
    from moto.logs.models import LogStream

PLACES = (
    Place(
        "moto.logs.utils",
        "EventMessageFilter",
        "ae57805d534ac11c",
        "It is replaced in moto.logs.models, because it knows few patterns and lets everything through otherwise.",
    ),
)
RETENTIONS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
"""Days for which a group can keep its events."""

_DAY = 86_400_000
_WITH_PATTERN = {"FilterLogEvents", "PutSubscriptionFilter", "PutMetricFilter"}


class _Filter:
    """Stands for moto's EventMessageFilter."""

    def __init__(self, pattern: str) -> None:
        self._matches = matcher(pattern or "")

    def matches(self, message: str) -> bool:
        return self._matches(message)


def install() -> Callable[[], None]:
    """Put the filter in moto's place. Returns what takes it back. patches.py verifies the place before."""
    from moto.logs import models

    before = models.EventMessageFilter
    # mypy takes no other class in the place of a class.
    models.EventMessageFilter = _Filter  # type: ignore[misc, assignment]

    def undo() -> None:
        models.EventMessageFilter = before  # type: ignore[misc]

    return undo


class LogGroups:
    """Registers the hooks around moto's logs."""

    def __init__(self, boundary: Boundary, clock: Clock) -> None:
        self._clock = clock
        boundary.before("logs", ANY, self._look)

    def _look(self, exchange: Exchange) -> Response | None:
        self._expire()
        asked = exchange.parameters
        if exchange.action in _WITH_PATTERN:
            try:
                matcher(str(asked.get("filterPattern") or ""))
            except InvalidFilterPattern:
                return error(exchange, "InvalidParameterException", "Invalid filter pattern")
        days = asked.get("retentionInDays")
        if exchange.action == "PutRetentionPolicy" and isinstance(days, int) and days not in RETENTIONS:
            allowed = f"Member must satisfy enum value set: [{', '.join(map(str, RETENTIONS))}]"
            sentence = f"Value '{days}' at 'retentionInDays' failed to satisfy constraint: {allowed}"
            return error(exchange, "InvalidParameterException", f"1 validation error detected: {sentence}")
        if exchange.action == "GetLogEvents" and isinstance(asked.get("endTime"), int) and asked["endTime"] > 0:
            # moto includes the event at the end.
            exchange.body = json.dumps({**asked, "endTime": asked["endTime"] - 1}).encode()
        return None

    def _expire(self) -> None:
        from .account import backends

        for group in list(backends("logs").groups.values()):
            if not group.retention_in_days:
                continue
            oldest = self._clock.now() * 1000 - int(group.retention_in_days) * _DAY
            for stream in group.streams.values():
                _drop(stream, oldest)


def _drop(stream: LogStream, oldest: float) -> None:
    if any(event.timestamp < oldest for event in stream.events):
        stream.events = [event for event in stream.events if event.timestamp >= oldest]
