"""lab.compare: the learner's value and the service's, field by field."""

from __future__ import annotations

import pytest

from helpers.lab.comparison import compare


def test_each_field_is_compared_under_its_path():
    found = compare({"Records": [{"key": "a", "size": 1}]}, {"Records": [{"key": "a", "size": 2}]})
    assert [(one.path, one.same) for one in found.fields] == [("Records[0].key", True), ("Records[0].size", False)]
    assert not found.agree


def test_what_only_the_service_has_is_named_by_its_root():
    found = compare({"a": {"b": 1}}, {"a": {"b": 1, "c": {"d": 1, "e": 2}}, "f": [1, 2]})
    assert found.agree
    assert found.only_theirs == ("a.c", "f")


def test_a_field_that_the_service_lacks_is_different():
    (field,) = compare({"a": None}, {}).fields
    assert not field.there
    assert not field.same


@pytest.mark.parametrize(
    ("ours", "theirs", "agree"),
    [
        ({}, {}, True),
        ([], {}, False),
        (1, True, False),
        (1, 1.0, False),
        ({"a": {}}, {"a": {}}, True),
        ("a", "a", True),
    ],
)
def test_values_of_other_types_are_not_the_same(ours, theirs, agree):
    assert compare(ours, theirs).agree is agree


def test_an_empty_part_and_a_full_one_differ():
    found = compare({"first": {}}, {"first": {"Error": 1}})
    assert not found.agree
    assert found.only_theirs == ("first.Error",)
