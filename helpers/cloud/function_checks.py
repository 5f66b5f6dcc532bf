"""What Lambda refuses when a function is created or changed, in AWS's words (Lambda API reference and quotas)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

RESERVED = frozenset(
    {
        "_HANDLER",
        "_X_AMZN_TRACE_ID",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
        "AWS_EXECUTION_ENV",
        "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
        "AWS_LAMBDA_FUNCTION_VERSION",
        "AWS_LAMBDA_INITIALIZATION_TYPE",
        "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME",
        "AWS_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_LAMBDA_RUNTIME_API",
        "LAMBDA_TASK_ROOT",
        "LAMBDA_RUNTIME_DIR",
    }
)
"""The variables that a function's settings must not name (Lambda Developer Guide, "Reserved environment variables")."""

ENVIRONMENT_LIMIT = 4096
"""Bytes of all variables together."""

Refusal = tuple[str, str]
"""Error code and sentence."""

_RANGES = {"Timeout": ("timeout", 1, 900), "MemorySize": ("memorySize", 128, 10_240)}


def refusal(parameters: Mapping[str, Any], creating: bool) -> Refusal | None:
    """Why the settings in a request are refused, None when they are not."""
    for member, (name, least, most) in _RANGES.items():
        value = parameters.get(member)
        if isinstance(value, int) and not least <= value <= most:
            bound = f"less than or equal to {most}" if value > most else f"greater than or equal to {least}"
            return "ValidationException", (
                f"1 validation error detected: Value '{value}' at '{name}' failed to satisfy constraint: "
                f"Member must have value {bound}"
            )
    complete = parameters.get("Runtime") and parameters.get("Handler")
    if creating and parameters.get("PackageType", "Zip") == "Zip" and not complete:
        message = (
            "Runtime and Handler are mandatory parameters for functions created with deployment packages."
        )
        return "InvalidParameterValueException", message
    return _environment_refusal((parameters.get("Environment") or {}).get("Variables") or {})


def _environment_refusal(variables: Mapping[str, str]) -> Refusal | None:
    begin = (
        "Lambda was unable to configure your environment variables because the environment variables "
        "you have provided"
    )
    for name in variables:
        if not re.fullmatch(r"[a-zA-Z]([a-zA-Z0-9_])+", name) and name not in RESERVED:
            keys = "{" + ", ".join(f"{key}={value}" for key, value in variables.items()) + "}"
            return "ValidationException", (
                f"1 validation error detected: Value '{keys}' at 'environment.variables' failed to satisfy constraint: "
                "Map keys must satisfy constraint: "
                "[Member must satisfy regular expression pattern: [a-zA-Z]([a-zA-Z0-9_])+]"
            )
    reserved = sorted(RESERVED & variables.keys())
    if reserved:
        return "InvalidParameterValueException", (
            f"{begin} contains reserved keys that are currently not supported for modification. "
            f"Reserved keys used in this request: {', '.join(reserved)}"
        )
    size = sum(len(name.encode()) + len(str(value).encode()) for name, value in variables.items())
    if size > ENVIRONMENT_LIMIT:
        return (
            "InvalidParameterValueException",
            f"{begin} exceeded the 4KB limit. String measured: {variables}",
        )
    return None
