"""moto's answer to a call of the JSON protocol, without the way through Flask.

moto's server finds the service of each request with regular expressions over all of its services, opens the
contexts of a Flask application, matches the path and builds a response twice. For SQS and DynamoDB, which are nearly
all calls of an order flow, that is half of the time of a call. Their paths are fixed (``/`` and a target header), so
the same response class can be asked at once, with the same request object. `tests/cloud/test_direct.py` compares
both ways, errors and headers included. It needs no socket: an environ goes in, an answer comes out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse

from botocore.exceptions import ClientError
from moto.core.request import Request
from moto.moto_api import recorder
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import HTTPException

from .boundary import Application
from .exchange import Environ
from .places import Place

_WHY = "helpers/cloud/direct.py does the same without Flask."

PLACES = (
    Place("moto.core.utils", "convert_to_flask_response.__call__", "2ac0eb76ffcb4978", _WHY),
    Place(
        "moto.moto_server.werkzeug_app",
        "DomainDispatcherApplication.infer_service_region_host",
        "92a102b5945412f6",
        _WHY,
    ),
    Place(
        "moto.moto_server.werkzeug_app",
        "DomainDispatcherApplication.get_backend_for_host",
        "d743b616aedfb9dd",
        "Its answer depends on its argument only, and is kept.",
    ),
    Place("moto.moto_server.werkzeug_app", "BackendRequest", "466c94a33cde5b29", _WHY),
    Place("moto.core.responses", "BaseResponse.setup_class", "f0c0754bc1e74d7c", _WHY),
)
"""What is relied on; patches.py verifies it."""

_SIGNED = {"AmazonSQS": "/sqs/aws4_request", "DynamoDB_20120810": "/dynamodb/aws4_request"}
"""The services that are asked without Flask, by the beginning of their targets, and how their calls are signed."""

_NOTHING: ImmutableMultiDict[str, Any] = ImmutableMultiDict()

_Dispatch = Callable[[Request, str, dict[str, str]], Any]


class _Request(Request):
    """A request whose body is there already, and which has no form."""

    from_wsgi_server = True

    def __init__(self, environ: Environ, body: bytes) -> None:
        super().__init__(environ, populate_request=False)
        # werkzeug computes them when they are asked for, and keeps them under these names.
        self.__dict__.update(data=body, form=_NOTHING, files=_NOTHING)

    @property
    def raw_url(self) -> str:
        return f"{self.scheme}://{self.host}/"


class Direct:
    """WSGI application: asks moto's response classes itself where it can, else `moto`, its own application."""

    def __init__(self, moto: Application) -> None:
        from moto.dynamodb.urls import url_paths as dynamodb
        from moto.sqs.urls import url_paths as sqs

        self._moto = moto
        self._dispatch: dict[str, _Dispatch] = {"AmazonSQS": sqs["{0}/$"], "DynamoDB_20120810": dynamodb["{0}/"]}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        service = environ.get("HTTP_X_AMZ_TARGET", "").partition(".")[0]
        if service not in self._dispatch or not _is_plain(service, environ):
            return self._moto(environ, start_response)
        request = _Request(environ, environ["wsgi.input"].read())
        environ["wsgi.input"].seek(0)
        recorder._record_request(request)
        try:
            status, headers, content = self._dispatch[service](request, request.raw_url, dict(request.headers))
        except ClientError as problem:
            status, headers, content = 400, {}, problem.response["Error"]["Message"]
        except HTTPException as problem:
            return problem.get_response(environ)(environ, start_response)
        payload = content if isinstance(content, bytes) else content.encode()
        named = {"Content-Type": "text/html; charset=utf-8", **headers, "Content-Length": len(payload)}
        start_response(f"{status} ", [(name, str(value)) for name, value in named.items()])
        return [payload]


def moto_application() -> Direct:
    """moto's WSGI application, with the shorter way."""
    moto = DomainDispatcherApplication(create_backend_app)
    # Hosts come from requests, so what is kept of them is bounded. A method of this one object is replaced.
    moto.get_backend_for_host = functools.lru_cache(256)(moto.get_backend_for_host)  # type: ignore[method-assign]
    return Direct(moto)


def _is_plain(service: str, environ: Environ) -> bool:
    """Whether moto's application would end at the service's one response class, and read the body as it is."""
    return (
        environ.get("REQUEST_METHOD") == "POST"
        and environ.get("PATH_INFO") == environ.get("RAW_URI") == "/"
        and environ.get("CONTENT_TYPE", "").startswith("application/x-amz-json-1.0")
        and _SIGNED[service] in environ.get("HTTP_AUTHORIZATION", "")
        and "HTTP_CONTENT_ENCODING" not in environ
    )
