"""An error of a service is explained in the reader's language, and nothing else is."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from helpers.lab import language
from helpers.lab.service_answers import explained

TYPO = (
    "Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: "
    "Missing 'Next' target: Rejectd at /States/CheckQuantity/Default'"
)
USED = "Execution Already Exists: 'arn:aws:states:us-east-1:123456789012:execution:ev05-orders:repeated-order'"


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_current", "en")


def refusal(code: str, message: str = "") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "Call")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (refusal("InvalidDefinition", TYPO), "`/States/CheckQuantity/Default` names the state `Rejectd`"),
        (refusal("InvalidDefinition", "Invalid State Machine Definition: 'INVALID_JSON_DESCRIPTION'"), "which place"),
        (refusal("ExecutionAlreadyExists", USED), "`repeated-order` is already used"),
        (refusal("StateMachineAlreadyExists"), "`update_state_machine`"),
        (refusal("StateMachineDoesNotExist"), "`create_state_machine`"),
    ],
)
def test_what_a_learner_meets_is_explained(error: ClientError, said: str) -> None:
    assert any(said in sentence for sentence in explained(error))


@pytest.mark.parametrize(
    "error",
    [refusal("ThrottlingException"), ValueError("x"), KeyboardInterrupt(), EndpointConnectionError(endpoint_url="x")],
)
def test_other_errors_are_left_alone(error: BaseException) -> None:
    assert explained(error) == []
