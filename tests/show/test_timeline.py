"""The timeline: every mark has a shape, a sign and a story, and the stored form is the same on each run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

import pytest

from helpers.lab.lanes import Lane, Mark, MarkKind, Skip
from helpers.lab.language import current, use
from helpers.show.marks import LOOKS, drawn, story_of, word_of
from helpers.show.timeline import Timeline
from tests.show.shown import Outline

KINDS = get_args(MarkKind)


def lane(number: int = 1, first: int = 1, at: float = 1000.0) -> Lane:
    """A message whose first delivery crashed after the write."""
    made = Lane("message", f"id-{number}-{at}", number, "<order>", '{"id": "<order>"}')
    kinds = ["sent", "received", "run", "written", "crashed", "returned", "received", "run", "refused", "acknowledged"]
    deliveries = [0, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    made.marks = [
        Mark(kind, first + place, at + place, delivery, "<order>")  # type: ignore[arg-type]
        for place, (kind, delivery) in enumerate(zip(kinds, deliveries, strict=True))
    ]
    made.marks[2].end, made.marks[2].outcome, made.marks[2].milliseconds = first + 4, "crash", at / 7
    return made


def test_no_two_marks_differ_by_colour_alone() -> None:
    assert set(LOOKS) == set(KINDS)
    looks = [(look.shape, look.sign) for kind, look in LOOKS.items() if kind not in {"ended"}]
    assert len(set(looks)) == len(looks), "an acknowledged message and an ended execution never stand in one lesson"
    assert len({word_of(kind) for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_mark_is_drawn_and_tells_a_story(kind: MarkKind) -> None:
    Outline(f"<svg>{drawn(kind, 10, 10)}</svg>")
    story = story_of(lane(), Mark(kind, 1, 0.0, 2, "about", "Error"), measured=True)
    assert story.startswith("Message 1, <order>: ")
    assert story.endswith(".")
    assert "{" not in story


def test_the_stored_form_says_the_same_on_each_run() -> None:
    """Other event numbers, times, durations and ids: the same text and the same picture."""
    one = Timeline([lane(1, 1), lane(2, 20)], [Skip(6, 30.0)])
    other = Timeline([lane(1, 7, 5000.0), lane(2, 90, 5000.0)], [Skip(12, 60.0)])
    strip = re.compile(r'data-k="[^"]*"')
    assert one.text() == other.text()
    assert strip.sub("", one.html()) == strip.sub("", other.html())
    assert "id-1" not in one.html(), "a message id differs from run to run"


def test_lanes_that_take_turns_in_another_way_are_stored_alike() -> None:
    first, second = lane(1, 1), lane(2, 100)
    later = [replace(mark, number=mark.number * 2) for mark in first.marks]
    mixed = replace(first, marks=later)
    mixed.marks[2].end = (first.marks[2].end or 0) * 2
    assert Timeline([first, second]).html() == Timeline([mixed, second]).html()


def test_a_run_reaches_from_its_begin_to_its_end_and_a_skip_is_marked() -> None:
    made = Timeline([lane()], [Skip(6, 30.0)], alive=True, common=True)
    html = made.drawing()
    Outline(html)
    assert "+30 s" in html
    bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*>', html)
    left, width = map(float, bars[0])
    x = {}
    for kind, place in re.findall(r'data-k="([a-z-]+)-\d+-1" data-x="([\d.]+)"', html):
        x.setdefault(kind, float(place))
    assert left < x["written"] < x["crashed"] < left + width < x["returned"] + 1
    assert html.count('stroke-dasharray="5 4"') == 1, "the second run has not ended"


@pytest.mark.parametrize(
    ("language", "seconds", "said"),
    [
        ("en", 300.0, "+5 min"),
        ("fr", 1_209_600.0, "+14\u00a0j"),
        ("fr", 1.5, "+1,5\u00a0s"),
        ("ru", 7200.0, "+2\u00a0ч"),
    ],
)
def test_how_far_the_clock_was_moved_is_said_in_the_language(language: str, seconds: float, said: str) -> None:
    before = current()
    try:
        use(language)
        assert said in Timeline([lane()], [Skip(6, seconds)], alive=True, common=True).drawing()
    finally:
        use(before)


def test_one_order_for_all_lanes_puts_what_came_later_further_to_the_right() -> None:
    html = Timeline([lane(1, 1), lane(2, 20)], alive=True, common=True).drawing()
    last = max(float(x) for x in re.findall(r'-1" data-x="([\d.]+)"', html))
    first = min(float(x) for x in re.findall(r'-2" data-x="([\d.]+)"', html))
    assert first > last


def test_what_is_not_shown_is_said_and_nothing_reaches_html_unescaped() -> None:
    made = Timeline([lane()], before=840)
    assert "840 older messages are not shown." in made.text()
    assert "840 older messages are not shown." in Outline(made.html()).text
    assert "<order>" not in made.html()
    assert "No message was sent yet." in Timeline([]).text()
    assert "No execution was started yet." in Outline(Timeline([], executions=True).html()).text


def test_the_stored_form_says_each_mark_in_its_alternative_text_and_its_story_below() -> None:
    made = Timeline([lane(1), lane(2, 20)])
    outline = Outline(made.html())
    assert outline.all("svg") == []
    picture, *icons = outline.all("img")
    said = picture["alt"] or ""
    assert said.startswith(
        "Timeline. Message 1, <order>: sent, received (1), run of the function, write accepted, crashed"
    )
    assert "Message 2, <order>: sent" in said
    assert {icon["alt"] for icon in icons} == {""}, "their words stand beside them"
    assert len(outline.all("li")) == len(icons) + sum(len(lane.marks) for lane in made.lanes)
    for mark in made.lanes[0].marks:
        assert story_of(made.lanes[0], mark, measured=False).partition(": ")[2] in outline.text


@pytest.mark.usefixtures("own_page")
def test_on_a_page_of_ones_own_each_mark_tells_its_story_where_it_is_pointed_at() -> None:
    made = Timeline([lane()])
    html = made.html()
    assert Outline(html).all("img") == []
    assert html.count("<title>") == len(made.lanes[0].marks)
    assert html.count('tabindex="0"') == 1, "the frame that scrolls; marks can be chosen in the live view only"


def test_the_table_says_the_same_as_the_picture() -> None:
    made = Timeline([lane()], alive=True)
    rows = Outline(made.table().html()).text
    for mark in made.lanes[0].marks:
        assert story_of(made.lanes[0], mark, measured=True) in rows
