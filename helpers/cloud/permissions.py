"""Identity policies, evaluated at the boundary with the real ARN of the resource.

The learner is an administrator. What a function or a workflow calls is decided by the policies of its role, as
they are at that moment. Order of the decision and sentences: IAM User Guide, "Policy evaluation logic" and
"Troubleshoot access denied error messages". Policies of resources, boundaries and organisations are not emulated.
A statement with a `Condition` is not evaluated: it allows nothing, and if it denies, it denies.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .journal import Caller
from .responses import Response, error

Decision = Literal["allowed", "not allowed", "denied"]


def gate(exchange: Exchange) -> Response | None:
    """Refuse a call that the caller's role does not allow; None lets it pass. A gate of the boundary."""
    caller = exchange.caller
    if not caller.role or exchange.name == "sts:GetCallerIdentity":
        return None
    for action, resource in required(exchange):
        decision = decide(caller.role, action, resource)
        if decision != "allowed":
            return _refusal(exchange, sentence(caller, action, resource, decision))
    return None


def sentence(caller: Caller, action: str, resource: str, decision: Decision) -> str:
    """AWS's words for a refusal."""
    why = (
        "with an explicit deny in an identity-based policy"
        if decision == "denied"
        else f"because no identity-based policy allows the {action} action"
    )
    return f"User: {session_arn(caller)} is not authorized to perform: {action} on resource: {resource} {why}"


def session_arn(caller: Caller) -> str:
    """The ARN under which a role's session appears in messages."""
    return f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/{caller.role.rpartition('/')[2]}/{caller.name}"


def decide(role_arn: str, action: str, resource: str) -> Decision:
    """What the identity policies of a role say about an action on a resource. A missing role allows nothing."""
    decision: Decision = "not allowed"
    for statement in _statements(role_arn):
        if not _applies(statement, action, resource):
            continue
        if statement.get("Effect") == "Deny":
            return "denied"
        if "Condition" not in statement:
            decision = "allowed"
    return decision


def required(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The (action, resource ARN) pairs that a call needs (Service Authorization Reference)."""
    parameters, action = exchange.parameters, exchange.action
    match exchange.service:
        case "sqs":
            name = str(parameters.get("QueueUrl", "")).rpartition("/")[2]
            # SQS answers with the action in small letters.
            yield f"sqs:{_SINGLE.get(action, action).lower()}", _arn("sqs", name) if name else "*"
        case "dynamodb":
            yield from _dynamodb(action, parameters)
        case "lambda":
            name = str(parameters.get("FunctionName", ""))
            operation = "InvokeFunction" if action in {"Invoke", "InvokeAsync"} else action
            yield f"lambda:{operation}", _function_arn(name) if name else "*"
        case "states":
            resource = parameters.get("stateMachineArn") or parameters.get("executionArn") or "*"
            yield f"states:{action}", str(resource)
        case "s3":
            yield f"s3:{_S3_ACTIONS.get(action, action)}", _s3_arn(parameters)
        case "logs":
            group = parameters.get("logGroupName")
            yield f"logs:{action}", _arn("logs", f"log-group:{group}:*") if group else "*"
        case service:
            yield f"{service}:{action}", "*"


_SINGLE = {
    "SendMessageBatch": "SendMessage",
    "DeleteMessageBatch": "DeleteMessage",
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
}
_S3_ACTIONS = {
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "HeadObject": "GetObject",
    "HeadBucket": "ListBucket",
}


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT_ID}:{resource}"


def _function_arn(name: str) -> str:
    if name.startswith("arn:"):
        return ":".join(name.split(":")[:7])
    return _arn("lambda", f"function:{name.split(':')[-1] if name.count(':') == 2 else name.split(':')[0]}")


def _s3_arn(parameters: dict[str, Any]) -> str:
    bucket, key = parameters.get("Bucket", ""), parameters.get("Key", "")
    return f"arn:aws:s3:::{bucket}/{key}" if key else f"arn:aws:s3:::{bucket}" if bucket else "*"


def table_arn(name: str, index: str = "") -> str:
    """The ARN of a table, or of one of its indexes."""
    arn = name if name.startswith("arn:") else _arn("dynamodb", f"table/{name}")
    return f"{arn}/index/{index}" if index else arn


_TRANSACTION = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}


def _dynamodb(action: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if action in {"TransactWriteItems", "TransactGetItems"}:
        for entry in parameters.get("TransactItems", []):
            for kind, members in entry.items():
                yield f"dynamodb:{_TRANSACTION.get(kind, kind)}", table_arn(members.get("TableName", ""))
    elif action in {"BatchWriteItem", "BatchGetItem"}:
        for table in parameters.get("RequestItems", {}):
            yield f"dynamodb:{action}", table_arn(table)
    else:
        name = parameters.get("TableName", "")
        yield f"dynamodb:{action}", table_arn(name, parameters.get("IndexName", "")) if name else "*"


def _statements(role_arn: str) -> Iterator[dict[str, Any]]:
    from moto.iam.models import iam_backends

    backend = iam_backends[ACCOUNT_ID]["aws"]
    role = next((role for role in list(backend.roles.values()) if role.arn == role_arn), None)
    if role is None:
        return
    documents = list(role.policies.values())
    documents += [_default_version(policy) for policy in list(role.managed_policies.values())]
    for document in documents:
        policy = json.loads(urllib.parse.unquote(document)) if isinstance(document, str) else document
        statements = policy.get("Statement", [])
        yield from statements if isinstance(statements, list) else [statements]


def _default_version(policy: Any) -> str:
    return str(next(version.document for version in policy.versions if version.is_default))


def _applies(statement: dict[str, Any], action: str, resource: str) -> bool:
    if "NotAction" in statement:
        acts = not _matches(statement["NotAction"], action, re.IGNORECASE)
    else:
        acts = _matches(statement.get("Action", []), action, re.IGNORECASE)
    if "NotResource" in statement:
        return acts and not _matches(statement["NotResource"], resource)
    return acts and _matches(statement.get("Resource", []), resource)


def _matches(patterns: str | Iterable[str], value: str, flags: int = 0) -> bool:
    several = [patterns] if isinstance(patterns, str) else patterns
    return any(
        re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), value, flags | re.DOTALL)
        for pattern in several
    )


def _refusal(exchange: Exchange, message: str) -> Response:
    if exchange.service in {"sqs", "s3", "iam", "sts", "sns"}:
        return error(exchange, "AccessDenied", message, 403)
    return error(exchange, "AccessDeniedException", message, 403 if exchange.service == "lambda" else 400)
