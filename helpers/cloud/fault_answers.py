"""What a service says when it is over its rate, when it fails, and when it refuses: codes and statuses by service.

Sources: the AWS API references' pages "Common errors" and the error lists of the operations; the shapes and HTTP
statuses of botocore's service models; for DynamoDB the Developer Guide, "Error handling with DynamoDB" and
"Troubleshooting throttling"; for S3 the API reference, "Error responses". The sentences for SQS and for tables on
demand are those in published error reports.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .responses import Response, error


class Failure(NamedTuple):
    """An error code, its sentence and its HTTP status."""

    code: str
    message: str
    status: int


_RATE = "Rate exceeded"
_UNKNOWN = "The request processing has failed because of an unknown error, exception or failure."

_OVER_PROVISIONED = Failure(
    "ProvisionedThroughputExceededException",
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API.",
    400,
)
_OVER_ON_DEMAND = Failure(
    "ThrottlingException",
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or "
    "index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html",
    400,
)

THROTTLED = {
    "sqs": Failure("RequestThrottled", "Request is throttled.", 403),
    "lambda": Failure("TooManyRequestsException", "Rate Exceeded.", 429),
    "s3": Failure("SlowDown", "Please reduce your request rate.", 503),
    "iam": Failure("Throttling", _RATE, 400),
    "sts": Failure("Throttling", _RATE, 400),
    "sns": Failure("Throttled", _RATE, 429),
    "events": Failure("ThrottlingException", _RATE, 400),
    "logs": Failure("ThrottlingException", _RATE, 400),
    "states": Failure("ThrottlingException", _RATE, 400),
}
"""The answer of a service that is over its rate. DynamoDB's depends on the table: see `throttled`."""

FAILED = {
    "dynamodb": Failure("InternalServerError", "Internal server error", 500),
    "sqs": Failure("InternalFailure", _UNKNOWN, 500),
    "lambda": Failure("ServiceException", "An error occurred and the request cannot be processed.", 500),
    "s3": Failure("InternalError", "We encountered an internal error. Please try again.", 500),
    "iam": Failure("ServiceFailure", _UNKNOWN, 500),
    "sts": Failure("InternalFailure", _UNKNOWN, 500),
    "sns": Failure("InternalError", "Internal service error.", 500),
    "events": Failure("InternalException", "An internal error occurred.", 500),
    "logs": Failure("ServiceUnavailableException", "The service cannot complete the request.", 500),
    "states": Failure("InternalFailure", _UNKNOWN, 500),
}
"""The answer of a service that fails inside."""

UNAVAILABLE = {
    "s3": Failure("ServiceUnavailable", "Service is unable to handle request.", 503),
    "dynamodb": Failure("ServiceUnavailable", "DynamoDB is currently unavailable.", 503),
}
"""The answer of a service with the status 503, where it has a sentence of its own."""

_OTHERS_THROTTLED = Failure("ThrottlingException", _RATE, 400)
_OTHERS_FAILED = Failure("InternalFailure", _UNKNOWN, 500)
_OTHERS_UNAVAILABLE = Failure(
    "ServiceUnavailable", "The request has failed due to a temporary failure of the server.", 503
)


def throttled(exchange: Exchange) -> Response:
    """Refuse a call as its service does when it is over its rate.

    A table with provisioned throughput and one on demand answer with different codes; a call that names no table
    (ListTables, CreateTable) is over the rate of the account.
    """
    if exchange.service == "dynamodb":
        mode = _billing_mode(exchange)
        failure = {"PAY_PER_REQUEST": _OVER_ON_DEMAND, "": _OTHERS_THROTTLED}.get(mode, _OVER_PROVISIONED)
    else:
        failure = THROTTLED.get(exchange.service, _OTHERS_THROTTLED)
    more: dict[str, Any] = {"Reason": "CallerRateLimitExceeded"} if exchange.service == "lambda" else {}
    return error(exchange, *failure, **more)


def failed(exchange: Exchange, status: int = 500) -> Response:
    """Answer that the service failed inside (500) or cannot be reached at the moment (503)."""
    if status == 503:
        return error(exchange, *UNAVAILABLE.get(exchange.service, _OTHERS_UNAVAILABLE))
    return error(exchange, *FAILED.get(exchange.service, _OTHERS_FAILED))


def never_came(exchange: Exchange) -> Response:
    """What stands for the answer of a call that never reached its service. Nobody is left to read it."""
    exchange.notes["never came"] = True
    return error(exchange, "ServiceUnavailable", "The caller is gone.", 503)


def hang_up(exchange: Exchange) -> None:
    """Close the connection of a call: what is answered from now on reaches nobody."""
    close = exchange.environ.get("once.hang_up")
    if close:
        close()


def status_of(service_model: str, code: str) -> int:
    """The HTTP status that a service's model names for an error code; 400 when it names none.

    "Common errors" gives AccessDenied in the services with XML and REST answers the status 403.
    """
    if code.startswith("AccessDenied") and service_model in {"sqs", "lambda", "s3", "iam", "sts", "sns"}:
        return 403
    for name, shape in _shapes(service_model).items():
        described = shape.get("error") or {}
        if shape.get("exception") and code in {name, described.get("code")}:
            return int(described.get("httpStatusCode") or (500 if shape.get("fault") else 400))
    return 400


@functools.cache
def _shapes(service_model: str) -> dict[str, Any]:
    from .aws_models import description

    model: dict[str, Any] = description(service_model)
    return {name: shape for name, shape in model["shapes"].items() if shape.get("exception")}


def _billing_mode(exchange: Exchange) -> str:
    """PROVISIONED or PAY_PER_REQUEST for the first table that a call names, empty when it names none."""
    from moto.dynamodb.models import dynamodb_backends

    from .fault_targets import resources

    known = dynamodb_backends[ACCOUNT_ID][REGION].tables
    for name in resources(exchange):
        if name in known:
            return str(known[name].billing_mode or "PROVISIONED")
    return ""
