"""What a learner can break in a workflow: orders that fail, permissions that go, names that are used again.

Most methods start an execution with an order that fails in one way; the others change what the execution meets. The
deployed worker and the state machine stay as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from helpers.lab.errors import NothingSent
from helpers.lab.evidence import HIGHEST_QUANTITY, Order
from helpers.lab.faults import FaultNotice, LabFaults
from helpers.lab.language import _, ngettext
from helpers.lab.protected_workflow import FIRST_ORDER, MACHINE, POLICY, WORKFLOW_ROLE, ProtectedWorkflow, order_id
from helpers.lab.rest import wait_until_rest
from helpers.lab.services import policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.cloud import Cloud
    from helpers.lab.presets import Script

TOO_MANY_FAILURES = 3
"""One more than the lesson's state machine retries."""

_QUANTITY = 2


class WorkflowFaults(LabFaults):
    """The faults of a lab with a state machine."""

    offered: ClassVar[tuple[str, ...]] = (
        "permanent",
        "quantity_zero",
        "quantity_eleven",
        "other_quantity",
        "same_name",
        "throttle_worker",
        "flaky",
        "more_failures",
        "hold_worker",
        "crash_before_write",
        "lose_request",
        "lose_answer",
        "late_answer",
        "throttle",
        "server_error",
        "crash_before_answer",
        "lose_result",
        "remove_permission",
        "give_permission",
        "clear",
    )

    opened: ClassVar[frozenset[str]] = frozenset({"in-order", "after-write"})

    def __init__(self, cloud: Cloud, lesson: ProtectedWorkflow) -> None:
        super().__init__(cloud, lesson)
        self._workflow = lesson
        self._services = lesson.services

    # --- in the order ---------------------------------------------------------------------------------

    def flaky(self) -> FaultNotice:
        """Start an execution for a new order whose first attempt fails before the write.

        As each of these methods, raises NothingSent when there is no state machine.
        """
        name = self._start_new("flaky-order", mode="flaky")
        text = _("The execution `{name}` was started. Its first attempt fails before the write.")
        return FaultNotice("flaky", text.format(name=name))

    def permanent(self) -> FaultNotice:
        """Start an execution for an order that the worker never accepts."""
        name = self._start_new("permanent-order", mode="permanent")
        text = _("The execution `{name}` was started. The worker raises `InvalidOrder` in each attempt.")
        return FaultNotice("permanent", text.format(name=name))

    def quantity_zero(self) -> FaultNotice:
        """Start an execution for a quantity of 0."""
        return self._quantity(0)

    def quantity_eleven(self) -> FaultNotice:
        """Start an execution for a quantity of 11."""
        return self._quantity(11)

    def other_quantity(self) -> FaultNotice:
        """Start an execution for a stored order with another quantity. Raises NothingSent when no order is stored."""
        order = self._stored()
        quantity = (order.quantity or 0) % HIGHEST_QUANTITY + 1
        wanted = {"id": order.id, "quantity": quantity, "mode": "normal"}
        name = self._start(self._free("other-quantity-order"), wanted)
        return FaultNotice(
            "other-quantity",
            _("The execution `{name}` was started. It asks for `{order}` with the quantity {quantity}.").format(
                name=name, order=order.id, quantity=quantity
            ),
        )

    def more_failures(self) -> FaultNotice:
        """Start an execution for a new order that fails more often than the workflow retries."""
        name = self._start_new("more-failures-order", mode="flaky", failures=TOO_MANY_FAILURES)
        return FaultNotice(
            "more-failures",
            _("The execution `{name}` was started. Its first {count} attempts fail before the write.").format(
                name=name, count=TOO_MANY_FAILURES
            ),
        )

    # --- in the permissions ---------------------------------------------------------------------------

    def remove_permission(self) -> FaultNotice:
        """Take the policy away with which the workflow may call the worker. Raises NothingSent without its role."""
        policies = self._policies()
        if POLICY not in policies:
            text = _("The role `{role}` has no policy `{policy}`, so nothing was removed.")
            return FaultNotice("remove-permission", text.format(role=WORKFLOW_ROLE, policy=POLICY))
        self._services.client("iam").delete_role_policy(RoleName=WORKFLOW_ROLE, PolicyName=POLICY)
        text = _("The policy `{policy}` was removed: the workflow may not call the worker any more.")
        return FaultNotice("remove-permission", text.format(policy=POLICY))

    def give_permission(self) -> FaultNotice:
        """Let the workflow call the worker, and do nothing else. Raises NothingSent without its role."""
        self._policies()
        function = self._services.arn("lambda", f"function:{self._function}")
        statement = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": function}
        document = json.dumps(policy([statement]))
        self._services.client("iam").put_role_policy(RoleName=WORKFLOW_ROLE, PolicyName=POLICY, PolicyDocument=document)
        text = _("The policy `{policy}` is there: the workflow may call the worker.")
        return FaultNotice("give-permission", text.format(policy=POLICY))

    # --- in the name and the worker -------------------------------------------------------------------

    def same_name(self) -> FaultNotice:
        """Start the last execution again with its name and input. Raises NothingSent when there was none."""
        machine = self._machine()
        started = self._workflow.started()
        if not started:
            raise NothingSent(
                _("No execution of `{machine}` was started so far.").format(machine=MACHINE),
                _("This fault uses a name again, so it needs an execution that was started before."),
                _("Run the cells of step 4 first. Then try again."),
            )
        name = started[-1]
        described = self._services.execution(MACHINE, name) or {}
        states = self._services.client("stepfunctions")
        try:
            states.start_execution(stateMachineArn=machine, name=name, input=described.get("input", "{}"))
        except states.exceptions.ExecutionAlreadyExists:
            text = _("`{name}` is closed, so its name was refused with `ExecutionAlreadyExists`.")
        else:
            text = _("`{name}` still runs with this input, so the answer is the same execution. Nothing was started.")
        return FaultNotice("same-name", text.format(name=name))

    def hold_worker(self) -> FaultNotice:
        """Hold the worker's next run at its first call to DynamoDB until `clear`: the execution keeps running."""
        self._worker()
        fault = self._cloud.faults.hold("dynamodb", ("UpdateItem", "GetItem"), function=self._function)
        self._arm("hold-worker", fault)
        return FaultNotice(
            "hold-worker",
            _("The next run of `{function}` will be held until you call `lab.faults.clear()`.").format(
                function=self._function
            )
            + " "
            + _("After 5 seconds, the timeout of the function ends the run."),
        )

    def throttle_worker(self) -> FaultNotice:
        """Refuse the workflow's next call of the worker: too many runs at once."""
        self._worker()
        fault = self._cloud.faults.throttle("lambda", "Invoke", caller="workflow", resource=self._function)
        self._arm("throttle-worker", fault)
        return FaultNotice(
            "throttle-worker",
            _("Lambda will refuse the next call of the workflow: too many requests. The worker does not run.")
            + " "
            + _("For the workflow, the task fails with `Lambda.TooManyRequestsException`."),
        )

    # --- after the write ------------------------------------------------------------------------------

    def crash_before_answer(self) -> FaultNotice:
        """Kill the worker's process right after its next accepted order: its result never arrives."""
        self._arm("crash-after-write", self._cloud.faults.crash(action="PutItem", accepted=True, **self._writing()))
        text = ngettext(
            "The process of `{function}` will be killed right after its next accepted write.",
            "The process of `{function}` will be killed right after each of its next {count} accepted writes.",
            1,
        ).format(function=self._function, count=1)
        return FaultNotice("crash-after-write", f"{text} {self._after_a_crash()}")

    def lose_result(self) -> FaultNotice:
        """Let the worker do all its work, and lose its result on the way to the workflow."""
        self._worker()
        fault = self._cloud.faults.lose_answer("lambda", "Invoke", caller="workflow", resource=self._function)
        self._arm("lose-result", fault)
        return FaultNotice(
            "lose-result",
            _("The next run of `{function}` will do its work, and its result will be lost.").format(
                function=self._function
            )
            + " "
            + _("For the workflow, the task fails with `Lambda.SdkClientException`."),
        )

    def clear(self) -> FaultNotice:
        """Disarm all faults. A run that is held goes on.

        Whether the worker stands at the held call already is chance, so the notice counts nothing.
        """
        super().clear()
        return FaultNotice("none", _("No fault is armed any more. A run that was held goes on."))

    # --- for demonstrations ---------------------------------------------------------------------------

    def start_order(self, name: str, order: str, **members: Any) -> None:
        """Start an execution for an order; `members` are further members of its input, `mode` for example."""
        self._start(self._free(name), {"id": order, "quantity": _QUANTITY, "mode": "normal", **members})

    def fresh_order(self, base: str) -> str:
        stored = (order.id for order in self._workflow.stored_orders())
        return self._orders.fresh(base, [*self._workflow.started(), *stored])

    def runs_of(self, order: str) -> int:
        return sum(order_id(run) == order for run in self._workflow.evidence().runs(self._function))

    def _scripts(self) -> Sequence[Script]:
        from helpers.lab.workflow_presets import scripts

        return scripts(self)

    def apply(self, name: str) -> FaultNotice | None:
        """Do what papermill's parameter `fault` names; "none" does nothing. Raises BadParameter."""
        self._lesson.choose({"fault": name})
        if name == "no-permission":
            notice = self.remove_permission()
            self._start_new("no-permission-order", mode="normal")
            wait_until_rest(self._cloud, self.advance, lambda: 0)
            self.give_permission()
            return notice
        does = {
            "flaky": self.flaky,
            "permanent": self.permanent,
            "other-quantity": self.other_quantity,
            "more-failures": self.more_failures,
        }
        return does[name]() if name in does else None

    # --- inside ---------------------------------------------------------------------------------------

    def _after_a_crash(self) -> str:
        return _("For the workflow, the task fails with `Runtime.ExitError`.")

    def _quantity(self, quantity: int) -> FaultNotice:
        name = self._start_new(f"quantity-{quantity}-order", quantity=quantity, mode="normal")
        text = _("The execution `{name}` was started. It asks for a quantity of {quantity}.")
        return FaultNotice("quantity", text.format(name=name, quantity=quantity))

    def _start_new(self, base: str, **members: Any) -> str:
        """Start an execution for an order that is as new as the execution's name."""
        self._machine()
        name = self._free(base)
        return self._start(name, {"id": name, "quantity": _QUANTITY, **members})

    def _start(self, name: str, order: dict[str, Any]) -> str:
        self._services.client("stepfunctions").start_execution(
            stateMachineArn=self._machine(), name=name, input=json.dumps(order)
        )
        return name

    def _free(self, base: str) -> str:
        """The name, or the first of `name-2`, `name-3`, … that no execution has had."""
        used = set(self._workflow.started())
        number = 1
        name = base
        while name in used:
            number += 1
            name = f"{base}-{number}"
        return name

    def _machine(self) -> str:
        """The ARN of the lesson's state machine."""
        machine = self._services.state_machine(MACHINE)
        if machine is None:
            raise NothingSent(
                _("There is no state machine `{machine}`.").format(machine=MACHINE),
                _("This fault works on the workflow of the lesson. It was not created yet, or it was deleted."),
                _("Run the cells of step 3 again. Then try again."),
            )
        return str(machine["stateMachineArn"])

    def _policies(self) -> dict[str, Any]:
        policies = self._services.role_policies(WORKFLOW_ROLE)
        if policies is None:
            raise NothingSent(
                _("There is no role `{role}`.").format(role=WORKFLOW_ROLE),
                _("This fault works on the role of the workflow. It was not created yet, or it was deleted."),
                _("Run the cells of step 3 again. Then try again."),
            )
        return policies

    def _stored(self) -> Order:
        """The lesson's first order where it is stored, otherwise any stored order."""
        self._machine()
        stored = {order.id: order for order in self._workflow.stored_orders()}
        if not stored:
            raise NothingSent(
                _("No order is stored so far."),
                _("This fault asks for a stored order with another quantity."),
                _("Run the cells of step 4 first. Then try again."),
            )
        return stored.get(FIRST_ORDER) or next(iter(stored.values()))
