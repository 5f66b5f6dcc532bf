"""Workers with other guards, broken on purpose: each with its own queue, table and function, removed
afterwards.

The handlers are the files in lessons/idempotent_consumer/handlers; nothing is simulated. Where two runs
meet, the fault controls of the account hold their writes, so that each experiment ends the same way each
time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from helpers.lab.bench import VISIBILITY, Bench, code_of
from helpers.lab.bench import bench as prepared
from helpers.lab.errors import BadParameter
from helpers.lab.evidence import refused_by_condition
from helpers.lab.idempotent_consumer import MAX_RECEIVE_COUNT
from helpers.lab.language import _
from helpers.lab.parameters import listed, shown, whole
from helpers.lab.services import Services

GUARDS = ("none", "counter", "read-then-write", "message-id", "conditional-write")
FAULTS = ("none", "producer-copy", "interleaved", "crash-after-write", "slow-worker")

MOST_COPIES = 20
BATCH = 10

FILES = {
    "none": "unguarded.py",
    "counter": "counter.py",
    "read-then-write": "read_then_write.py",
    "message-id": "message_id_key.py",
    "condition-only": "condition_only.py",
    "conditional-write": "conditional_write.py",
}
_WRITE = {guard: "UpdateItem" if guard == "counter" else "PutItem" for guard in GUARDS}
_ORDER = "demo-order"


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
    with prepared(services, guard, code_of(FILES[guard])) as bench:
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
            services.cloud.skip(VISIBILITY)
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
    code = code_of(name.replace("-", "_") + ".py")
    with prepared(services, name, code, dead_letters=True) as bench:
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
            services.cloud.skip(VISIBILITY)
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


def _interleave(bench: Bench, write: str, copies: int) -> None:
    """Hold the first two writes until both workers stand before theirs, then let both go."""
    holds = [bench.hold(write) for _worker in range(2)]
    for _copy in range(copies):
        bench.send(_ORDER)
    for hold in holds:
        bench.wait_until_held(hold)
    for hold in holds:
        bench.cloud.faults.release(hold)
    bench.settle()


def _overtake(bench: Bench, write: str) -> None:
    """Hold a write while the visibility timeout ends; let it go when the second run of the message has ended."""
    hold = bench.hold(write)
    bench.send(_ORDER)
    bench.wait_until_held(hold)
    bench.cloud.skip(VISIBILITY)
    bench.wait_for_run(2)
    bench.cloud.faults.release(hold)
    bench.settle()


def _result(bench: Bench, guard: str, fault: str) -> ExperimentResult:
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


def _choose(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise BadParameter(
            _("`{name}` is `{value}`, and there is no such choice.").format(name=name, value=shown(value)),
            _("Each experiment joins one guard and one fault."),
            _("Choose one of these: {choices}.").format(choices=listed(choices)),
        )
