"""Workers with other guards, broken on purpose: each with its own queue, table and function, removed
afterwards.

The handlers are the files in lessons/idempotent_consumer/handlers; nothing is simulated. Where two runs
meet, the fault controls of the account hold their writes, so that each experiment ends the same way each
time.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helpers.lab.checks import error_code
from helpers.lab.errors import BadParameter, ExperimentFailed
from helpers.lab.evidence import Evidence, refused_by_condition
from helpers.lab.idempotent_consumer import HANDLERS, MAX_RECEIVE_COUNT
from helpers.lab.language import _
from helpers.lab.parameters import listed, shown, whole
from helpers.lab.rest import in_words
from helpers.lab.services import Services, worker_rights, zip_of

if TYPE_CHECKING:
    from helpers.cloud.faults import Fault

GUARDS = ("none", "counter", "read-then-write", "message-id", "conditional-write")
FAULTS = ("none", "producer-copy", "interleaved", "crash-after-write", "slow-worker")

MOST_COPIES = 20
BATCH = 10

_FILES = {
    "none": "unguarded.py",
    "counter": "counter.py",
    "read-then-write": "read_then_write.py",
    "message-id": "message_id_key.py",
    "conditional-write": "conditional_write.py",
}
_WRITE = {guard: "UpdateItem" if guard == "counter" else "PutItem" for guard in GUARDS}
_ACTIONS = ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
_TIMEOUT = 30
_VISIBILITY = 30
_PATIENCE = 20.0
_ORDER = "demo-order"
_ABSENT = frozenset({"ResourceNotFoundException", "NoSuchEntity"})


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What one worker did with one job.

    `deliveries` and `runs` count receives and invocations, `accepted` and `refused` the write decisions,
    `orders` the items in the table at the end. `effects` is how often the business effect happened: the
    counter's value for the counter, otherwise the accepted writes. Only 1 is right.
    """

    guard: str
    fault: str
    deliveries: int
    runs: int
    accepted: int
    refused: int
    orders: int
    effects: int


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of ten jobs in one batch. `runs_per_order` counts how often each job was handled, in
    order of sending, the bad one last; `stored` counts the orders in the table, `dead_lettered` the
    messages that were moved."""

    partial: bool
    runs: int
    runs_per_order: tuple[tuple[str, int], ...]
    stored: int
    dead_lettered: int


def experiment(services: Services, guard: str, fault: str = "none", copies: int = 2) -> ExperimentResult:
    """Send one job to a worker with this guard, under this fault.

    `copies` (1 to 20; for "interleaved" at least 2) counts the messages that the producer sends when the
    fault is "producer-copy" or "interleaved"; the other faults act on one message. Raises BadParameter,
    ExperimentFailed.
    """
    _choose("guard", guard, GUARDS)
    _choose("fault", fault, FAULTS)
    whole("copies", copies, 2 if fault == "interleaved" else 1, MOST_COPIES)
    with _bench(services, guard, _FILES[guard]) as bench:
        bench.connect(batch_size=1)
        if fault == "producer-copy":
            for _copy in range(copies):
                bench.send(_ORDER)
                bench.settle()
        elif fault == "interleaved":
            _interleave(bench, _WRITE[guard], copies)
        elif fault == "crash-after-write":
            services.cloud.faults.crash(bench.function, action=_WRITE[guard], accepted=True)
            bench.send(_ORDER)
            bench.settle()
            services.cloud.skip(_VISIBILITY)
            bench.settle()
        elif fault == "slow-worker":
            _overtake(bench, _WRITE[guard])
        else:
            bench.send(_ORDER)
            bench.settle()
        return _result(bench, guard, fault)


def batch_experiment(services: Services, partial: bool) -> BatchResult:
    """Ten messages in one batch, the last one bad; three receives at most. Raises BadParameter, ExperimentFailed."""
    if not isinstance(partial, bool):
        raise BadParameter(
            _("`partial` is `{value}`.").format(value=repr(partial)[:40]),
            _("It says whether the worker reports the messages that failed."),
            _("Choose `True` or `False`."),
        )
    name = "batch-partial" if partial else "batch-whole"
    with _bench(services, name, name.replace("-", "_") + ".py", dead_letters=True) as bench:
        orders = [f"order-{number}" for number in range(1, BATCH + 1)]
        entries = [
            {
                "Id": order,
                "MessageBody": json.dumps({"id": order, "quantity": 1 if order != orders[-1] else "bad"}),
            }
            for order in orders
        ]
        bench.services.client("sqs").send_message_batch(QueueUrl=bench.url, Entries=entries)
        bench.connect(batch_size=BATCH, partial=partial)
        bench.settle()
        for _receive in range(MAX_RECEIVE_COUNT):
            services.cloud.skip(_VISIBILITY)
            bench.settle()
        evidence = bench.evidence()
        runs = evidence.runs(bench.function)
        handled = [line.split()[1] for run in runs for line in run.log if line.startswith("JOB ")]
        return BatchResult(
            partial=partial,
            runs=len(runs),
            runs_per_order=tuple((order, handled.count(order)) for order in orders),
            stored=len(bench.services.items(bench.table) or ()),
            dead_lettered=len(evidence.dead_lettered(bench.queue)),
        )


def _interleave(bench: _Bench, write: str, copies: int) -> None:
    """Hold the first two writes until both workers stand before theirs, then let both go."""
    holds = [bench.hold(write) for _worker in range(2)]
    for _copy in range(copies):
        bench.send(_ORDER)
    for hold in holds:
        bench.wait_until_held(hold)
    for hold in holds:
        bench.cloud.faults.release(hold)
    bench.settle()


def _overtake(bench: _Bench, write: str) -> None:
    """Hold a write while the visibility timeout ends; let it go when the second run of the message has ended."""
    hold = bench.hold(write)
    bench.send(_ORDER)
    bench.wait_until_held(hold)
    bench.cloud.skip(_VISIBILITY)
    bench.wait_for_run(2)
    bench.cloud.faults.release(hold)
    bench.settle()


def _result(bench: _Bench, guard: str, fault: str) -> ExperimentResult:
    evidence = bench.evidence()
    decisions = evidence.decisions(bench.table)
    items = bench.services.items(bench.table) or []
    accepted = sum(decision.accepted for decision in decisions)
    counted = sum(int(item["effects"]["N"]) for item in items if "effects" in item)
    return ExperimentResult(
        guard=guard,
        fault=fault,
        deliveries=len(evidence.received(bench.queue)),
        runs=len(evidence.runs(bench.function)),
        accepted=accepted,
        refused=sum(refused_by_condition(decision) for decision in decisions),
        orders=len(items),
        effects=counted if guard == "counter" else accepted,
    )


class _Bench:
    """The resources of one experiment."""

    def __init__(self, services: Services, name: str) -> None:
        self.cloud = services.cloud
        self.services = services
        self.function = f"q05-x-{name}"
        self.queue = f"q05-x-{name}-jobs"
        self.dead_letter_queue = f"q05-x-{name}-dead"
        self.table = f"q05-x-{name}-orders"
        self.role = f"q05-x-{name}-role"
        self.url = ""
        self.holds: list[Fault] = []
        self._since = self.cloud.journal.last

    def make(self, file: str, dead_letters: bool) -> None:
        services = self.services
        attributes = {"VisibilityTimeout": str(_VISIBILITY)}
        if dead_letters:
            services.make_queue(self.dead_letter_queue, {})
            target = services.arn("sqs", self.dead_letter_queue)
            policy = {"deadLetterTargetArn": target, "maxReceiveCount": MAX_RECEIVE_COUNT}
            attributes["RedrivePolicy"] = json.dumps(policy)
        self.url = services.make_queue(self.queue, attributes)
        services.make_table(self.table)
        rights = worker_rights(services, self.queue, self.table, self.function, _ACTIONS)
        role = services.make_role(self.role, rights)
        code = zip_of({"app.py": (HANDLERS / file).read_text(encoding="utf-8")})
        services.make_function(self.function, role, code, {"ORDERS_TABLE": self.table}, _TIMEOUT)
        self.settle()

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
            self.cloud.settle(_PATIENCE)
        except NotAtRest as error:
            raise _failed(", ".join(dict.fromkeys(in_words(busy) for busy in error.busy))) from error

    def hold(self, write: str) -> Fault:
        """Hold the next write of the worker until it is released, at the latest when the experiment ends."""
        self.holds.append(self.cloud.faults.hold("dynamodb", write, function=self.function))
        return self.holds[-1]

    def wait_until_held(self, hold: Fault) -> None:
        if not self.cloud.faults.wait_until_held(hold, _PATIENCE):
            raise _failed(_("no write arrived"))

    def wait_for_run(self, count: int) -> None:
        """Wait until `count - 1` runs have ended while one is held."""
        changed = self.cloud.boundary.changed
        end = time.monotonic() + _PATIENCE
        while True:
            seen = changed.count
            if sum(run.ended is not None for run in self.evidence().runs(self.function)) >= count - 1:
                return
            left = end - time.monotonic()
            if left <= 0:
                raise _failed(_("no second run ended"))
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
        for queue in (self.queue, self.dead_letter_queue):
            url = self.services.queue_url(queue)
            if url:
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
def _bench(services: Services, name: str, file: str, dead_letters: bool = False) -> Iterator[_Bench]:
    bench = _Bench(services, name)
    faults = services.cloud.faults
    armed = faults.armed()
    try:
        # An experiment that was interrupted may have left something behind.
        bench.remove()
        bench.make(file, dead_letters)
        yield bench
    finally:
        # A hold that has fired is not armed any more, but a call may still stand there.
        for hold in bench.holds:
            faults.cancel(hold)
        for fault in faults.armed():
            if not any(fault is other for other in armed):
                faults.cancel(fault)
        bench.remove()


def _choose(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise BadParameter(
            _("`{name}` is `{value}`, and there is no such choice.").format(name=name, value=shown(value)),
            _("Each experiment joins one guard and one fault."),
            _("Choose one of these: {choices}.").format(choices=listed(choices)),
        )


def _failed(why: str) -> ExperimentFailed:
    return ExperimentFailed(
        _("The experiment did not reach its end: {reason}.").format(reason=why),
        _("So there is no result. Your own worker and its orders were not part of it."),
        _("Run `lab.settle()`, then run the cell again."),
    )
