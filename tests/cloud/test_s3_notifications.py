"""What S3 tells queues and functions about the objects of a bucket.

Sources: Amazon S3 User Guide, "Amazon S3 Event Notifications" and its pages "Event message structure", "Granting
permissions to publish event notification messages to a destination" and "Configuring event notifications using object
key name filtering". Fields, errors and sentences are recorded against AWS.
"""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import urllib.parse
from typing import Any

import pytest

from helpers.cloud import Cloud
from helpers.cloud.journal import MessageSent
from tests.cloud.deploying import TRUST, Deployer
from tests.cloud.queue_stage import Stage
from tests.cloud.refusals import refusal

ARN = "arn:aws:sqs:us-east-1:123456789012:"
CREATED, REMOVED = "s3:ObjectCreated:*", "s3:ObjectRemoved:*"
UNUSABLE = "Unable to validate the following destination configurations"
NOT_ALLOWED = "Permissions on the destination queue do not allow S3 to publish notifications from this bucket"
_numbers = itertools.count(1)


class Shop:
    """A bucket and a queue whose policy lets S3 send for it."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud, self.s3, self.sqs = cloud, cloud.client("s3"), cloud.client("sqs")
        number = next(_numbers)
        self.bucket, self.queue = f"orders-{number}", f"uploads-{number}"
        self.s3.create_bucket(Bucket=self.bucket)
        self.url = self.sqs.create_queue(QueueName=self.queue)["QueueUrl"]
        self.arn = ARN + self.queue
        self.allow(self.statement())

    def statement(self, **changes: Any) -> dict[str, Any]:
        source = {"aws:SourceArn": f"arn:aws:s3:::{self.bucket}"}
        condition = {"ArnLike": source, "StringEquals": {"aws:SourceAccount": "123456789012"}}
        return {
            "Effect": "Allow",
            "Principal": {"Service": "s3.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": self.arn,
            "Condition": condition,
            **changes,
        }

    def allow(self, *statements: dict[str, Any]) -> None:
        policy = json.dumps({"Version": "2012-10-17", "Statement": list(statements)}) if statements else ""
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"Policy": policy})

    def rule(self, *events: str, prefix: str = "", suffix: str = "", **members: Any) -> dict[str, Any]:
        rules = [{"Name": name, "Value": value} for name, value in (("prefix", prefix), ("suffix", suffix)) if value]
        filters = {"Filter": {"Key": {"FilterRules": rules}}} if rules else {}
        return {"QueueArn": self.arn, "Events": list(events or (CREATED,)), **filters, **members}

    def configure(self, *rules: dict[str, Any], **options: Any) -> None:
        self.s3.put_bucket_notification_configuration(
            Bucket=self.bucket, NotificationConfiguration={"QueueConfigurations": list(rules)}, **options
        )

    def refusal(self, *rules: dict[str, Any], **options: Any) -> dict[str, Any]:
        configuration = {"QueueConfigurations": list(rules)}
        call = self.s3.put_bucket_notification_configuration
        return refusal(call, Bucket=self.bucket, NotificationConfiguration=configuration, **options)

    def put(self, key: str, body: bytes = b"order", **members: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.s3.put_object(Bucket=self.bucket, Key=key, Body=body, **members)
        return answer

    def messages(self) -> list[dict[str, Any]]:
        """The bodies that the queue holds, which are deleted."""
        self.cloud.settle()
        found = []
        while received := self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages"):
            for message in received:
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
                found.append(json.loads(message["Body"]))
        return found

    def records(self) -> list[dict[str, Any]]:
        """The records of the events, the test event apart."""
        return [record for message in self.messages() for record in message.get("Records", [])]


@pytest.fixture
def shop(cloud: Cloud) -> Shop:
    return Shop(cloud)


def test_the_first_message_is_a_test_event_without_records(shop: Shop) -> None:
    """Recorded shape: a worker must recognise and drop it."""
    shop.configure(shop.rule())
    shop.put("first")
    test, event = shop.messages()
    assert list(test) == ["Service", "Event", "Time", "Bucket", "RequestId", "HostId"]
    assert (test["Service"], test["Event"], test["Bucket"]) == ("Amazon S3", "s3:TestEvent", shop.bucket)
    assert event["Records"][0]["s3"]["object"]["key"] == "first"


def test_a_record_has_the_recorded_fields(cloud: Cloud, shop: Shop) -> None:
    shop.configure(shop.rule(Id="uploads"))
    answer = shop.put("folder/order.json", b"content")
    (record,) = shop.records()
    sequencer = record["s3"]["object"].pop("sequencer")
    assert int(sequencer, 16) > 0
    ids = answer["ResponseMetadata"]
    assert record.pop("eventTime").endswith("Z")
    assert record == {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": "us-east-1",
        "eventName": "ObjectCreated:Put",
        "userIdentity": {"principalId": "AWS:AIDAIT2UOQQY3AUEKVGXU"},
        "requestParameters": {"sourceIPAddress": "127.0.0.1"},
        "responseElements": {"x-amz-request-id": ids["RequestId"], "x-amz-id-2": ids["HostId"]},
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "uploads",
            "bucket": {
                "name": shop.bucket,
                "ownerIdentity": {"principalId": "A2O1WG4ZNK7SHQ"},
                "arn": f"arn:aws:s3:::{shop.bucket}",
            },
            "object": {
                "key": "folder/order.json",
                "size": 7,
                "eTag": hashlib.md5(b"content").hexdigest(),
            },
        },
    }


@pytest.mark.parametrize(
    ("key", "encoded"),
    [
        ("a@b", "a%40b"),  # recorded
        ("red flower.jpg", "red+flower.jpg"),  # User Guide
        ("year/2026/order 1.json", "year/2026/order+1.json"),
        ("1+1=2", "1%2B1%3D2"),
        ("élève/œuvre", "%C3%A9l%C3%A8ve/%C5%93uvre"),
        ("заказ", "%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7"),
        ("100% & more?", "100%25+%26+more%3F"),
        ("a_b-c.d", "a_b-c.d"),
    ],
)
def test_a_key_is_url_encoded_and_its_slashes_are_kept(shop: Shop, key: str, encoded: str) -> None:
    """User Guide, "Event message structure": the key is URL encoded; `unquote_plus` gives it back."""
    shop.configure(shop.rule())
    shop.put(key)
    (record,) = shop.records()
    assert record["s3"]["object"]["key"] == encoded
    assert urllib.parse.unquote_plus(encoded) == key


def test_each_way_to_make_or_remove_an_object_has_its_own_event(shop: Shop) -> None:
    """Recorded: one event for each call, without size and eTag when the object is gone."""
    shop.configure(shop.rule(CREATED, REMOVED))
    shop.put("one")
    shop.s3.copy_object(Bucket=shop.bucket, Key="two", CopySource=f"{shop.bucket}/one")
    upload = {"Bucket": shop.bucket, "Key": "three"}
    upload["UploadId"] = shop.s3.create_multipart_upload(**upload)["UploadId"]
    part = shop.s3.upload_part(**upload, PartNumber=1, Body=b"x" * 6144)["ETag"]
    parts = {"Parts": [{"ETag": part, "PartNumber": 1}]}
    shop.s3.complete_multipart_upload(**upload, MultipartUpload=parts)
    shop.s3.delete_object(Bucket=shop.bucket, Key="one")
    several = {"Objects": [{"Key": "two"}, {"Key": "three"}]}
    shop.s3.delete_objects(Bucket=shop.bucket, Delete=several)
    records = shop.records()
    assert [(record["eventName"], record["s3"]["object"]["key"]) for record in records] == [
        ("ObjectCreated:Put", "one"),
        ("ObjectCreated:Copy", "two"),
        ("ObjectCreated:CompleteMultipartUpload", "three"),
        ("ObjectRemoved:Delete", "one"),
        ("ObjectRemoved:Delete", "two"),
        ("ObjectRemoved:Delete", "three"),
    ]
    assert records[2]["s3"]["object"]["size"] == 6144
    assert records[2]["s3"]["object"]["eTag"].endswith("-1")
    assert [set(record["s3"]["object"]) for record in records[3:]] == [{"key", "sequencer"}] * 3
    sequencers = [record["s3"]["object"]["sequencer"] for record in records]
    assert sequencers == sorted(set(sequencers))


def test_events_of_tags_have_a_later_version_and_less_to_say(shop: Shop) -> None:
    """Recorded: version 2.3, key and eTag only; an upload with tags has the event of the upload alone."""
    shop.configure(shop.rule("s3:ObjectTagging:*", CREATED))
    shop.put("one", Tagging="a=b")
    shop.s3.put_object_tagging(Bucket=shop.bucket, Key="one", Tagging={"TagSet": [{"Key": "c", "Value": "d"}]})
    shop.s3.delete_object_tagging(Bucket=shop.bucket, Key="one")
    upload, put, delete = shop.records()
    assert (upload["eventName"], upload["eventVersion"]) == ("ObjectCreated:Put", "2.1")
    assert [(one["eventName"], one["eventVersion"]) for one in (put, delete)] == [
        ("ObjectTagging:Put", "2.3"),
        ("ObjectTagging:Delete", "2.3"),
    ]
    assert [set(one["s3"]["object"]) for one in (put, delete)] == [{"key", "eTag"}] * 2


def test_only_the_events_that_are_asked_for_are_sent(shop: Shop) -> None:
    shop.configure(shop.rule("s3:ObjectCreated:Copy"))
    shop.put("one")
    shop.s3.copy_object(Bucket=shop.bucket, Key="two", CopySource=f"{shop.bucket}/one")
    shop.s3.delete_object(Bucket=shop.bucket, Key="one")
    assert [record["eventName"] for record in shop.records()] == ["ObjectCreated:Copy"]


def test_a_filter_compares_the_beginning_and_the_end_of_the_key(shop: Shop) -> None:
    """User Guide, "Configuring event notifications using object key name filtering"."""
    shop.configure(shop.rule(prefix="orders/", suffix=".json"))
    for key in ("orders/1.json", "orders/1.txt", "others/1.json", "ORDERS/2.json", "orders/deep/2.json"):
        shop.put(key)
    assert [record["s3"]["object"]["key"] for record in shop.records()] == ["orders/1.json", "orders/deep/2.json"]


@pytest.mark.parametrize("name", ["prefix", "Prefix", "PREFIX"])
def test_a_filter_rule_is_shown_with_a_capital_letter(shop: Shop, name: str) -> None:
    """Recorded: names of filter rules are not case sensitive and come back as Prefix and Suffix."""
    rule = shop.rule(Id="one") | {"Filter": {"Key": {"FilterRules": [{"Name": name, "Value": "orders/"}]}}}
    shop.configure(rule)
    (shown,) = shop.s3.get_bucket_notification_configuration(Bucket=shop.bucket)["QueueConfigurations"]
    assert shown == {
        "Id": "one",
        "QueueArn": shop.arn,
        "Events": [CREATED],
        "Filter": {"Key": {"FilterRules": [{"Name": "Prefix", "Value": "orders/"}]}},
    }
    shop.put("other")
    shop.put("orders/1")
    assert [record["s3"]["object"]["key"] for record in shop.records()] == ["orders/1"]


def test_an_empty_configuration_ends_the_notifications(shop: Shop) -> None:
    """API Reference, PutBucketNotificationConfiguration: it replaces the configuration."""
    shop.configure(shop.rule())
    shop.put("one")
    assert len(shop.records()) == 1
    shop.s3.put_bucket_notification_configuration(Bucket=shop.bucket, NotificationConfiguration={})
    shop.put("two")
    assert shop.messages() == []


def test_an_upload_that_is_refused_sends_nothing(shop: Shop) -> None:
    shop.configure(shop.rule())
    shop.put("one")
    assert refusal(shop.put, key="one", IfNoneMatch="*")["Code"] == "PreconditionFailed"
    assert len(shop.records()) == 1


# --- the destination -------------------------------------------------------------------------------------------


def test_a_queue_that_is_not_there_is_refused_with_its_name(shop: Shop) -> None:
    """Recorded, with one argument for each destination."""
    missing = [ARN + "nobody", ARN + "nobody-2"]
    rules = [
        {"QueueArn": missing[0], "Events": ["s3:ObjectCreated:Put"]},
        {"QueueArn": missing[1], "Events": ["s3:ObjectCreated:Copy"]},
    ]
    error = shop.refusal(*rules)
    assert error == {
        "Code": "InvalidArgument",
        "Message": UNUSABLE,
        "HTTPStatusCode": 400,
        "ArgumentName1": missing[0],
        "ArgumentValue1": "The destination queue does not exist",
        "ArgumentName2": missing[1],
        "ArgumentValue2": "The destination queue does not exist",
    }
    assert "QueueConfigurations" not in shop.s3.get_bucket_notification_configuration(Bucket=shop.bucket)


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({}, True),
        ({"Condition": {}}, True),
        ({"Principal": "*"}, True),
        ({"Principal": {"Service": ["sns.amazonaws.com", "s3.amazonaws.com"]}}, True),
        ({"Action": "SQS:*"}, True),
        ({"Action": ["sqs:ReceiveMessage", "SQS:SendMessage"]}, True),
        ({"Resource": "*"}, True),
        ({"Condition": {"ArnEquals": {"aws:SourceArn": "arn:aws:s3:*:*:orders-*"}}}, True),
        ({"Condition": {"StringEquals": {"AWS:SourceAccount": ["1", "123456789012"]}}}, True),
        ({"Principal": {"Service": "sns.amazonaws.com"}}, False),
        ({"Principal": {"AWS": "arn:aws:iam::123456789012:root"}}, False),
        ({"Action": "sqs:ReceiveMessage"}, False),
        ({"Resource": ARN + "another"}, False),
        ({"Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:s3:::another"}}}, False),
        ({"Condition": {"StringEquals": {"aws:SourceAccount": "999999999999"}}}, False),
    ],
)
def test_the_queues_policy_must_let_s3_send_for_the_bucket(shop: Shop, changes: dict[str, Any], allowed: bool) -> None:
    """User Guide, "Granting permissions …": service principal, action, queue, bucket and account."""
    shop.allow(shop.statement(**changes))
    if allowed:
        shop.configure(shop.rule())
    else:
        assert shop.refusal(shop.rule()) == {
            "Code": "InvalidArgument",
            "Message": UNUSABLE,
            "HTTPStatusCode": 400,
            "ArgumentName1": shop.arn,
            "ArgumentValue1": NOT_ALLOWED,
        }


def test_a_queue_without_a_policy_lets_nobody_send(shop: Shop) -> None:
    shop.allow()
    assert shop.refusal(shop.rule())["ArgumentValue1"] == NOT_ALLOWED


def test_a_deny_in_the_queues_policy_wins(shop: Shop) -> None:
    """IAM User Guide, "Policy evaluation logic"."""
    shop.allow(shop.statement(), shop.statement(Effect="Deny", Principal="*", Action="sqs:Send*"))
    assert shop.refusal(shop.rule())["ArgumentValue1"] == NOT_ALLOWED


def test_a_fifo_queue_is_no_destination(shop: Shop) -> None:
    """User Guide, "Supported event destinations": FIFO queues are not supported."""
    name = shop.queue + ".fifo"
    shop.sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"})
    error = shop.refusal({"QueueArn": ARN + name, "Events": [CREATED]})
    assert (error["Code"], error["Message"]) == ("InvalidArgument", UNUSABLE)


@pytest.mark.parametrize("skip", [False, True])
def test_an_arn_that_is_none_is_refused_even_without_validation(shop: Shop, skip: bool) -> None:
    """Recorded."""
    error = shop.refusal({"QueueArn": "invalid-queue", "Events": [CREATED]}, SkipDestinationValidation=skip)
    assert (error["Code"], error["Message"]) == ("InvalidArgument", "The ARN could not be parsed")
    assert (error["ArgumentName"], error["ArgumentValue"]) == ("Queue", "invalid-queue")


def test_validation_of_the_destination_can_be_skipped(shop: Shop) -> None:
    """Recorded: the configuration is stored, whatever becomes of its messages."""
    shop.configure({"QueueArn": ARN + "later", "Events": [CREATED], "Id": "id123"}, SkipDestinationValidation=True)
    shop.put("one")
    (shown,) = shop.s3.get_bucket_notification_configuration(Bucket=shop.bucket)["QueueConfigurations"]
    assert shown == {"Id": "id123", "QueueArn": ARN + "later", "Events": [CREATED]}


def test_a_filter_of_another_name_is_refused(shop: Shop) -> None:
    """Recorded."""
    rule = shop.rule() | {"Filter": {"Key": {"FilterRules": [{"Name": "INVALID", "Value": "x"}]}}}
    error = shop.refusal(rule)
    assert (error["Code"], error["Message"]) == (
        "InvalidArgument",
        "filter rule name must be either prefix or suffix",
    )
    assert (error["ArgumentName"], error["ArgumentValue"]) == ("FilterRule.Name", "INVALID")


AMBIGUOUS = "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the prefixes are"
OVERLAP = "Configurations overlap. Configurations on the same bucket cannot share a common event type."
PUT, COPY = "s3:ObjectCreated:Put", "s3:ObjectCreated:Copy"


@pytest.mark.parametrize(
    ("one", "other", "sentence"),
    [
        ({"events": [PUT]}, {"events": [COPY]}, ""),
        ({"events": [PUT]}, {"events": [PUT]}, OVERLAP),
        ({"events": [CREATED]}, {"events": [PUT]}, OVERLAP),
        ({"events": [CREATED]}, {"events": [REMOVED]}, ""),
        ({"prefix": "a/"}, {"prefix": "b/"}, ""),
        ({"prefix": "a/"}, {}, AMBIGUOUS),
        ({"prefix": "a/"}, {"prefix": "a/b/"}, AMBIGUOUS),
        ({"prefix": "a/", "suffix": ".json"}, {"prefix": "a/b/", "suffix": ".txt"}, ""),
        ({"suffix": "jpg"}, {"suffix": "pg"}, AMBIGUOUS),
        ({"prefix": "a/"}, {"suffix": ".json"}, AMBIGUOUS),
    ],
)
def test_rules_for_the_same_event_must_not_overlap(
    shop: Shop, one: dict[str, Any], other: dict[str, Any], sentence: str
) -> None:
    """User Guide, "Examples of notification configurations …"; sentences quoted in public issues."""

    def rule(options: dict[str, Any]) -> dict[str, Any]:
        named = {name: value for name, value in options.items() if name != "events"}
        return shop.rule(*options.get("events", [CREATED]), **named)

    if sentence:
        error = shop.refusal(rule(one), rule(other))
        assert error["Code"] == "InvalidArgument"
        assert error["Message"].startswith(sentence)
    else:
        shop.configure(rule(one), rule(other))


def test_a_bucket_that_is_not_there_is_told_first(shop: Shop) -> None:
    configuration = {"QueueConfigurations": [{"QueueArn": ARN + "nobody", "Events": [CREATED]}]}
    call = shop.s3.put_bucket_notification_configuration
    error = refusal(call, Bucket="no-such-bucket", NotificationConfiguration=configuration)
    assert (error["Code"], error["HTTPStatusCode"]) == ("NoSuchBucket", 404)


# --- delivery --------------------------------------------------------------------------------------------------


def test_an_upload_succeeds_when_its_queue_was_deleted(shop: Shop) -> None:
    """User Guide: notifications are sent beside the upload; nobody is told that one is lost."""
    shop.configure(shop.rule())
    shop.sqs.delete_queue(QueueUrl=shop.url)
    assert shop.put("one")["ResponseMetadata"]["HTTPStatusCode"] == 200
    shop.cloud.settle()
    assert shop.s3.get_object(Bucket=shop.bucket, Key="one")["Body"].read() == b"order"


def test_messages_stop_silently_when_the_queues_policy_is_gone(shop: Shop) -> None:
    shop.configure(shop.rule())
    shop.put("one")
    assert len(shop.records()) == 1
    shop.allow()
    shop.put("two")
    assert shop.messages() == []
    shop.allow(shop.statement())
    shop.put("three")
    assert [record["s3"]["object"]["key"] for record in shop.records()] == ["three"]


def test_the_queues_delay_holds_for_events_too(cloud: Cloud, shop: Shop) -> None:
    shop.sqs.set_queue_attributes(QueueUrl=shop.url, Attributes={"DelaySeconds": "60"})
    shop.configure(shop.rule())
    shop.put("one")
    assert shop.messages() == []
    cloud.skip(60.1)
    assert len(shop.records()) == 1


def test_the_journal_says_that_s3_sent_the_message(cloud: Cloud, shop: Shop) -> None:
    since = cloud.journal.last
    shop.configure(shop.rule())
    shop.put("one")
    cloud.settle()
    sent = cloud.journal.events(MessageSent, since=since)
    assert [(event.queue, event.caller.kind, event.caller.name) for event in sent] == [
        (shop.queue, "service", "s3")
    ] * 2


def test_an_upload_does_not_wait_for_the_function_that_reads_the_queue(cloud: Cloud, shop: Shop, tmp_path: Any) -> None:
    """The function waits for a file that is written after the upload has returned."""
    stage = Stage(cloud, name="reads-uploads")
    shop.sqs.set_queue_attributes(QueueUrl=shop.url, Attributes={"VisibilityTimeout": "60"})
    shop.configure(shop.rule())
    shop.messages()
    gate = tmp_path / "gate"
    stage.send(shop.url, {"do": "wait", "file": str(gate)})
    stage.map(shop.url, BatchSize=1)
    shop.put("one")
    assert stage.ended(shop.url) == 0
    gate.touch()
    cloud.settle()
    bodies = [json.loads(record["body"]) for run in stage.runs(shop.url) for record in run]
    assert [body["Records"][0]["s3"]["object"]["key"] for body in bodies if "Records" in body] == ["one"]


@pytest.fixture(scope="module")
def deploy(cloud: Cloud) -> Deployer:
    return Deployer(cloud)


def test_a_function_can_be_told_directly(cloud: Cloud, shop: Shop, deploy: Deployer) -> None:
    """Lambda Developer Guide, "Process Amazon S3 event notifications with Lambda": an asynchronous invocation.

    Without the permission in the function's policy the configuration is refused (recorded).
    """
    name = deploy.create("def handler(event, context):\n    print('KEY', event['Records'][0]['s3']['object']['key'])\n")
    arn = f"arn:aws:lambda:us-east-1:123456789012:function:{name}"
    configuration = {"LambdaFunctionConfigurations": [{"LambdaFunctionArn": arn, "Events": [CREATED]}]}
    put = {"Bucket": shop.bucket, "NotificationConfiguration": configuration}
    error = refusal(shop.s3.put_bucket_notification_configuration, **put)
    assert (error["Message"], error["ArgumentName1"]) == (UNUSABLE, f"{arn}, null")
    assert error["ArgumentValue1"] == f"Not authorized to invoke function [{arn}]"
    deploy.client.add_permission(
        FunctionName=name,
        StatementId="s3",
        Action="lambda:InvokeFunction",
        Principal="s3.amazonaws.com",
        SourceArn=f"arn:aws:s3:::{shop.bucket}",
    )
    shop.s3.put_bucket_notification_configuration(**put)
    shop.put("a b")
    cloud.settle()
    assert [line.strip() for line in deploy.log(name) if line.startswith("KEY")] == ["KEY a+b"]


def test_a_handlers_upload_names_the_role_that_made_it(cloud: Cloud, shop: Shop, deploy: Deployer) -> None:
    """User Guide, "Event message structure": userIdentity is who caused the event."""
    iam = cloud.client("iam")
    role = iam.create_role(RoleName="uploads", AssumeRolePolicyDocument=TRUST)["Role"]
    may_put = {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [may_put]})
    iam.put_role_policy(RoleName="uploads", PolicyName="work", PolicyDocument=document)
    shop.configure(shop.rule())
    code = (
        "import boto3\ndef handler(event, context):\n"
        f"    boto3.client('s3').put_object(Bucket={shop.bucket!r}, Key='by-function', Body=b'x')\n"
    )
    name = deploy.create(code, Role=role["Arn"])
    deploy.invoke(name)
    (record,) = shop.records()
    assert record["userIdentity"]["principalId"] == f"AWS:{role['RoleId']}:{name}"


def test_a_configuration_that_is_no_xml_is_malformed(cloud: Cloud, shop: Shop) -> None:
    """S3 API Reference, "Error responses": MalformedXML; no failure of the account."""
    connection = http.client.HTTPConnection("127.0.0.1", cloud.port, timeout=20)
    credential = "Credential=AKIA/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
    headers = {"Authorization": f"AWS4-HMAC-SHA256 {credential}"}
    for body in (b"<a", b"{}", b"<NotificationConfiguration><QueueConfiguration/></NotificationConfiguration>"):
        connection.request("PUT", f"/{shop.bucket}?notification", body, headers)
        answer = connection.getresponse()
        assert (answer.status, b"<Code>MalformedXML</Code>" in answer.read()) == (400, True)
    connection.close()
