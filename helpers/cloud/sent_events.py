"""Events that other services send to a function run it, asynchronously, as on AWS.

moto lets S3, SNS, EventBridge and a subscription of logs call `LambdaFunction.invoke`, which starts Docker inside
their call. Here the event is accepted at once and the function runs later in a worker, with two more attempts
when it fails (Lambda Developer Guide, "Services that invoke Lambda functions asynchronously").
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from .places import Place

PLACES = (
    Place(
        "moto.awslambda.models",
        "LambdaFunction.invoke",
        "3316d00f2fdb2541",
        "It is replaced, so that a function runs in a worker and not in Docker.",
    ),
)


def install(deliver: Callable[[str, bytes, str], None]) -> Callable[[], None]:
    """Let `deliver` (ARN, payload, request id) have the events that moto sends. Returns what takes it back.

    patches.py verifies the place before.
    """
    from moto.awslambda import models

    replaced: Any = models.LambdaFunction
    before = replaced.invoke

    def invoke(self: Any, body: str | bytes, request_headers: Any, response_headers: Any) -> bytes:
        payload = body.encode() if isinstance(body, str) else body
        deliver(self.function_arn, payload or b"{}", str(uuid.uuid4()))
        return b"null"

    replaced.invoke = invoke

    def undo() -> None:
        replaced.invoke = before

    return undo
