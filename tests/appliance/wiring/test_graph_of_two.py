"""The graph of a household with two machines, each with a store of its own: the second has what the first wrote."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from appliance.wiring.memory.managed_graph import ManagedGraph
from appliance.wiring.memory.state import SCHEMAS
from audio.loops import running
from memory.errors import Superseded
from memory.graph.embedded.store import EmbeddedStore, State
from memory.history.audit_record import Origin
from memory.state.replicated import ReplicatedDatabase
from memory.vectors.embedding import NoEmbedder
from tests.engine_fake import FakeEngine, FakeServer

pytestmark = pytest.mark.shows("H10", "C18")

COUNT = "MATCH (f:Fact) RETURN f.text AS text ORDER BY text"


@asynccontextmanager
async def graph_of(folder: Path, state: ReplicatedDatabase) -> AsyncIterator[ManagedGraph]:
    """Run a machine's graph, as its box does while it leads."""
    store = EmbeddedStore(folder / "graph")
    graph = ManagedGraph(folder, store, NoEmbedder(), database=state)
    async with running(graph.loops()):
        await store.until(State.READY)
        await graph.settled.wait()
        yield graph
    await graph.close()


async def keep(graph: ManagedGraph, *texts: str) -> None:
    for text in texts:
        await graph.writer.write("CREATE (:Fact {text: $text})", {"text": text}, Origin())


async def facts(graph: ManagedGraph) -> list[object]:
    return [row["text"] for row in (await graph.writer.graph.read(COUNT)).records]


async def test_the_second_knows_what_the_first_wrote_and_the_first_what_came_after(tmp_path: Path) -> None:
    server, states = FakeServer(), []
    for name in ("attic", "cellar"):
        engine = FakeEngine(server)
        await engine.open()
        states.append(ReplicatedDatabase(tmp_path / name / "nakari.db", engine, household="home", machine=name))
        await states[-1].open(*SCHEMAS)
    attic, cellar = states
    await attic.lead(1)
    async with graph_of(tmp_path / "attic", attic) as first:
        await keep(first, "one", "two")
        await cellar.lead(2)
        with pytest.raises(Superseded):
            await keep(first, "by a stale mind")
        assert await facts(first) == ["one", "two"], "nothing ran that was not written down first"
    async with graph_of(tmp_path / "cellar", cellar) as second:
        assert await facts(second) == ["one", "two"]
        await keep(second, "three")
    await attic.lead(3)
    async with graph_of(tmp_path / "attic", attic) as first:
        assert await facts(first) == ["one", "three", "two"], "nothing is missing, and nothing there twice"
    for state in states:
        await state.close()
