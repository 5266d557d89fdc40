"""The event loop beside the memory: never held for long, whatever is read, written, saved or made again."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.graph.graph import Graph
from memory.history.replay import replay
from memory.state.database import Database
from memory.state.journal import SCHEMA, Entry, Journal
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_writer import ME, writer_in

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("C14")]

TURNS = 1_500_000
"""Of a bare loop of Python; nothing may hold the event loop for longer than this machine, as it is now, takes for them.

That is some 0.080 s where 0.010 was seen, and 0.029 beside others that had the caches."""
VECTOR = [0.5] * 1536


class Pulse:
    """Feels how long anything holds the event loop, in seconds of the thread's own time: a busy machine adds none."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest, last = max(self.longest, now - last), now


def bare_loop() -> float:
    """Return the seconds of this thread's own time that `TURNS` take now."""
    began = time.thread_time()
    for _ in range(TURNS):
        pass
    return time.thread_time() - began


@asynccontextmanager
async def felt() -> AsyncIterator[Pulse]:
    """Feel the loop within the block."""
    pulse = Pulse()
    async with asyncio.TaskGroup() as group:
        feeling = group.create_task(pulse.run())
        await asyncio.sleep(0)
        yield pulse
        feeling.cancel()


@pytest.fixture(autouse=True)
def only_its_own_garbage() -> Iterator[None]:
    """Leave what a thousand other tests have made to a collection outside the measurement."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


async def test_statements_hold_nobody_up(graph: Graph) -> None:
    await graph.write("UNWIND range(1, 300) AS x CREATE (:A {x: x, t: 'some text', y: x * 1.5})")
    async with felt() as pulse:
        await graph.write("UNWIND range(1, 100) AS x CREATE (n:V {x: x, v: $v})", {"v": VECTOR})
        await graph.read("MATCH (n:V) RETURN n")
        await graph.read("MATCH (n:A) RETURN n")
        await graph.read("UNWIND range(1, 5000) AS x RETURN x, 'text' AS t, [x, x] AS l")
        await graph.schema()
    assert pulse.longest < bare_loop()


async def test_history_holds_nobody_up(embedded: Graph, another: Graph, tmp_path: Path) -> None:
    """Of a graph with vectors: the driver packs and unpacks them on the loop."""
    writer = writer_in(tmp_path, embedded)
    async with felt() as pulse:
        await writer.write("UNWIND range(1, 200) AS x CREATE (n:V {x: x, v: $v})", {"v": VECTOR}, ME)
        await writer.write("UNWIND range(1, 1000) AS x CREATE (:A {x: x})-[:NEXT {x: x}]->(:B {x: x})", {}, ME)
        for number in range(60):
            await writer.write("CREATE (:T {t: $t})", {"t": f"some text {number}" * 5_000}, ME)
        await writer.take_snapshot("asked for")
        await writer.write("MATCH (n:A) DETACH DELETE n", {}, ME)
        await writer.audit.erase([1])
        await writer.audit.verify()
        await replay(writer.audit, writer.snapshots, another)
    writer.audit.close()
    assert pulse.longest < bare_loop()


async def test_the_state_database_holds_nobody_up(tmp_path: Path) -> None:
    database = Database(tmp_path / "nakari.db")
    async with felt() as pulse:
        await database.open(SCHEMA)
        journal = Journal(database)
        for number in range(20):
            entries = [Entry("speech.heard", {"words": f"the apple tree {number} {each}"}) for each in range(50)]
            await journal.append(*entries)
        assert len(await journal.search("apple", "", limit=200)) == 200
        assert len(await journal.entries(topic="speech.heard", limit=200)) == 200
        await database.rewrite()
        await database.close()
    assert pulse.longest < bare_loop()
