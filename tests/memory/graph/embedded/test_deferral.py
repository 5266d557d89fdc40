"""Large indexes of the real store of the box, put off to a quiet moment by a clock of the test's own."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import GraphRefused
from memory.graph.definitions import as_cypher, definition
from memory.graph.dump import read_dump, write_dump
from memory.graph.embedded.deferral import MANY_NODES
from memory.graph.embedded.index_builder import Indexes
from memory.graph.embedded.indexes import Address
from memory.graph.embedded.stages import QUIET, Stage
from memory.graph.embedded.unfinished import Unfinished
from tests.memory.graph.embedded.test_warming import UNFINISHED, kept, killed_and_ready, ready, states

pytestmark = pytest.mark.shows("C9", "C18")

WORDS = "CREATE FULLTEXT INDEX words IF NOT EXISTS FOR (n:Note) ON EACH [n.t]"
FIND = "CALL db.index.fulltext.queryNodes('words', 'green') YIELD node RETURN count(node) AS n"


async def test_an_index_over_many_nodes_is_made_in_a_quiet_moment_also_after_a_crash(tmp_path: Path) -> None:
    time = [0.0]
    async with kept(tmp_path, Indexes(tmp_path, clock=lambda: time[0])) as (store, graph):
        await graph.write(f"UNWIND range(1, {MANY_NODES}) AS i CREATE (:Note {{t: 'tea ' + i}})")
        [told] = (await graph.write(WORDS)).records
        assert "words is accepted, waits to be made in a quiet moment" in str(told["note"])
        assert not store.indexes.is_making
        assert (await graph.read("MATCH (n:Note {t: 'tea 7'}) RETURN count(n) AS n")).records == [{"n": 1}]
        assert (await graph.write("CREATE (:Note {t: 'green tea'})")).stats["nodesCreated"] == 1
        with pytest.raises(GraphRefused, match=rf"words: waits to be made.*{MANY_NODES}.*CONTAINS"):
            await graph.read(FIND)
        await killed_and_ready(store)
        assert "waits" in store.indexes.states["words"]
        time[0] += QUIET
        store.indexes._look()
        await ready(store)
        assert store.indexes.states == {}
        assert (await graph.read(FIND)).records == [{"n": 1}]
    assert Unfinished(tmp_path / UNFINISHED).read() == []


async def test_an_index_that_waits_is_in_a_snapshot_and_can_be_dropped(tmp_path: Path) -> None:
    time = [0.0]
    async with kept(tmp_path / "graph", Indexes(tmp_path / "graph", clock=lambda: time[0])) as (store, graph):
        await graph.write(f"UNWIND range(1, {MANY_NODES}) AS i CREATE (:Note {{t: 'tea ' + i}})")
        assert (await graph.write(WORDS)).stats["indexesAdded"] == 1
        assert (await graph.write(WORDS)).stats["indexesAdded"] == 0
        with pytest.raises(GraphRefused, match="already exists: DROP INDEX it first"):
            await graph.write(WORDS.replace("IF NOT EXISTS ", ""))
        assert "waits to be made" in str((await states(graph))["words"])
        await write_dump(graph, tmp_path / "meanwhile", datetime.now(UTC))
        dropped = await graph.write("/* no more */ drop index `words` IF EXISTS;")
        assert dropped.stats["indexesRemoved"] == 1
        assert (await states(graph), Unfinished(tmp_path / "graph" / UNFINISHED).read()) == ({}, [])
        time[0] += QUIET
        store.indexes._look()
        await ready(store)
        assert (await graph.read("SHOW INDEXES")).records == []
        with pytest.raises(GraphRefused, match="does not exist"):
            await graph.write("DROP INDEX words")
    written = [row["i"] for row in read_dump(tmp_path / "meanwhile") if "i" in row]
    assert written == ["CREATE FULLTEXT INDEX `words` IF NOT EXISTS FOR (n:`Note`) ON EACH [n.`t`]"]
    assert [definition(each) for each in written] == [definition(WORDS)]


async def test_an_index_that_was_dropped_while_others_were_made_is_not_made(tmp_path: Path) -> None:
    """Whoever makes what is written down had read of it before."""
    indexes, wanted = Indexes(tmp_path), definition(WORDS)
    assert wanted is not None
    indexes._deferral.is_on = True
    await indexes._deferral.accept(wanted, MANY_NODES)
    assert (await indexes.forget("words")).removed == 1
    with pytest.raises(GraphRefused, match="is being made by now"):
        await indexes.forget("words")
    with socket.create_server(("127.0.0.1", 0)) as port, ThreadPoolExecutor() as pool:
        answering = pool.submit(answer_nothing, port)
        await indexes._making.make_anew(wanted, Address(port.getsockname()[1], None))
        answering.result()
    assert indexes.states == {}
    await indexes._deferral.accept(wanted, MANY_NODES)
    assert (indexes.is_waiting("words"), await indexes.unmade()) == (True, {"words": as_cypher(wanted)})


def answer_nothing(port: socket.socket) -> None:
    """Answer the two requests of a look as a store that has neither the label nor any index."""
    connection = port.accept()[0]
    with connection, connection.makefile("rwb") as wire:
        for _ in range(2):
            length = 0
            while (line := wire.readline()) not in (b"\r\n", b""):
                length = int(line.split()[1]) if line.lower().startswith(b"content-length") else length
            wire.read(length)
            wire.write(b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"result": []}')
            wire.flush()


async def test_who_keeps_the_indexes_wakes_when_it_is_quiet(tmp_path: Path) -> None:
    indexes = Indexes(tmp_path, quiet=0.01)
    indexes._stages.enter("words", Stage.WAITING)
    await indexes._deferral.until_due(indexes._stale)
    assert indexes._stages.quiet_in() <= 0
