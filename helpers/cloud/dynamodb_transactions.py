"""TransactWriteItems and TransactGetItems: all or nothing, with a reason for each action, and once for each token.

Source: DynamoDB API Reference, "TransactWriteItems", "TransactGetItems" and "TransactionCanceledException"; DynamoDB
Developer Guide, "Amazon DynamoDB Transactions: How it works" (idempotency). moto ignores the token, copies each table
for each action, and answers with other codes when an update cannot be applied.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import dynamodb_checks as checks
from . import dynamodb_values as values
from .clock import Clock
from .decisions import as_json, stored_item
from .dynamodb_checks import Refused
from .exchange import Exchange
from .journal import Item
from .responses import Response

if TYPE_CHECKING:
    from moto.dynamodb.models.table import Table

MOST_ACTIONS = 100
LARGEST_TRANSACTION = 4 * 1024 * 1024
"""Bytes of all items together."""

TOKEN_SECONDS = 600
"""How long a token is known after the first request with it was completed."""

_ACTIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "DeleteItem"}
"""The action whose rules for expressions an action of a transaction follows."""

_ONE_EACH = "TransactItems can only contain one of Check, Put, Update or Delete"
_TWICE = "Transaction request cannot include multiple operations on one item"
_FAILED = "The conditional request failed"


@dataclass
class _Action:
    """One action of a transaction: its members, and the item's key once the table is known."""

    kind: str
    members: dict[str, Any]
    key: Item | None = None
    before: Item | None = None

    @property
    def table(self) -> str:
        return str(self.members.get("TableName", ""))


Reason = dict[str, Any]
_NO_REASON: Reason = {"Code": "None"}


class Transactions:
    """Answers transactions. `table_of` gives the table of a name or raises Refused. Hold the boundary's lock."""

    def __init__(self, clock: Clock, table_of: Callable[[str], Any]) -> None:
        self._clock = clock
        self._table_of = table_of
        self._tokens: dict[str, tuple[str, float]] = {}

    # --- writes ------------------------------------------------------------------------------------------------

    def admit(self, exchange: Exchange) -> Response | None:
        """Check the form of a request; answer one whose token has been used. Raises Refused."""
        asked = exchange.parameters
        actions = list(_actions(asked, _ACTIONS))
        for action in actions:
            checks.check_form("", action.members)
            checks.check_expressions(_ACTIONS[action.kind], action.members, "")
            if action.kind == "ConditionCheck" and not action.members.get("ConditionExpression"):
                raise Refused("The ConditionExpression is required for a ConditionCheck")
        token = asked.get("ClientRequestToken")
        if not token:
            return None
        if len(token) > 36:
            raise Refused(
                f"1 validation error detected: Value '{token}' at 'clientRequestToken' failed to satisfy constraint: "
                "Member must have length less than or equal to 36"
            )
        now = self._clock.now()
        self._tokens = {
            known: (content, at) for known, (content, at) in self._tokens.items() if now - at < TOKEN_SECONDS
        }
        if token not in self._tokens:
            return None
        if self._tokens[token][0] != _digest(asked):
            raise Refused(
                "The request uses the same client token as a previous, but non-identical request.",
                "IdempotentParameterMismatchException",
            )
        return Response.of_json({})

    def write(self, exchange: Exchange) -> Response:
        """Do all actions of a request, or none. Raises Refused."""
        asked = exchange.parameters
        actions = list(_actions(asked, _ACTIONS))
        reasons = [self._prepare(action) for action in actions]
        _check_distinct(actions)
        _check_size(actions)
        reasons = [reason or _condition_reason(action) for action, reason in zip(actions, reasons, strict=True)]
        if not any(reasons):
            reasons = [self._apply(action) for action in actions]
            if any(reasons):
                for action in actions:
                    put_back(self._table_of(action.table), action.key or {}, action.before)
        exchange.notes["reasons"] = [(reason or _NO_REASON)["Code"] for reason in reasons]
        _cancel(reasons)
        if asked.get("ClientRequestToken"):
            self._tokens[asked["ClientRequestToken"]] = (_digest(asked), self._clock.now())
        return Response.of_json(_capacity(asked, actions))

    def _prepare(self, action: _Action) -> Reason | None:
        """Find the item of an action. Returns the reason when its key does not fit the table."""
        table = self._table_of(action.table)
        given = action.members.get("Item" if action.kind == "Put" else "Key")
        if not isinstance(given, dict):
            raise Refused(f"{'Item' if action.kind == 'Put' else 'Key'} is required")
        try:
            if action.kind == "Put":
                checks.check_item(table, given)
            else:
                checks.check_key(table, given)
        except Refused as refused:
            if "empty string value" in str(refused) or "Item size" in str(refused):
                raise
            return {"Code": "ValidationError", "Message": str(refused)}
        action.key = {name: given[name] for name in table.table_key_attrs}
        action.before = stored_item(action.table, action.key)
        return None

    def _apply(self, action: _Action) -> Reason | None:
        from moto.dynamodb.exceptions import MockValidationException

        members, table = action.members, self._table_of(action.table)
        backend = _backend()
        try:
            if action.kind == "Put":
                table.put_item(members["Item"])
            elif action.kind == "Delete":
                backend.delete_item(table.name, members["Key"])
            elif action.kind == "Update":
                item = backend.update_item(
                    table.name,
                    members["Key"],
                    update_expression=members["UpdateExpression"],
                    expression_attribute_names=members.get("ExpressionAttributeNames") or {},
                    expression_attribute_values=members.get("ExpressionAttributeValues") or {},
                )
                check_size_after_update(item)
        except (MockValidationException, Refused) as problem:
            return {"Code": "ValidationError", "Message": str(getattr(problem, "message", problem))}
        return None

    # --- reads -------------------------------------------------------------------------------------------------

    def read(self, exchange: Exchange) -> Response:
        """Read several items at one moment. Raises Refused."""
        from moto.dynamodb.responses import ProjectionExpressionParser

        asked = exchange.parameters
        actions = list(_actions(asked, {"Get": "GetItem"}))
        for action in actions:
            checks.check_form("GetItem", action.members)
        reasons = [self._prepare(action) for action in actions]
        _check_distinct(actions)
        _cancel(reasons)
        found: list[dict[str, Any]] = []
        for action in actions:
            names = action.members.get("ExpressionAttributeNames") or {}
            wanted = ProjectionExpressionParser(action.members.get("ProjectionExpression"), names).parse()
            item = _backend().get_item(self._table_of(action.table).name, action.key, wanted)
            found.append({"Item": as_json(item)} if item else {})
        return Response.of_json({"Responses": found, **_capacity(asked, actions)})


def put_back(table: Table, key: Item, before: Item | None) -> None:
    """Give a table the item that it had under `key`, or none."""
    from moto.dynamodb.models.dynamo_type import DynamoType

    if before is not None:
        table.put_item(dict(before))
    elif key:
        hash_key, *rest = (DynamoType(key[name]) for name in table.table_key_attrs)
        table.delete_item(hash_key, rest[0] if rest else None)


def check_size_after_update(item: Any) -> None:
    """Refuse an item that an update made too large."""
    # moto's count is quick and about right; the exact one is for items near the limit.
    if item is not None and item.size() > values.ITEM_LIMIT // 2 and values.size(as_json(item)) > values.ITEM_LIMIT:
        raise Refused("Item size to update has exceeded the maximum allowed size")


def _actions(asked: dict[str, Any], kinds: dict[str, str]) -> Iterator[_Action]:
    entries = asked.get("TransactItems")
    if not isinstance(entries, list) or not entries:
        raise Refused(
            "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1"
        )
    if len(entries) > MOST_ACTIONS:
        raise Refused(
            "1 validation error detected at 'transactItems' failed to satisfy constraint: "
            f"Member must have length less than or equal to {MOST_ACTIONS}."
        )
    for entry in entries:
        if not isinstance(entry, dict):
            raise TypeError("an action is an object")  # which the check of the request's form names
        (kind, members), *more = entry.items() if entry else (("", None),)
        if more or kind not in kinds or not isinstance(members, dict):
            raise Refused(_ONE_EACH)
        yield _Action(kind, members)


def _check_distinct(actions: list[_Action]) -> None:
    seen = [
        (action.table.rpartition("/")[2], json.dumps(action.key, sort_keys=True)) for action in actions if action.key
    ]
    if len(set(seen)) < len(seen):
        raise Refused(_TWICE)


def _check_size(actions: list[_Action]) -> None:
    sizes = (values.size(action.members.get("Item") or action.before or action.key or {}) for action in actions)
    if sum(sizes) > LARGEST_TRANSACTION:
        raise Refused("The aggregate size of the items in the transaction cannot exceed 4 MB")


def _condition_reason(action: _Action) -> Reason | None:
    """Why the condition of an action is not met; None when it is, or when there is none."""
    from moto.dynamodb.comparisons import get_filter_expression

    members = action.members
    if not members.get("ConditionExpression"):
        return None
    condition = get_filter_expression(
        members["ConditionExpression"],
        members.get("ExpressionAttributeNames") or {},
        members.get("ExpressionAttributeValues") or {},
    )
    if condition.expr(_backend().get_item(action.table.rpartition("/")[2], action.key)):
        return None
    reason: Reason = {"Code": "ConditionalCheckFailed", "Message": _FAILED}
    if members.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and action.before:
        reason["Item"] = action.before
    return reason


def _cancel(reasons: list[Reason | None]) -> None:
    """Raise Refused when there is a reason."""
    if not any(reasons):
        return
    told = [reason or _NO_REASON for reason in reasons]
    codes = ", ".join(reason["Code"] for reason in told)
    raise Refused(
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
        "TransactionCanceledException",
        CancellationReasons=told,
    )


def _capacity(asked: dict[str, Any], actions: list[_Action]) -> dict[str, Any]:
    if asked.get("ReturnConsumedCapacity") not in {"TOTAL", "INDEXES"}:
        return {}
    units: dict[str, float] = {}
    for action in actions:
        units[action.table] = units.get(action.table, 0) + 2.0
    return {"ConsumedCapacity": [{"TableName": name, "CapacityUnits": count} for name, count in units.items()]}


def _digest(asked: dict[str, Any]) -> str:
    content = {name: value for name, value in asked.items() if name != "ClientRequestToken"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _backend() -> Any:
    from .account import backends

    return backends("dynamodb")
