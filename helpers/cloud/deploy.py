"""A function in one call: code in, a deployed function with a role of its own out. For tests and experiments.

It does what a deployment on AWS does (CreateRole, PutRolePolicy, CreateFunction, and waiting until the function is
Active) through the API, so the function and its role can be changed with boto3 afterwards.
"""

from __future__ import annotations

import contextlib
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
_RIGHTS = "may"
_TRUST = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
_LEFT_OUT = {"__pycache__", ".git", ".venv", ".pytest_cache"}


def archive(code: Code) -> bytes:
    """A ZIP of `code`: the text of ``app.py``, a folder, a mapping of file names to texts, or a ZIP as it is.

    Raises FileNotFoundError for a folder that is not there and TypeError for anything else.
    """
    if isinstance(code, bytes):
        return code
    if not isinstance(code, str | os.PathLike | Mapping):
        raise TypeError(
            f"code is {code!r}: a text, a folder (Path), a mapping of file names to texts, or a ZIP (bytes)"
        )
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
    members of CreateFunction, for example ``Timeout=30``; the handler is ``app.handler``. A role that is left from a
    function of this name, which has been deleted, is used again with these rights. Raises ValueError when the function
    is there already, and what CreateFunction raises; then no new role is left behind.
    """
    packed, statements = archive(code), _statements(may)
    iam, functions = cloud.client("iam"), cloud.client("lambda")
    with contextlib.suppress(functions.exceptions.ResourceNotFoundException):
        functions.get_function_configuration(FunctionName=name)
        raise ValueError(f"{name} is deployed already: delete it first, or change it with UpdateFunctionCode")
    role, made = f"{name}-role", True
    try:
        iam.create_role(RoleName=role, AssumeRolePolicyDocument=_policy([_TRUST]))
    except iam.exceptions.EntityAlreadyExistsException:
        made = False
    try:
        iam.attach_role_policy(RoleName=role, PolicyArn=_LOGS)
        if statements:
            iam.put_role_policy(RoleName=role, PolicyName=_RIGHTS, PolicyDocument=_policy(statements))
        elif not made:
            with contextlib.suppress(iam.exceptions.NoSuchEntityException):
                iam.delete_role_policy(RoleName=role, PolicyName=_RIGHTS)
        created = functions.create_function(
            **{
                "FunctionName": name,
                "Role": iam.get_role(RoleName=role)["Role"]["Arn"],
                "Runtime": "python3.12",
                "Handler": "app.handler",
                "Timeout": 10,
                "Code": {"ZipFile": packed},
                "Environment": {"Variables": dict(variables or {})},
                **settings,
            }
        )
    except BaseException:
        if made:
            _remove_role(iam, role)
        raise
    functions.get_waiter("function_active_v2").wait(FunctionName=name)
    return str(created["FunctionArn"])


def _statements(may: Sequence[tuple[str | Sequence[str], str | Sequence[str]]]) -> list[Mapping[str, Any]]:
    given: Sequence[Any] = may  # what a learner wrote may be a text, or hold texts
    pairs = [] if isinstance(given, str) else [pair for pair in given if not isinstance(pair, str) and len(pair) == 2]
    if len(pairs) != len(given):
        raise ValueError(f"may is {may!r}: a list of pairs, each with actions and ARNs: [('sqs:SendMessage', arn)]")
    return [{"Effect": "Allow", "Action": actions, "Resource": resources} for actions, resources in pairs]


def _remove_role(iam: Any, role: str) -> None:
    for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        iam.delete_role_policy(RoleName=role, PolicyName=policy)
    for attached in iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
        iam.detach_role_policy(RoleName=role, PolicyArn=attached["PolicyArn"])
    iam.delete_role(RoleName=role)


def _policy(statements: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
