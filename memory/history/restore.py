"""A server's graph emptied and filled, from a snapshot or the whole log; what a crash cut off is gone on with."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from memory.errors import AuditBroken, GraphRefused, SnapshotBroken
from memory.graph.cypher import quoted
from memory.graph.dump import Dump, check_dump, load_dump, silently
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.replay import replay
from memory.history.snapshot import Snapshots

SOURCE: Final = "from"
"""Key in the facts of a "restoring" record, of a server: the file, by name in the snapshots' folder or absolute; "" is
what the audit log itself makes of it."""

BEFORE: Final = "before"
"""Key beside it: the name of the snapshot that was taken of the graph before."""

BATCH: Final = 5_000
"""Nodes taken out in one transaction."""

SECONDS: Final = 60.0
"""That one transaction may take which empties a graph."""

log = structlog.get_logger()


def facts_of(path: Path, snapshots: Path, before: Path) -> dict[str, str]:
    """Return what a restore writes down before it begins, so that it can be gone on with on a state that was moved."""
    inside = path.parent.resolve() == snapshots.resolve()
    return {SOURCE: path.name if inside else str(path.absolute()), BEFORE: before.name}


async def begin_again(audit: AuditLog) -> Record:
    """Write down that a server's graph, which was found empty, is to become what it was."""
    return await audit.append("restoring", {"file": "", SOURCE: "", BEFORE: ""})


async def go_on(
    graph: Graph, audit: AuditLog, folder: Path, begun: Record, progress: Callable[[int, int], None] = silently
) -> None:
    """Do what such a record says. Raises what `refill` raises."""
    if begun.facts[SOURCE]:
        await refill(graph, audit, folder, begun, progress)
    else:
        await _make_again(graph, audit, folder, begun, progress)


async def _make_again(
    graph: Graph, audit: AuditLog, folder: Path, begun: Record, progress: Callable[[int, int], None]
) -> None:
    """Make a server's graph what snapshots and audit log make of it, and write down that it was done.

    It is no restore: the graph is what it was. Raises `GraphUnavailable` and what `progress` raises: then it is gone on
    with. Raises `SnapshotBroken`, `GraphRefused` or `AuditBroken` when it cannot be: then it stays as it is.
    """
    try:
        await empty(graph)
        done = await replay(audit, Snapshots(folder, audit), graph, progress=progress)
    except (SnapshotBroken, GraphRefused, AuditBroken):
        await audit.append("outcome", {"of": begun.seq, "committed": False})
        raise
    await audit.append("outcome", {"of": begun.seq, "committed": False})
    log.warning("graph_rebuilt", writes=done.writes, exact=done.is_exact, refused=len(done.refused))


async def refill(
    graph: Graph, audit: AuditLog, folder: Path, begun: Record, progress: Callable[[int, int], None] = silently
) -> Dump:
    """Make a server's graph what the file of a begun restore holds, and write down that it was done.

    `folder` is where the snapshots are. Raises `GraphUnavailable` and what `progress` raises: the graph is half then,
    and whoever writes next goes on here first. Raises `SnapshotBroken` or `GraphRefused` when it cannot be: then what
    was there before is put back.
    """
    path = folder / str(begun.facts[SOURCE])
    try:
        await asyncio.to_thread(check_dump, path)
        await empty(graph)
        held = await load_dump(path, graph, progress)
    except (SnapshotBroken, GraphRefused):
        with suppress(SnapshotBroken, GraphRefused):
            await empty(graph)
            await load_dump(folder / str(begun.facts[BEFORE]), graph)
        await audit.append("outcome", {"of": begun.seq, "committed": False})
        raise
    await audit.append("restored", {"of": begun.seq, "file": path.name})
    return held


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
