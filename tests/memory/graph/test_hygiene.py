"""Names that are nearly alike or used once: functions of what they are given."""

import pytest

from memory.graph.hygiene import alike, used_once

pytestmark = pytest.mark.shows("C5")


def test_names_that_differ_in_little_are_alike() -> None:
    assert alike(["Person", "person", "Persons", "PER_SON", "Place", "is", "I"]) == [
        ["PER_SON", "Person", "Persons", "person"]
    ]
    assert alike(["HAS_TAG", "hasTag", "has tag"]) == [["HAS_TAG", "has tag", "hasTag"]]
    assert alike(["人", "人们", "地点"]) == []
    assert alike(["+", "-", ""]) == []


def test_names_of_one_are_told() -> None:
    assert used_once({"b": 1, "a": 1, "c": 2}) == ["a", "b"]
