"""The environment that leads boto3, the AWS CLI and deployed functions to the emulated account.

Nothing of a real account of the machine can be read or used: its profiles, keys, config files, metadata
service and endpoints are replaced or switched off.
Source of the names: AWS SDKs and Tools Reference Guide, "Environment variables support".
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from shutil import which
from typing import Any

from helpers.aws_cli import CONFIG

REGION = "us-east-1"
ACCOUNT_ID = "123456789012"
LEARNER_ACCESS_KEY = "AKIAONCELEARNER00001"
"""An access key that exists in no real account: it names the learner at the API boundary, nothing else."""


_NO_PROXY = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
"""A proxy of the machine is not asked for loopback addresses."""


def of_account(endpoint: str, empty_file: str = os.devnull) -> dict[str, str]:
    """The variables for a program that shall use the account at `endpoint` (``http://127.0.0.1:PORT``)."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": LEARNER_ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": "emulated",
        "AWS_SESSION_TOKEN": "emulated",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": empty_file,
        "AWS_SHARED_CREDENTIALS_FILE": empty_file,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        # StartSyncExecution would go to a host sync-127.0.0.1, which does not exist.
        "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
        **_NO_PROXY,
    }


def of_terminal(endpoint: str, path: str) -> dict[str, str]:
    """The variables of `of_account` for a program that may call the AWS CLI; `path` is its PATH.

    Where the AWS CLI is installed beside this Python, it is the one that is found, and it needs no `--endpoint-url`:
    its config file names a plugin (helpers.aws_cli), which no other AWS CLI could import.
    """
    variables = of_account(endpoint)
    if folder := cli_folder():
        variables["AWS_CONFIG_FILE"] = str(CONFIG)
        variables["PATH"] = os.pathsep.join(filter(None, (folder, path)))
    return variables


def cli_folder() -> str | None:
    """Where the AWS CLI of this Python is; None where it is not installed."""
    folder = sysconfig.get_path("scripts")
    return folder if which("aws", path=folder) else None


def is_foreign(name: str) -> bool:
    """Whether a variable could lead an SDK to another account, so that it must go away."""
    return name.upper().startswith("AWS_") or name.upper() == "BOTO_CONFIG"


class Installed:
    """The variables of an account put into a mapping such as `os.environ`; `restore` takes them out again."""

    def __init__(self, variables: Mapping[str, str], environ: MutableMapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._before = {name: environ[name] for name in [*environ] if is_foreign(name) or name in variables}
        self._added = [*variables]
        for name in self._before:
            del environ[name]
        environ.update(variables)
        for name in _NO_PROXY.keys() & self._added & self._before.keys():
            # What else must not go through the proxy is still the machine's business.
            environ[name] = ",".join(filter(None, (variables[name], self._before[name])))

    def restore(self) -> None:
        """Give the mapping the values that it had before."""
        for name in self._added:
            self._environ.pop(name, None)
        self._environ.update(self._before)


def forget_default_session() -> None:
    """Let ``boto3.client`` begin anew: its session keeps the profile and the keys of the environment it first saw.

    A profile with `ignore_configured_endpoint_urls` would lead it to a real account, whatever the variables say.
    """
    boto3: Any = sys.modules.get("boto3")
    if boto3 is not None:
        boto3.DEFAULT_SESSION = None


_isolation = threading.RLock()


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """For the length of the block no variable of the machine leads an SDK anywhere: no profile, no endpoint."""
    with _isolation:
        hidden = Installed(
            {
                "AWS_CONFIG_FILE": os.devnull,
                "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
                "AWS_EC2_METADATA_DISABLED": "true",
                **_NO_PROXY,
            }
        )
        try:
            yield
        finally:
            hidden.restore()
