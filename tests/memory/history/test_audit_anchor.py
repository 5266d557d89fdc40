"""The audit log's anchor: what the chain alone cannot tell, a log cut off, wiped or forged to its end, is told."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from memory.errors import AuditBroken, StateUnusable
from memory.history import audit
from memory.history.audit import AuditLog
from memory.history.audit_anchor import SCHEMA, Anchor, AuditAnchors, anchors_in, forget_anchors
from memory.history.audit_record import Record
from memory.state.database import Database
from tests.memory.history.test_audit import forged, written

pytestmark = pytest.mark.shows("C11")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "nakari.db")
    await opened.open(SCHEMA)
    yield opened
    await opened.close()


@pytest.fixture
async def anchors(database: Database) -> AuditAnchors:
    return AuditAnchors(database)


@contextmanager
def opened(folder: Path, anchors: AuditAnchors | None) -> Iterator[AuditLog]:
    """A log as one process has it."""
    log = AuditLog(folder / "audit", anchors=anchors)
    yield log
    log.close()


async def heads(anchors: AuditAnchors) -> list[int]:
    return [anchor.seq for anchor in await anchors.all()]


def _rewritten(lines: list[bytes], first: int) -> list[bytes]:
    """Return the lines with each from one on forged, the chain unbroken."""
    made = lines[:first]
    for line in lines[first:]:
        made.append(forged(line, Record.from_line(made[-1]).hash))
    return made


CUTS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "its newest line cut off": (lambda lines: lines[:-1], "it ends at record 7, and 8 were written"),
    "half of it cut off": (lambda lines: lines[:3], "it ends at record 3, and 8 were written"),
    "all of it cut off": (lambda lines: [], "it ends at record 0, and 8 were written"),
    "its last line forged": (lambda lines: _rewritten(lines, 7), "between 1 and 8 on it is another"),
    "forged from a line on": (lambda lines: _rewritten(lines, 4), "between 1 and 8 on it is another"),
    "forged and longer": (lambda lines: [*_rewritten(lines, 4), _next(lines, 4)], "between 1 and 8 on"),
}


def _next(lines: list[bytes], first: int) -> bytes:
    last = Record.from_line(_rewritten(lines, first)[-1])
    return Record(last.seq + 1, last.at, "snapshot", {}, "", last.hash).to_line()


@pytest.mark.parametrize("how", CUTS)
async def test_a_log_that_was_cut_off_or_forged_to_its_end_is_told_for_ever(
    tmp_path: Path, anchors: AuditAnchors, how: str
) -> None:
    change, told_as = CUTS[how]
    with opened(tmp_path, anchors) as log:
        await written(log, *["CREATE (a)"] * 4)
    [file] = log.folder.glob("*.jsonl")
    lines = change(file.read_bytes().splitlines(keepends=True))
    file.write_bytes(b"".join(lines))
    assert len(list(AuditLog(log.folder).verified())) == len(lines), "the chain alone is whole"
    with pytest.raises(AuditBroken, match=told_as):
        list(AuditLog(log.folder).verified(anchors_in(tmp_path / "nakari.db")))
    with opened(tmp_path, anchors) as log, capture_logs() as told:
        pending = {record.kind for record in await log.open()}
        assert "lost" in pending, "a snapshot is to come before anything else is written"
        await log.append("snapshot", {"file": "since"})
    assert [line["event"] for line in told] == ["audit_damaged"]
    first = min(len(lines) + 1, 8)
    with opened(tmp_path, anchors) as log, capture_logs() as told:
        assert not [record for record in await log.open() if record.kind == "lost"]
        with pytest.raises(AuditBroken, match=f"record {first} is missing or was changed"):
            await log.verify()
    assert told == [], "it goes on after the place, which stays as it was"


async def test_a_folder_that_was_removed_is_told(tmp_path: Path, anchors: AuditAnchors) -> None:
    with opened(tmp_path, anchors) as log:
        await written(log, "CREATE (a)")
    log.folder.rename(tmp_path / "away")
    with opened(tmp_path, anchors) as log:
        with pytest.raises(AuditBroken, match="ends at record 0, and 2 were written"):
            await log.verify()
        assert [(record.seq, record.kind) for record in await log.open()] == [(3, "lost")]


async def test_a_file_that_is_missing_after_another_is_told(tmp_path: Path, anchors: AuditAnchors) -> None:
    with opened(tmp_path, anchors) as log:
        await written(log, *["x" * (audit.SEGMENT_BYTES // 2)] * 3)
        assert await log.verify() == 6
    *_, newest = sorted(log.folder.iterdir())
    newest.unlink()
    with opened(tmp_path, anchors) as log, pytest.raises(AuditBroken, match=r"ends at record \d, and 6 were written"):
        await log.verify()


async def test_a_long_log_that_was_forged_is_told_from_within_a_hundred_records(
    tmp_path: Path, anchors: AuditAnchors
) -> None:
    with opened(tmp_path, anchors) as log:
        await written(log, *["CREATE (a)"] * 115)
    assert await heads(anchors) == [100, 200, 230]
    [file] = log.folder.glob("*.jsonl")
    file.write_bytes(b"".join(_rewritten(file.read_bytes().splitlines(keepends=True), 150)))
    with (
        opened(tmp_path, anchors) as log,
        pytest.raises(AuditBroken, match="from a record between 101 and 200 on it is another"),
    ):
        await log.verify()


@pytest.mark.shows("A24")
async def test_an_anchor_that_a_kill_left_behind_is_brought_up(tmp_path: Path, anchors: AuditAnchors) -> None:
    with opened(tmp_path, anchors) as log:
        await written(log, "CREATE (a)")
    with opened(tmp_path, None) as log:
        await written(log, "CREATE (b)")
    assert await heads(anchors) == [2]
    with opened(tmp_path, anchors) as log, capture_logs() as told:
        assert await log.open() == []
        assert await log.verify() == 4
    assert (await heads(anchors), told) == ([4], [])


async def test_a_record_is_in_the_log_before_it_is_anchored(tmp_path: Path, database: Database) -> None:
    class Watched(AuditAnchors):
        async def add(self, anchor: Anchor) -> None:
            [*_, last] = AuditLog(tmp_path / "audit").verified()
            assert (last.seq, last.hash) == (anchor.seq, anchor.hash)
            await super().add(anchor)

    anchors = Watched(database)
    with opened(tmp_path, anchors) as log:
        await written(log, "CREATE (a)", "CREATE (b)")
        await log.erase([1])
    assert await heads(anchors) == [5]


async def test_a_log_of_before_there_were_anchors_is_taken_up_once(tmp_path: Path, anchors: AuditAnchors) -> None:
    with opened(tmp_path, None) as log:
        await written(log, "CREATE (a)")
    for expected in ([("audit_anchored", 2)], []):
        with opened(tmp_path, anchors) as log, capture_logs() as told:
            await log.open()
        assert [(line["event"], line["records"]) for line in told] == expected
    assert await heads(anchors) == [2]


async def test_a_new_log_has_nothing_to_tell(tmp_path: Path, anchors: AuditAnchors) -> None:
    with opened(tmp_path, anchors) as log, capture_logs() as told:
        assert await log.open() == []
        assert await log.verify() == 0
    assert (await heads(anchors), told) == ([], [])


@pytest.mark.shows("V29")
async def test_an_erasure_leaves_digests_the_chain_and_an_anchor_that_follows(
    tmp_path: Path, anchors: AuditAnchors
) -> None:
    with opened(tmp_path, anchors) as log:
        secret, _ = await written(log, "CREATE (secret)", "CREATE (b)")
        assert await log.erase([secret.seq]) == 1
        assert await log.verify() == 5
    assert await heads(anchors) == [5]
    with opened(tmp_path, anchors) as log, capture_logs() as told:
        await log.open()
        assert await log.verify() == 5
        assert next(log.records()).is_erased
    assert told == []


async def test_an_older_log_with_its_older_anchor_is_whole(tmp_path: Path, database: Database) -> None:
    """As a backup holds both."""
    with opened(tmp_path, AuditAnchors(database)) as log:
        await written(log, "CREATE (a)")
        (tmp_path / "backup").mkdir()
        with closing(sqlite3.connect(database.path)) as source:
            source.execute("VACUUM INTO ?", (str(tmp_path / "backup" / "nakari.db"),))
        (tmp_path / "backup" / "audit").mkdir()
        [file] = log.folder.iterdir()
        (tmp_path / "backup" / "audit" / file.name).write_bytes(file.read_bytes())
        await written(log, "CREATE (b)")
    before = Database(tmp_path / "backup" / "nakari.db")
    await before.open(SCHEMA)
    with opened(tmp_path / "backup", AuditAnchors(before)) as log, capture_logs() as told:
        await written(log, "CREATE (c)")
        assert await log.verify() == 4
    await before.close()
    assert told == []


async def test_an_anchor_that_the_disk_refuses_costs_no_record_and_is_told(tmp_path: Path, database: Database) -> None:
    class Refused(AuditAnchors):
        async def add(self, anchor: Anchor) -> None:
            raise StateUnusable("no room")

    with opened(tmp_path, Refused(database)) as log, capture_logs() as told:
        await written(log, "CREATE (a)")
        assert await log.verify() == 2
    assert [line["event"] for line in told] == ["audit_not_anchored"] * 2


async def test_each_graph_has_anchors_of_its_own_and_they_go_with_it(tmp_path: Path, database: Database) -> None:
    household, visitor = AuditAnchors(database), AuditAnchors(database, "ada")
    await household.add(Anchor(7, "h"))
    await visitor.add(Anchor(9, "v"))
    await visitor.add(Anchor(8, "v"))
    assert await heads(visitor) == [8, 9], "whichever is written first, the head is the last record"
    await visitor.add(Anchor(10, "v"))
    assert anchors_in(database.path, "ada") == [Anchor(10, "v")]
    await forget_anchors(database, "ada")
    assert (anchors_in(database.path, "ada"), anchors_in(database.path)) == ([], [Anchor(7, "h")])
    assert anchors_in(tmp_path / "none.db") == []
