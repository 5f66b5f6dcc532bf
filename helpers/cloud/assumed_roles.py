"""Who assumed a role acts with the rights of that role, and only one whom its trust policy names may assume it.

Sources: STS API Reference, "AssumeRole"; IAM User Guide, "AWS JSON policy elements: Principal" (an account, its
root, a role and a session of it are principals; services assume roles by themselves and are not asked here).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .boundary import Boundary
from .environment import ACCOUNT_ID
from .exchange import Exchange
from .journal import Caller
from .permissions import session_arn
from .policies import role_of, statements_of
from .policy_conditions import holds
from .policy_patterns import matches_any, pattern
from .request_keys import RequestKeys
from .responses import Response, error

if TYPE_CHECKING:
    from moto.iam.models import Role

_ROOT = f"arn:aws:iam::{ACCOUNT_ID}:root"
_LEARNER = f"arn:aws:sts::{ACCOUNT_ID}:user/moto"
"""The name that GetCallerIdentity gives to the learner."""

_KEY = re.compile(rb"<AccessKeyId>([^<]+)</AccessKeyId>")


class AssumedRoles:
    """The temporary keys of one account; registers itself at the boundary."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        boundary.before("sts", "AssumeRole", self._refuse)
        boundary.after("sts", "AssumeRole", self._assumed)

    def _refuse(self, exchange: Exchange) -> Response | None:
        wanted = str(exchange.parameters.get("RoleArn", ""))
        caller = exchange.caller
        principal = session_arn(caller) if caller.role else _LEARNER
        role = role_of(wanted)
        if role is not None and _trusts(role, {principal, caller.role, _ROOT, ACCOUNT_ID}, exchange):
            return None
        message = f"User: {principal} is not authorized to perform: sts:AssumeRole on resource: {wanted}"
        return error(exchange, "AccessDenied", message, 403)

    def _assumed(self, exchange: Exchange, answer: Response) -> None:
        key = _KEY.search(answer.payload)
        if answer.status >= 400 or key is None:
            return
        by, name = exchange.caller, str(exchange.parameters.get("RoleSessionName", ""))
        session = Caller(by.kind, name, by.request_id, str(exchange.parameters.get("RoleArn", "")))
        self._boundary.callers[key.group(1).decode()] = lambda: session


def _trusts(role: Role, principals: set[str], exchange: Exchange) -> bool:
    keys = {
        f"sts:{name.lower()}": [str(exchange.parameters[name])]
        for name in ("ExternalId", "RoleSessionName")
        if exchange.parameters.get(name)
    }
    others = RequestKeys(exchange.caller, 0.0, exchange)

    def values(key: str) -> list[str] | None:
        return keys.get(key.lower()) or others(key)

    trusted = False
    for statement in statements_of(str(role.assume_role_policy_document)):
        named = statement.get("Principal", {})
        named = {"AWS": named} if isinstance(named, str) else named
        several = named.get("AWS", []) if isinstance(named, dict) else []
        several = [several] if isinstance(several, str) else several
        actions = statement.get("Action", [])
        actions = [actions] if isinstance(actions, str) else actions
        concerns = matches_any((pattern(text, flags=re.IGNORECASE) for text in actions), "sts:AssumeRole")
        if concerns and ("*" in several or principals & set(several)) and holds(statement.get("Condition", {}), values):
            if statement.get("Effect") == "Deny":
                return False
            trusted = True
    return trusted
