"""What a request did wrong when moto, or one of our own hooks, fell over it.

moto takes much of a request for granted and raises where AWS answers with an error. A request that breaks the
service's model, or that carries an expression which cannot be read, is the caller's mistake: status 400, which
SDKs do not retry. So is what moto itself stumbles over; a call that it does not know is not emulated (501, which
SDKs do not retry either). What is left is a failure of the account (500).
Codes: the common errors of the API references of DynamoDB, SQS, Lambda, IAM and S3.
"""

from __future__ import annotations

import functools
import json
import re
import traceback
from typing import Any
from urllib.parse import unquote_to_bytes

from .exchange import Exchange
from .responses import Response, error

_MODELS = {"states": "stepfunctions"}
"""Names of botocore's models that differ from the signing name."""

_EXPRESSIONS = ("ConditionExpression", "FilterExpression", "KeyConditionExpression", "UpdateExpression")


_CODES = {
    "sqs": "InvalidParameterValue",
    "lambda": "InvalidParameterValueException",
    "logs": "InvalidParameterException",
    "sns": "InvalidParameter",
    "s3": "InvalidRequest",
    "iam": "ValidationError",
    "sts": "ValidationError",
}
"""What a service calls a parameter that it cannot use; the others say ValidationException."""

_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")


def forbidden_text(exchange: Exchange) -> Response | None:
    """The refusal of a form (query protocol) with characters that no answer in XML could repeat.

    IAM, STS and SNS refuse them: "Member must satisfy regular expression pattern [\\u0009\\u000A\\u000D\\u0020-…]".
    """
    if not exchange.environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        return None
    if not _NOT_IN_XML.search(unquote_to_bytes(exchange.body)):
        return None
    code = "InvalidMessageContents" if exchange.service == "sqs" else _CODES.get(exchange.service, "ValidationError")
    return error(exchange, code, "The request contains characters that are not allowed.")


def readable(exchange: Exchange, response: Response) -> None:
    """Take characters out of an answer in XML that no program could read. An object of S3 stays as it is."""
    kind = next((value for name, value in response.headers.items() if name.lower() == "content-type"), "")
    if "xml" in kind and exchange.action != "GetObject" and _NOT_IN_XML.search(response.payload):
        response.payload = _NOT_IN_XML.sub(b"?", response.payload)
        response.headers = {name: text for name, text in response.headers.items() if name.lower() != "content-length"}


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
        found = _empty_value(exchange) or _unreadable_expression(exchange, problem)
    return found or _of_moto(exchange, problem)


def _of_moto(exchange: Exchange, problem: Exception) -> Response | None:
    """What moto itself could not do, or did not expect. None when the exception came of our own code."""
    if isinstance(problem, NotImplementedError):
        return error(exchange, "NotImplemented", f"{exchange.name} is not emulated.", 501)
    files = [frame.filename.replace("\\", "/") for frame in traceback.extract_tb(problem.__traceback__)]
    own = max((at for at, file in enumerate(files) if "/helpers/cloud/" in file), default=-1)
    if not any("/moto/" in file for file in files[own + 1 :]):
        return None
    if type(problem).__name__ == "ExpatError":
        return error(exchange, "MalformedXML", "The XML you provided was not well-formed.")
    what = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
    code = _CODES.get(exchange.service, "ValidationException")
    return error(exchange, code, f"The emulated account cannot use these parameters of {exchange.name} ({what}).")


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


@functools.cache
def _input_shape(service: str, action: str) -> Any:
    from botocore.exceptions import UnknownServiceError
    from botocore.model import OperationNotFoundError, ServiceModel, StructureShape

    from .aws_models import description

    name = _MODELS.get(service, service)
    try:
        operation = ServiceModel(description(name)).operation_model(action)
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
