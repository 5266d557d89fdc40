"""What an event wrote is forgotten everywhere its graph lasts: audit log, store, snapshots; all else stays."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.dump.dump import write_dump
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.erasure import AFTER, AGAIN_SECONDS, erase_event, finish, finish_later, unclean
from memory.history.restore import restore
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import SESSION, free_port
from tests.memory.history.test_repair import ME, Home

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

SECRET = Origin("event-secret")
NAME = "Wilhelmina"


def found_in(folder: Path, words: str) -> list[Path]:
    """Return the files of a folder that hold these words, as bytes of UTF-8 or UTF-16, or packed by gzip."""
    import gzip

    def holds(file: Path) -> bool:
        raw = file.read_bytes()
        unpacked = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else b""
        needles = [words.encode(), words.encode("utf-16-le"), words.encode("utf-16-be")]
        return any(needle in body for needle in needles for body in (raw, unpacked))

    return [file for file in sorted(folder.rglob("*")) if file.is_file() and holds(file)]


async def told(home: Home) -> None:
    """Write something, then the secret in several forms, then more that goes on with both."""
    await home.writer.write("UNWIND range(1, 30) AS i CREATE (:A {i: i})", {}, ME)
    await home.writer.take_snapshot("before the secret")
    await home.writer.write("CREATE (:Person {name: $name})", {"name": NAME}, SECRET)
    await home.writer.write(f"CREATE (:{NAME})-[:knows]->(:B)", {}, SECRET)
    with pytest.raises(GraphRefused):
        await home.writer.write(f"CREATE (:B {{x: unknown_{NAME}()}})", {}, SECRET)
    await home.writer.take_snapshot("with the secret")
    await home.writer.write("MATCH (p:Person) CREATE (p)-[:likes]->(:Tea {at: datetime()})", {}, ME)
    await home.writer.write("MATCH (a:A {i: 7}) SET a.tea = $tea", {"tea": "green"}, ME)


@pytest.mark.shows("V29", "C11")
async def test_a_name_told_and_forgotten_is_found_in_no_file(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await told(home)
        assert {file.parent.name for file in found_in(tmp_path, NAME)} >= {"audit", "snapshots"}
        assert await erase_event(home.writer, home.store, SECRET.event_id) == 3
        assert found_in(tmp_path, NAME) == []
        kept = await home.writer.graph.read("MATCH (n) RETURN count(n) AS n, count(n.tea) AS tea")
        assert kept.records == [{"n": 30, "tea": 1}]
        assert await home.audit.verify() > 10
        reasons = [snapshot.reason for snapshot in await home.snapshots.listed()]
        assert reasons == ["before the secret", AFTER]
        await home.writer.write("CREATE (:C)", {}, ME)
        assert not await finish(home.writer, home.store)
    assert found_in(tmp_path, NAME) == []


@pytest.mark.shows("V29", "C11")
async def test_what_was_named_by_the_store_s_id_is_found_again_or_left_alone(tmp_path: Path) -> None:
    """The store gives other ids when the graph is made again: a write by one must not hit what has it now."""
    home = Home(tmp_path)
    by_id = "MATCH (n) WHERE elementId(n) = $id "
    async with home.supervised():
        await home.writer.write("CREATE (:Person {name: $name})", {"name": NAME}, SECRET)
        await home.writer.write("UNWIND ['Ben', 'Cy', 'Di', 'Di'] AS name CREATE (:Person {name: name})", {}, ME)
        found = await home.writer.graph.read("MATCH (p:Person) RETURN elementId(p) AS id, p.name AS name ORDER BY id")
        ids = {str(row["name"]): row["id"] for row in found.records}
        link = f"{by_id} MATCH (o) WHERE elementId(o) = $other CREATE (n)-[:knows]->(o)"
        await home.writer.write(link, {"id": ids["Ben"], "other": ids["Cy"]}, ME)
        await home.writer.write(by_id + "SET n.note = 'for Ben'", {"id": ids["Ben"]}, ME)
        await home.writer.write(by_id + "SET n.note = 'for one of two'", {"id": ids["Di"]}, ME)
        [knows] = (await home.writer.graph.read("MATCH ()-[r:knows]->() RETURN elementId(r) AS id")).records
        since = "MATCH ()-[r]->() WHERE elementId(r) = $id SET r.since = 1999"
        await home.writer.write(since, {"id": knows["id"]}, ME)
        await home.writer.write(by_id + "DETACH DELETE n", {"id": ids[NAME]}, ME)
        assert await erase_event(home.writer, home.store, SECRET.event_id) == 1
        people = await home.writer.graph.read("MATCH (p:Person) RETURN p.name AS name, p.note AS note ORDER BY name")
        assert [(row["name"], row["note"]) for row in people.records] == [
            ("Ben", "for Ben"),
            *[("Cy", None), ("Di", None), ("Di", None)],
        ]
        links = await home.writer.graph.read(
            "MATCH (a)-[r:knows]->(b) RETURN a.name AS one, r.since AS since, b.name AS other"
        )
        assert links.records == [{"one": "Ben", "since": 1999, "other": "Cy"}]


@pytest.mark.shows("V29", "C15")
async def test_a_forgetting_that_broke_off_is_finished(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await told(home)
        await home.audit.erase([r.seq for r in home.audit.records() if r.content and NAME in str(r.content)])
        assert unclean(list(home.audit.records()))
        assert found_in(tmp_path / "graph", NAME)
        assert await finish(home.writer, home.store)
        assert found_in(tmp_path, NAME) == []
        assert unclean(list(home.audit.records())) == set()


@pytest.mark.shows("V29", "C15")
async def test_while_the_server_is_away_the_words_go_and_the_rest_is_tried_again(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit")
    await audit.append("attempt", {"event_id": "event-secret"}, {"cypher": f"CREATE (:{NAME})", "params": {}})
    await audit.append("outcome", {"of": 1, "committed": True})
    graph = Graph(Neo4jServer(f"bolt://127.0.0.1:{free_port()}"))
    writer = Writer(graph, audit, Snapshots(tmp_path / "snapshots", audit))
    with pytest.raises(GraphUnavailable):
        await erase_event(writer, None, "event-secret")
    assert found_in(tmp_path, NAME) == []
    assert writer.unfinished.is_set()
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise EOFError

    with pytest.raises(EOFError):
        await finish_later(writer, None, pause)
    assert waits == [AGAIN_SECONDS] * 2
    assert unclean(list(audit.records())) == {1}
    await graph.close()
    audit.close()


@pytest.mark.shows("V29")
async def test_what_wrote_nothing_costs_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await told(home)
        pid = home.store.pid
        assert await erase_event(home.writer, home.store, "another event") == 0
        assert home.store.pid == pid


@pytest.mark.shows("V29", "C12")
async def test_forgetting_finds_its_way_over_restores(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        await told(home)
        with_secret = (await home.snapshots.listed())[-1]
        await home.writer.write("MATCH (n) DETACH DELETE n", {}, ME)
        await restore(home.writer, home.store, with_secret.path)
        await home.writer.write("CREATE (:AfterRestore)", {}, ME)
        await erase_event(home.writer, home.store, SECRET.event_id)
        labels = await home.writer.graph.read("MATCH (n) RETURN labels(n)[0] AS l, count(*) AS n ORDER BY l")
        assert labels.records == [{"l": "A", "n": 30}, {"l": "AfterRestore", "n": 1}]
    assert found_in(tmp_path, NAME) == []


@pytest.mark.shows("V29")
async def test_a_server_forgets_too(tmp_path: Path, neo4j: Graph) -> None:
    audit = AuditLog(tmp_path / "audit")
    writer = Writer(neo4j, audit, Snapshots(tmp_path / "snapshots", audit))
    await writer.write("CREATE (:A {i: 1})", {}, ME)
    before = tmp_path / "before"
    await write_dump(neo4j, before, datetime.now(UTC))
    await writer.write("CREATE (:Person {name: $name})", {"name": NAME}, SECRET)
    await writer.take_snapshot("with the secret")
    assert await erase_event(writer, None, SECRET.event_id) == 1
    [snapshot] = await writer.snapshots.listed()
    assert await asyncio.to_thread(fingerprint, snapshot.path) == await asyncio.to_thread(fingerprint, before)
    assert found_in(tmp_path, NAME) == []
