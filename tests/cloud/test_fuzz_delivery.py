"""Queue, mapping and function under any order of operations: nothing lost, nothing done twice by the account itself.

The model is a table of messages: how often each may be handed out, and where it must be in the end.
``ONCE_FUZZ_SECONDS=600`` lets it go on for so long, with other orders each time.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from helpers.cloud import Cloud
from helpers.cloud.journal import MessageAcknowledged, MessageDeadLettered, MessageReceived, RunStarted
from tests.cloud.queue_stage import Stage
from tests.cloud.test_fuzz_calls import LONG

VISIBILITY = 30
MOST = 3
"""maxReceiveCount."""

FATES: dict[str, dict[str, Any]] = {
    "succeeds": {},
    "fails once": {"do": "fail", "until": 2},
    "fails twice": {"do": "fail", "until": 3},
    "always fails": {"do": "fail"},
    "always crashes": {"do": "exit"},
    "reports itself": {"do": "report"},
}
HOPELESS = {"always fails", "always crashes", "reports itself"}

_numbers = itertools.count(1)


class Delivery(RuleBasedStateMachine):
    """Operations of a learner; the account answers them while it delivers."""

    stage: Stage
    until = float("inf")

    @initialize(batch=st.sampled_from([1, 1, 1, 4]), start=st.booleans())
    def begin(self, batch: int, start: bool) -> None:
        number = next(_numbers)
        self.batch = batch
        self.dead = self.stage.queue(f"dead-{number}")
        redrive = {"deadLetterTargetArn": self.stage.arn(self.dead), "maxReceiveCount": MOST}
        self.queue = self.stage.queue(f"work-{number}", VisibilityTimeout=VISIBILITY, RedrivePolicy=redrive)
        settings = {"BatchSize": batch, "FunctionResponseTypes": ["ReportBatchItemFailures"], "Enabled": start}
        self.mapping = self.stage.map(self.queue, **settings)
        self.enabled = start
        self.since = self.stage.cloud.journal.last
        self.sent: dict[str, str] = {}
        self.taken_by_hand: Counter[str] = Counter()
        self.deleted_by_hand: set[str] = set()
        self.skipped = 0
        self.overtaken = False
        """Whether a visibility timeout may have ended while a run still had the message: it then comes again."""

    @precondition(lambda self: time.monotonic() < self.until)
    @rule(fates=st.lists(st.sampled_from(sorted(FATES)), min_size=1, max_size=3), delay=st.sampled_from([0, 0, 5]))
    def send(self, fates: list[str], delay: int) -> None:
        for fate in fates:
            (identity,) = self.stage.send(self.queue, FATES[fate], DelaySeconds=delay)
            self.sent[identity] = fate

    @rule(seconds=st.sampled_from([1, 6, VISIBILITY + 1]))
    def skip(self, seconds: int) -> None:
        self.skipped += seconds
        self.overtaken |= self.skipped >= VISIBILITY
        self.stage.cloud.skip(seconds)

    @rule(seconds=st.sampled_from([6, VISIBILITY + 1]))
    def skip_at_rest(self, seconds: int) -> None:
        self.settle()
        self.stage.cloud.skip(seconds)

    @rule()
    def settle(self) -> None:
        self.stage.cloud.settle(60)
        self.skipped = 0

    @precondition(lambda self: self.enabled)
    @rule()
    def disable(self) -> None:
        self.stage.functions.update_event_source_mapping(UUID=self.mapping, Enabled=False)
        self.stage.wait_for_state(self.mapping, "Disabled")
        self.enabled = False

    @precondition(lambda self: not self.enabled)
    @rule()
    def enable(self) -> None:
        self.stage.functions.update_event_source_mapping(UUID=self.mapping, Enabled=True)
        self.stage.wait_for_state(self.mapping, "Enabled")
        self.enabled = True

    @rule(timeout=st.integers(10, 20))
    def deploy_again(self, timeout: int) -> None:
        self.stage.functions.update_function_configuration(FunctionName=self.stage.function, Timeout=timeout)
        self.stage.functions.get_waiter("function_updated_v2").wait(FunctionName=self.stage.function)

    @rule(delete=st.booleans(), at_once=st.booleans())
    def take_by_hand(self, delete: bool, at_once: bool) -> None:
        """A second consumer beside the mapping."""
        sqs = self.stage.sqs
        for message in sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=2).get("Messages", []):
            handle = message["ReceiptHandle"]
            self.taken_by_hand[message["MessageId"]] += 1
            if delete:
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=handle)
                self.deleted_by_hand.add(message["MessageId"])
            elif at_once:
                sqs.change_message_visibility(QueueUrl=self.queue, ReceiptHandle=handle, VisibilityTimeout=0)

    def teardown(self) -> None:
        if not hasattr(self, "queue"):
            return
        try:
            if not self.enabled:
                self.enable()
            for _ in range(3 * MOST + 3):
                self.stage.cloud.settle(60)
                if not self._held():
                    break
                self.stage.cloud.skip(VISIBILITY + 1)
            self._check()
        finally:
            self.stage.functions.delete_event_source_mapping(UUID=self.mapping)
            self.stage.sqs.delete_queue(QueueUrl=self.queue)
            self.stage.sqs.delete_queue(QueueUrl=self.dead)
            self.stage.wait_until(lambda: self.stage.state(self.mapping) == "gone")

    def _held(self) -> int:
        return sum(self.stage.count(self.queue, kind) for kind in ("", "NotVisible", "Delayed"))

    def _events(self, kind: Any) -> list[Any]:
        name = self.queue.rpartition("/")[2]
        return [event for event in self.stage.cloud.journal.events(kind, since=self.since) if event.queue == name]

    def _check(self) -> None:
        assert self._held() == 0
        acknowledged = Counter(event.message_id for event in self._events(MessageAcknowledged))
        dead = Counter(event.message_id for event in self._events(MessageDeadLettered))
        received: dict[str, list[int]] = {}
        for event in self._events(MessageReceived):
            received.setdefault(event.message_id, []).append(event.receive_count)
        told: dict[str, list[int]] = {}
        for event in self.stage.cloud.journal.events(RunStarted, since=self.since):
            for record in _records(event, self.stage.arn(self.queue)):
                count = int(record["attributes"]["ApproximateReceiveCount"])
                told.setdefault(record["messageId"], []).append(count)
        assert self.stage.count(self.dead) == sum(dead.values())
        for identity, fate in self.sent.items():
            ends = (acknowledged[identity], dead[identity])
            assert ends in ((1, 0), (0, 1)) or (self.overtaken and sum(ends)), f"{fate}: {ends}: lost, or ended twice"
            counts = received[identity]
            assert counts == list(range(1, len(counts) + 1)), f"{fate}: {counts}"
            assert len(counts) <= MOST
            assert told.get(identity, []) == sorted(set(told.get(identity, [])))
            assert len(told.get(identity, [])) + self.taken_by_hand[identity] == len(counts)
            if identity in self.deleted_by_hand or self.overtaken:
                continue
            if fate in HOPELESS:
                assert ends == (0, 1), fate
            elif self.batch == 1 and not self.taken_by_hand[identity]:
                assert ends == (1, 0), fate
                assert len(counts) == {"succeeds": 1, "fails once": 2, "fails twice": 3}[fate]
        assert acknowledged.keys() | dead.keys() == self.sent.keys()


def _records(event: RunStarted, arn: str) -> list[dict[str, Any]]:
    import json

    if event.source != "mapping":
        return []
    return [record for record in json.loads(event.payload)["Records"] if record["eventSourceARN"] == arn]


@pytest.fixture(scope="module")
def stage(cloud: Cloud) -> Stage:
    cloud.functions.transition_seconds = 0.02
    return Stage(cloud, name="fuzzed")


def test_every_message_has_one_end_in_any_order_of_operations(stage: Stage) -> None:
    machine = type("Machine", (Delivery,), {"stage": stage})
    if LONG:
        machine.until = time.monotonic() + LONG  # type: ignore[attr-defined]
    phases = [Phase.generate] if LONG else [Phase.generate, Phase.shrink]
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=int(LONG) or 5,
            stateful_step_count=12,
            deadline=None,
            derandomize=not LONG,
            database=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        ),
    )
