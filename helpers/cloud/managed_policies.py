"""The policies that AWS itself manages, such as AWSLambdaBasicExecutionRole, as soon as somebody names one.

moto has their documents, but reads all of them at its start or none; reading them takes longer than starting the
account. Source: AWS Managed Policy Reference Guide (as moto recorded it).
"""

from __future__ import annotations

import json
from typing import Any

from .boundary import Boundary
from .environment import ACCOUNT_ID
from .exchange import Exchange

PREFIX = "arn:aws:iam::aws:policy/"

_NAMING = (
    *("AttachRolePolicy", "AttachUserPolicy", "AttachGroupPolicy", "GetPolicy", "GetPolicyVersion"),
    *("ListPolicyVersions", "ListEntitiesForPolicy"),
)


def install(boundary: Boundary) -> None:
    """Let the account know AWS's policies."""
    for action in _NAMING:
        boundary.before("iam", action, _named)
    boundary.before("iam", "ListPolicies", _all)


def _named(exchange: Exchange) -> None:
    arn = str(exchange.parameters.get("PolicyArn", ""))
    if arn.startswith(PREFIX) and arn not in _backend().managed_policies:
        name = arn.rpartition("/")[2]
        documents = _documents()
        if name in documents:
            _add({name: documents[name]})


def _all(exchange: Exchange) -> None:
    if exchange.parameters.get("Scope", "All") != "Local" and str(exchange.parameters.get("OnlyAttached")) != "true":
        _add(_documents())


def _backend() -> Any:
    from moto.iam.models import iam_backends

    return iam_backends[ACCOUNT_ID]["aws"]


def _documents() -> dict[str, Any]:
    from moto.iam.aws_managed_policies import aws_managed_policies_data

    return dict(json.loads(aws_managed_policies_data))


def _add(documents: dict[str, Any]) -> None:
    from moto.iam.models import AWSManagedPolicy

    backend = _backend()
    for name, data in documents.items():
        policy = AWSManagedPolicy.from_data(name, ACCOUNT_ID, "aws", data)
        if policy.arn not in backend.managed_policies:
            backend.managed_policies[policy.arn] = policy
            backend.aws_managed_policies.append(policy)
