"""What UpdateItem gives back for UPDATED_OLD and UPDATED_NEW: the attributes that the expression names.

moto gives those whose value differs, so an update to the value that is there already answers nothing. Source:
DynamoDB API Reference, "UpdateItem" (ReturnValues): only the attributes updated by the request, at their paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .journal import Item

Path = tuple[str | int, ...]

_TOKEN = re.compile(r"[#:]?\w+|\S", re.ASCII)
_SECTIONS = {"SET", "REMOVE", "ADD", "DELETE"}


def updated_paths(expression: str, names: Mapping[str, str]) -> list[Path]:
    """The document paths that an update expression changes. The expression has been read by moto already."""
    tokens = _TOKEN.findall(expression)
    paths: list[Path] = []
    path: list[str | int] = []
    depth, in_path = 0, False
    for position, token in enumerate(tokens):
        begins = token.upper() in _SECTIONS and not depth and tokens[position - 1 : position] != ["."]
        if begins or (token == "," and not depth):
            in_path = True
            if path:
                paths.append(tuple(path))
            path = []
        elif not in_path:
            depth += {"(": 1, ")": -1}.get(token, 0)
        elif token == "=" or token.startswith(":"):
            in_path = False
        elif token.isdigit():
            path.append(int(token))
        elif token not in {".", "[", "]"}:
            path.append(names.get(token, token))
    return [*paths, tuple(path)] if path else paths


def at_paths(item: Item | None, paths: list[Path]) -> dict[str, Any]:
    """The parts of an item at some paths, in the item's own nesting."""
    found: dict[str, Any] = {}
    for path in paths:
        part = _at(item or {}, path)
        if part is not None:
            _merge(found, part)
    return found


def _at(attributes: Mapping[str, Any], path: Path) -> dict[str, Any] | None:
    """What `path` leads to, as attributes with only that in them."""
    name, *rest = path
    if name not in attributes:
        return None
    value = attributes[str(name)]
    if not rest:
        return {str(name): value}
    if isinstance(rest[0], int):
        members = value.get("L", [])
        if rest[0] >= len(members):
            return None
        inner = _at({"": members[rest[0]]}, ("", *rest[1:]))
        return None if inner is None else {str(name): {"L": [inner[""]]}}
    inner = _at(value.get("M", {}), tuple(rest))
    return None if inner is None else {str(name): {"M": inner}}


def _merge(target: dict[str, Any], part: Mapping[str, Any]) -> None:
    for name, value in part.items():
        if name in target and "M" in value and "M" in target[name]:
            _merge(target[name]["M"], value["M"])
        elif name in target and "L" in value and "L" in target[name]:
            target[name]["L"] += value["L"]
        else:
            target[name] = value
