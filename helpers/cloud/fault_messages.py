"""Messages that go wrong: what was sent to a queue last, and sending something to it as a producer does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .fault_targets import queue_named
from .journal import Call, Journal

if TYPE_CHECKING:
    from .account import Cloud

_SENT = (
    "MessageBody",
    "MessageAttributes",
    "MessageSystemAttributes",
    "DelaySeconds",
    "MessageGroupId",
    "MessageDeduplicationId",
)


def last_sent(journal: Journal, queue: str) -> dict[str, Any] | None:
    """The members of the last message that was sent to a queue, None when nothing was sent."""
    for call in reversed(journal.events(Call)):
        named = str(call.parameters.get("QueueUrl", "")).rpartition("/")[2]
        if call.service != "sqs" or named != queue or call.error:
            continue
        if call.action == "SendMessage":
            return _chosen(call.parameters)
        if call.action == "SendMessageBatch" and isinstance(call.parameters.get("Entries"), list):
            return _chosen(call.parameters["Entries"][-1])
    # The journal is bounded, and other services send messages too: what waits in the queue tells as well.
    waiting = queue_named(queue)._messages
    return {"MessageBody": waiting[-1].body} if waiting else None


def send(account: Cloud, queue: str, members: Mapping[str, Any]) -> str:
    """Send a message as the learner does. Returns its id."""
    client = account.client("sqs")
    url = client.get_queue_url(QueueName=queue)["QueueUrl"]
    return str(client.send_message(**{**members, "QueueUrl": url})["MessageId"])


def _chosen(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: members[name] for name in _SENT if name in members}
