from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud, permissions
from helpers.cloud.journal import Caller

QUEUE = "arn:aws:sqs:us-east-1:123456789012:jobs"
TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/orders"


def role_with(cloud: Cloud, name: str, *statements: dict[str, Any]) -> str:
    iam = cloud.client("iam")
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    if statements:
        document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=document)
    return str(arn)


def allow(action: Any, resource: Any, effect: str = "Allow", **more: Any) -> dict[str, Any]:
    return {"Effect": effect, "Action": action, "Resource": resource, **more}


def test_what_no_policy_allows_is_not_allowed(cloud: Cloud) -> None:
    role = role_with(cloud, "one-table", allow("dynamodb:PutItem", TABLE))
    assert permissions.decide(role, "dynamodb:PutItem", TABLE) == "allowed"
    assert permissions.decide(role, "dynamodb:PutItem", TABLE + "-archive") == "not allowed"
    assert permissions.decide(role, "dynamodb:GetItem", TABLE) == "not allowed"
    assert permissions.decide("arn:aws:iam::123456789012:role/nobody", "dynamodb:PutItem", TABLE) == "not allowed"


def test_an_explicit_deny_wins(cloud: Cloud) -> None:
    role = role_with(cloud, "denied", allow("*", "*"), allow("sqs:DeleteMessage", QUEUE, "Deny"))
    assert permissions.decide(role, "sqs:DeleteMessage", QUEUE) == "denied"
    assert permissions.decide(role, "sqs:ReceiveMessage", QUEUE) == "allowed"


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("sqs:Receive*", "sqs:receivemessage", "sqs:deletemessage"),
        ("SQS:ReceiveMessage", "sqs:receivemessage", "sqs:receivemessages"),
        ("sqs:?eleteMessage", "sqs:deletemessage", "sqs:ddeletemessage"),
    ],
)
def test_actions_have_wildcards_and_no_case(cloud: Cloud, pattern: str, fits: str, fails: str) -> None:
    role = role_with(cloud, f"r{abs(hash(pattern))}", allow(pattern, QUEUE))
    assert permissions.decide(role, fits, QUEUE) == "allowed"
    assert permissions.decide(role, fails, QUEUE) == "not allowed"


def test_a_dot_or_a_dollar_in_an_arn_is_a_plain_character(cloud: Cloud) -> None:
    version = "arn:aws:lambda:us-east-1:123456789012:function:f:$LATEST"
    role = role_with(cloud, "dollar", allow("lambda:InvokeFunction", [version, "arn:aws:s3:::a.b/*"]))
    assert permissions.decide(role, "lambda:InvokeFunction", version) == "allowed"
    assert permissions.decide(role, "lambda:InvokeFunction", "arn:aws:s3:::axb/k") == "not allowed"


def test_not_action_and_not_resource(cloud: Cloud) -> None:
    role = role_with(
        cloud,
        "not",
        {"Effect": "Allow", "NotAction": "sqs:*", "Resource": "*"},
        {"Effect": "Deny", "Action": "dynamodb:*", "NotResource": TABLE},
    )
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "not allowed"
    assert permissions.decide(role, "dynamodb:PutItem", TABLE) == "allowed"
    assert permissions.decide(role, "dynamodb:PutItem", TABLE + "2") == "denied"


def test_a_condition_decides(cloud: Cloud) -> None:
    role = role_with(cloud, "conditional", allow("sqs:*", QUEUE, Condition={"Bool": {"aws:SecureTransport": "true"}}))
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "allowed"
    role = role_with(cloud, "never", allow("sqs:*", QUEUE, Condition={"Bool": {"aws:SecureTransport": "false"}}))
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "not allowed"


def test_an_attached_policy_counts_and_a_detached_one_does_not(cloud: Cloud) -> None:
    role = role_with(cloud, "attached")
    iam = cloud.client("iam")
    document = json.dumps({"Version": "2012-10-17", "Statement": allow("sqs:SendMessage", QUEUE)})
    policy = iam.create_policy(PolicyName="send", PolicyDocument=document)["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="attached", PolicyArn=policy)
    assert permissions.decide(role, "sqs:sendmessage", QUEUE) == "allowed"
    iam.detach_role_policy(RoleName="attached", PolicyArn=policy)
    assert permissions.decide(role, "sqs:sendmessage", QUEUE) == "not allowed"


def as_function(cloud: Cloud, role: str, service: str) -> Any:
    """A client whose calls the boundary takes for calls of a function with this role."""
    cloud.boundary.callers["ASIAFUNCTION"] = lambda: Caller("function", "worker", "request", role)
    session = cloud.session()
    return session.client(
        service,
        endpoint_url=cloud.endpoint,
        aws_access_key_id="ASIAFUNCTION",
        aws_secret_access_key="x",
        region_name="us-east-1",
    )


def test_a_refused_call_reads_as_aws_writes_it(cloud: Cloud) -> None:
    role = role_with(cloud, "worker-role", allow("dynamodb:GetItem", TABLE))
    orders = as_function(cloud, role, "dynamodb")
    with pytest.raises(ClientError) as refusal:
        orders.put_item(TableName="orders", Item={"id": {"S": "a"}})
    assert refusal.value.response["Error"] == {
        "Code": "AccessDeniedException",
        "Message": "User: arn:aws:sts::123456789012:assumed-role/worker-role/worker is not authorized to perform: "
        f"dynamodb:PutItem on resource: {TABLE} because no identity-based policy allows the dynamodb:PutItem action",
    }
    queue = as_function(cloud, role, "sqs")
    with pytest.raises(ClientError) as refusal:
        queue.send_message(QueueUrl=f"{cloud.endpoint}/123456789012/jobs", MessageBody="x")
    assert refusal.value.response["Error"]["Code"] == "AccessDenied"
    assert refusal.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    assert f"sqs:sendmessage on resource: {QUEUE}" in refusal.value.response["Error"]["Message"]


def test_a_transaction_needs_the_right_for_each_of_its_writes(cloud: Cloud) -> None:
    role = role_with(cloud, "transaction-role", allow("dynamodb:PutItem", TABLE))
    orders = as_function(cloud, role, "dynamodb")
    put = {"Put": {"TableName": "orders", "Item": {"id": {"S": "a"}}}}
    delete = {"Delete": {"TableName": "orders", "Key": {"id": {"S": "a"}}}}
    with pytest.raises(ClientError, match="dynamodb:DeleteItem"):
        orders.transact_write_items(TransactItems=[put, delete])


def test_the_learner_may_do_everything(cloud: Cloud) -> None:
    assert cloud.client("sqs").create_queue(QueueName="learners")["QueueUrl"]
