"""Lambda's control plane and Invoke as a client of the API meets them (aws-facts: "Function")."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.cloud import Cloud, deployment, sent_events
from helpers.cloud.deployment import BadArchive, CodeStore, check_archive, remove, remove_leftovers, unpack
from helpers.cloud.journal import Call, Deployed, RunEnded, RunStarted
from tests.cloud.deploying import Deployer, archive, eventually

ECHO = "def handler(event, context):\n    return event"
ARN = "arn:aws:lambda:us-east-1:123456789012:function:"


def test_moto_still_has_the_place_that_events_come_from() -> None:
    """First in this module: an open account replaces that place."""
    for place in sent_events.PLACES:
        place.verify()


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    return Deployer(cloud)


@pytest.fixture
def slow_transitions(cloud: Cloud) -> Iterator[None]:
    """A new or changed function stays Pending or InProgress until the test is over."""
    before = cloud.functions.transition_seconds
    cloud.functions.transition_seconds = 1.0
    yield
    cloud.functions.transition_seconds = before


def refusal(problem: pytest.ExceptionInfo[ClientError]) -> tuple[str, str, int]:
    """Code, sentence and HTTP status of a refused call."""
    answer = problem.value.response
    return answer["Error"]["Code"], answer["Error"]["Message"], answer["ResponseMetadata"]["HTTPStatusCode"]


# --- states ------------------------------------------------------------------------------------------------


def test_a_new_function_is_pending_and_then_active(functions: Deployer) -> None:
    name = functions.name()
    code = archive(ECHO)
    made = functions.client.create_function(
        FunctionName=name,
        Runtime="python3.12",
        Handler="app.handler",
        Role=functions.role,
        Code={"ZipFile": code},
    )
    assert made["ResponseMetadata"]["HTTPStatusCode"] == 201
    assert (made["State"], made["StateReason"], made["StateReasonCode"]) == (
        "Pending",
        "The function is being created.",
        "Creating",
    )
    assert "LastUpdateStatus" not in made
    assert made["Version"] == "$LATEST"
    assert made["CodeSha256"] == base64.b64encode(hashlib.sha256(code).digest()).decode()
    assert made["LoggingConfig"] == {"LogFormat": "Text", "LogGroup": f"/aws/lambda/{name}"}
    assert functions.client.get_function_configuration(FunctionName=name)["State"] == "Pending"

    functions.client.get_waiter("function_active_v2").wait(FunctionName=name)
    ready = functions.client.get_function(FunctionName=name)["Configuration"]
    assert (ready["State"], ready["LastUpdateStatus"]) == ("Active", "Successful")
    assert "StateReason" not in ready
    assert ready["RevisionId"] != made["RevisionId"]


def test_new_code_is_in_progress_and_then_successful(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return 'old'")
    before = functions.client.get_function_configuration(FunctionName=name)
    last = cloud.journal.last
    code = archive("def handler(event, context):\n    return 'new'")
    changed = functions.client.update_function_code(FunctionName=name, ZipFile=code)
    assert changed["State"] == "Active"
    assert changed["LastUpdateStatus"] == "InProgress"
    assert changed["LastUpdateStatusReasonCode"] == "Creating"
    assert changed["CodeSha256"] == base64.b64encode(hashlib.sha256(code).digest()).decode() != before["CodeSha256"]
    assert changed["RevisionId"] != before["RevisionId"]

    functions.client.get_waiter("function_updated_v2").wait(FunctionName=name)
    after = functions.client.get_function_configuration(FunctionName=name)
    assert after["LastUpdateStatus"] == "Successful"
    assert "LastUpdateStatusReason" not in after
    assert functions.invoke(name)[0] == "new"
    (deployed,) = cloud.journal.events(Deployed, since=last)
    assert (deployed.function, deployed.code_sha256) == (name, changed["CodeSha256"])


def test_the_old_code_answers_while_the_new_is_in_progress(functions: Deployer, slow_transitions: None) -> None:
    name = functions.create("def handler(event, context):\n    return 'old'")
    functions.client.update_function_code(
        FunctionName=name, ZipFile=archive("def handler(event, context):\n    return 'new'")
    )
    assert functions.invoke(name)[0] == "old"
    functions.client.get_waiter("function_updated_v2").wait(FunctionName=name)
    assert functions.invoke(name)[0] == "new"


def test_new_settings_are_in_force_for_the_next_run(functions: Deployer) -> None:
    name = functions.create(
        "import os\ndef handler(event, context):\n    return [os.environ.get('MODE'), context.memory_limit_in_mb]",
        Environment={"Variables": {"MODE": "a"}},
    )
    assert functions.invoke(name)[0] == ["a", "128"]
    answer = functions.client.update_function_configuration(
        FunctionName=name, Environment={"Variables": {"MODE": "b"}}, MemorySize=512
    )
    assert answer["LastUpdateStatus"] == "InProgress"
    functions.client.get_waiter("function_updated_v2").wait(FunctionName=name)
    assert functions.invoke(name)[0] == ["b", "512"]


def test_the_waiters_of_the_first_generation_work_too(functions: Deployer) -> None:
    name = functions.create(ECHO, ready=False)
    functions.client.get_waiter("function_active").wait(FunctionName=name, WaiterConfig={"Delay": 1})
    functions.client.update_function_code(FunctionName=name, ZipFile=archive(ECHO + "\n"))
    functions.client.get_waiter("function_updated").wait(FunctionName=name, WaiterConfig={"Delay": 1})
    functions.client.get_waiter("function_exists").wait(FunctionName=name)


def test_a_waiter_looks_once(cloud: Cloud, functions: Deployer) -> None:
    last = cloud.journal.last
    name = functions.create(ECHO, ready=False)
    functions.client.get_waiter("function_active_v2").wait(FunctionName=name)
    assert [call.action for call in cloud.journal.events(Call, since=last)] == [
        "CreateFunction",
        "GetFunction",
    ]


def test_a_pending_function_cannot_be_invoked(functions: Deployer, slow_transitions: None) -> None:
    name = functions.create(ECHO, ready=False)
    with pytest.raises(ClientError) as problem:
        functions.invoke(name)
    assert refusal(problem) == (
        "ResourceConflictException",
        "The operation cannot be performed at this time. The function is currently in the following state: Pending",
        409,
    )


def test_a_pending_function_cannot_be_changed(functions: Deployer, slow_transitions: None) -> None:
    name = functions.create(ECHO, ready=False)
    with pytest.raises(ClientError) as problem:
        functions.client.update_function_configuration(FunctionName=name, Timeout=9)
    assert refusal(problem)[:2] == (
        "ResourceConflictException",
        "The operation cannot be performed at this time. The function is currently in the following state: Pending",
    )


@pytest.mark.parametrize("second", ["code", "configuration", "publish"])
def test_one_change_at_a_time(functions: Deployer, slow_transitions: None, second: str) -> None:
    name = functions.create(ECHO)
    functions.client.update_function_code(FunctionName=name, ZipFile=archive(ECHO + "\n"))
    call, settings = {
        "code": (functions.client.update_function_code, {"ZipFile": archive(ECHO)}),
        "configuration": (functions.client.update_function_configuration, {"Timeout": 9}),
        "publish": (functions.client.publish_version, {}),
    }[second]
    with pytest.raises(ClientError) as problem:
        call(FunctionName=name, **settings)
    assert refusal(problem) == (
        "ResourceConflictException",
        f"The operation cannot be performed at this time. An update is in progress for resource: {ARN}{name}",
        409,
    )


def test_a_change_can_demand_the_revision_that_was_read(functions: Deployer) -> None:
    name = functions.create(ECHO)
    revision = functions.client.get_function_configuration(FunctionName=name)["RevisionId"]
    with pytest.raises(ClientError) as problem:
        functions.client.update_function_configuration(FunctionName=name, Timeout=9, RevisionId="other")
    assert refusal(problem)[0] == "PreconditionFailedException"
    assert refusal(problem)[2] == 412
    functions.client.update_function_configuration(FunctionName=name, Timeout=9, RevisionId=revision)


def test_settle_waits_for_a_function_that_changes(cloud: Cloud, functions: Deployer, slow_transitions: None) -> None:
    name = functions.create(ECHO, ready=False)
    assert ("function", name) in [(one.kind, one.name) for one in cloud.busy()]
    cloud.settle()
    assert functions.client.get_function_configuration(FunctionName=name)["State"] == "Active"


def test_the_same_name_twice_is_a_conflict(functions: Deployer) -> None:
    name = functions.create(ECHO)
    with pytest.raises(ClientError) as problem:
        functions.create(ECHO, FunctionName=name)
    assert refusal(problem) == ("ResourceConflictException", f"Function already exist: {name}", 409)


def test_lists_show_the_same_members(functions: Deployer) -> None:
    name = functions.create(ECHO)
    alone = functions.client.get_function_configuration(FunctionName=name)
    listed = next(
        one
        for page in functions.client.get_paginator("list_functions").paginate()
        for one in page["Functions"]
        if one["FunctionName"] == name
    )
    assert {key: alone[key] for key in ("State", "LastUpdateStatus", "RevisionId")} == {
        key: listed[key] for key in ("State", "LastUpdateStatus", "RevisionId")
    }


def test_a_deleted_function_is_gone_and_its_name_is_free(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("import os\ndef handler(event, context):\n    return os.getpid()")
    functions.invoke(name)
    assert functions.client.delete_function(FunctionName=name)["ResponseMetadata"]["HTTPStatusCode"] == 204
    for call in (functions.client.get_function, functions.client.delete_function, functions.client.invoke):
        with pytest.raises(ClientError) as problem:
            call(FunctionName=name)
        assert refusal(problem) == ("ResourceNotFoundException", f"Function not found: {ARN}{name}", 404)
    functions.create("def handler(event, context):\n    return 'another'", FunctionName=name)
    assert functions.invoke(name)[0] == "another"


# --- refused code and settings -----------------------------------------------------------------------------

NOT_A_ZIP = "Could not unzip uploaded file. Please check your file, then try to upload again."


def _zip_with(name: str, content: bytes = b"x", mode: int = 0o644) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        target.writestr(entry, content)
    return packed.getvalue()


def _encrypted() -> bytes:
    data = bytearray(_zip_with("app.py"))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        at = data.index(mark) + (6 if mark == b"PK\x03\x04" else 8)
        data[at] |= 1
    return bytes(data)


def _damaged() -> bytes:
    data = bytearray(archive({"app.py": b"x" * 1000}))
    data[200] ^= 0xFF
    return bytes(data)


BAD_ARCHIVES = {
    "text": b"this is not a ZIP",
    "empty archive": archive({}),
    "cut off": archive(ECHO)[:-30],
    "damaged": _damaged(),
    "encrypted": _encrypted(),
    "leads up": _zip_with("../evil.py"),
    "leads up inside": _zip_with("lib/../../evil.py"),
    "leads up with backslashes": _zip_with("..\\evil.py"),
    "absolute": _zip_with("/etc/evil.py"),
    "absolute with a drive": _zip_with("C:/evil.py"),
    "symbolic link": _zip_with("link", b"/etc/passwd", stat.S_IFLNK | 0o777),
}


@pytest.mark.parametrize("data", BAD_ARCHIVES.values(), ids=BAD_ARCHIVES.keys())
def test_code_that_is_not_a_sound_zip_is_refused(cloud: Cloud, functions: Deployer, data: bytes) -> None:
    name = functions.name()
    before = sorted(path.name for path in cloud.runtime.code.folder.iterdir() if path.name.startswith((".", "code-")))
    with pytest.raises(ClientError) as problem:
        functions.client.create_function(
            FunctionName=name,
            Runtime="python3.12",
            Handler="app.handler",
            Role=functions.role,
            Code={"ZipFile": data},
        )
    assert refusal(problem) == ("InvalidParameterValueException", NOT_A_ZIP, 400)
    after = sorted(path.name for path in cloud.runtime.code.folder.iterdir() if path.name.startswith((".", "code-")))
    assert set(after) <= set(before), "something was left behind"
    with pytest.raises(ClientError):
        functions.client.get_function(FunctionName=name)


def test_an_update_with_a_bad_zip_changes_nothing(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return 'same'")
    before = functions.client.get_function_configuration(FunctionName=name)
    with pytest.raises(ClientError) as problem:
        functions.client.update_function_code(FunctionName=name, ZipFile=b"PK no")
    assert refusal(problem)[:2] == ("InvalidParameterValueException", NOT_A_ZIP)
    after = functions.client.get_function_configuration(FunctionName=name)
    assert (before["CodeSha256"], before["RevisionId"]) == (after["CodeSha256"], after["RevisionId"])
    assert functions.invoke(name)[0] == "same"


def test_a_zip_that_grows_beyond_250_megabytes_is_refused(functions: Deployer) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target, target.open("zeros", "w") as entry:
        for _ in range(251):
            entry.write(bytes(1_048_576))
    with pytest.raises(ClientError) as problem:
        functions.client.create_function(
            FunctionName=functions.name(),
            Runtime="python3.12",
            Handler="app.handler",
            Role=functions.role,
            Code={"ZipFile": packed.getvalue()},
        )
    assert refusal(problem)[:2] == (
        "InvalidParameterValueException",
        "Unzipped size must be smaller than 262144000 bytes",
    )


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=4),
)
@example(zipfile.ZIP_LZMA, [(36 + 4, 255)])
def test_a_damaged_archive_is_refused_or_unpacked_and_never_more(method: int, damage: list[tuple[int, int]]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as target:
        target.writestr("app.py", ECHO)
    data = bytearray(packed.getvalue())
    for place, value in damage:
        data[place % len(data)] = value
    with tempfile.TemporaryDirectory() as folder:
        target_folder = Path(folder) / "code"
        with contextlib.suppress(BadArchive):
            unpack(bytes(data), target_folder)
        assert [path.name for path in Path(folder).iterdir()] in ([], ["code"])
        remove(target_folder)


def test_an_archive_of_very_many_entries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred thousand are allowed; to write so many takes some seconds."""
    assert deployment._ENTRIES_LIMIT == 100_000
    monkeypatch.setattr(deployment, "_ENTRIES_LIMIT", 100)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for number in range(101):
            target.writestr(f"{number}", b"")
    with pytest.raises(BadArchive):
        check_archive(packed.getvalue())


def test_the_folder_of_a_killed_account_is_removed_and_that_of_a_living_one_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living = CodeStore()
    living.unpacked(archive(ECHO), "digest")
    program = (
        "import os, tempfile\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "from helpers.cloud.deployment import CodeStore\n"
        f"CodeStore().unpacked({archive(ECHO)!r}, 'digest')\n"
        "os._exit(0)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", program], env=environ, check=True, timeout=60)
    assert len(list(tmp_path.iterdir())) == 2
    remove_leftovers()
    assert len(list(tmp_path.iterdir())) == 2, "it is too young to tell"
    remove_leftovers(older_than=-1)
    assert list(tmp_path.iterdir()) == [living.folder]
    assert (living.folder / "code-1" / "app.py").exists()
    living.close()
    assert list(tmp_path.iterdir()) == []


def test_code_can_come_from_a_bucket(functions: Deployer) -> None:
    s3 = functions.cloud.client("s3")
    s3.create_bucket(Bucket="code")
    s3.put_object(Bucket="code", Key="app.zip", Body=archive("def handler(event, context):\n    return 'from S3'"))
    name = functions.name()
    settings = {
        "FunctionName": name,
        "Runtime": "python3.12",
        "Handler": "app.handler",
        "Role": functions.role,
    }
    functions.client.create_function(**settings, Code={"S3Bucket": "code", "S3Key": "app.zip"})
    functions.client.get_waiter("function_active_v2").wait(FunctionName=name)
    assert functions.invoke(name)[0] == "from S3"

    with pytest.raises(ClientError) as problem:
        functions.client.update_function_code(FunctionName=name, S3Bucket="code", S3Key="missing.zip")
    assert refusal(problem)[:2] == (
        "InvalidParameterValueException",
        "Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist.",
    )
    s3.put_object(Bucket="code", Key="text.zip", Body=b"no archive")
    with pytest.raises(ClientError) as problem:
        functions.client.update_function_code(FunctionName=name, S3Bucket="code", S3Key="text.zip")
    assert refusal(problem)[1] == NOT_A_ZIP


def test_reserved_variables_are_refused(functions: Deployer) -> None:
    with pytest.raises(ClientError) as problem:
        functions.create(ECHO, Environment={"Variables": {"AWS_REGION": "x", "ORDERS": "y", "LAMBDA_TASK_ROOT": "/"}})
    assert refusal(problem)[:2] == (
        "InvalidParameterValueException",
        "Lambda was unable to configure your environment variables because the environment variables you have provided "
        "contains reserved keys that are currently not supported for modification. "
        "Reserved keys used in this request: AWS_REGION, LAMBDA_TASK_ROOT",
    )


def test_more_than_four_kilobytes_of_variables_are_refused(functions: Deployer) -> None:
    with pytest.raises(ClientError) as problem:
        functions.create(ECHO, Environment={"Variables": {"BIG": "x" * 4100}})
    assert "exceeded the 4KB limit" in refusal(problem)[1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"Timeout": 901},
            "Value '901' at 'timeout' failed to satisfy constraint: Member must have value less than or",
        ),
        ({"MemorySize": 20000}, "Value '20000' at 'memorySize' failed to satisfy constraint"),
    ],
)
def test_settings_out_of_range_are_refused(functions: Deployer, settings: dict[str, int], sentence: str) -> None:
    with pytest.raises(ClientError) as problem:
        functions.create(ECHO, **settings)
    code, message, _ = refusal(problem)
    assert code == "ValidationException"
    assert sentence in message


def test_a_role_that_does_not_exist_is_refused(functions: Deployer) -> None:
    with pytest.raises(ClientError) as problem:
        functions.create(ECHO, Role="arn:aws:iam::123456789012:role/nobody")
    assert refusal(problem)[:2] == (
        "InvalidParameterValueException",
        "The role defined for the function cannot be assumed by Lambda.",
    )


# --- Invoke ------------------------------------------------------------------------------------------------


def test_an_unknown_function_is_not_found(functions: Deployer) -> None:
    with pytest.raises(ClientError) as problem:
        functions.invoke("no-such-function")
    assert refusal(problem) == (
        "ResourceNotFoundException",
        f"Function not found: {ARN}no-such-function",
        404,
    )


def test_a_function_answers_to_its_name_and_to_its_arns(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return context.invoked_function_arn")
    arn = f"{ARN}{name}"
    assert functions.invoke(name)[0] == arn
    assert functions.invoke(arn)[0] == arn
    assert functions.invoke(f"123456789012:function:{name}")[0] == arn
    assert functions.invoke(name, Qualifier="$LATEST")[0] == f"{arn}:$LATEST"


def test_a_payload_that_is_not_json_is_refused_and_nothing_runs(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create(ECHO)
    last = cloud.journal.last
    with pytest.raises(ClientError) as problem:
        functions.invoke(name, b"{'single': 'quotes'}")
    code, message, status = refusal(problem)
    assert (code, status) == ("InvalidRequestContentException", 400)
    assert message.startswith("Could not parse request body into json: ")
    assert cloud.journal.events(RunStarted, since=last) == []


def test_a_payload_above_six_megabytes_is_refused(functions: Deployer) -> None:
    name = functions.create(ECHO)
    with pytest.raises(ClientError) as problem:
        functions.invoke(name, b'"' + b"x" * 6_291_456 + b'"')
    assert refusal(problem) == (
        "RequestEntityTooLargeException",
        "Request must be smaller than 6291456 bytes for the InvokeFunction operation",
        413,
    )


def test_a_dry_run_runs_nothing(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create(ECHO)
    last = cloud.journal.last
    answer = functions.client.invoke(FunctionName=name, InvocationType="DryRun")
    assert answer["StatusCode"] == 204
    assert cloud.journal.events(RunStarted, since=last) == []
    with pytest.raises(ClientError):
        functions.client.invoke(FunctionName="no-such-function", InvocationType="DryRun")


def test_a_function_for_another_language_says_so_when_invoked(functions: Deployer) -> None:
    name = functions.create(
        {"index.js": "exports.handler = async () => 1"}, Runtime="nodejs22.x", Handler="index.handler"
    )
    with pytest.raises(ClientError) as problem:
        functions.invoke(name)
    code, message, _ = refusal(problem)
    assert code == "InvalidRuntimeException"
    assert "nodejs22.x" in message
    assert "Python" in message


def test_versions_and_aliases_run_the_code_that_they_name(functions: Deployer) -> None:
    source = "def handler(event, context):\n    return ['{}', context.function_version]"
    name = functions.create(source.format("first"))
    version = functions.client.publish_version(FunctionName=name)["Version"]
    functions.client.create_alias(FunctionName=name, Name="live", FunctionVersion=version)
    functions.update(name, source.format("second"))
    assert functions.invoke(name)[0] == ["second", "$LATEST"]
    payload, answer = functions.invoke(name, Qualifier=version)
    assert payload == ["first", "1"]
    assert answer["ExecutedVersion"] == "1"
    assert functions.invoke(f"{name}:live")[0] == ["first", "1"]
    with pytest.raises(ClientError) as problem:
        functions.invoke(name, Qualifier="9")
    assert refusal(problem)[1] == f"Function not found: {ARN}{name}:9"


def test_reserved_concurrency_of_zero_throttles(functions: Deployer) -> None:
    name = functions.create(ECHO)
    functions.client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    client = functions.cloud.client("lambda", config=_no_retries())
    with pytest.raises(ClientError) as problem:
        client.invoke(FunctionName=name)
    assert refusal(problem) == ("TooManyRequestsException", "Rate Exceeded.", 429)
    functions.client.delete_function_concurrency(FunctionName=name)
    assert functions.invoke(name, 1)[0] == 1


# --- asynchronous ------------------------------------------------------------------------------------------


def test_an_event_is_accepted_at_once_and_runs_later(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("import time\ndef handler(event, context):\n    time.sleep(event)\n    return 'done'")
    functions.invoke(name, 0)
    last = cloud.journal.last
    answer = functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=b"1")
    assert cloud.journal.events(RunEnded, since=last) == [], "the answer waited for the run"
    assert answer["StatusCode"] == 202
    assert answer["Payload"].read() == b""
    assert "ExecutedVersion" not in answer
    cloud.settle()
    (ended,) = cloud.journal.events(RunEnded, since=last)
    assert ended.payload == '"done"'
    assert ended.request_id == answer["ResponseMetadata"]["RequestId"]
    assert cloud.journal.events(RunStarted, since=last)[0].source == "async"


def test_an_event_that_fails_runs_twice_more_under_the_same_request(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    raise ValueError(event)")
    last = cloud.journal.last
    answer = functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=b"7")

    def runs() -> list[RunEnded]:
        return [run for run in cloud.journal.events(RunEnded, since=last) if run.function == name]

    cloud.settle()
    assert len(runs()) == 1
    cloud.skip(61)
    eventually(lambda: len(runs()) == 2, cloud)
    cloud.settle()
    cloud.skip(61)
    cloud.settle()
    assert len(runs()) == 2
    cloud.skip(60)
    eventually(lambda: len(runs()) == 3, cloud)
    cloud.settle()
    cloud.skip(10_000)
    cloud.settle()
    assert len(runs()) == 3
    assert {run.request_id for run in runs()} == {answer["ResponseMetadata"]["RequestId"]}
    assert cloud.functions.invocations.waiting() == 0


def test_the_number_of_attempts_and_the_destination_for_failures_can_be_set(cloud: Cloud, functions: Deployer) -> None:
    sqs = cloud.client("sqs")
    url = sqs.create_queue(QueueName="failures")["QueueUrl"]
    functions.allow("sqs:SendMessage")
    name = functions.create("def handler(event, context):\n    raise ValueError('no')")
    functions.client.put_function_event_invoke_config(
        FunctionName=name,
        MaximumRetryAttempts=0,
        DestinationConfig={"OnFailure": {"Destination": "arn:aws:sqs:us-east-1:123456789012:failures"}},
    )
    functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=b'{"id": "a"}')
    (message,) = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=10)["Messages"]
    record = json.loads(message["Body"])
    assert record["requestPayload"] == {"id": "a"}
    assert record["requestContext"]["condition"] == "RetriesExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 1
    assert record["responsePayload"]["errorType"] == "ValueError"


def test_events_of_other_services_run_the_function_without_docker(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create(ECHO)
    sns, s3 = cloud.client("sns"), cloud.client("s3")
    topic = sns.create_topic(Name="orders")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="lambda", Endpoint=f"{ARN}{name}")
    functions.client.add_permission(
        FunctionName=name, StatementId="s3", Action="lambda:InvokeFunction", Principal="s3.amazonaws.com"
    )
    s3.create_bucket(Bucket="uploads")
    s3.put_bucket_notification_configuration(
        Bucket="uploads",
        NotificationConfiguration={
            "LambdaFunctionConfigurations": [{"LambdaFunctionArn": f"{ARN}{name}", "Events": ["s3:ObjectCreated:*"]}]
        },
    )
    cloud.settle()
    last = cloud.journal.last
    sns.publish(TopicArn=topic, Message="заказ")
    s3.put_object(Bucket="uploads", Key="a.json", Body=b"{}")
    cloud.settle()
    runs = cloud.journal.events(RunEnded, since=last)
    assert {run.outcome for run in runs} == {"succeeded"}
    records = [json.loads(run.payload)["Records"][0] for run in runs]
    assert sorted(record.get("EventSource") or record["eventSource"] for record in records) == [
        "aws:s3",
        "aws:sns",
    ]
    assert {run.source for run in cloud.journal.events(RunStarted, since=last)} == {"async"}


def test_an_asynchronous_payload_is_checked_at_once(functions: Deployer) -> None:
    name = functions.create(ECHO)
    with pytest.raises(ClientError) as problem:
        functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=b"no json")
    assert refusal(problem)[0] == "InvalidRequestContentException"
    with pytest.raises(ClientError) as problem:
        functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=b'"' + b"x" * 1_048_576 + b'"')
    assert refusal(problem)[0] == "RequestEntityTooLargeException"


def _no_retries() -> object:
    from botocore.config import Config

    return Config(retries={"total_max_attempts": 1})
