"""Layers of functions: what is uploaded is checked, and a deleted version stays while a function has it.

"To avoid breaking functions, a copy of the version remains in Lambda until no functions refer to it" (API Reference of
Lambda, DeleteLayerVersion). moto forgets it at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .boundary import Boundary
from .deployment import BadArchive, check_archive
from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .responses import Response, error
from .uploaded_code import uploaded

if TYPE_CHECKING:
    from moto.awslambda.models import LambdaFunction, LayerVersion


class Layers:
    """The layers of one account; registers itself at the boundary."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self._kept: dict[str, LayerVersion] = {}
        boundary.before("lambda", "PublishLayerVersion", self._check)
        boundary.before("lambda", "DeleteLayerVersion", self._keep)

    def archives(self, function: LambdaFunction) -> list[bytes]:
        """The archives of a function's layers, in their order. For use inside the boundary's lock."""
        versions = (self._version(layer["Arn"]) for layer in function.layers)
        return [version.code_bytes for version in versions if version is not None]

    def _version(self, arn: str) -> LayerVersion | None:
        from moto.awslambda.models import lambda_backends

        return lambda_backends[ACCOUNT_ID][REGION].layers_versions_by_arn(arn) or self._kept.get(arn)

    def _check(self, exchange: Exchange) -> Response | None:
        try:
            data = uploaded(exchange.parameters.get("Content") or {}, self._boundary.lock)
            if data is not None:
                check_archive(data)
        except BadArchive as problem:
            return error(exchange, "InvalidParameterValueException", str(problem))
        return None

    def _keep(self, exchange: Exchange) -> None:
        """Before a version is deleted: remember those that functions have, and no others."""
        from moto.awslambda.models import lambda_backends

        functions = lambda_backends[ACCOUNT_ID][REGION].list_functions("ALL")
        used = {layer["Arn"] for function in functions for layer in function.layers}
        self._kept = {arn: version for arn in used if (version := self._version(arn)) is not None}
