"""The graph as it was at any moment: the newest snapshot before it, and every write that was kept since."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from memory.errors import GraphRefused, SnapshotBroken
from memory.graph.dump import check_dump, load_dump, silently
from memory.graph.graph import Graph
from memory.graph.serialization import from_portable
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.restore_plan import Lineage, lineage
from memory.history.snapshot import Snapshot, Snapshots


@dataclass(slots=True)
class Replayed:
    """What a replay did."""

    base: Snapshot | None
    """What it began with; None is an empty graph."""
    writes: int = 0
    """Run again."""
    inexact: list[int] = field(default_factory=list)
    """Records among them that may have come out otherwise: chance, ids of the store, an order nobody gave."""
    erased: list[int] = field(default_factory=list)
    """Records whose content a person had taken out: they are missing."""
    refused: dict[int, str] = field(default_factory=dict)
    """Records that this store refused, with its words, and those that the disk has changed."""

    @property
    def is_exact(self) -> bool:
        """Whether the graph is, but for elementIds, what it was."""
        return not (self.inexact or self.erased or self.refused)


async def replay(
    audit: AuditLog,
    snapshots: Snapshots,
    into: Graph,
    until: datetime | None = None,
    progress: Callable[[int, int], None] = silently,
) -> Replayed:
    """Make an empty graph what its own was at a moment (aware; None is now), and say how exactly.

    A snapshot that turns out damaged is passed over for an older one. Raises `AuditBroken`, `GraphUnavailable`,
    `SnapshotBroken` when what was restored once cannot be read any more; what `progress` raises ends the replay.
    """
    records = await asyncio.to_thread(lambda: [r for r in audit.outline() if until is None or r.at <= until])
    there = await asyncio.to_thread(lambda: list(snapshots.among(records)))
    way = await asyncio.to_thread(lineage, records, there, is_whole)
    return await follow(audit, way, into, progress)


async def follow(
    audit: AuditLog, way: Lineage, into: Graph, progress: Callable[[int, int], None] = silently
) -> Replayed:
    """Make an empty graph what a lineage of this log makes of it. Raises what `replay` raises."""
    done = Replayed(way.base)
    if way.base is not None:
        await load_dump(way.base.path, into, progress)
    wanted = {record.seq for record in way.writes}
    after = min(wanted, default=1) - 1
    writes = await asyncio.to_thread(lambda: [r for r in audit.records(after) if r.seq in wanted])
    for number, record in enumerate(writes):
        progress(number, len(writes))
        if record.content is None:
            done.erased.append(record.seq)
            continue
        await _again(record, into, done)
    progress(len(writes), len(writes))
    return done


def is_whole(snapshot: Snapshot) -> bool:
    """Say whether a snapshot can be read to its end. Blocking."""
    try:
        check_dump(snapshot.path)
    except SnapshotBroken:
        return False
    return True


async def _again(record: Record, into: Graph, done: Replayed) -> None:
    content = cast("dict[str, Any]", record.content)
    if not record.is_whole:
        done.refused[record.seq] = "the record is not as it was written"
        return
    try:
        cypher, params = str(content["cypher"]), cast("dict[str, object]", from_portable(content["params"]))
    except (KeyError, ValueError, TypeError) as error:
        done.refused[record.seq] = f"the record is not as it was written ({error})"
        return
    try:
        await into.write(cypher, params)
    except GraphRefused as error:
        done.refused[record.seq] = str(error)
        return
    done.writes += 1
    if record.facts.get("inexact"):
        done.inexact.append(record.seq)
