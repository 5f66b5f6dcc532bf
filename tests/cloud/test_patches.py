from __future__ import annotations

import dataclasses
import os

import moto
import pytest
from moto.sqs import models as sqs

from helpers.cloud import patches, workflow_interpreter
from helpers.cloud.clock import Clock


@pytest.mark.parametrize(
    "place", [*patches.PLACES, *workflow_interpreter.PLACES], ids=lambda place: f"{place.module}.{place.name}"
)
def test_moto_still_has_each_patched_place_as_it_was(place: patches.Place) -> None:
    place.verify()


def test_the_release_whose_places_need_no_look_at_each_start_is_the_one_these_tests_run_on() -> None:
    assert moto.__version__ == patches.VERIFIED


def test_another_release_is_looked_at_before_the_account_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = dataclasses.replace(place_named("unix_time"), digest="0" * 16)
    monkeypatch.setattr(patches, "PLACES", (moved,))
    patches.verify()
    monkeypatch.setattr(moto, "__version__", "5.2.6")
    with pytest.raises(patches.PatchMoved, match="unix_time"):
        patches.verify()


def place_named(name: str) -> patches.Place:
    return next(place for place in patches.PLACES if place.name == name)


def test_a_moved_place_is_reported_with_what_to_do() -> None:
    changed = dataclasses.replace(place_named("unix_time"), digest="0" * 16)
    with pytest.raises(patches.PatchMoved, match=r"adapt helpers/cloud/patches\.py"):
        changed.verify()
    gone = dataclasses.replace(place_named("unix_time"), name="no_such_thing")
    with pytest.raises(patches.PatchMoved, match=r"no moto\.core\.utils\.no_such_thing any more"):
        gone.verify()


def test_undo_gives_moto_back_as_it_was() -> None:
    before = (sqs.unix_time, sqs.unix_time_millis, os.environ.get("MOTO_PORT"))
    applied = patches.Applied(Clock(), 1234)
    assert sqs.unix_time is not before[0]
    assert os.environ["MOTO_PORT"] == "1234"
    applied.undo()
    assert (sqs.unix_time, sqs.unix_time_millis, os.environ.get("MOTO_PORT")) == before


def test_queues_measure_time_with_the_accounts_clock() -> None:
    clock = Clock()
    applied = patches.Applied(clock, 1)
    try:
        start = sqs.unix_time_millis()
        clock.skip(3600)
        assert 3_600_000 <= sqs.unix_time_millis() - start < 3_660_000
    finally:
        applied.undo()
