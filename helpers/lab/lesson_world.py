"""The world of one lesson: what it provides, what its checks ask, what it counts, what can be broken in it.

`Lab` knows no lesson. It opens an account, makes the lesson's world in it and asks the world. `make lesson SLUG=…`
writes a small lesson that runs (helpers/course/scaffold.py). By hand:

1. `lessons/<slug_>/lesson.md`, `lesson.toml` and `handlers/`, and an entry in `lessons/course.toml`.
2. `helpers/lab/<slug_>.py` with a subclass of `LessonWorld` (a lesson with a queue: of `QueueWorld`). Give it the class
   attributes below, a frozen dataclass of its parameters, and `checked`, `provide`, `probes`, `counts`.
3. `helpers/lab/<slug_>_checks.py` with the probes: one per point of lesson.toml, by the ids that stand there.
4. If it breaks things in its own way, a subclass of `LabFaults` with `offered`, `opened` and `_scripts` (its
   demonstrations), returned by `make_faults`; and in `helpers/show/fault_controls.py` a control for each method that
   no lesson had before.
5. An entry in `WORLDS` below. Nothing else knows the names of lessons.

What a notebook calls then works: `lab.check`, `lab.require`, `lab.settle`, `lab.skip`, `lab.apply`, `lab.faults`,
`lab.view`, `lab.outcome`, `lab.vocabulary`, `lab.predict`, `lab.reset`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from helpers.lab.errors import BadParameter, UnknownLesson
from helpers.lab.evidence import Evidence, Order, order_of, read_job
from helpers.lab.language import _
from helpers.lab.parameters import listed, shown
from helpers.lab.services import Services

if TYPE_CHECKING:
    from helpers.cloud import Cloud
    from helpers.cloud.journal import WriteDecision
    from helpers.lab.checks import Probe
    from helpers.lab.executions import Execution, StateMachine
    from helpers.lab.faults import LabFaults
    from helpers.lab.rest import Rest
    from helpers.lab.view import View

WORLDS = {
    "order-file": "helpers.lab.order_file:OrderFile",
    "idempotent-consumer": "helpers.lab.idempotent_consumer:IdempotentConsumer",
    "protected-workflow": "helpers.lab.protected_workflow:ProtectedWorkflow",
}
"""The class of each lesson's world by slug. It is imported when the lesson is opened."""

NOTE = "keep unchanged"
"""What the reference item says, in each lesson."""


class LessonWorld(ABC):
    """One lesson in one account. `folder` is where the learner writes code, `chosen` an instance of `Parameters`."""

    slug: ClassVar[str]
    prefix: ClassVar[str]
    """How the names of the lesson's resources begin."""

    steps: ClassVar[tuple[str, ...]]
    """The steps that have a check, in their order."""

    needed: ClassVar[Mapping[str, tuple[str, ...]]]
    """The points of a step without which later steps have nothing to work with."""

    optional: ClassVar[frozenset[str]] = frozenset({"break"})
    """Steps that no later step needs."""

    counted: ClassVar[tuple[str, str]]
    """The step up to whose end `outcome` counts, and the point of its check that knows the orders."""

    Parameters: ClassVar[type]
    """A frozen dataclass: the names and the usual values of what papermill may choose."""

    queue: ClassVar[str] = ""
    """The queue of the lesson, empty when it has none."""

    dead_letter_queue: ClassVar[str] = ""
    queues: ClassVar[tuple[str, ...]] = ()
    """The queues that the view shows."""

    max_receive_count: ClassVar[int] = 0
    """How often a message of the queue is received before it moves to the dead-letter queue."""

    function: ClassVar[str]
    orders: ClassVar[str]
    """The table of the orders."""

    reference: ClassVar[str]
    """The table with the reference item."""

    machine: ClassVar[str] = ""
    """The state machine of the lesson, empty when it has none."""

    guards: ClassVar[Mapping[str, Path]] = {}
    """The handlers that `lab.use_guard` writes in the place of the learner's own, by the names of their guards."""

    experiments: ClassVar[bool] = False
    """Whether `lab.experiment`, `lab.batch_experiment`, `lab.explore` and `lab.verify` belong to the lesson."""

    def __init__(self, cloud: Cloud, folder: Path, chosen: Any) -> None:
        self._cloud = cloud
        self.folder = folder
        self.parameters = chosen
        self.services = Services(cloud)
        self.provided_at = 0

    # --- each lesson says ---------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def checked(cls, **chosen: object) -> Any:
        """An instance of `Parameters`. Raises BadParameter, with the reason in the reader's language."""

    @abstractmethod
    def provide(self) -> None:
        """Make what the lesson provides, the reference item too; then set `provided_at` to the journal's last event."""

    @abstractmethod
    def probes(self, step: str) -> dict[str, Probe]:
        """The questions of a step's check by the ids of lesson.toml."""

    @abstractmethod
    def counts(self, until: int | None, orders: tuple[Order, ...]) -> dict[str, Any]:
        """What happened to the lesson's own resources up to event `until`, as plain counts that JSON can hold."""

    # --- what most lessons share --------------------------------------------------------------------------------

    @classmethod
    def check_guard(cls, guard: object) -> None:
        """Raises BadParameter for a guard that no worker of the lesson has."""
        if guard not in cls.guards:
            raise BadParameter(
                _("`{name}` is `{value}`, and there is no such choice.").format(name="guard", value=shown(guard)),
                _("The lesson has a worker for each of its guards."),
                _("Choose one of these: {choices}.").format(choices=listed(tuple(cls.guards))),
            )

    def use_guard(self, guard: str) -> Path:
        """Write the handler with this guard to `folder`/app.py, and let its worker do what it needs. Returns the file.

        Raises BadParameter.
        """
        self.check_guard(guard)
        path = self.folder / "app.py"
        # The line tells it from the code that the lesson provides: to deploy it again is a deployment, too.
        code = f"# guard: {guard}\n{self.guards[guard].read_text(encoding='utf-8')}"
        path.write_text(code, encoding="utf-8", newline="\n")
        return path

    @classmethod
    def choose(cls, chosen: Mapping[str, object]) -> Any:
        """An instance of `Parameters` from what was chosen. Raises BadParameter, also for an unknown name."""
        known = [field.name for field in dataclasses.fields(cls.Parameters)]
        for name in chosen:
            if name not in known:
                raise BadParameter(
                    _("The lesson has no parameter `{name}`.").format(name=name[:40]),
                    _("The values of one run are chosen by name in the first code cell."),
                    _("Choose one of these: {choices}.").format(choices=", ".join(f"`{one}`" for one in known)),
                )
        return cls.checked(**chosen)

    def make_faults(self) -> LabFaults:
        """The faults of this lesson, fresh."""
        from helpers.lab.faults import LabFaults

        return LabFaults(self._cloud, self)

    def fresh(self) -> str:
        """What a learner is told when an earlier account made room for this one."""
        return _("The earlier account was closed, and this one is fresh: run the cells again from the top.")

    def evidence(self, until: int | None = None) -> Evidence:
        """What happened since the lesson was provided."""
        return Evidence(self._cloud.journal, since=self.provided_at, until=until)

    def decisions(self, evidence: Evidence) -> list[WriteDecision]:
        """The write decisions about orders that the lesson looks at, oldest first: those of functions."""
        return [one for one in evidence.decisions(self.orders) if one.caller.kind == "function"]

    def body_shown(self, body: str) -> str:
        """The body of a message as the view shows it."""
        return body

    def subject(self, body: str) -> str:
        """The order that a message is about, by the rule of its worker; empty when the body names none."""
        job = read_job(body)
        return job[0] if job else ""

    def result_shown(self, result: Any, places: Mapping[str, int]) -> Any:
        """The result of a run as the view shows it; `places` are the numbers of the messages by message id."""
        return result

    def stored_orders(self) -> tuple[Order, ...]:
        """The orders as they are stored now, by id; none when the table is gone."""
        return tuple(order_of(item) for item in self.services.items(self.orders) or ())

    def reference_note(self) -> str | None:
        """The note of the reference item, None when it is gone."""
        items = self.services.items(self.reference) or []
        return items[0].get("note", {}).get("S") if len(items) == 1 else None

    def make_reference(self) -> None:
        """The table with the reference item, which is written here and never again."""
        self.services.make_table(self.reference)
        item = {"id": {"S": "reference"}, "note": {"S": NOTE}}
        self.services.client("dynamodb").put_item(TableName=self.reference, Item=item)

    def state_machine(self) -> StateMachine | None:
        """The state machine as Step Functions has it now, None when there is none."""
        return None

    def execution(self, name: str) -> Execution | None:
        """An execution with its history, None when there is none of that name."""
        return None

    def started(self) -> tuple[str, ...]:
        """The names of the executions that were started, in their order."""
        return ()

    def skip_waits(self) -> int:
        """Let what waits for time go on; the seconds that were skipped, 0 when nothing waits."""
        return 0

    def rest(self) -> Rest:
        """What there is to say when the account has come to rest."""
        from helpers.lab.rest import Rest

        return Rest()

    def view(self) -> View:
        """The account at this moment, as plain data."""
        from helpers.lab import view

        return view.take(self)


class QueueWorld(LessonWorld):
    """A lesson whose work arrives in a queue."""

    def skip_waits(self) -> int:
        """Let hidden messages of the lesson's queue come back; the seconds skipped, 0 when none is hidden."""
        attributes = self.services.queue_attributes(self.queue)
        if attributes is None or attributes["ApproximateNumberOfMessagesNotVisible"] == "0":
            return 0
        seconds = max(1, int(attributes["VisibilityTimeout"]))
        self._cloud.skip(seconds)
        return seconds

    def rest(self) -> Rest:
        from helpers.lab import rest

        return rest.rest_of(self.services, self.queue, self.function, self.evidence().runs(self.function))


def world_of(lesson: str) -> type[LessonWorld]:
    """The class of a lesson's world. Raises UnknownLesson."""
    if lesson not in WORLDS:
        raise UnknownLesson(
            _("There is no lesson `{name}`.").format(name=lesson),
            _("A lesson is called by the name that stands in its notebook."),
            _("Choose one of these: {choices}.").format(choices=", ".join(f"`{name}`" for name in WORLDS)),
        )
    module, _colon, name = WORLDS[lesson].partition(":")
    world: type[LessonWorld] = getattr(import_module(module), name)
    return world
