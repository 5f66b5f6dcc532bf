"""What a client was told by an AWS error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError


def refusal(call: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
    """The error of a call that is refused: Code and Message, and HTTPStatusCode beside them."""
    with pytest.raises(ClientError) as refused:
        call(**arguments)
    response = refused.value.response
    return {**response["Error"], "HTTPStatusCode": response["ResponseMetadata"]["HTTPStatusCode"]}


def code_and_message(call: Callable[..., Any], **arguments: Any) -> tuple[str, str]:
    """Code and sentence of a call that is refused."""
    error = refusal(call, **arguments)
    return error["Code"], error["Message"]
