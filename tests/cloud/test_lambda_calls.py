"""Calls of Lambda's control plane: what is refused, and in which words; versions, aliases, concurrency, account.

Sources: Lambda API Reference (constraints, status codes), Lambda quotas; the sentences are those that AWS answers,
as public issues quote them.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.journal import RunEnded

from .deploying import Deployer, archive, eventually

ARN = "arn:aws:lambda:us-east-1:123456789012:function:"
ECHO = "def handler(event, context):\n    return event"
DETECTED = "1 validation error detected: "


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    deployer = Deployer(cloud)
    deployer.client = cloud.client(
        "lambda", config=Config(parameter_validation=False, retries={"total_max_attempts": 1})
    )
    return deployer


@pytest.fixture(scope="module")
def echo(functions: Deployer) -> str:
    return functions.create(ECHO)


def refusal(call: Any, **members: Any) -> tuple[str, str, int]:
    with pytest.raises(ClientError) as problem:
        call(**members)
    response = problem.value.response
    status = response["ResponseMetadata"]["HTTPStatusCode"]
    return response["Error"]["Code"], response["Error"]["Message"], status


# --- create and update ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"FunctionName": "a b"}, "Member must satisfy regular expression pattern: (arn:"),
        (
            {"FunctionName": "a" * 65},
            "at 'functionName' failed to satisfy constraint: Member must have length less than or equal to 64",
        ),
        (
            {"Handler": "app handler"},
            "Value 'app handler' at 'handler' failed to satisfy constraint: Member must "
            "satisfy regular expression pattern: [^\\s]+",
        ),
        (
            {"Handler": "a" * 129},
            "at 'handler' failed to satisfy constraint: Member must have length less than or equal to 128",
        ),
        (
            {"Description": "d" * 257},
            "at 'description' failed to satisfy constraint: Member must have length less than or equal to 256",
        ),
        (
            {"EphemeralStorage": {"Size": 100}},
            "Value '100' at 'ephemeralStorage.size' failed to satisfy constraint: "
            "Member must have value greater than or equal to 512",
        ),
        (
            {"Role": "nobody"},
            "Value 'nobody' at 'role' failed to satisfy constraint: Member must satisfy regular "
            "expression pattern: arn:",
        ),
    ],
)
def test_a_function_that_cannot_be_is_refused(functions: Deployer, settings: dict[str, Any], sentence: str) -> None:
    code, said, status = refusal(functions.create, files=ECHO, **settings)
    assert (code, status) == ("ValidationException", 400)
    assert said.startswith(DETECTED)
    assert sentence in said


PARAMETER = "InvalidParameterValueException"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"Runtime": "python1"},
            "Value python1 at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: [",
        ),
        (
            {"Runtime": "python3.7"},
            "The runtime parameter of python3.7 is no longer supported for creating or updating AWS Lambda functions.",
        ),
        ({"Code": {}}, "Please provide a source for function code."),
        (
            {"Code": {"ZipFile": archive(ECHO), "S3Bucket": "bucket", "S3Key": "key"}},
            "Please do not provide other FunctionCode parameters when providing a ZipFile.",
        ),
        (
            {"DeadLetterConfig": {"TargetArn": "arn:aws:sqs:us-east-1:123456789012:dead"}},
            "The provided execution role does not have permissions to call SendMessage on SQS",
        ),
    ],
)
def test_parameters_that_lambda_cannot_use_are_refused(
    functions: Deployer, settings: dict[str, Any], sentence: str
) -> None:
    members = {"Runtime": "python3.12", "Handler": "app.handler", "Role": functions.role, "FunctionName": "never"}
    members |= {"Code": {"ZipFile": archive(ECHO)}, **settings}
    code, said, status = refusal(functions.client.create_function, **members)
    assert (code, status) == (PARAMETER, 400)
    assert said.startswith(sentence)


@pytest.mark.parametrize("service", ["ec2.amazonaws.com", None])
def test_a_role_that_does_not_trust_lambda_cannot_be_assumed(
    cloud: Cloud, functions: Deployer, echo: str, service: str | None
) -> None:
    role = "arn:aws:iam::123456789012:role/unknown"
    if service:
        statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        role = cloud.client("iam").create_role(RoleName="other", AssumeRolePolicyDocument=document)["Role"]["Arn"]
    expected = (PARAMETER, "The role defined for the function cannot be assumed by Lambda.", 400)
    assert refusal(functions.create, files=ECHO, Role=role) == expected
    assert refusal(functions.client.update_function_configuration, FunctionName=echo, Role=role) == expected


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["{}", f"{ARN}{{}}", "123456789012:function:{}", "function:{}", "{}:$LATEST"])
def test_every_form_of_a_name_finds_the_function(functions: Deployer, echo: str, form: str) -> None:
    """API Reference, "FunctionName": name, ARN, partial ARN, each with or without a qualifier."""
    name = form.format(echo)
    assert functions.invoke(name, 1)[0] == 1
    assert functions.client.get_function_configuration(FunctionName=name)["FunctionName"] == echo


@pytest.mark.parametrize(
    ("name", "code", "sentence", "status"),
    [
        ("a b", "ValidationException", "Value 'a b' at 'functionName' failed to satisfy constraint", 400),
        ("nothing", "ResourceNotFoundException", f"Function not found: {ARN}nothing", 404),
        (
            "arn:aws:lambda:eu-west-1:123456789012:function:x",
            "ResourceNotFoundException",
            "Functions from 'eu-west-1' are not reachable in this region ('us-east-1')",
            404,
        ),
        (
            "arn:aws:lambda:us-east-1:999999999999:function:x",
            "AccessDeniedException",
            "is not authorized to perform: lambda:InvokeFunction on resource: "
            "arn:aws:lambda:us-east-1:999999999999:function:x because no resource-based policy allows",
            403,
        ),
    ],
)
def test_a_name_that_finds_nothing_says_why(
    functions: Deployer, name: str, code: str, sentence: str, status: int
) -> None:
    found = refusal(functions.client.invoke, FunctionName=name, Payload=b"{}")
    assert (found[0], found[2]) == (code, status)
    assert sentence in found[1]


@pytest.mark.parametrize(
    "members", [{"LogType": "All"}, {"InvocationType": "Later"}, {"Qualifier": "no qualifier"}], ids=str
)
def test_an_invocation_of_another_kind_is_refused(functions: Deployer, echo: str, members: dict[str, Any]) -> None:
    code, said, status = refusal(functions.client.invoke, FunctionName=echo, Payload=b"{}", **members)
    assert (code, status) == ("ValidationException", 400)
    assert said.startswith(DETECTED)


# --- versions and aliases ---------------------------------------------------------------------------------------------


def test_the_calls_of_an_alias_answer_with_their_status(functions: Deployer) -> None:
    name, client = functions.create(ECHO), functions.client
    client.publish_version(FunctionName=name)

    def status(call: Any, **members: Any) -> int:
        return int(call(FunctionName=name, Name="live", **members)["ResponseMetadata"]["HTTPStatusCode"])

    assert status(client.create_alias, FunctionVersion="1") == 201
    assert status(client.get_alias) == 200
    assert status(client.update_alias, FunctionVersion="$LATEST") == 200
    assert status(client.delete_alias) == 204
    assert refusal(client.get_alias, FunctionName=name, Name="live")[0] == "ResourceNotFoundException"


def test_a_published_version_does_not_change(functions: Deployer) -> None:
    name, client = functions.create(ECHO), functions.client
    client.publish_version(FunctionName=name)
    for call, members in (
        (client.update_function_configuration, {"Timeout": 9}),
        (client.update_function_code, {"ZipFile": archive("def handler(event, context): return 2")}),
    ):
        assert refusal(call, FunctionName=f"{name}:1", **members)[0] == PARAMETER
    assert client.get_function_configuration(FunctionName=f"{name}:1")["Timeout"] == 3
    assert functions.invoke(f"{name}:1", 1)[0] == 1


# --- concurrency and account ------------------------------------------------------------------------------------------


def test_a_hundred_runs_stay_unreserved(functions: Deployer, echo: str) -> None:
    """Lambda quotas: 1,000 concurrent executions, 100 of which cannot be reserved."""
    put = functions.client.put_function_concurrency
    expected = (
        PARAMETER,
        "Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution below "
        "its minimum value of [100].",
        400,
    )
    assert refusal(put, FunctionName=echo, ReservedConcurrentExecutions=901) == expected
    assert refusal(put, FunctionName=echo, ReservedConcurrentExecutions=-1)[0] == "ValidationException"
    put(FunctionName=echo, ReservedConcurrentExecutions=900)
    limits = functions.client.get_account_settings()["AccountLimit"]
    assert (limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"]) == (1000, 100)
    functions.client.delete_function_concurrency(FunctionName=echo)
    assert functions.client.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"] == 1000


def test_a_function_that_is_deleted_while_it_runs_finishes_its_run(
    cloud: Cloud, functions: Deployer, tmp_path: Any
) -> None:
    gate = tmp_path / "gate"
    source = f"""
        import os, time
        def handler(event, context):
            while not os.path.exists({str(gate)!r}):
                time.sleep(0.01)
            return "finished"
        """
    name = functions.create(source, Timeout=20)
    answers: list[Any] = []
    call = threading.Thread(target=lambda: answers.append(functions.invoke(name)))
    call.start()
    eventually(lambda: cloud.runtime.running(name), cloud)
    functions.client.delete_function(FunctionName=name)
    assert refusal(functions.client.invoke, FunctionName=name, Payload=b"{}")[0] == "ResourceNotFoundException"
    gate.touch()
    call.join(20)
    assert answers[0][0] == "finished"
    assert [run.outcome for run in cloud.journal.events(RunEnded) if run.function == name] == ["succeeded"]


def test_tags_are_kept(functions: Deployer, echo: str) -> None:
    client, resource = functions.client, f"{ARN}{echo}"
    client.tag_resource(Resource=resource, Tags={"course": "once", "step": "1"})
    client.untag_resource(Resource=resource, TagKeys=["step"])
    assert client.list_tags(Resource=resource)["Tags"] == {"course": "once"}
    assert client.get_function(FunctionName=echo)["Tags"] == {"course": "once"}


@pytest.mark.parametrize(
    ("call", "members"),
    [
        ("create_function_url_config", {"AuthType": "NONE"}),
        ("put_provisioned_concurrency_config", {"Qualifier": "1", "ProvisionedConcurrentExecutions": 1}),
    ],
)
def test_what_is_not_emulated_says_so(functions: Deployer, echo: str, call: str, members: dict[str, Any]) -> None:
    code, said, _ = refusal(getattr(functions.client, call), FunctionName=echo, **members)
    assert code == PARAMETER
    assert "not emulated" in said
