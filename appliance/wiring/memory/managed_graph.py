"""A managed graph in any folder: audit log, snapshots, the one writer, repair, and its tools."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Final

import structlog

from agent.tools.memory import memory_tools
from agent.tools.registry.sharing import in_another_dialect
from audio.loops import Loop
from memory.durable import rename_durably
from memory.errors import MemoryFailure
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.graph.name_usage import NameUsage
from memory.graph.store import Dialect, Neo4jServer
from memory.history.audit import AuditLog
from memory.history.audit_anchor import AuditAnchors, AuditLines
from memory.history.erasure import finish_later
from memory.history.repair import repair_damaged, repair_incomplete, repair_missing
from memory.history.schedule import keep_snapshots
from memory.history.server_integrity import ServerIntegrity
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.state.database import Database
from memory.state.journal import known_events
from memory.vectors.embedding import Embedder, Handles

AGAIN_SECONDS: Final = 5.0
"""Between two tries to fill a server, or to finish what broke off there."""

AWAY_SECONDS: Final = 60.0
"""Between two tries to reach one that nobody has asked for anything yet."""

STORE_LOOP: Final = "graph: the store's child process"

log = structlog.get_logger()


class ManagedGraph:
    """The household's graph, or a visitor's: nothing is started or connected before its loops, or a first statement."""

    def __init__(
        self,
        folder: Path,
        store: EmbeddedStore | Neo4jServer,
        embedder: Embedder,
        described: Dialect | None = None,
        database: Database | None = None,
        name: str = "",
    ) -> None:
        """Audit log and snapshots are in the folder; handles of vectors are this graph's alone.

        `described` is the dialect that everybody's list of tools describes, where it is not this store's own. The state
        database has the audit log's anchors and which names were asked for, under `name`, "" the household's; without
        one the log has no anchor, and the names are forgotten with the process.
        """
        audit = audit_log(folder / "audit", store, database, name)
        self.store = store if isinstance(store, EmbeddedStore) else None
        """None at a server."""
        self.server = ServerIntegrity(store, audit) if isinstance(store, Neo4jServer) else None
        """None for a store of the box."""
        graph, snapshots = Graph(self.server or store), Snapshots(folder / "snapshots", audit)
        self.writer = Writer(graph, audit, snapshots, server=self.server)
        self.name_usage = NameUsage(database, name)
        events = partial(known_events, database) if database else None
        tools = memory_tools(self.writer, Handles(embedder), self.name_usage, events)
        self.tools = in_another_dialect(tools, store.dialect, described or store.dialect)
        self.settled = asyncio.Event()
        """It was reached once, and what a crash had broken off was finished."""

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps it saved, and a store of the box running and whole.

        Each of these loops changes the graph, or puts another in its place, under the writer's lock alone.
        """
        loops: dict[str, Loop] = {
            "graph: snapshots on schedule": partial(keep_snapshots, self.writer, see_whole=self._see_whole),
            "graph: snapshots that a write waits for": self.writer.saving.run,
            "graph: repaired where it is incomplete, and what broke off finished": self._settle,
            "graph: which names were asked for, written down later": self.name_usage.run,
        }
        if self.server is not None:
            loops["graph: fills a server that was emptied"] = partial(self._fill, self.server)
            loops["graph: whether a server holds all of it"] = partial(self._look, self.server)
        if self.store is not None:
            loops[STORE_LOOP] = partial(self._serve, self.store)
            loops["graph: its indexes, built and kept warm"] = self.store.indexes.run
            loops["graph: repaired where it is damaged"] = partial(repair_damaged, self.writer, self.store)
        return loops

    async def close(self) -> None:
        """Close connections and audit log; not used after."""
        await self.name_usage.save()
        await self.writer.graph.close()
        if self.server is not None:
            await self.server.close()
        self.writer.audit.close()

    async def _see_whole(self) -> None:
        """See that no snapshot is taken of less than there should be. Raises `GraphUnavailable` of a server."""
        if self.store is not None:
            await repair_incomplete(self.writer, self.store)
        elif self.server is not None:
            async with self.writer.exclusively():
                await self.server.see_whole()

    async def _serve(self, store: EmbeddedStore) -> None:
        await self._take_up(store)
        await repair_missing(store, self.writer.audit, self.writer.snapshots)
        await store.run()

    async def _take_up(self, store: EmbeddedStore) -> None:
        """Have the audit log hold what other machines wrote, before a store is opened that may lack it."""
        while True:
            try:
                await self.writer.audit.open()
            except MemoryFailure as error:
                log.warning("audit_not_taken_up", reason=str(error))
                store.waits_for(str(error))
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return

    async def _settle(self) -> None:
        """Finish what broke off before the process began, and later what an outage or a cancelled write breaks off."""
        if self.store is not None:
            await self.store.until(State.READY)
        is_start = True
        while True:
            self.writer.unfinished.clear()
            await finish_later(self.writer, self.store, self._until_back, counts=is_start)
            is_start = False
            self.settled.set()
            await self.writer.unfinished.wait()

    async def _until_back(self, seconds: float) -> None:
        """Wait so long at most, a store of the box until it has been started once more."""
        if self.store is None:
            await asyncio.sleep(min(seconds, AGAIN_SECONDS))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.store.until(State.STARTING)
                await self.store.until(State.READY)

    async def _look(self, server: ServerIntegrity) -> None:
        """Say, once it can be reached, whether a server holds less than was written to it."""
        await self.settled.wait()
        while True:
            try:
                await self._see_whole()
            except MemoryFailure as error:
                if not server.lacking:
                    await asyncio.sleep(AWAY_SECONDS)
                    continue
                log.warning("graph_incomplete", reason=str(error))
            return

    async def _fill(self, server: ServerIntegrity) -> None:
        """Fill a server that was found empty, until cancelled."""
        while True:
            await server.emptied.wait()
            try:
                async with self.writer.exclusively():
                    pass
            except (MemoryFailure, OSError) as error:
                log.warning("graph_not_rebuilt", reason=str(error))
                await asyncio.sleep(AGAIN_SECONDS)


def audit_log(folder: Path, store: EmbeddedStore | Neo4jServer, database: Database | None, name: str) -> AuditLog:
    """Return a graph's audit log: with anchors in the state database, or with all its lines where machines share that.

    A store of the box that lacks what another machine wrote is put aside then, and made again from the log; a server
    has what all machines wrote.
    """
    if database is None:
        return AuditLog(folder)
    if not database.is_shared:
        return AuditLog(folder, anchors=AuditAnchors(database, name))
    from memory.state.replicated import ReplicatedDatabase

    assert isinstance(database, ReplicatedDatabase)

    def put_aside() -> None:
        if isinstance(store, EmbeddedStore) and store.folder.exists():
            for old in (store.next_folder, store.folder_before):
                rmtree(old, ignore_errors=True)
            rename_durably(store.folder, store.folder_before)
            log.info("graph_put_aside", folder=str(store.folder_before))

    return AuditLog(folder, shared=(AuditLines(database, name), put_aside))
