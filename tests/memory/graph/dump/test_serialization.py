"""What the audit log and snapshots are written in gives back every value a graph can hold."""

import json
import math

import pytest
import pytz
from hypothesis import given
from hypothesis import strategies as st
from neo4j import spatial, time

from memory.graph.dump.serialization import deserialized, serialized
from memory.json_value import Json


def again(value: object) -> object:
    """Return what comes back after a stay in a file."""
    return deserialized(json.loads(json.dumps(serialized(value), ensure_ascii=False)))


shanghai = pytz.timezone("Asia/Shanghai")

MOMENTS = [
    time.DateTime(2025, 1, 2, 3, 4, 5, 123456789, tzinfo=pytz.FixedOffset(480)),
    time.DateTime(2025, 1, 2, 3, 4, 5, 0),
    time.DateTime(2026, 11, 21, 12, 0, 7, 717204058, tzinfo=pytz.utc),
    time.Date(2025, 1, 2),
    time.Time(3, 4, 5, 5, tzinfo=pytz.FixedOffset(60)),
    time.Time(3, 4, 5, 0),
    time.Duration(months=14, days=-3, seconds=14706, nanoseconds=500000000),
    spatial.CartesianPoint((1.5, -2.5)),
    spatial.CartesianPoint((1.0, 2.0, 3.0)),
    spatial.WGS84Point((13.4, 52.5)),
    spatial.WGS84Point((13.4, 52.5, 34.0)),
]


@pytest.mark.shows("C12")
@pytest.mark.parametrize("value", MOMENTS, ids=repr)
def test_times_and_places_come_back_as_they_were(value: object) -> None:
    found = again(value)
    assert (type(found), found) == (type(value), value)


def test_a_moment_keeps_its_region_and_not_only_its_offset() -> None:
    moment = time.DateTime(2025, 1, 2, 3, 4, 5, 0).as_timezone(pytz.utc)
    there = shanghai.localize(moment.to_native().replace(tzinfo=None))
    found = again(time.DateTime.from_native(there))
    assert isinstance(found, time.DateTime)
    assert found.to_native() == there
    assert getattr(found.tzinfo, "zone", None) == "Asia/Shanghai"


PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


@given(VALUES)
def test_any_parameter_comes_back(value: object) -> None:
    assert repr(again(value)) == repr(value)


@given(st.lists(st.floats(), min_size=17, max_size=400))
def test_an_embedding_is_packed_bit_for_bit(vector: list[float]) -> None:
    packed = serialized(vector)
    assert isinstance(packed, dict)
    assert list(packed) == ["$floats"]
    assert [math.copysign(1, number) for number in vector] == [math.copysign(1, number) for number in _list(vector)]
    assert repr(_list(vector)) == repr(vector)


def _list(vector: list[float]) -> list[float]:
    found = again(vector)
    assert isinstance(found, list)
    return found


def test_a_map_whose_key_looks_like_a_type_is_a_map() -> None:
    assert again({"$date": "2025-01-02", "x": 1}) == {"$date": "2025-01-02", "x": 1}


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j])
def test_what_no_graph_holds_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="can be written down"):
        serialized(value)


@pytest.mark.parametrize(
    "value",
    [{"$what": 1}, {"$point": [1, 2.0]}, {"$duration": [1]}, {"$map": 1}, {"$date": 5}, {"$floats": "***"}],
    ids=repr,
)
def test_what_nobody_wrote_is_refused(value: Json) -> None:
    with pytest.raises(ValueError, match=r"."):
        deserialized(value)
