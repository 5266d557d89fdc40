"""Her memory from outside, with the real store: look, change, save, compare, ask the past, bring back."""

import asyncio
from datetime import UTC, datetime
from errno import EROFS
from pathlib import Path

import pytest

from appliance.admin.graph_admin import Keeper
from appliance.admin.local import AtTheDoor, keeper_alone, open_keeper
from appliance.admin.progress import Progress
from appliance.api.memory_requests import (
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
from appliance.api.server import Door
from appliance.errors import Problem
from appliance.exits import Exit
from memory.json_value import Json
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.door_fakes import ScriptedHandler


def query(cypher: str, **params: Json) -> UseTool:
    return UseTool(do="tool", name="memory_query", arguments={"cypher": cypher, "params": params})


def write(cypher: str, **params: Json) -> UseTool:
    return UseTool(do="tool", name="memory_write", arguments={"cypher": cypher, "params": params})


def records(found: Json) -> Json:
    assert isinstance(found, dict)
    return found["records"]


@pytest.mark.shows("C11", "C12")
async def test_a_life_of_a_graph_from_outside(tmp_path: Path) -> None:
    async with keeper_alone(KeptBox(tmp_path).config()) as keeper:
        await keeper.use(write("CREATE (:P {name: $n})-[:likes]->(:T {t: 'tea'})", n="Ada"))
        first = await keeper.act(TakeSnapshot(), silent)
        assert isinstance(first, dict)
        then = datetime.now(UTC)
        await keeper.use(write("MATCH (p:P) SET p.name = $n", n="Grace"))
        now = await keeper.act(Diff(before=str(first["file"])), silent)
        assert isinstance(now, dict)
        nodes = now["nodes"]
        assert isinstance(nodes, dict)
        assert [side["count"] for side in nodes.values() if isinstance(side, dict)] == [1, 1]
        was = await keeper.act(Past(until=then, cypher="MATCH (p:P) RETURN p.name AS n"), silent)
        assert records(was) == [{"n": "Ada"}]
        again = await keeper.act(Replay(file=str(tmp_path / "made")), silent)
        assert isinstance(again, dict)
        assert (again["equal"], again["exact"], again["writes"]) == (True, True, 1)
        await keeper.act(Restore(snapshot=str(first["file"])), silent)
        assert records(await keeper.use(query("MATCH (p:P) RETURN p.name AS n"))) == [{"n": "Ada"}]
        await keeper.act(Restore(snapshot=str(tmp_path / "made")), silent)
        assert records(await keeper.use(query("MATCH (p:P) RETURN p.name AS n"))) == [{"n": "Grace"}]
        await _refuses(keeper)
        listed = await keeper.act(ListSnapshots(), silent)
        assert isinstance(listed, list)
        assert len(listed) == 5
        assert await keeper.act(VerifyAudit(), silent) == {"records": 13}
        shown = await keeper.act(ReadAudit(last=3), silent)
        assert isinstance(shown, list)
        assert len(shown) == 3


async def _refuses(keeper: Keeper) -> None:
    """What is refused is refused in a sentence, and with a code."""
    with pytest.raises(Problem, match="only reads") as refused:
        await keeper.use(query("CREATE (:X)"))
    assert refused.value.code == Exit.FAULT
    with pytest.raises(Problem, match="no snapshot nothing"):
        await keeper.act(Restore(snapshot="nothing"), silent)
    with pytest.raises(Problem, match="memory_query: cypher"):
        await keeper.use(UseTool(do="tool", name="memory_query"))
    with pytest.raises(Problem, match="there is no tool"):
        await keeper.use(UseTool(do="tool", name="rm"))


@pytest.mark.shows("C11", "C12", "F31")
async def test_through_the_door_it_is_the_same(tmp_path: Path) -> None:
    config = KeptBox(tmp_path).config()
    async with keeper_alone(config) as keeper, asyncio.TaskGroup() as group:
        door = Door(config.socket, ScriptedHandler(), keeper)
        door.open()
        running = group.create_task(door.run())
        async with open_keeper(config) as outside:
            assert isinstance(outside, AtTheDoor)
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
    async with keeper_alone(config) as keeper, asyncio.TaskGroup() as group:
        await keeper.use(write("CREATE (:P {name: 'Ada'})"))
        taken = await keeper.act(TakeSnapshot(), silent)
        assert isinstance(taken, dict)
        file = (config.state_folder / "snapshots" / str(taken["file"])).rename(tmp_path / "in roots home")
        await keeper.use(write("MATCH (p:P) DELETE p"))
        door = Door(config.socket, ScriptedHandler(), keeper)
        door.open()
        running = group.create_task(door.run())
        outside = AtTheDoor(config.socket)
        found = await outside.restore_file(file, silent)
        assert found == {"file": "in roots home", "nodes": 1, "relationships": 0}
        with pytest.raises(FileNotFoundError):
            await outside.restore_file(tmp_path / "gone", silent)
        assert [one.name for one in config.state_folder.glob("backup-*")] == []
        running.cancel()
    door.close()


class Confined:
    """The keeper in a service that may write nowhere but in its state folder, as systemd has it."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self.described, self.use = keeper.described, keeper.use

    async def act(self, request: MemoryRequest, told: Progress) -> Json:
        state = self._keeper.config.state_folder
        if isinstance(request, Replay) and not Path(request.file).is_relative_to(state):
            raise OSError(EROFS, "Read-only file system", request.file)
        return await self._keeper.act(request, told)


@pytest.mark.shows("C11", "C12")
async def test_what_the_service_makes_again_is_taken_to_where_it_cannot_write(tmp_path: Path) -> None:
    config, file = KeptBox(tmp_path).config(), tmp_path / "in roots home"
    async with keeper_alone(config) as keeper, asyncio.TaskGroup() as group:
        await keeper.use(write("CREATE (:P {name: 'Ada'})"))
        door = Door(config.socket, ScriptedHandler(), Confined(keeper))
        door.open()
        running = group.create_task(door.run())
        outside = AtTheDoor(config.socket)
        found = await outside.replay_to(file, None, silent)
        assert isinstance(found, dict)
        assert (found["file"], found["equal"], file.stat().st_mode & 0o777) == (str(file), True, 0o600)
        with pytest.raises(Problem, match="is there already; name a new file"):
            await outside.replay_to(file, None, silent)
        await keeper.use(write("MATCH (p:P) DELETE p"))
        assert await outside.restore_file(file, silent) == {"file": "in roots home", "nodes": 1, "relationships": 0}
        assert [one.name for one in config.state_folder.glob("backup-*")] == []
        running.cancel()
    door.close()


@pytest.mark.shows("C11")
async def test_who_stops_listening_ends_the_work(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def enough(done: int, of: int) -> None:
        raise Enough

    async with keeper_alone(KeptBox(tmp_path).config()) as keeper:
        await keeper.use(write("CREATE (:P)"))
        with pytest.raises(Enough):
            await keeper.act(Replay(), enough)
        assert records(await keeper.use(query("MATCH (p:P) RETURN count(p) AS n"))) == [{"n": 1}]
    assert not list((tmp_path / "state").glob("replay-*"))
