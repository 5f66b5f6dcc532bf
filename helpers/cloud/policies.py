"""What the identity policies of a role say, read anew whenever one of them changed.

Order of the decision: IAM User Guide, "Policy evaluation logic": an explicit deny wins, then an allow, and what
nothing allows is not allowed. Permission boundaries, session policies and policies of organisations are not emulated.
"""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .environment import ACCOUNT_ID
from .policy_conditions import holds
from .policy_patterns import Values, arn_pattern, has_variable, matches_any, nothing, pattern

Decision = Literal["allowed", "not allowed", "denied"]

_REMEMBERED = 2048
"""Decisions kept per state of a role's policies; a loop over many keys of a bucket must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that was read: its patterns, and its conditions as they were written."""

    deny: bool
    actions: tuple[re.Pattern[str] | None, ...]
    other_actions: bool
    resources: tuple[re.Pattern[str] | None, ...]
    variable_resources: tuple[str, ...]
    other_resources: bool
    condition: Mapping[str, Any]

    def concerns(self, action: str, resource: str, values: Values) -> bool:
        """Whether action and resource are those of the statement, conditions apart."""
        if matches_any(self.actions, action) == self.other_actions:
            return False
        named = matches_any(self.resources, resource) or matches_any(
            (arn_pattern(text, values) for text in self.variable_resources), resource
        )
        return named != self.other_resources

    @property
    def depends_on_request(self) -> bool:
        """Whether more than action and resource decide."""
        return bool(self.condition or self.variable_resources)


def read_statement(statement: Mapping[str, Any]) -> Statement:
    """Read one statement of an identity policy."""
    resources = _several(statement, "NotResource" if "NotResource" in statement else "Resource")
    actions = _several(statement, "NotAction" if "NotAction" in statement else "Action")
    return Statement(
        deny=statement.get("Effect") == "Deny",
        actions=tuple(pattern(text, flags=re.IGNORECASE) for text in actions),
        other_actions="NotAction" in statement,
        resources=tuple(arn_pattern(text) for text in resources if not has_variable(text)),
        variable_resources=tuple(text for text in resources if has_variable(text)),
        other_resources="NotResource" in statement,
        condition=statement.get("Condition") or {},
    )


def _several(statement: Mapping[str, Any], name: str) -> list[str]:
    value = statement.get(name, [])
    return [value] if isinstance(value, str) else [text for text in value if isinstance(text, str)]


@dataclass
class PolicySet:
    """All statements that speak for a role, and the decisions that they led to."""

    documents: tuple[str, ...]
    statements: list[Statement] = field(init=False)
    _decided: dict[tuple[str, str], Decision] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.statements = [read_statement(one) for document in self.documents for one in statements_of(document)]
        # A deny is looked for first: an allow then ends the search.
        self.statements.sort(key=lambda statement: not statement.deny)

    def decide(self, action: str, resource: str, values: Values = nothing) -> Decision:
        """What the policies say about an action on a resource, in a request with these condition keys."""
        known = self._decided.get((action, resource))
        if known is not None:
            return known
        decision: Decision = "not allowed"
        certain = True
        for statement in self.statements:
            if statement.depends_on_request and matches_any(statement.actions, action) != statement.other_actions:
                certain = False
            if statement.concerns(action, resource, values) and holds(statement.condition, values):
                decision = "denied" if statement.deny else "allowed"
                break
        if certain:
            if len(self._decided) >= _REMEMBERED:
                self._decided.clear()
            self._decided[action, resource] = decision
        return decision


_roles: dict[str, Any] = {}
_sets: dict[str, PolicySet] = {}


def of_role(role_arn: str) -> PolicySet:
    """The policies of a role as they are at this moment. A role that does not exist has none."""
    role = role_of(role_arn)
    if role is None:
        return PolicySet(())
    documents = tuple(role.policies.values())
    if role.managed_policies:
        documents += tuple(_default_version(policy) for policy in tuple(role.managed_policies.values()))
    known = _sets.get(role_arn)
    if known is None or known.documents != documents:
        known = _sets[role_arn] = PolicySet(documents)
    return known


def role_of(role_arn: str) -> Any | None:
    """moto's role with this ARN, None when there is none."""
    from moto.iam.models import iam_backends

    roles = iam_backends[ACCOUNT_ID]["aws"].roles
    role = _roles.get(role_arn)
    if role is not None and roles.get(role.id) is role:
        return role
    role = next((role for role in tuple(roles.values()) if role.arn == role_arn), None)
    if role is None:
        _roles.pop(role_arn, None)
        _sets.pop(role_arn, None)
    else:
        _roles[role_arn] = role
    return role


def _default_version(policy: Any) -> str:
    return str(next(version.document for version in tuple(policy.versions) if version.is_default))


def statements_of(document: str) -> list[dict[str, Any]]:
    """The statements of a policy document; none when it cannot be read."""
    try:
        policy = json.loads(urllib.parse.unquote(document) if document.startswith("%") else document)
    except ValueError:
        return []
    statements = policy.get("Statement", []) if isinstance(policy, dict) else []
    return [one for one in (statements if isinstance(statements, list) else [statements]) if isinstance(one, dict)]
