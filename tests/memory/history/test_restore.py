"""A server's graph that is being restored is never left half: a cut is gone on with, what cannot be is taken back."""

import asyncio
from pathlib import Path

import pytest

from memory.errors import SnapshotBroken
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.restore import begin_restore, restore
from memory.history.snapshot import Snapshot, Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import SESSION
from tests.memory.history.test_repair import ME
from tests.memory.lives import looks

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.neo4j]

GROWN = "UNWIND range(1, 600) AS i CREATE (:A {i: i})-[:next {at: datetime()}]->(:B {name: $name})"


class Cut(Exception):
    """Ends a restore where a crash might."""


def cut(done: int, of: int) -> None:
    assert 0 < done < of
    raise Cut


def writer_of(graph: Graph, folder: Path) -> Writer:
    """Return a writer as a new process has it."""
    audit = AuditLog(folder / "audit")
    return Writer(graph, audit, Snapshots(folder / "snapshots", audit))


async def two_states(writer: Writer) -> tuple[Snapshot, Snapshot]:
    """Let a graph be one thing, then another; return the snapshots. An index has a name that needs its quotes."""
    await writer.write(GROWN, {"name": "小明"}, ME)
    await writer.write("CREATE INDEX `odd ``name` FOR (n:A) ON (n.i)", {}, ME)
    first = await writer.take_snapshot("the first")
    await writer.write("MATCH (b:B) DETACH DELETE b", {}, ME)
    await writer.write("CREATE (:Later)", {}, ME)
    return first, await writer.take_snapshot("the second")


@pytest.mark.shows("C12", "H7", "A24")
async def test_a_restore_that_was_cut_off_is_gone_on_with_before_anything_is_written(
    tmp_path: Path, neo4j: Graph
) -> None:
    before = writer_of(neo4j, tmp_path)
    first, _ = await two_states(before)
    with pytest.raises(Cut):
        await restore(before, None, first.path, cut)
    grown = await asyncio.to_thread(fingerprint, first.path)
    assert await looks(neo4j, tmp_path / "half") != grown
    after = writer_of(neo4j, tmp_path)
    async with after.exclusively():
        assert await looks(neo4j, tmp_path / "whole") == grown
    await after.write("CREATE (:C)", {}, ME)
    kinds = [record.kind for record in after.audit.records()]
    assert kinds[-4:] == ["restoring", "restored", "attempt", "outcome"]
    assert await after.audit.verify() == len(kinds)
    for each in (before, after):
        each.audit.close()


@pytest.mark.shows("C12")
async def test_the_same_process_goes_on_too(tmp_path: Path, neo4j: Graph) -> None:
    writer = writer_of(neo4j, tmp_path)
    first, second = await two_states(writer)
    with pytest.raises(Cut):
        await restore(writer, None, first.path, cut)
    await restore(writer, None, second.path)
    assert await looks(neo4j, tmp_path / "now") == await asyncio.to_thread(fingerprint, second.path)
    reasons = [one.reason for one in await writer.snapshots.listed()]
    assert reasons[-2:] == ["before a restore", f"restored from {second.path.name}"]
    writer.audit.close()


@pytest.mark.shows("C12")
async def test_what_cannot_be_finished_is_taken_back(tmp_path: Path, neo4j: Graph) -> None:
    writer = writer_of(neo4j, tmp_path)
    first, second = await two_states(writer)
    foreign = tmp_path / "elsewhere"
    first.path.rename(foreign)
    async with writer.exclusively() as alone:
        begun = await begin_restore(alone, foreign)
    assert begun.facts["from"] == str(foreign)
    foreign.unlink()
    await neo4j.write("MATCH (n) DETACH DELETE n")
    after = writer_of(neo4j, tmp_path)
    async with after.exclusively():
        assert await looks(neo4j, tmp_path / "back") == await asyncio.to_thread(fingerprint, second.path)
    assert await after.audit.open() == []
    with pytest.raises(SnapshotBroken):
        await restore(after, None, foreign)
    for each in (writer, after):
        each.audit.close()
