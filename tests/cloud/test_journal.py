from __future__ import annotations

import dataclasses
import threading

import pytest

from helpers.cloud.journal import LEARNER, Call, Deployed, FaultFired, Journal


def deployed(journal: Journal, number: int) -> Deployed:
    return journal.record(Deployed, function=f"f{number}", code_sha256="x")


def test_events_count_from_one_and_carry_the_clocks_time() -> None:
    journal = Journal(now=lambda: 12.5)
    first, second = deployed(journal, 1), deployed(journal, 2)
    assert (first.number, second.number, first.at) == (1, 2, 12.5)
    assert journal.events() == [first, second]
    assert journal.last == 2


def test_events_are_frozen() -> None:
    event = deployed(Journal(), 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.function = "other"  # type: ignore[misc]


def test_a_full_journal_drops_the_oldest_and_says_so() -> None:
    journal = Journal(size=3)
    for number in range(5):
        deployed(journal, number)
    assert [event.number for event in journal.events()] == [3, 4, 5]
    assert journal.dropped == 2


def test_events_can_be_asked_by_kind_and_from_a_number_on() -> None:
    journal = Journal()
    deployed(journal, 1)
    fired = journal.record(FaultFired, fault="f", call="sqs:SendMessage", caller=None)
    last = deployed(journal, 2)
    assert journal.events(FaultFired) == [fired]
    assert journal.events(since=1) == [fired, last]
    assert journal.events(Deployed, since=1) == [last]


def test_a_subscriber_hears_each_event_until_it_stops() -> None:
    journal = Journal()
    heard: list[int] = []
    stop = journal.subscribe(lambda event: heard.append(event.number))
    deployed(journal, 1)
    stop()
    deployed(journal, 2)
    assert heard == [1]


def test_numbers_have_no_gaps_under_threads() -> None:
    journal = Journal()
    threads = [threading.Thread(target=lambda: [deployed(journal, 0) for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.number for event in journal.events()] == list(range(1, 1601))


def test_large_events_make_room_earlier_and_the_count_stays_true() -> None:
    journal = Journal(most=10_000)
    for number in range(50):
        journal.record(Deployed, function=f"f{number}", code_sha256="x" * 1_000)
    kept = journal.events()
    assert 5 <= len(kept) < 10
    assert journal.dropped + len(kept) == journal.last == 50
    assert [event.number for event in kept] == list(range(51 - len(kept), 51))


def test_an_event_larger_than_all_of_the_journal_is_the_only_one_that_is_kept() -> None:
    journal = Journal(most=10_000)
    deployed(journal, 1)
    journal.record(Deployed, function="f", code_sha256="x" * 20_000)
    assert [event.number for event in journal.events()] == [2]


def test_of_a_text_of_many_megabytes_the_beginning_is_kept() -> None:
    """The code of a function, in a request that creates it."""
    journal = Journal()
    parameters = {"FunctionName": "f", "Code": {"ZipFile": "UEsDB" + "A" * 40_000_000}}
    call = journal.record(
        Call, service="lambda", action="CreateFunction", caller=LEARNER, parameters=parameters, status=201, error=None,
        request_id="r",
    )  # fmt: skip
    assert call.parameters["FunctionName"] == "f"
    assert len(call.parameters["Code"]["ZipFile"]) < 2_000
    assert call.parameters["Code"]["ZipFile"].endswith("(40000005 characters)")
    assert len(parameters["Code"]["ZipFile"]) == 40_000_005, "the request itself is untouched"  # type: ignore[index]
