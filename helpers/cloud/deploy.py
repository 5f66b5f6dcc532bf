"""A function in one call: code in, a deployed function with a role of its own out. For tests and experiments.

It does what a deployment on AWS does (CreateRole, PutRolePolicy, CreateFunction, and waiting until the function is
Active) through the API, so the function and its role can be changed with boto3 afterwards.
"""

from __future__ import annotations

import io
import json
import os
import textwrap
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .account import Cloud

Code = str | bytes | os.PathLike[str] | Mapping[str, str]

_LOGS = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
_LEFT_OUT = {"__pycache__", ".git", ".venv", ".pytest_cache"}


def archive(code: Code) -> bytes:
    """A ZIP of `code`: the text of ``app.py``, a folder, a mapping of file names to texts, or a ZIP as it is.

    Raises FileNotFoundError for a folder that is not there.
    """
    if isinstance(code, bytes):
        return code
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        if isinstance(code, os.PathLike):
            folder = Path(code)
            if not folder.is_dir():
                raise FileNotFoundError(f"{folder} is no folder with the code of a function")
            for path in sorted(folder.rglob("*")):
                inside = path.relative_to(folder)
                if path.is_file() and not _LEFT_OUT.intersection(inside.parts):
                    target.write(path, inside.as_posix())
        else:
            for name, text in ({"app.py": code} if isinstance(code, str) else code).items():
                target.writestr(name, textwrap.dedent(text))
    return packed.getvalue()


def deploy(
    cloud: Cloud,
    name: str,
    code: Code,
    may: Sequence[tuple[str | Sequence[str], str | Sequence[str]]] = (),
    variables: Mapping[str, str] | None = None,
    **settings: Any,
) -> str:
    """Create a function and wait until it is active; returns its ARN.

    `may` lists what its role may do beside writing its own logs, as pairs of actions and ARNs. `settings` are
    members of CreateFunction, for example ``Timeout=30``; the handler is ``app.handler``.
    """
    iam = cloud.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    role = iam.create_role(RoleName=f"{name}-role", AssumeRolePolicyDocument=_policy([trust]))["Role"]
    iam.attach_role_policy(RoleName=role["RoleName"], PolicyArn=_LOGS)
    if may:
        statements = [{"Effect": "Allow", "Action": actions, "Resource": resources} for actions, resources in may]
        iam.put_role_policy(RoleName=role["RoleName"], PolicyName="may", PolicyDocument=_policy(statements))
    functions = cloud.client("lambda")
    created = functions.create_function(
        **{
            "FunctionName": name,
            "Role": role["Arn"],
            "Runtime": "python3.12",
            "Handler": "app.handler",
            "Timeout": 10,
            "Code": {"ZipFile": archive(code)},
            "Environment": {"Variables": dict(variables or {})},
            **settings,
        }
    )
    functions.get_waiter("function_active_v2").wait(FunctionName=name)
    return str(created["FunctionArn"])


def _policy(statements: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
