"""Write decisions of DynamoDB: the item before and after each write, read inside the lock around the write.

Writes and reads run one at a time, so the pair (before, after) is exactly what this write did, and the order of
the decisions in the journal is the order in which DynamoDB made them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .boundary import Boundary
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .journal import Item, Journal, WriteDecision
from .responses import Response

_TRANSACTION_WRITES = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}
ACTIONS = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")


@dataclass(frozen=True)
class _Write:
    table: str
    action: str
    key: Item
    condition: str | None
    before: Item | None
    position: int


class Decisions:
    """Records a `WriteDecision` for each write that passes the boundary."""

    def __init__(self, boundary: Boundary, journal: Journal) -> None:
        self._journal = journal
        for action in ACTIONS:
            boundary.before("dynamodb", action, self._look)
            boundary.after("dynamodb", action, self._record)

    def _look(self, exchange: Exchange) -> None:
        exchange.notes["writes"] = [
            _Write(table, action, key, condition, stored_item(table, key), position)
            for position, table, action, members in _writes(exchange)
            if (key := _key(table, members)) is not None
            for condition in [_condition(members)]
        ]

    def _record(self, exchange: Exchange, response: Response) -> None:
        accepted = response.status < 400
        reasons = exchange.notes.get("reasons")
        for write in exchange.notes.get("writes", ()):
            self._journal.record(
                WriteDecision,
                table=write.table,
                key=write.key,
                action=write.action,
                condition=write.condition,
                accepted=accepted,
                before=write.before,
                after=stored_item(write.table, write.key),
                caller=exchange.caller,
                error=response.error,
                reason=reasons[write.position] if reasons and not accepted else None,
            )


def stored_item(table_name: str, key: Item) -> Item | None:
    """The item under `key`, both as DynamoDB JSON, or None. Hold the boundary's lock."""
    table = _table(table_name)
    if table is None:
        return None
    from moto.dynamodb.models.dynamo_type import DynamoType

    hash_key = DynamoType(key[table.hash_key_attr])
    range_key = DynamoType(key[table.range_key_attr]) if table.range_key_attr else None
    item = table.get_item(hash_key, range_key)
    return as_json(item) if item else None


def as_json(item: Any) -> Item:
    """One of moto's items as DynamoDB JSON."""
    attributes: Item = json.loads(json.dumps(item.to_json()["Attributes"], default=_plain))
    return attributes


def _plain(value: Any) -> Any:
    to_json = getattr(value, "to_json", None)
    return to_json() if to_json else str(value)


def _table(name: str) -> Any:
    from moto.dynamodb.models import dynamodb_backends

    return dynamodb_backends[ACCOUNT_ID][REGION].tables.get(name.rpartition("/")[2])


def _key(table_name: str, members: dict[str, Any]) -> Item | None:
    table = _table(table_name)
    if table is None:
        return None
    source = members.get("Key") or members.get("Item") or {}
    names = [table.hash_key_attr] + ([table.range_key_attr] if table.range_key_attr else [])
    complete = all(isinstance(source.get(name), dict) and len(source[name]) == 1 for name in names)
    return {name: source[name] for name in names} if complete else None


def _condition(members: dict[str, Any]) -> str | None:
    expression = members.get("ConditionExpression")
    return str(expression) if expression else json.dumps(members["Expected"]) if members.get("Expected") else None


def _writes(exchange: Exchange) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Position in the request, table, action and members of each write."""
    parameters = exchange.parameters
    if exchange.action == "TransactWriteItems":
        for position, entry in enumerate(parameters.get("TransactItems", [])):
            for kind, members in entry.items():
                if kind in _TRANSACTION_WRITES:
                    yield position, members.get("TableName", ""), _TRANSACTION_WRITES[kind], members
    elif exchange.action == "BatchWriteItem":
        for table, entries in parameters.get("RequestItems", {}).items():
            for position, entry in enumerate(entries):
                for kind, members in entry.items():
                    yield position, table, "PutItem" if kind == "PutRequest" else "DeleteItem", members
    else:
        yield 0, parameters.get("TableName", ""), exchange.action, parameters
