"""The benchmark's own parts. No time is asserted here: what is fast is said by ``make bench``."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.budget import Meter, Part
from benchmarks.chart import Bar, bars
from benchmarks.engines import Engine, Measurement, NotStarted, Watch, measure, started
from benchmarks.figures import Goal, Spread, comparison, growth, table
from benchmarks.order_flow import Flow, Wrong, _wait_for, run
from benchmarks.peer import NoPeer, ministack
from helpers.cloud import Cloud


def measurement(engine: str, messages: int, seconds: float) -> Measurement:
    flow = Flow(messages, set_up=0.5, first_item=0.2, seconds=seconds, sender_cpu=0.1)
    return Measurement(engine, start=1.0, flow=flow, memory=200.0, server_cpu=0.3, worker_cpu=0.7)


SIZES = {
    "once": {200: [measurement("once", 200, s) for s in (1.0, 2.0, 4.0)], 400: [measurement("once", 400, 5.0)]},
    "ministack": {200: [measurement("ministack", 200, s) for s in (8.0, 5.0)]},
}


def test_a_spread_is_the_median_with_the_smallest_and_the_largest() -> None:
    assert Spread.of([3.0, 1.0, 2.5]) == Spread(2.5, 1.0, 3.0, 3)
    assert Spread.of([3.0, 1.0]).text() == "2.0 (1.0–3.0)"
    assert Spread.of([3.14159]).text(2) == "3.14"
    with pytest.raises(ValueError, match="no values"):
        Spread.of([])


@pytest.mark.parametrize(
    ("found", "limit", "at_least", "reached"),
    [(3.0, 3.0, True, True), (2.9, 3.0, True, False), (1.2, 1.2, False, True), (1.3, 1.2, False, False)],
)
def test_a_goal_is_reached_at_its_limit(found: float, limit: float, at_least: bool, reached: bool) -> None:
    goal = Goal("speed", found, limit, at_least)
    assert goal.reached is reached
    assert goal.row()[3] == ("yes" if reached else "**no**")


def test_a_table_keeps_its_columns_whatever_stands_in_a_cell() -> None:
    lines = table(["", "a"], [["x|y", "1"]]).splitlines()
    assert lines == ["|  | a |", "| :-- | --: |", "| x\\|y | 1 |"]


def test_the_comparison_gives_medians_and_their_ratio() -> None:
    lines = comparison({engine: sizes[200] for engine, sizes in SIZES.items()}).splitlines()
    assert lines[0] == "|  | once | ministack | ratio |"
    assert lines[2] == "| messages per second | 100.0 (50.0–200.0) | 32.5 (25.0–40.0) | 3.08 |"
    assert "| once | 400 | 80.0 | 12.5 | 2.5 | 200 |" in growth(SIZES)


def test_the_document_says_which_goals_are_reached() -> None:
    parts = [Part("moto", "account", 1.0), Part("boto3", "worker", 3.0), Part("send", "sender", 1.0)]
    text = command._document(SIZES, SIZES, [1.0], parts, 200)
    assert "| messages per second, against ministack | at least 3 | 3.08 | yes |" in text
    assert "| messages per second, against ministack, silent handler | at least 3 | 3.08 | yes |" in text
    assert "| cost of a message at 400, against 200 | at most 1.2 | 1.25 | **no** |" in text
    assert "boto3 and the handler alone take 4.0 of 5.0 ms" in text
    only = {"once": SIZES["once"]}
    assert "| ministack" not in command._document(only, only, [1.0], parts, 200)


def test_the_chart_has_a_bar_and_words_for_each_value() -> None:
    chart = bars("Speed <&>", [Bar("once", 200.0, True), Bar("peer & co", 50.0, False)])
    root = ElementTree.fromstring(chart)
    shapes = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert [float(shape.get("width", 0)) for shape in shapes] == pytest.approx([410.0, 102.5])
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words == ["Speed <&>", "once", "200", "peer & co", "50"]
    assert "prefers-color-scheme: dark" in chart
    with pytest.raises(ValueError, match="above zero"):
        bars("nothing", [])


def test_a_meter_counts_what_a_part_spends_in_another_one_there_only() -> None:
    meter = Meter()

    def spin(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    class Work:
        def outer(self) -> None:
            spin(0.01)
            self.inner()

        def inner(self) -> None:
            spin(0.05)

    meter.wrap(Work, "outer", "outer")
    meter.wrap(Work, "inner", "inner")
    before = time.thread_time()
    Work().outer()
    spent = time.thread_time() - before
    assert meter.seconds["inner"] > meter.seconds["outer"] > 0
    assert sum(meter.seconds.values()) <= spent
    meter.close()
    Work().outer()
    assert sum(meter.seconds.values()) <= spent


def test_the_flow_stores_each_order_once_and_its_processes_are_watched(cloud: Cloud) -> None:
    watch = Watch(os.getpid())
    begun: list[float] = []
    flow = run(cloud.endpoint, 6, begun=lambda: begun.append(watch.cpu()[0]))
    own, workers = watch.cpu()
    watch.stop()
    assert (flow.messages, len(begun)) == (6, 1)
    assert own > begun[0] > 0
    assert workers > 0
    assert watch.memory > 10
    assert cloud.client("dynamodb").scan(TableName="orders")["Count"] == 4


def test_an_engine_that_ends_is_named_with_its_words_and_one_that_answers_is_ended() -> None:
    with pytest.raises(NotStarted, match="broken did not start:\nno such thing"):
        measure(Engine("broken", (sys.executable, "-c", "print('no such thing')")), 1)
    serves = Engine("files", (sys.executable, "-m", "http.server", "{port}", "--bind", "127.0.0.1"))
    with started(serves) as (endpoint, process, seconds):
        assert endpoint.startswith("http://127.0.0.1:")
        assert seconds > 0
    assert process.poll() is not None


def test_a_peer_that_cannot_be_had_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoPeer, match="There is no program"):
        ministack(str(tmp_path / "missing"))
    monkeypatch.setattr("benchmarks.peer.ROOT", tmp_path)
    monkeypatch.setattr(
        "benchmarks.peer.subprocess.run",
        lambda *_, **__: dataclasses.make_dataclass("Done", ["returncode", "stdout", "stderr"])(1, "", "no network"),
    )
    with pytest.raises(NoPeer, match=r"no network.*--peer none"):
        ministack()


def test_a_flow_that_does_not_get_there_has_no_time() -> None:
    with pytest.raises(Wrong, match="an empty queue: not reached"):
        _wait_for("an empty queue", lambda: False, 0.01)
