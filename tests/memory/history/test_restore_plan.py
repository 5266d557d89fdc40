"""How a graph came to be, told by records alone: the newest usable snapshot and what was kept since, over restores."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import AuditBroken, SnapshotBroken
from memory.history.audit_record import Kind, Record
from memory.history.replay import restore_plan
from memory.history.snapshot import Snapshot
from memory.json_value import Json

pytestmark = pytest.mark.shows("C11", "C12", "C15")

AT = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


class Log:
    """Records as an audit log has them, and the snapshots that are there."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.there: list[Snapshot] = []

    def add(self, kind: Kind, **facts: Json) -> int:
        self.records.append(Record(len(self.records) + 1, AT, kind, facts, "", ""))
        return len(self.records)

    def write(self, *, committed: bool | None = True) -> int:
        attempt = self.add("attempt")
        self.add("outcome", of=attempt, committed=committed)
        return attempt

    def snapshot(self, name: str) -> Snapshot:
        self.there.append(Snapshot(Path(name), self.add("snapshot", file=name), AT, 0, 0, ""))
        return self.there[-1]

    def came_to_be(self, *unusable: Snapshot) -> tuple[Snapshot | None, list[int]]:
        found = restore_plan(self.records, self.there, lambda snapshot: snapshot not in unusable)
        return found.base, [record.seq for record in found.writes]


def test_what_was_kept_since_the_newest_usable_snapshot_counts_and_nothing_else() -> None:
    log = Log()
    first = log.write()
    older = log.snapshot("older")
    second = log.write()
    newer = log.snapshot("newer")
    log.write(committed=False)
    log.write(committed=None)
    third = log.write()
    log.add("attempt")
    assert log.came_to_be() == (newer, [third])
    assert log.came_to_be(newer) == (older, [second, third])
    assert log.came_to_be(newer, older) == (None, [first, second, third])
    log.there.remove(newer)
    assert log.came_to_be() == (older, [second, third])


def test_what_a_restore_undid_does_not_count() -> None:
    log = Log()
    first = log.write()
    restored = log.snapshot("restored")
    log.write()
    log.snapshot("undone")
    log.write()
    log.add("restored", file="restored")
    last = log.write()
    assert log.came_to_be() == (restored, [last])
    assert log.came_to_be(restored) == (None, [first, last])


def test_a_restored_file_of_elsewhere_needs_a_snapshot_since() -> None:
    log = Log()
    log.snapshot("own")
    log.add("restored", file="of elsewhere")
    log.write()
    with pytest.raises(SnapshotBroken, match=r"what was restored from of elsewhere is in no snapshot"):
        log.came_to_be()
    since = log.snapshot("since")
    assert log.came_to_be() == (since, [])


def test_a_lost_record_needs_a_snapshot_since() -> None:
    log = Log()
    log.snapshot("before")
    log.add("lost")
    with pytest.raises(AuditBroken, match=r"record 2 of the audit log is lost"):
        log.came_to_be()
    since = log.snapshot("since")
    write = log.write()
    assert log.came_to_be() == (since, [write])
