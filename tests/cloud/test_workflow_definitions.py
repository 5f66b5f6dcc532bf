"""What Step Functions finds wrong with a definition: recorded with ValidateStateMachineDefinition against AWS."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers.cloud import Cloud
from tests.cloud.workflow_stage import Stage, refused

END = {"Type": "Pass", "End": True}


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


def to(name: str, **more: Any) -> dict[str, Any]:
    return {"Type": "Pass", "Next": name, **more}


def machine(states: dict[str, Any], start: str = "A", **more: Any) -> dict[str, Any]:
    return {"StartAt": start, "States": states, **more}


SCHEMA, TARGET = "SCHEMA_VALIDATION_FAILED", "MISSING_TRANSITION_TARGET"

RECORDED: dict[str, tuple[Any, list[tuple[str, str, str | None]]]] = {
    "no object": ('""', [(SCHEMA, "Definition must be a valid JSON object", None)]),
    "no fields": ({}, [(SCHEMA, "These fields are required: [States, StartAt]", "/")]),
    "no StartAt": ({"States": {"A": END}}, [(SCHEMA, "These fields are required: [StartAt]", "/")]),
    "no States": ({"StartAt": "A"}, [(SCHEMA, "These fields are required: [States]", "/")]),
    "a typo in Next, and a state that nothing leads to": (
        machine({"A": to("B2"), "B": END}),
        [
            (TARGET, "Missing 'Next' target: B2", "/States/A/Next"),
            (TARGET, 'State "B" is not reachable.', "/States/B"),
        ],
    ),
    "a typo in StartAt": (
        machine({"A": END}, start="AA"),
        [
            (TARGET, "Missing 'Next' target: AA", "/StartAt"),
            (TARGET, 'State "A" is not reachable.', "/States/A"),
        ],
    ),
    "a typo in Next and no end": (
        machine({"A": to("NOPE")}),
        [
            (TARGET, "Missing 'Next' target: NOPE", "/States/A/Next"),
            ("MISSING_END_STATE", "Workflow has no terminal state", None),
        ],
    ),
    "a loop without an end": (
        machine({"A": to("B"), "B": to("A")}),
        [("MISSING_END_STATE", "Workflow has no terminal state", None)],
    ),
    "a loop and an end that nothing leads to": (
        machine({"A": to("B"), "B": to("A"), "C": END}),
        [(TARGET, 'State "C" is not reachable.', "/States/C")],
    ),
    "typos in Choices, Default and Catch": (
        machine(
            {
                "A": {
                    "Type": "Choice",
                    "Choices": [{"Variable": "$.a", "IsPresent": True, "Next": "X"}],
                    "Default": "Y",
                },
                "T": {
                    "Type": "Task",
                    "Resource": "arn:aws:states:::lambda:invoke",
                    "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}],
                    "End": True,
                },
            }
        ),
        [
            (TARGET, "Missing 'Next' target: X", "/States/A/Choices[0]/Next"),
            (TARGET, "Missing 'Next' target: Y", "/States/A/Default"),
            (TARGET, "Missing 'Next' target: Z", "/States/T/Catch[0]/Next"),
            (TARGET, 'State "T" is not reachable.', "/States/T"),
        ],
    ),
    "a Choice rule without Next": (
        machine(
            {"A": {"Type": "Choice", "Choices": [{"Variable": "$", "StringMatches": "x"}], "Default": "B"}, "B": END}
        ),
        [(SCHEMA, "These fields are required: [Next]", "/States/A/Choices[0]")],
    ),
    "Catch on a Pass": (
        machine({"A": {**END, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "A"}]}}),
        [(SCHEMA, "Field 'Catch' is not supported", "/States/A")],
    ),
    "a time-out on a Map": (
        machine(
            {
                "A": {
                    "Type": "Map",
                    "TimeoutSeconds": 5,
                    "ItemProcessor": machine({"P": END}, start="P"),
                    "End": True,
                }
            }
        ),
        [(SCHEMA, "Field 'TimeoutSeconds' is not supported", "/States/A")],
    ),
    "JSONPath under JSONata": (
        machine({"A": {**END, "QueryLanguage": "JSONPath"}}, QueryLanguage="JSONata"),
        [(SCHEMA, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine", "/States/A")],
    ),
    "Output without JSONata, in a branch": (
        machine(
            {"A": {"Type": "Parallel", "Branches": [machine({"P": {**END, "Output": 1}}, start="P")], "End": True}}
        ),
        [
            (
                SCHEMA,
                "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the 'JSONata' "
                "QueryLanguage",
                "/States/A/Branches[0]/States/P",
            )
        ],
    ),
}


def text_of(definition: Any) -> str:
    return definition if isinstance(definition, str) else json.dumps(definition)


@pytest.mark.parametrize("case", RECORDED)
def test_a_wrong_definition_is_found_out_as_aws_does(stage: Stage, case: str) -> None:
    """Recorded: code, message and location of each finding, their order, and how CreateStateMachine writes them."""
    definition, expected = RECORDED[case]
    answer = stage.sfn.validate_state_machine_definition(definition=text_of(definition))
    found = [(one["code"], one["message"], one.get("location")) for one in answer["diagnostics"]]
    assert found == expected
    assert (answer["result"], answer["truncated"]) == ("FAIL", False)
    assert {one["severity"] for one in answer["diagnostics"]} == {"ERROR"}
    sentences = ", ".join(f"{code}: {words} at {place or 'null'}" for code, words, place in expected)
    for call in ("create_state_machine", "update_state_machine"):
        asked: dict[str, Any] = {"name": "wrong", "roleArn": stage.role}
        if call == "update_state_machine":
            asked = {"stateMachineArn": stage.machine({"A": END}, name="right")}
        with refused("InvalidDefinition") as messages:
            getattr(stage.sfn, call)(definition=text_of(definition), **asked)
        assert messages == [f"Invalid State Machine Definition: '{sentences}'"]


def test_a_definition_that_is_no_json_says_where(stage: Stage) -> None:
    """Recorded."""
    answer = stage.sfn.validate_state_machine_definition(definition="not a definition")
    source = '[Source: (String)"not a definition"; line: 1, column: 4]'
    values = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
    words = f"Unrecognized token 'not': was expecting {values}"
    assert answer["diagnostics"] == [
        {
            "severity": "ERROR",
            "code": "INVALID_JSON_DESCRIPTION",
            "message": f"{words}\n at {source}",
            "location": source,
        }
    ]
    with refused("InvalidDefinition") as messages:
        stage.sfn.create_state_machine(name="no-json", definition="not a definition", roleArn=stage.role)
    assert messages[0].startswith(f"Invalid State Machine Definition: 'INVALID_JSON_DESCRIPTION: {words}")


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (
            "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Express state machine does not support '.waitForTaskToken' service integration ",
        ),
        (
            "arn:aws:states:::states:startExecution.sync",
            "Express state machine does not support '.sync' service integration",
        ),
        (
            "arn:aws:states:us-east-1:123456789012:activity:nobody",
            "Express state machine does not support Activity ARN",
        ),
    ],
)
def test_express_has_no_callbacks_no_sync_and_no_activities(stage: Stage, resource: str, words: str) -> None:
    """Recorded, with the space at the end of the first."""
    definition = machine({"A": {"Type": "Task", "Resource": resource, "Parameters": {}, "End": True}})
    answer = stage.sfn.validate_state_machine_definition(definition=json.dumps(definition), type="EXPRESS")
    found = [(one["message"], one["location"]) for one in answer["diagnostics"]]
    assert found == [(words, "/States/A/Resource")]


def test_what_only_the_interpreter_finds_is_an_invalid_definition_too(stage: Stage) -> None:
    """The sentence is the interpreter's own; the code is AWS's."""
    wrong = machine({"A": {"Type": "Wait", "Timestamp": "tomorrow", "End": True}})
    assert stage.sfn.validate_state_machine_definition(definition=json.dumps(wrong))["result"] == "FAIL"
    with refused("InvalidDefinition") as messages:
        stage.machine(wrong["States"])
    assert messages[0].startswith("Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: ")


def test_a_correct_definition_with_every_type_of_state_is_accepted(stage: Stage) -> None:
    states: dict[str, Any] = {
        "A": {"Type": "Pass", "Comment": "c", "Parameters": {"x.$": "$.x"}, "ResultPath": "$.p", "Next": "B"},
        "B": {
            "Type": "Choice",
            "Choices": [{"And": [{"Variable": "$.x", "IsPresent": True}], "Next": "C"}],
            "Default": "F",
        },
        "C": {
            "Type": "Parallel",
            "Branches": [machine({"P": END}, start="P")],
            "Retry": [{"ErrorEquals": ["States.ALL"], "MaxDelaySeconds": 5, "JitterStrategy": "FULL"}],
            "Next": "D",
        },
        "D": {
            "Type": "Map",
            "ItemsPath": "$",
            "MaxConcurrency": 2,
            "ItemProcessor": machine({"Q": END}, start="Q", ProcessorConfig={"Mode": "INLINE"}),
            "ResultPath": None,
            "Next": "W",
        },
        "W": {"Type": "Wait", "Seconds": 1, "Next": "T"},
        "T": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"FunctionName": "f"},
            "ResultSelector": {"r.$": "$.Payload"},
            "TimeoutSeconds": 9,
            "HeartbeatSeconds": 5,
            "Next": "S",
        },
        "S": {"Type": "Succeed"},
        "F": {"Type": "Fail", "Error": "E", "Cause": "C"},
    }
    definition = json.dumps(machine(states, Comment="all", Version="1.0", TimeoutSeconds=99))
    assert stage.sfn.validate_state_machine_definition(definition=definition)["diagnostics"] == []
    stage.sfn.create_state_machine(name="all", definition=definition, roleArn=stage.role)
