"""S3 tells queues, functions and topics of what happened to its objects.

moto sends within PutObject: an upload would wait for what reads the queue. Here an upload only leaves its changes
behind; a thread sends the messages after it, in the order of the changes. A destination that is gone, or whose policy
does not let S3 in any more, gets nothing, and nobody is told (Amazon S3 User Guide, "Amazon S3 Event Notifications").
"""

from __future__ import annotations

import json
import queue as queues
import re
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moto.moto_api._internal import mock_random
from moto.s3 import notifications
from moto.sqs.models import Message

from . import s3_configuration, s3_events, sqs_queue
from .environment import ACCOUNT_ID
from .exchange import Exchange
from .journal import Caller, MessageSent
from .places import Place
from .responses import Refused, Response
from .s3_configuration import function_of, lets_in, lets_run
from .s3_events import Change, Request
from .work import Busy

if TYPE_CHECKING:
    from moto.s3.models import FakeBucket, FakeKey, Notification

    from .account import Cloud

S3_CALLER = Caller("service", "s3")

_ASKS = "It must report its events by moto.s3.notifications."
_SENDS = "helpers/cloud/s3_notifications.py sends after the call."
PLACES = (
    Place("moto.s3.notifications", "send_event", "6130200e5bd5636f", _SENDS),
    Place("moto.s3.notifications", "send_test_event", "e1915c6ef46ece20", _SENDS),
    Place("moto.s3.notifications", "_send_sns_message", "1cd1624b61309d58", "It sends to topics."),
    Place("moto.s3.notifications", "_send_event_bridge_message", "65bead5dd2bc6739", "It sends to EventBridge."),
    Place(
        "moto.s3.models",
        "FakeBucket.set_notification_configuration",
        "bfb7200868ded6f6",
        _ASKS,
    ),
    Place("moto.s3.models", "Notification._event_matches", "fdfab17cc6c6b263", "It must judge the names of events."),
    Place(
        "moto.s3.models",
        "S3Backend.complete_multipart_upload",
        "c167e72aae35035d",
        _ASKS,
    ),
)
"""What is replaced or relied on; patches.py verifies it before an account starts."""

_OWN_EVENTS = {
    "PutObject": "s3:ObjectCreated:Put",
    "CopyObject": "s3:ObjectCreated:Copy",
    "CompleteMultipartUpload": "s3:ObjectCreated:CompleteMultipartUpload",
}
"""The only event of a call; moto's parts of it send others, too."""


@dataclass(frozen=True, slots=True)
class _Message:
    """A message on its way: `kind` is that of the destination."""

    kind: str
    arn: str
    bucket_arn: str
    body: dict[str, Any]
    message_id: str


class Notifications:
    """The notifications of an account's buckets. `wake` is told when a queue got a message."""

    def __init__(self, account: Cloud, deliver: Callable[[str, bytes, str], None], wake: Callable[[], None]) -> None:
        self._account = account
        self._boundary = account.boundary
        self._deliver, self._wake = deliver, wake
        self._changes: list[tuple[Any, Change, Any]] = []
        self._tests: list[Any] = []
        self._sequence = 0
        self._outbox: queues.SimpleQueue[list[_Message] | None] = queues.SimpleQueue()
        self._under_way = 0
        self._closed = False
        self._counting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._undo = self._install()
        self._boundary.route("s3", "PutBucketNotificationConfiguration", self._put)
        self._boundary.before("s3", "*", self._forget)
        self._boundary.after("s3", "*", self._collect)

    def busy(self) -> list[Busy]:
        """The messages that were not sent yet."""
        with self._counting:
            return [Busy("queue", "s3 notifications", self._under_way)] if self._under_way else []

    def close(self) -> None:
        """Send nothing more, and give moto its functions back."""
        self._undo()
        self._closed = True
        self._outbox.put(None)

    # --- configuration -----------------------------------------------------------------------------------------

    def _put(self, exchange: Exchange) -> Response:
        from moto.s3.models import s3_backends

        try:
            with self._boundary.lock:
                bucket = s3_backends[ACCOUNT_ID]["aws"].buckets.get(exchange.parameters.get("Bucket", ""))
                if bucket is not None:
                    rules = s3_configuration.read(exchange.body)
                    skips = exchange.header("x-amz-skip-destination-validation").lower() == "true"
                    s3_configuration.check(rules, bucket, not skips)
                    exchange.notes["skips destinations"] = skips
                body = _with_small_names(exchange.body)
                response = self._boundary.ask_moto(exchange, body)
                if response.status < 400 and bucket is not None:
                    _show_large_names(bucket)
                return response
        except Refused as refused:
            return refused.answer(exchange)

    # --- what moto reports, inside the lock --------------------------------------------------------------------

    def _install(self) -> Callable[[], None]:
        before = notifications.send_event, notifications.send_test_event

        def send_event(account_id: str, event_name: Any, bucket: FakeBucket, key: FakeKey) -> None:
            if bucket.notification_configuration is not None:
                self._changes.append((bucket, self._change(str(event_name.value), bucket, key), key))

        def send_test_event(account_id: str, bucket: FakeBucket) -> None:
            self._tests.append(bucket)

        notifications.send_event, notifications.send_test_event = send_event, send_test_event

        def undo() -> None:
            notifications.send_event, notifications.send_test_event = before

        return undo

    def _change(self, event: str, bucket: FakeBucket, key: FakeKey) -> Change:
        return Change(
            event=event,
            bucket=bucket.name,
            bucket_arn=bucket.arn,
            region=bucket.region_name,
            key=key.name,
            size=getattr(key, "size", 0),
            etag=str(getattr(key, "etag", "")).strip('"'),
            version=str(key.version_id) if bucket.is_versioned else "",
            at=self._account.clock.now(),
        )

    def _forget(self, exchange: Exchange) -> None:
        self._changes.clear()
        self._tests.clear()

    def _collect(self, exchange: Exchange, response: Response) -> None:
        """Put what the call left behind on its way. The ids are drawn here, so that they repeat with the seed."""
        if response.status >= 400 or not (self._changes or self._tests):
            return
        request = Request(exchange.request_id, _address(exchange), _principal(exchange.caller))
        only = _OWN_EVENTS.get(exchange.action)
        messages = []
        if not exchange.notes.get("skips destinations"):
            messages = [message for bucket in self._tests for message in self._test_messages(bucket, exchange)]
        for bucket, change, key in self._changes:
            if only in {None, change.event}:
                messages += self._messages(bucket, change, key, request)
        self._forget(exchange)
        self._send_later(messages)

    def _test_messages(self, bucket: FakeBucket, exchange: Exchange) -> list[_Message]:
        body = s3_events.test_event(bucket.name, self._account.clock.now(), exchange.request_id)
        configuration = bucket.notification_configuration
        assert configuration is not None, "the call that is answered now has set it"
        named = [("sqs", one) for one in configuration.queue] + [("sns", one) for one in configuration.topic]
        arns = dict.fromkeys((kind, one.arn) for kind, one in named)
        return [self._message(kind, arn, bucket.arn, body) for kind, arn in arns]

    def _messages(self, bucket: FakeBucket, change: Change, key: FakeKey, request: Request) -> list[_Message]:
        self._sequence = max(self._sequence + 1, int(change.at * 1_000_000))
        sequencer = f"{self._sequence:018X}"
        configuration = bucket.notification_configuration
        assert configuration is not None, "the call that is answered now has met it"
        found = []
        for kind, rules in (
            ("lambda", configuration.cloud_function),
            ("sqs", configuration.queue),
            ("sns", configuration.topic),
        ):
            for rule in rules:
                if _matches(rule, change):
                    body = s3_events.event(change, request, rule.id, sequencer)
                    found.append(self._message(kind, rule.arn, bucket.arn, body))
        if configuration.event_bridge is not None:
            name = notifications.S3NotificationEvent(change.event)
            notifications._send_event_bridge_message(ACCOUNT_ID, bucket, name, key)
        return found

    def _message(self, kind: str, arn: str, bucket_arn: str, body: dict[str, Any]) -> _Message:
        return _Message(kind, arn, bucket_arn, body, str(mock_random.uuid4()))

    # --- sending, in a thread ----------------------------------------------------------------------------------

    def _send_later(self, messages: list[_Message]) -> None:
        if not messages:
            return
        with self._counting:
            self._under_way += len(messages)
        self._outbox.put(messages)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="once-s3-events", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (messages := self._outbox.get()) is not None:
            for message in messages:
                try:
                    self._send(message)
                except Exception:
                    traceback.print_exc()
                with self._counting:
                    self._under_way -= 1
            self._wake()
            self._boundary.changed.notify()

    def _send(self, message: _Message) -> None:
        with self._boundary.lock:
            if self._closed:
                # The next account of this process may have a queue of the same name.
                return
            if message.kind == "sqs":
                self._send_to_queue(message)
            elif message.kind == "sns":
                region = message.arn.split(":")[3]
                notifications._send_sns_message(ACCOUNT_ID, message.body, message.arn, region)
            else:
                function = function_of(message.arn)
                if function is None or not lets_run(function, message.bucket_arn):
                    return
        if message.kind == "lambda":
            self._deliver(message.arn, json.dumps(message.body).encode(), message.message_id)

    def _send_to_queue(self, message: _Message) -> None:
        queue = sqs_queue.find(message.arn)
        if queue is None or not lets_in(queue, message.bucket_arn):
            return
        text = json.dumps(message.body)
        sent = Message(message.message_id, text)
        sent.mark_sent(delay_seconds=sqs_queue.number(queue, "delay_seconds"))
        sqs_queue.put(queue, [sent])
        self._account.journal.record(MessageSent, queue=queue.name, message_id=sent.id, body=text, caller=S3_CALLER)


def _matches(rule: Notification, change: Change) -> bool:
    filters = ((rule.filters or {}).get("S3Key") or {}).get("FilterRule") or []
    wanted = {str(one["Name"]).lower(): str(one.get("Value") or "") for one in filters}
    return (
        rule._event_matches(change.event)
        and change.key.startswith(wanted.get("prefix", ""))
        and change.key.endswith(wanted.get("suffix", ""))
    )


def _address(exchange: Exchange) -> str:
    return str(exchange.environ.get("REMOTE_ADDR") or "127.0.0.1")


def _principal(caller: Caller) -> str:
    from .policies import role_of

    role = role_of(caller.role) if caller.role else None
    return f"AWS:{role.id}:{caller.name}" if role is not None else s3_events.ROOT_PRINCIPAL


_RULE_NAME = re.compile(rb"<Name>(prefix|suffix)</Name>", re.IGNORECASE)


def _with_small_names(body: bytes) -> bytes:
    """moto knows the names of filter rules in small letters only."""
    return _RULE_NAME.sub(lambda found: found.group().lower().replace(b"name>", b"Name>"), body)


def _show_large_names(bucket: FakeBucket) -> None:
    """GetBucketNotificationConfiguration answers with capital letters (recorded against AWS)."""
    configuration = bucket.notification_configuration
    rules = [*configuration.queue, *configuration.topic, *configuration.cloud_function] if configuration else []
    for rule in rules:
        for one in ((rule.filters or {}).get("S3Key") or {}).get("FilterRule") or []:
            one["Name"] = one["Name"].capitalize()
