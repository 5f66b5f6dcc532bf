"""What Lambda refuses when a function is created or changed, in AWS's words (Lambda API reference and quotas)."""

from __future__ import annotations

import functools
import json
import re
import urllib.parse
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

RETIRED = frozenset({"python2.7", "python3.6", "python3.7", "python3.8"})
"""Runtimes of Python for which functions can neither be created nor updated any more ("Lambda runtimes")."""

_NAME_LIMIT = 64
_SOURCES = ("S3Bucket", "S3Key", "S3ObjectVersion", "ImageUri")
_PARAMETER = "InvalidParameterValueException"
NOT_ASSUMABLE = (_PARAMETER, "The role defined for the function cannot be assumed by Lambda.")

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
    runtime = parameters.get("Runtime")
    if isinstance(runtime, str) and (refused := _runtime_refusal(runtime)):
        return refused
    if creating and (refused := _creation_refusal(parameters)):
        return refused
    complete = parameters.get("Runtime") and parameters.get("Handler")
    if creating and parameters.get("PackageType", "Zip") == "Zip" and not complete:
        message = "Runtime and Handler are mandatory parameters for functions created with deployment packages."
        return "InvalidParameterValueException", message
    return _environment_refusal((parameters.get("Environment") or {}).get("Variables") or {})


def _environment_refusal(variables: Mapping[str, str]) -> Refusal | None:
    begin = (
        "Lambda was unable to configure your environment variables because the environment variables you have provided"
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


def can_be_assumed(role_arn: str) -> bool:
    """Whether there is such a role, and whether its trust policy names Lambda. Hold the boundary's lock."""
    from .account import backends

    role = next((role for role in list(backends("iam").roles.values()) if role.arn == role_arn), None)
    if role is None:
        return False
    text = role.assume_role_policy_document
    try:
        document = json.loads(urllib.parse.unquote(text)) if isinstance(text, str) else text
    except ValueError:
        return False
    statements = document.get("Statement", []) if isinstance(document, dict) else []
    statements = statements if isinstance(statements, list) else [statements]
    return any(_trusts_lambda(statement) for statement in statements if isinstance(statement, dict))


def _trusts_lambda(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal")
    services = principal.get("Service", []) if isinstance(principal, dict) else principal
    named = [services] if isinstance(services, str) else services or []
    actions = statement.get("Action", [])
    allowed = {str(action).lower() for action in ([actions] if isinstance(actions, str) else actions)}
    return (
        statement.get("Effect") == "Allow"
        and any(each in {"lambda.amazonaws.com", "*"} for each in named)
        and bool(allowed & {"sts:assumerole", "sts:*", "*"})
    )


def _runtime_refusal(runtime: str) -> Refusal | None:
    if runtime in RETIRED:
        return _PARAMETER, (
            f"The runtime parameter of {runtime} is no longer supported for creating or updating AWS Lambda functions. "
            "We recommend you use a supported runtime while creating or updating functions."
        )
    known = _known_runtimes()
    if runtime not in known:
        constraint = f"Member must satisfy enum value set: [{', '.join(known)}] or be a valid ARN"
        return _PARAMETER, f"Value {runtime} at 'runtime' failed to satisfy constraint: {constraint}"
    return None


def _creation_refusal(parameters: Mapping[str, Any]) -> Refusal | None:
    name = str(parameters.get("FunctionName", ""))
    if ":" not in name and len(name) > _NAME_LIMIT:
        return "ValidationException", (
            f"1 validation error detected: Value '{name}' at 'functionName' failed to satisfy constraint: "
            f"Member must have length less than or equal to {_NAME_LIMIT}"
        )
    code = parameters.get("Code") or {}
    given = [source for source in _SOURCES if code.get(source)]
    if "ZipFile" in code and given:
        return _PARAMETER, "Please do not provide other FunctionCode parameters when providing a ZipFile."
    if "ZipFile" not in code and not given:
        return _PARAMETER, "Please provide a source for function code."
    return None


@functools.cache
def _known_runtimes() -> tuple[str, ...]:
    from .aws_models import description

    return tuple(description("lambda")["shapes"]["Runtime"]["enum"])
