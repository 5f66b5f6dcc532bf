"""Batches in which some entries cannot succeed: they fail one by one, and moto gets the others.

SQS API Reference, "SendMessageBatch" and "DeleteMessageBatch": the result of each entry is reported by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .boundary import Boundary
from .exchange import Exchange, with_parameters
from .responses import Refused, Response
from .sqs_request import entries

Check = Callable[[dict[str, Any]], None]
"""Raises Refused for an entry that fails."""


def answer(boundary: Boundary, exchange: Exchange, check: Check) -> Response:
    """Let moto answer for the entries that pass `check`; the others are in the answer's list `Failed`.

    The query protocol's answers are XML, and only old SDKs read them: there the first failure is that of the batch.
    """
    failed: list[dict[str, Any]] = []
    passed: list[dict[str, Any]] = []
    with boundary.lock:
        for entry in entries(exchange):
            try:
                check(entry)
                passed.append(entry)
            except Refused as refused:
                if not exchange.is_json:
                    return refused.answer(exchange)
                reason = {"Code": refused.code, "Message": refused.message, "SenderFault": True}
                failed.append({"Id": entry.get("Id"), **reason})
        if not failed:
            return boundary.ask_moto(exchange)
        if passed:
            response = boundary.ask_moto(exchange, with_parameters(exchange, {"Entries": passed}))
        else:
            response = Response.of_json({"Successful": [], "Failed": []})
    if response.status < 400:
        members = response.json()
        order = {entry.get("Id"): place for place, entry in enumerate(entries(exchange))}
        members["Failed"] = sorted([*members.get("Failed", []), *failed], key=lambda one: order[one["Id"]])
        response.edit_json(members)
    return response
