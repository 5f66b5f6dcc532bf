"""What moto works out again for each call and need not: names and the account; and the call's request id.

moto lists the methods of its response class, turns the action's name into a method's name and looks for the account
that an access key belongs to, every time with the same result. It also draws a random request id of its own; the
account has one id for a call, which the journal and the caller see alike.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

from .environment import ACCOUNT_ID
from .places import Place

_KEPT = "Its answer depends on its argument only, and is kept."

PLACES = (
    Place("moto.core.utils", "method_names_from_class", "dffccc6df0b3d020", _KEPT),
    Place("moto.core.utils", "camelcase_to_underscores", "aac132104ee9c10d", _KEPT),
    Place(
        "moto.utilities.aws_headers",
        "gen_amzn_requestid_long",
        "77761647bb0cba73",
        "The id of the call at the boundary replaces it in moto.core.responses.",
    ),
    Place(
        "moto.core.responses",
        "BaseResponse.get_current_account",
        "d8eec1a5ed66431a",
        "It must ask MOTO_ACCOUNT_ID first: then it does not look at the access keys of all partitions.",
    ),
)
"""What is replaced or relied on; patches.py verifies it."""

ENVIRONMENT = {"MOTO_ACCOUNT_ID": ACCOUNT_ID}
"""moto's own setting for the one account that there is."""

_current = "00000000-0000-0000-0000-000000000000"


_ids = random.Random()


def new_request_id() -> str:
    """A UUID for a call or a run. Not from the system's source of randomness: nobody has to be unable to guess it."""
    bits = f"{_ids.getrandbits(128):032x}"
    return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:]}"


def begin(request_id: str) -> None:
    """Say which call moto answers from now on. Hold the boundary's lock."""
    global _current
    _current = request_id


def request_id(headers: dict[str, Any] | None = None) -> str:
    """The id of the call that moto answers, put into `headers`: what moto's gen_amzn_requestid_long does."""
    if isinstance(headers, dict):
        headers["x-amzn-requestid"] = _current
    return _current


def replacements() -> list[tuple[Any, str, Callable[..., Any]]]:
    """What is replaced: where, under which name, by what."""
    from moto.core import responses, utils

    return [
        (responses, "method_names_from_class", functools.cache(utils.method_names_from_class)),
        # Actions come from requests, so what is kept of them is bounded.
        (responses, "camelcase_to_underscores", functools.lru_cache(1024)(utils.camelcase_to_underscores)),
        (responses, "gen_amzn_requestid_long", request_id),
    ]
