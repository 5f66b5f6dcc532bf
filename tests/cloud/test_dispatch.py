"""What moto need not work out again for each call, and the one id that a call has."""

from __future__ import annotations

import re

import pytest

from helpers.cloud import Cloud, dispatch
from helpers.cloud.journal import Call

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.mark.parametrize(
    ("service", "call", "arguments"),
    [
        ("sqs", "list_queues", {}),
        ("dynamodb", "list_tables", {}),
        ("lambda", "list_functions", {}),
        ("iam", "list_roles", {}),
        ("stepfunctions", "list_state_machines", {}),
        ("logs", "describe_log_groups", {}),
    ],
)
def test_the_caller_and_the_journal_know_a_call_by_the_same_id(
    cloud: Cloud, service: str, call: str, arguments: dict[str, str]
) -> None:
    since = cloud.journal.last
    answer = getattr(cloud.client(service), call)(**arguments)
    (event,) = cloud.journal.events(Call, since=since)
    assert answer["ResponseMetadata"]["RequestId"] == event.request_id
    assert UUID.fullmatch(event.request_id)


def test_ids_of_calls_are_uuids_and_never_the_same() -> None:
    ids = {dispatch.new_request_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(UUID.fullmatch(one) for one in ids)


def test_what_is_kept_is_what_moto_finds(cloud: Cloud) -> None:
    from moto.core import responses, utils

    assert responses.method_names_from_class is not utils.method_names_from_class
    names = dispatch.replacements()
    assert {name for _, name, _ in names} == {
        "method_names_from_class",
        "camelcase_to_underscores",
        "gen_amzn_requestid_long",
    }
    for word in ("SendMessage", "ListEventSourceMappings", "TransactWriteItems", "getHTTPThing"):
        assert responses.camelcase_to_underscores(word) == utils.camelcase_to_underscores(word)
