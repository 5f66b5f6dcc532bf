"""The questions that a lesson asks the account: each is a real call, and None stands for the service's own
"not found"."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from helpers.cloud import environment
from helpers.lab.checks import error_code

if TYPE_CHECKING:
    from helpers.cloud import Cloud

NO_QUEUE = frozenset({"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})
_OLDEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


class Services:
    """Reads and sets up resources of one account. Errors other than "not found" are botocore's own."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """A client of the learner's, made once."""
        if service not in self._clients:
            with environment.isolated():
                self._clients[service] = _session().client(service, endpoint_url=self.cloud.endpoint)
        return self._clients[service]

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.cloud.region}:{self.cloud.account_id}:{resource}"

    # --- queues ---------------------------------------------------------------------------------------

    def queue_url(self, queue: str) -> str | None:
        try:
            return str(self.client("sqs").get_queue_url(QueueName=queue)["QueueUrl"])
        except self.client("sqs").exceptions.ClientError as error:
            if error_code(error) in NO_QUEUE:
                return None
            raise

    def queue_attributes(self, queue: str) -> dict[str, str] | None:
        """All attributes of a queue as SQS gives them."""
        url = self.queue_url(queue)
        if url is None:
            return None
        try:
            answer = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        except self.client("sqs").exceptions.ClientError as error:
            if error_code(error) in NO_QUEUE:
                return None
            raise
        return dict(answer["Attributes"])

    def queue_names(self, prefix: str) -> list[str]:
        urls = self.client("sqs").list_queues(QueueNamePrefix=prefix).get("QueueUrls", [])
        return sorted(url.rpartition("/")[2] for url in urls)

    def make_queue(self, queue: str, attributes: Mapping[str, str]) -> str:
        """Create a queue and return its URL."""
        return str(self.client("sqs").create_queue(QueueName=queue, Attributes=dict(attributes))["QueueUrl"])

    def send(self, queue: str, body: str) -> str:
        """Send a message as the producer does, and return its message id."""
        url = self.queue_url(queue)
        return str(self.client("sqs").send_message(QueueUrl=url, MessageBody=body)["MessageId"])

    # --- functions ------------------------------------------------------------------------------------

    def mappings(self) -> list[dict[str, Any]]:
        """All event source mappings of the account."""
        pages = self.client("lambda").get_paginator("list_event_source_mappings").paginate()
        return [mapping for page in pages for mapping in page["EventSourceMappings"]]

    def function(self, name: str) -> dict[str, Any] | None:
        """The configuration of a function."""
        try:
            return dict(self.client("lambda").get_function_configuration(FunctionName=name))
        except self.client("lambda").exceptions.ResourceNotFoundException:
            return None

    def code(self, name: str) -> dict[str, bytes]:
        """The files of the function's deployed ZIP by name. Raises KeyError when there is no such function."""
        with zipfile.ZipFile(io.BytesIO(self.cloud.deployed_code(name))) as archive:
            return {entry: archive.read(entry) for entry in archive.namelist() if not entry.endswith("/")}

    def make_role(self, name: str, statements: Sequence[Mapping[str, Any]]) -> str:
        """Create a role that Lambda may assume, with exactly these statements, and return its ARN."""
        trust = {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "lambda.amazonaws.com"},
        }
        iam = self.client("iam")
        role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(policy([trust])))["Role"]
        self.set_rights(name, statements)
        return str(role["Arn"])

    def set_rights(self, role: str, statements: Sequence[Mapping[str, Any]]) -> None:
        """Let a role of the lesson do exactly this."""
        document = json.dumps(policy(statements))
        self.client("iam").put_role_policy(RoleName=role, PolicyName="rights", PolicyDocument=document)

    def make_function(
        self,
        name: str,
        role_arn: str,
        code: bytes,
        variables: Mapping[str, str],
        timeout: int,
        handler: str = "app.handler",
    ) -> dict[str, Any]:
        """Create a function; `code` is a ZIP, `timeout` in seconds."""
        return dict(
            self.client("lambda").create_function(
                FunctionName=name,
                Runtime="python3.12",
                Handler=handler,
                Role=role_arn,
                Code={"ZipFile": code},
                Environment={"Variables": dict(variables)},
                Timeout=timeout,
            )
        )

    # --- workflows ------------------------------------------------------------------------------------

    def state_machine(self, name: str) -> dict[str, Any] | None:
        """A state machine as DescribeStateMachine gives it."""
        states = self.client("stepfunctions")
        try:
            return dict(states.describe_state_machine(stateMachineArn=self.arn("states", f"stateMachine:{name}")))
        except states.exceptions.StateMachineDoesNotExist:
            return None

    def execution(self, machine: str, name: str) -> dict[str, Any] | None:
        """An execution as DescribeExecution gives it."""
        states = self.client("stepfunctions")
        try:
            return dict(states.describe_execution(executionArn=self.execution_arn(machine, name)))
        except (states.exceptions.ExecutionDoesNotExist, states.exceptions.InvalidArn):
            return None

    def execution_history(self, machine: str, name: str) -> list[dict[str, Any]]:
        """All events of an execution, oldest first."""
        pages = self.client("stepfunctions").get_paginator("get_execution_history")
        return [
            event for page in pages.paginate(executionArn=self.execution_arn(machine, name)) for event in page["events"]
        ]

    def definition_of(self, machine: str, name: str) -> str:
        """The definition that an execution follows: it stays the same when the state machine is updated."""
        arn = self.execution_arn(machine, name)
        return str(self.client("stepfunctions").describe_state_machine_for_execution(executionArn=arn)["definition"])

    def execution_arn(self, machine: str, name: str) -> str:
        return self.arn("states", f"execution:{machine}:{name}")

    # --- roles ----------------------------------------------------------------------------------------

    def role(self, name: str) -> dict[str, Any] | None:
        """A role as GetRole gives it."""
        iam = self.client("iam")
        try:
            return dict(iam.get_role(RoleName=name)["Role"])
        except iam.exceptions.NoSuchEntityException:
            return None

    def role_policies(self, name: str) -> dict[str, Any] | None:
        """The policies of a role by name: inline ones with their documents, attached ones with None."""
        iam = self.client("iam")
        try:
            inline = iam.list_role_policies(RoleName=name)["PolicyNames"]
            found = {one: iam.get_role_policy(RoleName=name, PolicyName=one)["PolicyDocument"] for one in inline}
            attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
        except iam.exceptions.NoSuchEntityException:
            return None
        return {**found, **{one["PolicyName"]: None for one in attached}}

    # --- tables and logs ------------------------------------------------------------------------------

    def items(self, table: str) -> list[dict[str, Any]] | None:
        """All items of a small table as DynamoDB JSON, read consistently, in the order of their ids."""
        found: list[dict[str, Any]] = []
        try:
            for page in self.client("dynamodb").get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
                found += page["Items"]
        except self.client("dynamodb").exceptions.ResourceNotFoundException:
            return None
        return sorted(found, key=lambda item: str(item.get("id", {}).get("S", "")))

    def make_table(self, table: str) -> None:
        """Create a table whose key is the string `id`, and wait until it can be used."""
        self.client("dynamodb").create_table(
            TableName=table,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.client("dynamodb").get_waiter("table_exists").wait(TableName=table)

    def has_log_group(self, name: str) -> bool:
        groups = self.client("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        return any(group["logGroupName"] == name for group in groups)

    def log_lines(self, group: str, start: str) -> list[str] | None:
        """The messages of a log group that begin with `start`, printed or written by a logger.

        Lambda's formatter puts level, time and request id before a logger's message, with tabs between them.
        """
        lines: list[str] = []
        try:
            for page in self.client("logs").get_paginator("filter_log_events").paginate(logGroupName=group):
                lines += [event["message"] for event in page["events"]]
        except self.client("logs").exceptions.ResourceNotFoundException:
            return None
        return [line for line in lines if line.startswith(start) or f"\t{start}" in line]


@cache
def _session() -> Any:
    """One session for all clients of this process: it keeps the service models that it has read."""
    import boto3

    with environment.isolated():
        return boto3.Session(
            aws_access_key_id=environment.LEARNER_ACCESS_KEY,
            aws_secret_access_key="emulated",
            region_name=environment.REGION,
        )


def policy(statements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A policy document."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def zip_of(files: Mapping[str, str]) -> bytes:
    """A ZIP archive of text files, the same bytes for the same texts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, _OLDEST_ZIP_DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)
    return buffer.getvalue()


def worker_rights(
    services: Services, queue: str, table: str, function: str, actions: Sequence[str]
) -> list[dict[str, Any]]:
    """What a worker may do: consume one queue, do `actions` on one table, write its own logs."""
    receive = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
    write_logs = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"]
    own_logs = services.arn("logs", f"log-group:/aws/lambda/{function}")
    return [
        {"Effect": "Allow", "Action": receive, "Resource": services.arn("sqs", queue)},
        {"Effect": "Allow", "Action": list(actions), "Resource": services.arn("dynamodb", f"table/{table}")},
        {"Effect": "Allow", "Action": write_logs, "Resource": [own_logs, f"{own_logs}:*"]},
    ]
