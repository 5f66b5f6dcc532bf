"""State machines: what Step Functions checks before it creates or changes one, and how one goes away.

moto keeps the state machines. Sources: Step Functions API reference, "CreateStateMachine", "UpdateStateMachine",
"DeleteStateMachine" and "ValidateStateMachineDefinition"; sentences as recorded against AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .policies import role_of, statements_of
from .responses import Response, error
from .workflow_definition import Finding, findings, message
from .workflow_execution import Execution, Machine
from .workflow_names import Refused, check_arn, check_name, invalid

if TYPE_CHECKING:
    from moto.stepfunctions.models import StateMachine

    from .account import Cloud
    from .workflow_interpreter import Interpreter

_LARGEST_DEFINITION = 1_048_576
_MOST_TAGS = 50
_SERVICES = {"states.amazonaws.com", f"states.{REGION}.amazonaws.com"}
_UNTRUSTED = (
    "Neither the global service principal states.amazonaws.com, nor the regional one is authorized to assume the "
    "provided role."
)
_NOTHING_TO_UPDATE = (
    "Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified"
)


class Machines:
    """The state machines of one account. `running` says how many executions of an ARN are still running."""

    def __init__(self, account: Cloud, interpreter: Interpreter) -> None:
        self._account = account
        self._interpreter = interpreter
        self._deleting: set[str] = set()
        self._revisions: dict[str, str] = {}
        boundary = account.boundary
        boundary.route("states", "CreateStateMachine", self._create)
        boundary.route("states", "UpdateStateMachine", self._update)
        boundary.route("states", "ValidateStateMachineDefinition", self._validate)
        boundary.after("states", "DescribeStateMachine", self._described)
        for action in ("DescribeStateMachine", "TagResource", "UntagResource", "ListTagsForResource"):
            boundary.before("states", action, self._check_arn)
        for action in ("ListStateMachines", "ListActivities"):
            boundary.before("states", action, self._check_paging)
        boundary.after("iam", "CreateRole", self._role_created)

    # --- for executions ----------------------------------------------------------------------------------------

    def snapshot(self, arn: str) -> Machine:
        """The state machine, version or alias of an ARN as it is now. Raises Refused when there is none."""
        check_arn(arn, "stateMachine")
        alias = ""
        with self._account.boundary.lock:
            machines = self._backend().state_machines
            plain, _, qualifier = arn.partition(":stateMachine:")[2].partition(":")
            base = f"{arn.partition(':stateMachine:')[0]}:stateMachine:{plain}"
            machine = next((one for one in machines if one.arn == base), None)
            found: Any = machine
            if machine is not None and qualifier:
                if qualifier in machine.aliases:
                    alias, qualifier = arn, _routed(machine.aliases[qualifier])
                found = machine.versions.get(int(qualifier)) if qualifier.isdecimal() else None
            if machine is None or found is None:
                raise Refused("StateMachineDoesNotExist", f"State Machine Does Not Exist: '{arn}'")
            if base in self._deleting:
                raise Refused("StateMachineDeleting", f"State Machine Deleting: '{arn}'")
            return Machine(
                arn=base,
                name=machine.name,
                kind=machine.type,
                definition=found.definition,
                role=found.roleArn,
                updated=machine.update_date.timestamp(),
                revision=self._revisions.get(base),
                version=found.arn if found is not machine else "",
                alias=alias,
            )

    def keep(self, execution: Execution) -> None:
        """Let moto's state machine know that it runs: permissions find the machine of a task token there."""
        with self._account.boundary.lock:
            for one in self._backend().state_machines:
                if one.arn == execution.machine.arn:
                    one.executions.append(execution)

    def let_go(self, execution: Execution) -> None:
        """The execution is over."""
        with self._account.boundary.lock:
            for one in self._backend().state_machines:
                if execution in one.executions:
                    one.executions.remove(execution)

    def begin_deletion(self, arn: str) -> str | None:
        """Mark a state machine as going away. Returns its ARN, None when there is none."""
        check_arn(arn, "stateMachine")
        with self._account.boundary.lock:
            if not any(one.arn == arn for one in self._backend().state_machines):
                return None
            self._deleting.add(arn)
            return arn

    def finish_deletion(self, arn: str) -> None:
        """Forget a state machine that was going away."""
        with self._account.boundary.lock:
            if arn in self._deleting:
                self._deleting.discard(arn)
                self._revisions.pop(arn, None)
                backend = self._backend()
                backend.tagger.delete_all_tags_for_resource(arn)
                backend.state_machines[:] = [one for one in backend.state_machines if one.arn != arn]

    def is_deleting(self, arn: str) -> bool:
        """Whether the state machine is in status DELETING."""
        return arn in self._deleting

    def _backend(self) -> Any:
        """moto's backend, whose state machines hold the account's own executions."""
        from .account import backends

        return backends("stepfunctions")

    # --- checks ------------------------------------------------------------------------------------------------

    def _findings(self, definition: Any, kind: str) -> list[Finding]:
        text = definition if isinstance(definition, str) else ""
        if len(text) > _LARGEST_DEFINITION:
            limit = f"Member must have length less than or equal to {_LARGEST_DEFINITION}"
            raise invalid(f"{text[:40]}…", "definition", limit)
        return findings(text, kind, self._interpreter.ready().parse)

    def _check_definition(self, definition: Any, kind: str) -> None:
        found = self._findings(definition, kind)
        if found:
            raise Refused("InvalidDefinition", message(found))

    def _check_role(self, role_arn: str) -> None:
        """Raise Refused unless Step Functions may assume the role, which must exist."""
        if not role_arn.startswith("arn:"):
            raise Refused("InvalidArn", f"Invalid Role Arn: '{role_arn}'")
        with self._account.boundary.lock:
            role = role_of(role_arn)
        if role is None or not _trusts_workflows(str(role.assume_role_policy_document)):
            raise Refused("AccessDeniedException", _UNTRUSTED)

    def _check_arn(self, exchange: Exchange) -> Response | None:
        arn = str(exchange.parameters.get("stateMachineArn") or exchange.parameters.get("resourceArn") or "")
        try:
            check_arn(arn, "stateMachine", "activity")
        except Refused as refused:
            return refused.response(exchange)
        if exchange.action != "DescribeStateMachine":
            backend = self._backend()
            known = {one.arn for one in backend.state_machines} | set(backend.activities)
            if arn not in known:
                return error(exchange, "ResourceNotFound", f"Resource not found: '{arn}'")
            tags = exchange.parameters.get("tags")
            if isinstance(tags, list) and len(tags) > _MOST_TAGS:
                return error(exchange, "TooManyTags", f"A resource can have {_MOST_TAGS} tags at most.")
        return None

    def _check_paging(self, exchange: Exchange) -> Response | None:
        try:
            check_paging(exchange, 1024)
        except Refused as refused:
            return refused.response(exchange)
        return None

    # --- calls -------------------------------------------------------------------------------------------------

    def _create(self, exchange: Exchange) -> Response:
        asked = exchange.parameters
        name, kind = str(asked.get("name", "")), str(asked.get("type") or "STANDARD")
        arn = f"arn:aws:states:{REGION}:{ACCOUNT_ID}:stateMachine:{name}"
        try:
            check_name(name)
            if kind not in {"STANDARD", "EXPRESS"}:
                raise invalid(kind, "type", "Member must satisfy enum value set: [STANDARD, EXPRESS]")
            self._check_definition(asked.get("definition"), kind)
            self._check_role(str(asked.get("roleArn", "")))
            with self._account.boundary.lock:
                if arn in self._deleting:
                    raise Refused("StateMachineDeleting", f"State Machine Deleting: '{arn}'")
                there = next((one for one in self._backend().state_machines if one.arn == arn), None)
                if there is not None and not _same(there, asked, kind):
                    raise Refused("StateMachineAlreadyExists", f"State Machine Already Exists: '{arn}'")
                answer = self._account.boundary.ask_moto(exchange)
        except Refused as refused:
            return refused.response(exchange)
        return answer

    def _update(self, exchange: Exchange) -> Response:
        asked = exchange.parameters
        arn = str(asked.get("stateMachineArn", ""))
        changing = ("definition", "roleArn", "loggingConfiguration", "tracingConfiguration", "encryptionConfiguration")
        try:
            machine = self.snapshot(arn)
            if not any(asked.get(member) for member in changing):
                raise Refused("MissingRequiredParameter", _NOTHING_TO_UPDATE)
            if asked.get("definition") is not None:
                self._check_definition(asked["definition"], machine.kind)
            if asked.get("roleArn") is not None:
                self._check_role(str(asked["roleArn"]))
            definition, role = asked.get("definition") or machine.definition, asked.get("roleArn") or machine.role
            with self._account.boundary.lock:
                answer = self._account.boundary.ask_moto(exchange)
                if answer.status < 400:
                    if (definition, role) != (machine.definition, machine.role) or machine.arn not in self._revisions:
                        self._revisions[machine.arn] = _revision()
                    answer.edit_json({**answer.json(), "revisionId": self._revisions[machine.arn]})
        except Refused as refused:
            return refused.response(exchange)
        return answer

    def _validate(self, exchange: Exchange) -> Response:
        asked = exchange.parameters
        try:
            found = self._findings(asked.get("definition"), str(asked.get("type") or "STANDARD"))
        except Refused as refused:
            return refused.response(exchange)
        most = int(asked.get("maxResults") or 100)
        return Response.of_json(
            {
                "result": "FAIL" if found else "OK",
                "diagnostics": [one.diagnostic() for one in found[:most]],
                "truncated": len(found) > most,
            }
        )

    def _described(self, exchange: Exchange, answer: Response) -> None:
        if answer.status >= 400:
            return
        shown = answer.json()
        arn = str(shown.get("stateMachineArn", ""))
        if arn in self._deleting:
            shown["status"] = "DELETING"
        if arn in self._revisions:
            shown["revisionId"] = self._revisions[arn]
        shown["loggingConfiguration"] = {
            "includeExecutionData": False,
            "level": "OFF",
            **shown.get("loggingConfiguration", {}),
        }
        answer.edit_json(shown)

    def _role_created(self, exchange: Exchange, answer: Response) -> None:
        """Who makes a role for Step Functions needs the interpreter soon: it is imported meanwhile."""
        trust = str(exchange.parameters.get("AssumeRolePolicyDocument", ""))
        if answer.status < 400 and "states." in trust:
            self._interpreter.preload()


def check_paging(exchange: Exchange, longest_token: int) -> None:
    """Raise Refused for a page size or a token that breaks the model."""
    most = exchange.parameters.get("maxResults") or 0
    if most > 1000:
        raise invalid(most, "maxResults", "Member must have value less than or equal to 1000")
    token = str(exchange.parameters.get("nextToken") or "")
    if len(token) > longest_token:
        raise invalid(token, "nextToken", f"Member must have length less than or equal to {longest_token}")


def _trusts_workflows(document: str) -> bool:
    """Whether a trust policy lets Step Functions assume the role."""
    trusted = False
    for statement in statements_of(document):
        principal = statement.get("Principal", {})
        named = principal.get("Service", []) if isinstance(principal, dict) else []
        services = {named} if isinstance(named, str) else set(named)
        actions = statement.get("Action", [])
        several = {actions} if isinstance(actions, str) else set(actions)
        if services & _SERVICES and several & {"sts:AssumeRole", "sts:*", "*"}:
            if statement.get("Effect") == "Deny":
                return False
            trusted = True
    return trusted


def _same(machine: StateMachine, asked: dict[str, Any], kind: str) -> bool:
    """Whether a second CreateStateMachine asks for what is there: the role and the tags are not compared."""
    logging = {"level": "OFF", **(asked.get("loggingConfiguration") or {})}
    tracing = {"enabled": False, **(asked.get("tracingConfiguration") or {})}
    return bool(
        machine.definition == asked.get("definition")
        and machine.type == kind
        and {"level": "OFF", **machine.loggingConfiguration} == logging
        and {"enabled": False, **machine.tracingConfiguration} == tracing
    )


def _routed(alias: Any) -> str:
    """The version number that an alias leads to now, by its weights."""
    from moto.moto_api._internal import mock_random

    routes = alias.routing_configuration
    chosen = mock_random.choices(routes, [route["weight"] for route in routes])[0]
    return str(chosen["stateMachineVersionArn"]).rpartition(":")[2]


def _revision() -> str:
    from moto.moto_api._internal import mock_random

    return str(mock_random.uuid4())
