"""What a deployed function sees and does in its process (aws-facts: "Function")."""

from __future__ import annotations

import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.cloud import Cloud, sandbox
from helpers.cloud.deployment import FunctionSpec
from helpers.cloud.journal import RunEnded, RunStarted
from helpers.cloud.runtime_api import Ended, Request
from helpers.cloud.sandbox import Invocation, RunResult, Sandbox
from tests.cloud.deploying import Deployer, eventually

ROOT = Path(__file__).parents[2]
LIMITED = "never longer than this many seconds, whatever the machine"


@pytest.fixture(scope="module")
def functions(cloud: Cloud) -> Deployer:
    cloud.functions.transition_seconds = 0.02
    return Deployer(cloud)


# --- results -----------------------------------------------------------------------------------------------


def test_the_deployed_code_runs_and_its_result_is_the_payload(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return {'double': event['n'] * 2}")
    payload, answer = functions.invoke(name, {"n": 21})
    assert payload == {"double": 42}
    assert (answer["StatusCode"], answer["ExecutedVersion"], "FunctionError" in answer) == (
        200,
        "$LATEST",
        False,
    )


def test_none_is_the_payload_null(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    pass")
    assert functions.invoke(name, {})[0] is None


def test_without_a_payload_the_event_is_an_empty_object(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return [event]")
    answer = functions.client.invoke(FunctionName=name)
    assert json.loads(answer["Payload"].read()) == [{}]


def test_texts_in_all_alphabets_go_through_event_code_result_and_log(functions: Deployer) -> None:
    name = functions.create(
        """
        def handler(event, context):
            print("заказ", event["ключ"], "¿señal? « élève » 🙂")
            return {"réponse": event["ключ"]}
        """
    )
    payload, _ = functions.invoke(name, {"ключ": "ñandú 🙂"})
    assert payload == {"réponse": "ñandú 🙂"}
    assert "заказ ñandú 🙂 ¿señal? « élève » 🙂\n" in functions.log(name)


@pytest.mark.parametrize(
    ("runtime", "raw"),
    [("python3.11", b'"\\u00e9"'), ("python3.12", '"é"'.encode()), ("python3.13", '"é"'.encode())],
)
def test_newer_runtimes_write_letters_as_they_are(functions: Deployer, runtime: str, raw: bytes) -> None:
    name = functions.create("def handler(event, context):\n    return 'é'", Runtime=runtime)
    assert functions.client.invoke(FunctionName=name)["Payload"].read() == raw


def test_a_decimal_keeps_its_digits_and_a_named_tuple_is_an_object(functions: Deployer) -> None:
    name = functions.create(
        """
        import collections, decimal
        Point = collections.namedtuple("Point", "x y")
        def handler(event, context):
            D = decimal.Decimal
            return {"price": D("1.10"), "at": [Point(1, D("2"))], "nan": D("NaN")}
        """
    )
    raw = functions.client.invoke(FunctionName=name)["Payload"].read()
    assert raw == b'{"price": 1.10, "at": [{"x": 1, "y": 2}], "nan": NaN}'


def test_bytes_are_the_payload_as_they_are(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return b'{\"raw\":   1}'")
    assert functions.client.invoke(FunctionName=name)["Payload"].read() == b'{"raw":   1}'


def test_a_handler_in_a_package_and_one_with_a_slash(functions: Deployer) -> None:
    files = {"shop/__init__.py": "", "shop/orders.py": "def handle(event, context):\n    return __name__"}
    assert functions.invoke(functions.create(files, Handler="shop.orders.handle"))[0] == "shop.orders"
    assert functions.invoke(functions.create(files, Handler="shop/orders.handle"))[0] == "shop.orders"


def test_module_globals_stay_between_runs(functions: Deployer) -> None:
    name = functions.create(
        "count = 0\ndef handler(event, context):\n    global count\n    count += 1\n    return count"
    )
    assert [functions.invoke(name)[0] for _ in range(3)] == [1, 2, 3]


# --- errors ------------------------------------------------------------------------------------------------


def test_an_exception_becomes_message_type_request_and_trace(functions: Deployer) -> None:
    name = functions.create(
        """
        class InvalidOrder(Exception):
            pass

        def check(event):
            raise InvalidOrder("quantité: 0")

        def handler(event, context):
            check(event)
        """
    )
    payload, answer = functions.invoke(name, {})
    assert answer["FunctionError"] == "Unhandled"
    assert answer["StatusCode"] == 200
    assert list(payload) == ["errorMessage", "errorType", "requestId", "stackTrace"]
    assert payload["errorMessage"] == "quantité: 0"
    assert payload["errorType"] == "InvalidOrder"
    assert payload["requestId"] == answer["ResponseMetadata"]["RequestId"]
    assert payload["stackTrace"] == [
        '  File "/var/task/app.py", line 9, in handler\n    check(event)\n',
        '  File "/var/task/app.py", line 6, in check\n    raise InvalidOrder("quantité: 0")\n',
    ]


def test_an_unhandled_exception_is_one_log_event(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    print('before')\n    raise KeyError('id')")
    functions.invoke(name, {})
    log = functions.log(name)
    assert log[2:4] == [
        "before\n",
        "[ERROR] KeyError: 'id'\nTraceback (most recent call last):\n"
        "\u00a0\u00a0File \"/var/task/app.py\", line 3, in handler\n\u00a0\u00a0\u00a0\u00a0raise KeyError('id')\n",
    ]


def test_a_trace_through_a_library_names_no_folder_of_this_machine(functions: Deployer) -> None:
    name = functions.create("import json\ndef handler(event, context):\n    json.loads('{')")
    payload, _ = functions.invoke(name, {})
    places = re.findall(r'File "([^"]+)"', "".join(payload["stackTrace"]))
    assert places[0] == "/var/task/app.py"
    assert all(place.startswith(("/var/task/", "/var/lang/lib/python3.")) for place in places)


@pytest.mark.parametrize("source", ["def handler():\n    pass", "handler = 5"])
def test_a_handler_that_cannot_be_called_so_is_a_type_error(functions: Deployer, source: str) -> None:
    payload, _ = functions.invoke(functions.create(source), {})
    assert payload["errorType"] == "TypeError"
    (line,) = payload["stackTrace"]
    assert line.startswith('  File "/var/runtime/bootstrap.py", line ')
    assert line.endswith(", in handle_event_request\n    response = request_handler(event, lambda_context)\n")


def test_a_logged_traceback_names_var_task(functions: Deployer) -> None:
    name = functions.create(
        """
        import logging
        def handler(event, context):
            try:
                1 / 0
            except ZeroDivisionError:
                logging.exception("oops")
        """
    )
    functions.invoke(name, {})
    (event,) = (line for line in functions.log(name) if "oops" in line)
    assert 'File "/var/task/app.py", line 5, in handler\n    1 / 0' in event


def test_a_missing_module_is_an_import_module_error(functions: Deployer) -> None:
    name = functions.create("import nowhere_to_be_found\ndef handler(event, context):\n    pass")
    payload, answer = functions.invoke(name, {})
    assert answer["FunctionError"] == "Unhandled"
    assert payload["errorType"] == "Runtime.ImportModuleError"
    assert payload["errorMessage"] == "Unable to import module 'app': No module named 'nowhere_to_be_found'"
    assert payload["stackTrace"] == []


def test_a_wrong_file_name_is_an_import_module_error(functions: Deployer) -> None:
    name = functions.create({"main.py": "def handler(event, context):\n    pass"})
    assert functions.invoke(name, {})[0]["errorMessage"] == "Unable to import module 'app': No module named 'app'"


def test_a_missing_handler_is_a_handler_not_found(functions: Deployer) -> None:
    name = functions.create("def other(event, context):\n    pass")
    payload, _ = functions.invoke(name, {})
    assert payload["errorType"] == "Runtime.HandlerNotFound"
    assert payload["errorMessage"] == "Handler 'handler' missing on module 'app'"


def test_a_handler_name_without_a_dot_is_malformed(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    pass", Handler="handler")
    payload, _ = functions.invoke(name, {})
    assert payload["errorType"] == "Runtime.MalformedHandlerName"
    assert payload["errorMessage"] == "Bad handler 'handler': not enough values to unpack (expected 2, got 1)"


def test_a_syntax_error_says_where(functions: Deployer) -> None:
    name = functions.create("def handler(event, context)\n    pass")
    payload, _ = functions.invoke(name, {})
    assert payload["errorType"] == "Runtime.UserCodeSyntaxError"
    assert payload["errorMessage"] == "Syntax error in module 'app': expected ':' (app.py, line 1)"
    assert payload["stackTrace"] == ['  File "/var/task/app.py" Line 1\n    def handler(event, context)\n']


def test_an_exception_while_loading_is_the_functions_error(functions: Deployer) -> None:
    name = functions.create("import os\nTABLE = os.environ['TABLE']\ndef handler(event, context):\n    pass")
    payload, _ = functions.invoke(name, {})
    assert (payload["errorType"], payload["errorMessage"]) == ("KeyError", "'TABLE'")
    own = [line for line in payload["stackTrace"] if "/var/task/" in line]
    assert own == ["  File \"/var/task/app.py\", line 2, in <module>\n    TABLE = os.environ['TABLE']\n"]


def test_a_result_that_is_not_json_is_a_marshal_error(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return {1, 2}")
    payload, answer = functions.invoke(name, {})
    assert payload["errorType"] == "Runtime.MarshalError"
    assert payload["errorMessage"] == "Unable to marshal response: Object of type set is not JSON serializable"
    assert payload["requestId"] == answer["ResponseMetadata"]["RequestId"]


def test_a_result_above_six_megabytes_is_refused_and_the_worker_lives(functions: Deployer) -> None:
    name = functions.create(
        "runs = 0\ndef handler(event, context):\n    global runs\n    runs += 1\n    return 'x' * event + str(runs)"
    )
    payload, answer = functions.invoke(name, 6_291_600)
    assert answer["FunctionError"] == "Unhandled"
    assert payload == {
        "errorMessage": "Response payload size exceeded maximum allowed payload size (6291556 bytes).",
        "errorType": "Function.ResponseSizeTooLarge",
    }
    assert functions.invoke(name, 0)[0] == "2"


def test_a_result_of_six_megabytes_goes_through(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return event")
    event = "y" * 6_000_000
    assert functions.invoke(name, event)[0] == event


# --- the end of a process ----------------------------------------------------------------------------------


def test_a_time_out_ends_the_process_and_globals_are_new_afterwards(functions: Deployer) -> None:
    name = functions.create(
        """
        import time
        runs = 0
        def handler(event, context):
            global runs
            runs += 1
            print("run", runs, end="")
            while event:
                time.sleep(60)
            return runs
        """,
        Timeout=1,
    )
    assert functions.invoke(name, 0)[0] == 1
    payload, answer = functions.invoke(name, 1)
    request_id = answer["ResponseMetadata"]["RequestId"]
    assert answer["FunctionError"] == "Unhandled"
    assert payload == {
        "errorType": "Sandbox.Timedout",
        "errorMessage": f"RequestId: {request_id} Error: Task timed out after 1.00 seconds",
    }
    assert functions.invoke(name, 0)[0] == 1
    log = functions.log(name)
    assert "run 2\n" in log
    assert any(re.fullmatch(rf"20\S+Z {request_id} Task timed out after 1.00 seconds\n\n", line) for line in log)
    assert any(line.startswith(f"REPORT RequestId: {request_id}\tDuration: 1000.00 ms") for line in log)


def test_a_time_out_ends_even_a_loop_that_never_lets_go(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    return sum(range(10 ** 14))", Timeout=1)
    begun = time.monotonic()
    assert functions.invoke(name, {})[0]["errorType"] == "Sandbox.Timedout"
    assert time.monotonic() - begun < 10, LIMITED


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("os._exit(0)", "Runtime exited without providing a reason"),
        ("sys.exit(0)", "Runtime exited without providing a reason"),
        ("sys.exit(3)", "Runtime exited with error: exit status 3"),
        ("os.kill(os.getpid(), 9)", "Runtime exited with error: signal: killed"),
    ],
)
def test_a_process_that_exits_is_an_exit_error(functions: Deployer, statement: str, reason: str) -> None:
    if "kill" in statement and os.name == "nt":
        pytest.skip("Windows has no signals")
    name = functions.create(f"import os, sys\ndef handler(event, context):\n    print('last words')\n    {statement}")
    payload, answer = functions.invoke(name, {})
    request_id = answer["ResponseMetadata"]["RequestId"]
    assert payload == {
        "errorType": "Runtime.ExitError",
        "errorMessage": f"RequestId: {request_id} Error: {reason}",
    }
    log = functions.log(name)
    assert "last words\n" in log
    assert f"RequestId: {request_id} Error: {reason}\nRuntime.ExitError\n" in log


def test_a_process_that_takes_all_memory_is_killed(functions: Deployer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MEMORY_CEILING", 200)
    source = """
        import time
        def handler(event, context):
            hoard = b"x" * 300_000_000
            time.sleep(event)
            return len(hoard)
        """
    payload, answer = functions.invoke(functions.create(source, Timeout=30), 20)
    request_id = answer["ResponseMetadata"]["RequestId"]
    assert payload == {
        "errorType": "Runtime.ExitError",
        "errorMessage": f"RequestId: {request_id} Error: Runtime exited with error: signal: killed",
    }
    assert functions.invoke(functions.create(source, Timeout=30, MemorySize=2048), 0)[0] == 300_000_000


def test_a_run_that_is_killed_before_its_event_reached_the_worker_is_not_run_again(
    cloud: Cloud, functions: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = functions.create("def handler(event, context):\n    return 'done'")
    assert cloud.runtime.invoke(name, b"0").outcome == "succeeded"
    run = Sandbox.run

    def gone(worker: Sandbox, seconds: float) -> Request:
        raise Ended  # it had not asked for its next event when it ended

    def killed_first(worker: Sandbox, invocation: Invocation) -> RunResult:
        patched.setattr(Sandbox, "run", run)
        assert cloud.runtime.kill_run(invocation.request_id)
        with monkeypatch.context() as during:
            during.setattr(Sandbox, "_next", gone)
            return run(worker, invocation)

    with monkeypatch.context() as patched:
        patched.setattr(Sandbox, "run", killed_first)
        assert cloud.runtime.invoke(name, b"0").outcome == "crash"
    assert cloud.runtime.invoke(name, b"0").outcome == "succeeded"


def test_kill_run_ends_the_run_as_a_crash_and_the_next_run_is_fresh(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create(
        """
        import time
        runs = 0
        def handler(event, context):
            global runs
            runs += 1
            time.sleep(event)
            return runs
        """,
        Timeout=60,
    )
    assert cloud.runtime.invoke(name, b"0").payload == b"1"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(cloud.runtime.invoke, name, b"30", "invoke", "the-run")
        eventually(lambda: cloud.runtime.kill_run("the-run"), cloud)
        result = waiting.result(timeout=10)
    assert result.outcome == "crash"
    assert (
        json.loads(result.payload)["errorMessage"]
        == "RequestId: the-run Error: Runtime exited with error: signal: killed"
    )
    assert cloud.runtime.invoke(name, b"0").payload == b"1"
    assert cloud.runtime.kill_run("the-run") is False


def test_a_worker_that_died_while_idle_is_replaced_silently(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("import os\ndef handler(event, context):\n    return os.getpid()")
    first = int(cloud.runtime.invoke(name, b"{}").payload)
    (worker,) = (one for pool in cloud.runtime._pools.values() for _, one in pool.idle if one.spec.name == name)
    os.kill(first, signal.SIGTERM)
    # A worker that dies with a run in its hands is a crash: this one is to be dead before, with all its threads.
    eventually(lambda: not worker.alive, cloud)
    second = cloud.runtime.invoke(name, b"{}")
    assert second.outcome == "succeeded"
    assert int(second.payload) != first


@pytest.mark.skipif(os.name == "nt", reason="process groups are a matter of POSIX; Windows ends the tree")
@pytest.mark.parametrize("end", ["time.sleep(300)", "os._exit(0)"])
def test_what_a_handler_started_ends_with_it(functions: Deployer, end: str) -> None:
    name = functions.create(
        f"""
        import os, subprocess, time
        def handler(event, context):
            child = subprocess.Popen(["sleep", "300"])
            print("CHILD", child.pid)
            {end}
        """,
        Timeout=1,
    )
    functions.invoke(name, {})
    (line,) = (line for line in functions.log(name) if line.startswith("CHILD"))
    eventually(lambda: not _alive(int(line.split()[1])), functions.cloud)


def test_a_thread_that_prints_for_ever_holds_nobody_up(functions: Deployer) -> None:
    name = functions.create(
        """
        import threading
        def spin():
            while True:
                print("still here")
        def handler(event, context):
            threading.Thread(target=spin, daemon=True).start()
            return 1
        """,
        Timeout=20,
    )
    assert [functions.invoke(name, {})[0] for _ in range(3)] == [1, 1, 1]


# --- surroundings ------------------------------------------------------------------------------------------


def test_the_context_tells_about_the_run(functions: Deployer) -> None:
    name = functions.create(
        """
        def handler(event, context):
            first, second = context.get_remaining_time_in_millis(), context.get_remaining_time_in_millis()
            return {
                "request": context.aws_request_id, "name": context.function_name, "version": context.function_version,
                "arn": context.invoked_function_arn, "memory": context.memory_limit_in_mb,
                "group": context.log_group_name, "stream": context.log_stream_name,
                "identity": context.identity.cognito_identity_id, "client": context.client_context,
                "left": second, "falls": first >= second, "repr": repr(context),
            }
        """,
        Timeout=20,
        MemorySize=256,
    )
    payload, answer = functions.invoke(name, {})
    assert payload["request"] == answer["ResponseMetadata"]["RequestId"]
    assert payload["name"] == name
    assert payload["version"] == "$LATEST"
    assert payload["arn"] == f"arn:aws:lambda:us-east-1:123456789012:function:{name}"
    assert payload["memory"] == "256"
    assert payload["group"] == f"/aws/lambda/{name}"
    assert [payload["stream"]] == functions.streams(name)
    assert payload["identity"] is None
    assert payload["client"] is None
    assert 15_000 < payload["left"] <= 20_000
    assert payload["falls"]
    assert payload["repr"].startswith("LambdaContext([aws_request_id=")


def test_the_client_context_arrives(functions: Deployer) -> None:
    import base64

    name = functions.create(
        "def handler(event, context):\n    c = context.client_context\n    return [c.custom, c.env, c.client.app_title]"
    )
    context = {"custom": {"ключ": 1}, "env": {"locale": "fr"}, "client": {"app_title": "été"}}
    encoded = base64.b64encode(json.dumps(context).encode()).decode()
    assert functions.invoke(name, {}, ClientContext=encoded)[0] == [{"ключ": 1}, {"locale": "fr"}, "été"]


def test_the_environment_is_the_documented_one_and_nothing_of_the_kernels(
    functions: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    monkeypatch.setenv("PERSONAL_SECRET", "do not look")
    name = functions.create(
        "import os\ndef handler(event, context):\n    return dict(os.environ)",
        Environment={"Variables": {"ORDERS_TABLE": "заказы"}},
        Runtime="python3.13",
    )
    environ = functions.invoke(name, {})[0]
    assert environ["ORDERS_TABLE"] == "заказы"
    assert environ["AWS_LAMBDA_FUNCTION_NAME"] == name
    assert environ["AWS_LAMBDA_FUNCTION_VERSION"] == "$LATEST"
    assert environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] == "128"
    assert environ["AWS_LAMBDA_LOG_GROUP_NAME"] == f"/aws/lambda/{name}"
    assert [environ["AWS_LAMBDA_LOG_STREAM_NAME"]] == functions.streams(name)
    assert environ["AWS_LAMBDA_INITIALIZATION_TYPE"] == "on-demand"
    assert environ["AWS_EXECUTION_ENV"] == "AWS_Lambda_python3.13"
    assert environ["AWS_REGION"] == environ["AWS_DEFAULT_REGION"] == "us-east-1"
    assert environ["_HANDLER"] == "app.handler"
    assert environ["TZ"] == ":UTC"
    assert re.fullmatch(r"127\.0\.0\.1:\d+", environ["AWS_LAMBDA_RUNTIME_API"])
    assert environ["_X_AMZN_TRACE_ID"].startswith("Root=1-")
    assert environ["AWS_ENDPOINT_URL"] == functions.cloud.endpoint
    assert not {"AWS_PROFILE", "HTTPS_PROXY", "PERSONAL_SECRET"} & environ.keys()
    assert environ["HOME" if os.name != "nt" else "USERPROFILE"] != os.path.expanduser("~")


def test_the_working_directory_is_the_unpacked_code(functions: Deployer) -> None:
    name = functions.create(
        {
            "app.py": """
                import os, pathlib
                def handler(event, context):
                    assert os.path.samefile(os.getcwd(), os.environ["LAMBDA_TASK_ROOT"])
                    assert os.path.samefile(pathlib.Path(__file__).parent, os.getcwd())
                    return [open("data/prices.txt", encoding="utf-8").read(), sorted(os.listdir())]
                """,
            "data/prices.txt": "250",
        }
    )
    assert functions.invoke(name, {})[0] == ["250", ["app.py", "data"]]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_function_cannot_write_to_its_code(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    open('app.py', 'w')")
    assert functions.invoke(name, {})[0]["errorType"] in {"PermissionError", "OSError"}


def test_temporary_files_have_a_folder_of_their_own(functions: Deployer) -> None:
    name = functions.create(
        """
        import os, tempfile
        def handler(event, context):
            with tempfile.NamedTemporaryFile():
                return os.listdir(tempfile.gettempdir())
        """
    )
    assert len(functions.invoke(name, {})[0]) == 1


def test_a_library_in_the_archive_comes_before_the_installed_one(functions: Deployer) -> None:
    name = functions.create(
        {
            "app.py": "import boto3, jmespath\ndef handler(event, context):\n    return boto3.VENDORED, bool(jmespath)",
            "boto3/__init__.py": "VENDORED = 'mine'",
        }
    )
    assert functions.invoke(name, {})[0] == ["mine", True]


def test_a_module_named_like_ours_is_the_functions(functions: Deployer) -> None:
    name = functions.create(
        {
            "app.py": "import worker, journal\ndef handler(event, context):\n    return worker.WHO + journal.WHO",
            "worker.py": "WHO = 'a'",
            "journal.py": "WHO = 'b'",
        }
    )
    assert functions.invoke(name, {})[0] == "ab"


def test_settings_that_python_reads_at_its_start_are_honoured(functions: Deployer) -> None:
    name = functions.create(
        "import sys\ndef handler(event, context):\n    return [sys.flags.hash_randomization, sys.flags.optimize]",
        Environment={"Variables": {"PYTHONHASHSEED": "0", "PYTHONOPTIMIZE": "1"}},
    )
    assert functions.invoke(name, {})[0] == [0, 1]


def test_a_handler_reads_nothing_from_standard_input(functions: Deployer) -> None:
    name = functions.create("import sys\ndef handler(event, context):\n    return sys.stdin.read()")
    assert functions.invoke(name, {})[0] == ""


def test_a_layer_can_be_imported(functions: Deployer) -> None:
    from tests.cloud.deploying import archive

    layer = functions.client.publish_layer_version(
        LayerName="pricing", Content={"ZipFile": archive({"python/pricing.py": "CENTS = 250"})}
    )
    name = functions.create(
        "import pricing\ndef handler(event, context):\n    return pricing.CENTS",
        Layers=[layer["LayerVersionArn"]],
    )
    assert functions.invoke(name, {})[0] == 250


def test_a_function_keeps_the_layer_that_was_deleted(functions: Deployer) -> None:
    """API Reference, DeleteLayerVersion: "a copy of the version remains in Lambda until no functions refer to it"."""
    from tests.cloud.deploying import archive

    client, code = functions.client, "import taxes\ndef handler(event, context):\n    return taxes.RATE"
    layer = client.publish_layer_version(
        LayerName="taxes", Content={"ZipFile": archive({"python/taxes.py": "RATE = 2"})}
    )
    arn = layer["LayerVersionArn"]
    name = functions.create(code, Layers=[arn])
    client.delete_layer_version(LayerName="taxes", VersionNumber=layer["Version"])
    functions.update(name, f"{code} + 1")
    assert functions.invoke(name, {})[0] == 3
    with pytest.raises(client.exceptions.ClientError):
        functions.create(code, Layers=[arn])


def test_a_late_call_of_a_worker_that_ended_is_still_that_runs(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("import os\ndef handler(event, context):\n    return os.environ['AWS_ACCESS_KEY_ID']")
    key, answer = functions.invoke(name, {})
    functions.client.delete_function(FunctionName=name)
    eventually(lambda: cloud.runtime.running(name) == 0, cloud)
    caller = cloud.boundary.caller_of(key)
    assert (caller.kind, caller.name, caller.role) == ("function", name, functions.role)
    assert caller.request_id == answer["ResponseMetadata"]["RequestId"]


def test_a_run_that_has_no_worker_yet_keeps_its_code(
    cloud: Cloud, functions: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is deleted while its first worker is about to start."""
    name = functions.create("def handler(event, context):\n    return 'still there'")
    acquire = cloud.runtime._acquire
    code = []

    def deleted_meanwhile(spec: FunctionSpec) -> Sandbox:
        code.append(spec.code)
        functions.client.delete_function(FunctionName=name)
        cloud.functions._drop_unused_code()
        return acquire(spec)

    monkeypatch.setattr(cloud.runtime, "_acquire", deleted_meanwhile)
    assert cloud.runtime.invoke(name, b"{}").payload == b'"still there"'
    monkeypatch.undo()
    cloud.runtime.forget(name)
    cloud.functions._drop_unused_code()
    assert not os.path.exists(code[0])


def test_settle_sees_what_a_run_began_while_it_looked(
    cloud: Cloud, functions: Deployer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = functions.create("import time\ndef handler(event, context):\n    time.sleep(0.3)")
    looked: list[None] = []
    busy = cloud.functions.busy

    def invoked_right_after_the_look() -> object:
        found = busy()
        if not looked:
            looked.append(None)
            functions.client.invoke(FunctionName=name, InvocationType="Event", Payload=b"{}")
        return found

    monkeypatch.setattr(cloud.functions, "busy", invoked_right_after_the_look)
    cloud.settle()
    assert looked
    assert [event.outcome for event in cloud.journal.events(RunEnded) if event.function == name] == ["succeeded"]


def test_the_boundary_knows_which_run_makes_a_call(cloud: Cloud, functions: Deployer) -> None:
    from helpers.cloud.journal import Call

    name = functions.create(
        "import boto3\ndef handler(event, context):\n    return boto3.client('sts').get_caller_identity()['Account']"
    )
    _, answer = functions.invoke(name, {})
    calls = [call for call in cloud.journal.events(Call) if call.caller.name == name]
    assert [(call.service, call.action) for call in calls] == [("sts", "GetCallerIdentity")]
    assert calls[0].caller.kind == "function"
    assert calls[0].caller.request_id == answer["ResponseMetadata"]["RequestId"]
    assert calls[0].caller.role == functions.role


# --- log ---------------------------------------------------------------------------------------------------


def test_a_cold_run_and_a_warm_run_write_the_lines_of_the_platform(functions: Deployer) -> None:
    name = functions.create("print('loading')\ndef handler(event, context):\n    print('one\\ntwo')")
    first = functions.invoke(name, {})[1]["ResponseMetadata"]["RequestId"]
    second = functions.invoke(name, {})[1]["ResponseMetadata"]["RequestId"]
    numbers = r"\tDuration: \d+\.\d\d ms\tBilled Duration: \d+ ms\tMemory Size: 128 MB\tMax Memory Used: \d+ MB"
    expected = [
        r"INIT_START Runtime Version: python:3\.11\.v\d+\t"
        r"Runtime Version ARN: arn:aws:lambda:us-east-1::runtime:[0-9a-f]{64}\n",
        r"loading\n",
        rf"START RequestId: {first} Version: \$LATEST\n",
        r"one\n",
        r"two\n",
        rf"END RequestId: {first}\n",
        rf"REPORT RequestId: {first}{numbers}\tInit Duration: \d+\.\d\d ms\t\n",
        rf"START RequestId: {second} Version: \$LATEST\n",
        r"one\n",
        r"two\n",
        rf"END RequestId: {second}\n",
        rf"REPORT RequestId: {second}{numbers}\t\n",
    ]
    log = functions.log(name)
    assert len(log) == len(expected)
    for line, pattern in zip(log, expected, strict=True):
        assert re.fullmatch(pattern, line), (line, pattern)


def test_one_log_stream_per_worker(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    if event: raise SystemExit")
    for event in (0, 0, 1, 0):
        functions.invoke(name, event)
    streams = functions.streams(name)
    assert len(streams) == 2
    assert all(re.fullmatch(r"20\d\d/\d\d/\d\d/\[\$LATEST\][0-9a-f]{32}", stream) for stream in streams)


def test_a_log_record_is_one_event_in_the_format_of_aws(functions: Deployer) -> None:
    name = functions.create(
        """
        import logging
        log = logging.getLogger("shop")
        log.setLevel("INFO")
        def handler(event, context):
            log.info("zwei\\nZeilen %s", "ñ")
            log.debug("not shown")
            logging.info("root shows warnings and above only")
        """
    )
    request_id = functions.invoke(name, {})[1]["ResponseMetadata"]["RequestId"]
    records = [line for line in functions.log(name) if line.startswith("[")]
    assert len(records) == 1
    assert re.fullmatch(
        rf"\[INFO\]\t20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z\t{request_id}\tzwei\nZeilen ñ\n", records[0]
    )


def test_prints_and_records_keep_their_order(functions: Deployer) -> None:
    name = functions.create(
        """
        import logging, sys, os
        def handler(event, context):
            print("1")
            logging.warning("2")
            print("3", file=sys.stderr)
            os.write(1, b"4\\n")
            logging.error("5")
            sys.stdout.write("6")
        """
    )
    functions.invoke(name, {})
    lines = [line.rstrip().rpartition("\t")[2] for line in functions.log(name)[2:-2]]
    assert lines == ["1", "2", "3", "4", "5", "6"]


def test_the_tail_of_the_log_comes_with_the_answer(functions: Deployer) -> None:
    import base64

    name = functions.create("def handler(event, context):\n    print('привет')\n    print('x' * event)")
    short = base64.b64decode(functions.invoke(name, 1, LogType="Tail")[1]["LogResult"]).decode()
    assert short.startswith("INIT_START")
    assert "\nпривет\nx\nEND RequestId: " in short
    long = base64.b64decode(functions.invoke(name, 9000, LogType="Tail")[1]["LogResult"])
    assert len(long) == 4096
    assert b"REPORT RequestId" in long
    assert "LogResult" not in functions.invoke(name, 1)[1]


def test_a_print_of_five_megabytes_is_bounded_and_says_so(functions: Deployer) -> None:
    name = functions.create(
        "def handler(event, context):\n    print('é' * 2_500_000)\n    print('after')\n    return 'done'",
        Timeout=20,
    )
    begun = time.monotonic()
    assert functions.invoke(name, {})[0] == "done"
    assert time.monotonic() - begun < 15, LIMITED
    log = functions.log(name)
    assert max(len(line.encode()) for line in log) <= 262_144
    assert re.fullmatch(r"\[once\] \d+ bytes of output were dropped: a log event holds \d+ bytes\.\n", log[3])
    assert log[4] == "after\n"


def test_endless_short_lines_are_bounded_and_say_so(functions: Deployer) -> None:
    name = functions.create(
        "def handler(event, context):\n    for n in range(100_000): print(n)\n    return 'done'", Timeout=60
    )
    result = functions.cloud.runtime.invoke(name, b"{}")
    assert result.payload == b'"done"'
    assert len(result.log) < 70_000
    assert re.fullmatch(r"\[once\] \d+ bytes of output were dropped: a run keeps \d+ bytes\.", result.log[-3])


def test_bytes_that_are_no_text_do_no_harm(functions: Deployer) -> None:
    name = functions.create("import os\ndef handler(event, context):\n    os.write(1, b'\\xff\\xfe\\n')")
    assert functions.invoke(name, {})[0] is None
    assert functions.log(name)[2] == "\ufffd\ufffd\n"


def test_the_log_group_comes_back_after_its_deletion(functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    print('here')")
    functions.invoke(name, {})
    functions.cloud.client("logs").delete_log_group(logGroupName=f"/aws/lambda/{name}")
    functions.invoke(name, {})
    log = functions.log(name)
    assert log[0].startswith("START")
    assert "here\n" in log


# --- journal, concurrency ----------------------------------------------------------------------------------


def test_the_journal_has_both_ends_of_a_run(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("def handler(event, context):\n    print('hello')\n    raise ValueError('no')")
    last = cloud.journal.last
    functions.invoke(name, {"n": 1})
    (started,) = cloud.journal.events(RunStarted, since=last)
    (ended,) = cloud.journal.events(RunEnded, since=last)
    assert (started.function, started.payload, started.source) == (name, '{"n": 1}', "invoke")
    assert (ended.request_id, ended.outcome, ended.error_type) == (started.request_id, "error", "ValueError")
    assert "hello" in ended.log
    assert json.loads(ended.payload)["errorMessage"] == "no"
    assert ended.duration_ms > 0


def test_runs_at_once_have_a_worker_each_up_to_ten(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create(
        "import os, time\ndef handler(event, context):\n    time.sleep(1.5)\n    return os.getpid()",
        Timeout=60,
    )
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        runs = [pool.submit(cloud.runtime.invoke, name, b"{}") for _ in range(12)]
        results = [run.result(timeout=60) for run in runs]
    assert {result.outcome for result in results} == {"succeeded"}
    processes = [int(result.payload) for result in results]
    assert 2 <= len(set(processes)) <= 10


def test_quick_runs_share_few_workers(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("import os\ndef handler(event, context):\n    return os.getpid()")
    cloud.runtime.invoke(name, b"{}")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        processes = {pool.submit(cloud.runtime.invoke, name, b"{}").result().payload for _ in range(100)}
    assert len(processes) <= 2


def test_running_and_busy_count_runs(cloud: Cloud, functions: Deployer) -> None:
    name = functions.create("import time\ndef handler(event, context):\n    time.sleep(30)", Timeout=60)
    thread = threading.Thread(target=cloud.runtime.invoke, args=(name, b"{}", "invoke", "counted"))
    thread.start()
    eventually(lambda: cloud.runtime.running(name) == 1, cloud)
    assert [(one.kind, one.name, one.count) for one in cloud.busy() if one.name == name] == [("run", name, 1)]
    eventually(lambda: cloud.runtime.kill_run("counted"), cloud)
    thread.join(timeout=10)
    assert cloud.runtime.running(name) == 0


# --- nothing outlives the kernel ---------------------------------------------------------------------------

_LOOPS = [
    pytest.param("while True: pass", id="a loop in Python"),
    pytest.param(
        "sum(range(10 ** 15))",
        id="a call that keeps the interpreter's lock",
        marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends such a process from outside"),
    ),
    pytest.param("time.sleep(1000)", id="sleep"),
]


@pytest.fixture
def killed_kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[int]]:
    """The processes that a killed kernel's handler wrote down: its own and its child's."""
    source = (
        "import os, subprocess, sys, time\n"
        "def handler(event, context):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        f"    with open({str(tmp_path / 'pids')!r}, 'w') as f: f.write(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        f"    {request.param}\n"
    )
    program = (
        "from helpers.cloud import Cloud\nfrom tests.cloud.deploying import Deployer\n"
        f"cloud = Cloud()\nname = Deployer(cloud).create({source!r}, Timeout=900)\n"
        "cloud.runtime.invoke(name, b'{}')\n"
    )
    kernel = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)})
    pids = tmp_path / "pids"
    try:
        end = time.monotonic() + 30
        while not (pids.exists() and pids.read_text(encoding="utf-8").endswith("\n")):
            assert kernel.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        children = _descendants(kernel.pid)
        written = [int(pid) for pid in pids.read_text(encoding="utf-8").split()]
        assert set(written) <= set(children)
        kernel.kill()
        kernel.wait(10)
        yield children
    finally:
        kernel.kill()


@pytest.mark.parametrize("killed_kernel", _LOOPS, indirect=True)
def test_nothing_is_left_five_seconds_after_the_kernel_was_killed(killed_kernel: list[int]) -> None:
    end = time.monotonic() + 5
    while left := [pid for pid in killed_kernel if _alive(pid)]:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def test_close_ends_runs_and_spares(tmp_path: Path) -> None:
    program = (
        "import threading\n"
        "from helpers.cloud import Cloud\nfrom tests.cloud.deploying import Deployer, eventually\n"
        "cloud = Cloud()\n"
        "source = 'import time\\ndef handler(event, context):\\n    time.sleep(1000)'\n"
        "name = Deployer(cloud).create(source, Timeout=900)\n"
        "run = threading.Thread(target=cloud.runtime.invoke, args=(name, b'{}'))\n"
        "run.start()\n"
        "eventually(lambda: cloud.runtime.running() == 1, cloud)\n"
        "folder = cloud.runtime.code.folder\n"
        "cloud.close()\n"
        "run.join(10)\n"
        "print(folder.exists(), threading.active_count() <= 3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "False True\n", done.stderr
    assert done.returncode == 0


def _alive(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _descendants(pid: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


# --- the Runtime API itself --------------------------------------------------------------------------------

_CALLER = """
    import http.client, os
    def call(method, path, body=None, headers={}):
        connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
        connection.request(method, "/2018-06-01/runtime/" + path, body, headers)
        answer = connection.getresponse()
        return [answer.status, answer.read().decode()]
"""


def test_the_runtime_api_refuses_what_is_not_the_workers_business(functions: Deployer) -> None:
    name = functions.create(
        _CALLER
        + """
    def handler(event, context):
        return {
            "a page in a browser": call("GET", "invocation/next", headers={"Origin": "https://example.org"})[0],
            "another host name": call("GET", "invocation/next", headers={"Host": "example.org"})[0],
            "another run": call("POST", "invocation/other/response", "1")[0],
            "next before the result": call("GET", "invocation/next")[0],
            "nonsense": call("DELETE", "nowhere")[0],
        }
    """
    )
    assert functions.invoke(name, {})[0] == {
        "a page in a browser": 403,
        "another host name": 403,
        "another run": 400,
        "next before the result": 403,
        "nonsense": 400,
    }
    assert functions.invoke(name, {})[1]["StatusCode"] == 200


def test_a_result_may_come_in_pieces_over_another_connection(functions: Deployer) -> None:
    name = functions.create(
        _CALLER
        + """
    def handler(event, context):
        path = f"invocation/{context.aws_request_id}/response"
        pieces = [b'{"in": ', '"pièces"}'.encode()]
        status, _ = call("POST", path, iter(pieces))  # http.client sends it with Transfer-Encoding: chunked
        print("STATUS", status)
        os._exit(0)
    """
    )
    assert functions.invoke(name, {})[0] == {"in": "pièces"}


def test_what_is_not_http_does_no_harm(functions: Deployer) -> None:
    name = functions.create(
        """
        import os, socket
        def handler(event, context):
            host, port = os.environ["AWS_LAMBDA_RUNTIME_API"].split(":")
            wrong_length = b"POST / HTTP/1.1\\r\\nContent-Length: many\\r\\n\\r\\n"
            for noise in (b"\\x16\\x03\\x01\\r\\n\\r\\n", wrong_length, b"GET"):
                with socket.create_connection((host, int(port))) as peer:
                    peer.sendall(noise)
            return "fine"
        """
    )
    assert functions.invoke(name, {})[0] == "fine"
    assert functions.invoke(name, {})[0] == "fine"


def test_a_worker_is_replaced_when_its_handler_answers_and_dies(functions: Deployer) -> None:
    name = functions.create(
        """
        import os, threading
        def handler(event, context):
            threading.Timer(0.05, os._exit, [0]).start()
            return os.getpid()
        """
    )
    first = functions.invoke(name, {})[0]
    pools = functions.cloud.runtime._pools.values()
    (worker,) = (one for pool in pools for _, one in pool.idle if one.spec.name == name)
    eventually(lambda: not worker.alive, functions.cloud)
    payload, answer = functions.invoke(name, {})
    assert "FunctionError" not in answer
    assert payload != first


@pytest.mark.skipif(sys.platform == "win32", reason="locales are a matter of POSIX here")
def test_letters_survive_a_kernel_in_the_c_locale() -> None:
    program = (
        "from helpers.cloud import Cloud\nfrom tests.cloud.deploying import Deployer\n"
        "with Cloud() as cloud:\n"
        "    functions = Deployer(cloud)\n"
        "    source = 'def handler(event, context):\\n    print(event)\\n    raise ValueError(event)'\n"
        "    name = functions.create(source)\n"
        "    payload, _ = functions.invoke(name, '\\u0437\\u0430')\n"
        "    assert payload['errorMessage'] == '\\u0437\\u0430', payload\n"
        "    assert '\\u0437\\u0430\\n' in functions.log(name)\n"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **environ,
            "LC_ALL": "C",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
