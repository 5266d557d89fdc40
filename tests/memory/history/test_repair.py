"""A store that is damaged or gone is made again from snapshot and audit log; a snapshot is restored in one step."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.errors import SnapshotBroken
from memory.graph.dump.dump import write_dump
from memory.graph.dump.fingerprint import fingerprint
from memory.graph.embedded.folder import DATABASE, schema_of
from memory.graph.embedded.store import EmbeddedStore, State
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.audit_record import Origin
from memory.history.repair import rebuild, repair_damaged, repair_missing
from memory.history.restore import made_beside, restore
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = SESSION

ME = Origin("event-1")


class Home:
    """Everything that lasts of a graph, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = EmbeddedStore(folder / "graph")
        self.audit = AuditLog(folder / "audit")
        self.snapshots = Snapshots(folder / "snapshots", self.audit)
        self.writer = Writer(Graph(self.store), self.audit, self.snapshots)

    async def grow(self) -> str:
        """Write something, before and after a snapshot; return the fingerprint of it all."""
        await self.writer.write("UNWIND range(1, 40) AS i CREATE (:A {i: i})-[:next]->(:B {at: datetime()})", {}, ME)
        await self.writer.take_snapshot("asked for")
        await self.writer.write("MATCH (a:A {i: 7}) SET a.name = $name", {"name": "小明"}, ME)
        return await self.looks("grown")

    async def looks(self, name: str) -> str:
        path = self.folder / name
        await write_dump(self.writer.graph, path, self.snapshots._now())
        return await asyncio.to_thread(fingerprint, path)

    @asynccontextmanager
    async def supervised(self) -> AsyncIterator[None]:
        """Run the store and its healer, as the service does."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self.store.run()),
                group.create_task(repair_damaged(self.writer, self.store)),
            ]
            await self.store.until(State.READY)
            yield
            for task in tasks:
                task.cancel()
        await self.writer.graph.close()


@pytest.mark.shows("C15", "C11", "C12")
@pytest.mark.parametrize("damage", ["labels", "labels empty", "all files torn"])
async def test_a_damaged_store_is_made_again(tmp_path: Path, damage: str) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
    database = home.store.folder / "databases" / DATABASE
    match damage:
        case "labels":
            database.joinpath("schema.json").write_bytes(b"\0" * 300)
        case "labels empty":
            database.joinpath("schema.json").write_bytes(b"")
        case "all files torn":
            for file in filter(Path.is_file, database.iterdir()):
                file.write_bytes(file.read_bytes()[:10])
    async with home.supervised():
        assert await home.looks("again") == grown
        await home.writer.write("CREATE (:C)", {}, ME)
    assert home.store.folder_before.is_dir()


@pytest.mark.shows("C15", "C11")
async def test_a_damaged_store_is_made_again_once_and_while_nobody_writes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
    labels = schema_of(home.store.folder)
    whole = labels.read_bytes()
    labels.write_bytes(b"\0")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(home.store.run()), group.create_task(repair_damaged(home.writer, home.store))]
        async with home.writer.unsettled():
            await home.store.until(State.DOWN)
            labels.write_bytes(whole)  # it was a hiccup of the disk: the next start opens it
            await home.store.until(State.READY)
        await home.writer.write("CREATE (:C)", {}, ME)
        await home.writer.graph.write("MATCH (c:C) DELETE c")
        assert await home.looks("again") == grown
        for task in tasks:
            task.cancel()
    assert not home.store.next_folder.exists()
    assert not home.store.folder_before.exists()
    await home.writer.graph.close()


@pytest.mark.shows("C15")
async def test_a_store_whose_place_the_disk_refuses_is_down_and_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
    shutil.copytree(home.store.folder, home.store.next_folder)
    home.store.folder_before.touch()  # a file, where the folder of before would go
    async with asyncio.TaskGroup() as group:
        running = group.create_task(home.store.run())
        await home.store.until(State.DOWN)
        assert "cannot take the place of" in home.store.reason
        assert not home.store.is_damaged
        home.store.folder_before.unlink()
        await home.store.until(State.READY)
        assert await home.looks("again") == grown
        running.cancel()
    await home.writer.graph.close()


@pytest.mark.shows("C15", "C11")
async def test_a_store_that_is_gone_is_noticed_and_made_again(tmp_path: Path) -> None:
    home = Home(tmp_path)
    await repair_missing(home.store, home.audit, home.snapshots)
    assert not home.store.next_folder.exists(), "nothing was ever written"
    async with home.supervised():
        grown = await home.grow()
    await repair_missing(home.store, home.audit, home.snapshots)
    assert not home.store.next_folder.exists(), "it is there"
    shutil.rmtree(home.store.folder)
    await repair_missing(home.store, home.audit, home.snapshots)
    assert home.store.next_folder.exists()
    async with home.supervised():
        assert await home.looks("again") == grown


@pytest.mark.shows("C12", "H7")
async def test_a_snapshot_is_restored_while_it_lives(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
        path = (await home.writer.take_snapshot("asked for")).path
        await home.writer.write("MATCH (n) DETACH DELETE n", {}, ME)
        held = await restore(home.writer, home.store, path)
        assert held.nodes == 80
        assert await home.looks("again") == grown
        reasons = [snapshot.reason for snapshot in await home.snapshots.listed()]
        assert reasons[-2:] == ["before a restore", f"restored from {path.name}"]


@pytest.mark.shows("C12", "C18")
async def test_a_graph_moves_to_a_server_and_back(tmp_path: Path, neo4j: Graph) -> None:
    home = Home(tmp_path)
    server_audit = AuditLog(tmp_path / "server-audit")
    server = Writer(neo4j, server_audit, Snapshots(tmp_path / "server-snapshots", server_audit))
    async with home.supervised():
        grown = await home.grow()
        await server.write("CREATE (:Something {that: 'was there'})", {}, ME)
        await restore(server, None, (await home.writer.take_snapshot("to move")).path)
        moved = (await server.take_snapshot("to move back")).path
        assert await asyncio.to_thread(fingerprint, moved) == grown
        await restore(home.writer, home.store, moved)
        assert await home.looks("back") == grown


@pytest.mark.shows("C12")
async def test_a_damaged_snapshot_changes_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
        path = (await home.writer.take_snapshot("asked for")).path
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(SnapshotBroken):
            await restore(home.writer, home.store, path)
        assert await home.looks("again") == grown


@pytest.mark.shows("C12", "A24")
async def test_a_change_of_folders_that_a_crash_cut_in_two_is_finished(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
    # What a crash leaves between the two renames: the old folder is aside, the new one not yet in its place.
    home.store.folder.rename(home.store.next_folder)
    async with home.supervised():
        assert await home.looks("again") == grown


@pytest.mark.shows("C12")
async def test_a_rebuild_that_is_cut_off_leaves_the_old_store(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with home.supervised():
        grown = await home.grow()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(rebuild(home.store, home.audit, home.snapshots))
        await asyncio.sleep(0)
        task.cancel()
    assert not home.store.next_folder.exists()
    async with home.supervised():
        assert await home.looks("again") == grown


async def test_a_store_that_could_not_be_filled_leaves_nothing(tmp_path: Path) -> None:
    async def fill(graph: Graph) -> None:
        await graph.read("RETURN 1", {})
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        await made_beside(EmbeddedStore(tmp_path / "graph"), fill)
    assert await asyncio.to_thread(os.listdir, tmp_path) == []
