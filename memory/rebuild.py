"""Her graph made anew: out of snapshot and audit log where the store is damaged, out of a file where somebody asks."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import structlog

from memory.audit import AuditLog
from memory.errors import MemoryFailure
from memory.graph.dump import Dump, check_dump, load_dump, silently
from memory.graph.embedded import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.replay import Replayed, replay
from memory.snapshot import RESTORED_FROM, Snapshots
from memory.writer import Writer

T = TypeVar("T")

BATCH = 5_000
"""Nodes taken out of a server's graph in one transaction."""

log = structlog.get_logger()


async def heal(store: EmbeddedStore, audit: AuditLog, snapshots: Snapshots) -> None:
    """Rebuild the store of the box whenever it is damaged, or gone although something was written, for ever.

    A rebuild that fails is told and not tried again before the store goes down anew.
    """
    while True:
        await store.until(State.DOWN)
        if store.is_damaged:
            log.error("graph_damaged", reason=store.reason)
            try:
                done = await rebuild(store, audit, snapshots)
            except (MemoryFailure, OSError) as error:
                log.error("graph_not_rebuilt", reason=str(error))  # noqa: TRY400  a sentence, not a bug
            else:
                log.warning("graph_rebuilt", writes=done.writes, exact=done.is_exact, refused=len(done.refused))
        await store.until(State.STARTING)


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


async def restore(
    writer: Writer, store: EmbeddedStore | None, path: Path, progress: Callable[[int, int], None] = silently
) -> Dump:
    """Make her graph what a snapshot's file holds; a snapshot of what was there before is taken first.

    In the store of the box the change is one rename; a server's graph (`store` None) is emptied and filled, and if that
    breaks off, what was before is in the snapshot. Raises `SnapshotBroken` before anything is changed,
    `GraphUnavailable`, `GraphRefused`, `StateUnusable`.
    """
    await asyncio.to_thread(check_dump, path)
    async with writer.exclusively() as alone:
        await alone.snapshot("before a restore")
        begun = await writer.audit.append("restoring", {"file": path.name})
        try:
            if store is None:
                await empty(writer.graph)
                held = await load_dump(path, writer.graph, progress)
            else:
                held = await beside(store, lambda graph: load_dump(path, graph, progress))
                await store.restart()
            await writer.audit.append("restored", {"of": begun.seq, "file": path.name})
        except BaseException:
            writer.unsettle()
            raise
        await alone.snapshot(f"{RESTORED_FROM}{path.name}")
    return held


async def empty(graph: Graph) -> None:
    """Take everything out of a graph, indexes too. Raises what `Graph.transaction` raises."""
    for kind in ("CONSTRAINT", "INDEX"):
        async with graph.transaction(writes=False, seconds=60) as transaction:
            rows = [row async for row in await transaction.run(f"SHOW {kind}{'S' if kind == 'CONSTRAINT' else 'ES'}")]
        for name in (row["name"] for row in rows if row.get("type") != "LOOKUP"):
            async with graph.transaction(writes=True, seconds=60) as transaction:
                await (await transaction.run(f"DROP {kind} `{name}` IF EXISTS")).consume()
    gone = BATCH
    while gone:
        async with graph.transaction(writes=True, seconds=60) as transaction:
            answer = await transaction.run("MATCH (n) WITH n LIMIT $batch DETACH DELETE n", {"batch": BATCH})
            gone = (await answer.consume()).counters.nodes_deleted


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
