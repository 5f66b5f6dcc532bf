from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.cloud import Cloud, permissions
from helpers.cloud.exchange import Exchange
from helpers.cloud.journal import Caller

from .deploying import TRUST, Deployer
from .workflow_stage import Stage, allowing

QUEUE = "arn:aws:sqs:us-east-1:123456789012:jobs"
TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/orders"


def role_with(cloud: Cloud, name: str, *statements: dict[str, Any]) -> str:
    iam = cloud.client("iam")
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
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


_NUMBERS = itertools.count(1)


def as_function(cloud: Cloud, role: str, service: str, kind: Any = "function") -> Any:
    """A client whose calls the boundary takes for calls of a function (or a workflow) with this role."""
    key = f"ASIAFUNCTION{next(_NUMBERS)}"
    cloud.boundary.callers[key] = lambda: Caller(kind, "worker", "request", role)
    return client_with(cloud, key, service)


def client_with(cloud: Cloud, key: str, service: str) -> Any:
    return cloud.client(service, aws_access_key_id=key, aws_secret_access_key="x")


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


# --- what each call needs ----------------------------------------------------------------------------------------

ACCOUNT = "us-east-1:123456789012"
FUNCTION = f"arn:aws:lambda:{ACCOUNT}:function:f"
MACHINE = f"arn:aws:states:{ACCOUNT}:stateMachine:m"
LOGS = f"arn:aws:logs:{ACCOUNT}:log-group:g:log-stream:"
ROLE = "arn:aws:iam::123456789012:role/other"
PASS = f"iam:PassRole {ROLE}"
ITEM = {"id": {"S": "a"}}
URL = "http://127.0.0.1/123456789012/jobs"
TRANSACTION = [
    {"Put": {"TableName": "orders", "Item": ITEM}},
    {"ConditionCheck": {"TableName": "stock", "Key": ITEM, "ConditionExpression": "attribute_exists(id)"}},
]
WRITES = {"orders": [{"PutRequest": {"Item": ITEM}}], "stock": [{"DeleteRequest": {"Key": ITEM}}]}
TWO_OBJECTS = {"Objects": [{"Key": "k"}, {"Key": "v", "VersionId": "1"}]}


@pytest.mark.parametrize(
    ("service", "call", "arguments", "needed"),
    [
        ("sqs", "send_message_batch", {"QueueUrl": URL, "Entries": []}, [f"sqs:sendmessage {QUEUE}"]),
        ("sqs", "create_queue", {"QueueName": "jobs"}, [f"sqs:createqueue {QUEUE}"]),
        ("sqs", "get_queue_url", {"QueueName": "jobs"}, [f"sqs:getqueueurl {QUEUE}"]),
        ("sqs", "list_queues", {}, [f"sqs:listqueues arn:aws:sqs:{ACCOUNT}:"]),
        (
            "sqs",
            "start_message_move_task",
            {"SourceArn": QUEUE},
            [f"sqs:{name} {QUEUE}" for name in ("startmessagemovetask", "receivemessage", "deletemessage")]
            + [f"sqs:getqueueattributes {QUEUE}"],
        ),
        ("dynamodb", "get_item", {"TableName": "orders", "Key": ITEM}, [f"dynamodb:GetItem {TABLE}"]),
        ("dynamodb", "get_item", {"TableName": TABLE, "Key": ITEM}, [f"dynamodb:GetItem {TABLE}"]),
        (
            "dynamodb",
            "query",
            {"TableName": "orders", "IndexName": "by-a", "KeyConditionExpression": "a = :a"},
            [f"dynamodb:Query {TABLE}/index/by-a"],
        ),
        (
            "dynamodb",
            "transact_write_items",
            {"TransactItems": TRANSACTION},
            [
                f"dynamodb:PutItem {TABLE}",
                f"dynamodb:ConditionCheckItem arn:aws:dynamodb:{ACCOUNT}:table/stock",
            ],
        ),
        (
            "dynamodb",
            "batch_write_item",
            {"RequestItems": WRITES},
            [f"dynamodb:BatchWriteItem {TABLE}", f"dynamodb:BatchWriteItem arn:aws:dynamodb:{ACCOUNT}:table/stock"],
        ),
        (
            "dynamodb",
            "execute_statement",
            {"Statement": "UPDATE \"orders\" SET a=1 WHERE id='x'"},
            [f"dynamodb:PartiQLUpdate {TABLE}"],
        ),
        (
            "dynamodb",
            "execute_statement",
            {"Statement": 'select * from "orders"."by-a" where a=1'},
            [f"dynamodb:PartiQLSelect {TABLE}/index/by-a"],
        ),
        ("lambda", "invoke", {"FunctionName": "f"}, [f"lambda:InvokeFunction {FUNCTION}"]),
        ("lambda", "invoke", {"FunctionName": FUNCTION}, [f"lambda:InvokeFunction {FUNCTION}"]),
        ("lambda", "invoke", {"FunctionName": "f:2"}, [f"lambda:InvokeFunction {FUNCTION}:2"]),
        ("lambda", "invoke", {"FunctionName": "f", "Qualifier": "live"}, [f"lambda:InvokeFunction {FUNCTION}:live"]),
        ("lambda", "get_function", {"FunctionName": "f"}, [f"lambda:GetFunction {FUNCTION}"]),
        ("lambda", "list_functions", {}, ["lambda:ListFunctions *"]),
        (
            "lambda",
            "create_function",
            {"FunctionName": "f", "Role": ROLE, "Code": {"ZipFile": b""}},
            [f"lambda:CreateFunction {FUNCTION}", PASS],
        ),
        (
            "lambda",
            "delete_event_source_mapping",
            {"UUID": "0" * 36},
            [f"lambda:DeleteEventSourceMapping arn:aws:lambda:{ACCOUNT}:event-source-mapping:{'0' * 36}"],
        ),
        ("stepfunctions", "start_execution", {"stateMachineArn": MACHINE}, [f"states:StartExecution {MACHINE}"]),
        (
            "stepfunctions",
            "describe_execution",
            {"executionArn": f"arn:aws:states:{ACCOUNT}:execution:m:e"},
            [f"states:DescribeExecution arn:aws:states:{ACCOUNT}:execution:m:e"],
        ),
        (
            "stepfunctions",
            "create_state_machine",
            {"name": "m", "definition": "{}", "roleArn": ROLE},
            [f"states:CreateStateMachine {MACHINE}", PASS],
        ),
        (
            "stepfunctions",
            "list_state_machines",
            {},
            [f"states:ListStateMachines arn:aws:states:{ACCOUNT}:stateMachine:*"],
        ),
        ("s3", "put_object", {"Bucket": "b", "Key": "a/k"}, ["s3:PutObject arn:aws:s3:::b/a/k"]),
        (
            "s3",
            "put_object",
            {"Bucket": "b", "Key": "k", "ACL": "private", "Tagging": "a=b"},
            [f"s3:{name} arn:aws:s3:::b/k" for name in ("PutObject", "PutObjectAcl", "PutObjectTagging")],
        ),
        (
            "s3",
            "get_object",
            {"Bucket": "b", "Key": "k"},
            ["s3:GetObject arn:aws:s3:::b/k"],
        ),
        ("s3", "list_objects_v2", {"Bucket": "b"}, ["s3:ListBucket arn:aws:s3:::b"]),
        ("s3", "list_buckets", {}, ["s3:ListAllMyBuckets arn:aws:s3:::*"]),
        (
            "s3",
            "copy_object",
            {"Bucket": "b", "Key": "k", "CopySource": "from/some key"},
            ["s3:GetObject arn:aws:s3:::from/some key", "s3:PutObject arn:aws:s3:::b/k"],
        ),
        (
            "s3",
            "delete_objects",
            {"Bucket": "b", "Delete": TWO_OBJECTS},
            ["s3:DeleteObject arn:aws:s3:::b/k", "s3:DeleteObjectVersion arn:aws:s3:::b/v"],
        ),
        (
            "s3",
            "get_bucket_notification_configuration",
            {"Bucket": "b"},
            ["s3:GetBucketNotification arn:aws:s3:::b"],
        ),
        ("logs", "create_log_group", {"logGroupName": "g"}, [f"logs:CreateLogGroup {LOGS}"]),
        (
            "logs",
            "put_log_events",
            {"logGroupName": "g", "logStreamName": "s", "logEvents": [{"timestamp": 1, "message": "m"}]},
            [f"logs:PutLogEvents {LOGS}s"],
        ),
        (
            "logs",
            "describe_log_groups",
            {},
            [f"logs:DescribeLogGroups arn:aws:logs:{ACCOUNT}:log-group::log-stream:"],
        ),
        (
            "events",
            "put_events",
            {"Entries": [{"Source": "s", "DetailType": "d", "Detail": "{}"}]},
            [f"events:PutEvents arn:aws:events:{ACCOUNT}:event-bus/default"],
        ),
        (
            "events",
            "put_rule",
            {"Name": "r", "ScheduleExpression": "rate(1 day)", "RoleArn": ROLE},
            [f"events:PutRule arn:aws:events:{ACCOUNT}:rule/r", PASS],
        ),
        (
            "sns",
            "publish",
            {"TopicArn": f"arn:aws:sns:{ACCOUNT}:t", "Message": "m"},
            [f"SNS:Publish arn:aws:sns:{ACCOUNT}:t"],
        ),
        (
            "iam",
            "create_role",
            {"RoleName": "new", "AssumeRolePolicyDocument": TRUST, "Path": "/p/"},
            ["iam:CreateRole " + ROLE.replace("other", "p/new")],
        ),
        ("iam", "list_roles", {}, ["iam:ListRoles arn:aws:iam::123456789012:role/"]),
        ("sts", "assume_role", {"RoleArn": ROLE, "RoleSessionName": "trial"}, [f"sts:AssumeRole {ROLE}"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_needs_these_actions_on_these_resources_and_no_others(
    cloud: Cloud, service: str, call: str, arguments: dict[str, Any], needed: list[str]
) -> None:
    role = role_with(cloud, f"needs-{next(_NUMBERS)}")
    client = as_function(cloud, role, service)
    granted: list[dict[str, Any]] = []
    found = []
    while True:
        message = ""
        try:
            getattr(client, call)(**arguments)
        except ClientError as answer:
            message = answer.response["Error"].get("Message", "")
        asked = re.search(r'perform: (\S+) on resource: "?(.+?)"? because no identity-based', message)
        if asked is None:
            break
        found.append(f"{asked[1]} {asked[2]}")
        assert found == needed[: len(found)]
        granted.append(allow(asked[1], asked[2]))
        document = json.dumps({"Version": "2012-10-17", "Statement": granted})
        cloud.client("iam").put_role_policy(RoleName=role.rpartition("/")[2], PolicyName="p", PolicyDocument=document)
    assert found == needed


@pytest.mark.parametrize(
    ("service", "call", "arguments", "code", "status"),
    [
        ("sqs", "list_queues", {}, "AccessDenied", 403),
        ("dynamodb", "list_tables", {}, "AccessDeniedException", 400),
        ("lambda", "list_functions", {}, "AccessDeniedException", 403),
        ("stepfunctions", "list_state_machines", {}, "AccessDeniedException", 400),
        ("logs", "describe_log_groups", {}, "AccessDeniedException", 400),
        ("events", "list_rules", {}, "AccessDeniedException", 400),
        ("s3", "list_buckets", {}, "AccessDenied", 403),
        ("s3", "head_object", {"Bucket": "b", "Key": "k"}, "403", 403),
        ("iam", "list_users", {}, "AccessDenied", 403),
        ("sns", "list_topics", {}, "AuthorizationError", 403),
    ],
)
def test_each_service_refuses_with_its_own_code_and_status(
    cloud: Cloud, service: str, call: str, arguments: dict[str, Any], code: str, status: int
) -> None:
    role = role_with(cloud, f"codes-{next(_NUMBERS)}", allow("*", "*"), allow("*", "*", "Deny"))
    with pytest.raises(ClientError) as refusal:
        getattr(as_function(cloud, role, service), call)(**arguments)
    answer = refusal.value.response
    assert (answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]) == (code, status)
    if code != "403":  # an answer to HEAD has no body
        assert answer["Error"]["Message"].endswith("with an explicit deny in an identity-based policy")


def test_iam_names_a_role_by_its_name(cloud: Cloud) -> None:
    role = role_with(cloud, "curious")
    with pytest.raises(ClientError, match=r"iam:GetRole on resource: role other because no identity-based policy"):
        as_function(cloud, role, "iam").get_role(RoleName="other")


# --- conditions on real requests ---------------------------------------------------------------------------------


def test_leading_keys_and_attributes_bound_what_a_role_sees_of_a_table(cloud: Cloud) -> None:
    cloud.client("dynamodb").create_table(
        TableName="tenants",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "tenant", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "tenant", "AttributeType": "S"}],
    )
    cloud.client("dynamodb").get_waiter("table_exists").wait(TableName="tenants")
    condition = {
        "ForAllValues:StringEquals": {
            "dynamodb:LeadingKeys": ["anna"],
            "dynamodb:Attributes": ["tenant", "amount"],
        }
    }
    role = role_with(cloud, "tenant", allow("dynamodb:*", "*", Condition=condition))
    table = as_function(cloud, role, "dynamodb")
    anna, boris = ({"tenant": {"S": name}} for name in ("anna", "boris"))
    allowed = [
        lambda: table.put_item(TableName="tenants", Item={**anna, "amount": {"N": "1"}}),
        lambda: table.get_item(TableName="tenants", Key=anna, ProjectionExpression="amount"),
        lambda: table.query(
            TableName="tenants",
            KeyConditionExpression="#t = :t",
            ExpressionAttributeNames={"#t": "tenant"},
            ExpressionAttributeValues={":t": {"S": "anna"}},
        ),
        lambda: table.update_item(
            TableName="tenants",
            Key=anna,
            UpdateExpression="SET amount = if_not_exists(amount, :n) + :n",
            ExpressionAttributeValues={":n": {"N": "1"}},
        ),
        lambda: table.batch_write_item(RequestItems={"tenants": [{"PutRequest": {"Item": anna}}]}),
    ]
    refused = [
        lambda: table.put_item(TableName="tenants", Item=boris),
        lambda: table.put_item(TableName="tenants", Item={**anna, "secret": {"N": "1"}}),
        lambda: table.get_item(TableName="tenants", Key=anna, ProjectionExpression="amount, secret"),
        lambda: table.query(
            TableName="tenants",
            KeyConditionExpression="tenant = :t",
            ExpressionAttributeValues={":t": {"S": "boris"}},
        ),
        lambda: table.update_item(TableName="tenants", Key=anna, UpdateExpression="REMOVE secret.part"),
        lambda: table.batch_get_item(RequestItems={"tenants": {"Keys": [anna, boris]}}),
        lambda: table.transact_write_items(TransactItems=[{"Delete": {"TableName": "tenants", "Key": boris}}]),
    ]
    for call in allowed:
        call()
    for call in refused:
        with pytest.raises(ClientError, match="is not authorized to perform"):
            call()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"StringEquals": {"aws:RequestedRegion": "us-east-1"}}, True),
        ({"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}, True),
        ({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}, False),
        ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/asks-*"}}, True),
        ({"StringEquals": {"aws:PrincipalTag/Team": "orders"}}, True),
        ({"StringEquals": {"aws:PrincipalTag/Team": "billing"}}, False),
        ({"StringLike": {"aws:userid": "*:worker"}}, True),
        ({"ArnEquals": {"lambda:SourceFunctionArn": f"arn:aws:lambda:{ACCOUNT}:function:worker"}}, True),
        ({"Bool": {"aws:SecureTransport": "false"}}, False),
        ({"DateLessThan": {"aws:CurrentTime": "2020-01-01T00:00:00Z"}}, False),
        ({"NumericGreaterThan": {"aws:EpochTime": "1577836800"}}, True),
        ({"Null": {"aws:SourceArn": "true"}}, True),
        ({"StringEquals": {"aws:ResourceTag/any": "x"}}, False),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["cost"]}}, True),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["other"]}}, False),
        ({"StringEquals": {"aws:RequestTag/cost": "low"}}, True),
    ],
)
def test_the_keys_of_a_request_decide(cloud: Cloud, condition: dict[str, Any], expected: bool) -> None:
    name = f"asks-{next(_NUMBERS)}"
    role = role_with(cloud, name, allow("sqs:CreateQueue", "*", Condition=condition))
    cloud.client("iam").tag_role(RoleName=name, Tags=[{"Key": "Team", "Value": "orders"}])
    queue = as_function(cloud, role, "sqs")
    if expected:
        queue.create_queue(QueueName=name, tags={"cost": "low"})
    else:
        with pytest.raises(ClientError, match="sqs:createqueue"):
            queue.create_queue(QueueName=name, tags={"cost": "low"})


def test_the_accounts_clock_decides_about_times(cloud: Cloud) -> None:
    from datetime import UTC, datetime

    later = datetime.fromtimestamp(cloud.clock.now() + 3600, UTC).isoformat()
    condition = {"DateGreaterThan": {"aws:CurrentTime": later}}
    queue = as_function(cloud, role_with(cloud, "later", allow("sqs:*", "*", Condition=condition)), "sqs")
    with pytest.raises(ClientError, match="sqs:listqueues"):
        queue.list_queues()
    cloud.skip(3700)
    queue.list_queues()


def test_a_prefix_bounds_what_is_listed_of_a_bucket(cloud: Cloud) -> None:
    cloud.client("s3").create_bucket(Bucket="prefixes")
    condition = {"StringLike": {"s3:prefix": "${aws:PrincipalTag/home}/*"}}
    role = role_with(cloud, "home", allow("s3:ListBucket", "arn:aws:s3:::prefixes", Condition=condition))
    bucket = as_function(cloud, role, "s3")
    with pytest.raises(ClientError, match="s3:ListBucket"):
        bucket.list_objects_v2(Bucket="prefixes", Prefix="anna/orders")
    cloud.client("iam").tag_role(RoleName="home", Tags=[{"Key": "home", "Value": "anna"}])
    assert bucket.list_objects_v2(Bucket="prefixes", Prefix="anna/orders")["KeyCount"] == 0
    for other in ({"Prefix": "boris/"}, {}):
        with pytest.raises(ClientError, match="s3:ListBucket"):
            bucket.list_objects_v2(Bucket="prefixes", **other)


def test_who_may_not_list_a_bucket_does_not_learn_that_an_object_is_missing(cloud: Cloud) -> None:
    cloud.client("s3").create_bucket(Bucket="secretive")
    cloud.client("s3").put_object(Bucket="secretive", Key="there", Body=b"x")
    reads = allow("s3:GetObject", "arn:aws:s3:::secretive/*")
    bucket = as_function(cloud, role_with(cloud, "reader", reads), "s3")
    assert bucket.get_object(Bucket="secretive", Key="there")["Body"].read() == b"x"
    with pytest.raises(ClientError, match=r'AccessDenied.*s3:ListBucket on resource: "arn:aws:s3:::secretive"'):
        bucket.get_object(Bucket="secretive", Key="missing")
    with pytest.raises(ClientError, match="403"):
        bucket.head_object(Bucket="secretive", Key="missing")
    lists = as_function(cloud, role_with(cloud, "lister", reads, allow("s3:ListBucket", "*")), "s3")
    with pytest.raises(ClientError, match="NoSuchKey"):
        lists.get_object(Bucket="secretive", Key="missing")


# --- policies as IAM keeps them ----------------------------------------------------------------------------------


def test_a_permission_that_is_removed_is_missing_in_the_next_call(cloud: Cloud) -> None:
    role = role_with(cloud, "for-now", allow("sqs:*", "*"))
    queue = as_function(cloud, role, "sqs")
    iam = cloud.client("iam")
    for _ in range(3):
        queue.list_queues()
        iam.delete_role_policy(RoleName="for-now", PolicyName="p")
        with pytest.raises(ClientError, match="sqs:listqueues"):
            queue.list_queues()
        document = json.dumps({"Version": "2012-10-17", "Statement": allow("sqs:*", "*")})
        iam.put_role_policy(RoleName="for-now", PolicyName="p", PolicyDocument=document)


def test_another_default_version_of_a_policy_counts_at_once(cloud: Cloud) -> None:
    role = role_with(cloud, "versions")
    iam = cloud.client("iam")
    statements = [allow("sqs:*", "*", how) for how in ("Allow", "Deny")]
    documents = [json.dumps({"Version": "2012-10-17", "Statement": one}) for one in statements]
    policy = iam.create_policy(PolicyName="versions", PolicyDocument=documents[0])["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="versions", PolicyArn=policy)
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "allowed"
    iam.create_policy_version(PolicyArn=policy, PolicyDocument=documents[1], SetAsDefault=True)
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "denied"
    iam.set_default_policy_version(PolicyArn=policy, VersionId="v1")
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "allowed"


def test_a_role_made_again_has_none_of_the_old_rights(cloud: Cloud) -> None:
    role = role_with(cloud, "again", allow("*", "*"))
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "allowed"
    iam = cloud.client("iam")
    with pytest.raises(ClientError, match="DeleteConflict"):
        iam.delete_role(RoleName="again")
    iam.delete_role_policy(RoleName="again", PolicyName="p")
    iam.delete_role(RoleName="again")
    assert role_with(cloud, "again") == role
    assert permissions.decide(role, "sqs:SendMessage", QUEUE) == "not allowed"


@pytest.mark.parametrize("name", ["AWSLambdaBasicExecutionRole", "AWSLambdaSQSQueueExecutionRole"])
def test_policies_that_aws_manages_can_be_attached(cloud: Cloud, name: str) -> None:
    role = role_with(cloud, name)
    iam = cloud.client("iam")
    arn = f"arn:aws:iam::aws:policy/service-role/{name}"
    iam.attach_role_policy(RoleName=name, PolicyArn=arn)
    assert iam.get_policy(PolicyArn=arn)["Policy"]["PolicyName"] == name
    assert permissions.decide(role, "logs:PutLogEvents", LOGS) == "allowed"
    assert (permissions.decide(role, "sqs:ReceiveMessage", QUEUE) == "allowed") is ("SQS" in name)
    with pytest.raises(ClientError, match="DeleteConflict"):
        iam.delete_role(RoleName=name)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("not JSON", "Syntax errors in policy."),
        ('{"Version": "2012-10-17"}', "Syntax errors in policy."),
        ({"Effect": "Perhaps", "Action": "*", "Resource": "*"}, "Syntax errors in policy."),
        ({"Effect": "Allow", "Resource": "*"}, "Policy statement must contain actions."),
        ({"Effect": "Allow", "Action": "sqs:*"}, "Policy statement must contain resources."),
        ({"Effect": "Allow", "Action": "SendMessage", "Resource": "*"}, "Actions/Conditions must be prefaced"),
        ({"Effect": "Allow", "Action": "sqs:*", "Resource": "jobs"}, 'Resource jobs must be in ARN format or "*".'),
        (allow("sqs:*", "*", Condition={"StringSame": {"aws:username": "x"}}), "Syntax errors in policy."),
    ],
)
def test_a_malformed_policy_is_refused(cloud: Cloud, document: Any, message: str) -> None:
    name = f"malformed-{next(_NUMBERS)}"
    role_with(cloud, name)
    text = document if isinstance(document, str) else json.dumps({"Version": "2012-10-17", "Statement": document})
    with pytest.raises(ClientError) as refusal:
        cloud.client("iam").put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=text)
    assert refusal.value.response["Error"]["Code"] == "MalformedPolicyDocument"
    assert refusal.value.response["Error"]["Message"].startswith(message)


# --- roles at work -----------------------------------------------------------------------------------------------


def trusting(*principals: str, **condition: Any) -> str:
    statement = {"Effect": "Allow", "Principal": {"AWS": list(principals)}, "Action": "sts:AssumeRole", **condition}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_who_assumed_a_role_has_its_rights_and_no_others(cloud: Cloud) -> None:
    iam, sts = cloud.client("iam"), cloud.client("sts")
    role = iam.create_role(RoleName="assumed", AssumeRolePolicyDocument=trusting("123456789012"))["Role"]["Arn"]
    document = json.dumps({"Version": "2012-10-17", "Statement": allow("sqs:ListQueues", "*")})
    iam.put_role_policy(RoleName="assumed", PolicyName="p", PolicyDocument=document)
    keys = sts.assume_role(RoleArn=role, RoleSessionName="trial")["Credentials"]
    client_with(cloud, keys["AccessKeyId"], "sqs").list_queues()
    with pytest.raises(ClientError, match=r"assumed-role/assumed/trial is not authorized to perform: dynamodb:List"):
        client_with(cloud, keys["AccessKeyId"], "dynamodb").list_tables()


@pytest.mark.parametrize(
    ("trust", "outside", "expected"),
    [
        (TRUST, {}, False),
        (trusting("arn:aws:iam::123456789012:root"), {}, True),
        (trusting("*"), {}, True),
        (trusting("arn:aws:iam::999999999999:root"), {}, False),
        (trusting("*", Condition={"StringEquals": {"sts:ExternalId": "outside"}}), {}, False),
        (trusting("*", Condition={"StringEquals": {"sts:ExternalId": "outside"}}), {"ExternalId": "outside"}, True),
    ],
)
def test_only_whom_its_trust_policy_names_may_assume_a_role(
    cloud: Cloud, trust: str, outside: dict[str, str], expected: bool
) -> None:
    name = f"trust-{next(_NUMBERS)}"
    role = cloud.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    sts = cloud.client("sts")
    if expected:
        sts.assume_role(RoleArn=role, RoleSessionName="trial", **outside)
    else:
        with pytest.raises(ClientError, match=r"AccessDenied.*sts:AssumeRole on resource: " + role):
            sts.assume_role(RoleArn=role, RoleSessionName="trial", **outside)


HANDLER = """
import boto3
from botocore.exceptions import ClientError

def handler(event, context):
    print("seen")
    try:
        boto3.client("dynamodb").put_item(TableName="orders", Item={"id": {"S": "a"}})
    except ClientError as refusal:
        return refusal.response["Error"]
    return "stored"
"""


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    return Stage(cloud)


@pytest.fixture(scope="module")
def worker(cloud: Cloud, stage: Stage) -> tuple[Deployer, str]:
    """A deployed function whose role may write into no table."""
    deployer = stage.functions
    cloud.client("dynamodb").create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    cloud.client("dynamodb").get_waiter("table_exists").wait(TableName="orders")
    return deployer, deployer.create(HANDLER, Timeout=20, Role=role_with(cloud, "handler-role"))


def test_a_handler_is_refused_what_its_role_does_not_allow_and_allowed_it_the_moment_it_does(
    cloud: Cloud, worker: tuple[Deployer, str]
) -> None:
    deployer, name = worker
    refused, _ = deployer.invoke(name)
    assert refused["Code"] == "AccessDeniedException"
    assert f"assumed-role/handler-role/{name} is not authorized to perform: dynamodb:PutItem" in refused["Message"]
    document = json.dumps({"Version": "2012-10-17", "Statement": allow("dynamodb:PutItem", TABLE)})
    cloud.client("iam").put_role_policy(RoleName="handler-role", PolicyName="p", PolicyDocument=document)
    assert deployer.invoke(name)[0] == "stored"
    cloud.client("iam").delete_role_policy(RoleName="handler-role", PolicyName="p")
    assert deployer.invoke(name)[0]["Code"] == "AccessDeniedException"


@pytest.mark.parametrize("missing", ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"])
def test_a_function_without_a_right_on_logs_runs_and_leaves_no_events(
    cloud: Cloud, worker: tuple[Deployer, str], missing: str
) -> None:
    deployer, _ = worker
    role = role_with(cloud, f"no-logs-{next(_NUMBERS)}", allow("logs:*", "*"), allow(missing, "*", "Deny"))
    name = deployer.create("def handler(event, context):\n    print('seen')\n    return 1", Role=role)
    group = f"/aws/lambda/{name}"
    assert deployer.invoke(name)[0] == 1
    logs = cloud.client("logs")
    found = [group["logGroupName"] for group in logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]]
    assert found == [] or not logs.filter_log_events(logGroupName=group)["events"]
    cloud.client("iam").delete_role_policy(RoleName=role.rpartition("/")[2], PolicyName="p")
    document = json.dumps({"Version": "2012-10-17", "Statement": allow("logs:*", "*")})
    cloud.client("iam").put_role_policy(RoleName=role.rpartition("/")[2], PolicyName="p", PolicyDocument=document)
    assert deployer.invoke(name)[0] == 1
    assert "seen\n" in deployer.log(name)


def test_a_call_of_a_workflow_has_no_address(cloud: Cloud) -> None:
    anywhere = {"IpAddress": {"aws:SourceIp": "0.0.0.0/0"}}
    role = role_with(cloud, "workflow-address", allow("sqs:ListQueues", "*", Condition=anywhere))
    as_function(cloud, role, "sqs").list_queues()
    with pytest.raises(ClientError, match="sqs:listqueues"):
        as_function(cloud, role, "sqs", kind="workflow").list_queues()


def test_a_task_token_needs_the_right_on_the_state_machine_that_waits_for_it(cloud: Cloud, stage: Stage) -> None:
    url = cloud.client("sqs").create_queue(QueueName="tokens")["QueueUrl"]
    ask = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"QueueUrl": url, "MessageBody": {"token.$": "$$.Task.Token"}},
        "End": True,
    }
    machine = stage.machine({"Ask": ask}, roleArn=stage.new_role(allowing("sqs:SendMessage")))
    stage.start(machine)
    cloud.settle()
    token = json.loads(cloud.client("sqs").receive_message(QueueUrl=url)["Messages"][0]["Body"])["token"]
    other = as_function(cloud, role_with(cloud, "tells-others", allow("states:*", machine + "-2")), "stepfunctions")
    with pytest.raises(ClientError, match="states:SendTaskSuccess on resource: " + machine):
        other.send_task_success(taskToken=token, output="{}")
    right = as_function(cloud, role_with(cloud, "tells", allow("states:SendTaskSuccess", machine)), "stepfunctions")
    right.send_task_success(taskToken=token, output="{}")


# --- requests of any shape ---------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from(["orders", "id", "#a", ":v", "id = :v", "arn:aws:x", ""]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["id", "S", "Key", "Item", "Put", "PutRequest", "Keys", "orders"]), inner),
    ),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    [
        *("TableName", "TableArn", "IndexName", "Item", "Key", "TransactItems", "RequestItems", "Statement"),
        *("Statements", "ExpressionAttributeNames", "ExpressionAttributeValues", "KeyConditions", "AttributesToGet"),
        *("KeyConditionExpression", "ProjectionExpression", "Expected", "QueueUrl", "QueueName", "SourceArn", "Tags"),
        *(
            "FunctionName",
            "Qualifier",
            "UUID",
            "Role",
            "taskToken",
            "stateMachineArn",
            "name",
            "Bucket",
            "logGroupName",
        ),
        *("Entries", "Targets", "Rule", "Name", "TopicArn", "RoleName", "PolicyArn", "RoleArn"),
    ]
)
NAMES = [
    *("dynamodb:PutItem", "dynamodb:Query", "dynamodb:TransactWriteItems", "dynamodb:BatchWriteItem"),
    *("dynamodb:BatchGetItem", "dynamodb:ExecuteStatement", "dynamodb:BatchExecuteStatement", "sqs:SendMessage"),
    *("sqs:StartMessageMoveTask", "lambda:CreateFunction", "lambda:CreateEventSourceMapping", "lambda:TagResource"),
    *("states:SendTaskSuccess", "states:CreateStateMachine", "s3:DeleteObjects", "s3:CopyObject", "logs:PutLogEvents"),
    *("events:PutEvents", "events:PutTargets", "sns:Publish", "iam:AttachRolePolicy", "sts:AssumeRole", "ec2:Any"),
]


@pytest.fixture(scope="module")
def asking_role(cloud: Cloud, worker: Any) -> str:
    """A role whose policy asks for each key that is read out of a request's body."""
    keys = ("LeadingKeys", "Attributes", "Select", "ReturnValues")
    asked = {f"dynamodb:{key}": "id" for key in keys} | {"aws:TagKeys": "id", "aws:RequestTag/id": "id"}
    condition = {"ForAllValues:StringEquals": asked}
    return role_with(
        cloud,
        "asks-all",
        *(allow("*", "*", Condition={"StringLike": {key: "*"}}) for key in asked),
        allow("*", "*", Condition=condition),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(NAMES), parameters=st.dictionaries(MEMBERS, VALUES, max_size=5), body=st.binary(max_size=8))
def test_a_request_of_any_shape_is_allowed_or_refused_and_no_failure(
    cloud: Cloud, asking_role: str, name: str, parameters: dict[str, Any], body: bytes
) -> None:
    service, _, action = name.partition(":")
    caller = Caller("function", "worker", "request", asking_role)
    answer = permissions.gate(cloud.clock.now)(Exchange({}, body, service, action, parameters, caller, "id"))
    assert answer is None or answer.status in {400, 403}
