"""What is particular to the lesson *order-file*: what it provides, how it reads S3's events, what it counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote_plus

from helpers.lab.errors import BadParameter
from helpers.lab.evidence import Evidence, Job, Order, Run, key_of, refused_by_condition
from helpers.lab.language import LESSONS, _
from helpers.lab.lesson_world import QueueWorld
from helpers.lab.parameters import listed, shown, whole
from helpers.lab.services import worker_rights, zip_of

if TYPE_CHECKING:
    from helpers.cloud.journal import Call, WriteDecision
    from helpers.lab.checks import Probe
    from helpers.lab.faults import LabFaults

PREFIX = "shop-"
BUCKET = "shop-order-files"
QUEUE = "shop-uploads"
DEAD_LETTER_QUEUE = "shop-dead"
FUNCTION = "shop-worker"
ORDERS = "shop-orders"
REFERENCE = "shop-reference"
FOLDER = "orders"

VISIBILITY_TIMEOUT = 30
FUNCTION_TIMEOUT = 5
MAX_RECEIVE_COUNT = 3

FAULTS = ("none", "upload-again", "send-twice", "slow-worker", "broken-message")
BROKEN = ("none", "m-1", "m-2", "m-3")
LONGEST_CUSTOMER = 60
HIGHEST_NUMBER = 999_000

HANDLER = LESSONS / "order_file" / "handlers" / "app.py"

TEST_EVENT = "s3:TestEvent"


@dataclass(frozen=True, slots=True)
class OrderFileParameters:
    """What papermill may choose: the customer and the number of the first order, the broken message of the batch of
    three, and the fault of step *batch*."""

    customer: str = "Ana Ruiz"
    number: int = 1001
    broken: str = "m-2"
    fault: str = "none"


class OrderFile(QueueWorld):
    """The world of this lesson in one account."""

    slug = "order-file"
    prefix = PREFIX
    steps = ("connect", "upload", "write", "batch", "break", "clean-up")
    needed: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "connect": ("bucket", "queue", "policy", "notification"),
        "upload": ("uploaded",),
        "write": ("stored",),
        "batch": ("mapping",),
        "break": ("again",),
        "clean-up": ("mapping", "queues"),
    }
    counted = ("batch", "good")
    Parameters = OrderFileParameters
    parameters: OrderFileParameters
    queue = QUEUE
    dead_letter_queue = DEAD_LETTER_QUEUE
    queues = (QUEUE, DEAD_LETTER_QUEUE)
    max_receive_count = MAX_RECEIVE_COUNT
    function = FUNCTION
    orders = ORDERS
    reference = REFERENCE

    @classmethod
    def checked(cls, **chosen: object) -> OrderFileParameters:
        values = {**asdict(OrderFileParameters()), **chosen}
        for name, choices in (("broken", BROKEN), ("fault", FAULTS)):
            if values[name] not in choices:
                raise BadParameter(
                    _("`{name}` is `{value}`, and there is no such choice.").format(
                        name=name, value=shown(values[name])
                    ),
                    _("It decides what goes wrong in the lesson."),
                    _("Choose one of these: {choices}.").format(choices=listed(choices)),
                )
        return OrderFileParameters(
            _customer(values["customer"]),
            whole("number", values["number"], 1, HIGHEST_NUMBER),
            str(values["broken"]),
            str(values["fault"]),
        )

    def provide(self) -> None:
        """Make the function with its role and the two tables; bucket and queues are the learner's."""
        services = self.services
        rights = [
            *worker_rights(services, QUEUE, ORDERS, FUNCTION, ("dynamodb:PutItem",)),
            {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": f"arn:aws:s3:::{BUCKET}/*"},
        ]
        role = services.make_role(f"{FUNCTION}-role", rights)
        code = zip_of({"app.py": HANDLER.read_text(encoding="utf-8")})
        services.make_function(FUNCTION, role, code, {"ORDERS_TABLE": ORDERS}, FUNCTION_TIMEOUT)
        services.make_table(ORDERS)
        self.make_reference()
        self._cloud.functions.wait_until_ready(FUNCTION)
        self.provided_at = self._cloud.journal.last

    def probes(self, step: str) -> dict[str, Probe]:
        from helpers.lab.order_file_checks import Look

        return Look(self).probes(step)

    def make_faults(self) -> LabFaults:
        from helpers.lab.order_file_faults import OrderFileFaults

        return OrderFileFaults(self._cloud, self)

    # --- the first order and the batch ------------------------------------------------------------------

    @property
    def first_key(self) -> str:
        """The key of the file that the learner uploads first."""
        return f"{FOLDER}/{self.parameters.customer}/{self.parameters.number}"

    @property
    def batch_keys(self) -> dict[str, str]:
        """The keys of the three files of step *batch* by the names of their messages."""
        names = [name for name in BROKEN if name != "none"]
        chosen = self.parameters
        keys = {name: f"{FOLDER}/{chosen.customer}/{chosen.number + place}" for place, name in enumerate(names, 1)}
        if chosen.broken in keys:
            keys[chosen.broken] = f"{FOLDER}/{chosen.broken}"
        return keys

    # --- what the view and the outcome show -------------------------------------------------------------

    def decisions(self, evidence: Evidence) -> list[WriteDecision]:
        """The orders that were to be stored, by the worker or by the learner's own `put_item`."""
        wanted = {"function", "learner"}
        made = evidence.decisions(ORDERS)
        return [one for one in made if one.caller.kind in wanted and one.action != "DeleteItem"]

    def body_shown(self, body: str) -> str:
        """An event of S3 in short: its times and ids differ each time."""
        event, keys = read_event(body)
        return " ".join([event, *keys]) if event else body

    def subject(self, body: str) -> str:
        """The order of the first file that S3's event names."""
        _event, keys = read_event(body)
        return (order_of_key(keys[0]) or keys[0]) if keys else ""

    def result_shown(self, result: Any, places: Mapping[str, int]) -> Any:
        failures = result.get("batchItemFailures") if isinstance(result, dict) else None
        if not isinstance(failures, list):
            return result
        ids = [str(one.get("itemIdentifier", "")) if isinstance(one, dict) else str(one) for one in failures]
        return {**result, "batchItemFailures": sorted(places.get(one, 0) for one in ids)}

    def counts(self, until: int | None, orders: tuple[Order, ...]) -> dict[str, Any]:
        evidence = self.evidence(until)
        jobs, runs = evidence.jobs(QUEUE), evidence.runs(FUNCTION)
        decisions = self.decisions(evidence)
        return {
            "lesson": self.slug,
            "parameters": asdict(self.parameters),
            "uploaded": len(uploads(evidence)),
            "sent": len(jobs),
            "runs": len(runs),
            "failed_runs": sum(run.outcome not in {"succeeded", "running"} for run in runs),
            "returned": sum(len(reported(run)) for run in runs),
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
                    "runs": len(runs_for_order(order.id, jobs, runs)),
                    "accepted": sum(one.accepted for one in decisions if key_of(one) == order.id),
                    "refused": sum(refused_by_condition(one) for one in decisions if key_of(one) == order.id),
                }
                for order in orders
            ],
        }


def read_event(body: str) -> tuple[str, tuple[str, ...]]:
    """The name of S3's event in a message, and the keys of its objects as they were uploaded.

    ("s3:TestEvent", ()) for the test event, ("", ()) for a body that is no event of S3.
    """
    try:
        event = json.loads(body)
        if event.get("Event") == TEST_EVENT:
            return TEST_EVENT, ()
        records = event["Records"]
        return str(records[0]["eventName"]), tuple(unquote_plus(one["s3"]["object"]["key"]) for one in records)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return "", ()


def order_of_key(key: str) -> str | None:
    """The order id that a key of three parts names: `orders/Ana Ruiz/1001` is `Ana Ruiz/1001`."""
    parts = key.split("/")
    return "/".join(parts[1:]) if len(parts) == 3 and all(parts) else None


def uploads(evidence: Evidence) -> list[Call]:
    """The files that the learner put into the bucket, oldest first."""
    return [call for call in evidence.calls("s3", "PutObject") if call.parameters.get("Bucket") == BUCKET]


def runs_for_order(order: str, jobs: Iterable[Job], runs: Iterable[Run]) -> list[Run]:
    """The runs that were given a message about this order."""
    messages = {job.message_id for job in jobs if order in map(order_of_key, read_event(job.body)[1])}
    return [run for run in runs if messages & run.message_ids]


def reported(run: Run) -> tuple[str, ...]:
    """The ids of the messages that a run reported as not done."""
    failures = run.result.get("batchItemFailures") if isinstance(run.result, dict) else None
    if not isinstance(failures, list):
        return ()
    return tuple(str(one["itemIdentifier"]) for one in failures if isinstance(one, dict) and "itemIdentifier" in one)


def _customer(value: object) -> str:
    """A name that can stand between two slashes of a key. Raises BadParameter."""
    usable = isinstance(value, str) and value.strip() == value and 0 < len(value) <= LONGEST_CUSTOMER
    if not isinstance(value, str) or not usable or "/" in value or not value.isprintable():
        raise BadParameter(
            _("`customer` is `{value}`, and the lesson cannot use it as a name.").format(value=shown(value)),
            _("The name becomes the middle part of a key. A slash separates the parts."),
            _("Choose a text of 1 to {longest} characters without a slash, for example `Ana Ruiz`.").format(
                longest=LONGEST_CUSTOMER
            ),
        )
    return value
