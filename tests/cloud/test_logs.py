"""Cutting a worker's output into log events."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from helpers.cloud import logs
from helpers.cloud.logs import EVENT_LIMIT, RUN_LIMIT, LogEvent, OutputReader, in_order, report_line


def frame(text: bytes, kind: int = 3, at: int = 1_000_000) -> bytes:
    """A log record as a worker writes it."""
    return b"\xa5\x5a\x00" + bytes([kind]) + len(text).to_bytes(4, "big") + at.to_bytes(8, "big") + text


def texts(data: bytes, cuts: list[int] | None = None) -> list[str]:
    """The events of some output that arrives in pieces."""
    reader = OutputReader()
    places = sorted({cut % (len(data) + 1) for cut in cuts or []})
    for begin, end in zip([0, *places], [*places, len(data)], strict=True):
        reader.feed(data[begin:end])
    return [event.text for event in reader.finish()]


def test_a_line_is_an_event_and_so_is_what_is_left() -> None:
    assert texts(b"one\ntwo\n\nthree") == ["one\n", "two\n", "\n", "three\n"]


def test_a_frame_is_one_event_with_all_its_lines_and_keeps_its_place() -> None:
    assert texts(b"before" + frame(b"a\nb\n", 0x17) + b"after\n" + frame(b"") + frame(b"c")) == [
        "before\n",
        "a\nb\n",
        "after\n",
        "\n",
        "c\n",
    ]


def test_a_frame_brings_its_own_time() -> None:
    reader = OutputReader(now=lambda: __import__("time").time() + 100)
    reader.feed(frame(b"x", at=5_000_000_000))
    (event,) = reader.finish()
    assert abs(event.at - (5_000_000 + 100_000)) <= 5


pieces = st.one_of(
    st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace") + b"\n"),
    st.binary(max_size=20)
    .filter(lambda data: b"\xa5" not in data and b"\n" not in data)
    .map(lambda data: data + b"\n"),
    st.text(max_size=20).map(lambda text: frame(text.encode("utf-8", "replace"))),
)


@given(st.lists(pieces, max_size=12), st.lists(st.integers(0, 10_000), max_size=12))
def test_it_does_not_matter_how_the_output_is_cut_into_pieces(output: list[bytes], cuts: list[int]) -> None:
    data = b"".join(output)
    assert texts(data, cuts) == texts(data)


def test_bytes_that_only_look_like_a_frame_swallow_nothing_of_the_next_run() -> None:
    reader = OutputReader()
    reader.feed(b"\xa5\x5a\x00\x03\xff\xff\xff\xff12345678text\nmore\n")
    assert "".join(event.text for event in reader.finish()).endswith("text\nmore\n")
    reader.feed(b"next\n")
    assert [event.text for event in reader.finish()] == ["next\n"]


def test_a_line_that_is_too_long_keeps_its_beginning_and_the_loss_is_told() -> None:
    data = "é".encode() * 200_000
    first, note, after = texts(data + b"\nafter\n", list(range(0, len(data), 65_536)))
    assert len(first.encode()) <= EVENT_LIMIT + 1
    dropped = re.fullmatch(r"\[once\] (\d+) bytes of output were dropped: a log event holds \d+ bytes\.\n", note)
    assert dropped
    assert abs(len(first.encode()) - 1 + int(dropped.group(1)) - len(data)) <= 1
    assert after == "after\n"


def test_a_frame_that_is_too_long_keeps_its_beginning_and_what_follows_is_intact() -> None:
    data = frame(b"y" * 700_000) + b"after\n"
    first, note, after = texts(data, list(range(0, len(data), 65_536)))
    assert first == "y" * EVENT_LIMIT + "\n"
    assert note.startswith(f"[once] {700_000 - EVENT_LIMIT} bytes")
    assert after == "after\n"


def test_a_run_keeps_a_bounded_log_and_the_next_run_begins_anew() -> None:
    reader = OutputReader()
    for _ in range(10):
        reader.feed(b"z\n" * 32_768)
    events = reader.finish()
    assert len(events) * 66 <= RUN_LIMIT + 200
    assert re.fullmatch(r"\[once\] \d+ bytes of output were dropped: a run keeps \d+ bytes\.\n", events[-1].text)
    reader.feed(b"next\n")
    assert [event.text for event in reader.finish()] == ["next\n"]


def test_times_never_run_back() -> None:
    events = [LogEvent(5, "a"), LogEvent(9, "b"), LogEvent(7, "c"), LogEvent(8, "d")]
    assert [(event.at, event.text) for event in in_order(events)] == [(5, "a"), (7, "b"), (7, "c"), (8, "d")]


def test_the_report_bills_begun_milliseconds_and_the_initialisation() -> None:
    assert report_line("id", 1.234, 128, 40, None) == (
        "REPORT RequestId: id\tDuration: 1.23 ms\tBilled Duration: 2 ms\t"
        "Memory Size: 128 MB\tMax Memory Used: 40 MB\t\n"
    )
    assert "\tBilled Duration: 102 ms\t" in report_line("id", 1.5, 128, 40, 100.2)
    assert report_line("id", 2.0, 128, 40, 3.0, "timeout").endswith("\tInit Duration: 3.00 ms\tStatus: timeout\t\n")


def test_the_arn_of_a_runtime_has_the_form_of_aws() -> None:
    assert re.fullmatch(r"arn:aws:lambda:us-east-1::runtime:[0-9a-f]{64}", logs.runtime_arn("python3.13"))
