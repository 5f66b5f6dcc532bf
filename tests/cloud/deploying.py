"""Deploying functions in tests: the source of a handler in, a name out."""

from __future__ import annotations

import io
import itertools
import json
import textwrap
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from helpers.cloud import Cloud

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
        ],
    }
)


def archive(files: str | Mapping[str, str | bytes]) -> bytes:
    """A ZIP of some files; one text is the content of ``app.py``."""
    named = {"app.py": files} if isinstance(files, str) else files
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, content in named.items():
            target.writestr(name, textwrap.dedent(content) if isinstance(content, str) else content)
    return packed.getvalue()


class Deployer:
    """Creates functions in one account and calls them."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.client = cloud.client("lambda")
        self._count = itertools.count(1)
        iam = cloud.client("iam")
        self.role = iam.create_role(RoleName="deployed", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
        iam.attach_role_policy(
            RoleName="deployed", PolicyArn="arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
        )

    def allow(self, *actions: str) -> None:
        """Let the role of the functions do something, with everything."""
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        name = "-".join(action.replace(":", "-").replace("*", "all") for action in actions)
        self.cloud.client("iam").put_role_policy(RoleName="deployed", PolicyName=name, PolicyDocument=document)

    def name(self) -> str:
        """A name that no function has."""
        return f"function-{next(self._count)}"

    def create(self, files: str | Mapping[str, str | bytes], ready: bool = True, **settings: Any) -> str:
        """Create a function and wait until it is active. Returns its name."""
        name = settings.pop("FunctionName", None) or self.name()
        defaults = {"Runtime": "python3.11", "Handler": "app.handler", "Role": self.role}
        self.client.create_function(FunctionName=name, Code={"ZipFile": archive(files)}, **{**defaults, **settings})
        if ready:
            self.client.get_waiter("function_active_v2").wait(FunctionName=name)
        return name

    def update(self, name: str, files: str | Mapping[str, str | bytes]) -> None:
        """Deploy other code and wait until it is in use."""
        self.client.update_function_code(FunctionName=name, ZipFile=archive(files))
        self.client.get_waiter("function_updated_v2").wait(FunctionName=name)

    def invoke(self, name: str, event: Any = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Call a function through the API. Returns the payload, read as JSON, and the whole answer."""
        payload = event if isinstance(event, bytes) else json.dumps(event).encode()
        answer = self.client.invoke(FunctionName=name, Payload=payload, **options)
        return json.loads(answer["Payload"].read()), answer

    def log(self, name: str) -> list[str]:
        """The messages of all log streams of a function, oldest first."""
        logs = self.cloud.client("logs")
        group = f"/aws/lambda/{name}"
        events = []
        for stream in logs.describe_log_streams(logGroupName=group)["logStreams"]:
            events += logs.get_log_events(
                logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
            )["events"]
        return [event["message"] for event in sorted(events, key=lambda event: event["timestamp"])]

    def streams(self, name: str) -> list[str]:
        """The names of a function's log streams."""
        streams = self.cloud.client("logs").describe_log_streams(logGroupName=f"/aws/lambda/{name}")["logStreams"]
        return [stream["logStreamName"] for stream in streams]


def eventually(holds: Callable[[], object], cloud: Cloud, timeout: float = 10) -> None:
    """Wait until a condition holds, looking again whenever something changed in the account."""
    import time

    end = time.monotonic() + timeout
    while True:
        seen = cloud.boundary.changed.count
        if holds():
            return
        left = end - time.monotonic()
        assert left > 0, "it did not become true in time"
        cloud.boundary.changed.wait(seen, min(left, 0.05))
