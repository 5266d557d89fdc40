"""Snapshots fall due by what was written, on an own clock and a real store."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.errors import StateUnusable
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin, Record
from memory.history.schedule import INEXACT_WRITES, MANY_WRITES, is_due, keep_snapshots
from memory.history.snapshot import Snapshot, Snapshots, worth_keeping
from memory.history.writer import Writer
from memory.json_value import Json
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]

START = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def attempt(at: datetime = START, *inexact: str) -> Record:
    return Record(1, at, "attempt", {"inexact": [*inexact]}, "", "")


def snapshot_record(at: datetime = START) -> Record:
    return Record(1, at, "snapshot", {}, "", "")


@pytest.mark.shows("C12")
def test_due_once_a_day_if_anything_was_written() -> None:
    later = START + timedelta(hours=23, minutes=59)
    assert not is_due([attempt()], later)
    assert is_due([attempt()], START + timedelta(days=1))
    assert not is_due([], START + timedelta(days=400))
    assert not is_due([attempt(), snapshot_record()], START + timedelta(days=400))
    assert is_due([attempt(), snapshot_record(), attempt(later)], later + timedelta(days=1))


@pytest.mark.shows("C12")
def test_due_at_once_when_much_was_written_or_chance_had_a_part() -> None:
    assert not is_due([attempt()] * (MANY_WRITES - 1), START)
    assert is_due([attempt()] * MANY_WRITES, START)
    assert not is_due([attempt(START, "rand()")] * (INEXACT_WRITES - 1), START)
    assert is_due([attempt(START, "rand()")] * INEXACT_WRITES, START)


@pytest.mark.shows("C12")
def test_they_grow_thinner_with_age(tmp_path: Path) -> None:
    now = START
    daily = [Snapshot(tmp_path / str(n), n, now - timedelta(days=400 - n), 0, 0, "") for n in range(401)]
    left = worth_keeping(daily, now)
    ages = [(now - one.at).days for one in left]
    assert [age for age in ages if age < 7] == [6, 5, 4, 3, 2, 1, 0]
    assert 8 <= len([age for age in ages if 7 <= age < 60]) <= 9
    assert 12 <= len([age for age in ages if age >= 60]) <= 13
    assert worth_keeping(left, now) == left


@pytest.mark.shows("C12")
async def test_thinning_takes_the_superfluous_files_and_no_other(tmp_path: Path) -> None:
    times = iter([START - timedelta(days=days) for days in (21, 20, 1, 0)])  # the first two are of the same week
    audit = AuditLog(tmp_path / "audit", lambda: next(times))
    snapshots = Snapshots(tmp_path, audit, lambda: START)
    for name in ("older", "old", "yesterday", "today"):
        (tmp_path / name).touch()
        facts: dict[str, Json] = {"file": name, "nodes": 0, "relationships": 0, "reason": ""}
        await audit.append("snapshot", facts)
    assert await snapshots.thin() == 1
    assert [one.path.name for one in await snapshots.listed()] == ["old", "yesterday", "today"]
    assert await snapshots.thin() == 0
    audit.close()


@pytest.mark.shows("C12")
@SESSION
async def test_a_folder_that_takes_no_snapshot_is_one_sentence_and_no_record(embedded: Graph, tmp_path: Path) -> None:
    (tmp_path / "snapshots").touch()
    audit = AuditLog(tmp_path / "audit")
    with pytest.raises(StateUnusable, match=r"no snapshot can be written in .*snapshots .*: make room"):
        await Snapshots(tmp_path / "snapshots", audit).take(embedded, "asked for")
    assert list(audit.records()) == []
    audit.close()


class Over(Exception):
    """Ends the keeper in a test."""


class Clock:
    """Time passes only when somebody waits."""

    def __init__(self, rounds: int, at: datetime = START) -> None:
        self.at = at
        self.rounds = rounds

    def now(self) -> datetime:
        return self.at

    async def pause(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.rounds -= 1
        if self.rounds < 0:
            raise Over


@pytest.mark.shows("C12")
@SESSION
async def test_a_week_of_the_keeper(embedded: Graph, tmp_path: Path) -> None:
    clock = Clock(rounds=6 * 24 * 7)
    audit = AuditLog(tmp_path / "audit", clock.now)
    writer = Writer(embedded, audit, Snapshots(tmp_path / "snapshots", audit, clock.now))
    await writer.write("CREATE (:A)", {}, Origin())
    is_alone: list[bool] = []

    def now() -> datetime:
        is_alone.append(writer._one.locked())
        return clock.at

    writer.snapshots._now = now
    with pytest.raises(Over):
        await keep_snapshots(writer, clock.now, clock.pause)
    assert is_alone == [True] * 2, "taken, and thinned, while nobody goes back to one"
    listed = await writer.snapshots.listed()
    assert [(one.reason, one.nodes) for one in listed] == [("on schedule", 1)]
    assert listed[0].at - START == timedelta(days=1)


@pytest.mark.shows("C12", "C15")
@SESSION
async def test_the_keeper_outlives_a_store_that_is_down(tmp_path: Path) -> None:
    clock = Clock(rounds=6 * 30)
    audit = AuditLog(tmp_path / "audit", clock.now)
    down = Graph(EmbeddedStore(tmp_path / "graph"))
    writer = Writer(down, audit, Snapshots(tmp_path / "snapshots", audit, clock.now))
    await audit.append("attempt", {"inexact": []}, {"cypher": "CREATE (:A)", "params": {}})
    with pytest.raises(Over):
        await keep_snapshots(writer, clock.now, clock.pause)
    assert await writer.snapshots.listed() == []
