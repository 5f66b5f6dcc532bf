"""What DynamoDB refuses before it reads or writes an item, in the order and the words of its ValidationException.

The limits are those of the DynamoDB API Reference and of "Quotas in Amazon DynamoDB". moto checks much of this too;
what stands here it accepts, or says in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import dynamodb_expressions as expressions
from . import dynamodb_values as values
from .dynamodb_grammar import Mistake, Path, Value

if TYPE_CHECKING:
    from moto.dynamodb.models.table import Table

Members = dict[str, Any]

HASH_KEY_LIMIT = 2048
RANGE_KEY_LIMIT = 1024
BATCH_WRITE_LIMIT = 25

_MISMATCH = "The provided key element does not match the schema"
_INVALID = "One or more parameter values were invalid: "
_EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: "
)
_RETURN_VALUES = ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
_TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")

# The expressions of an action, and the older parameters that exclude them.
_EXPRESSIONS: Mapping[str, tuple[str, ...]] = {
    "PutItem": ("ConditionExpression",),
    "DeleteItem": ("ConditionExpression",),
    "UpdateItem": ("UpdateExpression", "ConditionExpression"),
    "GetItem": ("ProjectionExpression",),
    "Scan": ("ProjectionExpression", "FilterExpression"),
    "Query": ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
}
_OLDER = (
    "AttributesToGet",
    "AttributeUpdates",
    "Expected",
    "ConditionalOperator",
    "QueryFilter",
    "ScanFilter",
    "KeyConditions",
)
_WRITES = {"PutItem", "DeleteItem", "UpdateItem"}
ITEM_ACTIONS = frozenset({*_EXPRESSIONS})


class Refused(Exception):
    """A request that is answered with an error; `members` are further members of the answer."""

    def __init__(self, message: str, code: str = "ValidationException", **members: Any) -> None:
        super().__init__(message)
        self.code = code
        self.members = members


def check_form(action: str, asked: Members) -> bool:
    """Check what can be known without the table. Returns whether a value was given another form. Raises Refused."""
    check_table_name(asked.get("TableName"))
    changed = False
    try:
        for member in ("Item", "Key", "ExclusiveStartKey", "ExpressionAttributeValues"):
            if isinstance(asked.get(member), dict):
                changed |= values.normalise(asked[member])
        for legacy in ("Expected", "AttributeUpdates"):
            given = asked.get(legacy)
            conditions = given.values() if isinstance(given, dict) else ()
            for each in conditions:
                if isinstance(each, dict) and "Value" in each:
                    changed |= values.normalise({"": each["Value"]})
    except values.BadValue as problem:
        raise Refused(str(problem), problem.code) from None
    if action in _WRITES:
        _check_return_values(action, asked)
        _check_expected(asked)
    if action in _EXPRESSIONS:
        check_expressions(action, asked, "1 validation error detected: " if action in _WRITES else "")
    return changed


def check_table_name(name: Any) -> None:
    """Check a name, or an ARN, in a request for items."""
    if isinstance(name, str) and not name.startswith("arn:") and not _TABLE_NAME.fullmatch(name):
        raise Refused(
            "Invalid table/index name.  Table/index names must be between 3 and 255 characters long, and may contain "
            "only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
        )


def check_key(table: Table, key: Any) -> None:
    """Check the key of a request against the table's schema."""
    if not isinstance(key, dict) or not all(isinstance(value, dict) and value for value in key.values()):
        return
    types = _key_types(table)
    if key.keys() != types.keys() or any(next(iter(value)) != types[name] for name, value in key.items()):
        raise Refused(_MISMATCH)
    _check_key_sizes(table, key)


def check_item(table: Table, item: Any) -> None:
    """Check an item to be stored: its keys, and its size."""
    if not isinstance(item, dict) or not all(isinstance(value, dict) and value for value in item.values()):
        return
    for name, kind in _key_types(table).items():
        if name not in item:
            raise Refused(f"{_INVALID}Missing the key {name} in the item")
        actual = next(iter(item[name]))
        if actual != kind:
            raise Refused(f"{_INVALID}Type mismatch for key {name} expected: {kind} actual: {actual}")
    _check_key_sizes(table, item)
    if values.size(item) > values.ITEM_LIMIT:
        raise Refused("Item size has exceeded the maximum allowed size")


def check_query(table: Table, asked: Members) -> None:
    """A filter of a query may not name the keys; a page begins with a key of the table."""
    start = asked.get("ExclusiveStartKey")
    if isinstance(start, dict) and not _key_types(table).keys() <= start.keys():
        raise Refused("The provided starting key is invalid: The provided key element does not match the schema")
    names, given = asked.get("ExpressionAttributeNames") or {}, asked.get("ExpressionAttributeValues") or {}
    if asked.get("IndexName"):
        return
    if asked.get("FilterExpression") and asked.get("KeyConditionExpression"):
        parsed = expressions.check_condition(asked["FilterExpression"], names, given)
        keys = sorted(expressions.top_level(parsed, names) & _key_types(table).keys())
        if keys:
            what = "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
            raise Refused(what + keys[0])
    if asked.get("KeyConditionExpression"):
        _check_key_condition(table, asked["KeyConditionExpression"], names, given)


def check_batch_write(asked: Members) -> Iterator[tuple[str, str, Members]]:
    """Check the form of a BatchWriteItem. Yields table, kind (PutRequest or DeleteRequest) and item or key."""
    requests = asked.get("RequestItems")
    if not isinstance(requests, dict):
        return
    if not requests:
        raise Refused(
            "1 validation error detected: Value '{}' at 'requestItems' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1"
        )
    total = 0
    for table, entries in requests.items():
        check_table_name(table)
        if not isinstance(entries, list) or not entries:
            raise Refused(f"The batch write request list for a table cannot be null or empty: {table}")
        total += len(entries)
    if total > BATCH_WRITE_LIMIT:
        if len(requests) > 1:
            raise Refused("Too many items requested for the BatchWriteItem call")
        (table, entries), *_ = requests.items()
        raise Refused(
            f"1 validation error detected: Value '{{{table}=[{len(entries)} write requests]}}' at 'requestItems' "
            "failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or "
            "equal to 25, Member must have length greater than or equal to 1]"
        )
    for table, entries in requests.items():
        for entry in entries:
            if not isinstance(entry, dict) or len(entry) != 1:
                raise Refused("Invalid Request: a request holds one PutRequest or one DeleteRequest")
            (kind, request), *_ = entry.items()
            yield table, kind, request.get("Item" if kind == "PutRequest" else "Key", {})


def check_create_table(asked: Members) -> None:
    """Check the names, the key schema and the capacity of a new table."""
    name = asked.get("TableName")
    if isinstance(name, str) and not 3 <= len(name) <= 255:
        raise Refused("TableName must be at least 3 characters long and at most 255 characters long")
    if isinstance(name, str) and not _TABLE_NAME.fullmatch(name):
        raise _violation(name, "tableName", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
    definitions = asked.get("AttributeDefinitions") or []
    for position, definition in enumerate(definitions, 1):
        if definition.get("AttributeType") not in {"S", "N", "B"}:
            path = f"attributeDefinitions.{position}.member.attributeType"
            raise _violation(definition.get("AttributeType"), path, "Member must satisfy enum value set: [B, N, S]")
    for unit in ("ReadCapacityUnits", "WriteCapacityUnits"):
        given = (asked.get("ProvisionedThroughput") or {}).get(unit)
        if isinstance(given, int) and given < 1:
            path = f"provisionedThroughput.{unit[0].lower()}{unit[1:]}"
            raise _violation(given, path, "Member must have value greater than or equal to 1")
    schema = asked.get("KeySchema")
    if not isinstance(schema, list):
        return
    if not schema:
        raise _violation("[]", "keySchema", "Member must have length greater than or equal to 1")
    kinds = [element.get("KeyType") for element in schema]
    if not set(kinds) <= {"HASH", "RANGE"}:
        return
    if kinds[0] != "HASH":
        raise Refused("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if kinds[1:2] == ["HASH"]:
        raise Refused("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
    if len({element.get("AttributeName") for element in schema}) < len(schema):
        raise Refused("Both the Hash Key and the Range Key element in the KeySchema have the same name")


def check_expressions(action: str, asked: Members, begin: str) -> None:
    """Check the expressions of a request with their names and values. `begin` stands before some sentences."""
    known = _EXPRESSIONS[action]
    given = [name for name in known if asked.get(name) is not None]
    older = [name for name in _OLDER if asked.get(name) is not None]
    if given and older:
        raise Refused(
            "Can not use both expression and non-expression parameters in the same request: Non-expression "
            f"parameters: {{{', '.join(older)}}} Expression parameters: {{{', '.join(given)}}}"
        )
    names, literals = asked.get("ExpressionAttributeNames"), asked.get("ExpressionAttributeValues")
    _check_placeholders("ExpressionAttributeNames", names, "#", bool(given), begin, "")
    verb = "are" if len(known) > 1 else "is"
    which = f": {' and '.join(known)} {verb} null"
    _check_placeholders("ExpressionAttributeValues", literals, ":", bool(given), begin, which)
    used: set[str] = set()
    for name in given:
        text = asked[name]
        if not isinstance(text, str):
            return
        if not text.strip():
            raise Refused(f"{begin}Invalid {name}: The expression can not be empty;")
        try:
            _check_expression(name, text, names or {}, literals or {})
        except Mistake as mistake:
            raise Refused(f"Invalid {name}: {mistake}") from None
        used |= expressions.placeholders(text)
    for member, defined in (("ExpressionAttributeNames", names), ("ExpressionAttributeValues", literals)):
        unused = [name for name in defined or {} if name not in used]
        if unused:
            shown = ", ".join(unused)
            raise Refused(f"{begin}Value provided in {member} unused in expressions: keys: {{{shown}}}")


def _check_expression(name: str, text: str, names: Members, literals: Members) -> None:
    if name == "ProjectionExpression":
        expressions.check_projection(text, names)
    elif name == "UpdateExpression":
        if any(each not in names and each not in literals for each in expressions.placeholders(text)):
            _check_update(text, names, literals)
    else:
        parsed = expressions.check_condition(text, names, literals)
        if name == "KeyConditionExpression":
            wrong: list[str] = [word for word in ("OR", "NOT") if word in parsed.words]
            wrong += [call.name for call in parsed.calls if call.name in {"<>", "IN"} or call.name[0].islower()]
            wrong = [each for each in wrong if each != "begins_with"]
            if wrong:
                raise Refused(f"Invalid operator used in KeyConditionExpression: {wrong[0]}")


def _check_update(text: str, names: Members, literals: Members) -> None:
    """Name the first placeholder that is not defined, unless moto finds a mistake of syntax."""
    from moto.dynamodb.exceptions import MockValidationException

    # moto keeps this module from mypy.
    from moto.dynamodb.parsing.expressions import UpdateExpressionParser  # type: ignore[attr-defined]

    try:
        UpdateExpressionParser.make(text.strip())
    except MockValidationException:
        return
    expressions.check_defined(re.findall(r"#\w+", text, re.ASCII), names, literals)
    expressions.check_defined(re.findall(r":\w+", text, re.ASCII), names, literals)


def _check_placeholders(member: str, given: Any, mark: str, wanted: bool, begin: str, which: str) -> None:
    if given is None:
        return
    if not wanted:
        raise Refused(f"{member} can only be specified when using expressions{which}")
    if not given:
        raise Refused(f"{begin}{member} must not be empty")
    for name in given:
        if not re.fullmatch(rf"{mark}\w+", name, re.ASCII):
            raise Refused(f'{member} contains invalid key: Syntax error; key: "{name}"')


def _check_return_values(action: str, asked: Members) -> None:
    wanted, on_failure = asked.get("ReturnValues"), asked.get("ReturnValuesOnConditionCheckFailure")
    if wanted is not None and wanted not in _RETURN_VALUES:
        allowed = f"Member must satisfy enum value set: [{', '.join(_RETURN_VALUES)}]"
        raise _violation(wanted, "returnValues", allowed)
    if action != "UpdateItem" and wanted not in (None, "ALL_OLD", "NONE"):
        raise Refused("ReturnValues can only be ALL_OLD or NONE")
    if on_failure not in (None, "ALL_OLD", "NONE"):
        allowed = "Member must satisfy enum value set: [ALL_OLD, NONE]"
        raise _violation(on_failure, "returnValuesOnConditionCheckFailure", allowed)


def _check_expected(asked: Members) -> None:
    expected = asked.get("Expected")
    for name, condition in expected.items() if isinstance(expected, dict) else ():
        if not isinstance(condition, dict) or "ComparisonOperator" in condition:
            continue
        exists, has_value = condition.get("Exists"), condition.get("Value") is not None
        if "AttributeValueList" in condition:
            what = "AttributeValueList can only be used with a ComparisonOperator for Attribute: "
            raise Refused(f"{_INVALID}{what}{name}")
        if exists is not False and not has_value:
            shown = "null" if exists is None else "true"
            raise Refused(f"{_INVALID}Value must be provided when Exists is {shown} for Attribute: {name}")
        if exists is False and has_value:
            raise Refused(f"{_INVALID}Value cannot be used when Exists is false for Attribute: {name}")


def _check_key_condition(table: Table, text: str, names: Members, literals: Members) -> None:
    """The values of a key condition have the types of the keys."""
    types = _key_types(table)
    for call in expressions.check_condition(text, names, literals).calls:
        first, *others = call.operands
        if not isinstance(first, Path):
            continue
        kind = types.get(names.get(str(first.parts[0]), str(first.parts[0])))
        for other in others:
            if kind and isinstance(other, Value) and kind not in literals.get(other.name, {}):
                raise Refused(f"{_INVALID}Condition parameter type does not match schema type")


def _check_key_sizes(table: Table, attributes: Members) -> None:
    for name, kind in _key_types(table).items():
        content = attributes[name][kind]
        if not isinstance(content, str):
            continue
        if not content and kind in {"S", "B"}:
            raise Refused(f"{_EMPTY_KEY}{name}")
        length = values.size({"": {kind: content}})
        if kind == "N":
            continue
        if name == table.hash_key_attr and length > HASH_KEY_LIMIT:
            # DynamoDB has no space between "of" and the number.
            raise Refused(f"{_INVALID}Size of hashkey has exceeded the maximum size limit of{HASH_KEY_LIMIT} bytes")
        if name == table.range_key_attr and length > RANGE_KEY_LIMIT:
            what = "Aggregated size of all range keys has exceeded the size limit of"
            raise Refused(f"{_INVALID}{what} {RANGE_KEY_LIMIT} bytes")


def _key_types(table: Table) -> dict[str, str | None]:
    types: dict[str, str | None] = {table.hash_key_attr: table.hash_key_type}
    return {**types, table.range_key_attr: table.range_key_type} if table.range_key_attr else types


def _violation(value: object, path: str, constraint: str) -> Refused:
    return Refused(
        f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: {constraint}"
    )
