"""Requests that a page in the learner's browser sends: they must not drive the account.

A page of any site can send requests to loopback, with or without its user's help, and through a host name of its own
that resolves to 127.0.0.1 (DNS rebinding). No SDK sends what gives a browser away. Following a link to an object in
S3 stays allowed: the site that has the link cannot read the answer, and a GET of an object changes nothing.
Source: Fetch Metadata Request Headers (W3C); RFC 9110, 7.2 and 10.1.5.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from .exchange import Environ

_MARKS = ("HTTP_ORIGIN", "HTTP_SEC_FETCH_SITE", "HTTP_SEC_FETCH_MODE", "HTTP_SEC_FETCH_DEST", "HTTP_SEC_WEBSOCKET_KEY")


def refused(environ: Environ, hosts: frozenset[str]) -> bool:
    """Whether the request asks for another host, or comes from a page that does more than follow a link.

    `hosts` are the only values of Host that programs send, as ``127.0.0.1:5000``.
    """
    if environ.get("HTTP_HOST", "") not in hosts:
        return True
    return _of_a_browser(environ) and not _follows_link(environ)


def _of_a_browser(environ: Environ) -> bool:
    # Older browsers send no Sec-Fetch headers, and no Origin with an image or a link; all call themselves Mozilla.
    return any(mark in environ for mark in _MARKS) or "Mozilla/" in environ.get("HTTP_USER_AGENT", "")


def _follows_link(environ: Environ) -> bool:
    if environ.get("REQUEST_METHOD") not in {"GET", "HEAD"} or "HTTP_ORIGIN" in environ or environ.get("HTTP_UPGRADE"):
        return False
    typed = environ.get("HTTP_SEC_FETCH_SITE") == "none"
    if not typed and environ.get("HTTP_SEC_FETCH_MODE") != "navigate":
        return False
    # Actions of the query protocol can stand in the address.
    return not any(name == "Action" for name, _ in parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
