"""Replaces the graph by what a snapshot or the audit log holds; at a server a crash is gone on from.

In the embedded store the new graph is made beside the old one, and the change is one rename. A server's graph is
emptied and filled; that this was begun is in the audit log before anything goes.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import structlog

from memory.errors import AuditBroken, GraphRefused, SnapshotBroken
from memory.graph.cypher import quoted
from memory.graph.dump.dump import Dump, check_dump, load_dump
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.replay import replay
from memory.history.snapshot import RESTORED_FROM, Snapshots
from memory.progress import Progress, silently

if TYPE_CHECKING:
    from memory.history.writer import Alone, Writer

T = TypeVar("T")

SOURCE: Final = "from"
"""Key in the facts of a "restoring" record, of a server: the file, by name in the snapshots' folder or absolute; "" is
what the audit log itself makes of it."""

BEFORE: Final = "before"
"""Key beside it: the name of the snapshot that was taken of the graph before; "" where it was found empty."""

BEFORE_RESTORE: Final = "before a restore"
"""Reason of the snapshot that a restore takes first."""

BATCH: Final = 5_000
"""Nodes taken out in one transaction."""

SECONDS: Final = 60.0
"""That one transaction may take which empties a graph."""

log = structlog.get_logger()


async def restore(writer: "Writer", store: EmbeddedStore | None, path: Path, progress: Progress = silently) -> Dump:
    """Make the graph what a snapshot's file holds; a snapshot of what was there before is taken first.

    `store` is None at a server; what breaks off there is gone on with by whoever writes next. Raises `SnapshotBroken`
    before anything is changed, `GraphUnavailable`, `GraphRefused`, `StateUnusable`.
    """
    await asyncio.to_thread(check_dump, path)
    async with writer.exclusively() as alone:
        try:
            if store is None:
                begun = await begin_restore(alone, path)
                with writer.filling():
                    await continue_restore(writer.graph, writer.audit, writer.snapshots.folder, begun, progress)
            else:
                await alone.snapshot(BEFORE_RESTORE)
                begun = await writer.audit.append("restoring", {"file": path.name})
                await made_beside(store, lambda graph: load_dump(path, graph, progress))
                await store.restart()
                await writer.audit.append("restored", {"of": begun.seq, "file": path.name})
        except BaseException:
            writer.unsettle()
            raise
        taken = await alone.snapshot(f"{RESTORED_FROM}{path.name}")
    return Dump(taken.nodes, taken.relationships, "")


async def made_beside(store: EmbeddedStore, fill: Callable[[Graph], Awaitable[T]]) -> T:
    """Fill a new store beside the present one; whole, it takes its place at the next start. Raises what `fill` does.

    Nothing is left of one that is not: where the disk is full, that would keep it so.
    """
    making = store.folder.with_name(f"{store.folder.name}.making")
    await asyncio.to_thread(shutil.rmtree, making, ignore_errors=True)
    try:
        async with EmbeddedStore(making) as new, Graph(new) as graph:
            filled = await fill(graph)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, making, ignore_errors=True)
        raise
    await asyncio.to_thread(shutil.rmtree, store.next_folder, ignore_errors=True)
    await asyncio.to_thread(making.rename, store.next_folder)
    return filled


async def begin_restore(alone: "Alone", path: Path) -> Record:
    """Write down that a server's graph is to become what this file holds, after a snapshot of what is there.

    From here on whoever writes next makes it so. Raises `GraphUnavailable`, `StateUnusable`.
    """
    before = await alone.snapshot(BEFORE_RESTORE)
    source = _source(path, alone.writer.snapshots.folder)
    facts = {"file": path.name, SOURCE: source, BEFORE: before.path.name}
    return await alone.writer.audit.append("restoring", {**facts})


def _source(path: Path, snapshots: Path) -> str:
    """Return how a file is named in the audit log, so that a state that was moved finds its own snapshots."""
    return path.name if path.parent.resolve() == snapshots.resolve() else str(path.absolute())


async def continue_restore(
    graph: Graph, audit: AuditLog, folder: Path, begun: Record, progress: Progress = silently
) -> None:
    """Make a server's graph what a "restoring" record says, and write down that it was done.

    `folder` is where the snapshots are. Raises `GraphUnavailable` and what `progress` raises: the graph is half then,
    and whoever writes next goes on here first. Raises `SnapshotBroken`, `GraphRefused` or `AuditBroken` when it cannot
    be: then what was there before is put back.
    """
    source, path = begun.facts[SOURCE], folder / str(begun.facts[SOURCE])
    try:
        if source:
            await asyncio.to_thread(check_dump, path)
            await empty(graph)
            await load_dump(path, graph, progress)
        else:
            await empty(graph)
            done = await replay(audit, Snapshots(folder, audit), graph, progress=progress)
            log.warning("graph_rebuilt", writes=done.writes, exact=done.is_exact, refused=len(done.refused))
    except (SnapshotBroken, GraphRefused, AuditBroken):
        if source:
            with suppress(SnapshotBroken, GraphRefused):
                await empty(graph)
                await load_dump(folder / str(begun.facts[BEFORE]), graph)
        await audit.append("outcome", {"of": begun.seq, "committed": False})
        raise
    if source:
        await audit.append("restored", {"of": begun.seq, "file": path.name})
    else:  # it is no restore: the graph is what it was
        await audit.append("outcome", {"of": begun.seq, "committed": False})


async def empty(graph: Graph) -> None:
    """Take everything out of a graph, indexes too. Raises what `Graph.transaction` raises."""
    for show, drop in (("SHOW CONSTRAINTS", "DROP CONSTRAINT"), ("SHOW INDEXES", "DROP INDEX")):
        async with graph.transaction(writes=False, seconds=SECONDS) as transaction:
            rows = [row async for row in await transaction.run(show)]
        for name in (row["name"] for row in rows if row.get("type") != "LOOKUP"):
            async with graph.transaction(writes=True, seconds=SECONDS) as transaction:
                await (await transaction.run(f"{drop} {quoted(name)} IF EXISTS")).consume()
    gone = BATCH
    while gone:
        async with graph.transaction(writes=True, seconds=SECONDS) as transaction:
            answer = await transaction.run("MATCH (n) WITH n LIMIT $batch DETACH DELETE n", {"batch": BATCH})
            gone = (await answer.consume()).counters.nodes_deleted
