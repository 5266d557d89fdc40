"""As the box runs, a snapshot that takes longer than a tool has goes on beside, and the write is told so."""

import asyncio
from pathlib import Path

import pytest

from appliance.wiring.memory.managed_graph import ManagedGraph
from audio.loops import running
from memory.errors import GraphUnavailable
from memory.graph.embedded.store import EmbeddedStore, State
from memory.history.audit_record import Origin
from memory.vectors.embedding import NoEmbedder

pytestmark = pytest.mark.shows("C10")


async def test_a_write_ends_in_time_and_the_snapshot_goes_on(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path / "graph")
    kept = ManagedGraph(tmp_path, store, NoEmbedder())
    async with running(kept.loops()):
        await store.until(State.READY)
        await kept.writer.write("UNWIND range(1, 100) AS i CREATE (:A {i: i})", {}, Origin())
        kept.writer.patience = 0.0
        with pytest.raises(GraphUnavailable, match=r"a snapshot of 100 nodes .* ask again in a minute"):
            await kept.writer.write("MATCH (n) DELETE n", {}, Origin())
        await kept.writer.saving.until_idle(asyncio.get_running_loop().time() + 30.0)
        assert (await kept.writer.write("MATCH (n) DELETE n", {}, Origin())).stats["nodesDeleted"] == 100
    await kept.close()
