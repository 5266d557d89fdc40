"""Names that are nearly alike, used once, never asked for: functions of what they are given."""

from datetime import UTC, datetime

import pytest

from memory.graph.hygiene import MOST_NAMES, Asked, alike, used_once
from memory.graph.store import Json

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


def test_what_a_query_names_or_returns_was_asked_for() -> None:
    asked = Asked(lambda: datetime(2026, 11, 21, tzinfo=UTC))
    node: Json = {"elementId": "1", "labels": ["L", "M"], "properties": {"p": 1}}
    link: Json = {"elementId": "2", "type": "R", "start": "1", "end": "1", "properties": {"w": 1}}
    asked.saw(
        "MATCH (n:`my label`)-[:KNOWS]->() WHERE n.x = 'hidden' // comment", [{"path": {"nodes": [node]}, "r": [link]}]
    )
    names = ["my label", "KNOWS", "x", "L", "M", "p", "R", "w", "hidden", "comment", "other"]
    assert asked.never(names) == ["comment", "hidden", "other"]
    assert asked.since.year == 2026


def test_what_is_kept_has_an_end() -> None:
    asked = Asked()
    for number in range(0, 3 * MOST_NAMES, 1000):
        asked.saw(
            "RETURN 1",
            [{"n": {"elementId": "", "labels": [], "properties": {f"k{number + i}": 1 for i in range(1000)}}}],
        )
    assert len(asked._names) <= MOST_NAMES + 1000
