"""A graph with all that keeps it, in any folder: audit log, snapshots, the one writer, healing, and its tools."""

import asyncio
from pathlib import Path

from agent.tools.memory import memory_tools
from agent.tools.sharing import in_another_dialect
from memory.audit import AuditLog
from memory.embedding import Embedder, Handles
from memory.erasure import finish_later
from memory.graph.dialect import Dialect
from memory.graph.embedded import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.graph.store import Neo4jServer
from memory.rebuild import heal, make_missing, make_whole
from memory.schedule import keep_snapshots
from memory.snapshot import Snapshots
from memory.writer import Writer


class KeptGraph:
    """The household's graph, or a visitor's: nothing is started or connected before `run`, or a first statement."""

    def __init__(
        self, folder: Path, store: EmbeddedStore | Neo4jServer, embedder: Embedder, described: Dialect | None = None
    ) -> None:
        """Audit log and snapshots are in the folder; handles of vectors are this graph's alone.

        `described` is the dialect that everybody's list of tools describes, where it is not this store's own.
        """
        audit = AuditLog(folder / "audit")
        self.store = store if isinstance(store, EmbeddedStore) else None
        """None at a server."""
        self.writer = Writer(Graph(store), audit, Snapshots(folder / "snapshots", audit))
        tools = memory_tools(self.writer, Handles(embedder))
        self.tools = in_another_dialect(tools, store.dialect, described or store.dialect)
        self.settled = asyncio.Event()
        """It was reached once, and what a crash had broken off was finished."""

    async def run(self) -> None:
        """Keep it saved, and a store of ours running and whole, until cancelled.

        Each of these loops changes the graph, or puts another in its place, under the writer's lock alone.
        """
        writer, store = self.writer, self.store
        if store is not None:
            await make_missing(store, writer.audit, writer.snapshots)
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_snapshots(writer, see_whole=self._see_whole), name="graph: snapshots on schedule")
            group.create_task(self._settle(), name="graph: made whole, and what broke off finished")
            if store is not None:
                group.create_task(store.run(), name="graph: the store's child process")
                group.create_task(heal(writer, store), name="graph: rebuilds a damaged store")

    async def close(self) -> None:
        """Close connections and audit log; not used after."""
        await self.writer.graph.close()
        self.writer.audit.close()

    async def _see_whole(self) -> None:
        if self.store is not None:
            await make_whole(self.writer, self.store)

    async def _settle(self) -> None:
        if self.store is not None:
            await self.store.until(State.READY)
        await finish_later(self.writer, self.store)
        self.settled.set()
