"""What an HTTP request asks for: service, action and parameters, whatever protocol the service speaks.

AWS services speak one of four protocols here: JSON with an ``X-Amz-Target`` header (SQS, DynamoDB, Step
Functions, Logs, EventBridge), query (IAM, STS, SNS), REST with JSON (Lambda) and REST with XML (S3). The REST
routes are read from the service models that botocore ships.
"""

from __future__ import annotations

import functools
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode

from .journal import LEARNER, Caller

Environ = dict[str, Any]

LARGEST_BODY = 96 * 1024 * 1024
"""Bytes. The largest legitimate body is a ZIP of 50 MB in base64 (Lambda's documented quota)."""

_CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/\d+/([^/]+)/([^/]+)/aws4_request")


class BodyTooLarge(Exception):
    """The request's body is larger than `LARGEST_BODY`."""


@dataclass
class Exchange:
    """One request at the API boundary, and what was found out about it.

    `service` is the name used in signatures (sqs, dynamodb, lambda, states, iam, s3, logs, …), `action` the API's name
    of the operation, empty when it is unknown. `parameters` are the parsed members of the request.
    """

    environ: Environ
    body: bytes
    service: str
    action: str
    parameters: dict[str, Any]
    caller: Caller
    request_id: str
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The call as ``service:Action``."""
        return f"{self.service}:{self.action}"

    @property
    def is_json(self) -> bool:
        """Whether the request is in the JSON protocol with a target header."""
        return "HTTP_X_AMZ_TARGET" in self.environ

    def header(self, name: str) -> str:
        """The value of a request header, empty when it is missing."""
        return str(self.environ.get("HTTP_" + name.upper().replace("-", "_"), ""))


def read_body(environ: Environ) -> bytes:
    """Read the whole body. Raises BodyTooLarge before reading more than `LARGEST_BODY` bytes."""
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH")
    if not length:
        chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
        body = stream.read(LARGEST_BODY + 1) if chunked else b""
    else:
        if not length.isdigit() or int(length) > LARGEST_BODY:
            raise BodyTooLarge(length)
        body = stream.read(int(length))
    if len(body) > LARGEST_BODY:
        raise BodyTooLarge(str(len(body)))
    return bytes(body)


def parse(environ: Environ, body: bytes, request_id: str, caller_of: Callable[[str], Caller]) -> Exchange:
    """Read a request. `caller_of` tells who holds an access key."""
    signed = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", "")) or _presigned(environ)
    access_key, service = (signed.group(1), signed.group(3)) if signed else ("", "")
    target = environ.get("HTTP_X_AMZ_TARGET", "")
    parameters: dict[str, Any] = {}
    action = ""
    if target:
        action = target.rpartition(".")[2]
        service = service or _SERVICE_OF_TARGET.get(target.partition(".")[0], "")
        parameters = _json_object(body)
    elif environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
        parameters = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        action = parameters.pop("Action", "")
    else:
        service = service or _service_of_path(environ.get("PATH_INFO", ""))
        action, parameters = _rest(service, environ, body)
    caller = caller_of(access_key) if access_key else LEARNER
    return Exchange(environ, body, service.lower(), action, parameters, caller, request_id)


def with_parameters(exchange: Exchange, changes: Mapping[str, Any]) -> bytes:
    """The body of a JSON or query request with some members replaced."""
    if exchange.is_json:
        return json.dumps({**exchange.parameters, **changes}).encode()
    fields = dict(parse_qsl(exchange.body.decode("utf-8", "replace"), keep_blank_values=True))
    return urlencode({**fields, **{name: str(value) for name, value in changes.items()}}).encode()


def environ_with_body(environ: Environ, body: bytes) -> Environ:
    """A copy of `environ` from which `body` can be read."""
    return {**environ, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "wsgi.input_terminated": True}


_SERVICE_OF_TARGET = {
    "AmazonSQS": "sqs",
    "DynamoDB_20120810": "dynamodb",
    "AWSStepFunctions": "states",
    "Logs_20140328": "logs",
    "AWSEvents": "events",
}


def _presigned(environ: Environ) -> re.Match[str] | None:
    query = environ.get("QUERY_STRING", "")
    if "X-Amz-Credential" not in query:
        return None
    credential = parse_qs(query).get("X-Amz-Credential", [""])[0]
    return _CREDENTIAL.search(f"Credential={credential}")


def _service_of_path(path: str) -> str:
    if re.match(r"/20\d\d-\d\d-\d\d/(functions|event-source-mappings|layers|tags)", path):
        return "lambda"
    return "s3"


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class _Route:
    action: str
    path: re.Pattern[str]
    query: frozenset[str]
    headers: frozenset[str]
    literal: int


@functools.lru_cache(64)  # the name comes from the request
def _routes(service: str) -> dict[str, list[_Route]]:
    """The REST routes of a service by HTTP method, the most specific first."""
    from .aws_models import description

    try:
        model = description(service)
    except Exception:  # botocore knows no such service: then no action can be named, and moto answers
        return {}
    routes: dict[str, list[_Route]] = {}
    in_use = {action: operation for action, operation in model["operations"].items() if not operation.get("deprecated")}
    for action, operation in in_use.items():
        http = operation["http"]
        path, _, query = http["requestUri"].partition("?")
        pattern = re.sub(r"\\\{(\w+)(\\\+)?\\\}", _path_member, re.escape(path.rstrip("/")))
        shape = model["shapes"].get(operation.get("input", {}).get("shape"), {})
        names = frozenset(parse_qs(query, keep_blank_values=True)) | _required_query(shape)
        headers = _required_headers(shape)
        route = _Route(action, re.compile(pattern + "/?"), names, headers, len(re.sub(r"\{[^}]*\}", "", path)))
        routes.setdefault(http["method"], []).append(route)
    for several in routes.values():
        several.sort(key=lambda route: (-len(route.query), -route.literal, -len(route.headers)))
    return routes


def _required_query(shape: dict[str, Any]) -> frozenset[str]:
    """The query parameters that a call must have: AbortMultipartUpload is a DeleteObject with one more."""
    members = [shape["members"][name] for name in shape.get("required", ())]
    return frozenset(member["locationName"] for member in members if member.get("location") == "querystring")


def _required_headers(shape: dict[str, Any]) -> frozenset[str]:
    """The request headers that a call must have, as WSGI names them: CopyObject is a PutObject with one more."""
    members = [shape["members"][name] for name in shape.get("required", ())]
    names = [member.get("locationName", "") for member in members if member.get("location") == "header"]
    return frozenset("HTTP_" + name.upper().replace("-", "_") for name in names)


def _path_member(match: re.Match[str]) -> str:
    return rf"(?P<{match.group(1)}>{'.+' if match.group(2) else '[^/]+'})"


def _rest(service: str, environ: Environ, body: bytes) -> tuple[str, dict[str, Any]]:
    query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    # As it was sent: a key with "%41" in it comes as "%2541", and must be unquoted once only.
    path = (environ.get("RAW_URI") or quote(environ.get("PATH_INFO", ""), encoding="latin-1")).partition("?")[0]
    for route in _routes(service).get(environ.get("REQUEST_METHOD", "GET"), []):
        if not (route.query <= query.keys() and route.headers <= environ.keys()):
            continue
        found = route.path.fullmatch(path)
        if found:
            members = {name: unquote(value) for name, value in found.groupdict().items()}
            content = (
                _json_object(body) if service == "lambda" and route.action not in {"Invoke", "InvokeAsync"} else {}
            )
            return route.action, {**query, **content, **members}
    return "", query
