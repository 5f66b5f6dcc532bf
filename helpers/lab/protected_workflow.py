"""What is particular to the lesson *protected-workflow*: what it provides, what it counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from helpers.lab.errors import BadParameter
from helpers.lab.evidence import Order, Run, key_of, refused_by_condition
from helpers.lab.language import LESSONS, _
from helpers.lab.lesson_world import LessonWorld
from helpers.lab.parameters import listed, shown, whole
from helpers.lab.services import Services, zip_of

if TYPE_CHECKING:
    from helpers.lab.checks import Probe
    from helpers.lab.executions import Execution, StateMachine
    from helpers.lab.rest import Rest
    from helpers.lab.view import ExecutionView, View
    from helpers.lab.workflow_faults import WorkflowFaults

SLUG = "protected-workflow"
PREFIX = "ev05-"
FUNCTION = "ev05-worker"
WORKER_ROLE = "ev05-worker-role"
ORDERS = "ev05-orders"
ATTEMPTS = "ev05-attempts"
REFERENCE = "ev05-reference"
LOG_GROUP = f"/aws/lambda/{FUNCTION}"

MACHINE = "ev05-orders"
WORKFLOW_ROLE = "ev05-workflow-role"
POLICY = "InvokeWorker"

FUNCTION_TIMEOUT = 5
HANDLER = "app.handler"
VARIABLES = {"ORDERS_TABLE": ORDERS, "ATTEMPTS_TABLE": ATTEMPTS}

FIRST_ORDER = "protected-order"
DIFFERENT_ORDER = "different-order"
FIRST_EXECUTION = "after-write-order"
REPEATED_EXECUTION = "repeated-order"
DIFFERENT_EXECUTION = "different-order"

STEPS = ("deploy", "connect", "run", "break", "clean-up")

NEEDED: Mapping[str, tuple[str, ...]] = {
    "deploy": ("code",),
    "connect": ("policy", "machine"),
    "run": ("first",),
}
"""The points of a step without which later steps have nothing to work with."""

FAULTS = ("none", "flaky", "permanent", "other-quantity", "no-permission", "more-failures")

HANDLERS = LESSONS / "protected_workflow" / "handlers"

_LONGEST_PAUSE = 60
"""Seconds. Longer than any pause before a retry in the lesson."""


@dataclass(frozen=True, slots=True)
class WorkflowParameters:
    """What papermill may choose. `repeats`: how many more executions ask for the first order in step *run*."""

    repeats: int = 1
    quantity: int = 4
    fault: str = "none"


def parameters(repeats: object = 1, quantity: object = 4, fault: object = "none") -> WorkflowParameters:
    """Checked parameters. Raises BadParameter, with the reason in the reader's language."""
    if fault not in FAULTS:
        raise BadParameter(
            _("`fault` is `{value}`, and the lesson knows no such fault.").format(value=shown(fault)),
            _("The fault decides what goes wrong in step 4."),
            _("Choose one of these: {choices}.").format(choices=listed(FAULTS)),
        )
    return WorkflowParameters(whole("repeats", repeats, 0, 20), whole("quantity", quantity, 1, 10), str(fault))


class ProtectedWorkflow(LessonWorld):
    """The world of this lesson in one account."""

    slug = SLUG
    prefix = PREFIX
    steps = STEPS
    needed = NEEDED
    counted = ("run", "orders")
    Parameters = WorkflowParameters
    parameters: WorkflowParameters
    function = FUNCTION
    orders = ORDERS
    reference = REFERENCE
    machine = MACHINE
    guards: ClassVar[Mapping[str, Path]] = {
        "none": HANDLERS / "unguarded.py",
        "conditional-write": HANDLERS / "app.py",
    }

    provided_code = ""
    """The hash of the code that the lesson deployed."""

    @classmethod
    def checked(cls, **chosen: object) -> WorkflowParameters:
        return parameters(**chosen)

    def provide(self) -> None:
        """Make the function with its role and the three tables."""
        services = self.services
        role = services.make_role(WORKER_ROLE, _worker_rights(services))
        code = zip_of({"app.py": (HANDLERS / "unguarded.py").read_text(encoding="utf-8")})
        made = services.make_function(FUNCTION, role, code, VARIABLES, FUNCTION_TIMEOUT, HANDLER)
        services.make_table(ORDERS)
        services.make_table(ATTEMPTS)
        self.make_reference()
        # A function that is still Pending would refuse the learner's first deployment.
        self._cloud.functions.wait_until_ready(FUNCTION)
        self.provided_code = made["CodeSha256"]
        self.provided_at = self._cloud.journal.last

    def fresh(self) -> str:
        return _("The earlier account was closed, and this one is fresh: run the cells again from step 2.")

    def make_faults(self) -> WorkflowFaults:
        from helpers.lab.workflow_faults import WorkflowFaults

        return WorkflowFaults(self._cloud, self)

    def probes(self, step: str) -> dict[str, Probe]:
        """The questions of a step's check by the ids of lesson.toml."""
        from helpers.lab.protected_workflow_checks import Look

        return Look(self).probes(step)

    def state_machine(self) -> StateMachine | None:
        """The state machine as Step Functions has it now, None when there is none."""
        from helpers.lab.executions import read_definition

        machine = self.services.state_machine(MACHINE)
        return read_definition(MACHINE, machine["definition"]) if machine else None

    def execution(self, name: str) -> Execution | None:
        """An execution with its history, None when there is none of that name."""
        from helpers.lab.executions import read_definition, story

        services = self.services
        described = services.execution(MACHINE, name)
        if described is None:
            return None
        machine = read_definition(MACHINE, services.definition_of(MACHINE, name))
        return story(name, machine, described, services.execution_history(MACHINE, name))

    def started(self) -> tuple[str, ...]:
        """The names of the executions that were started, in their order."""
        from helpers.cloud.journal import ExecutionStarted

        return tuple(
            event.name
            for event in self.evidence().of(ExecutionStarted)
            if event.state_machine.rpartition(":")[2] == MACHINE
        )

    def skip_waits(self) -> int:
        """Let executions go on that wait before a retry; the seconds skipped, 0 when none waits."""
        waiting = [name for name in self.started() if self._is_running(name)]
        if not waiting:
            return 0
        self._cloud.skip(_LONGEST_PAUSE)
        return _LONGEST_PAUSE

    def rest(self) -> Rest:
        from helpers.lab.rest import WorkflowRest

        return WorkflowRest(waiting=tuple(name for name in self.started() if self._is_running(name)))

    def view(self) -> View:
        from helpers.lab import view

        taken = view.take(self)
        runs = self.evidence().runs(FUNCTION)
        named = zip(taken.runs, sorted(runs, key=lambda run: run.number), strict=False)
        return dataclasses.replace(
            taken,
            executions=tuple(self._execution_views(runs)),
            runs=tuple(dataclasses.replace(shown, execution=run.execution) for shown, run in named),
        )

    def _execution_views(self, runs: list[Run]) -> list[ExecutionView]:
        from helpers.lab.view import ExecutionView

        views = []
        for name in self.started():
            described = self.services.execution(MACHINE, name)
            if described is not None:
                ran = sum(run.execution == name for run in runs)
                views.append(
                    ExecutionView(
                        name,
                        described["status"],
                        described["input"],
                        described.get("output"),
                        ran,
                        described.get("error", ""),
                    )
                )
        return views

    def _is_running(self, name: str) -> bool:
        described = self.services.execution(MACHINE, name)
        return described is not None and described["status"] == "RUNNING"

    def counts(self, until: int | None, orders: tuple[Order, ...]) -> dict[str, Any]:
        """What happened to the lesson's own resources up to event `until`, as plain counts."""
        from helpers.cloud.journal import ExecutionEnded, ExecutionStarted

        evidence = self.evidence(until)
        runs = evidence.runs(FUNCTION)
        decisions = [one for one in evidence.decisions(ORDERS) if one.caller.kind == "function"]
        started = [one for one in evidence.of(ExecutionStarted) if one.state_machine.rpartition(":")[2] == MACHINE]
        ended = [one for one in evidence.of(ExecutionEnded) if one.state_machine.rpartition(":")[2] == MACHINE]
        return {
            "lesson": SLUG,
            "parameters": asdict(self.parameters),
            "executions": len(started),
            "succeeded_executions": sum(one.status == "SUCCEEDED" for one in ended),
            "failed_executions": sum(one.status != "SUCCEEDED" for one in ended),
            "runs": len(runs),
            "failed_runs": sum(run.outcome not in {"succeeded", "running"} for run in runs),
            "accepted": sum(one.accepted for one in decisions),
            "refused": sum(refused_by_condition(one) for one in decisions),
            "orders": [
                {
                    "id": order.id,
                    "quantity": order.quantity,
                    "total_cents": order.total_cents,
                    "runs": sum(order_id(run) == order.id for run in runs),
                    "accepted": sum(one.accepted for one in decisions if key_of(one) == order.id),
                    "refused": sum(refused_by_condition(one) for one in decisions if key_of(one) == order.id),
                }
                for order in orders
            ],
        }


def order_id(run: Run) -> Any:
    """The order that a run was invoked for."""
    return run.event.get("id") if isinstance(run.event, dict) else None


def _worker_rights(services: Services) -> list[dict[str, Any]]:
    """What the worker may do: read and write orders, count attempts, write its own logs."""
    own_logs = services.arn("logs", f"log-group:{LOG_GROUP}")
    allowed = [
        (["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"], services.arn("dynamodb", f"table/{ORDERS}")),
        (["dynamodb:UpdateItem"], services.arn("dynamodb", f"table/{ATTEMPTS}")),
        (["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], [own_logs, f"{own_logs}:*"]),
    ]
    return [{"Effect": "Allow", "Action": actions, "Resource": resource} for actions, resource in allowed]
