"""Answers of the account in the protocol of the service that was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

from .exchange import Exchange

_XML_CODE = re.compile(rb"<Code>([^<]+)</Code>")


@dataclass
class Response:
    """An HTTP answer: a status, the body's bytes and the headers."""

    status: int = 200
    payload: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, members: Mapping[str, Any] | Iterable[Any] | None, status: int = 200, **headers: str) -> Response:
        """An answer whose body is JSON. `headers` are written with underscores for hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(members).encode(), {"Content-Type": "application/x-amz-json-1.0", **named})

    def json(self) -> Any:
        """The body read as JSON, an empty dict when there is none."""
        return json.loads(self.payload) if self.payload else {}

    def replace_json(self, members: Any) -> None:
        """Put other JSON in the place of the body."""
        self.payload = json.dumps(members).encode()

    def edit_json(self, members: Any) -> None:
        """Put other JSON in the place of moto's, whose length and checksum (which SDKs compare) no longer hold."""
        self.replace_json(members)
        stale = {"content-length", "x-amz-crc32"}
        self.headers = {name: value for name, value in self.headers.items() if name.lower() not in stale}

    @property
    def error(self) -> str | None:
        """The AWS error code of a failed answer, None when it did not fail."""
        if self.status < 400:
            return None
        named = next((value for name, value in self.headers.items() if name.lower() == "x-amzn-errortype"), "")
        if named:
            return named.partition(":")[0].rpartition("#")[2]
        try:
            kind = json.loads(self.payload).get("__type", "")
            return str(kind).rpartition("#")[2] or str(self.status)
        except (ValueError, AttributeError):
            found = _XML_CODE.search(self.payload)
            return found.group(1).decode() if found else str(self.status)


class Refused(Exception):
    """A request that AWS refuses; `answer` says it in the protocol of the request.

    `members` are further members of the error, such as S3's ArgumentName.
    """

    def __init__(self, code: str, message: str, status: int = 400, **members: str) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.members = code, message, status, members

    def answer(self, exchange: Exchange) -> Response:
        """The refusal as an answer to `exchange`."""
        return error(exchange, self.code, self.message, self.status, **self.members)


def refusing(check: Callable[[Exchange], None]) -> Callable[[Exchange], Response | None]:
    """A hook of the boundary that answers with what `check` raises as Refused."""

    def hook(exchange: Exchange) -> Response | None:
        try:
            check(exchange)
        except Refused as refused:
            return refused.answer(exchange)
        return None

    return hook


# The legacy codes that SQS's JSON answers carry beside the shape's name in x-amzn-query-error
# (SQS Developer Guide, "Differences between AWS JSON protocol and AWS query protocol").
_SQS_SHAPES = {
    "AccessDenied": "AccessDeniedException",
    "AWS.SimpleQueueService.NonExistentQueue": "QueueDoesNotExist",
    "QueueAlreadyExists": "QueueNameExists",
}
_SQS_PREFIX = "AWS.SimpleQueueService."


def error(exchange: Exchange, code: str, message: str, status: int = 400, **members: Any) -> Response:
    """A failed answer in the protocol of the request. `members` are further members of a JSON error."""
    if exchange.is_json:
        shape = _SQS_SHAPES.get(code, code.removeprefix(_SQS_PREFIX)) if exchange.service == "sqs" else code
        key = "Message" if exchange.service == "dynamodb" and code.startswith("AccessDenied") else "message"
        response = Response.of_json({"__type": shape, key: message, **members}, status)
        if exchange.service == "sqs":
            response.headers["x-amzn-query-error"] = f"{code};{'Sender' if status < 500 else 'Receiver'}"
        return response
    if exchange.service == "lambda":
        body = {"Type": "User" if status < 500 else "Service", "Message": message, "message": message, **members}
        return Response.of_json(body, status, x_amzn_ErrorType=code)
    if exchange.service == "s3":
        text = (
            f"<Error><Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
            + "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in members.items())
            + f"<RequestId>{exchange.request_id}</RequestId></Error>"
        )
    else:
        text = (
            f"<ErrorResponse><Error><Type>{'Sender' if status < 500 else 'Receiver'}</Type><Code>{escape(code)}</Code>"
            f"<Message>{escape(message)}</Message></Error><RequestId>{exchange.request_id}</RequestId></ErrorResponse>"
        )
    return Response(status, b'<?xml version="1.0" encoding="UTF-8"?>\n' + text.encode(), {"Content-Type": "text/xml"})
