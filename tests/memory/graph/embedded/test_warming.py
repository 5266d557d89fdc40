"""Vector indexes of the store of the box, built and warmed beside the questions, also after it was killed."""

import asyncio
import os
import random
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from memory.errors import GraphRefused, GraphUnavailable
from memory.graph.definitions import IndexDefinition, definition
from memory.graph.embedded.index_builder import MANY, Indexes
from memory.graph.embedded.indexes import QUICK, Address
from memory.graph.embedded.server import vector_arithmetic
from memory.graph.embedded.stages import Stage
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.embedded.unfinished import Unfinished
from memory.graph.graph import Graph
from memory.graph.results import COUNTERS
from memory.graph.store import VectorOptions

pytestmark = pytest.mark.shows("C9", "C18")

DIMENSIONS = 8
OPTIONS = f"OPTIONS {{indexConfig: {{`vector.dimensions`: {DIMENSIONS}, `vector.similarity_function`: 'cosine'}}}}"
NEAR = f"CREATE VECTOR INDEX near IF NOT EXISTS FOR (n:Vec) ON (n.v) {OPTIONS}"
ASK = "CALL db.index.vector.queryNodes('near', 1, $v) YIELD node, score RETURN node.i AS i"
CHANCE = random.Random(20261121)
VECTORS = [[round(CHANCE.gauss(0, 1), 4) for _ in range(DIMENSIONS)] for _ in range(QUICK + 500)]
UNFINISHED = "indexes-unfinished.json"
NUMBERED = IndexDefinition("PLAIN", "numbered", "", (), once=False, cypher="CREATE INDEX numbered FOR (n:A) ON (n.i)")


@asynccontextmanager
async def kept(folder: Path, indexes: Indexes | None = None) -> AsyncIterator[tuple[EmbeddedStore, Graph]]:
    """Run a store as the box does, with its indexes kept."""
    store = EmbeddedStore(folder)
    store.indexes = indexes or store.indexes
    graph = Graph(store)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(store.run())
        await store.until(State.READY)
        yield store, graph
        await graph.close()
        running.cancel()


async def grow(graph: Graph) -> None:
    rows = [{"i": number, "v": vector} for number, vector in enumerate(VECTORS)]
    await graph.write("UNWIND $rows AS row CREATE (n:Vec) SET n = row", {"rows": rows})


async def nearest(graph: Graph, number: int) -> list[object]:
    return [row["i"] for row in (await graph.read(ASK, {"v": VECTORS[number]})).records]


async def ready(store: EmbeddedStore) -> None:
    """Wait for the indexes, on a busy machine longer than a question does."""
    await store.indexes._settled.wait()


async def killed_and_ready(store: EmbeddedStore) -> None:
    """Kill the store, and wait until the next one serves and its indexes are."""
    assert store.pid is not None
    os.kill(store.pid, signal.SIGKILL)
    await store.until(State.DOWN)
    await store.until(State.READY)
    await ready(store)


async def states(graph: Graph) -> dict[object, object]:
    return {index["name"]: index["state"] for index in (await graph.schema()).vector_indexes}


async def test_an_index_over_many_vectors_is_ready_for_the_first_question(tmp_path: Path) -> None:
    async with kept(tmp_path) as (store, graph):
        await grow(graph)
        written = await graph.write(NEAR)
        assert written.stats["indexesAdded"] == 1
        await ready(store)
        assert await nearest(graph, 7) == [7]
        assert await states(graph) == {"near": "ready"}
        assert Unfinished(tmp_path / UNFINISHED).read() == []
        assert (await graph.write(NEAR)).stats["indexesAdded"] == 0
        with pytest.raises(GraphRefused, match="already exists"):
            await graph.write(NEAR.replace("IF NOT EXISTS ", ""))


async def test_many_vectors_written_into_an_index_are_built_before_they_are_asked_for(tmp_path: Path) -> None:
    async with kept(tmp_path) as (store, graph):
        await graph.write(NEAR)
        await grow(graph)
        await ready(store)
        assert store.indexes.states == {}
        assert await nearest(graph, QUICK + 499) == [QUICK + 499]


async def test_an_index_is_warm_again_after_its_store_was_killed(tmp_path: Path) -> None:
    async with kept(tmp_path) as (store, graph):
        await grow(graph)
        await graph.write(NEAR)
        await killed_and_ready(store)
        assert [await nearest(graph, number) for number in (0, 7, QUICK + 499)] == [[0], [7], [QUICK + 499]]


async def test_an_index_whose_making_broke_off_is_made_at_the_next_start(tmp_path: Path) -> None:
    wanted = definition(NEAR)
    assert wanted is not None
    async with EmbeddedStore(tmp_path) as store:
        graph = Graph(store)
        await grow(graph)
        await graph.close()
    Unfinished(tmp_path / UNFINISHED).add(wanted)
    async with kept(tmp_path) as (store, graph):
        await ready(store)
        assert await nearest(graph, 7) == [7]
    assert Unfinished(tmp_path / UNFINISHED).read() == []


async def test_an_index_dropped_while_it_is_built_is_not_made_again_after_a_kill(tmp_path: Path) -> None:
    wanted = definition(NEAR)
    assert wanted is not None
    async with EmbeddedStore(tmp_path) as store:
        graph = Graph(store)
        await graph.write(NEAR)
        Unfinished(tmp_path / UNFINISHED).add(wanted)
        store.indexes._stages.enter(wanted.name, Stage.BUILDING)
        await graph.write(f"DROP INDEX {wanted.name}")
        await graph.close()
        assert store.pid is not None
        os.kill(store.pid, signal.SIGKILL)
    async with kept(tmp_path) as (store, graph):
        await ready(store)
        assert (await graph.read("SHOW INDEXES")).records == []


async def test_a_question_of_an_index_that_is_not_ready_is_refused_in_words_and_others_go_on(tmp_path: Path) -> None:
    indexes = Indexes(tmp_path, patience=0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a store that builds and answers nobody
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(indexes.keep())
            await asyncio.sleep(0)
            indexes.reached(Address(silent.getsockname()[1], ("writer", "secret")))
            await indexes.ready_for("MATCH (n) RETURN n", {})
            for question in (ASK, "call DB . index . `vector` . queryNodes($n, 1, $v) yield node return node"):
                with pytest.raises(GraphRefused, match=r"not ready.*memory_schema.*vector\.similarity\.cosine"):
                    await indexes.ready_for(question, {})
            made = await indexes.make(NUMBERED)
            assert (made.added, "memory_schema tells" in made.note) == (1, True)
            assert indexes.states == {"numbered": "being made"}
            assert indexes.is_making
            for another in (NUMBERED, IndexDefinition("FULLTEXT", "words", "A", ("t",), once=True)):
                with pytest.raises(GraphUnavailable, match="answers nobody until it is made"):
                    await indexes.make(another)
            keeping.cancel()
    await indexes._stages.free.wait()  # the thread that asked has its answer


async def test_who_asks_while_an_index_is_made_waits_from_when_its_making_began(tmp_path: Path) -> None:
    """Somebody waits aloud for the answer: not five seconds again with each question."""
    time = [0.0]
    indexes = Indexes(tmp_path, patience=0.05, clock=lambda: time[0])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        indexes.reached(Address(silent.getsockname()[1], None))
        await indexes.make(NUMBERED)
        indexes._patience = time[0] = 3600.0
        with pytest.raises(GraphUnavailable, match=r"numbered: being made"):
            await indexes.ready_for("MATCH (n) RETURN n", {})
    await indexes._stages.free.wait()  # the thread that asked has its answer


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_a_store_that_was_stopped_on_purpose_while_it_was_looked_at_is_no_warning(
    tmp_path: Path, is_stopped: bool
) -> None:
    indexes = Indexes(tmp_path)
    asked: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
    async with await asyncio.start_server(lambda _, writer: asked.set_result(writer), "127.0.0.1") as server:
        with capture_logs() as logs:
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(indexes.keep())
                indexes.reached(Address(server.sockets[0].getsockname()[1], None))
                writer = await asked
                if is_stopped:
                    indexes.lost()
                writer.close()
                await writer.wait_closed()
                await indexes._settled.wait()
                keeping.cancel()
    assert [entry["event"] for entry in logs] == ([] if is_stopped else ["graph_indexes_not_warmed"])


async def test_what_became_of_an_index_after_its_call_is_told(tmp_path: Path) -> None:
    """The store refuses a property that is indexed already; a call without patience does not hear of it."""
    async with kept(tmp_path) as (store, graph):
        await graph.write("CREATE FULLTEXT INDEX words IF NOT EXISTS FOR (n:Vec) ON EACH [n.t]")
        impatient = Indexes(tmp_path, patience=0.0)
        assert store.indexes.address is not None
        impatient.reached(store.indexes.address)
        wanted = definition("CREATE INDEX again FOR (n:Vec) ON (n.t)")
        assert wanted is not None
        assert (await impatient.make(wanted)).note
        await impatient._stages.free.wait()
        assert "existent index 'words'" in impatient.states["again"]
        assert (await graph.schema()).vector_indexes == []


async def test_without_a_keeper_nobody_waits(tmp_path: Path) -> None:
    indexes = Indexes(tmp_path, patience=0.05)
    indexes.reached(Address(1, None))
    await indexes.ready_for(ASK, {})


async def test_the_indexes_are_looked_at_after_many_writes_only(tmp_path: Path) -> None:
    indexes, few = Indexes(tmp_path, patience=0.0), dict.fromkeys(COUNTERS, 0) | {"propertiesSet": MANY - 1}
    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(indexes.keep())
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


def test_what_is_unfinished_is_kept_in_a_file(tmp_path: Path) -> None:
    one = IndexDefinition("VECTOR", "", "标签", ("v",), once=True, options=VectorOptions(3, "COSINE"))
    other = IndexDefinition("FULLTEXT", "words", "A", ("t", "u"), once=False)
    unfinished = Unfinished(tmp_path / UNFINISHED)
    assert unfinished.read() == []
    unfinished.add(one)
    unfinished.add(other)
    assert Unfinished(tmp_path / UNFINISHED).read() == [one, other]
    unfinished.cross_out(["标签[v]", "nothing"])
    assert unfinished.read() == [other]
    (tmp_path / UNFINISHED).write_text('[{"kind": "VEC')
    assert unfinished.read() == []
