"""Names, ARNs and JSON texts as Step Functions checks them, with its sentences (recorded against AWS).

Limits: Step Functions Developer Guide, "Service quotas"; an input is measured in bytes of UTF-8.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .exchange import Exchange
from .responses import Response, error

LARGEST_DATA = 262_144
"""Bytes of an execution's input, or of a state's data."""

_FORBIDDEN = re.compile(r'[\s<>{}\[\]?*"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f]')
_LONGEST_NAME = 80
_VALUES = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"


class Refused(Exception):
    """AWS's refusal of a call: `code` and message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def response(self, exchange: Exchange) -> Response:
        return error(exchange, self.code, str(self), 400)


def check_name(name: str) -> None:
    """Raise Refused for a name that no state machine or execution can have."""
    if len(name) > _LONGEST_NAME:
        raise invalid(name, "name", f"Member must have length less than or equal to {_LONGEST_NAME}")
    if not name or _FORBIDDEN.search(name):
        raise Refused("InvalidName", f"Invalid Name: '{name}'")


def invalid(value: Any, member: str, constraint: str) -> Refused:
    """The refusal of a member that breaks the service's model."""
    words = f"1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: {constraint}"
    return Refused("ValidationException", words)


def check_arn(arn: str, *resources: str) -> None:
    """Raise Refused unless `arn` is one of Step Functions for one of these kinds of resource."""
    if not arn.startswith("arn:"):
        raise Refused("InvalidArn", f"Invalid Arn: 'Invalid ARN prefix: {arn}'")
    parts = arn.split(":")
    if len(parts) < 7 or parts[2] != "states" or not parts[6]:
        raise Refused("InvalidArn", f"Invalid Arn: 'Not an ARN of Step Functions: {arn}'")
    if parts[5] not in resources:
        raise Refused("InvalidArn", f"Invalid Arn: 'Resource type not valid in this context: {parts[5]}'")


def check_input(text: Any) -> None:
    """Raise Refused for an execution's input that is no JSON, or too large."""
    if not isinstance(text, str) or not text.strip():
        raise Refused("InvalidExecutionInput", "Invalid State Machine Execution Input: 'Invalid execution input.'")
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_DATA:
        raise invalid(text, "input", f"Member must have length less than or equal to {LARGEST_DATA}")
    problem = json_problem(text)
    if problem is not None:
        words = f"Invalid State Machine Execution Input: '{problem.message}'"
        raise Refused("InvalidExecutionInput", words)


@dataclass(frozen=True)
class JsonProblem:
    """What a JSON reader stumbled over; line and column count from 1."""

    message: str
    line: int
    column: int


def json_problem(text: str) -> JsonProblem | None:
    """Why a text is no JSON, in the words of the reader that AWS uses; None when it is."""
    try:
        json.loads(text, parse_constant=_no_constant)
        return None
    except json.JSONDecodeError as problem:
        return JsonProblem(_words(text, problem), problem.lineno, _column(text, problem))
    except RecursionError:
        return JsonProblem("Document nesting depth exceeds the maximum allowed", 1, 1)
    except ValueError as problem:
        return JsonProblem(str(problem), 1, 1)


def _no_constant(name: str) -> Any:
    raise ValueError(f"Non-standard token '{name}': enable JsonParser.Feature.ALLOW_NON_NUMERIC_NUMBERS to allow")


_TOKEN = re.compile(r"[\w$]+")


def _words(text: str, problem: json.JSONDecodeError) -> str:
    if problem.pos >= len(text):
        return "Unexpected end-of-input"
    if problem.msg.startswith("Unterminated string"):
        return "Unexpected end-of-input: was expecting closing quote for a string value"
    letter = text[problem.pos]
    token = _TOKEN.match(text, problem.pos)
    if problem.msg.startswith("Expecting value") and token:
        return f"Unrecognized token '{token.group()}': was expecting {_VALUES}"
    expected = next((words for start, words in _EXPECTED.items() if problem.msg.startswith(start)), "")
    return f"Unexpected character ('{letter}' (code {ord(letter)})): {expected or problem.msg}"


_EXPECTED = {
    "Expecting value": f"expected a valid value {_VALUES}",
    "Expecting property name": "was expecting double-quote to start field name",
    "Illegal trailing comma": "was expecting double-quote to start field name",
    "Expecting ':'": "was expecting a colon to separate field name and value",
    "Expecting ','": "was expecting comma to separate entries",
    "Extra data": "expected the end of the input",
}


def _column(text: str, problem: json.JSONDecodeError) -> int:
    """The reader of AWS counts behind what it read: a token ends the column it names."""
    token = _TOKEN.match(text, problem.pos)
    return problem.colno + (len(token.group()) if token else 1)
