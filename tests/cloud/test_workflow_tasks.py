"""Tasks of workflows: results, errors and retries, as recorded against AWS or as its documentation says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import Call, ExecutionEnded, ExecutionStarted, ExecutionStep, RunStarted
from tests.cloud.workflow_stage import Stage, allowing, task

HANDLER = """
import json, os, time

tries = {}

def handler(event, context):
    kind = event.get("mode")
    count = tries[event.get("id")] = tries.get(event.get("id"), 0) + 1
    if kind == "flaky" and count == 1:
        raise TransientOrderError("not yet")
    if kind == "permanent":
        raise InvalidOrder("never")
    if kind == "slow":
        time.sleep(60)
    if kind == "exit":
        os._exit(1)
    return {"id": event.get("id"), "count": count}

class TransientOrderError(Exception):
    pass

class InvalidOrder(Exception):
    pass
"""


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


@pytest.fixture(scope="module")
def worker(stage: Stage) -> str:
    return stage.functions.create(HANDLER, Timeout=30)


# --- results -------------------------------------------------------------------------------------------------------


def test_a_task_result_has_all_members_that_aws_gives(stage: Stage, worker: str) -> None:
    """Developer Guide, "Invoke an AWS Lambda function with Step Functions" (its example of a result)."""
    state = {**task(worker), "OutputPath": "$"}
    done = stage.run(stage.machine({"Call": state}), {"id": "result"})
    output = json.loads(done["output"])
    assert [*output] == ["ExecutedVersion", "Payload", "SdkHttpMetadata", "SdkResponseMetadata", "StatusCode"]
    assert (output["ExecutedVersion"], output["StatusCode"]) == ("$LATEST", 200)
    assert output["Payload"]["id"] == "result"
    assert output["SdkHttpMetadata"]["HttpStatusCode"] == 200
    headers, lists = output["SdkHttpMetadata"]["HttpHeaders"], output["SdkHttpMetadata"]["AllHttpHeaders"]
    assert lists == {name: [value] for name, value in headers.items()}
    assert {
        "X-Amz-Executed-Version",
        "x-amzn-Remapped-Content-Length",
        "Connection",
        "x-amzn-RequestId",
        "Content-Length",
        "Date",
        "X-Amzn-Trace-Id",
        "Content-Type",
    } == set(headers)
    assert output["SdkResponseMetadata"] == {"RequestId": headers["x-amzn-RequestId"]}
    run = next(one for one in stage.cloud.journal.events(RunStarted) if one.execution == done["executionArn"])
    assert (run.source, run.request_id) == ("workflow", headers["x-amzn-RequestId"])


def test_a_task_with_the_functions_arn_gives_the_payload_only(stage: Stage, worker: str) -> None:
    """Recorded: LambdaFunctionScheduled, LambdaFunctionStarted, LambdaFunctionSucceeded."""
    arn = stage.functions.client.get_function(FunctionName=worker)["Configuration"]["FunctionArn"]
    machine = stage.machine({"Call": {"Type": "Task", "Resource": arn, "End": True}})
    done = stage.run(machine, {"id": "plain"})
    assert json.loads(done["output"])["id"] == "plain"
    assert [kind for _, _, kind in stage.chain(done["executionArn"])][2:5] == [
        "LambdaFunctionScheduled",
        "LambdaFunctionStarted",
        "LambdaFunctionSucceeded",
    ]


# --- the order of the history --------------------------------------------------------------------------------------


def order(stage: Stage, worker: str) -> str:
    retry = [{"ErrorEquals": ["TransientOrderError"], "IntervalSeconds": 1, "BackoffRate": 2, "MaxAttempts": 2}]
    return stage.machine(
        {
            "CheckQuantity": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.quantity", "NumericGreaterThan": 0, "Next": "StoreOrder"}],
                "Default": "Rejected",
            },
            "StoreOrder": task(
                worker,
                Retry=retry,
                Catch=[{"ErrorEquals": ["InvalidOrder"], "ResultPath": "$.failure", "Next": "Rejected"}],
            ),
            "Rejected": {"Type": "Fail", "Error": "OrderRejected", "Cause": "the order cannot be stored"},
        }
    )


BEGIN = [(1, 0, "ExecutionStarted"), (2, 0, "ChoiceStateEntered"), (3, 2, "ChoiceStateExited")]
TRY = [(4, 3, "TaskStateEntered"), (5, 4, "TaskScheduled"), (6, 5, "TaskStarted")]


@pytest.mark.parametrize(
    ("event", "status", "expected"),
    [
        (
            {"id": "retried", "quantity": 1, "mode": "flaky"},
            "SUCCEEDED",
            [
                *BEGIN,
                *TRY,
                (7, 6, "TaskFailed"),
                (8, 7, "TaskScheduled"),
                (9, 8, "TaskStarted"),
                (10, 9, "TaskSucceeded"),
                (11, 10, "TaskStateExited"),
                (12, 11, "ExecutionSucceeded"),
            ],
        ),
        (
            {"id": "caught", "quantity": 1, "mode": "permanent"},
            "FAILED",
            [
                *BEGIN,
                *TRY,
                (7, 6, "TaskFailed"),
                (8, 7, "TaskStateExited"),
                (9, 8, "FailStateEntered"),
                (10, 9, "ExecutionFailed"),
            ],
        ),
        ({"quantity": 0}, "FAILED", [*BEGIN, (4, 3, "FailStateEntered"), (5, 4, "ExecutionFailed")]),
    ],
    ids=["flaky, retry, success", "Catch, Fail", "Choice, Fail"],
)
def test_the_history_has_the_recorded_order(
    stage: Stage, worker: str, event: dict[str, Any], status: str, expected: list[tuple[int, int, str]]
) -> None:
    """Recorded: the types, their order and previousEventId of these three ways through an order."""
    done = stage.run(order(stage, worker), event)
    assert (done["status"], stage.chain(done["executionArn"])) == (status, expected)
    if status == "FAILED":
        assert (done["error"], done["cause"]) == ("OrderRejected", "the order cannot be stored")


def test_each_retry_is_a_run_with_a_request_id_of_its_own(stage: Stage, worker: str) -> None:
    """Retry defaults: 1 s, three more attempts, backoff 2.0 (Amazon States Language, "Retry"). Recorded: error is
    the error type, cause the payload as JSON text."""
    machine = stage.machine({"Call": task(worker, Retry=[{"ErrorEquals": ["States.ALL"]}])})
    execution = stage.start(machine, {"mode": "permanent"})
    pauses = [1, 2, 4]
    for seconds in pauses:
        stage.cloud.settle()
        attempts = len(stage.details(execution, "TaskFailed"))
        stage.cloud.skip(seconds - 0.3)
        stage.cloud.settle()
        assert len(stage.details(execution, "TaskFailed")) == attempts
        stage.cloud.skip(0.31)
    done = stage.ended(execution)
    failures = stage.details(execution, "TaskFailed")
    causes = [json.loads(failure["cause"]) for failure in failures]
    assert [failure["error"] for failure in failures] == ["InvalidOrder"] * 4
    assert {cause["errorMessage"] for cause in causes} == {"never"}
    assert {*causes[0]} == {"errorMessage", "errorType", "requestId", "stackTrace"}
    assert len({cause["requestId"] for cause in causes}) == 4
    assert (done["status"], done["error"], done["cause"]) == ("FAILED", "InvalidOrder", failures[-1]["cause"])


# --- the role ------------------------------------------------------------------------------------------------------


def test_a_role_without_the_permission_to_invoke_fails_the_task_with_awss_sentence(stage: Stage, worker: str) -> None:
    """Quoted in public threads: error, cause and the history's order."""
    role = stage.new_role(allowing("lambda:GetFunction"))
    machine = stage.machine({"Call": task(worker)}, roleArn=role)
    done = stage.run(machine)
    name = role.rpartition("/")[2]
    assert done["error"] == "Lambda.AWSLambdaException"
    assert re.fullmatch(
        rf"User: arn:aws:sts::123456789012:assumed-role/{name}/[A-Za-z0-9]{{32}} is not authorized to perform: "
        rf"lambda:InvokeFunction on resource: arn:aws:lambda:us-east-1:123456789012:function:{worker} because no "
        r"identity-based policy allows the lambda:InvokeFunction action \(Service: AWSLambda; Status Code: 403; "
        r"Error Code: AccessDeniedException; Request ID: [0-9a-f-]{36}; Proxy: null\)",
        done["cause"],
    )
    assert stage.chain(done["executionArn"]) == [
        (1, 0, "ExecutionStarted"),
        (2, 0, "TaskStateEntered"),
        (3, 2, "TaskScheduled"),
        (4, 3, "TaskStarted"),
        (5, 4, "TaskFailed"),
        (6, 5, "ExecutionFailed"),
    ]
    assert not [one for one in stage.cloud.journal.events(RunStarted) if one.execution == done["executionArn"]]


def test_a_policy_that_is_taken_away_between_two_retries_is_missing_in_the_second(stage: Stage, worker: str) -> None:
    """IAM decides each call by the policies of that moment."""
    role = stage.new_role(allowing("lambda:InvokeFunction"))
    retry = [{"ErrorEquals": ["TransientOrderError"], "IntervalSeconds": 60, "MaxAttempts": 1}]
    machine = stage.machine({"Call": task(worker, Retry=retry)}, roleArn=role)
    execution = stage.start(machine, {"id": "between", "mode": "flaky"})
    stage.cloud.settle()
    assert [failure["error"] for failure in stage.details(execution, "TaskFailed")] == ["TransientOrderError"]
    stage.iam.delete_role_policy(RoleName=role.rpartition("/")[2], PolicyName="may")
    stage.cloud.skip(60)
    assert stage.ended(execution)["error"] == "Lambda.AWSLambdaException"


def test_calls_carry_the_execution_and_its_role(stage: Stage, worker: str) -> None:
    done = stage.run(stage.machine({"Call": task(worker)}))
    caller = next(
        one.caller
        for one in stage.cloud.journal.events(Call)
        if one.action == "Invoke" and one.caller.request_id == done["executionArn"]
    )
    machine = done["stateMachineArn"].rpartition(":")[2]
    assert (caller.kind, caller.name, caller.role) == ("workflow", machine, stage.role)


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "not allowed"])
@pytest.mark.parametrize("way", ["dynamodb:putItem", "aws-sdk:dynamodb:putItem", "sqs:sendMessage"])
def test_other_services_are_called_with_the_role_too(stage: Stage, way: str, allowed: bool) -> None:
    """Developer Guide, "Integrating services": the state machine's role decides. Codes that a service's model does
    not name have the name of the SDK for Java."""
    table, queue = stage.name("table"), stage.name("queue")
    if way.startswith("sqs"):
        url = stage.cloud.client("sqs").create_queue(QueueName=queue)["QueueUrl"]
        parameters: dict[str, Any] = {"QueueUrl": url, "MessageBody": "hello"}
        action, denied = "sqs:SendMessage", "SQS.AmazonSQSException"
    else:
        stage.cloud.client("dynamodb").create_table(
            TableName=table,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        stage.cloud.client("dynamodb").get_waiter("table_exists").wait(TableName=table)
        parameters = {"TableName": table, "Item": {"id": {"S": "a"}}}
        action = "dynamodb:PutItem"
        denied = "DynamoDb.DynamoDbException" if way.startswith("aws-sdk") else "DynamoDB.AmazonDynamoDBException"
    role = stage.new_role(allowing(action) if allowed else None)
    states = {
        "Call": {
            "Type": "Task",
            "Resource": f"arn:aws:states:::{way}",
            "Parameters": parameters,
            "End": True,
        }
    }
    done = stage.run(stage.machine(states, roleArn=role))
    if allowed:
        assert done["status"] == "SUCCEEDED", done
    else:
        assert done["error"] == denied
        assert "is not authorized to perform: " in done["cause"]


def test_a_conditional_write_of_a_workflow_that_is_refused_is_an_error_it_can_catch(stage: Stage) -> None:
    """Recorded: DynamoDB.ConditionalCheckFailedException."""
    table = stage.name("table")
    stage.cloud.client("dynamodb").create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    stage.cloud.client("dynamodb").get_waiter("table_exists").wait(TableName=table)
    put = {
        "Type": "Task",
        "Resource": "arn:aws:states:::dynamodb:putItem",
        "Parameters": {
            "TableName": table,
            "Item": {"id": {"S": "a"}},
            "ConditionExpression": "attribute_not_exists(id)",
        },
    }
    refused = [{"ErrorEquals": ["DynamoDB.ConditionalCheckFailedException"], "Next": "There"}]
    role = stage.new_role(allowing("dynamodb:PutItem"))
    states = {
        "First": {**put, "Next": "Second"},
        "Second": {**put, "Catch": refused, "End": True},
        "There": {"Type": "Succeed"},
    }
    done = stage.run(stage.machine(states, roleArn=role))
    assert json.loads(done["output"])["Error"] == "DynamoDB.ConditionalCheckFailedException"


# --- what can go wrong with the function ---------------------------------------------------------------------------


def test_a_function_that_exits_is_an_error_that_task_failed_matches(stage: Stage, worker: str) -> None:
    """Lambda Developer Guide: Runtime.ExitError is the error type of the payload."""
    catch = [{"ErrorEquals": ["States.TaskFailed"], "Next": "Caught"}]
    done = stage.run(
        stage.machine({"Call": task(worker, Catch=catch), "Caught": {"Type": "Succeed"}}), {"mode": "exit"}
    )
    output = json.loads(done["output"])
    assert output["Error"] == "Runtime.ExitError"
    assert "Runtime exited" in json.loads(output["Cause"])["errorMessage"]


def test_a_time_out_of_the_function_can_be_caught_by_its_name(stage: Stage) -> None:
    """Newer reports: Sandbox.Timedout; lessons catch it together with the older Lambda.Unknown."""
    slow = stage.functions.create(HANDLER, Timeout=1)
    catch = [{"ErrorEquals": ["Lambda.Unknown", "Sandbox.Timedout"], "Next": "Caught"}]
    done = stage.run(stage.machine({"Call": task(slow, Catch=catch), "Caught": {"Type": "Succeed"}}), {"mode": "slow"})
    output = json.loads(done["output"])
    assert output["Error"] == "Sandbox.Timedout"
    assert "Task timed out after 1.00 seconds" in output["Cause"]


def test_a_function_that_does_not_exist_is_lambda_resource_not_found(stage: Stage) -> None:
    """Recorded."""
    done = stage.run(stage.machine({"Call": task("no-such-function")}))
    assert done["error"] == "Lambda.ResourceNotFoundException"
    assert re.fullmatch(
        r"Function not found: arn:aws:lambda:us-east-1:123456789012:function:no-such-function \(Service: AWSLambda; "
        r"Status Code: 404; Error Code: ResourceNotFoundException; Request ID: [0-9a-f-]{36}; Proxy: null\)",
        done["cause"],
    )


def test_a_function_without_free_concurrency_is_lambda_too_many_requests(stage: Stage) -> None:
    """Developer Guide, "Handle transient Lambda service exceptions"."""
    function = stage.functions.create(HANDLER)
    stage.functions.client.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=0)
    done = stage.run(stage.machine({"Call": task(function)}))
    assert done["error"] == "Lambda.TooManyRequestsException"


@pytest.mark.parametrize(
    ("fault", "error", "runs"),
    [
        ("throttle", "Lambda.TooManyRequestsException", 1),
        ("server_error", "Lambda.ServiceException", 1),
        # The function had run before the answer was lost.
        ("lose_answer", "Lambda.SdkClientException", 2),
    ],
)
def test_a_fault_on_the_workflows_own_call_is_an_error_that_retry_can_name(
    stage: Stage, worker: str, fault: str, error: str, runs: int
) -> None:
    """Developer Guide, "Handle transient Lambda service exceptions": the workflow's Retry sends the call again."""
    machine = stage.machine({"Call": task(worker, Retry=[{"ErrorEquals": [error], "IntervalSeconds": 1}])})
    getattr(stage.cloud.faults, fault)("lambda", "Invoke")
    done = stage.run(machine, {"id": fault})
    assert [failure["error"] for failure in stage.details(done["executionArn"], "TaskFailed")] == [error]
    assert json.loads(done["output"])["count"] == runs


def test_a_task_that_runs_longer_than_its_timeout_is_given_up(stage: Stage, worker: str) -> None:
    """Recorded: TaskTimedOut and ExecutionFailed, both with error States.Timeout and no cause. What the function
    does later leaves no trace in the history."""
    held = stage.cloud.faults.hold("lambda", "Invoke")
    machine = stage.machine({"Call": task(worker, TimeoutSeconds=600)})
    execution = stage.start(machine, {"id": "late"})
    assert stage.cloud.faults.wait_until_held(held)
    stage.cloud.skip(600)
    try:
        done = stage.ended(execution, 5)
    except AssertionError:
        # The time of the task counts from when the interpreter waits for it, on a busy machine after the call has
        # begun: then the first jump of the clock came before it.
        stage.cloud.skip(600)
        done = stage.ended(execution)
    assert (done["status"], done["error"], done.get("cause")) == ("FAILED", "States.Timeout", None)
    ended = stage.chain(execution)
    assert ended[-2:] == [(5, 4, "TaskTimedOut"), (6, 5, "ExecutionFailed")]
    stage.cloud.faults.release(held)
    stage.cloud.settle()
    assert stage.chain(execution) == ended


def test_states_all_does_not_catch_an_error_of_the_definition(stage: Stage) -> None:
    """Developer Guide, "Error names": States.ALL matches neither States.Runtime nor States.DataLimitExceeded."""
    wrong = task(
        "any", Parameters={"FunctionName.$": "$.nothing"}, Catch=[{"ErrorEquals": ["States.ALL"], "Next": "No"}]
    )
    done = stage.run(stage.machine({"Call": wrong, "No": {"Type": "Succeed"}}))
    assert (done["status"], done["error"]) == ("FAILED", "States.Runtime")


NOWHERE = "Failed to transition out of the state. The state does not point to a next state."
INVALID = "Invalid path '{}': The choice state's condition path references an invalid value."


@pytest.mark.parametrize(
    ("rule", "default", "cause"),
    [
        ({"Variable": "$.quantity", "NumericEquals": 2}, False, NOWHERE),
        ({"Variable": "$.price", "NumericEquals": 2}, True, INVALID.format("$.price")),
        ({"Not": {"Variable": "$.price", "IsString": True}}, True, INVALID.format("$.price")),
        ({"Variable": "$.quantity", "NumericEqualsPath": "$.stock"}, True, INVALID.format("$.stock")),
        ({"Variable": "$$.Execution.Price", "StringEquals": "x"}, True, INVALID.format("$$.Execution.Price")),
        ({"Variable": "$.price", "IsPresent": True}, True, None),
        (
            {"And": [{"Variable": "$.price", "IsPresent": True}, {"Variable": "$.price", "NumericEquals": 2}]},
            True,
            None,
        ),
    ],
)
def test_a_choice_without_a_branch_or_on_a_missing_path_fails_the_execution(
    stage: Stage, rule: dict[str, Any], default: bool, cause: str | None
) -> None:
    """Conformance tests that were run against AWS: States.Runtime; a Default does not help a path that is missing."""
    choice = {"Type": "Choice", "Choices": [{**rule, "Next": "Done"}], **({"Default": "Done"} if default else {})}
    done = stage.run(stage.machine({"Choose": choice, "Done": {"Type": "Succeed"}}), {"quantity": 1})
    if cause is None:
        assert done["status"] == "SUCCEEDED"
        return
    where = "An error occurred while executing the state 'Choose' (entered at the event id #2). "
    assert (done["status"], done["error"], done["cause"]) == ("FAILED", "States.Runtime", where + cause)
    assert [kind for _, _, kind in stage.chain(done["executionArn"])][1:] == ["ChoiceStateEntered", "ExecutionFailed"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("$order", {"lines": [{"price": 3}], "id": "a"}),
        ("$order.lines[0].price", 3),
        ("States.Format('{}!', $order.id)", "a!"),
    ],
)
def test_a_variable_is_there_in_later_states(stage: Stage, wanted: str, found: Any) -> None:
    """Developer Guide, "Passing data between states with variables"."""
    states = {
        "Keep": {"Type": "Pass", "Assign": {"order.$": "$"}, "Next": "Check"},
        "Check": {
            "Type": "Choice",
            "Choices": [{"Variable": "$order.id", "StringEquals": "a", "Next": "Use"}],
        },
        "Use": {"Type": "Pass", "Parameters": {"found.$": wanted}, "End": True},
    }
    done = stage.run(stage.machine(states), {"lines": [{"price": 3}], "id": "a"})
    assert json.loads(done["output"]) == {"found": found}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.lines[0].price", 3),
        ("$.lines[0]", {"price": 3, "tags": ["x"]}),
        ("$.lines[0].tags", ["x"]),
        ("$['a,b*'].lines[0].price", 5),
        ("$.lines[*].price", [3, 4]),
        ("$.lines[0:1].price", [3]),
        ("$.lines[?(@.price==3)].price", [3]),
        ("$..price", [3, 4, 5]),
    ],
)
def test_a_path_to_one_place_gives_its_value_and_a_path_to_many_a_list(stage: Stage, path: str, found: Any) -> None:
    """Jayway JsonPath, which Step Functions uses, "What is Returned When?"."""
    given = {"lines": [{"price": 3, "tags": ["x"]}, {"price": 4}], "a,b*": {"lines": [{"price": 5}]}}
    use = {"Type": "Pass", "Parameters": {"found.$": path}, "End": True}
    done = stage.run(stage.machine({"Use": use}), given)
    assert json.loads(done["output"]) == {"found": found}


@pytest.mark.parametrize("there", [[1], 5, "text"])
def test_a_result_that_does_not_fit_its_input_is_a_result_path_match_failure(stage: Stage, there: Any) -> None:
    """Developer Guide, "Error names": States.ResultPathMatchFailure."""
    put = {"Type": "Pass", "Result": 1, "ResultPath": "$.x.y", "End": True}
    done = stage.run(stage.machine({"Put": put}), {"x": there})
    assert (done["status"], done["error"]) == ("FAILED", "States.ResultPathMatchFailure")


def test_a_function_of_the_definition_that_fails_can_be_caught_by_its_name(stage: Stage) -> None:
    """Developer Guide, "Error names": States.IntrinsicFailure."""
    given = {"FunctionName": "any", "Payload": {"order.$": "States.StringToJson($.text)"}}
    catch = [{"ErrorEquals": ["States.IntrinsicFailure"], "Next": "Caught"}]
    for more, status in (({"Catch": catch}, "SUCCEEDED"), ({}, "FAILED")):
        states = {"Call": task("any", Parameters=given, **more)}
        done = stage.run(stage.machine({**states, "Caught": {"Type": "Succeed"}} if more else states), {"text": "{bad"})
        assert done["status"] == status
        said = json.loads(done["output"]) if more else {"Error": done["error"], "Cause": done["cause"]}
        assert said["Error"] == "States.IntrinsicFailure"
        assert said["Cause"].startswith("The function 'States.StringToJson($.text)' had the following error: ")


# --- the journal ---------------------------------------------------------------------------------------------------


def test_the_journal_tells_an_execution_from_start_to_end(stage: Stage, worker: str) -> None:
    done = stage.run(order(stage, worker), {"id": "told", "quantity": 1, "mode": "flaky"})
    arn = done["executionArn"]
    events = [
        one
        for one in stage.cloud.journal.events(ExecutionStarted, ExecutionStep, ExecutionEnded)
        if one.execution == arn
    ]
    started, *steps, ended = events
    assert isinstance(started, ExecutionStarted)
    assert (started.name, started.machine_type, json.loads(started.input)["id"]) == (done["name"], "STANDARD", "told")
    assert started.caller.kind == "learner"
    assert isinstance(ended, ExecutionEnded)
    assert (ended.status, ended.output, ended.error) == ("SUCCEEDED", done["output"], None)
    told = [(one.id, one.previous_id, one.type) for one in steps if isinstance(one, ExecutionStep)]
    assert told == stage.chain(arn)[1:-1]
    states = [one.state for one in steps if isinstance(one, ExecutionStep)]
    assert states == ["CheckQuantity"] * 2 + ["StoreOrder"] * 8
