"""DynamoDB beside moto: what a request may not be, transactions, an update that fails leaves nothing behind.

The hooks around moto have an order: first the checks, so that a request without sense is no decision; then
`Decisions`, which looks at the items; then transactions, which are answered here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import dynamodb_checks as checks
from .boundary import ANY, Boundary
from .clock import Clock
from .decisions import Decisions, stored_item
from .dynamodb_checks import Refused
from .dynamodb_grammar import Mistake
from .dynamodb_returned import at_paths, updated_paths
from .dynamodb_tables import Tables
from .dynamodb_transactions import Transactions, check_size_after_update, put_back
from .exchange import Exchange
from .journal import Item, Journal
from .responses import Response, error

if TYPE_CHECKING:
    from moto.dynamodb.models.table import Table

_NOT_FOUND = "Requested resource not found"
_CONDITION = "ConditionalCheckFailedException"
_UNASKED = {"ConsumedCapacity", "ConsumedCapacityUnits", "ItemCollectionMetrics"}
_OF_TABLES = {"DescribeTable", "DeleteTable", "UpdateTable", "UpdateTimeToLive", "DescribeTimeToLive"}
"""Actions whose error names the table."""


class DynamoDB:
    """Registers the hooks around moto's DynamoDB."""

    def __init__(self, boundary: Boundary, clock: Clock, journal: Journal) -> None:
        self.tables = Tables(boundary, clock, journal)
        self._transactions = Transactions(clock, self._usable)
        boundary.before("dynamodb", ANY, self._check)
        boundary.after("dynamodb", ANY, _leave_out_capacity)
        boundary.after("dynamodb", "UpdateItem", _after_update)
        Decisions(boundary, journal)
        boundary.before("dynamodb", "TransactWriteItems", self._transact)
        boundary.before("dynamodb", "TransactGetItems", self._transact)

    def _check(self, exchange: Exchange) -> Response | None:
        try:
            return self._answer_or_check(exchange)
        except Refused as refused:
            return _refusal(exchange, refused)
        except Mistake as mistake:
            return error(exchange, "ValidationException", str(mistake))

    def _answer_or_check(self, exchange: Exchange) -> Response | None:
        action, asked = exchange.action, exchange.parameters
        self.tables.sweep()
        if action in checks.ITEM_ACTIONS:
            self._check_item_action(exchange)
        elif action == "TransactWriteItems":
            return self._transactions.admit(exchange)
        elif action == "BatchWriteItem":
            self._check_batch_write(exchange)
        elif action == "CreateTable":
            checks.check_create_table(asked)
        elif action in _OF_TABLES and isinstance(asked.get("TableName"), str):
            table = table_of(asked["TableName"], named=True)
            if action in {"DeleteTable", "UpdateTable"}:
                self.tables.check_changeable(table.name)
            if action == "UpdateTimeToLive":
                self.tables.check_ttl(table, asked)
        elif action == "BatchGetItem":
            for name in asked.get("RequestItems") or {}:
                self._usable(name)
        return None

    def _transact(self, exchange: Exchange) -> Response | None:
        try:
            if exchange.action == "TransactGetItems":
                return self._transactions.read(exchange)
            return self._transactions.write(exchange)
        except Refused as refused:
            return _refusal(exchange, refused)

    def _check_item_action(self, exchange: Exchange) -> None:
        action, asked = exchange.action, exchange.parameters
        changed = checks.check_form(action, asked)
        if action == "UpdateItem" and "UpdateExpression" not in asked and "AttributeUpdates" not in asked:
            # An update of nothing creates the item; moto falls over it.
            asked["AttributeUpdates"] = {}
            changed = True
        if changed:
            exchange.body = json.dumps(asked).encode()
        if not isinstance(asked.get("TableName"), str):
            return
        table = self._usable(asked["TableName"])
        if "Item" in asked:
            checks.check_item(table, asked["Item"])
        elif "Key" in asked:
            checks.check_key(table, asked["Key"])
        else:
            checks.check_query(table, asked)
        if action == "DeleteItem" and asked.get("Expected"):
            _check_expected(asked)

    def _check_batch_write(self, exchange: Exchange) -> None:
        changed = False
        keys: list[tuple[str, str]] = []
        for name, kind, attributes in checks.check_batch_write(exchange.parameters):
            changed |= checks.check_form("", {"Item": attributes})
            table = self._usable(name)
            if kind == "PutRequest":
                checks.check_item(table, attributes)
            else:
                checks.check_key(table, attributes)
            key = {each: attributes.get(each) for each in table.table_key_attrs}
            keys.append((table.name, json.dumps(key, sort_keys=True)))
        if len(set(keys)) < len(keys):
            raise Refused("Provided list of item keys contains duplicates")
        if changed:
            exchange.body = json.dumps(exchange.parameters).encode()

    def _usable(self, name: str) -> Table:
        """The table of a name, which must not be CREATING. Raises Refused."""
        table = table_of(name)
        if self.tables.is_creating(table.name):
            raise Refused(_NOT_FOUND, "ResourceNotFoundException")
        return table


def table_of(name: str, named: bool = False) -> Table:
    """moto's table of a name or an ARN. Raises Refused; `named`: with the table's name in the sentence."""
    from .account import backends

    short = name.rpartition("/")[2]
    table: Table | None = backends("dynamodb").tables.get(short)
    if table is None:
        sentence = f"{_NOT_FOUND}: Table: {short} not found" if named else _NOT_FOUND
        raise Refused(sentence, "ResourceNotFoundException")
    return table


def _check_expected(asked: dict[str, Any]) -> None:
    """moto ignores the older conditions of a DeleteItem."""
    from moto.dynamodb.comparisons import get_expected

    from .account import backends

    item = backends("dynamodb").get_item(asked["TableName"].rpartition("/")[2], asked["Key"])
    if not get_expected(asked["Expected"]).expr(item):
        raise Refused("The conditional request failed", _CONDITION)


def _after_update(exchange: Exchange, response: Response) -> None:
    """Take back what an update did that failed half-way, or that made its item too large."""
    writes = exchange.notes.get("writes")
    if not writes or response.error == _CONDITION:
        return
    write = writes[0]
    table = table_of(write.table)
    if response.status < 400:
        from .account import backends

        try:
            check_size_after_update(backends("dynamodb").get_item(table.name, write.key))
        except Refused as refused:
            refusal = _refusal(exchange, refused)
            response.status, response.payload, response.headers = refusal.status, refusal.payload, refusal.headers
    if response.status < 400:
        _tell_updated(exchange, response, write.before, stored_item(write.table, write.key))
    elif stored_item(write.table, write.key) != write.before:
        put_back(table, write.key, write.before)


def _tell_updated(exchange: Exchange, response: Response, before: Item | None, after: Item | None) -> None:
    """Give back the attributes that an update names, also those that it left as they were."""
    asked = exchange.parameters
    wanted, expression = asked.get("ReturnValues"), asked.get("UpdateExpression")
    if not expression or wanted not in {"UPDATED_OLD", "UPDATED_NEW"}:
        return
    paths = updated_paths(expression, asked.get("ExpressionAttributeNames") or {})
    told = at_paths(before if wanted == "UPDATED_OLD" else after, paths)
    answer = {name: value for name, value in response.json().items() if name != "Attributes"}
    response.edit_json({**answer, "Attributes": told} if told else answer)


def _leave_out_capacity(exchange: Exchange, response: Response) -> None:
    """Consumed capacity is told only to those who ask for it; moto tells it always."""
    wanted = exchange.parameters.get("ReturnConsumedCapacity") in {"TOTAL", "INDEXES"}
    if wanted or response.status >= 400 or b'"ConsumedCapacity' not in response.payload:
        return
    response.edit_json({name: value for name, value in response.json().items() if name not in _UNASKED})


def _refusal(exchange: Exchange, refused: Refused) -> Response:
    return error(exchange, refused.code, str(refused), **refused.members)
