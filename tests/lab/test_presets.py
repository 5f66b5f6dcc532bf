"""Demonstrations: each does what its steps say with the deployed worker, again and again, and its proof is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from helpers.lab import Lab
from helpers.lab.errors import BadParameter, NothingSent, StepMissing
from helpers.lab.presets import Counted, Preset, Script, Step
from tests.lab.conftest import PROVIDED, Learner
from tests.lab.order_file_stage import Shopper
from tests.lab.workflow_learner import WorkflowLearner

# runs, accepted and refused writes of the order of each demonstration
QUEUE = {
    "double-charge": (2, 1, 1),
    "impatient-producer": (3, 1, 2),
    "two-at-once": (2, 1, 1),
    "lost-answer": (1, 1, 1),
    "poison-message": (1, 1, 0),
}
WORKFLOW = {
    "double-charge": (3, 1, 1),
    "failed-but-stored": (3, 1, 1),
    "lost-result": (3, 1, 1),
    "no-permission": (2, 1, 0),
}
FILES = {"double-charge": (2, 1, 1), "upload-twice": (2, 1, 1), "broken-message": (1, 1, 0)}


def counts(counted: Counted) -> tuple[int, int, int]:
    assert counted.stored
    return counted.runs, counted.accepted, counted.refused


def step_by_step(preset: Preset) -> Counted:
    """As a presenter does it in a cell: begin, wait, next step, wait."""
    said = [preset.arm().text]
    preset.settle()
    while preset.left:
        said.append(preset.go_on().text)
        preset.settle()
    assert said == list(preset.steps)
    return preset.count()


# --- idempotent-consumer --------------------------------------------------------------------------------------


def test_each_demonstration_of_the_queue_proves_the_guard(learner: Learner) -> None:
    learner.first_job()
    learner.redrive(3)
    before = learner.lab.outcome()["dead_lettered"]
    presets = learner.lab.faults.presets()
    assert [preset.name for preset in presets] == list(QUEUE)
    for preset in presets:
        first = step_by_step(preset)
        assert counts(first) == QUEUE[preset.name], preset.name
        assert (first.unfired, learner.lab.faults.armed()) == ((), []), preset.name
    # The broken message, and nothing else.
    assert learner.lab.outcome()["dead_lettered"] == before + 1


def test_a_worker_without_a_guard_charges_twice_and_the_same_call_shows_it(learner: Learner) -> None:
    """From the first step on: the worker that the lesson provides has no guard."""
    learner.connect()
    learner.deploy(PROVIDED)
    preset = learner.lab.faults.preset("double-charge")
    charged = step_by_step(preset)
    assert counts(charged) == (2, 2, 0)
    learner.deploy()
    played = preset.play()
    assert played.order != charged.order
    assert (counts(played), played.without_guard) == ((2, 1, 1), 2)
    assert "without a guard: 2 accepted writes" in str(played)


def test_nothing_is_waited_for_before_the_presenter_asks(learner: Learner) -> None:
    """The message stays hidden after the crash, until the next step is asked for."""
    learner.first_job()
    preset = learner.lab.faults.preset("double-charge")
    preset.arm()
    learner.lab.settle()
    assert (learner.lab.settle().in_flight, preset.count().runs, preset.left) == (1, 1, 1)
    preset.go_on()
    preset.settle()
    assert (learner.lab.settle().in_flight, preset.count().runs, preset.left) == (0, 2, 0)
    with pytest.raises(NothingSent, match="no step left"):
        preset.go_on()


def test_a_demonstration_says_when_its_fault_was_disarmed_before_it_fired(learner: Learner) -> None:
    learner.first_job()
    faults = learner.lab.faults
    crash = Step("Arm.", lambda _order: faults.crash_after_write())
    send = Step("Send.", lambda order: faults.send_order(order, 1))
    preset = Preset(faults, Script("crash", "", "", "", "connect", (crash, send)))
    preset.arm()
    assert preset.count().unfired == (), "it can still fire"
    faults.clear()
    preset.go_on()
    preset.settle()
    assert counts(preset.count()) == (1, 1, 0)
    assert "This fault did not fire: The process is killed after its next accepted write." in str(preset.count())


def test_a_demonstration_begins_without_other_faults(learner: Learner) -> None:
    learner.first_job()
    learner.lab.faults.crash_at_end()
    preset = learner.lab.faults.preset("impatient-producer")
    assert "were disarmed" in preset.arm().text
    preset.settle()
    assert counts(preset.count()) == QUEUE["impatient-producer"]


def test_another_demonstration_ends_the_one_that_is_under_way(learner: Learner) -> None:
    learner.first_job()
    charge, copies = (learner.lab.faults.preset(name) for name in ("double-charge", "impatient-producer"))
    charge.arm()
    charge.settle()
    copies.arm()
    copies.settle()
    assert charge.left == 0
    with pytest.raises(NothingSent):
        charge.go_on()


def test_what_is_missing_is_said_before_anything_is_sent(learner: Learner) -> None:
    faults, before = learner.lab.faults, learner.lab.outcome()["sent"]
    for preset in faults.presets():
        with pytest.raises(StepMissing, match="Connect an empty queue to the worker”") as missing:
            preset.arm()
        assert missing.value.advice
    learner.connect()
    with pytest.raises(StepMissing, match="no dead-letter queue"):
        faults.preset("poison-message").arm()
    assert learner.lab.outcome()["sent"] == before


@pytest.mark.parametrize("name", ["fire", "", None, 7, "double_charge"])
def test_an_unknown_demonstration_lists_the_known_ones(learner: Learner, name: Any) -> None:
    with pytest.raises(BadParameter, match='`"double-charge"`, `"impatient-producer"`'):
        learner.lab.faults.preset(name)


# --- the other lessons ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workflow() -> Iterator[WorkflowLearner]:
    with Lab("protected-workflow", "en") as lab:
        yield WorkflowLearner(lab)


def test_each_demonstration_of_the_workflow_proves_the_guard(workflow: WorkflowLearner) -> None:
    faults = workflow.lab.faults
    assert [preset.name for preset in faults.presets()] == list(WORKFLOW)
    with pytest.raises(StepMissing, match="Connect a workflow"):
        faults.preset("double-charge").arm()
    workflow.deploy()
    workflow.connect()
    for preset in faults.presets():
        counted = preset.play()
        assert counted.order == f"{preset.name}-1"
        assert (counts(counted), counted.unfired) == (WORKFLOW[preset.name], ()), preset.name
    assert faults.preset("no-permission").play().order == "no-permission-2"
    ended = {name: workflow.lab.execution(name).status for name in workflow.lab._lesson.started()}
    assert ended["double-charge-1"] == ended["no-permission-2-again"] == ended["lost-result-1-again"] == "SUCCEEDED"
    assert ended["no-permission-1"] == ended["failed-but-stored-1"] == ended["lost-result-1"] == "FAILED"
    assert workflow.lab.check("connect")["policy"].outcome == "right"
    with pytest.raises(NothingSent):
        faults.preset("double-charge").without_guard()


@pytest.fixture(scope="module")
def shop() -> Iterator[Shopper]:
    with Lab("order-file", "en") as lab:
        yield Shopper(lab)


def test_each_demonstration_of_the_order_file_proves_the_guard(shop: Shopper) -> None:
    faults = shop.lab.faults
    assert [preset.name for preset in faults.presets()] == list(FILES)
    with pytest.raises(StepMissing):
        faults.preset("double-charge").arm()
    shop.up_to_batch()
    for preset in faults.presets():
        counted = step_by_step(preset)
        assert counted.order == f"{preset.name}/1"
        assert counts(counted) == FILES[preset.name], preset.name
    assert faults.preset("upload-twice").play().order == "upload-twice/2"
