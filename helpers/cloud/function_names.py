"""The forms in which a caller may name a function (Lambda API Reference, "FunctionName")."""

from __future__ import annotations


def split_name(function_name: str) -> tuple[str, str]:
    """Name and qualifier (empty: none) of a function's name, partial or full ARN, each with or without a qualifier."""
    parts = function_name.split(":")
    if len(parts) >= 7 and parts[0] == "arn":
        parts = parts[6:]
    elif len(parts) >= 3 and parts[1] == "function":
        parts = parts[2:]
    elif len(parts) >= 2 and parts[0] == "function":
        parts = parts[1:]
    return parts[0], parts[1] if len(parts) > 1 else ""
