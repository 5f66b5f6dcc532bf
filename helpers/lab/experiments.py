"""Workers with other guards, broken on purpose: each with its own queue, table and function, removed
afterwards.

The handlers are the files in lessons/idempotent_consumer/handlers; nothing is simulated. Where two runs
meet, the fault controls of the account hold their writes, so that each experiment ends the same way each
time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from helpers.lab.bench import VISIBILITY, Bench, benches, code_of
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
    choose("guard", guard, GUARDS)
    choose("fault", fault, FAULTS)
    whole("copies", copies, 2 if fault == "interleaved" else 1, MOST_COPIES)
    with workers(services, (guard,)) as ready:
        return run(ready, fault, copies, _ORDER)[0]


@contextmanager
def workers(services: Services, guards: tuple[str, ...]) -> Iterator[Mapping[str, Bench]]:
    """One worker for each guard, connected to its queue; removed at the end."""
    with benches(services, {guard: code_of(FILES[guard]) for guard in guards}) as ready:
        for bench in ready.values():
            bench.connect(batch_size=1)
        yield ready


def run(ready: Mapping[str, Bench], fault: str, copies: int, order: str) -> list[ExperimentResult]:
    """Send one job to each worker, under one fault, and count. `order` must be new to the workers.

    The workers go through the fault side by side: they share the account's clock, so one that is alone at its
    hold would see the visibility timeouts of the others end.
    """
    for bench in ready.values():
        bench.begin()
    _FAULTS[fault](ready, copies, order)
    return [_result(bench, guard, fault, order) for guard, bench in ready.items()]


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


def _send_one(ready: Mapping[str, Bench], _copies: int, order: str) -> None:
    for bench in ready.values():
        bench.send(order)
    _settle(ready)


def _send_copies(ready: Mapping[str, Bench], copies: int, order: str) -> None:
    """One copy after the other: the next is sent when the one before was handled."""
    for _copy in range(copies):
        _send_one(ready, 1, order)


def _interleave(ready: Mapping[str, Bench], copies: int, order: str) -> None:
    """Hold the first two writes until both runs stand before theirs, then let both go. Further copies come after."""
    for guard, bench in ready.items():
        for _run in range(2):
            bench.hold(_WRITE[guard])
            bench.send(order)
    _release(ready)
    _settle(ready)
    _send_copies(ready, copies - 2, order)


def _crash(ready: Mapping[str, Bench], _copies: int, order: str) -> None:
    for guard, bench in ready.items():
        bench.cloud.faults.crash(bench.function, action=_WRITE[guard], accepted=True)
    _send_one(ready, 1, order)
    _skip(ready)
    _settle(ready)


def _overtake(ready: Mapping[str, Bench], _copies: int, order: str) -> None:
    """Hold a write while the visibility timeout ends; let it go when the second run of the message has ended."""
    for guard, bench in ready.items():
        bench.hold(_WRITE[guard])
        bench.send(order)
    for bench in ready.values():
        bench.wait_until_held()
    _skip(ready)
    for bench in ready.values():
        bench.wait_for_run(2)
    _release(ready)
    _settle(ready)


_FAULTS: Mapping[str, Callable[[Mapping[str, Bench], int, str], None]] = {
    "none": _send_one,
    "producer-copy": _send_copies,
    "interleaved": _interleave,
    "crash-after-write": _crash,
    "slow-worker": _overtake,
}


def _settle(ready: Mapping[str, Bench]) -> None:
    """Wait until the account is at rest: it is one for all workers."""
    next(iter(ready.values())).settle()


def _skip(ready: Mapping[str, Bench]) -> None:
    next(iter(ready.values())).cloud.skip(VISIBILITY)


def _release(ready: Mapping[str, Bench]) -> None:
    """Let the held writes go when all of them are held."""
    for bench in ready.values():
        bench.wait_until_held()
    for bench in ready.values():
        bench.release()


def _result(bench: Bench, guard: str, fault: str, order: str) -> ExperimentResult:
    evidence = bench.evidence()
    decisions = evidence.decisions(bench.table)
    # A guard on the message id stores the order's id beside its key.
    items = [
        item
        for item in bench.services.items(bench.table) or []
        if order in (item["id"]["S"], item.get("order", {}).get("S"))
    ]
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


def choose(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a value that is no choice. Raises BadParameter, which names the choices."""
    if value not in choices:
        raise BadParameter(
            _("`{name}` is `{value}`, and there is no such choice.").format(name=name, value=shown(value)),
            _("Each experiment joins one guard and one fault."),
            _("Choose one of these: {choices}.").format(choices=listed(choices)),
        )
