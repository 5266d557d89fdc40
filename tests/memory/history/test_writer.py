"""The one writer on real stores: no change that is not in the audit log first, and much goes only after a snapshot."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio

from memory.errors import GraphRefused, GraphUnavailable, StateUnusable
from memory.graph.dump.dump import write_dump
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Kind, Origin, Record
from memory.history.replay import Replayed, replay
from memory.history.snapshot import Snapshots
from memory.history.writer import Alone, Writer
from memory.json_value import Json
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

ME = Origin("event-1")


def writer_in(folder: Path, graph: Graph) -> Writer:
    audit = AuditLog(folder / "audit")
    return Writer(graph, audit, Snapshots(folder / "snapshots", audit))


@pytest_asyncio.fixture(loop_scope="session")
async def writer(tmp_path: Path, graph: Graph) -> AsyncIterator[Writer]:
    made = writer_in(tmp_path, graph)
    yield made
    made.audit.close()


def told(writer: Writer) -> list[tuple[str, object]]:
    """Return the audit log in short: kinds, and what became of an attempt."""
    return [(record.kind, record.facts.get("committed")) for record in writer.audit.records()]


async def count(graph: Graph) -> object:
    return (await graph.read("MATCH (n) RETURN count(n) AS n")).records[0]["n"]


async def same(writer: Writer, another: Graph, folder: Path) -> Replayed:
    """Replay into another graph and assert that it is equal."""
    done = await replay(writer.audit, writer.snapshots, another)
    await write_dump(writer.graph, folder / "own", writer.snapshots._now())
    await write_dump(another, folder / "replayed", writer.snapshots._now())
    assert fingerprint(folder / "replayed") == fingerprint(folder / "own")
    return done


@pytest.mark.shows("C11", "C4")
async def test_a_write_is_in_the_audit_log_with_what_became_of_it(writer: Writer) -> None:
    written = await writer.write("CREATE (a:A {x: $x}) RETURN a.x AS x", {"x": "小明"}, ME)
    assert written.stats["nodesCreated"] == 1
    attempt, outcome = list(writer.audit.records())
    assert attempt.facts == {"event_id": "event-1", "owner_key": "household", "attempt": 1, "inexact": []}
    assert attempt.content == {"cypher": "CREATE (a:A {x: $x}) RETURN a.x AS x", "params": {"x": "小明"}}
    assert outcome.facts["committed"] is True
    assert outcome.facts["stats"] == {"nodesCreated": 1, "propertiesSet": 1, "labelsAdded": 1}


@pytest.mark.shows("C11")
async def test_the_attempt_is_on_the_disk_before_the_store_hears_of_it(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit")
    writer = Writer(Graph(EmbeddedStore(tmp_path / "graph")), audit, Snapshots(tmp_path / "snapshots", audit))
    with pytest.raises(GraphUnavailable):
        await writer.write("CREATE (a)", {}, ME)
    assert told(writer) == []  # nobody was asked, so there was no attempt

    tmp_path.joinpath("audit").chmod(0o700)
    async with EmbeddedStore(tmp_path / "graph") as store:
        writer.graph = Graph(store)
        audit.folder = tmp_path / "audit" / "not a folder"
        audit.folder.parent.joinpath("not a folder").write_text("")
        audit._tail = None
        with pytest.raises(StateUnusable):
            await writer.write("CREATE (a)", {}, ME)
        assert await count(writer.graph) == 0
        await writer.graph.close()


@pytest.mark.shows("C11")
async def test_a_statement_that_fails_is_an_attempt_that_came_to_nothing(writer: Writer) -> None:
    with pytest.raises(GraphRefused):
        await writer.write("CREAT (a)", {}, ME)
    assert told(writer) == [("attempt", None), ("outcome", False)]


@pytest.mark.shows("C10", "C12")
async def test_before_much_goes_there_is_a_snapshot_and_then_it_goes(
    writer: Writer, another: Graph, tmp_path: Path
) -> None:
    await writer.write("UNWIND range(1, 300) AS i CREATE (:A {i: i})", {}, ME)
    await writer.write("MATCH (n:A) WHERE n.i <= 20 DETACH DELETE n", {}, ME)
    assert await writer.snapshots.listed() == []
    written = await writer.write("MATCH (n) DETACH DELETE n", {}, ME)
    assert written.stats["nodesDeleted"] == 280
    assert await count(writer.graph) == 0
    [snapshot] = await writer.snapshots.listed()
    assert (snapshot.nodes, snapshot.reason) == (280, "before much was taken away")
    assert [kind for kind, _ in told(writer)][4:] == ["attempt", "outcome", "snapshot", "attempt", "outcome"]
    assert told(writer)[5] == ("outcome", False)
    done = await same(writer, another, tmp_path)
    assert (done.base, done.writes) == (snapshot, 1)


@pytest.mark.parametrize("statement", ["MATCH (n:A) SET n.i = 0", "MATCH (n:A) REMOVE n:A", "MATCH (n:A) SET n = {}"])
async def test_writing_over_much_counts_as_taking_it_away(writer: Writer, statement: str) -> None:
    await writer.write("UNWIND range(1, 100) AS i CREATE (:A {i: i})", {}, ME)
    await writer.write(statement, {}, ME)
    assert [snapshot.nodes for snapshot in await writer.snapshots.listed()] == [100]


WRITES: tuple[tuple[str, dict[str, object]], ...] = (
    ("CREATE (a:Person {name: $name, at: datetime()})", {"name": "小明"}),
    ("MERGE (a:Person {name: $name}) ON CREATE SET a.new = true ON MATCH SET a.seen = date()", {"name": "小明"}),
    (
        "MATCH (a:Person) CREATE (a)-[:likes {since: $day, v: $v}]->(:Thing {n: $n})",
        {"day": "2026", "v": [0.1 * i for i in range(384)], "n": 1},
    ),
    (
        "UNWIND $rows AS row MERGE (t:Thing {n: row.n}) SET t.text = row.text",
        {"rows": [{"n": 1, "text": "a"}, {"n": 2, "text": "b"}]},
    ),
    ("MATCH (t:Thing {n: 2}) DETACH DELETE t", {}),
    ("CREATE INDEX thing_n IF NOT EXISTS FOR (t:Thing) ON (t.n)", {}),
    ("MATCH (t:Thing) SET t:Old REMOVE t.text", {}),
    ("MATCH (a:Person) WITH a ORDER BY a.name LIMIT 1 SET a.first = timestamp()", {}),
)


@pytest.mark.shows("C11", "C12")
async def test_a_replay_gives_an_equal_graph(writer: Writer, another: Graph, tmp_path: Path) -> None:
    for cypher, params in WRITES:
        await writer.write(cypher, params, ME)
    done = await same(writer, another, tmp_path)
    assert done.writes == len(WRITES)
    assert done.is_exact
    assert done.base is None


@pytest.mark.shows("C11")
async def test_its_memory_as_of_a_moment(writer: Writer, another: Graph) -> None:
    for name in ("a", "b", "c"):
        await writer.write("CREATE (:A {name: $name})", {"name": name}, ME)
        if name == "a":
            await writer.take_snapshot("asked for")
    second = [record for record in writer.audit.records() if record.kind == "outcome"][1]
    done = await replay(writer.audit, writer.snapshots, another, second.at)
    assert done.base is not None
    found = await another.read("MATCH (n) RETURN n.name AS name ORDER BY name")
    assert [row["name"] for row in found.records] == ["a", "b"]


@pytest.mark.shows("C11")
async def test_what_chance_decided_is_said_and_comes_from_the_next_snapshot(
    writer: Writer, another: Graph, tmp_path: Path
) -> None:
    await writer.write("CREATE (:A {x: rand()})", {}, ME)
    [attempt] = [record for record in writer.audit.records() if record.kind == "attempt"]
    assert attempt.facts["inexact"] == ["rand()"]
    assert (await replay(writer.audit, writer.snapshots, another)).inexact == [attempt.seq]
    await another.write("MATCH (n) DETACH DELETE n")
    await writer.take_snapshot("asked for")
    assert (await same(writer, another, tmp_path)).is_exact


@pytest.mark.shows("C11", "V29")
async def test_what_was_erased_is_missing_and_said(writer: Writer, another: Graph) -> None:
    await writer.write("CREATE (:A {secret: $it})", {"it": "hush"}, ME)
    await writer.write("CREATE (:B)", {}, ME)
    await writer.audit.erase([1])
    assert (await replay(writer.audit, writer.snapshots, another)).erased == [1]
    assert (await another.read("MATCH (n) RETURN labels(n) AS l")).records == [{"l": ["B"]}]


@pytest.mark.shows("C11", "C15")
async def test_a_record_that_the_disk_changed_is_passed_over_and_said(writer: Writer, another: Graph) -> None:
    await writer.write("CREATE (:A {v: $v})", {"v": [0.5 * i for i in range(20)]}, ME)
    await writer.write("CREATE (:B)", {}, ME)
    [file] = writer.audit.folder.iterdir()
    file.write_bytes(file.read_bytes().replace(b'"$floats":"', b'"$floats":"*'))
    done = await replay(writer.audit, writer.snapshots, another)
    assert {number: why.partition(" (")[0] for number, why in done.refused.items()} == {
        1: "the record is not as it was written"
    }
    assert (await another.read("MATCH (n) RETURN labels(n) AS l")).records == [{"l": ["B"]}]


@pytest.mark.shows("C11", "A24")
async def test_after_a_crash_in_a_write_a_snapshot_says_what_is_true(
    writer: Writer, another: Graph, tmp_path: Path
) -> None:
    await writer.write("CREATE (:A)", {}, ME)
    # What a process leaves that died between the commit and the outcome.
    await writer.audit.append("attempt", {"inexact": []}, {"cypher": "CREATE (:B)", "params": {}})
    await writer.graph.write("CREATE (:B)")
    writer.audit.close()
    after = writer_in(tmp_path, writer.graph)
    await after.write("CREATE (:C)", {}, ME)
    assert [kind for kind, _ in told(after)] == [
        "attempt",
        "outcome",
        "attempt",
        "snapshot",
        "outcome",
        "attempt",
        "outcome",
    ]
    assert told(after)[4] == ("outcome", None)
    assert (await same(after, another, tmp_path)).writes == 1
    after.audit.close()


class WatchedLog(AuditLog):
    """Tells when something was written."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.written = asyncio.Event()

    async def append(self, kind: Kind, facts: Mapping[str, Json], content: Mapping[str, Json] | None = None) -> Record:
        record = await super().append(kind, facts, content)
        self.written.set()
        return record


@pytest.mark.shows("C11", "B10")
async def test_a_cancelled_write_is_settled_before_the_next(graph: Graph, another: Graph, tmp_path: Path) -> None:
    watched = WatchedLog(tmp_path / "audit")
    writer = Writer(graph, watched, Snapshots(tmp_path / "snapshots", watched))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(writer.write("UNWIND range(1, 5) AS i CREATE (:B {i: i})", {}, ME))
        await watched.written.wait()
        task.cancel()
    await writer.write("CREATE (:C)", {}, ME)
    assert told(writer)[:3] == [("attempt", None), ("snapshot", None), ("outcome", None)]
    await same(writer, another, tmp_path)


async def test_a_damaged_snapshot_is_passed_over_for_an_older_one(
    writer: Writer, another: Graph, tmp_path: Path
) -> None:
    await writer.write("CREATE (:A)", {}, ME)
    first = await writer.take_snapshot("first")
    await writer.write("CREATE (:B)", {}, ME)
    second = await writer.take_snapshot("second")
    second.path.write_bytes(second.path.read_bytes()[:-20])
    assert (await same(writer, another, tmp_path)).base == first


async def test_two_writes_at_once_follow_each_other(writer: Writer) -> None:
    await asyncio.gather(*(writer.write("CREATE (:A {i: $i})", {"i": i}, ME) for i in range(8)))
    assert [kind for kind, _ in told(writer)] == ["attempt", "outcome"] * 8
    assert await count(writer.graph) == 8


@pytest.mark.parametrize("alone", [Writer.exclusively, Writer.unsettled])
async def test_nobody_writes_while_one_has_the_graph_alone(
    embedded: Graph, tmp_path: Path, alone: Callable[[Writer], AbstractAsyncContextManager[Alone]]
) -> None:
    writer = writer_in(tmp_path, embedded)
    async with asyncio.TaskGroup() as group, alone(writer) as one:
        group.create_task(writer.write("CREATE (:A)", {}, ME))
        assert (await one.snapshot("of what nobody changes")).nodes == 0
    assert [kind for kind, _ in told(writer)] == ["snapshot", "attempt", "outcome"]
    writer.audit.close()
