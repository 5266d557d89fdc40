"""Which names were asked for, as the box keeps it: over a restart, and not of who was erased."""

import sqlite3
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from appliance.admin.graph_admin import GraphAdmin
from appliance.admin.local import local_admin
from appliance.api.requests.memory import UseTool
from appliance.owners.erasure import OwnerErasure
from appliance.owners.owners import open_owners
from appliance.reflexes.forget import mindless
from appliance.wiring.memory.graph import graph_side
from appliance.wiring.memory.state import State, open_state
from audio.loops import running
from memory.graph.cypher import Statement
from memory.graph.embedded.store import State as StoreState
from memory.json_value import Json
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.visiting import ADA, RunState, is_household

pytestmark = pytest.mark.shows("C5")


async def hygiene(admin: GraphAdmin) -> dict[str, Json]:
    schema = await admin.use(UseTool(do="tool", name="memory_schema"))
    assert isinstance(schema, dict)
    found = schema["hygiene"]
    assert isinstance(found, dict)
    return found


async def owners_of(state: State) -> set[tuple[str, str]]:
    def look(connection: sqlite3.Connection) -> set[tuple[str, str]]:
        return {(row["graph"], row["owner_key"]) for row in connection.execute("SELECT * FROM graph_asked")}

    return await state.journal.database.read(look) - {("", "")}


async def test_what_another_program_asked_for_is_known_after_a_restart(tmp_path: Path) -> None:
    config = KeptBox(tmp_path).config()
    async with local_admin(config) as admin:
        await admin.use(UseTool(do="tool", name="memory_write", arguments={"cypher": "CREATE (:Cup), (:Dust)"}))
        await admin.use(UseTool(do="tool", name="memory_query", arguments={"cypher": "MATCH (c:Cup) RETURN c"}))
        before = await hygiene(admin)
        assert before["neverAskedFor"] == ["Dust"]
    async with local_admin(config) as admin:
        assert await hygiene(admin) == before


async def test_who_is_erased_asked_for_nothing(tmp_path: Path) -> None:
    config = KeptBox(tmp_path).config()
    async with (
        open_state(config.state_folder) as state,
        graph_side(config, state.journal.database) as graph,
        running(graph.loops()),
    ):
        assert graph.store is not None
        await graph.store.until(StoreState.READY)
        desk = RunState.of(graph.lent(is_household, None).tools)
        for owner in (ADA, HOUSEHOLD):
            await desk.write(owner, "CREATE (:Cup)")
            await desk.text(owner, "memory_query", cypher="MATCH (c:Cup) RETURN c")
        graph.name_usage.saw(ADA, Statement.parse("MATCH (c:Cup) RETURN c"), [])
        await graph.name_usage.save()
        assert await owners_of(state) == {("", HOUSEHOLD), ("", ADA)}
        owners = await open_owners(state, config.state_folder, config.mind.max_tool_calls)
        await OwnerErasure(config.state_folder, graph, owners, mindless(state)).erase(ADA, silent)
        await graph.name_usage.save()
        assert await owners_of(state) == {("", HOUSEHOLD)}
