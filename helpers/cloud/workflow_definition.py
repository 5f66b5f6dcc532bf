"""What Step Functions finds wrong with a definition, before it creates or changes a state machine.

The rules and sentences are those of ValidateStateMachineDefinition, recorded against AWS; CreateStateMachine and
UpdateStateMachine write the same findings into one message. AWS says of the wording that it may change (API
reference, "ValidateStateMachineDefinitionDiagnostic"): where no recording was found, the wording here is our own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .workflow_names import json_problem

_EVERY = ("Type", "Comment", "QueryLanguage")
_PATHS = ("InputPath", "OutputPath")
_ON = ("Next", "End")
_RESULT = ("ResultPath", "Output", "Assign")
_TRIES = ("Retry", "Catch")
_FIELDS: dict[str, tuple[str, ...]] = {
    "Task": (
        *(*_EVERY, *_PATHS, *_ON, *_RESULT, *_TRIES),
        *("Resource", "Parameters", "Arguments", "ResultSelector", "Credentials"),
        *("TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"),
    ),
    "Pass": (*_EVERY, *_PATHS, *_ON, *_RESULT, "Result", "Parameters"),
    "Wait": (
        *(*_EVERY, *_PATHS, *_ON, "Output", "Assign"),
        *("Seconds", "SecondsPath", "Timestamp", "TimestampPath"),
    ),
    "Choice": (*_EVERY, *_PATHS, "Choices", "Default", "Output", "Assign"),
    "Succeed": (*_EVERY, *_PATHS, "Output"),
    "Fail": (*_EVERY, "Error", "Cause", "ErrorPath", "CausePath"),
    "Parallel": (
        *(*_EVERY, *_PATHS, *_ON, *_RESULT, *_TRIES),
        *("Branches", "Parameters", "Arguments", "ResultSelector"),
    ),
    "Map": (
        *(*_EVERY, *_PATHS, *_ON, *_RESULT, *_TRIES),
        *("ItemProcessor", "Iterator", "ItemsPath", "Items", "ItemSelector", "Parameters", "ResultSelector"),
        *("ItemReader", "ItemBatcher", "ResultWriter", "Label", "MaxConcurrency", "MaxConcurrencyPath"),
        *("ToleratedFailurePercentage", "ToleratedFailurePercentagePath"),
        *("ToleratedFailureCount", "ToleratedFailureCountPath"),
    ),
}
"""The fields that each type of state supports (Amazon States Language, "State types")."""

_REQUIRED = {"Task": "Resource", "Choice": "Choices", "Parallel": "Branches"}
_MACHINE = ("StartAt", "States", "Comment", "Version", "TimeoutSeconds", "QueryLanguage")
_PARTS = ("StartAt", "States", "Comment", "ProcessorConfig")
_JSONATA_ONLY = ("Output", "Assign", "Arguments", "Items")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `location` is a path in the definition, None where AWS names none."""

    code: str
    message: str
    location: str | None = None

    def sentence(self) -> str:
        """As it stands in the message of InvalidDefinition; a missing location is written null."""
        if self.code == "INVALID_JSON_DESCRIPTION":
            return f"{self.code}: {self.message}"
        return f"{self.code}: {self.message} at {self.location or 'null'}"

    def diagnostic(self) -> dict[str, str]:
        """As ValidateStateMachineDefinition gives it."""
        found = {"severity": "ERROR", "code": self.code, "message": self.message}
        return {**found, "location": self.location} if self.location is not None else found


def findings(definition: str, kind: str, parse: Callable[[str], object]) -> list[Finding]:
    """All findings for a definition of a STANDARD or EXPRESS state machine; `parse` is the interpreter's reader.

    The interpreter is asked only when nothing else was found: it stops at its first mistake.
    """
    found = list(_findings(definition, kind))
    if found:
        return found
    try:
        parse(definition)
    except Exception as problem:
        words = str(problem).removeprefix("ASLParserException ") or type(problem).__name__
        return [Finding("SCHEMA_VALIDATION_FAILED", words, "/")]
    return []


def message(found: list[Finding]) -> str:
    """The message of InvalidDefinition."""
    return f"Invalid State Machine Definition: '{', '.join(one.sentence() for one in found)}'"


def _findings(definition: str, kind: str) -> Iterator[Finding]:
    if not definition.strip():
        yield Finding("SCHEMA_VALIDATION_FAILED", "Definition must be a valid JSON object")
        return
    problem = json_problem(definition)
    if problem is not None:
        shown = definition if len(definition) <= 500 else f"{definition[:500]}[truncated {len(definition) - 500} chars]"
        source = f'[Source: (String)"{shown}"; line: {problem.line}, column: {problem.column}]'
        yield Finding("INVALID_JSON_DESCRIPTION", f"{problem.message}\n at {source}", source)
        return
    machine = json.loads(definition)
    if not isinstance(machine, dict):
        yield Finding("SCHEMA_VALIDATION_FAILED", "Definition must be a valid JSON object")
        return
    language = machine.get("QueryLanguage", "JSONPath")
    yield from _container(machine, "", kind, language, _MACHINE)


def _container(
    part: Mapping[str, Any], path: str, kind: str, language: str, fields: tuple[str, ...]
) -> Iterator[Finding]:
    """A state machine, a branch or an item processor."""
    missing = [name for name in ("States", "StartAt") if name not in part]
    if missing:
        yield _schema(f"These fields are required: [{', '.join(missing)}]", path or "/")
    for name in part:
        if name not in fields:
            yield _schema(f"Field '{name}' is not supported", path or "/")
    states = part.get("States")
    if not isinstance(states, dict):
        if "States" in part:
            yield _schema("Expected value of type Object", f"{path}/States")
        return
    if not states:
        yield _schema("At least one state is required", f"{path}/States")
        return
    before = False
    for name, state in states.items():
        for finding in _state(state, f"{path}/States/{name}", kind, language):
            before = True
            yield finding
    if not missing and not before:
        yield from _transitions(part, states, path)


def _state(state: Any, path: str, kind: str, language: str) -> Iterator[Finding]:
    if not isinstance(state, dict):
        yield _schema("Expected value of type Object", path)
        return
    of_type = state.get("Type")
    if of_type is None:
        yield _schema("These fields are required: [Type]", path)
        return
    if of_type not in _FIELDS:
        yield _schema(f"Value is not one of [{', '.join(_FIELDS)}]", f"{path}/Type")
        return
    for name in state:
        if name.removesuffix(".$") not in _FIELDS[of_type]:
            yield _schema(f"Field '{name}' is not supported", path)
    own = state.get("QueryLanguage", language)
    if language == "JSONata" and own == "JSONPath":
        yield _schema("'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine", path)
    if own == "JSONPath":
        for name in _JSONATA_ONLY:
            if name in state and name != "Assign":
                yield _schema(
                    f"The QueryLanguage is set to 'JSONPath', but field '{name}' is only supported for the 'JSONata' "
                    "QueryLanguage",
                    path,
                )
    required = _REQUIRED.get(of_type)
    if required and required not in state:
        yield _schema(f"These fields are required: [{required}]", path)
    if "Next" in _FIELDS[of_type] and "Next" not in state and state.get("End") is not True:
        yield _schema("One of these fields is required: [Next, End]", path)
    yield from _PARTS_OF.get(of_type, _nothing)(state, path, kind, language)


def _nothing(state: Mapping[str, Any], path: str, kind: str, language: str) -> Iterator[Finding]:
    yield from ()


def _task(state: Mapping[str, Any], path: str, kind: str, language: str) -> Iterator[Finding]:
    resource = str(state.get("Resource", "arn:"))
    if not resource.startswith("arn:"):
        yield _schema("Value is not a valid resource ARN", f"{path}/Resource")
    if kind == "EXPRESS":
        if resource.endswith(".waitForTaskToken"):
            # With the space, as recorded.
            words = "Express state machine does not support '.waitForTaskToken' service integration "
            yield _schema(words, f"{path}/Resource")
        elif resource.endswith((".sync", ".sync:2")):
            words = "Express state machine does not support '.sync' service integration"
            yield _schema(words, f"{path}/Resource")
        elif ":activity:" in resource:
            yield _schema("Express state machine does not support Activity ARN", f"{path}/Resource")


def _choice(state: Mapping[str, Any], path: str, kind: str, language: str) -> Iterator[Finding]:
    rules = state.get("Choices", [])
    for number, rule in enumerate(rules if isinstance(rules, list) else []):
        if isinstance(rule, dict) and "Next" not in rule:
            yield _schema("These fields are required: [Next]", f"{path}/Choices[{number}]")


def _parallel(state: Mapping[str, Any], path: str, kind: str, language: str) -> Iterator[Finding]:
    branches = state.get("Branches", [])
    for number, branch in enumerate(branches if isinstance(branches, list) else []):
        if isinstance(branch, dict):
            yield from _container(branch, f"{path}/Branches[{number}]", kind, language, _PARTS)


def _map(state: Mapping[str, Any], path: str, kind: str, language: str) -> Iterator[Finding]:
    name = "ItemProcessor" if "ItemProcessor" in state else "Iterator"
    part = state.get(name)
    if part is None:
        yield _schema("These fields are required: [ItemProcessor]", path)
    elif isinstance(part, dict):
        yield from _container(part, f"{path}/{name}", kind, language, _PARTS)


_PARTS_OF: dict[str, Callable[[Mapping[str, Any], str, str, str], Iterator[Finding]]] = {
    "Task": _task,
    "Choice": _choice,
    "Parallel": _parallel,
    "Map": _map,
}


def _transitions(part: Mapping[str, Any], states: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """Targets that do not exist, a part without an end, and states that nothing leads to, in AWS's order.

    Any field that names a state is called 'Next' in the message, and a part without an end hides the last kind.
    """
    start = part["StartAt"]
    if start not in states:
        yield _target(start, f"{path}/StartAt")
    for name, state in states.items():
        for where, target in _targets(state):
            if target not in states:
                yield _target(target, f"{path}/States/{name}/{where}")
    if not any(state.get("End") is True or state["Type"] in {"Succeed", "Fail"} for state in states.values()):
        yield Finding("MISSING_END_STATE", "Workflow has no terminal state")
        return
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in states and name not in reached:
            reached.add(name)
            waiting += [target for _, target in _targets(states[name])]
    for name in states:
        if name not in reached:
            yield Finding("MISSING_TRANSITION_TARGET", f'State "{name}" is not reachable.', f"{path}/States/{name}")


def _targets(state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "Next" in state:
        yield "Next", state["Next"]
    for field in ("Choices", "Catch"):
        several = state.get(field, [])
        for number, one in enumerate(several if isinstance(several, list) else []):
            if isinstance(one, dict) and "Next" in one:
                yield f"{field}[{number}]/Next", one["Next"]
    if "Default" in state:
        yield "Default", state["Default"]


def _target(name: Any, location: str) -> Finding:
    return Finding("MISSING_TRANSITION_TARGET", f"Missing 'Next' target: {name}", location)


def _schema(words: str, location: str) -> Finding:
    return Finding("SCHEMA_VALIDATION_FAILED", words, location)
