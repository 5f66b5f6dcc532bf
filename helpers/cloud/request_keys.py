"""The condition keys of a request: what the `Condition` of a policy can ask about a call.

Sources: IAM User Guide, "AWS global condition context keys"; Service Authorization Reference and DynamoDB Developer
Guide, "Using IAM policy conditions for fine-grained access control". A key that is not here counts as missing; so do
the tags of resources (`aws:ResourceTag`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from .access_needs import Need, as_dict, as_dicts, function_arn
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .journal import Caller
from .policies import role_of

_REGION = re.compile(r"Credential=[^/]+/\d+/([^/]+)/")
_TAG = re.compile(r"Tags\.(?:member\.)?\d+\.Key")


class RequestKeys:
    """The keys of one need of a request, found when they are asked for; call it with the name of a key.

    `exchange` is None when the account itself acts in a role, as the poller of a mapping does.
    """

    def __init__(self, caller: Caller, now: float, exchange: Exchange | None = None, need: Need | None = None) -> None:
        self._caller = caller
        self._now = now
        self._exchange = exchange
        self._need = need

    def __call__(self, key: str) -> list[str] | None:
        name = key.lower()
        if self._need is not None and name in self._need.keys:
            return self._need.keys[name]
        if name in _PRINCIPAL:
            return _PRINCIPAL[name](self._caller, self._now)
        if name.startswith("aws:principaltag/"):
            return _tag(getattr(role_of(self._caller.role), "tags", None), name.partition("/")[2])
        if self._exchange is None:
            return None
        if name in _REQUEST:
            return _REQUEST[name](self._exchange)
        if name.startswith("aws:requesttag/"):
            return _tag(_request_tags(self._exchange.parameters), name.partition("/")[2])
        if name.startswith("s3:") and self._exchange.service == "s3":
            return _s3(self._exchange, name.removeprefix("s3:"))
        if name in _DYNAMODB and self._exchange.service == "dynamodb" and self._need is not None:
            return _DYNAMODB[name](self._exchange.action, self._need)
        return None


# --- who -------------------------------------------------------------------------------------------------------


def _user_id(caller: Caller, now: float) -> list[str] | None:
    role = role_of(caller.role)
    return None if role is None else [f"{role.id}:{caller.name}"]


def _source_function(caller: Caller, now: float) -> list[str] | None:
    """Which function holds the credentials (Lambda Developer Guide, "Using source function ARN")."""
    return [function_arn(caller.name)] if caller.kind == "function" else None


def _iso(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_PRINCIPAL: dict[str, Callable[[Caller, float], list[str] | None]] = {
    "aws:principalarn": lambda caller, now: [caller.role],
    "aws:principalaccount": lambda caller, now: [ACCOUNT_ID],
    "aws:principaltype": lambda caller, now: ["AssumedRole"],
    "aws:principalisawsservice": lambda caller, now: ["false"],
    "aws:viaawsservice": lambda caller, now: ["false"],
    "aws:resourceaccount": lambda caller, now: [ACCOUNT_ID],
    "aws:userid": _user_id,
    "aws:currenttime": lambda caller, now: [_iso(now)],
    "aws:epochtime": lambda caller, now: [str(int(now))],
    # A worker's keys are as young as its calls: it never meets a policy that revokes older sessions.
    "aws:tokenissuetime": lambda caller, now: [_iso(now)],
    # SDKs speak HTTPS to AWS. The loopback server does not, and no policy shall notice.
    "aws:securetransport": lambda caller, now: ["true"],
    "lambda:sourcefunctionarn": _source_function,
}


# --- the request -----------------------------------------------------------------------------------------------


def _region(exchange: Exchange) -> list[str]:
    found = _REGION.search(exchange.header("Authorization"))
    return [found.group(1) if found else REGION]


def _address(exchange: Exchange) -> list[str] | None:
    """A workflow's calls come from inside AWS: they have no address that a policy could name."""
    address = exchange.environ.get("REMOTE_ADDR")
    return [str(address)] if address and exchange.caller.kind != "workflow" else None


def _header(name: str) -> Callable[[Exchange], list[str] | None]:
    return lambda exchange: [exchange.header(name)] if exchange.header(name) else None


def _tag_names(exchange: Exchange) -> list[str] | None:
    names = [name for name, _ in _request_tags(exchange.parameters)]
    return names or None


_REQUEST: dict[str, Callable[[Exchange], list[str] | None]] = {
    "aws:requestedregion": _region,
    "aws:sourceip": _address,
    "aws:useragent": _header("User-Agent"),
    "aws:referer": _header("Referer"),
    "aws:tagkeys": _tag_names,
}


def _request_tags(parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The tags that a request sets, in any of the forms that services use."""
    given = parameters.get("Tags") or parameters.get("tags")
    if isinstance(given, dict):
        return [(str(name), str(value)) for name, value in given.items()]
    if isinstance(given, list):
        return _pairs(given)
    named = [name for name in parameters if _TAG.fullmatch(name)]
    return [(str(parameters[name]), str(parameters.get(f"{name[:-3]}Value", ""))) for name in named]


def _pairs(tags: list[Any]) -> list[tuple[str, str]]:
    lowered = [{str(name).lower(): value for name, value in tag.items()} for tag in as_dicts(tags)]
    return [(str(tag.get("key", "")), str(tag.get("value", ""))) for tag in lowered]


def _tag(tags: Any, name: str) -> list[str] | None:
    pairs = tags if tags and isinstance(tags[0], tuple) else _pairs(list(tags or ()))
    return next(([value] for key, value in pairs if key.lower() == name), None)


def _s3(exchange: Exchange, name: str) -> list[str] | None:
    if name == "versionid":
        value = exchange.parameters.get("versionId")
    elif name in {"prefix", "delimiter", "max-keys"}:
        value = exchange.parameters.get(name)
    else:
        value = exchange.header(name) or None
    return None if value is None else [str(value)]


# --- DynamoDB --------------------------------------------------------------------------------------------------

_EXPRESSIONS = (
    "ProjectionExpression",
    "UpdateExpression",
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
)
_NAME = re.compile(r"(?<![\w:#.\]])#?[A-Za-z_][\w-]*")
_WORDS = frozenset({"set", "remove", "add", "delete", "and", "or", "not", "between", "in"}) | {
    *("if_not_exists", "list_append", "attribute_exists", "attribute_not_exists", "attribute_type"),
    *("begins_with", "contains", "size"),
}
_EQUAL = re.compile(r"(#?[\w.-]+)\s*=\s*(:\w+)")


def _leading_keys(action: str, need: Need) -> list[str] | None:
    name = _partition_key(need.resource)
    if name is None:
        return None
    found = [value for part in need.parts for value in _leading(part, name)]
    return found or None


def _leading(part: Mapping[str, Any], name: str) -> Iterator[str]:
    for member in ("Item", "Key"):
        yield from _texts(as_dict(part.get(member)).get(name))
    for value in as_dicts(as_dict(as_dict(part.get("KeyConditions")).get(name)).get("AttributeValueList")):
        yield from _texts(value)
    names, values = as_dict(part.get("ExpressionAttributeNames")), as_dict(part.get("ExpressionAttributeValues"))
    for left, right in _EQUAL.findall(str(part.get("KeyConditionExpression") or "")):
        if names.get(left, left) == name:
            yield from _texts(values.get(right))


def _texts(value: Any) -> list[str]:
    """The text of an attribute value such as ``{"S": "a"}``."""
    return [str(text) for text in as_dict(value).values()]


def _partition_key(resource: str) -> str | None:
    """The name of the partition key of a table or an index."""
    from moto.dynamodb.models import dynamodb_backends

    table_name, _, index_name = resource.partition("table/")[2].partition("/index/")
    table = dynamodb_backends[ACCOUNT_ID][REGION].tables.get(table_name)
    if table is None:
        return None
    if not index_name:
        return str(table.hash_key_attr)
    schemas = [index.schema for index in (*table.indexes, *table.global_indexes) if index.name == index_name]
    return (
        next((str(key["AttributeName"]) for key in schemas[0] if key["KeyType"] == "HASH"), None) if schemas else None
    )


def _attributes(action: str, need: Need) -> list[str] | None:
    found: dict[str, None] = {}
    for part in need.parts:
        for member in ("Item", "Key", "AttributeUpdates", "Expected", "KeyConditions", "QueryFilter", "ScanFilter"):
            found.update(dict.fromkeys(as_dict(part.get(member))))
        chosen = part.get("AttributesToGet")
        found.update({str(name): None for name in chosen} if isinstance(chosen, list) else {})
        names = as_dict(part.get("ExpressionAttributeNames"))
        for expression in _EXPRESSIONS:
            for word in _NAME.findall(str(part.get(expression) or "")):
                if word.lower() not in _WORDS:
                    found[str(names.get(word, word))] = None
    return list(found) or None


def _first(need: Need, member: str) -> str:
    return next((str(part[member]) for part in need.parts if part.get(member)), "")


def _select(action: str, need: Need) -> list[str] | None:
    if action not in {"Query", "Scan"}:
        return None
    chosen = _first(need, "ProjectionExpression") or _first(need, "AttributesToGet")
    default = "SPECIFIC_ATTRIBUTES" if chosen else "ALL_PROJECTED_ATTRIBUTES" if "/index/" in need.resource else ""
    return [_first(need, "Select") or default or "ALL_ATTRIBUTES"]


def _return_values(action: str, need: Need) -> list[str] | None:
    return [_first(need, "ReturnValues") or "NONE"] if action in {"PutItem", "UpdateItem", "DeleteItem"} else None


_DYNAMODB: dict[str, Callable[[str, Need], list[str] | None]] = {
    "dynamodb:leadingkeys": _leading_keys,
    "dynamodb:attributes": _attributes,
    "dynamodb:select": _select,
    "dynamodb:returnvalues": _return_values,
}
