"""What is particular to the lesson *idempotent-consumer*: what it provides, what it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from helpers.lab.errors import BadParameter
from helpers.lab.evidence import Order, key_of, refused_by_condition, runs_for
from helpers.lab.history import History, history
from helpers.lab.language import LESSONS, _
from helpers.lab.lesson_world import QueueWorld
from helpers.lab.parameters import listed, shown, whole
from helpers.lab.services import worker_rights, zip_of

if TYPE_CHECKING:
    from helpers.lab.checks import Probe

SLUG = "idempotent-consumer"
PREFIX = "q05-"
QUEUE = "q05-jobs"
DEAD_LETTER_QUEUE = "q05-dead"
FUNCTION = "q05-worker"
ORDERS = "q05-orders"
REFERENCE = "q05-reference"
LOG_GROUP = f"/aws/lambda/{FUNCTION}"

VISIBILITY_TIMEOUT = 30
FUNCTION_TIMEOUT = 5
BATCH_SIZE = 1
MAX_RECEIVE_COUNT = 3

FIRST_ORDER = "dedup-order"
INDEPENDENT_ORDER = "other-order"

STEPS = ("connect", "deploy", "repeat", "break", "clean-up")

NEEDED: Mapping[str, tuple[str, ...]] = {
    "connect": ("queue", "mapping"),
    "deploy": ("code",),
    "repeat": ("runs",),
    "break": ("conflict",),
    "clean-up": ("mapping", "queues"),
}
"""The points of a step without which later steps have nothing to work with."""

FAULTS = ("none", "send-again", "other-details", "crash-after-write", "slow-worker")

HANDLERS = LESSONS / "idempotent_consumer" / "handlers"

_READS: Mapping[str, tuple[str, ...]] = {"read-then-write": ("dynamodb:GetItem",)}
"""What a worker with this guard does beside its write."""


@dataclass(frozen=True, slots=True)
class ConsumerParameters:
    """What papermill may choose. `duplicates`: how many more times the same job is sent in step *repeat*."""

    duplicates: int = 2
    quantity: int = 4
    fault: str = "none"


def parameters(duplicates: object = 2, quantity: object = 4, fault: object = "none") -> ConsumerParameters:
    """Checked parameters. Raises BadParameter, with the reason in the reader's language."""
    if fault not in FAULTS:
        raise BadParameter(
            _("`fault` is `{value}`, and the lesson knows no such fault.").format(value=shown(fault)),
            _("The fault decides what goes wrong in step 4."),
            _("Choose one of these: {choices}.").format(choices=listed(FAULTS)),
        )
    return ConsumerParameters(whole("duplicates", duplicates, 0, 50), whole("quantity", quantity, 1, 10), str(fault))


class IdempotentConsumer(QueueWorld):
    """The world of this lesson in one account. `folder` is where the learner writes app.py."""

    slug = SLUG
    prefix = PREFIX
    steps = STEPS
    needed = NEEDED
    counted = ("repeat", "orders")
    Parameters = ConsumerParameters
    parameters: ConsumerParameters
    queue = QUEUE
    dead_letter_queue = DEAD_LETTER_QUEUE
    queues = (QUEUE, DEAD_LETTER_QUEUE)
    max_receive_count = MAX_RECEIVE_COUNT
    function = FUNCTION
    orders = ORDERS
    reference = REFERENCE
    experiments = True
    guards: ClassVar[Mapping[str, Path]] = {
        "none": HANDLERS / "unguarded.py",
        "counter": HANDLERS / "counter.py",
        "read-then-write": HANDLERS / "read_then_write.py",
        "message-id": HANDLERS / "message_id_key.py",
        "condition-only": HANDLERS / "condition_only.py",
        "conditional-write": HANDLERS / "app.py",
    }

    provided_code = ""
    """The hash of the code that the lesson deployed."""

    @classmethod
    def checked(cls, **chosen: object) -> ConsumerParameters:
        return parameters(**chosen)

    def provide(self) -> None:
        """Make the function with its role and the two tables; the reference item is written here and never again."""
        services = self.services
        role = services.make_role(f"{FUNCTION}-role", self._rights())
        code = zip_of({"app.py": (HANDLERS / "unguarded.py").read_text(encoding="utf-8")})
        made = services.make_function(FUNCTION, role, code, {"ORDERS_TABLE": ORDERS}, FUNCTION_TIMEOUT)
        services.make_table(ORDERS)
        self.make_reference()
        # A function that is still Pending would refuse the learner's first deployment.
        self._cloud.functions.wait_until_ready(FUNCTION)
        self.provided_code = made["CodeSha256"]
        self.provided_at = self._cloud.journal.last

    def use_guard(self, guard: str) -> Path:
        """As in `LessonWorld`; a worker that reads first may read."""
        path = super().use_guard(guard)
        self.services.set_rights(f"{FUNCTION}-role", self._rights(*_READS.get(guard, ())))
        return path

    def _rights(self, *more: str) -> list[dict[str, Any]]:
        actions = ("dynamodb:PutItem", "dynamodb:UpdateItem", *more)
        return worker_rights(self.services, QUEUE, ORDERS, FUNCTION, actions)

    def fresh(self) -> str:
        return _("The earlier account was closed, and this one is fresh: run the cells again from step 2.")

    def history(self) -> History:
        """What happened in the lesson's queue, function and table since they were provided."""
        journal = self._cloud.journal
        events = journal.events(since=self.provided_at)
        # Asked after the events were taken: what makes room in between can only say too much.
        complete = journal.dropped <= self.provided_at
        return history(events, QUEUE, FUNCTION, ORDERS, complete)

    def probes(self, step: str) -> dict[str, Probe]:
        """The questions of a step's check by the ids of lesson.toml."""
        from helpers.lab.idempotent_consumer_checks import Look

        return Look(self).probes(step)

    def counts(self, until: int | None, orders: tuple[Order, ...]) -> dict[str, Any]:
        """What happened to the lesson's own resources up to event `until`, as plain counts."""
        evidence = self.evidence(until)
        runs = evidence.runs(FUNCTION)
        decisions = self.decisions(evidence)
        return {
            "lesson": SLUG,
            "parameters": asdict(self.parameters),
            "sent": len(evidence.jobs(QUEUE)),
            "runs": len(runs),
            "failed_runs": sum(run.outcome not in {"succeeded", "running"} for run in runs),
            "accepted": sum(one.accepted for one in decisions),
            "refused": sum(refused_by_condition(one) for one in decisions),
            "acknowledged": len(evidence.acknowledged(QUEUE)),
            "dead_lettered": len(evidence.dead_lettered(QUEUE)),
            "executions": 0,
            "orders": [
                {
                    "id": order.id,
                    "quantity": order.quantity,
                    "total_cents": order.total_cents,
                    "runs": len(runs_for(order.id, evidence.jobs(QUEUE), runs)),
                    "accepted": sum(one.accepted for one in decisions if key_of(one) == order.id),
                    "refused": sum(refused_by_condition(one) for one in decisions if key_of(one) == order.id),
                }
                for order in orders
            ],
        }
