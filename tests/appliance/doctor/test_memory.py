"""The doctor on what lasts: a real database, whole and damaged, and real graphs, none of them changed by looking."""

import asyncio
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.event import USER_TEXT, Event
from appliance.config.load import Config, load
from appliance.config.sections import MemorySettings
from appliance.doctor import memory as checks_memory
from appliance.doctor.examine import Line, Verdict, examine
from appliance.doctor.memory import COPIED_BYTES, judge_running_graph, read_through
from appliance.wiring.memory.state import open_state
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.json_value import Json
from memory.state.journal import Entry
from tests.appliance.door_fakes import ScriptedHandler, serving


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with what is in it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


async def begin(config: Config) -> None:
    """Leave a state behind in which one thing happened and one event waits."""
    async with open_state(config.state_folder) as state:
        await state.journal.append(Entry("runs.new"))
        await state.mailbox.enqueue(Event(USER_TEXT, "hello"))


async def begin_graph(folder: Path) -> None:
    """Leave a graph behind, of three nodes and a relationship."""
    async with EmbeddedStore(folder) as store:
        graph = Graph(store)
        await graph.write("CREATE (:A)-[:R]->(:B), (:C)")
        await graph.close()


@pytest.mark.shows("H5")
def test_a_state_that_is_not_begun_is_left_so(config: Config) -> None:
    assert checks_memory.database(config) == Line("database", Verdict.OK, "not begun")
    assert not config.state_folder.exists()


@pytest.mark.shows("H5")
async def test_what_is_in_the_state_is_counted_and_not_touched(config: Config) -> None:
    await begin(config)
    before = files_of(config.state_folder)
    line = await asyncio.to_thread(checks_memory.database, config)
    size = sum(len(content) for name, content in before.items() if str(name).endswith((".db", ".db-wal")))
    told = f"whole; journal entries: 1, events waiting: 1, given up: 0; {size / 1e6:.1f} MB"
    assert line == Line("database", Verdict.OK, told)
    assert files_of(config.state_folder) == before


async def test_a_state_in_use_is_looked_at_beside_its_user(config: Config) -> None:
    async with open_state(config.state_folder) as state:
        await state.journal.append(Entry("runs.new"))
        line = await asyncio.to_thread(checks_memory.database, config)
        assert line.what.startswith("whole; journal entries: 1, events waiting: 0, given up: 0; ")
        await state.journal.append(Entry("runs.new"))
        line = await asyncio.to_thread(checks_memory.database, config)
        assert line.what.startswith("whole; journal entries: 2, events waiting: 0, given up: 0; ")


async def test_a_state_that_a_crash_left_keeps_what_is_in_its_log(config: Config, tmp_path: Path) -> None:
    async with open_state(config.state_folder) as state:
        await state.journal.append(Entry("runs.new"))
        left = tmp_path / "left"
        left.mkdir()
        for name in ("nakari.db", "nakari.db-wal"):
            (left / name).write_bytes((config.state_folder / name).read_bytes())
    crashed = replace(config, state_folder=left)
    for _ in range(2):
        assert "journal entries: 1" in (await asyncio.to_thread(checks_memory.database, crashed)).what
    async with open_state(crashed.state_folder):
        assert "journal entries: 1" in (await asyncio.to_thread(checks_memory.database, crashed)).what


@pytest.mark.shows("H5")
@pytest.mark.parametrize("how", ["torn", "no database"])
async def test_a_damaged_state_is_a_fault(config: Config, how: str) -> None:
    await begin(config)
    file = config.state_folder / "nakari.db"
    data = file.read_bytes()
    file.write_bytes(b"x" * 5000 if how == "no database" else data[:8192] + b"\xff" * (len(data) - 8192))
    (line,) = await asyncio.to_thread(lambda: list(examine(config, [checks_memory.database])))
    assert line.verdict is Verdict.FAULT
    assert "damaged" in line.what
    assert "restore it from a backup" in line.fix


async def test_a_very_large_state_is_not_read_to_its_end(config: Config) -> None:
    async with open_state(config.state_folder) as state:
        await state.journal.append(*(Entry("runs.new") for _ in range(500)))
    line = read_through(config.state_folder / "nakari.db", 0.0)
    assert line == Line("database", Verdict.OK, "whole as far as it was read in 0 s")


def test_a_state_that_cannot_be_read_is_a_fault(config: Config) -> None:
    (config.state_folder / "nakari.db").mkdir(parents=True)
    (line,) = examine(config, [checks_memory.database])
    assert line.verdict is Verdict.FAULT
    assert "cannot be read" in line.what


def test_a_file_of_somebody_else_is_empty_of_ours(config: Config) -> None:
    config.state_folder.mkdir(parents=True)
    with sqlite3.connect(config.state_folder / "nakari.db") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    assert checks_memory.database(config) == Line("database", Verdict.OK, "whole; empty; 0.0 MB")


@pytest.mark.shows("C15")
def test_where_no_graph_is_begun_the_box_s_own_store_is_started_beside(config: Config) -> None:
    line = checks_memory.graph(config)
    assert line.verdict is Verdict.OK
    assert line.what.startswith("not begun; the box's own store starts and stops, in ")
    assert not config.state_folder.exists()


@pytest.mark.shows("C15", "H5")
async def test_what_is_in_its_graph_is_counted_in_a_copy(config: Config) -> None:
    folder = config.state_folder / "graph"
    await begin_graph(folder)
    before = files_of(folder)
    line = await asyncio.to_thread(checks_memory.graph, config)
    assert line.verdict is Verdict.OK
    assert line.what.startswith("3 nodes, 1 relationships, ")
    assert " MB, in " in line.what
    assert files_of(folder) == before


def test_a_very_large_graph_is_not_copied(config: Config) -> None:
    folder = config.state_folder / "graph"
    folder.mkdir(parents=True)
    with (folder / "data").open("wb") as sparse:
        sparse.truncate(COPIED_BYTES + 1)
    line = checks_memory.graph(config)
    assert line.verdict is Verdict.OK
    assert line.what.startswith("64 MB, the store starts, in ")


@pytest.mark.shows("C15", "H5")
def test_a_damaged_graph_is_a_fault(config: Config) -> None:
    folder = config.state_folder / "graph"
    asyncio.run(begin_graph(folder))
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_bytes(b"\xff" * file.stat().st_size)
    (line,) = examine(config, [checks_memory.graph])
    assert line.verdict is Verdict.FAULT


@pytest.mark.shows("C15")
def test_a_graph_server_that_is_down_is_a_fault(config: Config, unused_tcp_port: int) -> None:
    down = replace(config, memory=MemorySettings(uri=f"bolt://127.0.0.1:{unused_tcp_port}"))
    (line,) = examine(down, [checks_memory.graph])
    assert line.verdict is Verdict.FAULT
    assert str(unused_tcp_port) in line.what


def test_a_graph_that_is_switched_off_is_fine(config: Config) -> None:
    off = replace(config, memory=MemorySettings(enabled=False))
    assert checks_memory.graph(off) == Line("graph", Verdict.OK, "switched off")


class WithGraph(ScriptedHandler):
    """A running service that tells of its graph."""

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        return {"graph": {"state": "down", "reason": "it broke"}}


async def test_a_running_service_is_asked_for_its_graph(config: Config) -> None:
    async with serving(config.socket, WithGraph()):
        line = await asyncio.to_thread(checks_memory.graph, config)
    assert (line.verdict, line.what) == (Verdict.FAULT, "down, the running service says (it broke)")


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ({"state": "ready", "reason": ""}, Verdict.OK),
        ({"state": "server", "uri": "bolt://x"}, Verdict.OK),
        ({"state": "server", "uri": "bolt://x", "reason": "it holds 3 of 4: look"}, Verdict.WARNING),
        ({"state": "off"}, Verdict.OK),
        ({"state": "starting", "reason": "it is starting"}, Verdict.WARNING),
        ({"state": "stopped", "reason": "it was not started"}, Verdict.FAULT),
    ],
)
def test_what_the_service_says_is_weighed(told: dict[str, Json], verdict: Verdict) -> None:
    line = judge_running_graph(told)
    assert line.verdict is verdict
    assert bool(line.fix) is (verdict is not Verdict.OK)
