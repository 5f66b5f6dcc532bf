"""Calls drawn from the service models that botocore ships: what a program could send, sensible or not.

Members that name something are mostly given the names of what the account has, so that a call gets past the first
look. What is to be kept is never drawn for a call that deletes or replaces.
"""

from __future__ import annotations

import functools
import io
import json
import zipfile
from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from botocore.parsers import ResponseParserError
from hypothesis import strategies as st

from helpers.cloud import Cloud
from tests.cloud.deploying import TRUST

REGION, ACCOUNT = "us-east-1", "123456789012"
SERVICES = ("sqs", "dynamodb", "lambda", "stepfunctions", "iam", "s3", "logs", "events", "sns", "sts")
PASS = json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}})
POLICY = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})

_TRUST_ALL = TRUST.replace('"lambda.amazonaws.com"', '["lambda.amazonaws.com", "states.amazonaws.com"]')

LEFT_OUT = {
    "lambda": {"Invoke", "InvokeAsync", "InvokeWithResponseStream"},  # start processes; tested elsewhere
    "logs": {"StartLiveTail"},  # a stream without end
    "s3": {
        "GetObjectRetention",
        "SelectObjectContent",
        "WriteGetObjectResponse",
        "CreateSession",
    },  # not emulated, streams, other hosts
}

NAMES: dict[str, list[str]] = {
    "queueurl": ["{endpoint}/123456789012/kept", "kept", "{endpoint}/123456789012/gone"],
    "queuename": ["kept", "gone", "new.fifo"],
    "tablename": ["kept", "gone", "new-table"],
    "functionname": ["kept", "gone", "arn:aws:lambda:us-east-1:123456789012:function:kept:1"],
    "bucket": ["kept", "gone", "new-bucket"],
    "key": ["kept", "a/b c+é", "id"],
    "rolename": ["kept", "gone"],
    "role": ["arn:aws:iam::123456789012:role/kept", "arn:aws:iam::123456789012:role/gone"],
    "rolearn": ["arn:aws:iam::123456789012:role/kept"],
    "statemachinearn": ["arn:aws:states:us-east-1:123456789012:stateMachine:kept", "arn:aws:states:::x"],
    "executionarn": ["arn:aws:states:us-east-1:123456789012:execution:kept:one"],
    "loggroupname": ["kept", "gone"],
    "logstreamname": ["kept", "gone"],
    "topicarn": ["arn:aws:sns:us-east-1:123456789012:kept", "arn:aws:sns:us-east-1:123456789012:gone"],
    "eventsourcearn": ["arn:aws:sqs:us-east-1:123456789012:kept", "arn:aws:sqs:us-east-1:123456789012:gone"],
    "resourcearn": ["arn:aws:sqs:us-east-1:123456789012:kept", "arn:aws:dynamodb:us-east-1:123456789012:table/kept"],
    "definition": [PASS, "{}", "{", '{"StartAt": "A", "States": {}}', "null", "[]"],
    "policydocument": [POLICY, "{}", "{", "[]", '{"Statement": 5}'],
    "assumerolepolicydocument": [TRUST, "{}", "x"],
    "policy": [POLICY, "{}", "5"],
    "input": ["{}", "5", "{", '{"a": "é"}'],
    "eventpattern": ['{"source": ["a"]}', "{", "5"],
    "filterpattern": ["", "ERROR", '{ $.a = "b" }', "[a, b", "%re%"],
    "keyconditionexpression": ["id = :x", "id = ", "a.b", "begins_with(id, :x)"],
    "conditionexpression": ["attribute_not_exists(id)", "id = :x AND", "size(id) > :x", "#n = :x", "("],
    "filterexpression": ["id = :x", "contains(id, :x)", "NOT", "a[0].b = :x"],
    "updateexpression": ["SET a = :x", "REMOVE a", "ADD n :x", "SET", "DELETE s :x", "SET a[9] = :x", "SET id = :x"],
    "projectionexpression": ["id", "id, a.b", "#n", ",", ""],
    "attributename": ["id", "All", "VisibilityTimeout", "a"],
    "statement": ["SELECT * FROM kept", "INSERT INTO kept VALUE {'id': 'a'}", "DELETE", ""],
    "handler": ["app.handler", "app"],
    "runtime": ["python3.12", "cobol"],
}

TEXTS = st.one_of(
    st.sampled_from(
        ["", "a", "id", "kept", "1", "-1", "é заказ 🙂", "\u0000", "a" * 300, "a" * 70_000, "../../etc", "*"]
    ),
    st.text(max_size=12),
)
NUMBERS = st.sampled_from([0, 1, 2, -1, 10, 30, 43_201, 2**31, 2**63, -(2**63), 10**30])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(TEXTS.filter(lambda key: len(key) < 20), inner, max_size=2)
    ),
    max_leaves=4,
)


def prepare(cloud: Cloud) -> None:
    """Give the account one of each kind, all named "kept"."""
    cloud.client("sqs").create_queue(QueueName="kept")
    cloud.client("dynamodb").create_table(
        TableName="kept",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    cloud.client("dynamodb").get_waiter("table_exists").wait(TableName="kept")
    iam = cloud.client("iam")
    role = iam.create_role(RoleName="kept", AssumeRolePolicyDocument=_TRUST_ALL)["Role"]["Arn"]
    iam.create_role(RoleName="odd", AssumeRolePolicyDocument="x")
    iam.put_role_policy(RoleName="kept", PolicyName="all", PolicyDocument=POLICY)
    cloud.client("lambda").create_function(
        FunctionName="kept", Runtime="python3.12", Handler="app.handler", Role=role, Code={"ZipFile": _code()}
    )
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket="kept")
    s3.put_object(Bucket="kept", Key="kept", Body=b"kept")
    cloud.client("stepfunctions").create_state_machine(name="kept", definition=PASS, roleArn=role)
    cloud.client("sns").create_topic(Name="kept")
    logs = cloud.client("logs")
    logs.create_log_group(logGroupName="kept")
    logs.create_log_stream(logGroupName="kept", logStreamName="kept")
    cloud.client("lambda").get_waiter("function_active_v2").wait(FunctionName="kept")


def client(cloud: Cloud, service: str) -> Any:
    """A client that checks nothing, sends once and does not wait long."""
    config = Config(
        parameter_validation=False,
        retries={"total_max_attempts": 1},
        read_timeout=20,
        s3={"addressing_style": "path"},
        inject_host_prefix=False,
    )
    return cloud.client(service, config=config)


@functools.cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


def operations(service: str) -> list[str]:
    """The names of a service's calls, without those that have no answer to wait for."""
    return [name for name in _model(service).operation_names if name not in LEFT_OUT.get(service, ())]


def calls(*services: str) -> st.SearchStrategy[tuple[str, str, dict[str, Any]]]:
    """Service, action and parameters."""
    names = [(service, name) for service in services for name in operations(service)]
    return st.sampled_from(names).flatmap(lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), parameters(*pair)))


def parameters(service: str, action: str) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters of one call: required members are mostly there, others now and then."""
    shape = _model(service).operation_model(action).input_shape
    if shape is None:
        return st.just({})
    destroys = action.startswith(
        ("Delete", "Purge", "Put", "Create", "Update", "Set", "Tag", "Untag", "Remove", "Stop")
    )
    return _structure(shape, destroys, 0)


def _value(shape: Shape, name: str, destroys: bool, depth: int) -> st.SearchStrategy[Any]:
    if isinstance(shape, StructureShape):
        return _structure(shape, destroys, depth + 1)
    if isinstance(shape, ListShape):
        inner = _value(shape.member, name.removesuffix("s"), destroys, depth + 1)
        return st.lists(inner, max_size=0 if depth > 4 else 3)
    if isinstance(shape, MapShape):
        keys = _value(shape.key, "attributename", destroys, depth + 1)
        return st.dictionaries(keys, _value(shape.value, name, destroys, depth + 1), max_size=0 if depth > 4 else 2)
    kind = shape.type_name
    if kind in {"integer", "long"}:
        # A wait of some seconds would be obeyed.
        return st.sampled_from([0, -1, 21, 10**9]) if name == "waittimeseconds" else NUMBERS
    if kind in {"float", "double"}:
        return st.sampled_from([0.0, -1.5, 1e300])
    if kind == "boolean":
        return st.booleans()
    if kind == "timestamp":
        return st.sampled_from(
            [datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), datetime(9999, 1, 1)]
        )
    if kind == "blob":
        return st.sampled_from([b"", b"\x00\xff", b"{}", _code(), b"a" * 100_000])
    known = _names(name, destroys)
    choices = [st.sampled_from(known)] * 3 if known else []
    if isinstance(shape, StringShape) and shape.enum:
        choices += [st.sampled_from(shape.enum)] * 3
    return st.one_of(*choices, TEXTS)


def _names(name: str, destroys: bool) -> list[str]:
    known = NAMES.get(name) or next((NAMES[key] for key in NAMES if name.endswith(key) and len(key) > 6), [])
    return [text for text in known if not (destroys and "kept" in text)] or known[1:]


def _structure(shape: StructureShape, destroys: bool, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    required = {name for name in shape.required_members if depth < 6}
    optional = [name for name in shape.members if name not in required] if depth < 4 else []

    @st.composite
    def draw_members(draw: st.DrawFn) -> dict[str, Any]:
        chosen = {name for name in required if draw(st.integers(0, 19))}
        if optional:
            chosen |= set(draw(st.lists(st.sampled_from(optional), max_size=3)))
        return {
            name: draw(st.deferred(lambda name=name: _value(shape.members[name], name.lower(), destroys, depth)))
            for name in sorted(chosen)
        }

    return draw_members()


@functools.cache
def _code() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        target.writestr("app.py", "def handler(event, context):\n    return event\n")
    return packed.getvalue()


def answer_to(clients: dict[str, Any], service: str, action: str, members: dict[str, Any]) -> tuple[int, str]:
    """Make the call. Returns status and error code, -1 when the SDK could not even write it down.

    Raises ResponseParserError for an answer that is not in the service's protocol.
    """
    try:
        answer = clients[service]._make_api_call(action, members)
    except ClientError as refusal:
        error = refusal.response
        return error["ResponseMetadata"]["HTTPStatusCode"], str(error["Error"].get("Code"))
    except ResponseParserError:
        raise
    except BotoCoreError as problem:
        if type(problem).__name__ in {"ReadTimeoutError", "ConnectionClosedError", "EndpointConnectionError"}:
            raise
        return -1, type(problem).__name__
    except (TypeError, ValueError, AttributeError, KeyError, OverflowError, RuntimeError) as problem:
        return -1, type(problem).__name__
    for value in answer.values():
        if hasattr(value, "read"):
            value.read()
    return answer["ResponseMetadata"]["HTTPStatusCode"], ""
