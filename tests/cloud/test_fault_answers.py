"""What each service says under a fault, read by the SDK: code, status and whether it is tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import botocore.endpoint
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from helpers.cloud import Cloud
from helpers.cloud.fault_targets import SERVICES, operations
from helpers.cloud.journal import Call

# service: (client, action, the call with boto3, code and status when throttled, code when it fails inside)
CALLS: dict[str, tuple[str, str, Callable[[Any], Any], tuple[str, int], str]] = {
    "dynamodb": (
        "dynamodb",
        "ListTables",
        lambda client: client.list_tables(),
        ("ThrottlingException", 400),
        "InternalServerError",
    ),
    "sqs": ("sqs", "ListQueues", lambda client: client.list_queues(), ("RequestThrottled", 403), "InternalFailure"),
    "lambda": (
        "lambda",
        "ListFunctions",
        lambda client: client.list_functions(),
        ("TooManyRequestsException", 429),
        "ServiceException",
    ),
    "s3": ("s3", "ListBuckets", lambda client: client.list_buckets(), ("SlowDown", 503), "InternalError"),
    "iam": ("iam", "ListRoles", lambda client: client.list_roles(), ("Throttling", 400), "ServiceFailure"),
    "sts": (
        "sts",
        "GetCallerIdentity",
        lambda client: client.get_caller_identity(),
        ("Throttling", 400),
        "InternalFailure",
    ),
    "sns": ("sns", "ListTopics", lambda client: client.list_topics(), ("Throttled", 429), "InternalError"),
    "events": (
        "events",
        "ListRules",
        lambda client: client.list_rules(),
        ("ThrottlingException", 400),
        "InternalException",
    ),
    "logs": (
        "logs",
        "DescribeLogGroups",
        lambda client: client.describe_log_groups(),
        ("ThrottlingException", 400),
        "ServiceUnavailableException",
    ),
    "states": (
        "stepfunctions",
        "ListStateMachines",
        lambda client: client.list_state_machines(),
        ("ThrottlingException", 400),
        "InternalFailure",
    ),
}


@pytest.fixture(autouse=True)
def no_faults_left(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # The SDK decides by itself whether it tries again; only its pause before that is left out.
    monkeypatch.setattr(botocore.endpoint, "time", SimpleNamespace(sleep=lambda seconds: None))
    yield
    cloud.faults.clear()


class Clients:
    """One client for each service, which tries twice: making one costs more than its calls."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._made: dict[str, Any] = {}

    def get(self, service: str) -> Any:
        """A client by the name that signatures give the service."""
        if service not in self._made:
            config = Config(retries={"mode": "standard", "total_max_attempts": 2})
            self._made[service] = self._cloud.client(CALLS[service][0], config=config)
        return self._made[service]


@pytest.fixture(scope="module")
def clients(cloud: Cloud) -> Clients:
    return Clients(cloud)


def failure_of(clients: Clients, service: str) -> ClientError:
    with pytest.raises(ClientError) as failure:
        CALLS[service][2](clients.get(service))
    return failure.value


def read(failure: ClientError) -> tuple[str, int]:
    return failure.response["Error"]["Code"], failure.response["ResponseMetadata"]["HTTPStatusCode"]


def test_the_table_of_this_test_names_each_service_that_faults_can_be_armed_for() -> None:
    assert CALLS.keys() == SERVICES.keys()


@pytest.mark.parametrize("service", CALLS)
def test_a_throttled_service_answers_with_its_own_code_and_the_sdk_tries_again(
    cloud: Cloud, clients: Clients, service: str
) -> None:
    _, action, call, expected, _ = CALLS[service]
    cloud.faults.throttle(service, action, times=2)
    assert read(failure := failure_of(clients, service)) == expected
    assert failure.response["Error"]["Message"]
    cloud.faults.throttle(service, action)
    since = cloud.journal.last
    call(clients.get(service))
    assert [one.error for one in cloud.journal.events(Call, since=since)] == [expected[0], None]


@pytest.mark.parametrize("status", [500, 503])
@pytest.mark.parametrize("service", CALLS)
def test_a_service_that_fails_inside_answers_with_its_own_code(
    cloud: Cloud, clients: Clients, service: str, status: Any
) -> None:
    _, action, call, _, code = CALLS[service]
    cloud.faults.server_error(service, action, status, times=2)
    found = read(failure_of(clients, service))
    assert found == (code if status == 500 else "ServiceUnavailable", status)
    fault = cloud.faults.server_error(service, action, status)
    call(clients.get(service))
    assert fault.fired == 1


@pytest.mark.parametrize("service", CALLS)
def test_a_request_and_an_answer_can_be_lost_at_each_service(cloud: Cloud, clients: Clients, service: str) -> None:
    _, action, call, _, _ = CALLS[service]
    for arm, done in ((cloud.faults.lose_request, 0), (cloud.faults.lose_answer, 2)):
        fault = arm(service, action, times=2)
        since = cloud.journal.last
        with pytest.raises(ConnectionClosedError):
            call(clients.get(service))
        assert (fault.fired, len(cloud.journal.events(Call, since=since))) == (2, done)


@pytest.mark.parametrize(
    ("service", "code", "status"),
    [
        ("dynamodb", "AccessDeniedException", 400),
        ("dynamodb", "ConditionalCheckFailedException", 400),
        ("lambda", "AccessDeniedException", 403),
        ("lambda", "ResourceNotFoundException", 404),
        ("sqs", "AccessDenied", 403),
        ("s3", "AccessDenied", 403),
        ("states", "ExecutionDoesNotExist", 400),
        ("iam", "NoSuchEntity", 404),
    ],
)
def test_a_chosen_error_has_the_status_of_the_services_model(
    cloud: Cloud, clients: Clients, service: str, code: str, status: int
) -> None:
    cloud.faults.refuse(service, CALLS[service][1], code, "chosen")
    failure = failure_of(clients, service)
    assert read(failure) == (code, status)
    assert failure.response["Error"]["Message"] == "chosen"


@pytest.mark.parametrize(
    ("mode", "code", "sentence"),
    [
        ("PAY_PER_REQUEST", "ThrottlingException", "Throughput exceeds the current capacity of your table or index."),
        (
            "PROVISIONED",
            "ProvisionedThroughputExceededException",
            "The level of configured provisioned throughput for the table was exceeded.",
        ),
    ],
)
def test_a_table_that_is_throttled_says_so_by_its_billing_mode(
    cloud: Cloud, clients: Clients, mode: str, code: str, sentence: str
) -> None:
    client = clients.get("dynamodb")
    throughput = {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}
    client.create_table(
        TableName=mode,
        BillingMode=mode,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        **(throughput if mode == "PROVISIONED" else {}),
    )
    client.get_waiter("table_exists").wait(TableName=mode)
    cloud.faults.throttle("dynamodb", "*", resource=mode, times=4)
    client.list_tables()
    for call in (
        lambda: client.put_item(TableName=mode, Item={"id": {"S": "a"}}),
        lambda: client.transact_write_items(TransactItems=[{"Put": {"TableName": mode, "Item": {"id": {"S": "a"}}}}]),
    ):
        with pytest.raises(ClientError) as failure:
            call()
        assert read(failure.value) == (code, 400)
        assert failure.value.response["Error"]["Message"].startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"service": "dynamo"}, r"service is 'dynamo': did you mean dynamodb\? known: dynamodb, events, iam,"),
        ({"service": None}, "service is None: known: dynamodb"),
        ({"action": "PutItm"}, r"action is 'PutItm': did you mean PutItem.* known of dynamodb: BatchExecuteStatement"),
        ({"action": ("PutItem", "SendMessage")}, "action is 'SendMessage'"),
        ({"action": ()}, "action is empty"),
        ({"times": 0}, "times is 0: a fault fires a whole number of times, at least once"),
        ({"rate": 0}, "rate is 0: a share of the calls is above 0 and at most 1"),
        ({"rate": 1.5}, "rate is 1.5"),
        ({"rate": True}, "rate is True"),
        ({"rate": float("nan")}, "rate is nan"),
        ({"rate": "0.5"}, "rate is '0.5'"),
        ({"rate": 0.5, "times": 2}, "times is 2 and rate is 0.5: give one of the two"),
        ({"function": "wroker"}, "function is 'wroker': known of this account: none"),
        ({"role": "nobody"}, "role is 'nobody': .*known of this account"),
        ({"caller": "handler"}, "caller is 'handler': known: function, learner, service, workflow"),
        ({"resource": "no-table"}, "resource is 'no-table': .*known of this account"),
    ],
)
@pytest.mark.parametrize("method", ["throttle", "server_error", "lose_request", "lose_answer", "delay", "refuse"])
def test_a_name_that_nothing_has_is_refused_with_the_known_ones(
    cloud: Cloud, method: str, arguments: dict[str, Any], said: str
) -> None:
    chosen = {"service": "dynamodb", "action": "PutItem", **arguments}
    if method == "delay":
        chosen["seconds"] = 1
    if method == "refuse":
        chosen["code"] = "Boom"
    with pytest.raises(ValueError, match=said):
        getattr(cloud.faults, method)(**chosen)
    assert cloud.faults.armed() == []


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        (lambda faults: faults.crash("nobody"), "function is 'nobody'"),
        (lambda faults: faults.crash_run("nobody", "start"), "function is 'nobody'"),
        (lambda faults: faults.crash_run("nobody", "middle"), "when is 'middle': known: end, start"),
        (lambda faults: faults.slow("nobody"), "function is 'nobody'"),
        (lambda faults: faults.hold("sqs", "SendMessage", times=2), "a hold holds one call"),
        (lambda faults: faults.hold("sqs", "SendMessage", caller="me"), "caller is 'me'"),
        (lambda faults: faults.hold("sqs", "PutItem"), "action is 'PutItem': .*known of sqs"),
        (lambda faults: faults.hold("sqs", "SendMessage", until=("dynamodb", "Put")), "action is 'Put'"),
        (lambda faults: faults.hold("sqs", "SendMessage", until="sqs"), "until is 'sqs': a service and an action"),
        (lambda faults: faults.hold("sqs", 3), "action is 3: the name of one, or a tuple of names"),
        (lambda faults: faults.slow("sqs", "sqs", None), "action is None"),
        (lambda faults: faults.throttle("sqs", (1, 2)), r"action is \(1, 2\)"),
        (lambda faults: faults.refuse("sqs", "SendMessage", None), "code is None"),
        (lambda faults: faults.lose_acknowledgement("no-queue"), "queue is 'no-queue'"),
        (lambda faults: faults.late_message("no-queue", 1), "queue is 'no-queue'"),
        (lambda faults: faults.send_copy("no-queue"), "queue is 'no-queue'"),
        (lambda faults: faults.send_poison("no-queue"), "queue is 'no-queue'"),
        (lambda faults: faults.delay(-1, "sqs", "SendMessage"), "seconds is -1"),
        (lambda faults: faults.delay(1, "sqs", "SendMessage", "during"), "when is 'during': known: after, before"),
        (lambda faults: faults.server_error("sqs", "SendMessage", 404), "status is 404: known: 500, 503"),
        (lambda faults: faults.refuse("sqs", "SendMessage", "not a code"), "code is 'not a code'"),
        (lambda faults: faults.seed("7"), "number is '7'"),
    ],
)
def test_bad_arguments_of_the_other_faults_are_named(cloud: Cloud, arm: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        arm(cloud.faults)
    assert cloud.faults.armed() == []


def test_an_argument_that_no_fault_has_is_refused(cloud: Cloud) -> None:
    with pytest.raises(TypeError, match="a fault has no table: known: times, rate, role, caller, resource, function"):
        cloud.faults.throttle("dynamodb", "PutItem", table="t")


def test_a_fault_can_wait_for_a_table_that_is_created_later(cloud: Cloud) -> None:
    assert cloud.faults.server_error("dynamodb", "CreateTable", resource="later") in cloud.faults.armed()


def test_the_actions_are_those_of_the_services_models() -> None:
    assert "SendTaskSuccess" in operations("states")
    assert all(operations(service) for service in SERVICES)
