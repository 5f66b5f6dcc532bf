"""One event source mapping: what it was told, and what the API says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping as Members
from dataclasses import dataclass
from typing import Any

from .environment import ACCOUNT_ID, REGION

TRANSITIONS = {"Creating", "Enabling", "Updating", "Disabling", "Deleting"}
"""States that a mapping leaves by itself."""

REPORT = "ReportBatchItemFailures"

FIRST_CONCURRENCY = 5
"""Batches that a mapping handles at once (Lambda Developer Guide, "Configuring scaling behavior for SQS event
source mappings"). AWS adds up to 300 a minute while messages wait; here it stays at the first five."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What create and update decide: `window` in seconds, `patterns` the filters of `criteria`, parsed."""

    function_arn: str
    batch_size: int
    window: int
    response_types: tuple[str, ...] = ()
    maximum_concurrency: int | None = None
    criteria: Members[str, Any] | None = None
    patterns: tuple[Members[str, Any], ...] = ()
    metrics: Members[str, Any] | None = None

    @property
    def function(self) -> str:
        """The function as Invoke names it: ``name``, or ``name:version-or-alias``."""
        return self.function_arn.split(":", 6)[6]

    @property
    def concurrency(self) -> int:
        """How many batches may be handled at once."""
        return min(FIRST_CONCURRENCY, self.maximum_concurrency or FIRST_CONCURRENCY)


@dataclass(slots=True)
class Mapping:
    """A mapping. Read and change it inside the boundary's lock. `last_modified` is in seconds (epoch)."""

    uuid: str
    queue_arn: str
    settings: Settings
    enabled: bool
    state: str
    last_modified: float

    @property
    def arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:event-source-mapping:{self.uuid}"

    @property
    def fifo(self) -> bool:
        return self.queue_arn.endswith(".fifo")

    @property
    def queue(self) -> str:
        """The queue's name."""
        return self.queue_arn.rpartition(":")[2]

    def configuration(self) -> dict[str, Any]:
        """The members of EventSourceMappingConfiguration (Lambda API Reference)."""
        settings = self.settings
        members: dict[str, Any] = {
            "UUID": self.uuid,
            "BatchSize": settings.batch_size,
            "MaximumBatchingWindowInSeconds": settings.window,
            "EventSourceArn": self.queue_arn,
            "FunctionArn": settings.function_arn,
            "LastModified": self.last_modified,
            "State": self.state,
            "StateTransitionReason": "USER_INITIATED",
            "FunctionResponseTypes": list(settings.response_types),
            "EventSourceMappingArn": self.arn,
        }
        if settings.criteria:
            members["FilterCriteria"] = settings.criteria
        if settings.maximum_concurrency is not None:
            members["ScalingConfig"] = {"MaximumConcurrency": settings.maximum_concurrency}
        if settings.metrics:
            members["MetricsConfig"] = settings.metrics
        return members


@dataclass(frozen=True, slots=True)
class Function:
    """What a mapping needs to know of a function: ARN as asked for, role, timeout in seconds."""

    arn: str
    role: str
    timeout: int


_FUNCTION = re.compile(
    r"(?:arn:aws[a-z-]*:lambda:[a-z0-9-]+:)?(?:(?P<account>\d{12}):)?(?:function:)?(?P<name>[\w-]+)(?::(?P<qualifier>[\w$-]+))?"
)


def function_arn(name: str) -> str:
    """The ARN of a function from its name, partial ARN or ARN, each with or without qualifier."""
    found = _FUNCTION.fullmatch(name)
    if found is None:
        return name
    arn = f"arn:aws:lambda:{REGION}:{found['account'] or ACCOUNT_ID}:function:{found['name']}"
    return f"{arn}:{found['qualifier']}" if found["qualifier"] else arn


def find_function(arn: str) -> Function | None:
    """The function of an ARN of `function_arn`, None when it, its version or its alias does not exist."""
    from moto.awslambda.exceptions import LambdaClientError
    from moto.awslambda.models import lambda_backends

    parts = arn.split(":")
    if len(parts) not in (7, 8):
        return None
    qualifier = parts[7] if len(parts) == 8 else None
    try:
        function = lambda_backends[ACCOUNT_ID][REGION].get_function(parts[6], qualifier)
    except LambdaClientError:
        return None
    return Function(arn, str(function.role), int(function.timeout))
