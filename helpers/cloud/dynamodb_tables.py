"""The life of a table and of what is in it: CREATING and ACTIVE, and the end of expired items.

A new table is CREATING for `creating_seconds` of the account's clock, and until then nobody can write to it, as on
AWS; by default it is ACTIVE at once, as programs expect that were written for moto. DescribeTable, which is what the
waiter `table_exists` asks, takes the short time itself that is left here: boto3 would look again after 20 seconds
only. A deleted table is gone at once.

Items whose time to live has passed stay readable; they go when another `TTL_DELAY` has passed, or later. Source:
DynamoDB Developer Guide, "Using time to live (TTL)": typically within two days; a value that is no number, or lies
more than five years back, does not count.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .boundary import Boundary
from .clock import Clock
from .decisions import as_json
from .dynamodb_checks import Refused
from .exchange import Exchange
from .journal import Caller, Journal, WriteDecision
from .responses import Response

if TYPE_CHECKING:
    from moto.dynamodb.models.table import Table

TTL_DELAY = 48 * 3600
"""Seconds after an item's time at which it is deleted."""

TTL_OLDEST = 5 * 365 * 86_400
"""Seconds: what expired earlier than that before it was written is not deleted."""

TTL_CHANGES_EVERY = 3600
"""Seconds between two changes of a table's time to live."""

_SWEEP_EVERY = 60.0
_LOOK_SECONDS = 0.02
_SWEEPER = Caller("service", "dynamodb.amazonaws.com")


class Tables:
    """The tables of an account. Register its hooks before those that look at items.

    `creating_seconds` is how long a new table stays CREATING when nobody looks at it; 0, the default: tables are
    ACTIVE at once. The lessons set 5, so that what is learned there holds on AWS.
    """

    def __init__(self, boundary: Boundary, clock: Clock, journal: Journal) -> None:
        self.creating_seconds = 0.0
        self._boundary, self._clock, self._journal = boundary, clock, journal
        self._ready_at: dict[str, float] = {}
        self._began: dict[str, float] = {}
        self._ttl_changed: dict[str, float] = {}
        self._swept = clock.now()
        boundary.route("dynamodb", "DescribeTable", self._describe)
        boundary.after("dynamodb", "CreateTable", self._created)
        boundary.after("dynamodb", "DeleteTable", self._deleted)
        boundary.after("dynamodb", "UpdateTimeToLive", self._ttl_was_changed)
        boundary.after("dynamodb", "DescribeTimeToLive", _without_old_name)

    # --- CREATING ----------------------------------------------------------------------------------------------

    def is_creating(self, name: str) -> bool:
        """Whether a table cannot be used yet. Hold the boundary's lock."""
        ready_at = self._ready_at.get(name)
        if ready_at is None:
            return False
        if self._clock.now() < ready_at:
            return True
        self._forget(name)
        return False

    def check_changeable(self, name: str) -> None:
        """Raise Refused for a table that is being created: it cannot be deleted or changed."""
        if self.is_creating(name):
            sentence = f"Attempt to change a resource which is still in use: Table is being created: {name}"
            raise Refused(sentence, "ResourceInUseException")

    def _describe(self, exchange: Exchange) -> Response:
        name = str(exchange.parameters.get("TableName", "")).rpartition("/")[2]
        began = self._began.get(name)
        if began is not None:
            time.sleep(max(0.0, began + _LOOK_SECONDS - time.monotonic()))
            with self._boundary.lock:
                self._forget(name)
        return self._boundary.ask_moto(exchange)

    def _created(self, exchange: Exchange, response: Response) -> None:
        if response.status >= 400 or not self.creating_seconds:
            return
        name = str(exchange.parameters["TableName"])
        self._ready_at[name] = self._clock.now() + self.creating_seconds
        self._began[name] = time.monotonic()
        answer = response.json()
        answer["TableDescription"]["TableStatus"] = "CREATING"
        response.edit_json(answer)

    def _deleted(self, exchange: Exchange, response: Response) -> None:
        if response.status >= 400:
            return
        name = str(exchange.parameters["TableName"]).rpartition("/")[2]
        self._forget(name)
        self._ttl_changed.pop(name, None)
        answer = response.json()
        answer["TableDescription"]["TableStatus"] = "DELETING"
        response.edit_json(answer)

    def _forget(self, name: str) -> None:
        self._ready_at.pop(name, None)
        self._began.pop(name, None)

    # --- time to live ------------------------------------------------------------------------------------------

    def check_ttl(self, table: Table, asked: dict[str, Any]) -> None:
        """Raise Refused for a change of the time to live that DynamoDB refuses."""
        wanted = asked.get("TimeToLiveSpecification") or {}
        name, enabled = wanted.get("AttributeName"), wanted.get("Enabled")
        active = table.ttl.get("TimeToLiveStatus") == "ENABLED"
        if active and name != table.ttl.get("AttributeName"):
            current = table.ttl.get("AttributeName")
            raise Refused(f"TimeToLive is active on a different AttributeName: current AttributeName is {current}")
        if enabled is active:
            raise Refused(f"TimeToLive is already {'enabled' if active else 'disabled'}")
        if self._clock.now() - self._ttl_changed.get(table.name, 0) < TTL_CHANGES_EVERY:
            raise Refused("Time to live has been modified multiple times within a fixed interval")

    def _ttl_was_changed(self, exchange: Exchange, response: Response) -> None:
        if response.status < 400:
            name = str(exchange.parameters["TableName"]).rpartition("/")[2]
            self._ttl_changed[name] = self._clock.now()

    def sweep(self) -> None:
        """Delete what has expired, at most once a minute of the account's clock. Hold the boundary's lock."""
        now, before = self._clock.now(), self._swept
        if now - before < _SWEEP_EVERY:
            return
        self._swept = now
        from .account import backends

        for table in list(backends("dynamodb").tables.values()):
            if table.ttl.get("TimeToLiveStatus") == "ENABLED":
                self._sweep_table(table, before, now)

    def _sweep_table(self, table: Table, before: float, now: float) -> None:
        for item in list(table.all_items()):
            value = item.attrs.get(table.ttl["AttributeName"])
            if value is None or value.type != "N":
                continue
            # A value that is too old now may not have been when its item was due.
            if float(value.value) + TTL_DELAY > now or float(value.value) < before - TTL_OLDEST:
                continue
            content = as_json(item)
            table.delete_item(item.hash_key, item.range_key)
            self._journal.record(
                WriteDecision,
                table=table.name,
                key={name: content[name] for name in table.table_key_attrs},
                action="DeleteItem",
                condition=None,
                accepted=True,
                before=content,
                after=None,
                caller=_SWEEPER,
            )


def _without_old_name(exchange: Exchange, response: Response) -> None:
    """The attribute of a time to live that is off is not told."""
    if response.status < 400:
        answer = response.json()
        if answer["TimeToLiveDescription"].get("TimeToLiveStatus") == "DISABLED":
            answer["TimeToLiveDescription"].pop("AttributeName", None)
            response.edit_json(answer)
