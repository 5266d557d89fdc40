"""Indexes that nobody asked for: made where lookups scan, dropped when unused, on the real stores."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.event import USER_TEXT, Event
from agent.tools.memory import memory_tools
from agent.tools.tool import Call, run_tool
from memory.errors import GraphUnavailable
from memory.graph.by_itself import is_by_itself, lookup_index
from memory.graph.cypher import Statement
from memory.graph.dump.definitions import create_lookup
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.embedded.folder import LOOKUPS, note_lookups
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.graph.name_usage import SCHEMA, NameUsage, lookups_of
from memory.graph.store import Neo4jServer
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.lookups import MANY_NODES, OFTEN, LookupIndexes
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.state.database import Database
from memory.vectors.embedding import Handles, NoEmbedder
from tests.memory.graph_looks import SESSION, empty

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [pytest.mark.shows("C5", "C1")]

BY_NAME = "MATCH (n:Thing {name: $name}) RETURN n.i AS i"
FILL = (
    "UNWIND range(1, $n) AS i CREATE (:Thing {i: i, name: 'thing ' + i, note: 'n' + i}) "
    "WITH count(*) AS n CREATE (:Thing:Special {name: 'both', i: 0})"
)
OTHER_TYPES = [5, 2.5, True, ["a", "b"]]


class Clock:
    """The own one."""

    now = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Kept:
    """A graph, and what keeps its indexes."""

    graph: Graph
    writer: Writer
    usage: NameUsage
    indexes: LookupIndexes
    clock: Clock

    async def look_up(self, times: int = OFTEN, cypher: str = BY_NAME) -> None:
        for _ in range(times):
            statement = Statement.parse(cypher)
            found = await self.graph.read(statement, {"name": "thing 7"})
            self.usage.saw("household", statement, found.records)

    async def by_themselves(self) -> list[str]:
        return [
            str(row["name"]) for row in (await self.graph.read("SHOW INDEXES")).records if is_by_itself(row["name"])
        ]


@asynccontextmanager
async def kept(
    folder: Path, graph: Graph, store: EmbeddedStore | None, clock: Clock | None = None
) -> AsyncIterator[Kept]:
    clock = clock or Clock()
    database = Database(folder / "state.sqlite")
    await database.open(SCHEMA)
    usage = NameUsage(database, now=clock)
    audit = AuditLog(folder / "audit")
    writer = Writer(graph, audit, Snapshots(folder / "snapshots", audit))
    try:
        yield Kept(graph, writer, usage, LookupIndexes(writer, store, usage, lambda: False, now=clock), clock)
        await usage.save()
    finally:
        audit.close()
        await database.close()


@asynccontextmanager
async def own_store(folder: Path) -> AsyncIterator[tuple[Graph, EmbeddedStore]]:
    async with EmbeddedStore(folder / "graph") as store:
        graph = Graph(store)
        try:
            yield graph, store
        finally:
            await graph.close()


@pytest.mark.parametrize(
    ("cypher", "found"),
    [
        ("MATCH (n:A {x: $x})-[r:R {y: 1}]->(m:`B b`) WHERE m.z = $z AND n.w > 3 RETURN n", {("A", "x"), ("B b", "z")}),
        ("MERGE (a:A:B {x: $x, m: {y: 1}}) ON CREATE SET a.z = 3", {("A", "x"), ("A", "m"), ("B", "x"), ("B", "m")}),
        ("CREATE (a:A {x: $x}) SET a.y = 1", set()),
        (
            "MATCH (a:A) WHERE a.x IN $xs AND $y = a.y AND a.z =~ 'x' AND a.w <> 1 AND a.v >= 1 RETURN a",
            {("A", "x"), ("A", "y")},
        ),
        ("MATCH (a {x: $x}) WHERE a.y = 1 RETURN a.z = 2", set()),
        ("MATCH (a:A) WITH a.x AS x RETURN x = 2", set()),
    ],
)
def test_what_a_statement_looks_up(cypher: str, found: set[tuple[str, str]]) -> None:
    assert lookups_of(Statement.parse(cypher)) == found


@SESSION
async def test_a_lookup_that_scans_gets_an_index_which_changes_nothing_that_is_written(tmp_path: Path) -> None:
    async with own_store(tmp_path) as (graph, store), kept(tmp_path, graph, store) as keeps:
        await graph.write(FILL, {"n": MANY_NODES})
        await keeps.look_up(OFTEN - 1)
        await keeps.indexes.once()
        assert await keeps.by_themselves() == [], "not often enough"
        before = await shape(graph, tmp_path / "before")
        await keeps.look_up(1)
        await keeps.indexes.once()
        assert await keeps.by_themselves() == [lookup_index("Thing", "name")]
        assert await shape(graph, tmp_path / "after") == before, "no label, no property, no value, no snapshot's line"
        assert (await graph.read(BY_NAME, {"name": "thing 7"})).records == [{"i": 7}]
        schema = json.loads(await run_tool(tool(keeps, "memory_schema"), "{}", Call("1", Event(USER_TEXT, "x"))))
        assert schema["lookupIndexes"] == ["Thing.name"]
        assert schema["vectorIndexes"] == []
        assert not (store.folder / LOOKUPS).exists()
        await keeps.writer.write("CREATE (:Thing:Special {name: 7, odd: true})", {}, Origin())
        assert (await graph.read("MATCH (n:Special {odd: true}) RETURN n.name AS v")).records == [{"v": 7}], (
            "of several labels too"
        )
        for value in OTHER_TYPES:
            await keeps.writer.write("CREATE (:Thing {name: $name, odd: true})", {"name": value}, Origin())
            found = await graph.read("MATCH (n:Thing {name: $name}) RETURN n.name AS v", {"name": value})
            assert found.records == [{"v": value}], "what is written stays what it was, and is found"
        await keeps.writer.write("CREATE (n:Thing) SET n += $all", {"all": {"name": "x" * 1_000_000}}, Origin())
        assert await keeps.by_themselves() == [], "it gives way to what an index has no room for"
        found = await graph.read("MATCH (n:Thing) WHERE n.i IS NULL AND n.odd IS NULL RETURN size(n.name) AS n")
        assert found.records == [{"n": 1_000_000}]
        assert not list(records_with_index(keeps)), "nor is it in the audit log"


@SESSION
async def test_a_kill_while_it_is_made_leaves_no_property_that_converts(tmp_path: Path) -> None:
    async with own_store(tmp_path) as (graph, store):
        await graph.write(FILL, {"n": 50})
        note_lookups(store.folder, [("Thing", "name")])
        await graph.write(create_lookup("Thing", "name"))  # the engine has declared the property's type by now
        assert store.pid is not None
        os.kill(store.pid, signal.SIGKILL)
        await store.stop()
        await store.start()
        await graph.write("CREATE (:Thing {name: $name, odd: true})", {"name": 5})
        assert (await graph.read("MATCH (n:Thing {odd: true}) RETURN n.name AS v")).records == [{"v": 5}]
        assert (await graph.read(BY_NAME, {"name": "thing 7"})).records == [{"i": 7}]


@SESSION
async def test_a_kill_in_the_middle_of_making_leaves_it_whole_or_not_there(tmp_path: Path) -> None:
    async with own_store(tmp_path) as (graph, store):
        await graph.write(FILL, {"n": MANY_NODES})

        async def make() -> None:
            with suppress(GraphUnavailable):
                await store.make_lookups([("Thing", "name")])

        async with asyncio.TaskGroup() as group:
            group.create_task(make())
            while not store.indexes.is_making:  # noqa: ASYNC110  it tells nobody
                await asyncio.sleep(0)
            assert store.pid is not None
            os.kill(store.pid, signal.SIGKILL)
        await store.stop()
        await store.start()
        await graph.write("CREATE (:Thing {name: $name, odd: true})", {"name": 5})
        assert (await graph.read("MATCH (n:Thing {name: 5}) RETURN n.name AS v")).records == [{"v": 5}]
        for number in (1, 7, MANY_NODES):
            found = (await graph.read(BY_NAME, {"name": f"thing {number}"})).records
            assert found == [{"i": number}]


@SESSION
async def test_a_type_that_the_agent_wants_for_the_property_stays(tmp_path: Path) -> None:
    async with own_store(tmp_path) as (graph, store):
        await graph.write(FILL, {"n": 50})
        await store.make_lookups([("Thing", "name")])
        await graph.write("CREATE CONSTRAINT texts FOR (n:Thing) REQUIRE n.name IS :: STRING")
        await store.restart()
        await graph.write("CREATE (:Thing {name: 5, odd: true})")
        assert (await graph.read("MATCH (n:Thing {odd: true}) RETURN n.name AS v")).records == [{"v": "5"}]
        assert "nakari_lookup" not in str((await graph.read("SHOW INDEXES")).records)


@SESSION
async def test_numbers_few_nodes_and_what_has_an_index_get_none(tmp_path: Path) -> None:
    async with own_store(tmp_path) as (graph, store), kept(tmp_path, graph, store) as keeps:
        await graph.write(FILL, {"n": MANY_NODES})
        await graph.write(
            "CREATE (:Few {name: 'thing 7'}) WITH 1 AS x MATCH (n:Thing {i: 9}) SET n.note = $long",
            {"long": "x" * 2000},
        )
        await graph.write("CREATE INDEX mine FOR (n:Thing) ON (n.name)")
        for cypher in (
            "MATCH (n:Thing {i: 7}) RETURN n.i",
            "MATCH (n:Few {name: $name}) RETURN n.name",
            "MATCH (n:Thing {note: $name}) RETURN n.name",
            "MATCH (n:Thing {nothing: $name}) RETURN n.name",
            BY_NAME,
        ):
            await keeps.look_up(cypher=cypher)
        await keeps.indexes.once()
        assert await keeps.by_themselves() == []
        assert "mine" in str((await graph.read("SHOW INDEXES")).records), "the agent's own is not touched"


@SESSION
async def test_one_that_nothing_looks_up_goes_after_a_month_and_the_agent_s_own_takes_its_place(
    graph: Graph, embedded_store: EmbeddedStore, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    is_server = "neo4j" in request.node.name
    clock = Clock()
    async with kept(tmp_path, graph, None, clock) as keeps:
        await graph.write(FILL, {"n": MANY_NODES})
        await keeps.look_up()
        if is_server:
            await keeps.indexes.once()
        else:
            await graph.write(create_lookup("Thing", "name"))
        assert len(await keeps.by_themselves()) == 1
        clock.now += timedelta(days=20)
        await keeps.look_up(1)
        clock.now += timedelta(days=20)
        await keeps.indexes.once()
        assert len(await keeps.by_themselves()) == 1, "it was looked up twenty days ago"
        clock.now += timedelta(days=20)
        await keeps.indexes.once()
        assert await keeps.by_themselves() == []
        await graph.write(create_lookup("Thing", "name"))
        await graph.write("CREATE INDEX mine IF NOT EXISTS FOR (n:Thing) ON (n.name)")
        assert await keeps.by_themselves() == []
        assert "mine" in str((await graph.read("SHOW INDEXES")).records)
        clock.now += timedelta(days=60)
        await keeps.indexes.once()
        assert "mine" in str((await graph.read("SHOW INDEXES")).records)


@SESSION
async def test_it_waits_until_nobody_speaks(embedded: Graph, tmp_path: Path) -> None:
    busy, paused = [True, True, False], list[float]()

    class Enough(Exception):
        pass

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) == 4:
            raise Enough

    async with kept(tmp_path, embedded, None) as keeps:
        indexes = LookupIndexes(keeps.writer, None, keeps.usage, lambda: busy.pop(0), now=keeps.clock, pause=pause)
        with pytest.raises(Enough):
            await indexes.run()
    assert paused == [300.0, 20.0, 20.0, 900.0]


@pytest.mark.neo4j
@SESSION
async def test_neo4j_takes_texts_that_are_too_long_for_an_index(neo4j_uri: str, tmp_path: Path) -> None:
    graph = Graph(Neo4jServer(neo4j_uri))
    await empty(graph)
    async with kept(tmp_path, graph, None) as keeps:
        await graph.write(FILL, {"n": MANY_NODES})
        await keeps.look_up()
        await keeps.indexes.once()
        assert await keeps.by_themselves() == [lookup_index("Thing", "name")]
        await graph.read("CALL db.awaitIndexes(30)")
        await keeps.writer.write("CREATE (:Thing {name: $name})", {"name": "x" * 40_000}, Origin())
        assert await keeps.by_themselves() == [], "it gives way to what it has no room for"
        found = await graph.read("MATCH (n:Thing) WHERE size(n.name) = 40000 RETURN count(n) AS n")
        assert found.records == [{"n": 1}]
    await graph.close()


async def shape(graph: Graph, folder: Path) -> str:
    from memory.graph.dump.dump import read_dump, write_dump

    await asyncio.to_thread(folder.mkdir)
    await write_dump(graph, folder / "dump", datetime(2026, 1, 1, tzinfo=UTC))
    indexes = [row["i"] for row in read_dump(folder / "dump") if "i" in row]
    schema = await graph.schema()
    return json.dumps([fingerprint(folder / "dump"), indexes, schema.labels, schema.property_keys])


def records_with_index(keeps: Kept) -> list[str]:
    told = [json.dumps(record.content) for record in keeps.writer.audit.records() if record.content]
    return [each for each in told if "INDEX" in each]


def tool(keeps: Kept, name: str):  # type: ignore[no-untyped-def]
    return {each.name: each for each in memory_tools(keeps.writer, Handles(NoEmbedder()), keeps.usage)}[name]
