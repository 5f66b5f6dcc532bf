"""Reading logs: filter patterns, pages, time ranges, retention, groups that are deleted.

Sources: CloudWatch Logs User Guide, "Filter pattern syntax …"; CloudWatch Logs API Reference, "FilterLogEvents",
"GetLogEvents", "DescribeLogStreams", "PutRetentionPolicy".
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from botocore.exceptions import ClientError

from helpers.cloud import Cloud
from helpers.cloud.log_patterns import InvalidFilterPattern, matcher

from .deploying import Deployer

NAMES = (f"/tests/{number}" for number in itertools.count(1))
LINES = (
    "[ERROR 400] BAD REQUEST",
    "[ERROR 401] UNAUTHORIZED REQUEST",
    "[WARN] duplicate order",
    "INTERNAL SERVER ERROR",
)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", [0, 1, 2, 3]),
        ("ERROR", [0, 1, 3]),
        ("error", []),
        ("ERROR REQUEST", [0, 1]),
        ("?ERROR ?WARN", [0, 1, 2, 3]),
        ("?BAD ?duplicate", [0, 2]),
        ("ERROR -BAD", [1, 3]),
        ("-ERROR", [2]),
        ('"SERVER ERROR"', [3]),
        ('ERROR -"BAD REQUEST"', [1, 3]),
        ('"[ERROR 40"', [0, 1]),
        ("%40[1-9]%", [1]),
        ("?WARN REQUEST", [0, 1]),
    ],
)
def test_terms(pattern: str, found: list[int]) -> None:
    """All terms, some of those with ?, none of those with -; ? is ignored beside other terms."""
    matches = matcher(pattern)
    assert [number for number, line in enumerate(LINES) if matches(line)] == found


EVENT = (
    '{"level": "ERROR", "order": {"id": "a-1", "lines": [{"sku": "tea", "count": 3}]}, "ms": 12.5, "retry": false, '
    '"paid": null, "user name": "ann"}'
)


@pytest.mark.parametrize(
    ("pattern", "holds"),
    [
        ('{ $.level = "ERROR" }', True),
        ("{ $.level = ERROR }", True),
        ('{ $.level = "ERR*" }', True),
        ('{ $.level != "ERROR" }', False),
        ('{ $.order.id = "a-*" && $.ms > 12 }', True),
        ('{ $.ms >= 12.5 && ($.level = "INFO" || $.order.lines[0].count = 3) }', True),
        ('{ $.level = "INFO" || $.ms < 5 }', False),
        ("{ $.order.lines[1].sku = tea }", False),
        ("{ $.retry IS FALSE }", True),
        ("{ $.paid IS NULL }", True),
        ("{ $.gone IS NULL }", False),
        ("{ $.gone NOT EXISTS }", True),
        ("{ $.level NOT EXISTS }", False),
        ('{ $["user name"] = "ann" }', True),
        ("{ $.level = %^E.*R$% }", True),
        ("{ $.gone != 1 }", False),
        ('{ $.order = "a" }', False),
    ],
)
def test_fields_of_json(pattern: str, holds: bool) -> None:
    assert matcher(pattern)(EVENT) is holds
    assert not matcher(pattern)("no JSON"), "a pattern for JSON lets no other text through"


ACCESS = '127.0.0.1 ann [10/Oct/2026:13:25:15 -0700] "GET /orders/a.html HTTP/1.0" 404 1534'


@pytest.mark.parametrize(
    ("pattern", "holds"),
    [
        ("[ip, user, time, request, status, size]", True),
        ("[ip, user, time, request, status = 4*, size]", True),
        ("[ip, user, time, request = *html*, status = 404, size > 1000]", True),
        ("[ip, user = bob, time, request, status, size]", False),
        ("[ip, user]", False),
        ("[..., status = 404, size]", True),
        ("[ip, ..., size < 1000]", False),
        ("[ip, user, time, request, status = 404 || status = 500, size]", True),
    ],
)
def test_words_between_spaces(pattern: str, holds: bool) -> None:
    assert matcher(pattern)(ACCESS) is holds


@pytest.mark.parametrize("pattern", ["{ level = 1 }", "{ $.a = }", "{ $.a", "[a, b", '"open', "{ ($.a = 1 }", "a|b"])
def test_patterns_that_cannot_be_read(pattern: str) -> None:
    with pytest.raises(InvalidFilterPattern):
        matcher(pattern)


@pytest.fixture(scope="module")
def logs(cloud: Cloud) -> Any:
    return cloud.client("logs")


def write(cloud: Cloud, logs: Any, stream: str = "s", group: str = "", lines: tuple[str, ...] = LINES) -> str:
    """A group with one more stream, whose events are a second apart and end now."""
    name = group or next(NAMES)
    if not group:
        logs.create_log_group(logGroupName=name)
    logs.create_log_stream(logGroupName=name, logStreamName=stream)
    begin = int(cloud.clock.now() * 1000) - 1000 * len(lines)
    events = [{"timestamp": begin + 1000 * number, "message": line} for number, line in enumerate(lines)]
    logs.put_log_events(logGroupName=name, logStreamName=stream, logEvents=events)
    return name


def messages(answer: dict[str, Any]) -> list[str]:
    return [event["message"] for event in answer["events"]]


def test_a_pattern_chooses_events_of_all_streams_and_pages_follow_each_other(cloud: Cloud, logs: Any) -> None:
    group = write(cloud, logs, "one")
    write(cloud, logs, "two", group)
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=group, filterPattern="?ERROR ?WARN -BAD", PaginationConfig={"PageSize": 2}
    )
    found = [(event["logStreamName"], event["message"]) for page in pages for event in page["events"]]
    assert sorted(found) == sorted((stream, line) for stream in ("one", "two") for line in LINES if "BAD" not in line)
    one = logs.filter_log_events(logGroupName=group, logStreamNames=["one"], filterPattern="duplicate")
    assert messages(one) == [LINES[2]]


def test_a_pattern_that_cannot_be_read_is_refused(cloud: Cloud, logs: Any) -> None:
    group = write(cloud, logs)
    with pytest.raises(ClientError) as problem:
        logs.filter_log_events(logGroupName=group, filterPattern="{ $.a = ")
    assert problem.value.response["Error"] == {"Code": "InvalidParameterException", "Message": "Invalid filter pattern"}


def test_a_time_range_begins_with_its_start_and_ends_before_its_end(cloud: Cloud, logs: Any) -> None:
    """GetLogEvents: "Events with a timestamp equal to or later than this time are not included"."""
    group = write(cloud, logs)
    times = [event["timestamp"] for event in logs.filter_log_events(logGroupName=group)["events"]]
    of_stream = {"logGroupName": group, "logStreamName": "s", "startFromHead": True}
    found = logs.get_log_events(**of_stream, startTime=times[1], endTime=times[3])
    assert messages(found) == list(LINES[1:3])
    assert messages(logs.filter_log_events(logGroupName=group, startTime=times[2])) == list(LINES[2:])


def test_a_stream_is_read_from_either_end_until_the_token_stays_the_same(cloud: Cloud, logs: Any) -> None:
    of_stream = {"logGroupName": write(cloud, logs), "logStreamName": "s", "limit": 3}
    page = logs.get_log_events(**of_stream, startFromHead=True)
    assert messages(page) == list(LINES[:3])
    page = logs.get_log_events(**of_stream, nextToken=page["nextForwardToken"])
    assert messages(page) == list(LINES[3:])
    last = logs.get_log_events(**of_stream, nextToken=page["nextForwardToken"])
    assert (messages(last), last["nextForwardToken"]) == ([], page["nextForwardToken"])
    assert messages(logs.get_log_events(**of_stream)) == list(LINES[1:]), "without startFromHead: the latest"


def test_streams_are_listed_by_name_or_by_their_last_event(cloud: Cloud, logs: Any) -> None:
    group = write(cloud, logs, "b")
    cloud.skip(5)
    write(cloud, logs, "c", group)
    cloud.skip(5)
    write(cloud, logs, "a", group)

    def listed(**options: Any) -> list[str]:
        streams = logs.describe_log_streams(logGroupName=group, **options)["logStreams"]
        return [stream["logStreamName"] for stream in streams]

    assert listed() == ["a", "b", "c"]
    assert listed(orderBy="LastEventTime", descending=True) == ["a", "c", "b"]
    with pytest.raises(ClientError) as problem:
        listed(orderBy="LastEventTime", logStreamNamePrefix="a")
    assert problem.value.response["Error"]["Code"] == "InvalidParameterException"


def test_events_are_gone_when_their_retention_ends(cloud: Cloud, logs: Any) -> None:
    group = write(cloud, logs, "old")
    kept = write(cloud, logs)
    logs.put_retention_policy(logGroupName=group, retentionInDays=1)
    cloud.skip(86_000)
    assert len(logs.filter_log_events(logGroupName=group)["events"]) == 4
    cloud.skip(500)
    assert logs.filter_log_events(logGroupName=group)["events"] == []
    assert len(logs.filter_log_events(logGroupName=kept)["events"]) == 4, "a group without retention keeps all"


@pytest.mark.parametrize("days", [2, 0, 4000])
def test_a_retention_is_one_of_a_list(cloud: Cloud, logs: Any, days: int) -> None:
    with pytest.raises(ClientError) as problem:
        logs.put_retention_policy(logGroupName=write(cloud, logs), retentionInDays=days)
    assert problem.value.response["Error"]["Code"] == "InvalidParameterException"


@pytest.mark.parametrize(
    ("call", "members"),
    [
        ("filter_log_events", {}),
        ("get_log_events", {"logStreamName": "s"}),
        ("describe_log_streams", {}),
        ("put_retention_policy", {"retentionInDays": 1}),
    ],
)
def test_a_group_that_does_not_exist_is_not_found(logs: Any, call: str, members: dict[str, Any]) -> None:
    with pytest.raises(ClientError) as problem:
        getattr(logs, call)(logGroupName="/tests/none", **members)
    error = problem.value.response["Error"]
    assert (error["Code"], error["Message"]) == (
        "ResourceNotFoundException",
        "The specified log group does not exist.",
    )


def test_the_group_of_a_function_comes_back_with_its_next_run(cloud: Cloud, logs: Any) -> None:
    functions = Deployer(cloud)
    name = functions.create("def handler(event, context):\n    print('run', event)")
    functions.invoke(name, 1)
    logs.delete_log_group(logGroupName=f"/aws/lambda/{name}")
    functions.invoke(name, 2)
    lines = functions.log(name)
    assert "run 2\n" in lines
    assert "run 1\n" not in lines
