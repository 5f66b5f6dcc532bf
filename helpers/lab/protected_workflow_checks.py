"""What the checks of the lesson *protected-workflow* look at: the live account and the journal, never the cells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from helpers.cloud.journal import Call
from helpers.lab.checks import Finding, Probe, not_attempted, not_yet, right
from helpers.lab.deployed_code import deployed_code
from helpers.lab.evidence import Order, key_of, total_cents
from helpers.lab.executions import Attempt, Execution
from helpers.lab.failures import last_failure
from helpers.lab.language import _, ngettext
from helpers.lab.lesson_world import NOTE
from helpers.lab.protected_workflow import (
    ATTEMPTS,
    DIFFERENT_EXECUTION,
    DIFFERENT_ORDER,
    FIRST_EXECUTION,
    FIRST_ORDER,
    FUNCTION,
    HANDLER,
    LOG_GROUP,
    MACHINE,
    ORDERS,
    POLICY,
    PREFIX,
    REFERENCE,
    REPEATED_EXECUTION,
    VARIABLES,
    WORKER_ROLE,
    WORKFLOW_ROLE,
)

if TYPE_CHECKING:
    from helpers.lab.protected_workflow import ProtectedWorkflow

STORE = "StoreOrder"
TRANSIENT = "TransientOrderError"
INVALID = "InvalidOrder"
REJECTED = "OrderRejected"
REFUSED = "ConditionalCheckFailedException"
NOT_ALLOWED = "Lambda.AWSLambdaException"

RUNS = {FIRST_EXECUTION: 3, REPEATED_EXECUTION: 2, DIFFERENT_EXECUTION: 2}
"""Runs of the worker that each execution of step *run* causes."""

WAYS = {
    ("CheckQuantity", "StoreOrder"),
    ("CheckQuantity", "Rejected"),
    ("StoreOrder", "ReadSummary"),
    ("StoreOrder", "Rejected"),
}
TYPES = {"CheckQuantity": "Choice", "StoreOrder": "Task", "ReadSummary": "Task", "Rejected": "Fail"}


class Look:
    """One look at the account: the evidence is taken once, each service is asked when a probe needs it."""

    def __init__(self, lesson: ProtectedWorkflow) -> None:
        self._lesson = lesson
        self._services = lesson.services
        self._evidence = lesson.evidence()
        self._runs = self._evidence.runs(FUNCTION)
        self._decisions = [d for d in self._evidence.decisions(ORDERS) if d.caller.kind == "function"]
        self._started = lesson.started()
        self._read: dict[str, Execution | None] = {}

    def probes(self, step: str) -> dict[str, Probe]:
        """The questions of a step's check by the ids of lesson.toml."""
        return {
            "deploy": {"code": self.code, "settings": self.settings},
            "connect": {
                "role": self.role,
                "policy": self.policy,
                "machine": self.machine,
                "states": self.states,
                "retry": self.retry,
                "catch": self.catch,
            },
            "run": {
                "first": self.first,
                "repeated": self.repeated,
                "different": self.different,
                "runs": self.runs,
                "decisions": self.decisions,
                "orders": self.orders,
            },
            "break": {
                "flaky": self.flaky,
                "rejected": self.rejected,
                "quantities": self.quantities,
                "conflict": self.conflict,
                "permission": self.permission,
                "same-name": self.same_name,
                "bounded": self.bounded,
            },
            "clean-up": {
                "machine": self.no_machine,
                "role": self.no_role,
                "orders": self.no_items,
                "log-group": self.no_log_group,
                "kept": self.kept,
                "reference": self.reference,
            },
        }[step]

    # --- deploy ---------------------------------------------------------------------------------------

    def code(self) -> Finding:
        return deployed_code(self._services, FUNCTION, self._lesson.provided_code, self._lesson.folder)

    def settings(self) -> Finding:
        function = self._services.function(FUNCTION)
        if function is None:
            return not_yet(_("The function `{name}` does not exist any more.").format(name=FUNCTION))
        if function["Handler"] != HANDLER:
            return not_yet(_("The handler is `{found}`.").format(found=function["Handler"]))
        variables = function.get("Environment", {}).get("Variables", {})
        for name, value in VARIABLES.items():
            if variables.get(name) != value:
                return not_yet(
                    _("The variable `{name}` is `{found}`, not `{wanted}`.").format(
                        name=name, found=variables.get(name, ""), wanted=value
                    )
                )
        return right()

    # --- connect --------------------------------------------------------------------------------------

    def role(self) -> Finding:
        role = self._services.role(WORKFLOW_ROLE)
        if role is None:
            return not_attempted()
        trusted = sorted(_principals(role["AssumeRolePolicyDocument"]))
        if trusted != ["states.amazonaws.com"]:
            return not_yet(_("The role may be used by {principals}.").format(principals=_listed(trusted) or "?"))
        return right()

    def policy(self) -> Finding:
        policies = self._services.role_policies(WORKFLOW_ROLE)
        if not policies:
            return not_attempted()
        others = [name for name in policies if name != POLICY]
        if others:
            return not_yet(_("Other policies of the role: {names}.").format(names=_listed(others)))
        wanted = self._services.arn("lambda", f"function:{FUNCTION}")
        for statement in _statements(policies[POLICY]):
            actions, resources = _several(statement.get("Action")), _several(statement.get("Resource"))
            if statement.get("Effect") != "Allow":
                return not_yet(_("A statement of the policy allows nothing: its `Effect` is not `Allow`."))
            if actions != ["lambda:InvokeFunction"]:
                return not_yet(_("The policy allows {names}.").format(names=_listed(actions) or "?"))
            if resources != [wanted]:
                return not_yet(_("The policy holds for {names}.").format(names=_listed(resources) or "?"))
        return right()

    def machine(self) -> Finding:
        machine = self._services.state_machine(MACHINE)
        if machine is None:
            pages = self._services.client("stepfunctions").get_paginator("list_state_machines").paginate()
            others = [found["name"] for page in pages for found in page["stateMachines"]]
            if others:
                return not_yet(
                    _("There is a state machine `{found}`, but no state machine `{wanted}`.").format(
                        found=others[0], wanted=MACHINE
                    )
                )
            return not_attempted()
        if machine["status"] != "ACTIVE":
            return not_yet(_("The state machine is being deleted."))
        if machine["type"] != "STANDARD":
            return not_yet(_("The type is `{found}`, not `{wanted}`.").format(found=machine["type"], wanted="STANDARD"))
        role = str(machine["roleArn"]).rpartition("/")[2]
        if role != WORKFLOW_ROLE:
            return not_yet(_("The state machine uses the role `{role}`.").format(role=role))
        return right()

    def states(self) -> Finding:
        machine = self._lesson.state_machine()
        if machine is None:
            return not_attempted()
        types = {state.name: state.type for state in machine.states}
        missing = [name for name in TYPES if name not in types]
        if missing:
            return not_yet(_("Missing: {names}.").format(names=_listed(missing)))
        for name, wanted in TYPES.items():
            if types[name] != wanted:
                return not_yet(
                    _("The type of `{state}` is `{found}`, not `{wanted}`.").format(
                        state=name, found=types[name], wanted=wanted
                    )
                )
        if machine.start != "CheckQuantity":
            return not_yet(_("The workflow starts with `{state}`.").format(state=machine.start))
        ways = {(arrow.source, arrow.target) for arrow in machine.arrows}
        for source, target in sorted(WAYS - ways):
            return not_yet(_("No way leads from `{source}` to `{target}`.").format(source=source, target=target))
        return right()

    def retry(self) -> Finding:
        store = self._store()
        if store is None:
            return not_attempted()
        rules = store.get("Retry", [])
        if len(rules) != 1:
            return not_yet(
                ngettext("`Retry` has {count} rule.", "`Retry` has {count} rules.", len(rules)).format(count=len(rules))
            )
        return _differences(
            rules[0], {"ErrorEquals": [TRANSIENT], "IntervalSeconds": 1, "BackoffRate": 2, "MaxAttempts": 2}
        )

    def catch(self) -> Finding:
        store = self._store()
        if store is None:
            return not_attempted()
        rules = store.get("Catch", [])
        if len(rules) != 1:
            return not_yet(
                ngettext("`Catch` has {count} rule.", "`Catch` has {count} rules.", len(rules)).format(count=len(rules))
            )
        return _differences(rules[0], {"ErrorEquals": [INVALID], "ResultPath": "$.failure", "Next": "Rejected"})

    def _store(self) -> Mapping[str, Any] | None:
        """The state StoreOrder of the definition, None when there is none."""
        machine = self._services.state_machine(MACHINE)
        return json.loads(machine["definition"])["States"].get(STORE) if machine else None

    # --- run ------------------------------------------------------------------------------------------

    def first(self) -> Finding:
        execution = self._execution(FIRST_EXECUTION)
        finding = self._ended_well(FIRST_EXECUTION, execution, self._lesson.parameters.quantity)
        if execution is None or finding is not None:
            return finding or not_attempted()
        attempts = execution.attempts(STORE)
        if [attempt.outcome for attempt in attempts] != ["failed", "succeeded"]:
            return not_yet(_("Attempts of `{state}`: {count}.").format(state=STORE, count=len(attempts)))
        if attempts[0].error != TRANSIENT:
            return not_yet(_("The first attempt failed with `{error}`.").format(error=attempts[0].error))
        return _reported(FIRST_EXECUTION, attempts[-1], True) or right()

    def repeated(self) -> Finding:
        if not self._lesson.parameters.repeats:
            return right(_("Nothing to repeat: `repeats` is 0."))
        execution = self._execution(REPEATED_EXECUTION)
        finding = self._ended_well(REPEATED_EXECUTION, execution, self._lesson.parameters.quantity)
        if execution is None or finding is not None:
            return finding or not_attempted()
        if not isinstance(execution.input, dict) or execution.input.get("id") != FIRST_ORDER:
            return not_yet(_("Its input is another order."))
        return _reported(REPEATED_EXECUTION, execution.attempts(STORE)[-1], True) or right()

    def different(self) -> Finding:
        execution = self._execution(DIFFERENT_EXECUTION)
        finding = self._ended_well(DIFFERENT_EXECUTION, execution, 1)
        if execution is None or finding is not None:
            return finding or not_attempted()
        return _reported(DIFFERENT_EXECUTION, execution.attempts(STORE)[-1], False) or right()

    def runs(self) -> Finding:
        planned = self._planned()
        if not any(name in self._started for name in planned):
            return not_attempted()
        for name, wanted in planned.items():
            if name not in self._started:
                return not_yet(_("The execution `{name}` was not started.").format(name=name))
            found = sum(run.execution == name for run in self._runs)
            if found != wanted:
                return not_yet(
                    _("Runs for `{name}`: {found}. Expected: {wanted}.").format(name=name, found=found, wanted=wanted)
                )
        count = sum(planned.values())
        return right(ngettext("{count} run", "{count} runs", count).format(count=count) + ".")

    def _planned(self) -> dict[str, int]:
        """The executions of the step with the runs that each causes."""
        repeats = self._lesson.parameters.repeats
        more = {f"{REPEATED_EXECUTION}-{number}": 2 for number in range(2, repeats + 1)}
        planned = {**RUNS, **more}
        if not repeats:
            del planned[REPEATED_EXECUTION]
        return planned

    def decisions(self) -> Finding:
        if not self._decisions:
            return not_attempted()
        for order in dict.fromkeys(key_of(decision) for decision in self._decisions):
            decisions = [d for d in self._decisions if key_of(d) == order]
            accepted = [d for d in decisions if d.accepted]
            if len(accepted) > 1:
                overwritten = len(accepted) - 1
                return not_yet(
                    ngettext(
                        "`{order}` was overwritten {count} time: a repeated write was accepted.",
                        "`{order}` was overwritten {count} times: the repeated writes were accepted.",
                        overwritten,
                    ).format(order=order, count=overwritten)
                )
            if accepted and accepted[0].condition is None:
                return not_yet(_("The write of `{order}` was accepted without a condition.").format(order=order))
        if not any(key_of(d) == FIRST_ORDER and not d.accepted for d in self._decisions):
            return not_yet(_("No repeated write of `{order}` was refused so far.").format(order=FIRST_ORDER))
        return right(
            _("Accepted: {accepted}. Refused: {refused}.").format(
                accepted=sum(d.accepted for d in self._decisions),
                refused=sum(not d.accepted for d in self._decisions),
            )
        )

    def orders(self) -> Finding:
        if not self._decisions:
            return not_attempted()
        stored = {one.id: one for one in self._lesson.stored_orders()}
        wanted = {FIRST_ORDER: self._lesson.parameters.quantity, DIFFERENT_ORDER: 1}
        for order, quantity in wanted.items():
            if order not in stored:
                return not_yet(_("`{order}` is not in the table.").format(order=order))
            finding = _differs(stored[order], quantity)
            if finding:
                return finding
        for one in stored.values():
            if one.quantity is None or one.total_cents != total_cents(one.quantity):
                return not_yet(
                    _("`{order}` has the total {found}, not {wanted}.").format(
                        order=one.id, found=one.total_cents, wanted=total_cents(one.quantity or 0)
                    )
                )
        return right()

    def _execution(self, name: str) -> Execution | None:
        if name not in self._read:
            self._read[name] = self._lesson.execution(name)
        return self._read[name]

    def _ended_well(self, name: str, execution: Execution | None, quantity: int) -> Finding | None:
        """What is wrong with an execution that should succeed, or None."""
        if execution is None:
            return not_attempted()
        if execution.status == "RUNNING":
            return not_yet(_("The execution still runs. Ask for its status again."))
        if execution.status != "SUCCEEDED":
            failure = last_failure([run for run in self._runs if run.execution == name])
            said = _("The execution ended with `{status}`: `{error}`.").format(
                status=execution.status, error=execution.error or "–"
            )
            return not_yet(f"{said} {failure}".strip())
        total = execution.output.get("total_cents") if isinstance(execution.output, dict) else None
        if total != total_cents(quantity):
            return not_yet(
                _("The total in its output is {found}, not {wanted}.").format(found=total, wanted=total_cents(quantity))
            )
        if not execution.attempts(STORE):
            return not_yet(_("The state `{state}` did not run.").format(state=STORE))
        return None

    # --- break ----------------------------------------------------------------------------------------

    def flaky(self) -> Finding:
        finding = not_attempted()
        for execution in self._with_mode("flaky"):
            attempts = execution.attempts(STORE)
            if execution.status == "SUCCEEDED" and len(attempts) > 1:
                finding = _reported(execution.name, attempts[-1], False) or right()
            elif execution.status == "RUNNING":
                finding = not_yet(_("`{name}` still runs.").format(name=execution.name))
            if finding.outcome == "right":
                break
        return finding

    def rejected(self) -> Finding:
        finding = not_attempted()
        for execution in self._with_mode("permanent"):
            attempts = execution.attempts(STORE)
            if execution.status == "RUNNING":
                finding = not_yet(_("`{name}` still runs.").format(name=execution.name))
            elif execution.error != REJECTED:
                finding = self._ended_with(execution, REJECTED)
            elif len(attempts) != 1:
                finding = not_yet(_("Attempts of `{state}`: {count}.").format(state=STORE, count=len(attempts)))
            else:
                finding = self._nothing_written(execution) or right()
        return finding

    def quantities(self) -> Finding:
        found: dict[Any, Execution] = {}
        for execution in self._executions():
            quantity = _quantity(execution)
            if type(quantity) is int and quantity in (0, 11):
                found[quantity] = execution
        if not found:
            return not_attempted()
        for quantity, attempts in ((0, 0), (11, 1)):
            if quantity not in found:
                return not_yet(_("No execution has the quantity {quantity} so far.").format(quantity=quantity))
            execution = found[quantity]
            if execution.status == "RUNNING":
                return not_yet(_("`{name}` still runs.").format(name=execution.name))
            if execution.error != REJECTED:
                return self._ended_with(execution, REJECTED)
            if len(execution.attempts(STORE)) != attempts:
                return not_yet(
                    _("Attempts of `{state}`: {count}.").format(state=STORE, count=len(execution.attempts(STORE)))
                )
        return right()

    def conflict(self) -> Finding:
        finding = not_attempted()
        for execution in self._executions():
            if not isinstance(execution.input, dict) or execution.input.get("id") != FIRST_ORDER:
                continue
            if _quantity(execution) == self._lesson.parameters.quantity:
                continue
            if execution.status == "RUNNING":
                finding = not_yet(_("`{name}` still runs.").format(name=execution.name))
            elif execution.error != REFUSED:
                return self._ended_with(execution, REFUSED)
            else:
                stored = {one.id: one for one in self._lesson.stored_orders()}
                if FIRST_ORDER not in stored:
                    return not_yet(_("`{order}` is not in the table.").format(order=FIRST_ORDER))
                finding = _differs(stored[FIRST_ORDER], self._lesson.parameters.quantity) or right()
        return finding

    def permission(self) -> Finding:
        if not any(execution.error == NOT_ALLOWED for execution in self._executions()):
            return not_attempted()
        back = self.policy()
        if back.outcome == "not-attempted":
            return not_yet(_("The permission is not back yet."))
        return back

    def same_name(self) -> Finding:
        refused = [
            event
            for event in self._evidence.of(Call)
            if event.action == "StartExecution" and event.error == "ExecutionAlreadyExists"
        ]
        return right() if refused else not_attempted()

    def bounded(self) -> Finding:
        finding = not_attempted()
        for execution in self._with_mode("flaky"):
            failed = [attempt for attempt in execution.attempts(STORE) if attempt.outcome == "failed"]
            if execution.status == "RUNNING":
                finding = not_yet(_("`{name}` still runs.").format(name=execution.name))
            elif execution.status == "FAILED" and execution.error == TRANSIENT:
                if len(failed) == 3:
                    return right()
                finding = not_yet(_("Attempts of `{state}`: {count}.").format(state=STORE, count=len(failed)))
        return finding

    def _executions(self) -> Iterable[Execution]:
        for name in self._started:
            execution = self._execution(name)
            if execution is not None:
                yield execution

    def _with_mode(self, mode: str) -> Iterable[Execution]:
        for execution in self._executions():
            if isinstance(execution.input, dict) and execution.input.get("mode") == mode:
                yield execution

    def _ended_with(self, execution: Execution, wanted: str) -> Finding:
        return not_yet(
            _("`{name}` ended with `{found}`. Expected: `{wanted}`.").format(
                name=execution.name, found=execution.error or execution.status, wanted=wanted
            )
        )

    def _nothing_written(self, execution: Execution) -> Finding | None:
        mine = {run.request_id for run in self._runs if run.execution == execution.name}
        if any(decision.accepted and decision.caller.request_id in mine for decision in self._decisions):
            return not_yet(_("`{name}` stored an order.").format(name=execution.name))
        return None

    # --- clean-up -------------------------------------------------------------------------------------

    def no_machine(self) -> Finding:
        pages = self._services.client("stepfunctions").get_paginator("list_state_machines").paginate()
        left = [found["name"] for page in pages for found in page["stateMachines"]]
        deleted = self._called("DeleteStateMachine")
        if left:
            return not_yet(_("Still there: {names}.").format(names=_listed(left))) if deleted else not_attempted()
        return right() if self._called("CreateStateMachine") else not_attempted()

    def no_role(self) -> Finding:
        roles = self._services.client("iam").get_paginator("list_roles").paginate()
        left = [role["RoleName"] for page in roles for role in page["Roles"]]
        left = [name for name in left if name.startswith(PREFIX) and name != WORKER_ROLE]
        deleted = self._called("DeleteRole", "DeleteRolePolicy")
        if left:
            return not_yet(_("Still there: {names}.").format(names=_listed(left))) if deleted else not_attempted()
        return right() if self._called("CreateRole") else not_attempted()

    def no_items(self) -> Finding:
        left: list[str] = []
        for table in (ORDERS, ATTEMPTS):
            items = self._services.items(table)
            if items is None:
                return not_yet(_("The table `{table}` is gone. Only its items should go.").format(table=table))
            left += [str(item["id"].get("S", "")) for item in items]
        if not self._runs:
            return not_attempted()
        if not left:
            return right()
        if not self._called("DeleteItem", "BatchWriteItem", "TransactWriteItems"):
            return not_attempted()
        return not_yet(_("These items are still stored: {items}.").format(items=_listed(dict.fromkeys(left))))

    def no_log_group(self) -> Finding:
        there = self._services.has_log_group(LOG_GROUP)
        if not self._runs:
            return not_attempted()
        if not there:
            return right()
        if self._called("DeleteLogGroup"):
            return not_yet(_("The log group exists again: a later run wrote to it."))
        return not_attempted()

    def kept(self) -> Finding:
        missing = [name for name in (ORDERS, ATTEMPTS, REFERENCE) if self._services.items(name) is None]
        if self._services.role(WORKER_ROLE) is None:
            missing.insert(0, WORKER_ROLE)
        if self._services.function(FUNCTION) is None:
            missing.insert(0, FUNCTION)
        if missing:
            return not_yet(_("Missing: {names}.").format(names=_listed(missing)))
        return right()

    def reference(self) -> Finding:
        items = self._services.items(REFERENCE)
        if items is None:
            return not_yet(_("The table `{table}` is gone.").format(table=REFERENCE))
        if len(items) != 1:
            return not_yet(
                _("Items in the table `{table}`: {count}. Expected: 1.").format(table=REFERENCE, count=len(items))
            )
        note = str(items[0].get("note", {}).get("S", "")).replace("`", "'")
        if note != NOTE:
            return not_yet(_("The note is `{note}`.").format(note=note))
        return right()

    def _called(self, *actions: str) -> bool:
        """Whether the learner made one of these calls, and it succeeded."""
        return any(
            event.action in actions and event.error is None and event.caller.kind == "learner"
            for event in self._evidence.of(Call)
        )


def _reported(name: str, attempt: Attempt, duplicate: bool) -> Finding | None:
    """What is wrong with the result of an attempt, or None."""
    wanted = {"duplicate": duplicate}
    result = attempt.result if isinstance(attempt.result, dict) else {}
    if result.get("duplicate") is not duplicate:
        return not_yet(
            _("The task of `{name}` returned `{found}`. Expected in it: `{wanted}`.").format(
                name=name, found=_json(attempt.result), wanted=_json(wanted)
            )
        )
    return None


def _differs(stored: Order, quantity: int) -> Finding | None:
    if stored.quantity != quantity:
        return not_yet(
            _("`{order}` has the quantity {found}, not {wanted}.").format(
                order=stored.id, found="?" if stored.quantity is None else stored.quantity, wanted=quantity
            )
        )
    if stored.total_cents != total_cents(quantity):
        return not_yet(
            _("`{order}` has the total {found}, not {wanted}.").format(
                order=stored.id,
                found="?" if stored.total_cents is None else stored.total_cents,
                wanted=total_cents(quantity),
            )
        )
    return None


def _differences(rule: Mapping[str, Any], wanted: Mapping[str, Any]) -> Finding:
    for name, value in wanted.items():
        if rule.get(name) != value:
            return not_yet(
                _("`{name}` is `{found}`, not `{wanted}`.").format(
                    name=name, found=_json(rule.get(name)), wanted=_json(value)
                )
            )
    return right()


def _quantity(execution: Execution) -> Any:
    return execution.input.get("quantity") if isinstance(execution.input, dict) else None


def _statements(document: Any) -> list[Mapping[str, Any]]:
    found = document.get("Statement", []) if isinstance(document, Mapping) else []
    return [found] if isinstance(found, Mapping) else list(found)


def _principals(document: Any) -> set[str]:
    found: set[str] = set()
    for statement in _statements(document):
        principal = statement.get("Principal", {})
        members = principal.values() if isinstance(principal, Mapping) else [principal]
        for member in members:
            found.update(_several(member))
    return found


def _several(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str).replace("`", "'")[:120]
