"""Where an asynchronous event goes when its runs are over: a destination, the dead-letter queue, or nowhere.

Source: AWS Lambda Developer Guide, "Capturing records of Lambda asynchronous invocations" and "Adding a dead-letter
queue": a destination gets a record of the invocation, a dead-letter queue the event itself with three attributes. The
function's role must be allowed to send. Queues and functions are emulated as targets.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from . import permissions, sqs_queue
from .async_runs import AsyncEvent, Condition
from .environment import ACCOUNT_ID, REGION
from .lambda_runtime import RunResult

if TYPE_CHECKING:
    from .account import Cloud

Refusal = tuple[str, str]

_MOST_OF_MESSAGE = 1024
"""Bytes of the error's message in the attributes of a message in the dead-letter queue."""


def refusal_of_target(role: str, target: str, dead_letter: bool) -> Refusal | None:
    """Why a queue or a function cannot be the target for a function with this role; None when it can."""
    code, service = "InvalidParameterValueException", target.split(":")[2] if target.count(":") >= 5 else ""
    if service not in ({"sqs"} if dead_letter else {"sqs", "lambda"}):
        return code, f"Targets of {service or target} are not emulated, only queues and functions are."
    action = "sqs:SendMessage" if service == "sqs" else "lambda:InvokeFunction"
    if permissions.decide(role, action, target) != "allowed":
        operation = action.partition(":")[2]
        if dead_letter:
            return code, f"The provided execution role does not have permissions to call {operation} on SQS"
        return code, f"The function's execution role does not have permissions to call {operation} on {target}"
    if service == "sqs" and sqs_queue.find(target) is None:
        return code, f"The destination ARN {target} is invalid."
    return None


def deliver(
    account: Cloud,
    event: AsyncEvent,
    condition: Condition,
    settings: dict[str, Any],
    dead_letter: str,
    role: str,
    invoke: Callable[[str, bytes, str], None],
) -> None:
    """Send an event, or a record of it, to where the function's settings say. `invoke` runs a function later."""
    which = "OnSuccess" if condition == "Success" else "OnFailure"
    target = str(((settings.get("DestinationConfig") or {}).get(which) or {}).get("Destination") or "")
    if target:
        record = json.dumps(_record(condition, event, account.clock.now()))
        if ":sqs:" in target:
            _send(account, target, role, record, {})
        elif permissions.decide(role, "lambda:InvokeFunction", target) == "allowed":
            invoke(target, record.encode(), event.request_id)
    if dead_letter and condition != "Success":
        payload = event.payload.decode("utf-8", "replace")
        _send(account, dead_letter, role, payload, _attributes(event))


def _send(account: Cloud, arn: str, role: str, body: str, attributes: dict[str, Any]) -> None:
    """Send to a queue, if there is one and the role may; otherwise the event is lost, as on AWS."""
    if permissions.decide(role, "sqs:SendMessage", arn) != "allowed":
        return
    client = account.client("sqs")
    try:
        url = client.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
        client.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
    except client.exceptions.ClientError:
        return


def _attributes(event: AsyncEvent) -> dict[str, Any]:
    payload = json.loads(event.last.payload) if event.last else {}
    message = str(payload.get("errorMessage", "")) if isinstance(payload, dict) else ""
    shortened = message.encode()[:_MOST_OF_MESSAGE].decode("utf-8", "ignore") or "EventAgeExceeded"
    return {
        "RequestID": {"DataType": "String", "StringValue": event.request_id},
        "ErrorCode": {"DataType": "Number", "StringValue": "200"},
        "ErrorMessage": {"DataType": "String", "StringValue": shortened},
    }


def _record(condition: Condition, event: AsyncEvent, now: float) -> dict[str, Any]:
    arn = event.function
    if not arn.startswith("arn:"):
        arn = f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{arn}"
    if ":" not in arn.rpartition(":function:")[2]:
        arn += ":$LATEST"
    record: dict[str, Any] = {
        "version": "1.0",
        "timestamp": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
        "requestContext": {
            "requestId": event.request_id,
            "functionArn": arn,
            "condition": condition,
            "approximateInvokeCount": event.attempt,
        },
        "requestPayload": json.loads(event.payload),
    }
    return {**record, **_of_response(event.last)} if event.last else record


def _of_response(result: RunResult) -> dict[str, Any]:
    context: dict[str, Any] = {"statusCode": 200, "executedVersion": result.executed_version}
    if result.function_error:
        context["functionError"] = result.function_error
    return {"responseContext": context, "responsePayload": json.loads(result.payload)}
