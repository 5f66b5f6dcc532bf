"""Which calls a fault can hit: the names that it was armed with, checked, and what a call is about.

A name that nothing has would arm a fault that never fires, so each is looked up when the fault is armed: services and
actions in botocore's models, functions, roles, tables and queues in the account.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .journal import Caller

ANY = "*"
"""Stands for every action of a service."""

SERVICES = {
    "dynamodb": "dynamodb",
    "events": "events",
    "iam": "iam",
    "lambda": "lambda",
    "logs": "logs",
    "s3": "s3",
    "sns": "sns",
    "sqs": "sqs",
    "states": "stepfunctions",
    "sts": "sts",
}
"""The services that faults can be armed for, as signatures name them, and the names of their models in botocore."""

CallerKind = Literal["learner", "function", "workflow", "service"]
When = Literal["before", "after", "start", "end"]


@dataclass(frozen=True)
class Target:
    """The calls that a fault can hit. Empty names mean any.

    `actions` holds the API's names or `ANY`; `resource` is the name of a table, queue, bucket, function or log group.
    """

    service: str
    actions: tuple[str, ...]
    function: str = ""
    role: str = ""
    caller: str = ""
    resource: str = ""

    def means(self, service: str, action: str) -> bool:
        """Whether an action is one of those meant, whoever calls it."""
        return self.service == service and (action in self.actions or ANY in self.actions)

    def fits(self, occasion: Occasion) -> bool:
        """Whether an occasion is one of those meant."""
        who = occasion.caller
        return (
            self.means(occasion.service, occasion.action)
            and (not self.function or (who.kind == "function" and who.name == self.function))
            and (not self.role or who.role.rpartition("/")[2] == self.role.rpartition("/")[2])
            and (not self.caller or who.kind == self.caller)
            and (not self.resource or self.resource in occasion.resources)
        )


@dataclass(frozen=True)
class Occasion:
    """A moment at which a fault can fire: an API call, or a step of the account that is no call.

    `subject` says what it is about in words that are the same in each repetition: never a message id, a receipt
    handle or a request id, which depend on the order of threads.
    """

    service: str
    action: str
    caller: Caller
    resources: tuple[str, ...]
    subject: str

    @classmethod
    def of(cls, exchange: Exchange) -> Occasion:
        """The occasion that a call is."""
        names = tuple(resources(exchange))
        return cls(exchange.service, exchange.action, exchange.caller, names, subject(exchange))

    @property
    def name(self) -> str:
        """The call as ``service:Action``."""
        return f"{self.service}:{self.action}"


# --- what a call is about ---------------------------------------------------------------------------------------


def resources(exchange: Exchange) -> Iterator[str]:
    """The names of the tables, the queue, the bucket, the function, … that a call is about."""
    parameters = exchange.parameters
    if exchange.service == "dynamodb":
        for members in _items(exchange):
            yield _last(members.get("TableName", ""), "/")
        return
    for member, end in _NAMES.get(exchange.service, ()):
        if value := parameters.get(member):
            yield _last(str(value), end)


_NAMES = {
    "sqs": (("QueueUrl", "/"), ("QueueName", "/")),
    "s3": (("Bucket", "/"),),
    "lambda": (("FunctionName", ":function:"),),
    "logs": (("logGroupName", "\n"),),
    "states": (("stateMachineArn", ":"), ("name", ":")),
}


def _last(text: Any, separator: str) -> str:
    found = str(text).rpartition(separator)[2]
    return found.partition(":")[0] if separator == ":function:" else found


def subject(exchange: Exchange) -> str:
    """What a call is about, the same for each repetition of the call: tables and keys, a queue and a body, …"""
    parameters = exchange.parameters
    if exchange.service == "dynamodb" and any("Item" in one or "Key" in one for one in _items(exchange)):
        return " ".join(f"{one.get('TableName', '')} {_text(_key(one))}" for one in _items(exchange))
    if exchange.service == "sqs":
        return f"{_last(parameters.get('QueueUrl', ''), '/')} {_sqs(exchange)}".strip()
    if exchange.service == "s3":
        return f"{parameters.get('Bucket', '')}/{parameters.get('Key', '')}"
    if exchange.service == "lambda":
        return f"{_last(parameters.get('FunctionName', ''), ':function:')} {digest(exchange.body)}".strip()
    return _text({name: value for name, value in parameters.items() if name not in _VOLATILE})


_VOLATILE = {"ClientRequestToken", "clientToken", "ReceiptHandle", "sequenceToken", "nextToken", "taskToken"}
_SINGLE = {"Put", "Update", "Delete", "ConditionCheck", "Get"}


def _items(exchange: Exchange) -> list[dict[str, Any]]:
    """The members of a DynamoDB call that name a table each: one, or those of its batch or transaction."""
    parameters = exchange.parameters
    if isinstance(several := parameters.get("TransactItems"), list):
        return [one for entry in several for kind, one in entry.items() if kind in _SINGLE]
    if isinstance(tables := parameters.get("RequestItems"), dict):
        return [{"TableName": table, **one} for table, entries in tables.items() for one in _batch_entries(entries)]
    return [parameters]


def _batch_entries(entries: Any) -> list[dict[str, Any]]:
    """The puts and deletes of BatchWriteItem, or the keys of BatchGetItem, for one table."""
    if isinstance(entries, dict):
        return [{"Key": key} for key in entries.get("Keys", ())]
    return [one for entry in entries for one in entry.values()]


def _key(members: dict[str, Any]) -> Any:
    """The key in the members of a write or a read; the whole item when its table is not known."""
    from moto.dynamodb.models import dynamodb_backends

    source = members.get("Key") or members.get("Item") or {}
    table = dynamodb_backends[ACCOUNT_ID][REGION].tables.get(_last(members.get("TableName", ""), "/"))
    names = [name for name in (table.hash_key_attr, table.range_key_attr) if name] if table else source
    return {name: source.get(name) for name in names}


def _sqs(exchange: Exchange) -> str:
    parameters = exchange.parameters
    if "MessageBody" in parameters:
        return digest(parameters["MessageBody"])
    entries = parameters.get("Entries")
    if isinstance(entries, list):
        return " ".join(digest(str(one.get("MessageBody", one.get("Id", "")))) for one in entries)
    handle = parameters.get("ReceiptHandle")
    queue = queue_named(_last(parameters.get("QueueUrl", ""), "/"))
    for message in queue._messages if queue is not None and handle else ():
        if handle in message.all_receipt_handles:
            return digest(message.body)
    return ""


def digest(text: str | bytes) -> str:
    """A short name for a text: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:16]


def event_subject(payload: bytes) -> str:
    """What a run is about: the bodies of its messages if it has any, the event otherwise."""
    try:
        bodies = [str(record["body"]) for record in json.loads(payload)["Records"]]
    except (ValueError, TypeError, KeyError):
        return digest(payload)
    return " ".join(digest(body) for body in bodies)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


# --- what there is ----------------------------------------------------------------------------------------------


def target(
    service: str,
    action: str | tuple[str, ...],
    function: str | None = None,
    role: str | None = None,
    caller: str | None = None,
    resource: str | None = None,
) -> Target:
    """A checked target. Raises ValueError that names the argument and what it can be."""
    one_of("service", service, SERVICES)
    actions = names_of(action)
    for each in actions:
        if each != ANY:
            one_of("action", each, operations(service), f"of {service}")
    if caller is not None:
        one_of("caller", caller, get_args(CallerKind))
    if function is not None:
        one_of("function", function, functions(), "of this account")
    if role is not None:
        one_of("role", role.rpartition("/")[2], roles(), "of this account")
    creates = all(each.startswith("Create") for each in actions)
    if resource is not None and service in _THERE and not creates:
        one_of("resource", resource, _THERE[service](), "of this account")
    return Target(service, actions, function or "", role or "", caller or "", resource or "")


def names_of(action: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names of one action or of several. Raises ValueError for none, and for what is neither."""
    if isinstance(action, str):
        return (action,)
    if not isinstance(action, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in action):
        raise ValueError(f"action is {action!r}: the name of one, or a tuple of names")
    if not action:
        raise ValueError("action is empty: name at least one, or '*' for all of them")
    return tuple(action)


def one_of(argument: str, value: object, known: Iterable[str], which: str = "") -> None:
    """Raise ValueError unless `value` is one of the known ones. The nearest are named first when there are many."""
    names = sorted(known)
    if value in names:
        return
    near = difflib.get_close_matches(str(value), names, n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(near)}? " if near else ""
    there = f"known {which}".strip()
    raise ValueError(f"{argument} is {value!r}: {hint}{there}: {', '.join(names) or 'none'}")


@functools.cache
def operations(service: str) -> tuple[str, ...]:
    """The names of a service's actions."""
    from .aws_models import description

    return tuple(description(SERVICES[service])["operations"])


def functions() -> list[str]:
    """The names of the account's functions."""
    from moto.awslambda.models import lambda_backends

    return sorted({function.function_name for function in lambda_backends[ACCOUNT_ID][REGION].list_functions(None)})


def roles() -> list[str]:
    """The names of the account's roles."""
    from moto.iam.models import iam_backends

    return [role.name for role in list(iam_backends[ACCOUNT_ID]["aws"].roles.values())]


def queues() -> list[str]:
    """The names of the account's queues."""
    from moto.sqs.models import sqs_backends

    return list(sqs_backends[ACCOUNT_ID][REGION].queues)


def queue_named(name: str) -> Any:
    """moto's queue of this name, or None."""
    from moto.sqs.models import sqs_backends

    return sqs_backends[ACCOUNT_ID][REGION].queues.get(name)


def tables() -> list[str]:
    """The names of the account's tables."""
    from moto.dynamodb.models import dynamodb_backends

    return list(dynamodb_backends[ACCOUNT_ID][REGION].tables)


_THERE = {"dynamodb": tables, "sqs": queues, "lambda": functions}
