"""A snapshot that takes longer than a tool has: the write says so, and succeeds when it is asked again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.errors import GraphUnavailable, StateUnusable
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.snapshot import Snapshot, Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [pytest.mark.shows("C10", "C12"), SESSION]

ME = Origin("event-1")
MANY = "UNWIND range(1, 100) AS i CREATE (:A {i: i})"
ALL = "MATCH (n:A) DETACH DELETE n"
IT_IS_UNDER_WAY = r"a snapshot of 100 nodes and relationships comes first.*under way.*ask again in a minute"


class SlowSnapshots(Snapshots):
    """Takes each once it is let; `failing` is raised instead while it is there."""

    def __init__(self, folder: Path, audit: AuditLog) -> None:
        super().__init__(folder, audit)
        self.let = asyncio.Event()
        self.failing: StateUnusable | None = None

    async def take(self, graph: Graph, reason: str) -> Snapshot:
        await self.let.wait()
        if self.failing is not None:
            raise self.failing
        return await super().take(graph, reason)


@asynccontextmanager
async def writing(graph: Graph, folder: Path) -> AsyncIterator[tuple[Writer, SlowSnapshots]]:
    """A graph of a hundred nodes whose writer takes snapshots beside, and waits for none."""
    audit = AuditLog(folder / "audit")
    snapshots = SlowSnapshots(folder / "snapshots", audit)
    writer = Writer(graph, audit, snapshots)
    await writer.write(MANY, {}, ME)
    writer.patience = 0.0
    async with asyncio.TaskGroup() as group:
        saving = group.create_task(writer.saving.run())
        await asyncio.sleep(0)
        yield writer, snapshots
        saving.cancel()
    audit.close()


async def saved(writer: Writer) -> None:
    """Wait until no snapshot is under way."""
    await writer.saving.until_idle(asyncio.get_running_loop().time() + 30.0)


def kinds(writer: Writer) -> list[str]:
    return [record.kind for record in writer.audit.records()]


async def test_it_says_so_goes_on_beside_and_the_same_write_succeeds_later(embedded: Graph, tmp_path: Path) -> None:
    async with writing(embedded, tmp_path) as (writer, snapshots):
        for cypher in (ALL, ALL, "CREATE (:B)"):
            with pytest.raises(GraphUnavailable, match=IT_IS_UNDER_WAY):
                await writer.write(cypher, {}, ME)
        assert kinds(writer) == ["attempt", "outcome"] * 2, "who asks meanwhile hears it without trying"
        snapshots.let.set()
        await saved(writer)
        assert (await writer.write(ALL, {}, ME)).stats["nodesDeleted"] == 100
        assert kinds(writer)[4:] == ["snapshot", "attempt", "outcome"]
        assert [each.nodes for each in await snapshots.listed()] == [100]


@pytest.mark.parametrize("between", ["a write", "a refused write", "somebody who had the graph alone"])
async def test_only_a_snapshot_of_all_that_was_kept_will_do(embedded: Graph, tmp_path: Path, between: str) -> None:
    async with writing(embedded, tmp_path) as (writer, snapshots):
        snapshots.let.set()
        with pytest.raises(GraphUnavailable):
            await writer.write(ALL, {}, ME)
        await saved(writer)
        if between == "a write":
            await writer.write("CREATE (:B)", {}, ME)
        elif between == "a refused write":
            with pytest.raises(Exception, match="CREAT"):
                await writer.write("CREAT (:B)", {}, ME)
        else:
            async with writer.exclusively():
                pass
        writer.patience = 30.0
        assert (await writer.write(ALL, {}, ME)).stats["nodesDeleted"] == 100
        assert len(await snapshots.listed()) == (1 if between == "a refused write" else 2)


async def test_a_snapshot_that_is_quick_is_waited_for(embedded: Graph, tmp_path: Path) -> None:
    async with writing(embedded, tmp_path) as (writer, snapshots):
        writer.patience = 30.0
        snapshots.let.set()
        assert (await writer.write(ALL, {}, ME)).stats["nodesDeleted"] == 100
        assert kinds(writer)[2:] == ["attempt", "outcome", "snapshot", "attempt", "outcome"]


async def test_one_that_fails_is_told_to_who_asks_again_and_then_tried_again(embedded: Graph, tmp_path: Path) -> None:
    async with writing(embedded, tmp_path) as (writer, snapshots):
        writer.patience = 30.0
        snapshots.failing = StateUnusable("the disk is full: make room")
        snapshots.let.set()
        with pytest.raises(StateUnusable, match="make room"):
            await writer.write(ALL, {}, ME)
        snapshots.failing = None
        assert (await writer.write(ALL, {}, ME)).stats["nodesDeleted"] == 100
