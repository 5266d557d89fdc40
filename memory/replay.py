"""Her graph as it was at any moment: the newest snapshot before it, and every write that was kept since."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from memory.audit import AuditLog, Record
from memory.errors import GraphRefused, SnapshotBroken
from memory.graph.dump import check_dump, load_dump
from memory.graph.graph import Graph
from memory.graph.portable import from_portable
from memory.snapshot import Snapshot, Snapshots


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
    """Records that this store refused, with its words."""

    @property
    def is_exact(self) -> bool:
        """Whether the graph is, but for elementIds, what it was."""
        return not (self.inexact or self.erased or self.refused)


async def replay(
    audit: AuditLog,
    snapshots: Snapshots,
    into: Graph,
    until: datetime | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Replayed:
    """Make an empty graph what hers was at a moment (aware; None is now), and say how exactly.

    A snapshot that turns out damaged is passed over for an older one. Raises `AuditBroken`, `GraphUnavailable`.
    """
    records = await asyncio.to_thread(lambda: [r for r in audit.records() if until is None or r.at <= until])
    base = await asyncio.to_thread(_base, list(snapshots.among(records)))
    done = Replayed(base)
    if base is not None:
        await load_dump(base.path, into)
    writes = kept(records, base.seq if base else 0)
    for number, record in enumerate(writes):
        progress(number, len(writes))
        if record.content is None:
            done.erased.append(record.seq)
            continue
        await _again(record, into, done)
    progress(len(writes), len(writes))
    return done


def kept(records: Sequence[Record], after: int) -> list[Record]:
    """Return the attempts after a record that were kept, in order."""
    outcomes = {int(str(r.facts["of"])): r.facts.get("committed") for r in records if r.kind == "outcome"}
    return [r for r in records if r.kind == "attempt" and r.seq > after and outcomes.get(r.seq) is True]


def _base(there: list[Snapshot]) -> Snapshot | None:
    for snapshot in reversed(there):
        try:
            check_dump(snapshot.path)
        except SnapshotBroken:
            continue
        return snapshot
    return None


async def _again(record: Record, into: Graph, done: Replayed) -> None:
    content = cast("dict[str, Any]", record.content)
    try:
        await into.write(content["cypher"], cast("dict[str, object]", from_portable(content["params"])))
    except GraphRefused as error:
        done.refused[record.seq] = str(error)
        return
    done.writes += 1
    if record.facts.get("inexact"):
        done.inexact.append(record.seq)
