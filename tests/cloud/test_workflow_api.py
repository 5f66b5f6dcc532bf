"""The calls of Step Functions around executions and state machines, as recorded against AWS or documented."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import boto3
import pytest

from helpers.cloud import Cloud, workflow_execution, workflow_executions
from tests.cloud.workflow_stage import Stage, allowing, refused, task, trust

PASS = {"Only": {"Type": "Pass", "Result": {"a": 1}, "End": True}}
WAIT = {"Wait": {"Type": "Wait", "Seconds": 3600, "Next": "Done"}, "Done": {"Type": "Succeed"}}
NOBODY = "arn:aws:states:us-east-1:123456789012"


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


@pytest.fixture(scope="module")
def passing(stage: Stage) -> str:
    return stage.machine(PASS)


# --- names of executions -------------------------------------------------------------------------------------------


def test_starts_without_a_name_get_a_uuid(stage: Stage, passing: str) -> None:
    """StartExecution: "If you don't specify a name, a UUID is generated"."""
    names = [stage.start(passing).rpartition(":")[2] for _ in range(2)]
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name) for name in names)
    assert names[0] != names[1]


def test_the_same_name_and_input_while_it_runs_is_the_same_execution(stage: Stage) -> None:
    """StartExecution: idempotent for Standard workflows while the execution runs; recorded: the error's sentence."""
    machine = stage.machine(WAIT)
    first = stage.sfn.start_execution(stateMachineArn=machine, name="one", input='{"a": 1}')
    again = stage.sfn.start_execution(stateMachineArn=machine, name="one", input='{"a": 1}')
    assert (again["executionArn"], again["startDate"]) == (first["executionArn"], first["startDate"])
    with refused("ExecutionAlreadyExists") as messages:
        stage.start(machine, {"a": 2}, name="one")
    assert messages == [f"Execution Already Exists: '{first['executionArn']}'"]
    assert len(stage.sfn.list_executions(stateMachineArn=machine)["executions"]) == 1


def test_a_name_is_free_again_ninety_days_after_the_execution_closed(stage: Stage, passing: str) -> None:
    """StartExecution, `name`: unique for 90 days after the execution closed."""
    first = stage.run(passing, {"n": 1}, name="reused")
    with refused("ExecutionAlreadyExists"):
        stage.start(passing, {"n": 1}, name="reused")
    stage.cloud.skip(90 * 86_400 - 60)
    with refused("ExecutionAlreadyExists"):
        stage.start(passing, {"n": 2}, name="reused")
    stage.cloud.skip(120)
    second = stage.run(passing, {"n": 2}, name="reused")
    assert second["executionArn"] == first["executionArn"]
    assert (first["input"], second["input"]) == ('{"n": 1}', '{"n": 2}')


def test_starts_with_one_name_that_race_begin_one_execution(stage: Stage) -> None:
    machine = stage.machine(WAIT)
    arns: list[str] = []
    threads = [threading.Thread(target=lambda: arns.append(stage.start(machine, {}, name="race"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert (len(arns), len(set(arns))) == (6, 1)
    assert len(stage.sfn.list_executions(stateMachineArn=machine)["executions"]) == 1


@pytest.mark.parametrize("name", ["with space", "a:b", "what?", "a/b", "tab\t", "quote'\"", "a\u0085b"])
def test_a_name_with_a_forbidden_character_is_refused(stage: Stage, passing: str, name: str) -> None:
    """StartExecution and CreateStateMachine, `name`: what a name must not contain."""
    with refused("InvalidName") as messages:
        stage.start(passing, name=name)
    assert messages == [f"Invalid Name: '{name}'"]
    with refused("InvalidName"):
        stage.machine(PASS, name=name)


def test_a_name_of_more_than_80_characters_breaks_the_model(stage: Stage, passing: str) -> None:
    with refused("ValidationException") as messages:
        stage.start(passing, name="n" * 81)
    assert "failed to satisfy constraint: Member must have length less than or equal to 80" in messages[0]


# --- inputs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "not some json",
            "Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or token 'null', 'true' "
            "or 'false')",
        ),
        ("{'a': 1}", "Unexpected character (''' (code 39)): was expecting double-quote to start field name"),
        ("", "Invalid execution input."),
    ],
)
def test_an_input_that_is_no_json_is_refused(stage: Stage, passing: str, text: str, words: str) -> None:
    """Recorded: the three sentences."""
    with refused("InvalidExecutionInput") as messages:
        stage.sfn.start_execution(stateMachineArn=passing, input=text)
    assert messages == [f"Invalid State Machine Execution Input: '{words}'"]


@pytest.mark.parametrize("text", ["2", '"text"', "null", "[1, 2]"])
def test_any_json_is_an_input(stage: Stage, passing: str, text: str) -> None:
    """Recorded for a number, a string and null."""
    execution = stage.sfn.start_execution(stateMachineArn=passing, input=text)["executionArn"]
    assert stage.ended(execution)["input"] == text


def test_an_input_is_262144_bytes_at_most(stage: Stage, passing: str) -> None:
    """Service quotas: 256 KiB as UTF-8; StartExecution counts bytes."""
    largest = json.dumps("é" * 131_071, ensure_ascii=False)
    assert len(largest.encode()) == 262_144
    stage.sfn.start_execution(stateMachineArn=passing, input=largest)
    with refused("ValidationException"):
        stage.sfn.start_execution(stateMachineArn=passing, input=largest[:-1] + 'a"')


# --- ARNs ----------------------------------------------------------------------------------------------------------

CALLS: list[tuple[str, str, str, str]] = [
    ("describe_state_machine", "stateMachineArn", "stateMachine", "StateMachineDoesNotExist"),
    ("start_execution", "stateMachineArn", "stateMachine", "StateMachineDoesNotExist"),
    ("start_sync_execution", "stateMachineArn", "stateMachine", "StateMachineDoesNotExist"),
    ("list_executions", "stateMachineArn", "stateMachine", "StateMachineDoesNotExist"),
    ("update_state_machine", "stateMachineArn", "stateMachine", "StateMachineDoesNotExist"),
    ("describe_execution", "executionArn", "execution", "ExecutionDoesNotExist"),
    ("get_execution_history", "executionArn", "execution", "ExecutionDoesNotExist"),
    ("stop_execution", "executionArn", "execution", "ExecutionDoesNotExist"),
    ("describe_state_machine_for_execution", "executionArn", "execution", "ExecutionDoesNotExist"),
]


@pytest.mark.parametrize(("call", "member", "kind", "code"), CALLS, ids=[call for call, *_ in CALLS])
def test_an_arn_is_checked_and_what_does_not_exist_is_named(
    stage: Stage, call: str, member: str, kind: str, code: str
) -> None:
    """Recorded: InvalidArn with the ARN's prefix, StateMachineDoesNotExist and ExecutionDoesNotExist with the ARN."""
    with refused("InvalidArn") as messages:
        getattr(stage.sfn, call)(**{member: "no_arn"})
    assert messages == ["Invalid Arn: 'Invalid ARN prefix: no_arn'"]
    arn = f"{NOBODY}:{kind}:nobody" + (":nothing" if kind == "execution" else "")
    with refused(code) as messages:
        getattr(stage.sfn, call)(**{member: arn})
    words = "State Machine" if kind == "stateMachine" else "Execution"
    assert messages == [f"{words} Does Not Exist: '{arn}'"]


# --- state machines ------------------------------------------------------------------------------------------------


def test_creating_the_same_state_machine_again_answers_the_first(stage: Stage) -> None:
    """CreateStateMachine is idempotent by name, definition, type, logging and tracing; the role is not compared.
    Recorded: another definition, also another spelling of the same, is StateMachineAlreadyExists."""
    first = stage.machine(PASS, name="twice")
    assert stage.machine(PASS, name="twice") == first
    assert stage.machine(PASS, name="twice", roleArn=stage.new_role(None)) == first
    with refused("StateMachineAlreadyExists") as messages:
        stage.machine(WAIT, name="twice")
    assert messages == [f"State Machine Already Exists: '{first}'"]
    with refused("StateMachineAlreadyExists"):
        stage.machine(PASS, name="twice", type="EXPRESS")


@pytest.mark.parametrize("trusted", [trust("lambda.amazonaws.com"), None], ids=["trusts another service", "missing"])
def test_a_role_that_step_functions_cannot_assume_is_refused(stage: Stage, trusted: str | None) -> None:
    """Quoted in public threads, for both: a role that does not exist is not told apart."""
    sentence = (
        "Neither the global service principal states.amazonaws.com, nor the regional one is authorized to assume the "
        "provided role."
    )
    role = stage.new_role(None, trusted) if trusted else "arn:aws:iam::123456789012:role/nobody"
    with refused("AccessDeniedException") as messages:
        stage.machine(PASS, roleArn=role)
    assert messages == [sentence]
    with refused("AccessDeniedException"):
        stage.sfn.update_state_machine(stateMachineArn=stage.machine(PASS), roleArn=role)


def test_a_role_that_trusts_the_regional_principal_is_accepted(stage: Stage) -> None:
    role = stage.new_role(None, trust("states.us-east-1.amazonaws.com"))
    assert stage.run(stage.machine(PASS, roleArn=role))["status"] == "SUCCEEDED"


def test_an_update_takes_effect_for_new_executions_only(stage: Stage) -> None:
    """UpdateStateMachine: running executions go on with the former definition and role. Recorded: revisionId."""
    machine = stage.machine(WAIT)
    before = stage.start(machine)
    stage.cloud.settle()
    states = {"Other": {"Type": "Pass", "Result": "new", "End": True}}
    definition = json.dumps({"StartAt": "Other", "States": states})
    updated = stage.sfn.update_state_machine(stateMachineArn=machine, definition=definition)
    assert stage.sfn.describe_state_machine(stateMachineArn=machine)["revisionId"] == updated["revisionId"]
    again = stage.sfn.update_state_machine(stateMachineArn=machine, definition=definition)
    assert again["revisionId"] == updated["revisionId"]
    assert json.loads(stage.run(machine)["output"]) == "new"
    stage.cloud.skip(3600)
    assert stage.ended(before)["output"] == "{}"
    shown = stage.sfn.describe_state_machine_for_execution(executionArn=before)
    assert json.loads(shown["definition"])["States"] == WAIT


def test_an_update_of_nothing_is_refused(stage: Stage, passing: str) -> None:
    """Recorded."""
    with refused("MissingRequiredParameter") as messages:
        stage.sfn.update_state_machine(stateMachineArn=passing)
    assert messages[0].startswith("Either the definition, the role ARN, the LoggingConfiguration, or ")


def test_a_state_machine_with_running_executions_is_deleting_until_they_end(stage: Stage) -> None:
    """DeleteStateMachine: status DELETING, deleted when all executions are over; they are terminated on their next
    state transition (Knowledge Center: States.Runtime, "State machine … has been deleted.")."""
    machine = stage.machine(WAIT)
    execution = stage.start(machine)
    stage.cloud.settle()
    stage.sfn.delete_state_machine(stateMachineArn=machine)
    assert stage.sfn.describe_state_machine(stateMachineArn=machine)["status"] == "DELETING"
    with refused("StateMachineDeleting"):
        stage.start(machine)
    with refused("StateMachineDeleting"):
        stage.machine(WAIT, name=machine.rpartition(":")[2])
    stage.cloud.skip(3600)
    done = stage.ended(execution)
    name = machine.rpartition(":")[2]
    assert (done["status"], done["error"], done["cause"]) == (
        "FAILED",
        "States.Runtime",
        f"State machine {name} has been deleted.",
    )
    with refused("StateMachineDoesNotExist"):
        stage.sfn.describe_state_machine(stateMachineArn=machine)
    assert stage.history(execution)[-1]["type"] == "ExecutionFailed"


def test_deleting_a_state_machine_twice_is_no_error(stage: Stage) -> None:
    """Recorded for one that never existed."""
    machine = stage.machine(PASS)
    for _ in range(2):
        stage.sfn.delete_state_machine(stateMachineArn=machine)
    listed = stage.sfn.get_paginator("list_state_machines").paginate().build_full_result()["stateMachines"]
    assert machine not in [one["stateMachineArn"] for one in listed]


def test_tags_of_a_state_machine_can_be_set_read_and_taken_away(stage: Stage) -> None:
    machine = stage.machine(PASS, tags=[{"key": "course", "value": "once"}])
    stage.sfn.tag_resource(resourceArn=machine, tags=[{"key": "lesson", "value": "2"}])
    stage.sfn.untag_resource(resourceArn=machine, tagKeys=["course"])
    assert stage.sfn.list_tags_for_resource(resourceArn=machine)["tags"] == [{"key": "lesson", "value": "2"}]
    with refused("ResourceNotFound"):
        stage.sfn.tag_resource(resourceArn=f"{NOBODY}:stateMachine:nobody", tags=[])


def test_a_version_runs_the_definition_that_was_published(stage: Stage) -> None:
    """StartExecution: a qualified ARN starts that version; the execution names it."""
    machine = stage.machine({"One": {"Type": "Pass", "Result": 1, "End": True}})
    definition = json.dumps({"StartAt": "Two", "States": {"Two": {"Type": "Pass", "Result": 2, "End": True}}})
    version = stage.sfn.update_state_machine(stateMachineArn=machine, definition=definition, publish=True)
    later = json.dumps({"StartAt": "Three", "States": {"Three": {"Type": "Pass", "Result": 3, "End": True}}})
    stage.sfn.update_state_machine(stateMachineArn=machine, definition=later)
    done = stage.run(version["stateMachineVersionArn"])
    assert (done["output"], done["stateMachineVersionArn"]) == ("2", version["stateMachineVersionArn"])
    assert stage.run(machine)["output"] == "3"


# --- looking at executions -----------------------------------------------------------------------------------------


def test_a_description_has_the_members_that_were_recorded(stage: Stage, passing: str) -> None:
    done = stage.run(passing, {"a": 1})
    done.pop("ResponseMetadata")
    assert set(done) == {
        *("executionArn", "input", "inputDetails", "name", "output", "outputDetails", "redriveCount"),
        *("redriveStatus", "redriveStatusReason", "startDate", "stateMachineArn", "status", "stopDate"),
    }
    assert done["redriveStatusReason"] == "Execution is SUCCEEDED and cannot be redriven"


def test_executions_are_listed_by_status_latest_first_and_in_pages(stage: Stage) -> None:
    """ListExecutions: sorted by time, the most recent first; recorded: the members and the refusals."""
    machine = stage.machine({"Wait": {"Type": "Wait", "SecondsPath": "$.seconds", "End": True}})
    for name, seconds in (("a", 0), ("b", 0), ("c", 9999)):
        stage.start(machine, {"seconds": seconds}, name=name)
        stage.cloud.settle()
        stage.cloud.skip(1)

    def names(**asked: Any) -> list[str]:
        found = stage.sfn.list_executions(stateMachineArn=machine, **asked)["executions"]
        return [one["name"] for one in found]

    assert names() == ["c", "b", "a"]
    assert (names(statusFilter="RUNNING"), names(statusFilter="SUCCEEDED")) == (["c"], ["b", "a"])
    first = stage.sfn.list_executions(stateMachineArn=machine, maxResults=2)
    assert names(maxResults=2, nextToken=first["nextToken"]) == ["a"]
    assert "nextToken" not in stage.sfn.list_executions(stateMachineArn=machine, maxResults=3)
    with refused("ValidationException") as messages:
        names(statusFilter="succeeded")
    assert "[SUCCEEDED, TIMED_OUT, PENDING_REDRIVE, ABORTED, FAILED, RUNNING]" in messages[0]
    with refused("ValidationException"):
        names(maxResults=1001)
    with refused("InvalidToken"):
        names(nextToken="nobody gave this")


def test_a_history_is_read_in_pages_backwards_and_without_data(stage: Stage, passing: str) -> None:
    """GetExecutionHistory: maxResults, nextToken, reverseOrder, includeExecutionData."""
    execution = stage.run(passing, {"a": 1})["executionArn"]
    pages = stage.sfn.get_paginator("get_execution_history").paginate(
        executionArn=execution, PaginationConfig={"PageSize": 3}
    )
    assert [[one["id"] for one in page["events"]] for page in pages] == [[1, 2, 3], [4]]
    assert [one["id"] for one in stage.history(execution, reverseOrder=True)] == [4, 3, 2, 1]
    with_data = stage.history(execution)[0]["executionStartedEventDetails"]
    without = stage.history(execution, includeExecutionData=False)[0]["executionStartedEventDetails"]
    assert json.loads(with_data["input"]) == {"a": 1}
    assert without == {"inputDetails": {"truncated": False}, "roleArn": stage.role}


def test_a_stopped_execution_is_aborted_at_once(stage: Stage) -> None:
    """Recorded: ExecutionAborted with previousEventId 0. An error and a cause are kept; stopping again changes
    nothing."""
    machine = stage.machine(WAIT)
    execution = stage.start(machine)
    stage.cloud.settle()
    stopped = stage.sfn.stop_execution(executionArn=execution, error="Enough", cause="it takes too long")
    done = stage.sfn.describe_execution(executionArn=execution)
    assert (done["status"], done["error"], done["cause"]) == ("ABORTED", "Enough", "it takes too long")
    assert done["stopDate"] == stopped["stopDate"]
    assert stage.chain(execution)[1:] == [(2, 0, "WaitStateEntered"), (3, 0, "ExecutionAborted")]
    again = stage.sfn.stop_execution(executionArn=execution)
    assert again["stopDate"] == stopped["stopDate"]
    stage.cloud.skip(4000)
    stage.cloud.settle()
    assert len(stage.history(execution)) == 3


def test_a_history_that_is_full_ends_the_execution(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Service quotas: 25,000 events; the last one says that the execution failed."""
    monkeypatch.setattr(workflow_execution, "LONGEST_HISTORY", 50)
    loop = {"Type": "Choice", "Choices": [{"Variable": "$.n", "IsPresent": True, "Next": "Again"}], "Default": "Done"}
    states = {"Ask": loop, "Again": {"Type": "Pass", "Next": "Ask"}, "Done": {"Type": "Succeed"}}
    done = stage.run(stage.machine(states), {"n": 1})
    assert (done["status"], len(stage.history(done["executionArn"]))) == ("FAILED", 50)
    assert done["cause"] == "The execution reached the maximum number of history events (50)."


def test_very_many_ended_executions_are_not_all_kept(
    stage: Stage, passing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AWS keeps them for 90 days; an account that lives in a process keeps the latest."""
    monkeypatch.setattr(workflow_executions, "MOST_ENDED", 3)
    arns = [stage.run(passing)["executionArn"] for _ in range(5)]
    with refused("ExecutionDoesNotExist"):
        stage.sfn.describe_execution(executionArn=arns[0])
    assert stage.sfn.describe_execution(executionArn=arns[-1])["status"] == "SUCCEEDED"
    monkeypatch.undo()
    stage.cloud.skip(90 * 86_400 + 60)
    stage.run(passing)
    with refused("ExecutionDoesNotExist"):
        stage.sfn.describe_execution(executionArn=arns[-1])


# --- express -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def express(stage: Stage) -> str:
    return stage.machine(PASS, type="EXPRESS")


def test_a_synchronous_execution_answers_with_its_result(stage: Stage, express: str) -> None:
    """Recorded: the members of the answer, also of one that failed."""
    done = stage.sfn.start_sync_execution(stateMachineArn=express, name="mine", input='{"b": 2}')
    assert (done["status"], done["output"], done["name"]) == ("SUCCEEDED", '{"a":1}', "mine")
    assert done["executionArn"].startswith(f"{NOBODY}:express:{express.rpartition(':')[2]}:mine:")
    assert done["billingDetails"]["billedDurationInMilliseconds"] >= 100
    assert done["billingDetails"]["billedMemoryUsedInMB"] == 64
    failing = stage.machine({"Fail": {"Type": "Fail", "Error": "Some", "Cause": "thing"}}, type="EXPRESS")
    done = stage.sfn.start_sync_execution(stateMachineArn=failing)
    assert (done["status"], done["error"], done["cause"]) == ("FAILED", "Some", "thing")
    assert "output" not in done


def test_a_plain_client_reaches_the_account_for_a_synchronous_execution(
    stage: Stage, express: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK puts "sync-" before the host, unless AWS_DISABLE_HOST_PREFIX_INJECTION says not to."""
    for name, value in stage.cloud.environment.items():
        monkeypatch.setenv(name, value)
    client = boto3.Session().client("stepfunctions")
    assert client.start_sync_execution(stateMachineArn=express)["status"] == "SUCCEEDED"


def test_an_express_execution_has_no_check_of_names_and_no_history_to_ask_for(stage: Stage, express: str) -> None:
    """Recorded: the refusals. Developer Guide: no uniqueness of names for Express workflows."""
    arns = [stage.start(express, {"n": 1}, name="same") for _ in range(2)]
    assert arns[0] != arns[1]
    for call in ("describe_execution", "get_execution_history", "stop_execution"):
        with refused("InvalidArn") as messages:
            getattr(stage.sfn, call)(executionArn=arns[0])
        assert messages == ["Invalid Arn: 'Resource type not valid in this context: express'"]
    with refused("StateMachineTypeNotSupported") as messages:
        stage.sfn.list_executions(stateMachineArn=express)
    assert messages == ["This operation is not supported by this type of state machine"]


def test_a_standard_state_machine_is_not_started_synchronously(stage: Stage, passing: str) -> None:
    """Recorded."""
    with refused("StateMachineTypeNotSupported"):
        stage.sfn.start_sync_execution(stateMachineArn=passing)


# --- task tokens ---------------------------------------------------------------------------------------------------


def test_a_task_token_ends_the_wait_for_a_callback(stage: Stage) -> None:
    """Developer Guide, "Wait for a Callback with Task Token". An execution that waits for one is at rest."""
    url = stage.cloud.client("sqs").create_queue(QueueName=stage.name("queue"))["QueueUrl"]
    role = stage.new_role(allowing("sqs:SendMessage"))
    states = {
        "Ask": {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Parameters": {"QueueUrl": url, "MessageBody": {"token.$": "$$.Task.Token"}},
            "End": True,
        }
    }
    machine = stage.machine(states, roleArn=role)
    execution = stage.start(machine)
    stage.cloud.settle()
    assert stage.sfn.describe_execution(executionArn=execution)["status"] == "RUNNING"
    message = stage.cloud.client("sqs").receive_message(QueueUrl=url)["Messages"][0]
    token = json.loads(message["Body"])["token"]
    stage.sfn.send_task_success(taskToken=token, output='{"approved": true}')
    assert json.loads(stage.ended(execution)["output"]) == {"approved": True}
    with refused("TaskTimedOut"):
        stage.sfn.send_task_success(taskToken=token, output="{}")
    with refused("InvalidToken"):
        stage.sfn.send_task_failure(taskToken="nobody's")


# --- map runs ------------------------------------------------------------------------------------------------------


def test_a_map_in_distributed_mode_tells_of_its_run(stage: Stage) -> None:
    """ListMapRuns and DescribeMapRun."""
    part = {
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
        "StartAt": "P",
        "States": {"P": {"Type": "Pass", "End": True}},
    }
    states = {"All": {"Type": "Map", "Label": "Parts", "ItemProcessor": part, "End": True}}
    done = stage.run(stage.machine(states), [1, 2, 3])
    assert done["output"] == "[1,2,3]"
    run = stage.sfn.list_map_runs(executionArn=done["executionArn"])["mapRuns"][0]["mapRunArn"]
    told = stage.sfn.describe_map_run(mapRunArn=run)
    assert (told["status"], told["itemCounts"]["succeeded"]) == ("SUCCEEDED", 3)
    with refused("ResourceNotFound"):
        stage.sfn.describe_map_run(mapRunArn=f"{NOBODY}:mapRun:nobody/label:1")


def test_jsonata_says_that_it_is_not_emulated(stage: Stage) -> None:
    states = {"A": {"Type": "Pass", "Output": "{% $states.input %}", "End": True}}
    done = stage.run(stage.machine(states, top={"QueryLanguage": "JSONata"}))
    assert (done["status"], done["error"]) == ("FAILED", "States.Runtime")
    assert "JSONata expressions are not emulated" in done["cause"]


# --- preloading ----------------------------------------------------------------------------------------------------


def test_calls_go_on_while_the_interpreter_is_imported(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import takes most of a second: whoever does not need it must not wait for it."""
    interpreter = stage.cloud.workflows.interpreter
    imported, entered = threading.Event(), threading.Event()
    ready = interpreter.ready()

    def slow() -> Any:
        entered.set()
        imported.wait(10)
        return ready

    monkeypatch.setattr(interpreter, "ready", slow)
    made: list[str] = []
    creating = threading.Thread(target=lambda: made.append(stage.machine(PASS)))
    creating.start()
    try:
        assert entered.wait(10)
        stage.sfn.list_state_machines()
        stage.cloud.client("sqs").list_queues()
        assert not made
    finally:
        imported.set()
        creating.join(10)
    assert made


def test_a_workflow_is_run_by_a_function_too(stage: Stage) -> None:
    """A function's role needs states:StartExecution; the execution's caller is the function."""
    machine = stage.machine(PASS)
    function = stage.functions.create(
        """
        import boto3

        def handler(event, context):
            return boto3.client("stepfunctions").start_execution(stateMachineArn=event["machine"])["executionArn"]
        """,
        Role=stage.new_role(allowing("states:StartExecution", machine), trust("lambda.amazonaws.com")),
    )
    execution, _ = stage.functions.invoke(function, {"machine": machine})
    assert stage.ended(execution)["status"] == "SUCCEEDED"


def test_a_nested_execution_is_awaited(stage: Stage) -> None:
    """Developer Guide, "Start Step Functions workflows from a task": .sync waits for the child."""
    child = stage.machine(WAIT)
    function = stage.functions.create("def handler(event, context):\n    return 1\n")
    states = {
        "Child": {
            "Type": "Task",
            "Resource": "arn:aws:states:::states:startExecution.sync",
            "Parameters": {"StateMachineArn": child, "Input": {}},
            "ResultPath": None,
            "Next": "After",
        },
        "After": task(function),
    }
    done = stage.run(stage.machine(states))
    assert (done["status"], done["output"]) == ("SUCCEEDED", "1")
