"""Indexes of the embedded store, made in quiet moments and warmed beside the questions, also after it was killed."""

import asyncio
import os
import random
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from audio import loops
from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.cypher import Statement
from memory.graph.dump.definitions import IndexDefinition, WantedIndexes, definition
from memory.graph.dump.dump import read_dump, write_dump
from memory.graph.embedded.http_api import Address
from memory.graph.embedded.index_builder import LONGEST_WAIT, MANY_CHANGES, MANY_NODES, QUIET_SECONDS, IndexBuilder
from memory.graph.embedded.indexes import QUICK
from memory.graph.embedded.server import vector_arithmetic
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.graph.results import COUNTERS
from memory.graph.store import VectorOptions

pytestmark = pytest.mark.shows("C9", "C18")

DIMENSIONS = 8
OPTIONS = f"OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine'}}}}"
NEAR = f"CREATE VECTOR INDEX near IF NOT EXISTS FOR (n:Vec) ON (n.v) {OPTIONS}"
NEAREST = "CALL db.index.vector.queryNodes('near', 1, $v) YIELD node, score RETURN node.i AS i"
ASK = Statement.parse(NEAREST)
ANYTHING = Statement.parse("MATCH (n) RETURN n")
WORDS = "CREATE FULLTEXT INDEX words IF NOT EXISTS FOR (n:Note) ON EACH [n.t]"
FIND = "CALL db.index.fulltext.queryNodes('words', 'green') YIELD node RETURN count(node) AS n"
CHANCE = random.Random(20261121)
VECTORS = [[round(CHANCE.gauss(0, 1), 4) for _ in range(DIMENSIONS)] for _ in range(QUICK + 500)]
UNFINISHED = "indexes-unfinished.json"
NUMBERED = IndexDefinition("PLAIN", "numbered", "", (), once=False, cypher="CREATE INDEX numbered FOR (n:A) ON (n.i)")


def defined(cypher: str) -> IndexDefinition:
    found = definition(Statement.parse(cypher))
    assert found is not None
    return found


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class ObservedBuilder(IndexBuilder):
    """Tells when it has looked at everything, and can be made to look."""

    async def settled(self) -> None:
        """Wait for the indexes, on a busy machine longer than a question does."""
        await self._settled.wait()

    async def look(self) -> None:
        self._look()
        await self.settled()


@asynccontextmanager
async def running(
    folder: Path, clock: Clock | None = None
) -> AsyncIterator[tuple[EmbeddedStore, Graph, ObservedBuilder]]:
    """Run a store as the box does, with its indexes kept."""
    indexes = ObservedBuilder(folder, clock=clock) if clock else ObservedBuilder(folder)
    store = EmbeddedStore(folder, indexes=indexes)
    graph = Graph(store)
    async with loops.running({"store": store.run, "indexes": indexes.run}):
        await store.until(State.READY)
        yield store, graph, indexes
        await graph.close()


async def grow(graph: Graph) -> None:
    rows = [{"i": number, "v": vector} for number, vector in enumerate(VECTORS)]
    await graph.write("UNWIND $rows AS row CREATE (n:Vec) SET n = row", {"rows": rows})


async def nearest(graph: Graph, number: int) -> list[object]:
    return [row["i"] for row in (await graph.read(NEAREST, {"v": VECTORS[number]})).records]


async def kill(store: EmbeddedStore) -> None:
    """Kill the store, and wait until the next one serves."""
    assert store.pid is not None
    os.kill(store.pid, signal.SIGKILL)
    await store.until(State.DOWN)
    await store.until(State.READY)


async def states(graph: Graph) -> dict[object, object]:
    return {index["name"]: index["state"] for index in (await graph.schema()).vector_indexes}


async def test_an_index_over_many_vectors_is_ready_for_the_first_question_also_after_a_kill(tmp_path: Path) -> None:
    async with running(tmp_path) as (store, graph, indexes):
        await grow(graph)
        written = await graph.write(NEAR)
        assert written.stats["indexesAdded"] == 1
        await indexes.settled()
        assert await nearest(graph, 7) == [7]
        assert await states(graph) == {"near": "ready"}
        assert WantedIndexes(tmp_path / UNFINISHED).read() == []
        assert (await graph.write(NEAR)).stats["indexesAdded"] == 0
        with pytest.raises(GraphRefused, match="already exists"):
            await graph.write(NEAR.replace("IF NOT EXISTS ", ""))
        await kill(store)
        await indexes.settled()
        assert [await nearest(graph, number) for number in (0, 7, QUICK + 499)] == [[0], [7], [QUICK + 499]]


async def test_many_vectors_written_into_an_index_are_built_before_they_are_asked_for(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, graph, indexes):
        await graph.write(NEAR)
        await grow(graph)
        await indexes.settled()
        assert indexes.states == {}
        assert await nearest(graph, QUICK + 499) == [QUICK + 499]


async def test_what_a_kill_broke_off_is_made_at_the_next_start(tmp_path: Path) -> None:
    """A torn vector index, and a plain one that is there already."""
    wanted = WantedIndexes(tmp_path / UNFINISHED)
    async with EmbeddedStore(tmp_path) as store:
        graph = Graph(store)
        await grow(graph)
        await graph.write(NUMBERED.cypher)
        await graph.close()
    for each in (defined(NEAR), NUMBERED):
        wanted.add(each)
    async with running(tmp_path) as (_, graph, indexes):
        await indexes.settled()
        assert await nearest(graph, 7) == [7]
        assert (indexes.states, wanted.read()) == ({}, [])
        assert {row["name"] for row in (await graph.read("SHOW INDEXES")).records} == {"near", "numbered"}


async def test_an_index_over_many_nodes_is_made_in_a_quiet_moment_also_after_a_crash(tmp_path: Path) -> None:
    clock = Clock()
    async with running(tmp_path, clock) as (store, graph, indexes):
        await graph.write(f"UNWIND range(1, {MANY_NODES}) AS i CREATE (:Note {{t: 'tea ' + i}})")
        [told] = (await graph.write(WORDS)).records
        assert "words is accepted, waits to be made in a quiet moment" in str(told["note"])
        assert not indexes.is_making
        assert (await graph.read("MATCH (n:Note {t: 'tea 7'}) RETURN count(n) AS n")).records == [{"n": 1}]
        assert (await graph.write("CREATE (:Note {t: 'green tea'})")).stats["nodesCreated"] == 1
        with pytest.raises(GraphRefused, match=rf"words: waits to be made.*{MANY_NODES}.*CONTAINS"):
            await graph.read(FIND)
        await kill(store)
        await indexes.settled()
        assert "waits" in indexes.states["words"]
        clock.now += QUIET_SECONDS
        await indexes.look()
        assert indexes.states == {}
        assert (await graph.read(FIND)).records == [{"n": 1}]
    assert WantedIndexes(tmp_path / UNFINISHED).read() == []


async def test_an_index_that_waits_is_in_a_snapshot_can_be_dropped_and_does_not_wait_for_ever(tmp_path: Path) -> None:
    clock, folder = Clock(), tmp_path / "graph"
    async with running(folder, clock) as (_, graph, indexes):
        await graph.write(f"UNWIND range(1, {MANY_NODES}) AS i CREATE (:Note {{t: 'tea ' + i}})")
        assert (await graph.write(WORDS)).stats["indexesAdded"] == 1
        assert (await graph.write(WORDS)).stats["indexesAdded"] == 0
        with pytest.raises(GraphRefused, match="already exists: DROP INDEX it first"):
            await graph.write(WORDS.replace("IF NOT EXISTS ", ""))
        assert "waits to be made" in str((await states(graph))["words"])
        await write_dump(graph, tmp_path / "meanwhile", datetime.now(UTC))
        dropped = await graph.write("/* no more */ drop index `words` IF EXISTS;")
        assert dropped.stats["indexesRemoved"] == 1
        assert (await states(graph), WantedIndexes(folder / UNFINISHED).read()) == ({}, [])
        clock.now += QUIET_SECONDS
        await indexes.look()
        assert (await graph.read("SHOW INDEXES")).records == []
        with pytest.raises(GraphRefused, match="does not exist"):
            await graph.write("DROP INDEX words")
        await graph.write(WORDS)
        clock.now += LONGEST_WAIT
        await graph.read("MATCH (n) RETURN count(n)")  # it is not quiet at all
        await indexes.look()
        assert await states(graph) == {}
        assert [row["name"] for row in (await graph.read("SHOW INDEXES")).records] == ["words"]
    written = [row["i"] for row in read_dump(tmp_path / "meanwhile") if "i" in row]
    assert written == ["CREATE FULLTEXT INDEX `words` IF NOT EXISTS FOR (n:`Note`) ON EACH [n.`t`]"]
    assert [defined(each) for each in written] == [defined(WORDS)]


async def test_an_index_dropped_while_it_is_built_is_not_made_again_after_a_kill(tmp_path: Path) -> None:
    wanted = WantedIndexes(tmp_path / UNFINISHED)
    indexes = ObservedBuilder(tmp_path)
    async with EmbeddedStore(tmp_path, indexes=indexes) as store:
        graph = Graph(store)
        await graph.write(NEAR)
        wanted.add(defined(NEAR))  # as while it is built
        await graph.write("DROP INDEX near")
        await graph.close()
        assert store.pid is not None
        os.kill(store.pid, signal.SIGKILL)
    assert wanted.read() == []
    async with running(tmp_path) as (_, graph, indexes):
        await indexes.settled()
        assert (await graph.read("SHOW INDEXES")).records == []


@asynccontextmanager
async def silent(folder: Path, patience: float, clock: Clock) -> AsyncIterator[IndexBuilder]:
    """Keep the indexes of a store that accepts connections and says nothing, as one that makes an index."""
    indexes = IndexBuilder(folder, patience=patience, clock=clock)
    with socket.create_server(("127.0.0.1", 0)) as server:
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(indexes.run())
            await asyncio.sleep(0)
            indexes.started(Address(server.getsockname()[1], ("writer", "secret")))
            yield indexes
            keeping.cancel()


async def test_a_question_of_an_index_that_is_not_ready_is_refused_in_words_and_others_go_on(tmp_path: Path) -> None:
    async with silent(tmp_path, 0.05, Clock()) as indexes:
        await indexes.ready_for(ANYTHING, {})
        for question in (NEAREST, "call DB . index . `vector` . queryNodes($n, 1, $v) yield node return node"):
            with pytest.raises(GraphRefused, match=r"not ready.*memory_schema.*vector\.similarity\.cosine"):
                await indexes.ready_for(Statement.parse(question), {})


async def test_who_asks_while_an_index_is_made_waits_from_when_its_making_began(tmp_path: Path) -> None:
    """Somebody waits aloud for the answer: not five seconds again with each question."""
    clock = Clock()
    WantedIndexes(tmp_path / UNFINISHED).add(NUMBERED)
    async with silent(tmp_path, 3600.0, clock) as indexes:
        while not indexes.is_making:  # noqa: ASYNC110  its thread says it
            await asyncio.sleep(0)
        clock.now += 3600.0
        with pytest.raises(GraphUnavailable, match=r"answers nobody until it is made \(numbered: being made\)"):
            await indexes.ready_for(ANYTHING, {})
        with pytest.raises(GraphUnavailable, match="answers nobody until it is made"):
            await indexes.make(IndexDefinition("FULLTEXT", "words", "A", ("t",), once=True))


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_a_store_that_was_stopped_on_purpose_while_it_was_looked_at_is_no_warning(
    tmp_path: Path, is_stopped: bool
) -> None:
    indexes = ObservedBuilder(tmp_path)
    asked: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
    async with await asyncio.start_server(lambda _, writer: asked.set_result(writer), "127.0.0.1") as server:
        with capture_logs() as logs:
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(indexes.run())
                indexes.started(Address(server.sockets[0].getsockname()[1], None))
                writer = await asked
                if is_stopped:
                    indexes.stopped()
                writer.close()
                await writer.wait_closed()
                await indexes.settled()
                keeping.cancel()
    assert [entry["event"] for entry in logs] == ([] if is_stopped else ["graph_indexes_not_warmed"])


async def test_what_became_of_an_index_after_its_call_is_told(tmp_path: Path) -> None:
    """The store refuses a property that is indexed already; a call without patience does not hear of it."""
    indexes = ObservedBuilder(tmp_path, patience=0.0)
    store = EmbeddedStore(tmp_path, indexes=indexes)
    graph = Graph(store)
    async with loops.running({"store": store.run, "indexes": indexes.run}):
        await store.until(State.READY)
        await indexes.settled()
        await graph.write("CREATE FULLTEXT INDEX words IF NOT EXISTS FOR (n:Vec) ON EACH [n.t]")
        await indexes.settled()
        [told] = (await graph.write("CREATE INDEX again FOR (n:Vec) ON (n.t)")).records
        assert "the index again is accepted" in str(told["note"])
        await indexes.settled()
        assert "existent index 'words'" in indexes.states["again"]
        assert "could not be made" in str((await states(graph))["again"])
        await graph.close()


async def test_the_call_that_hears_a_refusal_is_the_one_that_tells_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, graph, indexes):
        await graph.write("CREATE INDEX once FOR (n:Vec) ON (n.t)")
        with pytest.raises(GraphRefused, match="already indexed by"):
            await graph.write("CREATE INDEX again FOR (n:Vec) ON (n.t)")
        await indexes.settled()
        assert (indexes.states, WantedIndexes(tmp_path / UNFINISHED).read()) == ({}, [])


async def test_where_nobody_keeps_the_indexes_nobody_waits(tmp_path: Path) -> None:
    indexes = IndexBuilder(tmp_path, patience=0.05)
    indexes.started(Address(1, None))
    await indexes.ready_for(ASK, {})


async def test_the_indexes_are_looked_at_after_many_writes_only(tmp_path: Path) -> None:
    indexes, few = (
        IndexBuilder(tmp_path, patience=0.0),
        dict.fromkeys(COUNTERS, 0) | {"propertiesSet": MANY_CHANGES - 1},
    )
    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(indexes.run())
        await asyncio.sleep(0)
        indexes.wrote(few)
        await indexes.ready_for(ASK, {})
        indexes.wrote(few)
        with pytest.raises(GraphRefused):
            await indexes.ready_for(ASK, {})
        keeping.cancel()


def test_vectors_are_compared_by_the_library_made_for_it() -> None:
    """Its engine would not look for the library that is in its package, and be five times as slow."""
    assert vector_arithmetic() == ["-Djvector.vectorization_provider=native"]


def test_what_is_wanted_is_kept_in_a_file(tmp_path: Path) -> None:
    one = IndexDefinition("VECTOR", "", "标签", ("v",), once=True, options=VectorOptions(3, "COSINE"))
    other = IndexDefinition("FULLTEXT", "words", "A", ("t", "u"), once=False)
    wanted = WantedIndexes(tmp_path / UNFINISHED)
    assert wanted.read() == []
    wanted.add(one)
    wanted.add(other)
    assert WantedIndexes(tmp_path / UNFINISHED).read() == [one, other]
    wanted.remove(["标签[v]", "nothing"])
    assert wanted.read() == [other]
    (tmp_path / UNFINISHED).write_text('[{"kind": "VEC')
    assert wanted.read() == []
