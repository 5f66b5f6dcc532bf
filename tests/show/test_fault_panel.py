"""The panel: each button calls its method, armed faults are shown, no error of a callback vanishes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from helpers.lab.errors import NothingSent
from helpers.lab.faults import ArmedFault, FaultNotice, LabFaults
from helpers.lab.lesson_world import WORLDS, world_of
from helpers.lab.presets import Counted
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.fault_controls import DISARM_ALL, controls, groups
from helpers.show.fault_panel import FaultPanel
from helpers.show.markup import TONES
from tests.show.shown import Outline

pytestmark = pytest.mark.usefixtures("no_widgets")


def faults_of(slug: str) -> type[LabFaults]:
    """The class of a lesson's faults, without an account."""
    world = world_of(slug)(None, Path(), None)  # type: ignore[arg-type]
    return type(world.make_faults())


LESSONS = [faults_of(slug) for slug in WORLDS]


@dataclass
class Demonstration:
    """Stands for a Preset: two steps, and counts that a test chooses."""

    name: str = "double-charge"
    title: str = "Charge <twice>"
    watch: str = "The `order` & its message."
    proof: str = "One write."
    steps: tuple[str, ...] = ("Send one job.", "Let it come back.")
    call: str = 'lab.faults.preset("double-charge").play()'
    has_bare: bool = True
    done: int = 0
    accepted: int = 1
    settled: int = 0
    unfired: tuple[str, ...] = ()
    error: Exception | None = None

    @property
    def left(self) -> int:
        return len(self.steps) - self.done if self.done else 0

    def arm(self) -> FaultNotice:
        self.done = 0
        return self.go_on()

    def go_on(self) -> FaultNotice:
        if self.error:
            raise self.error
        self.done += 1
        return FaultNotice(self.name, self.steps[self.done - 1])

    def settle(self) -> None:
        self.settled += 1

    def count(self) -> Counted:
        return Counted("double-charge-1" if self.done else "", self.done, self.accepted, 1, True, None, self.unfired)

    def without_guard(self) -> Any:
        return type("Result", (), {"effects": 2})()


@dataclass
class Pressed:
    """Stands for LabFaults: writes down what is called."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    waiting: list[ArmedFault] = field(default_factory=list)
    error: Exception | None = None
    shown: Demonstration = field(default_factory=Demonstration)
    offered: tuple[str, ...] = LabFaults.offered
    opened: frozenset[str] = LabFaults.opened

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> FaultNotice:
            if self.error:
                raise self.error
            self.calls.append((name, *arguments))
            return FaultNotice(name, f"said by `{name}` <b>")

        return call

    def armed(self) -> list[ArmedFault]:
        return list(self.waiting)

    def presets(self) -> tuple[Demonstration, ...]:
        return (self.shown,)

    def preset(self, name: str) -> Demonstration:
        assert name == self.shown.name
        return self.shown


@pytest.fixture
def faults() -> Pressed:
    return Pressed()


@pytest.fixture
def panel(faults: Pressed) -> FaultPanel:
    return FaultPanel(lambda: faults)  # type: ignore[arg-type,return-value]


def said(panel: FaultPanel) -> str:
    return str(panel.live.widget.said["html"])


# --- the controls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_controls_are_methods_of_the_lab(lesson: type[LabFaults]) -> None:
    for control in controls(lesson.offered):
        arguments = inspect.signature(getattr(lesson, control.method)).parameters
        assert control.call.startswith(f"lab.faults.{control.method}(")
        assert control.label
        assert control.sentence.endswith(".")
        assert control.sentence.count(".") <= 2, "one idea, said shortly"
        if control.number:
            number = control.number
            assert arguments[number.name].default == number.first
            assert number.least <= number.first <= number.most


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_groups_say_when_a_fault_acts_in_the_order_of_a_job(lesson: type[LabFaults]) -> None:
    order = ["bucket", "order", "queue", "workflow", "before-write", "on-the-way", "after-write", "permissions"]
    shown = groups(lesson.offered, lesson.opened)
    ids = [group.id.removeprefix("in-") for group in shown]
    assert ids == [one for one in order if one in ids], "each group once, in the order of a job"
    assert lesson.opened <= {group.id for group in shown}
    inside = [control.method for group in shown for control in group.controls]
    assert [*inside, DISARM_ALL] == list(lesson.offered)
    assert sum(len(group.controls) for group in shown if group.opened) <= 8, "what is open is no wall"


def test_the_names_of_buttons_are_told_apart_within_a_lesson() -> None:
    for lesson in LESSONS:
        labels = [control.label for control in controls(lesson.offered)]
        assert len(set(labels)) == len(labels)


# --- presses --------------------------------------------------------------------------------------------------


def test_each_button_calls_its_method_and_says_there_what_it_did(panel: FaultPanel, faults: Pressed) -> None:
    for control in controls():
        panel.live._pressed({"method": control.method, **({"number": 2} if control.number else {})})
        assert panel.live.widget.said["at"] == control.method
        assert "&lt;b&gt;" in said(panel)
        assert f"Done: {control.label}" in said(panel)
    numbers = {"send_again", "late_message", "lose_some_answers", "throttle"}
    assert faults.calls == [(name, 2) if name in numbers else (name,) for name in LabFaults.offered]
    panel.press("throttle")
    assert faults.calls[-1] == ("throttle", 2), "without a number, the first value of the field"


def test_armed_faults_are_listed_followed_and_cancelled_one_by_one(panel: FaultPanel, faults: Pressed) -> None:
    widget = panel.live.widget
    assert widget.armed == []
    faults.waiting.append(ArmedFault("throttle", "The table is <tired>", 2, 1, number=7))
    faults.waiting.append(ArmedFault("lose-some-answers", "Some answers", None, 3, number=8))
    faults.waiting.append(ArmedFault("slow-worker", "A write", 0, 1, number=9, holding=True))
    panel.show_armed()
    assert [one["number"] for one in widget.armed] == [7, 8, 9]
    assert [one["count"] for one in widget.armed] == [
        "still to come: 2; fired so far: 1",
        "fires until you disarm it; fired so far: 3",
        "a call is held now",
    ]
    assert widget.armed[0]["disarm"] == "Disarm: The table is <tired>"
    panel.live._pressed({"cancel": 8})
    assert faults.calls == [("cancel", 8)]
    faults.waiting.clear()
    panel.show_armed()
    assert widget.armed == []


def test_faults_that_fire_together_are_shown_together_and_by_another_thread(
    panel: FaultPanel, faults: Pressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.show_armed_soon()
    assert not panel._pending, "nobody looks yet"
    timers: list[Any] = []
    monkeypatch.setattr("threading.Timer.start", lambda timer: timers.append(timer))
    _ = panel.widget
    faults.waiting.append(ArmedFault("x", "y", 1))
    for _fired in range(100):
        panel.show_armed_soon()
    (timer,) = timers
    assert panel.live.widget.armed == []
    timer.function()
    assert len(panel.live.widget.armed) == 1
    panel.show_armed_soon()
    assert len(timers) == 2


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            NothingSent("No job <yet>.", "It needs one.", "Send one."),
            ["No job &lt;yet&gt;.", "It needs one.", "Send one."],
        ),
        (ZeroDivisionError("<odd>"), ["ZeroDivisionError: &lt;odd&gt;", "Technical details", "Traceback"]),
    ],
)
def test_an_error_is_shown_where_the_press_failed(
    panel: FaultPanel, faults: Pressed, error: Exception, words: list[str]
) -> None:
    faults.error = error
    panel.press("send_again")
    assert panel.live.widget.said["at"] == "send_again"
    for word in words:
        assert word in said(panel)
    faults.error = None
    panel.press("clear")
    assert words[0] not in said(panel), "the next success takes the error away"


def test_an_error_while_listing_is_shown_too(panel: FaultPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    live = panel.live

    def broken() -> LabFaults:
        raise RuntimeError("the account is gone")

    monkeypatch.setattr(live, "_faults", broken)
    panel.show_armed()
    assert "the account is gone" in said(panel)


# --- demonstrations -------------------------------------------------------------------------------------------


def played(panel: FaultPanel, act: str) -> dict[str, Any]:
    panel.live._pressed({"preset": "double-charge", "act": act})
    panel.live.wait(20)
    scene = panel.live.widget.scene
    assert not scene["busy"]
    return dict(scene)


def test_a_demonstration_goes_on_one_step_for_each_press(panel: FaultPanel, faults: Pressed) -> None:
    first = played(panel, "next")
    assert (first["done"], first["left"], faults.shown.settled) == (1, 1, 1)
    assert "Counted so far" in first["said"]
    second = played(panel, "next")
    assert (second["done"], second["left"]) == (2, 0)
    assert "Counted at the end" in second["said"]
    assert "1 accepted write." in second["said"]
    assert played(panel, "next")["done"] == 1, "it begins again"
    assert played(panel, "end")["left"] == 0


def test_a_demonstration_says_when_the_worker_has_no_guard(panel: FaultPanel, faults: Pressed) -> None:
    faults.shown.accepted = 2
    scene = played(panel, "end")
    assert "no guard that holds" in scene["said"]
    assert "✗" in scene["said"]
    assert "without a guard: 2 accepted writes" in played(panel, "bare")["said"]


def test_a_worker_without_a_guard_is_judged_by_itself(panel: FaultPanel) -> None:
    alone = played(panel, "bare")["said"]
    assert ("✗" in alone, "✓" in alone, TONES["good"] in alone) == (True, False, False)
    played(panel, "end")
    both = played(panel, "bare")["said"]
    assert both.index(TONES["good"]) < both.index("✓") < both.index(TONES["bad"]) < both.index("✗")


def test_a_demonstration_whose_fault_was_disarmed_proves_nothing(panel: FaultPanel, faults: Pressed) -> None:
    faults.shown.unfired = ("The next <write>",)
    said = played(panel, "end")["said"]
    assert "This fault did not fire: The next &lt;write&gt;." in said
    assert ("○" in said, "✓" in said, TONES["good"] in said) == (True, False, False)


def test_an_error_of_a_demonstration_is_shown_in_it(panel: FaultPanel, faults: Pressed) -> None:
    faults.shown.error = NothingSent("No <worker>.", "", "Deploy one.")
    scene = played(panel, "next")
    assert (scene["done"], "No &lt;worker&gt;." in scene["said"]) == (0, True)


# --- forms ----------------------------------------------------------------------------------------------------


def test_the_static_form_names_the_plain_methods_by_group_and_never_changes(panel: FaultPanel, faults: Pressed) -> None:
    data = panel._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
    outline = Outline(data["text/html"])
    for text in (data["text/plain"], outline.text):
        for control in controls():
            assert control.call in text
            assert control.sentence in text
        for group in groups(LabFaults.offered):
            assert group.heading in text
        assert faults.shown.call in text
        assert faults.shown.title in text
    assert len(outline.all("caption")) == 2 + len(groups(LabFaults.offered))
    faults.waiting.append(ArmedFault("x", "y", 1))
    panel.press("clear")
    played(panel, "next")
    assert (panel.text(), panel.html()) == (data["text/plain"], data["text/html"])


def test_what_the_page_gets_is_escaped_and_tooltips_have_no_marks(panel: FaultPanel) -> None:
    widget = panel.live.widget
    (preset,) = widget.presets
    assert preset["title"] == "Charge <twice>", "the page sets it as text"
    assert "&amp; its message" in preset["watch"]
    for group in widget.groups:
        for control in group["controls"]:
            if control["number"]:
                assert control["number"]["aloud"] == f"{control['label']}: {control['number']['words']}"
            assert "`" not in control["tooltip"]
            assert "`" not in control["sentence"]
    assert [group["opened"] for group in widget.groups] == [True, False, False, True]
