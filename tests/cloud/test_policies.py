"""Policies say what AWS's documentation says: cross-checked with a small evaluator of another make."""

from __future__ import annotations

import json
from fnmatch import translate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.cloud.policies import PolicySet
from helpers.cloud.policy_conditions import holds

A = "arn:aws:sqs:us-east-1:123456789012:"

# --- generated policies ------------------------------------------------------------------------------------------

ACTIONS = ["sqs:SendMessage", "sqs:ReceiveMessage", "SQS:SENDMESSAGE", "s3:GetObject"]
ACTION_PATTERNS = st.sampled_from(["*", "sqs:*", "sqs:Send*", "sqs:?endMessage", "s3:GetObject", "sqs:receivemessage"])
RESOURCES = [A + "jobs", A + "jobs.fifo", A + "other", "arn:aws:s3:::b/a:b/c", "arn:aws:s3:::b", "*"]
RESOURCE_PATTERNS = st.sampled_from(
    [
        "*",
        A + "jobs",
        A + "jobs*",
        A + "j?bs",
        "arn:aws:sqs:*:*:jobs",
        "arn:aws:s3:::b/*",
        "arn:aws:*:jobs",
        "arn:aws:sqs",
    ]
)
CONDITIONS = st.sampled_from(
    [
        None,
        {"Bool": {"aws:SecureTransport": "true"}},
        {"StringEquals": {"aws:PrincipalTag/team": ["orders", "billing"]}},
        {"StringNotEquals": {"aws:PrincipalTag/team": "orders"}},
        {"StringEqualsIfExists": {"no:such": "x"}, "Bool": {"aws:SecureTransport": True}},
        {"Null": {"aws:PrincipalTag/team": "false"}},
    ]
)
KEYS = st.fixed_dictionaries(
    {}, optional={"aws:SecureTransport": st.sampled_from(["true", "false"]), "aws:PrincipalTag/team": st.just("orders")}
)


@st.composite
def statements(draw: st.DrawFn) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": draw(st.sampled_from(["Allow", "Allow", "Deny"]))}
    statement[draw(st.sampled_from(["Action", "Action", "NotAction"]))] = draw(
        st.lists(ACTION_PATTERNS, min_size=1, max_size=2)
    )
    statement[draw(st.sampled_from(["Resource", "Resource", "NotResource"]))] = draw(
        st.one_of(RESOURCE_PATTERNS, st.lists(RESOURCE_PATTERNS, min_size=1, max_size=2))
    )
    condition = draw(CONDITIONS)
    return statement if condition is None else {**statement, "Condition": condition}


def reference(policy: list[dict[str, Any]], action: str, resource: str, keys: dict[str, str]) -> str:
    """The evaluation logic of the IAM User Guide, as a reader writes it down."""
    said = {statement["Effect"] for statement in policy if _concerns(statement, action, resource, keys)}
    return "denied" if "Deny" in said else "allowed" if "Allow" in said else "not allowed"


def _concerns(statement: dict[str, Any], action: str, resource: str, keys: dict[str, str]) -> bool:
    positive = [one.lower() for one in statement.get("Action", statement.get("NotAction"))]
    if any(_glob(one, action.lower()) for one in positive) == ("NotAction" in statement):
        return False
    named = statement.get("Resource", statement.get("NotResource"))
    named = [named] if isinstance(named, str) else named
    if any(_arn(one, resource) for one in named) == ("NotResource" in statement):
        return False
    checks = {
        "Bool": lambda have, want: have is not None and have in want,
        "StringEquals": lambda have, want: have is not None and have in want,
        "StringNotEquals": lambda have, want: have is None or have not in want,
        "StringEqualsIfExists": lambda have, want: have is None or have in want,
        "Null": lambda have, want: str(have is None).lower() in want,
    }
    for operator, block in statement.get("Condition", {}).items():
        for key, want in block.items():
            texts = [str(one).lower() if one is True else one for one in (want if isinstance(want, list) else [want])]
            if not checks[operator](keys.get(key), texts):
                return False
    return True


def _glob(pattern: str, text: str) -> bool:
    import re

    return re.match(translate(pattern.replace("[", "[[]")), text) is not None


def _arn(pattern: str, arn: str) -> bool:
    if pattern == "*":
        return True
    want, have = pattern.split(":", 5), arn.split(":", 5)
    want += ["*"] * (6 - len(want))
    return len(have) == 6 and all(_glob(one, other) for one, other in zip(want, have, strict=True))


@settings(max_examples=300, deadline=None)
@given(
    policy=st.lists(statements(), max_size=4),
    action=st.sampled_from(ACTIONS),
    resource=st.sampled_from(RESOURCES),
    keys=KEYS,
)
def test_a_decision_is_that_of_the_documented_logic(
    policy: list[dict[str, Any]], action: str, resource: str, keys: dict[str, str]
) -> None:
    policies = PolicySet(tuple(json.dumps({"Version": "2012-10-17", "Statement": one}) for one in policy))
    lowered = {key.lower(): [value] for key, value in keys.items()}

    def values(key: str) -> list[str] | None:
        return lowered.get(key.lower())

    expected = reference(policy, action, resource, keys)
    assert policies.decide(action, resource, values) == expected
    assert policies.decide(action, resource, values) == expected, "the second time, from memory"


def test_a_remembered_decision_does_not_serve_another_request() -> None:
    condition = {"StringEquals": {"aws:username": "anna"}}
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": condition}
    policies = PolicySet((json.dumps({"Statement": statement}),))
    said = [policies.decide("sqs:SendMessage", A + "jobs", {"aws:username": [who]}.get) for who in ("anna", "boris")]
    assert said == ["allowed", "not allowed"]


# --- conditions --------------------------------------------------------------------------------------------------

REQUEST = {
    "k": ["Orders"],
    "n": ["15"],
    "d": ["2026-03-01T12:00:00Z"],
    "arn": [A + "jobs"],
    "ip": ["10.1.2.3"],
    "many": ["id", "total"],
    "none": [],
    "user": ["a*b"],
}


@pytest.mark.parametrize(
    ("operator", "key", "wanted", "expected"),
    [
        ("StringEquals", "k", "Orders", True),
        ("StringEquals", "k", "orders", False),
        ("StringEqualsIgnoreCase", "k", "orders", True),
        ("StringNotEqualsIgnoreCase", "k", "orders", False),
        ("StringLike", "k", ["x", "Or?er*"], True),
        ("StringLike", "k", "or*", False),
        ("StringNotLike", "k", "Or*", False),
        ("StringNotEquals", "k", ["x", "Orders"], False),
        ("StringNotEquals", "k", ["x", "y"], True),
        ("NumericEquals", "n", "15.0", True),
        ("NumericLessThan", "n", "15", False),
        ("NumericLessThanEquals", "n", 15, True),
        ("NumericGreaterThan", "n", ["100", "14"], True),
        ("NumericNotEquals", "n", "15", False),
        ("NumericEquals", "k", "15", False),
        ("DateLessThan", "d", "2026-03-01T12:00:01Z", True),
        ("DateGreaterThan", "d", "2026-03-01T14:00:00+02:00", False),
        ("DateEquals", "d", "1772366400", True),
        ("DateGreaterThanEquals", "d", "2026-03-01", True),
        ("Bool", "k", "orders", True),
        ("IpAddress", "ip", ["192.168.0.0/16", "10.0.0.0/8"], True),
        ("IpAddress", "ip", "10.1.2.4", False),
        ("NotIpAddress", "ip", "10.0.0.0/8", False),
        ("IpAddress", "k", "10.0.0.0/8", False),
        ("ArnEquals", "arn", "arn:aws:sqs:*:123456789012:j*", True),
        ("ArnLike", "arn", "arn:aws:*:jobs", False),
        ("ArnNotLike", "arn", "arn:aws:sns:*:*:*", True),
        ("Null", "k", "true", False),
        ("Null", "k", "false", True),
        ("Null", "missing", "true", True),
        ("ForAllValues:StringEquals", "many", ["id", "total", "name"], True),
        ("ForAllValues:StringEquals", "many", ["id"], False),
        ("ForAllValues:StringEquals", "missing", ["id"], True),
        ("ForAllValues:StringLike", "none", ["id"], True),
        ("ForAnyValue:StringEquals", "many", ["total"], True),
        ("ForAnyValue:StringEquals", "many", ["name"], False),
        ("ForAnyValue:StringEquals", "missing", ["id"], False),
        ("ForAnyValue:StringNotEquals", "many", ["id"], True),
        ("StringEquals", "user", "${user}", True),
        ("StringLike", "k", "${user}*", False),
        ("StringEquals", "user", "a${*}b", True),
        ("StringLike", "k", "${missing, 'Or'}*", True),
        ("StringEquals", "k", "${missing}", False),
        ("NoSuchOperator", "k", "Orders", False),
    ],
)
def test_an_operator_compares_as_documented(operator: str, key: str, wanted: Any, expected: bool) -> None:
    assert holds({operator: {key: wanted}}, REQUEST.get) is expected


POSITIVE = ["StringEquals", "StringLike", "NumericLessThan", "DateEquals", "Bool", "IpAddress", "ArnEquals", "ArnLike"]
NEGATED = ["StringNotEquals", "StringNotLike", "NumericNotEquals", "DateNotEquals", "NotIpAddress", "ArnNotLike"]


@pytest.mark.parametrize("operator", [*POSITIVE, *NEGATED])
def test_a_missing_key_is_false_true_when_negated_and_true_if_it_need_not_exist(operator: str) -> None:
    assert holds({operator: {"missing": "1"}}, REQUEST.get) is (operator in NEGATED)
    assert holds({f"{operator}IfExists": {"missing": "1"}}, REQUEST.get) is True


def test_all_operators_and_all_keys_of_a_block_must_hold() -> None:
    both = {"StringEquals": {"k": "Orders", "user": "a*b"}, "NumericLessThan": {"n": "16"}}
    assert holds(both, REQUEST.get)
    assert not holds({**both, "Null": {"n": "true"}}, REQUEST.get)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("arn:aws:s3:::b/${user}/*", "allowed"),
        ("arn:aws:s3:::b/${missing}/*", "not allowed"),
        ("arn:aws:s3:::b/${missing, 'a*b'}/*", "allowed"),
        ("arn:aws:s3:::b/${missing", "not allowed"),
    ],
)
def test_a_variable_in_an_arn_is_the_value_in_the_request(resource: str, expected: str) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": resource}
    policies = PolicySet((json.dumps({"Statement": [statement]}),))
    assert policies.decide("s3:GetObject", "arn:aws:s3:::b/a*b/key", REQUEST.get) == expected
    assert policies.decide("s3:GetObject", "arn:aws:s3:::b/aXb/key", REQUEST.get) == "not allowed", "no wildcard"
