"""Paths, variables and intrinsic functions in the JSONPath of a definition.

moto gives a list of one value for a path that goes through an index, evaluates a reference to a variable as JSONata,
for which it has no evaluator here, and tells a function that fails as an exception of Python. Sources: Jayway JsonPath,
the path library of Step Functions, "What is Returned When?" (a definite path has one value); Step Functions Developer
Guide, "Passing data between states with variables" (``$name``, and paths into it such as ``$name.total``) and "Error
names" (States.IntrinsicFailure, States.ResultPathMatchFailure).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

from .places import Place

_PACKAGE = "moto.stepfunctions.parser.asl."
_STRINGS = f"{_PACKAGE}component.common.string.string_expression"
_QUOTED = re.compile(r"""\[\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\]""")
_MANY = re.compile(r"\*|\.\.|\[[^\]]*[:,?(]")
"""What makes a path one of many values: a wildcard, a deep scan, a slice, several indexes, a filter."""
_REFERENCE = re.compile(r"\$([^\W\d]\w*)(.*)", re.DOTALL)

PLACES = (
    Place(
        f"{_PACKAGE}utils.json_path",
        "extract_json",
        "0d79f1ca93a4d5f2",
        "It is replaced for paths of one value, which moto gives as a list when they go through an index.",
    ),
    Place(
        f"{_PACKAGE}component.common.path.result_path",
        "ResultPath._eval_body",
        "4d10162785fb2ef1",
        "It must tell a result that does not fit its input as an exception of Python.",
    ),
    Place(
        _STRINGS,
        "StringVariableSample._eval_body",
        "9386f59a80f4c671",
        "It is replaced for JSONPath, so that variables need no JSONata.",
    ),
    Place(
        _STRINGS,
        "StringIntrinsicFunction._eval_body",
        "4022ebdf5444238b",
        "It is replaced, so that a function that fails is States.IntrinsicFailure.",
    ),
)


def extracting(before: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """What takes the place of moto's `extract_json`, given as `before`."""

    def extract(path: str, data: Any) -> Any:
        found = before(path, data)
        one = isinstance(found, list) and not _MANY.search(_QUOTED.sub("", path))
        if not one:
            return found
        [match] = importlib.import_module("jsonpath_ng.ext").parse(path).find(data)
        return match.value

    return extract


def replacements() -> list[tuple[Any, str, Callable[[Any, Any], None]]]:
    """What is replaced in the loaded interpreter: class, name of the method, and by what."""
    strings = importlib.import_module(_STRINGS)
    extract = extracting(importlib.import_module(f"{_PACKAGE}utils.json_path").extract_json)
    json_path = importlib.import_module(f"{_PACKAGE}component.common.query_language").QueryLanguageMode.JSONPath
    failures = importlib.import_module(f"{_PACKAGE}component.common.error_name.failure_event")
    as_jsonata = strings.StringVariableSample._eval_body

    def sample(self: Any, env: Any) -> None:
        reference = _REFERENCE.fullmatch(self.expression)
        if self.query_language_mode != json_path or reference is None:
            as_jsonata(self, env)
            return
        name, inside = reference.groups()
        value = env.variable_store.get(name)
        env.stack.append(extract(f"${inside}", value) if inside else value)

    def call(self: Any, env: Any) -> None:
        try:
            self.function.eval(env=env)
        except failures.FailureEventException:
            raise
        except Exception as problem:
            written = self.intrinsic_function_derivation
            cause = f"The function '{written}' had the following error: {problem}"
            raise failure(env, "StatesIntrinsicFailure", cause) from problem

    result_path = importlib.import_module(f"{_PACKAGE}component.common.path.result_path").ResultPath
    put = result_path._eval_body

    def put_result(self: Any, env: Any) -> None:
        try:
            put(self, env)
        except (TypeError, AttributeError, IndexError, KeyError) as mismatch:
            cause = f"The ResultPath '{self.result_path_src}' cannot be applied to the input of the state."
            raise failure(env, "StatesResultPathMatchFailure", cause) from mismatch

    return [
        (result_path, "_eval_body", put_result),
        (strings.StringVariableSample, "_eval_body", sample),
        (strings.StringIntrinsicFunction, "_eval_body", call),
    ]


def failure(env: Any, error: str, cause: str) -> Exception:
    """What a state raises to fail. `error` is a member of moto's StatesErrorNameType.

    The interpreter puts the state and its event before the cause of StatesRuntime.
    """
    failures = importlib.import_module(f"{_PACKAGE}component.common.error_name.failure_event")
    names = importlib.import_module(f"{_PACKAGE}component.common.error_name.states_error_name")
    kind = getattr(names.StatesErrorNameType, error)
    event = failures.FailureEvent(
        env=env,
        error_name=names.StatesErrorName(typ=kind),
        event_type=importlib.import_module("moto.stepfunctions.parser.api").HistoryEventType.TaskFailed,
        event_details={"taskFailedEventDetails": {"error": kind.to_name(), "cause": cause}},
    )
    failed: Exception = failures.FailureEventException(event)
    return failed
