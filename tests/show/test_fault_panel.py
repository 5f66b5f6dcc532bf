"""The panel: each button calls its method, armed faults are shown, no error of a callback vanishes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import ipywidgets
import pytest

from helpers.lab.errors import NothingSent
from helpers.lab.faults import ArmedFault, FaultNotice, LabFaults
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.fault_panel import FaultPanel, controls
from tests.show.shown import Outline, inside

pytestmark = pytest.mark.usefixtures("no_widgets")


@dataclass
class Pressed:
    """Stands for LabFaults: writes down what is called."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    waiting: list[ArmedFault] = field(default_factory=list)
    error: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> FaultNotice:
            if self.error:
                raise self.error
            self.calls.append((name, *arguments))
            return FaultNotice(name, f"said by `{name}` <b>")

        return call

    def armed(self) -> list[ArmedFault]:
        return list(self.waiting)


def shown(panel: FaultPanel) -> str:
    return "".join(html.value for html in inside(panel.widget, ipywidgets.HTML))


def test_the_controls_are_methods_of_the_lab() -> None:
    for control in controls():
        method = getattr(LabFaults, control.method)
        assert ("n" in inspect.signature(method).parameters) == (control.number is not None)
        assert control.call.startswith(f"lab.faults.{control.method}(")


def test_each_button_calls_its_method_and_says_what_it_did() -> None:
    faults = Pressed()
    panel = FaultPanel(lambda: faults)  # type: ignore[arg-type,return-value]
    copies, refusals = inside(panel.widget, ipywidgets.BoundedIntText)
    copies.value, refusals.value = 3, 1
    for control in controls():
        panel.press(control.method)
        assert "&lt;b&gt;" in shown(panel)
        assert f"Done: {control.label}" in shown(panel)
    assert faults.calls == [
        ("send_again", 3),
        ("other_details",),
        ("deliver_again",),
        ("poison_message",),
        ("crash_before_write",),
        ("slow_worker",),
        ("throttle", 1),
        ("server_error",),
        ("lose_answer",),
        ("crash_after_write",),
        ("clear",),
    ]


def test_the_controls_stand_together_by_where_they_act_and_have_one_sentence_each() -> None:
    places = [control.where for control in controls()]
    assert places == sorted(places, key=places.index), "a place comes twice"
    assert list(dict.fromkeys(places)) == [
        "In the queue",
        "Before the write",
        "On the way to the table",
        "After the write",
        "Everywhere",
    ]
    panel = FaultPanel(lambda: Pressed())  # type: ignore[arg-type,return-value]
    for control in controls():
        assert control.sentence.endswith(".")
        assert f">{control.where}</p>" in shown(panel)
        assert control.where in panel.text()


def test_armed_faults_are_listed_and_followed() -> None:
    faults = Pressed()
    panel = FaultPanel(lambda: faults)  # type: ignore[arg-type,return-value]
    assert "No fault is armed." in shown(panel)
    faults.waiting.append(ArmedFault("throttle", "The table is <tired>", 2, 1))
    panel.show_armed()
    assert "The table is &lt;tired&gt; (still to come: 2; fired so far: 1)" in shown(panel)
    faults.waiting.clear()
    panel.show_armed()
    assert "No fault is armed." in shown(panel)


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
def test_an_error_of_a_callback_is_shown_in_the_panel(error: Exception, words: list[str]) -> None:
    faults = Pressed(error=error)
    panel = FaultPanel(lambda: faults)  # type: ignore[arg-type,return-value]
    panel.press("send_again")
    for word in words:
        assert word in shown(panel)
    faults.error = None
    panel.press("clear")
    assert words[0] not in shown(panel), "the next success takes the error away"


def test_an_error_while_listing_is_shown_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> LabFaults:
        raise RuntimeError("the account is gone")

    panel = FaultPanel(broken)
    assert "the account is gone" in shown(panel)


def test_the_static_form_names_the_plain_methods_and_never_changes() -> None:
    faults = Pressed()
    panel = FaultPanel(lambda: faults)  # type: ignore[arg-type,return-value]
    data = panel._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
    for control in controls():
        assert control.call in data["text/plain"]
        assert control.call in Outline(data["text/html"]).text
    faults.waiting.append(ArmedFault("x", "y", 1))
    panel.press("clear")
    assert panel.html() == data["text/html"]


def test_every_control_can_be_reached_and_named_by_keyboard_and_screen_reader() -> None:
    panel = FaultPanel(lambda: Pressed())  # type: ignore[arg-type,return-value]
    for button in inside(panel.widget, ipywidgets.Button):
        assert button.description
        assert button.tooltip
        assert button.tabbable is not False
    assert inside(panel.widget, ipywidgets.BoundedIntText)[0].description
