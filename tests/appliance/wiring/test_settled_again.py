"""A graph as the box runs it: what became of a write is found out when its store is back, without another write."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from appliance.wiring.memory.managed_graph import ManagedGraph
from audio.loops import running
from memory.errors import CommitUncertain, GraphUnavailable
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.vectors.embedding import NoEmbedder
from tests.appliance.visiting import until
from tests.memory.history.test_commit_uncertain import Torn
from tests.memory.history.test_writer import ME, count, same, told

pytestmark = pytest.mark.shows("C11", "C15")

SETTLED = [("snapshot", None), ("outcome", None)]


async def replayed(kept: ManagedGraph, folder: Path) -> None:
    """Assert that the audit log makes the graph that there is."""
    async with EmbeddedStore(folder / "again" / "graph") as other:
        again = Graph(other)
        assert (await same(kept.writer, again, folder)).is_exact
        await again.close()


async def test_a_store_killed_between_commit_and_answer_is_settled_when_it_is_back(tmp_path: Path) -> None:
    store = Torn(tmp_path / "graph", breaks=lambda pid: os.kill(pid, signal.SIGKILL))
    kept = ManagedGraph(tmp_path, store, NoEmbedder())
    async with store.with_a_line(), running(kept.loops()):
        await store.until(State.READY)
        await kept.settled.wait()
        with pytest.raises(CommitUncertain):
            await kept.writer.write("CREATE (:A)", {}, ME)
        await until(lambda: told(kept.writer)[1:] == SETTLED)
        assert await count(kept.writer.graph) == 1, "it had been kept"
        await replayed(kept, tmp_path)
        await kept.close()


async def test_a_store_that_waits_for_its_audit_log_says_so(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("no folder")
    store = EmbeddedStore(tmp_path / "graph")
    kept = ManagedGraph(tmp_path, store, NoEmbedder())
    async with running(kept.loops()):
        await until(lambda: "audit" in store.reason)
        with pytest.raises(GraphUnavailable, match=f"not available now: .*{tmp_path}/audit .*: move that away"):
            await kept.writer.graph.read("MATCH (n) RETURN n")
        await kept.close()


async def test_a_write_that_was_cancelled_is_settled_at_once(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "graph")
    kept = ManagedGraph(tmp_path, store, NoEmbedder())
    async with running(kept.loops()), asyncio.TaskGroup() as group:
        await kept.settled.wait()
        write = group.create_task(kept.writer.write("UNWIND range(1, 1000) AS i CREATE (:A {i: i})", {}, ME))
        await until(lambda: told(kept.writer) != [])
        write.cancel()
        await until(lambda: told(kept.writer)[1:] in (SETTLED, [("outcome", True)]))
        await replayed(kept, tmp_path)
        await kept.close()


async def test_a_process_that_died_before_the_outcome_is_settled_at_the_next_start(tmp_path: Path) -> None:
    async with EmbeddedStore(tmp_path / "graph") as store:
        died = ManagedGraph(tmp_path, store, NoEmbedder())
        await died.writer.audit.append("attempt", {"event_id": "e"}, {"cypher": "CREATE (:A)", "params": {}})
        await died.writer.graph.write("CREATE (:A)")
        await died.close()
    kept = ManagedGraph(tmp_path, EmbeddedStore(tmp_path / "graph"), NoEmbedder())
    async with running(kept.loops()):
        await kept.settled.wait()
        assert told(kept.writer)[1:] == SETTLED
        await replayed(kept, tmp_path)
        await kept.close()
