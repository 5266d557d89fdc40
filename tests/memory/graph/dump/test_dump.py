"""A graph goes into a file and comes back equal, from either store; a damaged file changes nothing."""

import gzip
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from neo4j import Record
from neo4j.vector import Vector

from memory.errors import GraphRefused, SnapshotBroken
from memory.graph.dump.dump import _Writing, check_dump, load_dump, write_dump
from memory.graph.dump.fingerprint import contents, fingerprint
from memory.graph.graph import Graph
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

NOW = datetime(2026, 11, 21, tzinfo=UTC)

GROWN = (
    "CREATE (a:Person {name: '小明', at: datetime('2026-01-02T03:04:05.123456789+08:00'), born: date('1990-05-06'), "
    "local: localdatetime('2026-01-02T03:04:05'), there: datetime('2026-01-02T03:04:05[Asia/Shanghai]'), "
    "days: [datetime('2026-01-02T03:04:05Z'), datetime('2026-01-03T03:04:05Z')], wakes: time('07:00:00+01:00')})"
    "-[:likes {since: duration('P1Y2M3DT4H')}]->(b:Thing:`odd ``name` {n: 1, f: 1.5, tags: ['x', 'y'], ok: true})"
    "-[:SEEN {where: point({longitude: 13.4, latitude: 52.5})}]->(a), (a)-[:likes]->(a), (:Alone), ()",
    "UNWIND range(1, $many) AS i CREATE (:Many {i: i, v: [x IN range(0, 20) | x + 0.5 * i]})",
    "MATCH (a:Many), (b:Many) WHERE b.i = a.i + 1 CREATE (a)-[:next {i: a.i}]->(b)",
    "CREATE INDEX many_i IF NOT EXISTS FOR (n:Many) ON (n.i)",
    "CREATE CONSTRAINT one_name IF NOT EXISTS FOR (n:Person) REQUIRE n.name IS UNIQUE",
)


async def grown(graph: Graph, many: int) -> None:
    for statement in GROWN:
        await graph.write(statement, {"many": many} if "$many" in statement else {})


@pytest.mark.shows("C12")
async def test_a_graph_comes_back_equal(graph: Graph, another: Graph, tmp_path: Path) -> None:
    await grown(graph, 1200)  # more than one batch
    dump = await write_dump(graph, tmp_path / "one", NOW)
    assert (dump.nodes, dump.relationships) == (1204, 1202)
    assert (await load_dump(tmp_path / "one", another)).nodes == 1204
    await write_dump(another, tmp_path / "two", NOW)
    assert fingerprint(tmp_path / "two") == fingerprint(tmp_path / "one")
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    found = await another.read("SHOW INDEXES YIELD labelsOrTypes, properties RETURN labelsOrTypes, properties")
    assert {("Many", "i"), ("Person", "name")} <= {
        (row["labelsOrTypes"][0], row["properties"][0])  # type: ignore[index]
        for row in found.records
        if row["labelsOrTypes"]
    }


CHANGES = (
    "MATCH (n:Person) SET n.name = 'x'",
    "MATCH (n:Alone) SET n:Lonely",
    "MATCH (n:Alone) DELETE n",
    "CREATE ()",
    "MATCH (:Many {i: 3})-[r:next]->() SET r.i = 4",
    "MATCH (a:Many {i: 3})-[r:next]->(b) DELETE r CREATE (b)-[:next {i: 3}]->(a)",
    "MATCH (a:Many {i: 3})-[r:next]->(b), (c:Many {i: 9}) DELETE r CREATE (a)-[:next {i: 3}]->(c)",
)


@pytest.mark.parametrize("change", CHANGES)
async def test_a_graph_that_differs_has_another_fingerprint(embedded: Graph, tmp_path: Path, change: str) -> None:
    await grown(embedded, 20)
    await write_dump(embedded, tmp_path / "one", NOW)
    await embedded.write(change)
    await write_dump(embedded, tmp_path / "two", NOW)
    assert fingerprint(tmp_path / "two") != fingerprint(tmp_path / "one")


@pytest.mark.shows("C12", "C15")
@pytest.mark.parametrize("damage", ["torn", "half a file", "a byte", "a row missing", "another file", "empty"])
async def test_a_damaged_file_is_refused_and_changes_nothing(embedded: Graph, tmp_path: Path, damage: str) -> None:
    await embedded.write("UNWIND range(1, 50) AS i CREATE (:A {i: i})")
    path = tmp_path / "one"
    await write_dump(embedded, path, NOW)
    whole = path.read_bytes()
    lines = gzip.decompress(whole).splitlines(keepends=True)
    path.write_bytes(
        {
            "torn": gzip.compress(b"".join(lines[:20])),
            "half a file": whole[: len(whole) // 2],
            "a byte": gzip.compress(b"".join(lines).replace(b'{"i":7}', b'{"i":8}')),
            "a row missing": gzip.compress(b"".join(lines[:5] + lines[6:])),
            "another file": gzip.compress(b'{"some": "json"}\n'),
            "empty": b"",
        }[damage]
    )
    with pytest.raises(SnapshotBroken):
        check_dump(path)
    await embedded.write("MATCH (n) DETACH DELETE n")
    with pytest.raises(SnapshotBroken):
        await load_dump(path, embedded)
    assert (await embedded.read("MATCH (n) RETURN count(n) AS n")).records == [{"n": 0}]


@pytest.mark.shows("C12", "C15")
async def test_any_byte_that_the_disk_changed_is_found(embedded: Graph, tmp_path: Path) -> None:
    await embedded.write("UNWIND range(1, 50) AS i CREATE (:A {i: i, name: 'the ' + i})-[:L {i: i}]->(:B)")
    path = tmp_path / "one"
    await write_dump(embedded, path, NOW)
    whole = path.read_bytes()
    held, found, chance = contents(path), 0, random.Random(7)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << chance.randrange(8))]) + whole[place + 1 :])
        try:
            assert contents(path) == held, "a byte of the head or the end that means nothing"
        except SnapshotBroken:
            found += 1
    assert found > 0.9 * len(whole)


async def test_a_line_that_is_no_row_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(gzip.compress(b'{"nakari": "graph", "format": 1}\n7\n'))
    with pytest.raises(SnapshotBroken):
        check_dump(path)


async def test_a_value_of_a_type_of_tomorrow_is_told(tmp_path: Path) -> None:
    writing = _Writing(tmp_path / "one")
    with pytest.raises(GraphRefused, match=r"a snapshot cannot hold all .* no Vector can be written down"):
        writing.add_rows("n", [Record({"v": Vector([1.0], "f32")})])  # type: ignore[no-untyped-call]
    writing.close()


async def test_a_file_is_never_written_over(embedded: Graph, tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.touch()
    with pytest.raises(FileExistsError):
        await write_dump(embedded, path, NOW)
