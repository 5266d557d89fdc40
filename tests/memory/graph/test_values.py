"""Every type of value as JSON: from the driver's own objects, and there and back through the real stores."""

import json
import math
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

from memory.errors import GraphRefused
from memory.graph.graph import Graph
from memory.graph.values import plain
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = pytest.mark.shows("C3")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (1.5, 1.5),
        ("小明", "小明"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (b"abc", {"base64": "YWJj"}),
        (bytearray(b"abc"), {"base64": "YWJj"}),
        ([1, [2, None]], [1, [2, None]]),
        ({"k": [1.5, {"x": "y"}]}, {"k": [1.5, {"x": "y"}]}),
        (Date(2026, 1, 2), "2026-01-02"),
        (Time(10, 0, 0), "10:00:00"),
        (Time(10, 0, 1, 500_000_000), "10:00:01.5"),
        (Time(10, 0, 0, 0, timezone(timedelta(hours=8))), "10:00:00+08:00"),
        (DateTime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (DateTime(2026, 1, 2, 3, 4, 5, 600, UTC), "2026-01-02T03:04:05.0000006+00:00"),
        (DateTime(2026, 1, 2, 3, 4, 5, 0, timezone(timedelta(hours=1))), "2026-01-02T03:04:05+01:00"),
        (Duration(months=14, days=3, seconds=14405, nanoseconds=500_000_000), "P1Y2M3DT4H5.5S"),
        (CartesianPoint((1.0, 2.0)), {"x": 1.0, "y": 2.0, "srid": 7203}),
        (CartesianPoint((1.0, 2.0, 3.0)), {"x": 1.0, "y": 2.0, "z": 3.0, "srid": 9157}),
        (WGS84Point((2.5, 1.5)), {"x": 2.5, "y": 1.5, "srid": 4326}),
        ([0.5] * 33, "(33 numbers, left out)"),
        ([0.5] * 32, [0.5] * 32),
        (list(range(40)), list(range(40))),
        ({"v": [0.5] * 1536}, {"v": "(1536 numbers, left out)"}),
    ],
)
def test_a_value_is_json(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)


def test_vectors_come_whole_when_asked_for() -> None:
    assert plain([0.5] * 384, longest_vector=1000) == [0.5] * 384


@SESSION
async def test_nodes_relationships_and_paths(graph: Graph) -> None:
    await graph.write("CREATE (:A:B {x: 1, v: $v})-[:R {w: 2}]->(:C)", {"v": [0.1] * 40})
    [row] = (await graph.read("MATCH p = (a)-[r]->(c) RETURN a, r, c, p, {list: [a, 1]} AS m")).records
    a, r, c, p, m = (row[name] for name in "arcpm")
    assert isinstance(a, dict)
    assert isinstance(r, dict)
    assert isinstance(c, dict)
    assert (a["labels"], a["properties"]) == (["A", "B"], {"v": "(40 numbers, left out)", "x": 1})
    assert r == {
        "elementId": r["elementId"],
        "type": "R",
        "start": a["elementId"],
        "end": c["elementId"],
        "properties": {"w": 2},
    }
    assert p == {"nodes": [a, c], "relationships": [r]}
    assert m == {"list": [a, 1]}
    found = await graph.read("MATCH (n) WHERE elementId(n) = $id RETURN labels(n) AS l", {"id": c["elementId"]})
    assert found.records == [{"l": ["C"]}]


@SESSION
@pytest.mark.parametrize(
    ("made", "text"),
    [
        ("date($t)", "2026-02-28"),
        ("time($t)", "10:00:01.5+08:00"),
        ("localtime($t)", "10:00:01"),
        ("datetime($t)", "2026-02-28T10:00:00+08:00"),
        ("datetime($t)", "2026-02-28T10:00:00+08:00[Asia/Shanghai]"),
        ("localdatetime($t)", "2026-02-28T10:00:00.123456789"),
        ("duration($t)", "P1Y2M3DT4H5.5S"),
    ],
)
async def test_times_are_stored_as_times_and_read_as_texts(graph: Graph, made: str, text: str) -> None:
    await graph.write(f"CREATE (:A {{at: {made}}})", {"t": text})
    found = await graph.read(f"MATCH (a:A) RETURN a.at AS at, a.at = {made} AS same", {"t": text})
    assert found.records == [{"at": text, "same": True}]


@SESSION
@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        2**63 - 1,
        -(2**63),
        1e308,
        5e-324,
        True,
        "",
        "a" * 100_000,
        [],
        [1, 2],
        ["x", "小"],
        [1.5, 2.5],
        b"\0\xff",
    ],
    ids=lambda value: str(value)[:20],
)
async def test_properties_come_back_as_they_went_in(graph: Graph, value: Any) -> None:
    await graph.write("CREATE (:A {x: $x})", {"x": value})
    found = await graph.read("MATCH (a:A) RETURN a.x AS x, a.x = $x AS same", {"x": value})
    assert found.records == [{"x": plain(value), "same": True}]


@SESSION
@pytest.mark.parametrize("value", [2**63, "\ud800", object(), {1, 2}], ids=["huge", "half", "object", "set"])
async def test_what_cannot_be_sent_is_refused_in_words(graph: Graph, value: object) -> None:
    with pytest.raises(GraphRefused, match="in params cannot be stored"):
        await graph.write("CREATE (:A {x: $x})", {"x": value})
    assert (await graph.read("MATCH (n) RETURN count(n) AS n")).records == [{"n": 0}]


@SESSION
async def test_a_map_is_refused_as_a_property_but_passes_as_a_value(graph: Graph) -> None:
    with pytest.raises(GraphRefused, match="primitive types"):
        await graph.write("CREATE (:A {x: $x})", {"x": {"k": 1}})
    assert (await graph.read("RETURN $x AS x", {"x": {"k": [1, None]}})).records == [{"x": {"k": [1, None]}}]
