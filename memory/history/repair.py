"""Makes the embedded store again from snapshot and audit log: one that is gone, damaged, or lacks something."""

import asyncio
from typing import TYPE_CHECKING, Final

import structlog

from memory.errors import AuditBroken, MemoryFailure
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.replay import Replayed, replay
from memory.history.restore import made_beside
from memory.history.server_integrity import Counts, counted, expected
from memory.history.snapshot import Snapshots

if TYPE_CHECKING:
    from memory.history.writer import Writer

AGAIN_SECONDS: Final = 60.0
"""Between two tries to make a store that is gone."""

MOST_COUNTED: Final = 300_000
"""Nodes and relationships; the count of more takes longer, on a small box, than a statement may."""

log = structlog.get_logger()


class _NotFuller(Exception):
    """A replay came to no more than what is there: the audit log's counts are wrong, and the store is whole."""


async def repair_missing(store: EmbeddedStore, audit: AuditLog, snapshots: Snapshots) -> None:
    """Make a store that is gone again before it is started; a failure is told, and tried again every minute."""

    def is_missing() -> bool:
        is_there = store.folder.exists() or store.next_folder.exists()
        return not is_there and next(audit.records(), None) is not None

    while True:
        try:
            if not await asyncio.to_thread(is_missing):
                return
            log.error("graph_missing", folder=str(store.folder))
            store.reason = "it is being made again from snapshots and audit log"
            await rebuild(store, audit, snapshots)
        except (MemoryFailure, OSError) as error:
            store.reason = f"it is gone and could not be made again yet: {error}"
            log.error("graph_not_rebuilt", reason=str(error))  # noqa: TRY400  a sentence, not a bug
            await asyncio.sleep(AGAIN_SECONDS)


async def repair_damaged(writer: "Writer", store: EmbeddedStore) -> None:
    """Rebuild a store whenever it is damaged, for ever.

    A rebuild that fails is told; then the store is taken as it is, where it opens, else it is tried again when the
    store has failed to start once more.
    """
    while True:
        await store.until(State.DOWN)
        if store.is_damaged:
            log.error("graph_damaged", reason=store.reason)
            try:
                await _replace_damaged(writer, store)
            except (MemoryFailure, OSError) as error:
                log.error("graph_not_rebuilt", reason=str(error))  # noqa: TRY400  a sentence, not a bug
                store.take_as_it_is()
        await store.until(State.STARTING)


async def _replace_damaged(writer: "Writer", store: EmbeddedStore) -> None:
    """Rebuild a damaged store and start it, while nobody writes: what is written meanwhile the new one would lack.

    A store that may open all the same is replaced by what a whole audit log makes, and by nothing less. Raises what
    `rebuild` and `EmbeddedStore.restart` raise, and `AuditBroken`.
    """
    async with writer.unsettled():
        if not store.is_damaged:  # whoever wrote before has replaced it
            return
        if store.may_open and not await writer.audit.verify():
            raise AuditBroken("the audit log knows of no write: the memory's own store is taken as it is")
        done = await rebuild(store, writer.audit, writer.snapshots)
        await store.restart()
    log.warning("graph_rebuilt", writes=done.writes, exact=done.is_exact, refused=len(done.refused))


async def repair_incomplete(writer: "Writer", store: EmbeddedStore) -> None:
    """Make the store again where less is in it than the audit log says; what was there is kept beside it.

    Raises `AuditBroken`, `GraphUnavailable`, `StateUnusable`, OSError.
    """

    async def fill(graph: Graph) -> None:
        """Replay everything, if more comes of it."""
        await replay(writer.audit, writer.snapshots, graph)
        made = await counted(graph)
        if found is not None and (made is None or made.lacks(found) or not found.lacks(made)):
            raise _NotFuller

    async with writer.unsettled() as alone:
        should = await asyncio.to_thread(lambda: expected(writer.audit.records()))
        if should is None or not 0 < should.all <= MOST_COUNTED:
            return
        found: Counts | None = await counted(writer.graph)
        if found is not None and not found.lacks(should):
            return
        log.error("graph_incomplete", found=found and found.all, expected=should.all)
        try:
            await made_beside(store, fill)
        except _NotFuller:
            await alone.snapshot("counted anew")
            return
        await store.restart()
        await alone.snapshot("after it was made again")
        log.warning("graph_rebuilt", expected=should.all)


async def rebuild(store: EmbeddedStore, audit: AuditLog, snapshots: Snapshots) -> Replayed:
    """Make the graph again from the newest snapshot and the writes since, beside the old one, which is kept.

    It takes its place at the store's next start. Raises `AuditBroken`, `GraphUnavailable`, OSError.
    """
    return await made_beside(store, lambda graph: replay(audit, snapshots, graph))
