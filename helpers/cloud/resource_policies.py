"""The policy of a resource, asked whether a service of AWS may do something with it.

Sources: IAM User Guide, "AWS JSON policy elements: Principal" and "Policy evaluation logic" (an explicit deny wins);
`aws:SourceArn` and `aws:SourceAccount` say for which resource the service acts ("The confused deputy problem").
"""

from __future__ import annotations

import json
from typing import Any

from .policies import read_statement
from .policy_conditions import holds


def allows_service(document: str | None, service: str, action: str, resource: str, **keys: str) -> bool:
    """Whether a policy lets `service`, such as ``s3.amazonaws.com``, do `action` on `resource`.

    `keys` are condition keys of the request with ``_`` for ``:``, for example ``aws_SourceArn``.
    """
    known = {name.replace("_", ":", 1).lower(): [value] for name, value in keys.items()}
    known["aws:securetransport"] = ["true"]
    allowed = False
    for statement in _statements(document):
        read = read_statement(statement)

        def values(key: str) -> list[str] | None:
            return known.get(key.lower())

        if not _is_for(statement.get("Principal"), service) or not read.concerns(action, resource, values):
            continue
        if not holds(read.condition, values):
            continue
        if read.deny:
            return False
        allowed = True
    return allowed


def _statements(document: str | None) -> list[dict[str, Any]]:
    try:
        policy = json.loads(document or "{}")
    except ValueError:
        return []
    statements = policy.get("Statement", []) if isinstance(policy, dict) else []
    return [one for one in (statements if isinstance(statements, list) else [statements]) if isinstance(one, dict)]


def _is_for(principal: Any, service: str) -> bool:
    if principal == "*":
        return True
    if not isinstance(principal, dict):
        return False
    named = {kind: [value] if isinstance(value, str) else list(value) for kind, value in principal.items()}
    return service in named.get("Service", []) or "*" in named.get("Service", []) or "*" in named.get("AWS", [])
