"""The Lab of a notebook, with its account: what the plain Lab does, shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.lab.errors import BadParameter
from helpers.lab.view import View
from helpers.show import Lab
from helpers.show.bundle import WIDGET_VIEW
from helpers.show.formatters import bundle_of
from tests.show.shown import Outline

pytestmark = pytest.mark.usefixtures("no_widgets")

HANG = 30.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONCE_HOME", str(tmp_path_factory.mktemp("home")))
        with Lab("idempotent-consumer", "en") as opened:
            yield opened


def test_the_lab_itself_is_a_line_that_says_ready(lab: Lab) -> None:
    data = lab._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"}
    assert lab.ready in Outline(data["text/html"]).text
    assert str(lab.cloud.port) not in data["text/html"]
    assert str(lab.folder) not in data["text/html"]


def test_each_question_of_the_lesson_can_be_shown(lab: Lab) -> None:
    for name in lab.texts.predictions:
        data = lab.predict(name)._repr_mimebundle_()
        assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
    assert lab.predict("repeat") is lab.predict("repeat"), "a cell that runs twice shows one question"
    with pytest.raises(BadParameter, match="no question"):
        lab.predict("nowhere")
    with pytest.raises(BadParameter):
        lab.predict([])


def test_each_check_and_the_view_can_be_shown(lab: Lab) -> None:
    for step in lab.steps:
        assert bundle_of(lab.check(step))["text/plain"]
    assert isinstance(lab.view(), View)
    assert "keep unchanged" in bundle_of(lab.view())["text/plain"]


def test_the_panel_presses_real_faults_and_shows_real_errors(lab: Lab) -> None:
    panel = lab.faults.panel()
    panel.press("send_again")
    assert "✗" in panel.widget.said["html"], "nothing was sent, so there is nothing to send again"
    panel.press("crash_after_write")
    assert [fault.fault for fault in lab.faults.armed()] == ["crash-after-write"]
    assert "✓" in panel.widget.said["html"]
    panel.press("clear")
    assert lab.faults.armed() == []
    assert panel.widget.armed == []


def test_a_call_in_a_cell_changes_the_panel_too(lab: Lab) -> None:
    panel = lab.faults.panel()
    assert panel.widget.armed == []
    lab.faults.lose_answer()
    (shown,) = panel.widget.armed
    lab.faults.cancel(shown["number"])
    assert panel.widget.armed == []
    lab.faults.crash_at_end()
    lab.faults.clear()
    assert panel.widget.armed == []


def test_the_panel_follows_when_a_fault_fires(lab: Lab) -> None:
    panel = lab.faults.panel()
    changed = threading.Event()
    lab.cloud.faults.throttle("sqs", "ListQueues")

    def saw(_change: Any) -> None:
        changed.set()

    panel.widget.show(armed=[{"number": 0, "words": "an old line", "count": ""}])
    panel.widget.observe(saw, names="armed")
    lab.cloud.client("sqs").list_queues()
    assert changed.wait(HANG), "the panel was not told that a fault has fired"
    assert panel.widget.armed == []
    panel.widget.unobserve_all()


def test_a_demonstration_that_cannot_work_yet_says_which_step_is_missing(lab: Lab) -> None:
    panel = lab.faults.panel()
    panel.live.play("double-charge", "next")
    panel.live.wait(HANG)
    assert "Connect an empty queue to the worker" in panel.widget.scene["said"]
    assert (panel.widget.scene["done"], panel.widget.scene["busy"]) == (0, False)


def test_reset_keeps_answers_and_the_panel_speaks_to_the_new_account(lab: Lab) -> None:
    vocabulary, panel = lab.vocabulary(), lab.faults.panel()
    word = vocabulary.blanks[0]
    vocabulary.write(word, "kept")
    panel.press("crash_after_write")
    before = lab.cloud
    assert lab.reset() is lab
    assert lab.cloud is not before
    assert lab.faults.panel() is panel
    assert (panel.widget.armed, panel.widget.said, panel.widget.scene) == ([], {}, {})
    panel.press("slow_worker")
    assert [fault.fault for fault in lab.faults.armed()] == ["slow-worker"]
    panel.press("clear")
    assert lab.vocabulary() is vocabulary
    assert lab.vocabulary().examples[word] == "kept"


def test_without_a_notebook_the_ready_line_is_printed(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab._announce()
    assert lab.ready in capsys.readouterr().out


def test_the_controls_of_a_closed_lab_say_so(lab: Lab) -> None:
    panel = lab.faults.panel()
    lab.faults.crash_at_end()
    (armed,) = panel.widget.armed
    lab.close()
    presses = [{"method": "clear"}, {"method": "crash_after_write"}, {"cancel": armed["number"]}]
    for press in [*presses, {"preset": "double-charge", "act": "next"}]:
        panel.widget.show(said={}, scene={})
        panel.live._pressed(press)
        panel.live.wait(HANG)
        shown = panel.widget.said or panel.widget.scene
        said = shown.get("html") or shown["said"]
        assert "This lab is closed." in said
        assert "Technical details" not in said
