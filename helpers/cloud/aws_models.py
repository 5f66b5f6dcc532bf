"""The models of AWS's services that botocore ships, as moto has read them already: each takes 20 ms and some MB."""

from __future__ import annotations

from typing import Any


def description(service: str) -> dict[str, Any]:
    """A service's model as JSON has it; `service` is botocore's name, such as ``stepfunctions``. Change nothing in it.

    Raises botocore's UnknownServiceError.
    """
    from moto.core.utils import get_service_model

    model: dict[str, Any] = get_service_model(service)._service_description
    return model
