"""What a request did wrong when moto, or one of our own hooks, fell over it.

moto takes much of a request for granted and raises where AWS answers with an error. A request that breaks the
service's model, or that carries an expression which cannot be read, is the caller's mistake: status 400, which
SDKs do not retry. What is left is a failure of the account (500).
Codes: the common errors of the API references of DynamoDB, SQS and Lambda.
"""

from __future__ import annotations

import functools
import json
import traceback
from typing import Any

from .exchange import Exchange
from .responses import Response, error

_MODELS = {"states": "stepfunctions"}
"""Names of botocore's models that differ from the signing name."""

_EXPRESSIONS = ("ConditionExpression", "FilterExpression", "KeyConditionExpression", "UpdateExpression")


def refusal(exchange: Exchange, problem: Exception) -> Response | None:
    """AWS's answer to a request that `problem` came of; None when the request seems to be in order."""
    if isinstance(problem, UnicodeError):
        # A lone surrogate is JSON, but no text in UTF-8.
        code = "InvalidMessageContents" if exchange.service == "sqs" else "SerializationException"
        return error(exchange, code, "The request contains characters that are not allowed.")
    if exchange.is_json and not _is_object(exchange.body):
        return error(exchange, "SerializationException", "The request's body is not a JSON object.")
    shape = _input_shape(exchange.service, exchange.action)
    if shape is None and exchange.action:
        code = "UnknownOperationException" if exchange.is_json else "InvalidAction"
        return error(exchange, code, f"The action {exchange.action} is not valid for this endpoint.")
    # The parameters of the other protocols are not in the model's form.
    in_form = exchange.is_json or exchange.service == "lambda"
    found = _violation(exchange, shape) if in_form and shape is not None else None
    if found is None and exchange.service == "dynamodb":
        return _empty_value(exchange) or _unreadable_expression(exchange, problem)
    return found


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


@functools.cache
def _input_shape(service: str, action: str) -> Any:
    from botocore.exceptions import UnknownServiceError
    from botocore.loaders import Loader
    from botocore.model import OperationNotFoundError, ServiceModel, StructureShape

    name = _MODELS.get(service, service)
    try:
        operation = ServiceModel(Loader().load_service_model(name, "service-2")).operation_model(action)
    except (UnknownServiceError, OperationNotFoundError, ValueError):
        return None
    return operation.input_shape or StructureShape("nothing", {"type": "structure", "members": {}})


def _violation(exchange: Exchange, shape: Any) -> Response | None:
    from botocore.validate import ParamValidator

    report = ParamValidator().validate(exchange.parameters, shape)
    if not report.has_errors():
        return None
    sentence = report.generate_report().replace("\n", "; ")
    missing = all(line.startswith("Missing required") for line in report.generate_report().splitlines())
    if not missing:
        return error(exchange, "SerializationException", sentence)
    return error(exchange, "MissingParameter" if exchange.service == "sqs" else "ValidationException", sentence)


def _empty_value(exchange: Exchange) -> Response | None:
    """``{"id": {}}``: a value without a type."""
    named = [exchange.parameters.get(name) for name in ("Item", "Key", "ExpressionAttributeValues")]
    if not any(value == {} for members in named if isinstance(members, dict) for value in members.values()):
        return None
    sentence = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    return error(exchange, "ValidationException", sentence)


def _unreadable_expression(exchange: Exchange, problem: Exception) -> Response | None:
    """A condition with a mistake in it: moto's parser raises ValueError and the like."""
    frames = traceback.extract_tb(problem.__traceback__)
    given = [name for name in _EXPRESSIONS if name in exchange.body.decode("utf-8", "replace")]
    parsing = any("moto/dynamodb/" in frame.filename.replace("\\", "/") for frame in frames)
    if not parsing or not given:
        return None
    near = " ".join(str(problem).split()) or type(problem).__name__
    return error(exchange, "ValidationException", f"Invalid {given[0]}: Syntax error; {near}")
