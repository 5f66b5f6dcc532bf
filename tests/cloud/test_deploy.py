"""cloud.deploy: a function in one call, also after a try that was wrong and after a deletion."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from helpers.cloud import Cloud

HANDLER = "def handler(event, context):\n    return 'here'\n"


def rights(cloud: Cloud, role: str) -> list[str]:
    """The names of the inline policies of a role; raises when it is not there."""
    return list(cloud.client("iam").list_role_policies(RoleName=role)["PolicyNames"])


@pytest.mark.parametrize(
    ("wrong", "refused"),
    [
        ({"code": 5}, TypeError),
        ({"may": "sqs:SendMessage"}, ValueError),
        ({"may": [("sqs:SendMessage",)]}, ValueError),
        ({"may": ["ab"]}, ValueError),
        ({"may": [("no action", "*")]}, ClientError),
        ({"code": b"no ZIP"}, ClientError),
        ({"Timeout": 0}, ParamValidationError),
    ],
)
def test_a_deployment_that_fails_leaves_nothing_and_can_be_tried_again(
    cloud: Cloud, wrong: dict[str, Any], refused: type[Exception]
) -> None:
    with pytest.raises(refused):
        cloud.deploy("again", **{"code": HANDLER, "may": [("sqs:SendMessage", "*")], **wrong})
    with pytest.raises(ClientError, match="NoSuchEntity"):
        rights(cloud, "again-role")


def test_a_function_that_is_there_is_not_deployed_over(cloud: Cloud) -> None:
    cloud.deploy("once", HANDLER, may=[("sqs:SendMessage", "*")])
    with pytest.raises(ValueError, match="once is deployed already"):
        cloud.deploy("once", HANDLER)
    assert rights(cloud, "once-role") == ["may"]


def test_after_a_deletion_the_role_that_is_left_gets_the_new_rights(cloud: Cloud) -> None:
    for may, names in (([("sqs:SendMessage", "*")], ["may"]), ([], [])):
        cloud.deploy("renewed", HANDLER, may=may)
        assert rights(cloud, "renewed-role") == names
        assert cloud.client("lambda").invoke(FunctionName="renewed")["Payload"].read() == b'"here"'
        cloud.client("lambda").delete_function(FunctionName="renewed")
