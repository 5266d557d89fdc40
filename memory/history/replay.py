"""Replays the audit log: the graph at any moment is the newest snapshot before it and every write kept since."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from msgspec import Struct

from memory.errors import AuditBroken, GraphRefused, SnapshotBroken
from memory.graph.dump.dump import check_dump, load_dump
from memory.graph.dump.serialization import deserialized
from memory.graph.graph import Graph
from memory.history.addressed import found_again
from memory.history.audit import AuditLog
from memory.history.audit_record import Record
from memory.history.snapshot import Snapshot, Snapshots
from memory.progress import Progress, silently


class RestorePlan(Struct, frozen=True):
    """How a graph came to be."""

    base: Snapshot | None
    """What it begins with; None is an empty graph."""
    writes: list[Record]
    """The attempts that were kept since, in order; perhaps without their contents."""


def restore_plan(
    records: Sequence[Record], there: Iterable[Snapshot], is_usable: Callable[[Snapshot], bool]
) -> RestorePlan:
    """Return how the graph at the last of these records (all from the first on) came to be, from the newest base.

    After a restore the graph goes on from what the restored snapshot held. Blocking where `is_usable` is, which is
    asked from the newest on. Raises `SnapshotBroken` where a restored file is no snapshot and none was usable since,
    `AuditBroken` where a record was lost and none was since.
    """
    snapshots = {snapshot.seq: snapshot for snapshot in there}
    taken = {str(record.facts["file"]): record.seq for record in records if record.kind == "snapshot"}
    was_kept = {record.facts["of"] for record in records if record.kind == "outcome" and record.facts["committed"]}
    writes: list[Record] = []
    end = records[-1].seq if records else 0  # more than there are, where some are missing
    for record in reversed(records):
        if record.seq > end:
            continue
        if record.kind == "snapshot" and record.seq in snapshots and is_usable(snapshots[record.seq]):
            return RestorePlan(snapshots[record.seq], writes[::-1])
        if record.kind == "lost":
            raise AuditBroken(
                f"record {record.seq} of the audit log is lost and no snapshot was taken since that can be read: "
                "put the audit log back from a backup"
            )
        if record.kind == "attempt" and record.seq in was_kept:
            writes.append(record)
        elif record.kind == "restored":
            file = str(record.facts["file"])
            if file not in taken:
                raise SnapshotBroken(f"what was restored from {file} is in no snapshot that can be read any more")
            end = taken[file]
    return RestorePlan(None, writes[::-1])


class Replayed(Struct):
    """What a replay did."""

    base: Snapshot | None
    """What it began with; None is an empty graph."""
    writes: int = 0
    """Run again."""
    inexact: list[int] = []
    """Records among them that may have come out otherwise: chance, ids of the store, an order nobody gave."""
    erased: list[int] = []
    """Records whose content a person had taken out: they are missing."""
    refused: dict[int, str] = {}
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
    progress: Progress = silently,
) -> Replayed:
    """Make an empty graph what its own was at a moment (aware; None is now), and say how exactly.

    A snapshot that turns out damaged is passed over for an older one. Raises `AuditBroken`, `GraphUnavailable`,
    `SnapshotBroken` when what was restored once cannot be read any more; what `progress` raises ends the replay.
    """
    records = await asyncio.to_thread(lambda: [r for r in audit.outline() if until is None or r.at <= until])
    there = await asyncio.to_thread(lambda: list(snapshots.among(records)))
    plan = await asyncio.to_thread(restore_plan, records, there, is_whole)
    return await follow(audit, plan, into, progress)


async def follow(audit: AuditLog, plan: RestorePlan, into: Graph, progress: Progress = silently) -> Replayed:
    """Make an empty graph what a plan made from this log makes of it. Raises what `replay` raises."""
    done = Replayed(plan.base)
    if plan.base is not None:
        await load_dump(plan.base.path, into, progress)
    wanted = {record.seq for record in plan.writes}
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
        cypher, params = str(content["cypher"]), cast("dict[str, object]", deserialized(content["params"]))
    except (KeyError, ValueError, TypeError) as error:
        done.refused[record.seq] = f"the record is not as it was written ({error})"
        return
    if named := content.get("named"):
        here = await found_again(into, named, params)
        if here is None:  # rather not at all than to something else
            done.refused[record.seq] = "what it named by the store's id is not there, or not alone in being as it was"
            return
        params = cast("dict[str, object]", here)
    try:
        await into.write(cypher, params)
    except GraphRefused as error:
        done.refused[record.seq] = str(error)
        return
    done.writes += 1
    if record.facts.get("inexact"):
        done.inexact.append(record.seq)
