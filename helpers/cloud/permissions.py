"""Permissions at the boundary: what a function or a workflow calls is decided by the policies of its role.

The learner is an administrator. The policies are those of the moment: a permission that is removed is missing in the
next call. Sentences: IAM User Guide, "Troubleshoot access denied error messages". Policies of resources, permission
boundaries and organisations are not emulated.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable

from .access_needs import Need, needs, s3_need
from .environment import ACCOUNT_ID
from .exchange import Exchange
from .journal import Caller
from .policies import Decision, of_role
from .request_keys import RequestKeys
from .responses import Response, error


def gate(now: Callable[[], float]) -> Callable[[Exchange], Response | None]:
    """A gate of the boundary: refuses a call that the caller's role does not allow. `now` is the account's clock."""

    def refuse(exchange: Exchange) -> Response | None:
        caller = exchange.caller
        if not caller.role or exchange.name == "sts:GetCallerIdentity":  # who one is needs no permission
            return None
        policies = of_role(caller.role)
        for need in needs(exchange):
            keys = RequestKeys(caller, now(), exchange, need)
            decision = policies.decide(need.action, need.resource, keys)
            if decision != "allowed":
                return _refusal(exchange, sentence(caller, need, decision))
        return None

    return refuse


def hide_missing(now: Callable[[], float]) -> Callable[[Exchange, Response], None]:
    """A hook after S3: who may not list a bucket does not learn that an object is missing.

    The answer is AccessDenied about `s3:ListBucket` (S3 API Reference, "GetObject": 403 instead of 404).
    """

    def hide(exchange: Exchange, answer: Response) -> None:
        caller = exchange.caller
        if answer.status != 404 or not caller.role or not exchange.parameters.get("Key"):
            return
        need = s3_need("ListBucket", str(exchange.parameters.get("Bucket", "")))
        decision = of_role(caller.role).decide(need.action, need.resource, RequestKeys(caller, now(), exchange, need))
        if decision != "allowed" and answer.error in {"NoSuchKey", "NoSuchVersion", "404"}:
            refusal = _refusal(exchange, sentence(caller, need, decision))
            answer.status, answer.payload, answer.headers = refusal.status, refusal.payload, refusal.headers

    return hide


def decide(role_arn: str, action: str, resource: str, at: float | None = None) -> Decision:
    """What the policies of a role say when the account itself acts in it. A role that is missing allows nothing.

    `at` is the time of the account's clock, in seconds; None is the machine's time.
    """
    keys = RequestKeys(Caller("service", role=role_arn), time.time() if at is None else at)
    return of_role(role_arn).decide(action, resource, keys)


def sentence(caller: Caller, need: Need, decision: Decision) -> str:
    """AWS's words for a refusal."""
    why = (
        "with an explicit deny in an identity-based policy"
        if decision == "denied"
        else f"because no identity-based policy allows the {need.action} action"
    )
    resource = need.shown or need.resource
    return f"User: {session_arn(caller)} is not authorized to perform: {need.action} on resource: {resource} {why}"


def session_arn(caller: Caller) -> str:
    """The ARN under which a role's session appears in messages.

    Step Functions names a session with 32 letters of its own, another one for each execution.
    """
    name = caller.name
    if caller.kind == "workflow":
        name = base64.b32encode(hashlib.sha256(caller.request_id.encode()).digest())[:32].decode()
    return f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/{caller.role.rpartition('/')[2]}/{name}"


def _refusal(exchange: Exchange, message: str) -> Response:
    """The refusal with each service's own code and HTTP status (botocore's service models, API references)."""
    if exchange.service == "sns":
        return error(exchange, "AuthorizationError", message, 403)
    if exchange.service in {"sqs", "s3", "iam", "sts"}:
        return error(exchange, "AccessDenied", message, 403)
    return error(exchange, "AccessDeniedException", message, 403 if exchange.service == "lambda" else 400)
