"""A learner who works through the lesson *protected-workflow* with plain boto3 calls."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from typing import Any

from helpers.lab import Lab
from helpers.lab.protected_workflow import HANDLERS, MACHINE, WORKFLOW_ROLE

GUARDED = (HANDLERS / "app.py").read_text(encoding="utf-8")
PROVIDED = (HANDLERS / "unguarded.py").read_text(encoding="utf-8")

WORKER_ARN = "arn:aws:lambda:us-east-1:123456789012:function:ev05-worker"
MACHINE_ARN = "arn:aws:states:us-east-1:123456789012:stateMachine:ev05-orders"

RETRY = {"ErrorEquals": ["TransientOrderError"], "IntervalSeconds": 1, "BackoffRate": 2, "MaxAttempts": 2}
CATCH = {"ErrorEquals": ["InvalidOrder"], "ResultPath": "$.failure", "Next": "Rejected"}
INVOKE = "arn:aws:states:::lambda:invoke"
DEFINITION: dict[str, Any] = {
    "StartAt": "CheckQuantity",
    "States": {
        "CheckQuantity": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.quantity", "NumericGreaterThan": 0, "Next": "StoreOrder"}],
            "Default": "Rejected",
        },
        "StoreOrder": {
            "Type": "Task",
            "Resource": INVOKE,
            "Parameters": {"FunctionName": WORKER_ARN, "Payload.$": "$"},
            "ResultSelector": {"result.$": "$.Payload"},
            "ResultPath": "$.saved",
            "Retry": [RETRY],
            "Catch": [CATCH],
            "Next": "ReadSummary",
        },
        "ReadSummary": {
            "Type": "Task",
            "Resource": INVOKE,
            "Parameters": {"FunctionName": WORKER_ARN, "Payload": {"stage": "summary", "id.$": "$.saved.result.id"}},
            "OutputPath": "$.Payload",
            "End": True,
        },
        "Rejected": {"Type": "Fail", "Error": "OrderRejected"},
    },
}


def definition(**store: Any) -> dict[str, Any]:
    """The lesson's definition with other members of StoreOrder; None removes one."""
    changed = copy.deepcopy(DEFINITION)
    state = changed["States"]["StoreOrder"]
    for name, value in store.items():
        if value is None:
            del state[name]
        else:
            state[name] = value
    return changed


class WorkflowLearner:
    """Does what the cells of the lesson do."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def client(self, service: str) -> Any:
        return self.lab._lesson.services.client(service)

    def deploy(self, code: str = GUARDED) -> None:
        (self.lab.folder / "app.py").write_text(code, encoding="utf-8", newline="\n")
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as package:
            package.writestr("app.py", code)
        self.client("lambda").update_function_code(FunctionName="ev05-worker", ZipFile=archive.getvalue())
        self.lab.settle()

    def make_role(self, service: str = "states.amazonaws.com") -> str:
        statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        role = self.client("iam").create_role(RoleName=WORKFLOW_ROLE, AssumeRolePolicyDocument=document(statement))
        return role["Role"]["Arn"]

    def allow(
        self, action: str = "lambda:InvokeFunction", resource: str = WORKER_ARN, name: str = "InvokeWorker"
    ) -> None:
        statement = {"Effect": "Allow", "Action": action, "Resource": resource}
        self.client("iam").put_role_policy(RoleName=WORKFLOW_ROLE, PolicyName=name, PolicyDocument=document(statement))

    def make_machine(self, plan: dict[str, Any] = DEFINITION, name: str = MACHINE, kind: str = "STANDARD") -> None:
        self.client("stepfunctions").create_state_machine(
            name=name, type=kind, definition=json.dumps(plan), roleArn=f"arn:aws:iam::123456789012:role/{WORKFLOW_ROLE}"
        )

    def connect(self, plan: dict[str, Any] = DEFINITION) -> None:
        self.make_role()
        self.allow()
        self.make_machine(plan)

    def start(self, name: str, **order: Any) -> None:
        self.client("stepfunctions").start_execution(stateMachineArn=MACHINE_ARN, name=name, input=json.dumps(order))

    def run(self, name: str, **order: Any) -> dict[str, Any]:
        """Start an execution and let it end, pauses skipped."""
        self.start(name, **order)
        self.lab.settle(skip_waits=True)
        described = self.lab._lesson.services.execution(MACHINE, name)
        assert described is not None
        return described

    def three_executions(self) -> None:
        self.run("after-write-order", id="protected-order", quantity=4, mode="after-write")
        self.run("repeated-order", id="protected-order", quantity=4, mode="after-write")
        self.run("different-order", id="different-order", quantity=1, mode="normal")

    def orders(self) -> dict[str, tuple[int | None, int | None]]:
        return {one.id: (one.quantity, one.total_cents) for one in self.lab._lesson.stored_orders()}

    def clean_up(self) -> None:
        self.client("stepfunctions").delete_state_machine(stateMachineArn=MACHINE_ARN)
        self.lab.settle()
        iam = self.client("iam")
        iam.delete_role_policy(RoleName=WORKFLOW_ROLE, PolicyName="InvokeWorker")
        iam.delete_role(RoleName=WORKFLOW_ROLE)
        for table in ("ev05-orders", "ev05-attempts"):
            for item in self.client("dynamodb").scan(TableName=table)["Items"]:
                self.client("dynamodb").delete_item(TableName=table, Key={"id": item["id"]})
        self.client("logs").delete_log_group(logGroupName="/aws/lambda/ev05-worker")

    def outcomes(self, step: str) -> dict[str, str]:
        return {item.id: item.outcome for item in self.lab.check(step).items}

    def detail(self, step: str, point: str, outcome: str = "not-yet") -> str:
        item = self.lab.check(step)[point]
        assert item.outcome == outcome, item
        return item.detail


def document(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
