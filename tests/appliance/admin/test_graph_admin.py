"""The memory from outside, with the real store: look, change, save, compare, ask the past, bring back."""

import asyncio
from datetime import UTC, datetime
from errno import EROFS
from pathlib import Path

import pytest

from appliance.admin.graph_admin import GraphAdmin
from appliance.admin.local import RemoteAdmin, local_admin, open_admin
from appliance.api.requests.memory import (
    Backup,
    Changes,
    Diff,
    ListSnapshots,
    MemoryRequest,
    Past,
    ReadAudit,
    Replay,
    Restore,
    TakeSnapshot,
    UseTool,
    VerifyAudit,
)
from appliance.cli.remember.changes import changes_told
from appliance.errors import Exit, Problem
from memory.json_value import Json
from memory.progress import Progress
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.door_fakes import ScriptedHandler, doors_of
from tests.service.test_full_disk import full, small_disk


def query(cypher: str, **params: Json) -> UseTool:
    return UseTool(do="tool", name="memory_query", arguments={"cypher": cypher, "params": params})


def write(cypher: str, **params: Json) -> UseTool:
    return UseTool(do="tool", name="memory_write", arguments={"cypher": cypher, "params": params})


def records(found: Json) -> Json:
    assert isinstance(found, dict)
    return found["records"]


@pytest.mark.shows("C11", "C12")
async def test_a_life_of_a_graph_from_outside(tmp_path: Path) -> None:
    async with local_admin(KeptBox(tmp_path).config()) as admin:
        await admin.use(write("CREATE (:P {name: $n})-[:likes]->(:T {t: 'tea'})", n="Ada"))
        first = await admin.act(TakeSnapshot(), silent)
        assert isinstance(first, dict)
        then = datetime.now(UTC)
        await admin.use(write("MATCH (p:P) SET p.name = $n", n="Grace"))
        now = await admin.act(Diff(before=str(first["file"])), silent)
        assert isinstance(now, dict)
        nodes = now["nodes"]
        assert isinstance(nodes, dict)
        assert [side["count"] for side in nodes.values() if isinstance(side, dict)] == [1, 1]
        with pytest.raises(Problem, match="can only be read"):
            await admin.act(Past(until=then, cypher="CREATE (:X)"), silent)
        was = await admin.act(Past(until=then, cypher="MATCH (p:P) RETURN p.name AS n"), silent)
        assert records(was) == [{"n": "Ada"}]
        changed = await admin.act(Changes(since=then), silent)
        assert isinstance(changed, dict)
        assert changed["totals"] == {"propertiesSet": 1}
        lines = changes_told(changed, UTC)
        assert isinstance(lines, list)
        assert str(lines[0]).endswith("1 property set, in 1 write")
        assert str(lines[1]).endswith(": 1 property set")
        assert lines[2] == "    MATCH (p:P) SET p.name = $n"
        assert {'+ (:P {"name": "Grace"})', '- (:P {"name": "Ada"})'} < set(map(str, lines))
        again = await admin.act(Replay(file=str(tmp_path / "made")), silent)
        assert isinstance(again, dict)
        assert (again["equal"], again["exact"], again["writes"]) == (True, True, 1)
        await admin.act(Restore(snapshot=str(first["file"])), silent)
        assert records(await admin.use(query("MATCH (p:P) RETURN p.name AS n"))) == [{"n": "Ada"}]
        await admin.act(Restore(snapshot=str(tmp_path / "made")), silent)
        assert records(await admin.use(query("MATCH (p:P) RETURN p.name AS n"))) == [{"n": "Grace"}]
        await _refuses(admin)
        listed = await admin.act(ListSnapshots(), silent)
        assert isinstance(listed, list)
        assert len(listed) == 5
        assert await admin.act(VerifyAudit(), silent) == {"records": 13}
        shown = await admin.act(ReadAudit(last=3), silent)
        assert isinstance(shown, list)
        assert len(shown) == 3


async def _refuses(admin: GraphAdmin) -> None:
    """What is refused is refused in a sentence, and with a code."""
    with pytest.raises(Problem, match="nothing was changed; `nakari memory write` takes it") as refused:
        await admin.use(query("CREATE (:X)"))
    assert refused.value.code == Exit.FAULT
    with pytest.raises(Problem, match="call memory_write with it"):
        await admin.use(query("CREATE (:X)").model_copy(update={"source": "mcp"}))
    with pytest.raises(Problem, match="no snapshot nothing"):
        await admin.act(Restore(snapshot="nothing"), silent)
    with pytest.raises(Problem, match=r"memory_query was called with wrong arguments \(cypher"):
        await admin.use(UseTool(do="tool", name="memory_query"))
    with pytest.raises(Problem, match="there is no tool"):
        await admin.use(UseTool(do="tool", name="rm"))


@pytest.mark.shows("C11", "C12", "F31")
async def test_through_the_door_it_is_the_same(tmp_path: Path) -> None:
    config = KeptBox(tmp_path).config()
    async with local_admin(config) as admin, asyncio.TaskGroup() as group:
        door = doors_of(config.socket, ScriptedHandler(), memory=admin)
        door.open()
        running = group.create_task(door.run())
        async with open_admin(config) as outside:
            assert isinstance(outside, RemoteAdmin)
            assert [one["name"] for one in await outside.described() if isinstance(one, dict)] == [
                "memory_query",
                "memory_write",
                "memory_schema",
                "embedding",
            ]
            for number in range(3):
                await outside.use(write("CREATE (:P {number: $n})", n=number))
            assert records(await outside.use(query("MATCH (p:P) RETURN count(p) AS n"))) == [{"n": 3}]
            with pytest.raises(Problem, match="only reads") as refused:
                await outside.use(query("CREATE (:X)"))
            assert refused.value.code == Exit.FAULT
            heard: list[tuple[int, int]] = []
            await outside.act(Replay(), lambda done, of: heard.append((done, of)))
            assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]
        running.cancel()
    door.close()


@pytest.mark.shows("C11")
async def test_a_snapshot_from_where_the_service_cannot_read_is_handed_over(tmp_path: Path) -> None:
    config = KeptBox(tmp_path).config()
    async with local_admin(config) as admin, asyncio.TaskGroup() as group:
        await admin.use(write("CREATE (:P {name: 'Ada'})"))
        taken = await admin.act(TakeSnapshot(), silent)
        assert isinstance(taken, dict)
        file = (config.state_folder / "snapshots" / str(taken["file"])).rename(tmp_path / "in roots home")
        await admin.use(write("MATCH (p:P) DELETE p"))
        door = doors_of(config.socket, ScriptedHandler(), memory=admin)
        door.open()
        running = group.create_task(door.run())
        outside = RemoteAdmin(config.socket)
        found = await outside.act(Restore(snapshot=str(file)), silent)
        assert found == {"file": "in roots home", "nodes": 1, "relationships": 0}
        with pytest.raises(OSError, match="Input/output error"):
            await outside.act(Restore(snapshot="/proc/self/mem"), silent)  # a file that cannot be read
        assert [one.name for one in config.state_folder.glob("backup-*")] == []
        running.cancel()
    door.close()


class Confined:
    """The admin in a service that may write nowhere but in its state folder, as systemd has it."""

    def __init__(self, admin: GraphAdmin) -> None:
        self._admin = admin
        self.described, self.use = admin.described, admin.use

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        state = self._admin.everything.state_folder
        if isinstance(request, Replay) and not Path(request.file).is_relative_to(state):
            raise OSError(EROFS, "Read-only file system", request.file)
        return await self._admin.act(request, told)


@pytest.mark.shows("C11", "C12")
async def test_what_the_service_makes_again_is_taken_to_where_it_cannot_write(tmp_path: Path) -> None:
    config, file = KeptBox(tmp_path).config(), tmp_path / "in roots home"
    async with local_admin(config) as admin, asyncio.TaskGroup() as group:
        await admin.use(write("CREATE (:P {name: 'Ada'})"))
        door = doors_of(config.socket, ScriptedHandler(), memory=Confined(admin))
        door.open()
        running = group.create_task(door.run())
        outside = RemoteAdmin(config.socket)
        found = await outside.act(Replay(file=str(file)), silent)
        assert isinstance(found, dict)
        assert (found["file"], found["equal"], file.stat().st_mode & 0o777) == (str(file), True, 0o600)
        with pytest.raises(Problem, match="is there already; name a new file"):
            await outside.act(Replay(file=str(file)), silent)
        await admin.use(write("MATCH (p:P) DELETE p"))
        assert await outside.act(Restore(snapshot=str(file)), silent) == {
            "file": "in roots home",
            "nodes": 1,
            "relationships": 0,
        }
        assert [one.name for one in config.state_folder.glob("backup-*")] == []
        running.cancel()
    door.close()


@pytest.mark.shows("C11", "H5")
async def test_a_disk_without_room_for_what_the_service_made_is_named(tmp_path: Path) -> None:
    config = KeptBox(tmp_path).config()
    async with local_admin(config) as admin, asyncio.TaskGroup() as group:
        door = doors_of(config.socket, ScriptedHandler(), memory=admin)
        door.open()
        running = group.create_task(door.run())
        with small_disk(tmp_path / "disk"), full(tmp_path / "disk"):
            with pytest.raises(Problem, match=f"the disk of {tmp_path}/disk has no room for it; free") as refused:
                await RemoteAdmin(config.socket).act(Backup(file=str(tmp_path / "disk" / "it")), silent)
            assert [each.name for each in (tmp_path / "disk").iterdir()] == ["ballast"]
        running.cancel()
    door.close()
    assert refused.value.code is Exit.CANNOT_CREATE


@pytest.mark.shows("C11")
async def test_who_stops_listening_ends_the_work(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def enough(done: int, of: int) -> None:
        raise Enough

    async with local_admin(KeptBox(tmp_path).config()) as admin:
        await admin.use(write("CREATE (:P)"))
        with pytest.raises(Enough):
            await admin.act(Replay(), enough)
        assert records(await admin.use(query("MATCH (p:P) RETURN count(p) AS n"))) == [{"n": 1}]
    assert not list((tmp_path / "state").glob("replay-*"))
