"""The graph made anew: out of snapshot and audit log where the store is damaged, out of a file where somebody asks."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import structlog

from memory.errors import AuditBroken, MemoryFailure
from memory.graph.dump import Dump, check_dump, load_dump, silently
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.expected_counts import Tally, counted, expected
from memory.history.replay import Replayed, replay
from memory.history.restore import facts_of, refill
from memory.history.snapshot import RESTORED_FROM, Snapshots
from memory.history.writer import Alone, Writer

T = TypeVar("T")

AGAIN_SECONDS: Final = 60.0
"""Between two tries to make a store that is gone."""

MOST_COUNTED: Final = 300_000
"""Nodes and relationships; the count of more takes longer, on a small box, than a statement may."""

BEFORE_RESTORE: Final = "before a restore"
"""Reason of the snapshot that a restore takes first."""

log = structlog.get_logger()


class _NotFuller(Exception):
    """A replay came to no more than what is there: the audit log's counts are wrong, and the store is whole."""


async def heal(writer: Writer, store: EmbeddedStore) -> None:
    """Rebuild the store of the box whenever it is damaged, for ever.

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


async def _replace_damaged(writer: Writer, store: EmbeddedStore) -> None:
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


async def is_missing(store: EmbeddedStore, audit: AuditLog) -> bool:
    """Say whether the store's folder is gone although the audit log knows of writes. Raises `AuditBroken`."""

    def look() -> bool:
        is_there = store.folder.exists() or store.next_folder.exists()
        return not is_there and next(audit.records(), None) is not None

    return await asyncio.to_thread(look)


async def rebuild(store: EmbeddedStore, audit: AuditLog, snapshots: Snapshots) -> Replayed:
    """Make the graph again from the newest snapshot and the writes since, beside the old one, which is kept.

    It takes its place at the store's next start. Raises `AuditBroken`, `GraphUnavailable`, OSError.
    """
    return await beside(store, lambda graph: replay(audit, snapshots, graph))


async def make_missing(
    store: EmbeddedStore,
    audit: AuditLog,
    snapshots: Snapshots,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Make a store that is gone again before it is started; a failure is told, and tried again every minute."""
    while True:
        try:
            if not await is_missing(store, audit):
                return
            log.error("graph_missing", folder=str(store.folder))
            store.reason = "it is being made again from snapshots and audit log"
            await rebuild(store, audit, snapshots)
        except (MemoryFailure, OSError) as error:
            store.reason = f"it is gone and could not be made again yet: {error}"
            log.error("graph_not_rebuilt", reason=str(error))  # noqa: TRY400  a sentence, not a bug
            await pause(AGAIN_SECONDS)


async def make_whole(writer: Writer, store: EmbeddedStore) -> None:
    """Make the store again where less is in it than the audit log says; what was there is kept beside it.

    Raises `AuditBroken`, `GraphUnavailable`, `StateUnusable`, OSError.
    """
    async with writer.unsettled() as alone:
        should = await asyncio.to_thread(lambda: expected(writer.audit.records()))
        if should is None or not 0 < should.all <= MOST_COUNTED:
            return
        found = await counted(writer.graph)
        if found is not None and not found.lacks(should):
            return
        log.error("graph_incomplete", found=found and found.all, expected=should.all)
        try:
            await beside(store, lambda graph: _fuller(writer, graph, found))
        except _NotFuller:
            await alone.snapshot("counted anew")
            return
        await store.restart()
        await alone.snapshot("after it was made again")
        log.warning("graph_rebuilt", expected=should.all)


async def _fuller(writer: Writer, graph: Graph, than: Tally | None) -> None:
    """Replay everything, if more comes of it. Raises `_NotFuller`."""
    await replay(writer.audit, writer.snapshots, graph)
    made = await counted(graph)
    if than is not None and (made is None or made.lacks(than) or not than.lacks(made)):
        raise _NotFuller


async def restore(
    writer: Writer, store: EmbeddedStore | None, path: Path, progress: Callable[[int, int], None] = silently
) -> Dump:
    """Make the graph what a snapshot's file holds; a snapshot of what was there before is taken first.

    In the store of the box the change is one rename; a server's graph (`store` None) is emptied and filled, and if that
    breaks off, whoever writes next goes on there first. Raises `SnapshotBroken` before anything is changed,
    `GraphUnavailable`, `GraphRefused`, `StateUnusable`.
    """
    await asyncio.to_thread(check_dump, path)
    async with writer.exclusively() as alone:
        try:
            if store is None:
                begun = await begin_refill(alone, path)
                with writer.filling():
                    held = await refill(writer.graph, writer.audit, writer.snapshots.folder, begun, progress)
            else:
                held = await _exchange(alone, store, path, progress)
        except BaseException:
            writer.unsettle()
            raise
        await alone.snapshot(f"{RESTORED_FROM}{path.name}")
    return held


async def begin_refill(alone: Alone, path: Path) -> Record:
    """Write down that a server's graph is to become what this file holds, after a snapshot of what is there.

    From here on whoever writes next makes it so. Raises `GraphUnavailable`, `StateUnusable`.
    """
    before = await alone.snapshot(BEFORE_RESTORE)
    snapshots = alone.writer.snapshots.folder
    return await alone.writer.audit.append("restoring", {"file": path.name, **facts_of(path, snapshots, before.path)})


async def _exchange(alone: Alone, store: EmbeddedStore, path: Path, progress: Callable[[int, int], None]) -> Dump:
    """Make the file's graph beside the present one, and let it take its place."""
    audit = alone.writer.audit
    await alone.snapshot(BEFORE_RESTORE)
    begun = await audit.append("restoring", {"file": path.name})
    held = await beside(store, lambda graph: load_dump(path, graph, progress))
    await store.restart()
    await audit.append("restored", {"of": begun.seq, "file": path.name})
    return held


async def beside(store: EmbeddedStore, fill: Callable[[Graph], Awaitable[T]]) -> T:
    """Fill a new store beside the present one; whole, it takes its place at the next start. Raises what `fill` does."""
    making = store.folder.with_name(f"{store.folder.name}.making")
    await asyncio.to_thread(shutil.rmtree, making, ignore_errors=True)
    async with EmbeddedStore(making) as new:
        graph = Graph(new)
        try:
            filled = await fill(graph)
        finally:
            await graph.close()
    await asyncio.to_thread(shutil.rmtree, store.next_folder, ignore_errors=True)
    await asyncio.to_thread(making.rename, store.next_folder)
    return filled
