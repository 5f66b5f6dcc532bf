"""The resources of one experiment or exploration: a queue, a worker, a table and a role of its own."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from helpers.lab.checks import error_code
from helpers.lab.errors import ExperimentFailed
from helpers.lab.evidence import Evidence
from helpers.lab.idempotent_consumer import HANDLERS, MAX_RECEIVE_COUNT
from helpers.lab.language import _
from helpers.lab.rest import in_words
from helpers.lab.services import Services, worker_rights, zip_of

if TYPE_CHECKING:
    from helpers.cloud.faults import Fault

VISIBILITY = 30
PATIENCE = 20.0
_ACTIONS = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
_TIMEOUT = 30
_numbers = itertools.count(1)
_ABSENT = frozenset({"ResourceNotFoundException", "NoSuchEntity"})


def code_of(file: str) -> bytes:
    """The ZIP of one of the lesson's handlers."""
    return zip_of({"app.py": (HANDLERS / file).read_text(encoding="utf-8")})


class Bench:
    """The resources of one experiment."""

    def __init__(self, services: Services, name: str) -> None:
        self.cloud = services.cloud
        self.services = services
        self.function = f"q05-x-{name}"
        # SQS refuses a name for 60 seconds after its queue was deleted, and the same experiment can be run again.
        self._queues = f"q05-x-{name}-"
        number = next(_numbers)
        self.queue = f"{self._queues}jobs-{number}"
        self.dead_letter_queue = f"{self._queues}dead-{number}"
        self.table = f"q05-x-{name}-orders"
        self.role = f"q05-x-{name}-role"
        self.url = ""
        self.holds: list[Fault] = []
        self._since = self.cloud.journal.last

    def make(
        self,
        code: bytes,
        dead_letters: bool = False,
        variables: Mapping[str, str] | None = None,
        handler: str = "app.handler",
    ) -> None:
        """Make everything; `code` is a ZIP. `variables` default to the table's name in ORDERS_TABLE.

        Does not wait until the function is active.
        """
        services = self.services
        attributes = {"VisibilityTimeout": str(VISIBILITY)}
        if dead_letters:
            services.make_queue(self.dead_letter_queue, {})
            target = services.arn("sqs", self.dead_letter_queue)
            policy = {"deadLetterTargetArn": target, "maxReceiveCount": MAX_RECEIVE_COUNT}
            attributes["RedrivePolicy"] = json.dumps(policy)
        self.url = services.make_queue(self.queue, attributes)
        services.make_table(self.table)
        rights = worker_rights(services, self.queue, self.table, self.function, _ACTIONS)
        role = services.make_role(self.role, rights)
        chosen = {"ORDERS_TABLE": self.table} if variables is None else variables
        services.make_function(self.function, role, code, chosen, _TIMEOUT, handler)

    def begin(self) -> None:
        """From here on, the evidence is new, and so are the holds."""
        self.release()
        self.holds = []
        self._since = self.cloud.journal.last

    def connect(self, batch_size: int, partial: bool = False) -> None:
        self.services.client("lambda").create_event_source_mapping(
            EventSourceArn=self.services.arn("sqs", self.queue),
            FunctionName=self.function,
            BatchSize=batch_size,
            FunctionResponseTypes=["ReportBatchItemFailures"] if partial else [],
        )
        self.settle()

    def send(self, order: str) -> None:
        body = json.dumps({"id": order, "quantity": 4})
        self.services.client("sqs").send_message(QueueUrl=self.url, MessageBody=body)

    def settle(self) -> None:
        from helpers.cloud import NotAtRest

        try:
            self.cloud.settle(PATIENCE)
        except NotAtRest as error:
            raise failed(", ".join(dict.fromkeys(in_words(busy) for busy in error.busy))) from error

    def hold(self, write: str) -> Fault:
        """Hold the next write of the worker until it is released, at the latest when the experiment ends."""
        self.holds.append(self.cloud.faults.hold("dynamodb", write, function=self.function))
        return self.holds[-1]

    def wait_until_held(self) -> None:
        for hold in self.holds:
            if not self.cloud.faults.wait_until_held(hold, PATIENCE):
                raise failed(_("no write arrived"))

    def release(self) -> None:
        """Let the held writes go."""
        for hold in self.holds:
            self.cloud.faults.release(hold)

    def wait_for_run(self, count: int) -> None:
        """Wait until `count - 1` runs have ended while one is held."""
        changed = self.cloud.boundary.changed
        end = time.monotonic() + PATIENCE
        while True:
            seen = changed.count
            if sum(run.ended is not None for run in self.evidence().runs(self.function)) >= count - 1:
                return
            left = end - time.monotonic()
            if left <= 0:
                raise failed(_("no second run ended"))
            changed.wait(seen, left)

    def evidence(self) -> Evidence:
        return Evidence(self.cloud.journal, since=self._since)

    def remove(self) -> None:
        """Remove what is there, in the order in which it depends on each other; what is not there is no error.

        An interrupt can end an experiment at any call, also during its removal.
        """
        functions, sqs, iam = (self.services.client(name) for name in ("lambda", "sqs", "iam"))
        if self._mappings():
            # Lambda refuses to delete a mapping that is still being created or deleted.
            self.settle()
        for mapping in self._mappings():
            functions.delete_event_source_mapping(UUID=mapping)
            self.settle()
        for url in sqs.list_queues(QueueNamePrefix=self._queues).get("QueueUrls", ()):
            sqs.delete_queue(QueueUrl=url)
        with _gone_already():
            functions.delete_function(FunctionName=self.function)
        with _gone_already():
            self.services.client("dynamodb").delete_table(TableName=self.table)
        with _gone_already():
            iam.delete_role_policy(RoleName=self.role, PolicyName="rights")
        with _gone_already():
            iam.delete_role(RoleName=self.role)
        group = f"/aws/lambda/{self.function}"
        if self.services.has_log_group(group):
            self.services.client("logs").delete_log_group(logGroupName=group)

    def _mappings(self) -> list[str]:
        """The UUIDs of the worker's mappings."""
        return [one["UUID"] for one in self.services.mappings() if one["FunctionArn"].endswith(f":{self.function}")]


@contextlib.contextmanager
def _gone_already() -> Iterator[None]:
    """Let "there is no such resource" pass, and nothing else."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if error_code(error) not in _ABSENT:
            raise


@contextlib.contextmanager
def bench(services: Services, name: str, code: bytes, dead_letters: bool = False) -> Iterator[Bench]:
    """One bench, as `benches` makes them."""
    with benches(services, {name: code}, dead_letters) as made:
        yield made[name]


@contextlib.contextmanager
def benches(services: Services, codes: Mapping[str, bytes], dead_letters: bool = False) -> Iterator[dict[str, Bench]]:
    """Benches by name, each with all its resources, ready; `codes` are ZIPs.

    At the end they are removed, and no fault of them stays armed.
    """
    made = {name: Bench(services, name) for name in codes}
    faults = services.cloud.faults
    armed = faults.armed()
    try:
        for name, bench in made.items():
            # An experiment that was interrupted may have left something behind.
            bench.remove()
            bench.make(codes[name], dead_letters)
        for bench in made.values():
            bench.settle()
        yield made
    finally:
        # A hold that has fired is not armed any more, but a call may still stand there.
        for bench in made.values():
            for hold in bench.holds:
                faults.cancel(hold)
        for fault in faults.armed():
            if not any(fault is other for other in armed):
                faults.cancel(fault)
        for bench in made.values():
            bench.remove()


def failed(why: str) -> ExperimentFailed:
    """The error of an experiment that came to no result."""
    return ExperimentFailed(
        _("The experiment did not reach its end: {reason}.").format(reason=why),
        _("So there is no result. Your own worker and its orders were not part of it."),
        _("Run `lab.settle()`, then run the cell again."),
    )
