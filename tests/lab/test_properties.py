"""The checker: verdicts and shortest proofs, compared with a search over all parts of small histories."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.cloud.journal import (
    Caller,
    Event,
    Journal,
    MessageAcknowledged,
    MessageDeadLettered,
    MessageReceived,
    MessageSent,
    RunEnded,
    RunStarted,
    WriteDecision,
)
from helpers.lab.history import History, Step, history
from helpers.lab.properties import PROPERTIES, RETENTION, judge, witnesses
from helpers.lab.story import tell


def shows(name: str, part: Sequence[Step], whole: Sequence[Step]) -> bool:
    """Whether a part of a history proves that a property is broken, said as plainly as can be."""
    stored = [step for step in part if step.kind == "stored" and step.order is not None]
    acknowledged = [step for step in part if step.kind == "acknowledged"]
    if name == "charged-once":
        return any(one.order == other.order for one, other in itertools.combinations(stored, 2))
    if name == "unchanged":
        return any(step.changed for step in part if step.kind in {"stored", "written"})
    if name == "first-details":
        pairs = itertools.combinations([step for step in stored if step.valid], 2)
        return any(not step.valid for step in stored) or any(
            one.order == other.order and one.quantity != other.quantity for one, other in pairs
        )
    if name == "failure-returns":
        failed = {step.run for step in part if step.kind in {"failed", "timeout", "crash"}}
        return any(step.run in failed for step in acknowledged)
    details = [(step.number, step.order, step.quantity) for step in whole if step.kind == "stored"]
    if name == "stored-first":
        return any(
            (step.order, step.quantity) not in {known[1:] for known in details if known[0] < step.number}
            for step in acknowledged
        )
    lost = any((step.order, step.quantity) not in {known[1:] for known in details} for step in acknowledged)
    return lost or any(step.kind == "removed" and _still_waiting(step, whole) for step in part)


def _still_waiting(removal: Step, whole: Sequence[Step]) -> bool:
    before = [step for step in whole if step.number < removal.number]
    known: set[int] = set()
    for step in before:
        if step.kind in {"sent", "received"}:
            known.add(step.message)
        elif step.kind in {"acknowledged", "dead-lettered"}:
            known.discard(step.message)
        elif step.kind == "removed":
            known.clear()
    return bool(known)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Step, ...]:
    """Up to eight steps about two orders, two quantities, three messages and three runs, in any combination."""
    kinds = ["sent", "received", "stored", "refused", "acknowledged", "dead-lettered", "failed", "crash", "removed"]
    steps = []
    for number in range(1, draw(st.integers(0, 8)) + 1):
        kind = draw(st.sampled_from(kinds))
        message = draw(st.integers(1, 3))
        order, quantity = draw(st.sampled_from([("a", 4), ("a", 5), ("b", 4), (None, None)]))
        if kind == "stored" and order is None:
            order, quantity = "a", 4
        flags = {"changed": draw(st.booleans()), "valid": draw(st.booleans())} if kind == "stored" else {}
        run = draw(st.integers(1, 3)) if kind not in {"sent", "removed"} else 0
        about = {"message": message, "order": order, "quantity": quantity}
        if kind in {"failed", "crash", "removed"}:
            about = {}
        steps.append(Step(kind, number, run=run, **about, **flags))  # type: ignore[arg-type]
    return tuple(steps)


@settings(max_examples=300, deadline=None)
@given(histories())
def test_a_proof_exists_exactly_when_the_property_is_broken_and_none_is_shorter(steps):
    report = judge(History(steps))
    for name in PROPERTIES:
        parts = (part for size in range(len(steps) + 1) for part in itertools.combinations(steps, size))
        smallest = next((part for part in parts if shows(name, part, steps)), None)
        verdict = report[name]
        assert (verdict.outcome == "broken") == (smallest is not None)
        if smallest is not None:
            assert shows(name, verdict.witness, steps)
            assert len(verdict.witness) == len(smallest)


@settings(max_examples=100, deadline=None)
@given(histories())
def test_without_any_of_its_steps_a_proof_proves_nothing(steps):
    for name in PROPERTIES:
        for proof in witnesses(name, History(steps)):
            for left_out in range(len(proof)):
                assert not shows(name, proof[:left_out] + proof[left_out + 1 :], steps)


@settings(max_examples=100, deadline=None)
@given(histories())
def test_an_incomplete_history_never_makes_a_property_hold(steps):
    complete, incomplete = judge(History(steps)), judge(History(steps, complete=False))
    for name in PROPERTIES:
        assert incomplete[name].outcome in {"broken", "cannot-tell"}
        assert incomplete[name].outcome != "broken" or complete[name].outcome == "broken"
    # What is missing may be the very write.
    assert incomplete["stored-first"].outcome == incomplete["nothing-lost"].outcome == "cannot-tell"


def test_a_write_of_no_known_order_hides_what_it_may_have_been():
    steps = (
        Step("sent", 1, message=1, order="a", quantity=4),
        Step("stored", 2, order=None, quantity=4),
        Step("acknowledged", 3, message=1, order="a", quantity=4),
    )
    outcomes = {verdict.property: verdict.outcome for verdict in judge(History(steps)).verdicts}
    assert outcomes["charged-once"] == outcomes["stored-first"] == outcomes["nothing-lost"] == "cannot-tell"
    assert outcomes["unchanged"] == outcomes["failure-returns"] == "holds"


def test_a_message_older_than_its_queue_keeps_it_may_be_gone():
    steps = (Step("sent", 1, 0.0, message=1, order="a", quantity=4), Step("sent", 2, RETENTION + 1, message=2))
    assert judge(History(steps))["nothing-lost"].outcome == "cannot-tell"
    assert judge(History((steps[0],)))["nothing-lost"].outcome == "holds"


# --- from events to steps -------------------------------------------------------------------------------------------


class Recorder:
    """Events of one queue in a journal of its own."""

    def __init__(self, size: int = 100) -> None:
        self.journal = Journal(size, now=lambda: 0.0)

    def sent(self, message: str, body: str, queue: str = "jobs") -> None:
        self.journal.record(MessageSent, queue=queue, message_id=message, body=body, caller=Caller("learner"))

    def run(self, run: str, *messages: str) -> None:
        caller = Caller("service", "mapping", run)
        for message in messages:
            self.journal.record(MessageReceived, queue="jobs", message_id=message, receive_count=1, caller=caller)
        self.journal.record(RunStarted, function="worker", request_id=run, payload='{"Records": []}', source="mapping")

    def put(self, run: str, key: str, quantity: int | None, before: int | None = None, accepted: bool = True) -> None:
        def item(n: int | None) -> dict[str, dict[str, str]]:
            return {"id": {"S": key}} | ({} if n is None else {"quantity": {"N": str(n)}})

        old = None if before is None else item(before)
        self.journal.record(
            WriteDecision,
            table="arn:aws:dynamodb:us-east-1:123456789012:table/orders",
            key={"id": {"S": key}},
            action="PutItem",
            condition=None,
            accepted=accepted,
            before=old,
            after=item(quantity) if accepted else old,
            caller=Caller("function", "worker", run),
        )

    def end(self, run: str, outcome: str) -> None:
        more = {"payload": "", "error_type": None, "duration_ms": 0.0, "log": ()}
        self.journal.record(RunEnded, function="worker", request_id=run, outcome=outcome, **more)

    def acknowledged(self, message: str, run: str) -> None:
        caller = Caller("service", "mapping", run)
        self.journal.record(MessageAcknowledged, queue="jobs", message_id=message, caller=caller)

    def told(self) -> History:
        events: list[Event] = self.journal.events()
        return history(events, "jobs", "worker", "orders", self.journal.dropped == 0)


JOB = '{"id": "a", "quantity": 4}'


def test_a_story_is_told_without_ids_and_in_order():
    record = Recorder()
    record.sent("b6f1", JOB)
    record.sent("elsewhere", JOB, queue="other")
    record.run("r1", "b6f1")
    record.put("r1", "a", 4)
    record.end("r1", "crash")
    record.run("r2", "b6f1")
    record.put("r2", "a", 4, before=4, accepted=False)
    record.end("r2", "succeeded")
    record.acknowledged("b6f1", "r2")
    assert tell(record.told().steps) == (
        "Message 1 is sent: order `a`, quantity 4.",
        "Worker A receives message 1, delivery 1.",
        "Worker A stores the order `a` with the quantity 4.",
        "Worker A crashes.",
        "Worker B receives message 1, delivery 2.",
        "Worker B tries to store the order `a`. DynamoDB refuses the write.",
        "Message 1 is acknowledged: order `a`, quantity 4.",
    )
    assert judge(record.told()).broken == ()


def test_a_key_that_is_no_order_id_belongs_to_the_only_job_of_the_run():
    record = Recorder()
    for message in ("m1", "m2"):
        record.sent(message, JOB)
        record.run(f"r-{message}", message)
        record.put(f"r-{message}", message, 4)
    [broken] = judge(record.told()).broken
    assert broken.property == "charged-once"
    assert [(step.message, step.order) for step in broken.witness] == [(1, "a"), (2, "a")]


def test_of_several_jobs_in_a_run_a_foreign_key_belongs_to_none():
    record = Recorder()
    record.sent("m1", JOB)
    record.sent("m2", '{"id": "b", "quantity": 4}')
    record.run("r", "m1", "m2")
    record.put("r", "b", 4)
    record.put("r", "m1", 4)
    assert [step.order for step in record.told().steps if step.kind == "stored"] == ["b", None]


def test_an_item_without_a_quantity_is_no_charge():
    record = Recorder()
    record.sent("m1", JOB)
    record.run("r", "m1")
    record.put("r", "claim-a", None)
    record.put("r", "a", 4)
    assert [step.kind for step in record.told().steps] == ["sent", "received", "written", "stored"]
    assert judge(record.told())["charged-once"].outcome == "holds"


def test_a_job_that_is_not_valid_and_is_stored_all_the_same():
    record = Recorder()
    record.sent("m1", '{"id": "a", "quantity": 11}')
    record.run("r", "m1")
    record.put("r", "a", 11)
    assert judge(record.told())["first-details"].outcome == "broken"


def test_a_dead_letter_message_is_not_lost():
    record = Recorder()
    record.sent("m1", JOB)
    record.journal.record(MessageDeadLettered, queue="jobs", message_id="m1", dead_letter_queue="dead")
    assert judge(record.told())["nothing-lost"].outcome == "holds"


def test_a_journal_that_made_room_cannot_tell():
    record = Recorder(size=3)
    for message in ("m1", "m2", "m3", "m4"):
        record.sent(message, JOB)
    assert {verdict.outcome for verdict in judge(record.told()).verdicts} == {"cannot-tell"}


def test_where_nothing_happened_nothing_holds():
    assert {verdict.outcome for verdict in judge(History(())).verdicts} == {"cannot-tell"}
