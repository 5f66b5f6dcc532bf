"""An AWS account inside this process: moto behind a loopback server, with what moto lacks beside it."""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import deploy, environment, environment_file, fault_targets, managed_policies, patches, permissions, s3_buckets
from .assumed_roles import AssumedRoles
from .boundary import ANY, Application, Boundary
from .clock import Clock
from .deploy import Code
from .dynamodb import DynamoDB
from .environment import ACCOUNT_ID, REGION
from .event_sources import EventSources
from .faults import Faults
from .functions import Functions
from .journal import Journal
from .lambda_runtime import Runtime
from .log_groups import LogGroups
from .messages import Messages
from .queues import Queues
from .s3_notifications import Notifications
from .server import LOOPBACK, Server
from .work import Busy, NotAtRest
from .workflow_executions import Workflows

if TYPE_CHECKING:
    import boto3

_open: Cloud | None = None
_session: boto3.Session | None = None
_open_lock = threading.Lock()


class AccountOpen(RuntimeError):
    """This process has an account already: moto's state is one per process. Close that one first."""


class Cloud:
    """The account: region us-east-1, number 123456789012, on ``http://127.0.0.1:PORT``.

    `port` 0 takes any free port; a taken one raises `PortInUse`, what is no port ValueError. `seed` makes moto's ids
    repeatable and decides which calls the faults with a rate hit; None leaves both to chance. One account can be open
    in a process at a time (`AccountOpen`). Use it as a context manager or call `close`; the end of the process closes
    it too.
    """

    region = REGION
    account_id = ACCOUNT_ID

    def __init__(self, port: int = 0, seed: int | None = 42) -> None:
        global _open
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
            raise ValueError(f"port is {port!r}: a whole number from 0 to 65535, and 0 takes any free port")
        with _open_lock:
            if _open is not None:
                raise AccountOpen("an account is open in this process already; close it first")
            _open = self
        self._closing = contextlib.ExitStack()
        self._installed: environment.Installed | None = None
        self._more: dict[str, str] = {}
        try:
            self._start(port, seed)
        except BaseException:
            self.close()
            raise

    def _start(self, port: int, seed: int | None) -> None:
        global _open
        self._closing.callback(_forget, self)
        patches.verify()
        moto = _moto_application()
        self.clock = Clock()
        self.journal = Journal(now=self.clock.now)
        self.boundary = Boundary(moto, self.journal)
        self.server = Server(self.boundary, port)
        self._closing.callback(self.server.close)
        self.port = self.server.port
        self.endpoint = f"http://{LOOPBACK}:{self.port}"
        self.boundary.hosts = frozenset({f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"})
        applied = patches.Applied(self.clock, self.port)
        self._closing.callback(applied.undo)
        _reset_moto(seed)
        self.environment = environment.of_account(self.endpoint)
        self.workflows = Workflows(self)
        self._closing.callback(self.workflows.join)
        self.runtime = Runtime(self)
        self._closing.callback(self.runtime.close)
        self.boundary.gates.append(permissions.gate(self.clock.now))
        self.boundary.after("s3", ANY, permissions.hide_missing(self.clock.now))
        managed_policies.install(self.boundary)
        AssumedRoles(self.boundary)
        self.faults = Faults(self, random.randrange(2**32) if seed is None else seed)
        self._closing.callback(self.faults.clear)
        self.tables = DynamoDB(self.boundary, self.clock, self.journal).tables
        Messages(self.boundary, self.journal)
        self.queues = Queues(self.boundary, self.clock, self.journal)
        self._closing.callback(self.queues.close)
        LogGroups(self.boundary, self.clock)
        self.functions = Functions(self)
        self.event_sources = EventSources(self)
        self._closing.callback(self.event_sources.close)
        self._closing.callback(self.workflows.close)
        self.queues.move_tasks.moved = self.event_sources.look
        self.notifications = Notifications(self, self.functions.invocations.deliver, self.event_sources.look)
        self._closing.callback(self.notifications.close)
        s3_buckets.install(self.boundary)
        self.clock.on_skip(self.boundary.changed.notify)
        atexit.register(self.close)
        self._closing.callback(atexit.unregister, self.close)
        self._closing.callback(self.boundary.close)

    # --- for programs ------------------------------------------------------------------------------------------

    def install(self, more: Mapping[str, str] | None = None) -> None:
        """Put the account's variables into `os.environ`: boto3 and the AWS CLI then use this account.

        `more` are variables that go along with them, in this process and in a file for a terminal.
        """
        if self._installed is None:
            self._more = dict(more or {})
            variables = environment.of_terminal(self.endpoint, os.environ.get("PATH", ""))
            self._installed = environment.Installed({**variables, **self._more})
            environment.forget_default_session()

    def uninstall(self) -> None:
        """Give `os.environ` its former values back."""
        if self._installed is not None:
            self._installed.restore()
            self._installed = None
            environment.forget_default_session()

    def write_environment_file(self, path: str | os.PathLike[str]) -> None:
        """Write a file for a terminal, whose `aws` then uses the account: `. aws.sh`. For Windows: see the module."""
        variables = {**environment.of_terminal(self.endpoint, ""), **self._more}
        environment_file.write(Path(path), variables, environment.cli_folder())

    def session(self) -> boto3.Session:
        """A boto3 session with the learner's keys. Its clients need `endpoint_url`; `client` gives it."""
        import boto3

        with environment.isolated():
            return boto3.Session(
                aws_access_key_id=environment.LEARNER_ACCESS_KEY,
                aws_secret_access_key="emulated",
                region_name=REGION,
            )

    def client(self, service: str, **options: Any) -> Any:
        """A boto3 client of this account, whatever the environment of the process says."""
        from botocore.config import Config

        # A prefix such as "sync-" before a loopback address names no host.
        config = Config(inject_host_prefix=False).merge(options.pop("config", None) or Config())
        global _session
        with environment.isolated():  # one at a time: the session reads a service's model once, for all accounts
            if _session is None:
                _session = self.session()
            return _session.client(service, endpoint_url=self.endpoint, config=config, **options)

    def deploy(self, name: str, code: Code, **settings: Any) -> str:
        """Create a function with a role of its own, wait until it is active and return its ARN: see `deploy.deploy`."""
        return deploy.deploy(self, name, code, **settings)

    def deployed_code(self, function: str) -> bytes:
        """The ZIP that is deployed under this function name. Raises KeyError when there is no such function."""
        with self.boundary.lock:
            if function not in fault_targets.functions():
                raise KeyError(function)
            return bytes(backends("lambda").get_function(function).code_bytes)

    # --- time and rest -----------------------------------------------------------------------------------------

    def skip(self, seconds: float) -> None:
        """Let visibility timeouts, delays, retention and the waits of workflows move on by `seconds` at once."""
        self.clock.skip(seconds)

    def busy(self) -> list[Busy]:
        """What is not at rest now: runs, messages about to be delivered, mappings and functions that change."""
        held = self.faults.held()
        holding = [Busy("held", "", held)] if held else []
        # Notifications first: what left them meanwhile is then seen in its queue. Workflows before the functions
        # that they call.
        parts = (self.notifications, self.workflows, self.runtime, self.functions, self.event_sources)
        return [*(one for part in parts for one in part.busy()), *holding]

    def settle(self, timeout: float = 30) -> None:
        """Wait until the account is at rest. Raises NotAtRest after `timeout` seconds.

        A message that is hidden until its visibility timeout ends is at rest, and so is an execution that waits for
        time or for a task token: `skip` moves them.
        """
        end = time.monotonic() + timeout
        while True:
            seen = self.boundary.changed.count
            busy = self.busy()
            if not busy:
                # `busy` looks at one part after the other. What moved on from a part that it had not seen yet to one
                # that it had, such as a run that invoked another function, has notified.
                if self.boundary.changed.count == seen or time.monotonic() >= end:
                    return
                continue
            left = end - time.monotonic()
            if left <= 0:
                raise NotAtRest(busy)
            self.boundary.changed.wait(seen, min(left, 0.5))

    # --- end ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the server, the poller and all workers. May be called again."""
        self.uninstall()
        self._closing.close()

    def __enter__(self) -> Cloud:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False


def the_open_account() -> Cloud:
    """The account of this process. Raises RuntimeError when none is open."""
    if _open is None:
        raise RuntimeError("no account is open in this process")
    return _open


def _forget(cloud: Cloud) -> None:
    global _open
    with _open_lock:
        if _open is cloud:
            _open = None


def _moto_application() -> Application:
    """moto's WSGI application, with a shorter way for the calls of which there are many."""
    from .direct import moto_application

    return moto_application()


def _reset_moto(seed: int | None) -> None:
    from moto.core.base_backend import AccountSpecificBackend, BackendDict
    from moto.core.model_instances import reset_model_data
    from moto.core.utils import service_name_from_moto_package_name
    from moto.moto_api._internal import mock_random

    BackendDict.reset()
    reset_model_data()
    mock_random.seed(seed)
    # moto keeps a session of boto3 for its lists of regions and services: no profile of the machine may stop it.
    with environment.isolated():
        AccountSpecificBackend.get_session().get_available_partitions()
        service_name_from_moto_package_name("sqs")


def backends(service: str) -> Any:
    """moto's backend of a service in this account and region. Hold the boundary's lock while you use it."""
    from moto.backends import get_backend

    return get_backend(service)[ACCOUNT_ID][_region_of(service)]  # type: ignore[call-overload]  # it wants literals


def _region_of(service: str) -> str:
    return "aws" if service in {"iam", "s3", "sts"} else REGION


@contextlib.contextmanager
def opened(port: int = 0, seed: int | None = 42) -> Iterator[Cloud]:
    """An account whose variables are installed for the length of the block."""
    with Cloud(port, seed) as cloud:
        cloud.install()
        yield cloud
