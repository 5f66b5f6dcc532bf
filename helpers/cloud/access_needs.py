"""What a call needs: the actions and the ARNs that a role's policies must allow for it.

Source: Service Authorization Reference, "Actions, resources, and condition keys" of each service; dependent actions
(a copy reads and writes, who creates a function passes its role on) from the services' own pages on permissions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree

from .environment import ACCOUNT_ID, REGION
from .exchange import Exchange
from .function_names import split_name
from .policies import role_of


class Need(NamedTuple):
    """One thing that a call needs: an action on a resource.

    `parts` are the members of the request that it is about (one element for a single write, several for a batch),
    `keys` further condition keys in small letters, `shown` the resource as the service writes it in its messages.
    """

    action: str
    resource: str
    parts: Sequence[Mapping[str, Any]] = ()
    keys: Mapping[str, list[str]] = {}
    shown: str = ""


def needs(exchange: Exchange) -> Iterator[Need]:
    """All that a call needs, in the order in which AWS looks."""
    find = _SERVICES.get(exchange.service)
    if find is None:
        yield Need(exchange.name, "*")
    else:
        yield from find(exchange)


def arn(service: str, resource: str) -> str:
    """The ARN of something in the account's region."""
    return f"arn:aws:{service}:{REGION}:{ACCOUNT_ID}:{resource}"


def _pass_role(role: object, service: str) -> Iterator[Need]:
    if role:
        yield Need("iam:PassRole", str(role), keys={"iam:passedtoservice": [f"{service}.amazonaws.com"]})


# --- SQS -------------------------------------------------------------------------------------------------------

_SINGLE = {
    "SendMessageBatch": "SendMessage",
    "DeleteMessageBatch": "DeleteMessage",
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
}


def _sqs(exchange: Exchange) -> Iterator[Need]:
    parameters, action = exchange.parameters, _SINGLE.get(exchange.action, exchange.action)
    resource = parameters.get("SourceArn")
    if not resource:
        url = str(parameters.get("QueueUrl") or parameters.get("QueueName") or "")
        # Without a queue SQS asks about the account: "sqs:listqueues on resource: arn:aws:sqs:REGION:ACCOUNT:".
        resource = arn("sqs", url.rpartition("/")[2])
    moves = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes") if action == "StartMessageMoveTask" else ()
    for name in (action, *moves):
        yield Need(f"sqs:{name.lower()}", str(resource))  # SQS writes its actions in small letters
    if action == "StartMessageMoveTask" and parameters.get("DestinationArn"):
        yield Need("sqs:sendmessage", str(parameters["DestinationArn"]))


# --- DynamoDB --------------------------------------------------------------------------------------------------

_TRANSACTION = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
_STATEMENTS = {"SELECT": "PartiQLSelect", "INSERT": "PartiQLInsert", "UPDATE": "PartiQLUpdate"}
_PARTIQL = re.compile(
    r"\s*(select)\b.*?\bfrom\s+([^\s(]+)|\s*(insert)\s+into\s+([^\s(]+)|\s*(update)\s+([^\s(]+)"
    r"|\s*(delete)\s+from\s+([^\s(]+)",
    re.IGNORECASE | re.DOTALL,
)


def table_arn(name: str, index: str = "") -> str:
    """The ARN of a table, or of one of its indexes."""
    table = name if name.startswith("arn:") else arn("dynamodb", f"table/{name}")
    return f"{table}/index/{index}" if index else table


def _dynamodb(exchange: Exchange) -> Iterator[Need]:
    action, parameters = exchange.action, exchange.parameters
    if action in {"TransactWriteItems", "TransactGetItems"}:
        for entry in as_dicts(parameters.get("TransactItems")):
            for kind, members in entry.items():
                table = table_arn(str(as_dict(members).get("TableName", "")))
                keys = {"dynamodb:enclosingoperation": [action]}
                yield Need(f"dynamodb:{_TRANSACTION.get(kind, kind)}", table, (as_dict(members),), keys)
    elif action in {"BatchWriteItem", "BatchGetItem"}:
        for table, wanted in as_dict(parameters.get("RequestItems")).items():
            yield Need(f"dynamodb:{action}", table_arn(table), _batch_parts(str(table), wanted))
    elif action in {"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"}:
        members = parameters.get("Statements") or parameters.get("TransactStatements") or [parameters]
        for one in as_dicts(members):
            yield _partiql(str(one.get("Statement", "")))
    else:
        name = parameters.get("TableName") or parameters.get("TableArn") or parameters.get("ResourceArn")
        name = name or parameters.get("StreamArn") or parameters.get("BackupArn") or "*"
        yield Need(f"dynamodb:{action}", table_arn(str(name), str(parameters.get("IndexName") or "")), (parameters,))


def _batch_parts(table: str, wanted: Any) -> list[Mapping[str, Any]]:
    if isinstance(wanted, list):  # writes
        found = [as_dict(one.get("PutRequest") or one.get("DeleteRequest")) for one in as_dicts(wanted)]
        return [{"TableName": table, **one} for one in found]
    read = {name: value for name, value in as_dict(wanted).items() if name != "Keys"}
    return [{"TableName": table, **read, "Key": key} for key in as_dicts(as_dict(wanted).get("Keys"))]


def _partiql(statement: str) -> Need:
    found = _PARTIQL.match(statement)
    if found is None:
        return Need("dynamodb:PartiQLSelect", table_arn("*"))
    kind, target = [group for group in found.groups() if group is not None]
    parts = [part for part in target.replace('"', "").split(".") if part]
    return Need(f"dynamodb:{_STATEMENTS.get(kind.upper(), 'PartiQLDelete')}", table_arn(*parts[:2]))


# --- Lambda ----------------------------------------------------------------------------------------------------


def function_arn(name: str, qualifier: str = "") -> str:
    """The ARN of a function from its name, partial or full ARN; with the qualifier, if there is any."""
    if "*" in name:
        return arn("lambda", f"function:{name}")
    plain, given = split_name(name)
    suffix = qualifier or given
    return arn("lambda", f"function:{plain}" + (f":{suffix}" if suffix else ""))


def _lambda(exchange: Exchange) -> Iterator[Need]:
    action, parameters = exchange.action, exchange.parameters
    operation = "InvokeFunction" if action.startswith("Invoke") else action
    keys: dict[str, list[str]] = {}
    name = str(parameters.get("FunctionName") or "")
    resource = "*"
    if "EventSourceMapping" in action:
        if parameters.get("UUID"):
            resource = arn("lambda", f"event-source-mapping:{parameters['UUID']}")
        if name:
            keys["lambda:functionarn"] = [function_arn(name)]
    elif name:
        resource = function_arn(name, str(parameters.get("Qualifier") or ""))
    elif parameters.get("LayerName"):
        version = parameters.get("VersionNumber")
        resource = arn("lambda", f"layer:{parameters['LayerName']}" + (f":{version}" if version else ""))
    elif str(parameters.get("Resource", "")).startswith("arn:"):
        resource = str(parameters["Resource"])
    if action == "AddPermission" and parameters.get("Principal"):
        keys["lambda:principal"] = [str(parameters["Principal"])]
    yield Need(f"lambda:{operation}", resource, keys=keys)
    if action in {"CreateFunction", "UpdateFunctionConfiguration"}:
        yield from _pass_role(parameters.get("Role"), "lambda")


# --- Step Functions --------------------------------------------------------------------------------------------


def _states(exchange: Exchange) -> Iterator[Need]:
    action, parameters = exchange.action, exchange.parameters
    named = ("stateMachineArn", "executionArn", "stateMachineAliasArn", "stateMachineVersionArn", "activityArn")
    found = next((parameters[name] for name in (*named, "mapRunArn", "resourceArn") if parameters.get(name)), None)
    resource = str(found) if found else ""
    if not resource and parameters.get("name"):
        kind = {"CreateStateMachine": "stateMachine", "CreateActivity": "activity"}.get(action)
        resource = arn("states", f"{kind}:{parameters['name']}") if kind else ""
    if not resource and parameters.get("taskToken"):
        resource = _machine_of_task(str(parameters["taskToken"]))
    if not resource:
        lists = {"ListStateMachines": "stateMachine:*", "ListActivities": "activity:*"}
        resource = arn("states", lists[action]) if action in lists else "*"
    yield Need(f"states:{action}", resource)
    if action in {"CreateStateMachine", "UpdateStateMachine", "TestState"}:
        yield from _pass_role(parameters.get("roleArn"), "states")


def _machine_of_task(token: str) -> str:
    """The state machine that waits for a task token; empty when none does: Step Functions then says so itself."""
    from .account import the_open_account

    name = the_open_account().workflows.machine_of_task(token)
    return arn("states", f"stateMachine:{name}") if name else ""


# --- S3 --------------------------------------------------------------------------------------------------------

_S3_ACTIONS = {
    "ListBuckets": "ListAllMyBuckets",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "HeadBucket": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListParts": "ListMultipartUploadParts",
    "HeadObject": "GetObject",
    "SelectObjectContent": "GetObject",
    "CopyObject": "PutObject",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "UploadPartCopy": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "DeleteObjects": "DeleteObject",
    "GetBucketNotificationConfiguration": "GetBucketNotification",
    "PutBucketNotificationConfiguration": "PutBucketNotification",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
    "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "DeleteBucketLifecycle": "PutLifecycleConfiguration",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "DeleteBucketEncryption": "PutEncryptionConfiguration",
    "GetBucketReplication": "GetReplicationConfiguration",
    "PutBucketReplication": "PutReplicationConfiguration",
    "DeleteBucketReplication": "PutReplicationConfiguration",
    "GetBucketCors": "GetBucketCORS",
    "PutBucketCors": "PutBucketCORS",
    "DeleteBucketCors": "PutBucketCORS",
    "DeleteBucketTagging": "PutBucketTagging",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
    "DeletePublicAccessBlock": "PutBucketPublicAccessBlock",
    "GetBucketAccelerateConfiguration": "GetAccelerateConfiguration",
    "PutBucketAccelerateConfiguration": "PutAccelerateConfiguration",
    "GetObjectLockConfiguration": "GetBucketObjectLockConfiguration",
    "PutObjectLockConfiguration": "PutBucketObjectLockConfiguration",
}
_OF_VERSIONS = {
    "GetObject": "GetObjectVersion",
    "DeleteObject": "DeleteObjectVersion",
    "GetObjectAcl": "GetObjectVersionAcl",
    "PutObjectAcl": "PutObjectVersionAcl",
    "GetObjectTagging": "GetObjectVersionTagging",
    "PutObjectTagging": "PutObjectVersionTagging",
    "DeleteObjectTagging": "DeleteObjectVersionTagging",
    "GetObjectAttributes": "GetObjectVersionAttributes",
}


def _s3(exchange: Exchange) -> Iterator[Need]:
    action, parameters = exchange.action, exchange.parameters
    bucket, key = str(parameters.get("Bucket", "")), str(parameters.get("Key", ""))
    operation = _S3_ACTIONS.get(action, action)
    if action in {"CopyObject", "UploadPartCopy"}:
        source, _, version = unquote(exchange.header("x-amz-copy-source")).lstrip("/").partition("?versionId=")
        yield s3_need("GetObjectVersion" if version else "GetObject", *source.split("/", 1))
    if action == "DeleteObjects":
        for name, version in _to_delete(exchange.body):
            yield s3_need("DeleteObjectVersion" if version else "DeleteObject", bucket, name)
        return
    if parameters.get("versionId"):
        operation = _OF_VERSIONS.get(operation, operation)
    yield s3_need(operation, bucket, key)
    if operation == "PutObject":
        if exchange.header("x-amz-acl"):
            yield s3_need("PutObjectAcl", bucket, key)
        if exchange.header("x-amz-tagging"):
            yield s3_need("PutObjectTagging", bucket, key)
    if action == "GetObjectAttributes":
        yield s3_need("GetObjectVersion" if parameters.get("versionId") else "GetObject", bucket, key)


def s3_need(action: str, bucket: str = "", key: str = "") -> Need:
    """What S3 needs for an object, a bucket or all buckets. Its messages put the ARN into quotation marks."""
    resource = f"arn:aws:s3:::{bucket}/{key}" if key else f"arn:aws:s3:::{bucket or '*'}"
    return Need(f"s3:{action}", resource, shown=f'"{resource}"')


def _to_delete(body: bytes) -> Iterator[tuple[str, str]]:
    """Key and version of each object that a DeleteObjects names; S3 itself answers to XML that cannot be read."""
    try:
        objects = ElementTree.fromstring(body).iter()
    except ElementTree.ParseError:
        return
    for element in objects:
        if element.tag.rpartition("}")[2] == "Object":
            found = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
            yield found.get("Key", ""), found.get("VersionId", "")


# --- Logs, events, SNS, IAM and STS ----------------------------------------------------------------------------


def log_arn(group: str, stream: str = "") -> str:
    """The ARN of a log stream; Logs writes that of a group in the same way, with nothing for the stream."""
    return arn("logs", f"log-group:{group}:log-stream:{stream}")


def _logs(exchange: Exchange) -> Iterator[Need]:
    parameters = exchange.parameters
    given = str(parameters.get("logGroupIdentifier") or parameters.get("resourceArn") or "")
    if given.startswith("arn:"):
        resource = given
    else:
        stream = str(parameters.get("logStreamName") or "")
        resource = log_arn(str(parameters.get("logGroupName") or given), stream)
    yield Need(f"logs:{exchange.action}", resource)


def _events(exchange: Exchange) -> Iterator[Need]:
    action, parameters = exchange.action, exchange.parameters
    if action == "PutEvents":
        buses = {str(entry.get("EventBusName") or "default") for entry in as_dicts(parameters.get("Entries"))}
        for bus in sorted(buses):
            yield Need("events:PutEvents", bus if bus.startswith("arn:") else arn("events", f"event-bus/{bus}"))
        return
    rule = parameters.get("Rule") or (parameters.get("Name") if "Rule" in action else "")
    bus = str(parameters.get("EventBusName") or "default").rpartition("/")[2]
    if rule:
        resource = arn("events", f"rule/{rule}" if bus == "default" else f"rule/{bus}/{rule}")
    elif parameters.get("Name") and "EventBus" in action:
        resource = arn("events", f"event-bus/{parameters['Name']}")
    else:
        resource = arn("events", "rule/*") if action == "ListRules" else "*"
    yield Need(f"events:{action}", resource)
    yield from _pass_role(parameters.get("RoleArn"), "events")
    for target in as_dicts(parameters.get("Targets")):
        yield from _pass_role(target.get("RoleArn"), "events")


def _sns(exchange: Exchange) -> Iterator[Need]:
    parameters = exchange.parameters
    resource = parameters.get("TopicArn") or parameters.get("TargetArn") or parameters.get("ResourceArn")
    if not resource and parameters.get("SubscriptionArn"):
        resource = str(parameters["SubscriptionArn"]).rpartition(":")[0]
    if not resource:
        resource = parameters.get("PhoneNumber") or arn("sns", str(parameters.get("Name") or "*"))
    yield Need(f"SNS:{exchange.action}", str(resource))


def _iam(exchange: Exchange) -> Iterator[Need]:
    action, parameters = exchange.action, exchange.parameters
    keys = {"iam:policyarn": [str(parameters["PolicyArn"])]} if parameters.get("PolicyArn") else {}
    path = str(parameters.get("Path") or "/")
    for member, kind in (("RoleName", "role"), ("UserName", "user"), ("GroupName", "group")):
        name = parameters.get(member)
        if name:
            resource = _existing(kind, str(name)) or f"arn:aws:iam::{ACCOUNT_ID}:{kind}{path}{name}"
            yield Need(f"iam:{action}", resource, keys=keys, shown="" if "Create" in action else f"{kind} {name}")
            return
    if parameters.get("PolicyArn"):
        policy = str(parameters["PolicyArn"])
        yield Need(f"iam:{action}", policy, keys=keys, shown=f"policy {policy}")
    elif parameters.get("PolicyName"):
        name = parameters["PolicyName"]
        yield Need(f"iam:{action}", f"arn:aws:iam::{ACCOUNT_ID}:policy{path}{name}", shown=f"policy {name}")
    else:
        lists = {"ListRoles": "role/", "ListUsers": "user/", "ListGroups": "group/", "ListPolicies": "policy/"}
        yield Need(f"iam:{action}", f"arn:aws:iam::{ACCOUNT_ID}:{lists[action]}" if action in lists else "*")


def _existing(kind: str, name: str) -> str:
    """The ARN of a role that is there: its path belongs to it."""
    if kind != "role":
        return ""
    from moto.iam.models import iam_backends

    roles = tuple(iam_backends[ACCOUNT_ID]["aws"].roles.values())
    return next((str(role.arn) for role in roles if role.name == name), "")


def _sts(exchange: Exchange) -> Iterator[Need]:
    parameters = exchange.parameters
    keys = {
        f"sts:{name.lower()}": [str(parameters[name])]
        for name in ("RoleSessionName", "ExternalId")
        if parameters.get(name)
    }
    role = str(parameters.get("RoleArn") or "*")
    found = role_of(role)
    yield Need(f"sts:{exchange.action}", str(found.arn) if found else role, keys=keys)


def as_dict(value: Any) -> Mapping[str, Any]:
    """A member of a request as a mapping; what is none is empty, and the service itself refuses it afterwards."""
    return value if isinstance(value, dict) else {}


def as_dicts(value: Any) -> list[Mapping[str, Any]]:
    """A member of a request as a list of mappings; what is none is left out."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


_SERVICES: dict[str, Callable[[Exchange], Iterator[Need]]] = {
    "sqs": _sqs,
    "dynamodb": _dynamodb,
    "lambda": _lambda,
    "states": _states,
    "s3": _s3,
    "logs": _logs,
    "events": _events,
    "sns": _sns,
    "iam": _iam,
    "sts": _sts,
}
