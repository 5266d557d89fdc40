"""Which snapshot and which writes made the graph what it was at a record of the audit log, over restores too."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memory.errors import AuditBroken, SnapshotBroken
from memory.history.audit_record import Record
from memory.history.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Lineage:
    """How a graph came to be."""

    base: Snapshot | None
    """What it begins with; None is an empty graph."""
    writes: list[Record]
    """The attempts that were kept since, in order; perhaps without their contents."""


def lineage(records: Sequence[Record], there: Iterable[Snapshot], is_usable: Callable[[Snapshot], bool]) -> Lineage:
    """Return how the graph at the last of these records (all from the first on) came to be, from the newest base.

    After a restore the graph goes on from what the restored snapshot held. Blocking where `is_usable` is, which is
    asked from the newest on. Raises `SnapshotBroken` where a restored file is no snapshot and none was usable since,
    `AuditBroken` where a record was lost and none was since.
    """
    snapshots = {snapshot.seq: snapshot for snapshot in there}
    taken = {str(record.facts["file"]): record.seq for record in records if record.kind == "snapshot"}
    was_kept = {record.facts["of"] for record in records if record.kind == "outcome" and record.facts["committed"]}
    writes: list[Record] = []
    end = len(records)
    for record in reversed(records):
        if record.seq > end:
            continue
        if record.kind == "snapshot" and record.seq in snapshots and is_usable(snapshots[record.seq]):
            return Lineage(snapshots[record.seq], writes[::-1])
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
    return Lineage(None, writes[::-1])
