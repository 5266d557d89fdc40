"""Visitors' graphs on the real store: nobody reads another's; they start when used, stop when not, and come back."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from agent.tools.registry.sharing import NOT_SHARED
from appliance.owners.visitors import UNUSED_SECONDS
from memory.graph.embedded.folder import schema_of
from memory.graph.embedded.store import State
from memory.graph.store import NEO4J
from memory.history.schedule import INEXACT_WRITES
from tests.appliance.admin.boxes import KeptBox
from tests.appliance.visiting import ADA, BEN, CLEO, Guests, at_home, is_household, spying_in, until
from tests.memory.tier_fixtures import WordEmbedder

pytestmark = pytest.mark.shows("F12", "G4")

REFUSED = f"error: {NOT_SHARED}"


async def test_what_one_writes_no_other_reads_through_any_tool(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    words = {HOUSEHOLD: "Hedgehog", ADA: "Albatross", BEN: "Barracuda"}
    async with at_home(box.config()) as house:
        desk = house.desk
        assert house.visitors.describe() == {"graphs": 0, "most": 16, "running": 0}
        for owner, word in words.items():
            await desk.write(owner, f"CREATE (:{word} {{{word.lower()}: $v}})-[:{word.upper()}]->(:{word})", v=word)
        assert house.visitors.describe() == {"graphs": 2, "most": 16, "running": 2}
        for owner, word in words.items():
            assert await desk.names(owner) == [word]
            for spying in spying_in(box.state, BEN if owner == ADA else ADA):
                told = [await desk.text(owner, name, cypher=spying) for name in ("memory_query", "memory_write")]
                assert not [each for each in words.values() if each != word and each.lower() in str(told).lower()]
            told = [await desk.text(owner, "memory_schema"), await desk.text(owner, "embedding", text=word)]
            assert not [each for each in words.values() if each != word and each.lower() in str(told).lower()]
        async with house.visitors.of(ADA) as ada, house.visitors.of(BEN) as ben:
            stores = [house.graph.store, ada.store, ben.store]
            assert len({store.pid for store in stores if store}) == 3
            assert len({store.folder for store in stores if store}) == 3
    assert ((box.state / "owners" / ADA).stat().st_mode & 0o777) == 0o700


async def test_who_becomes_a_member_shares_the_household_s_and_leaves_theirs_where_it_is(tmp_path: Path) -> None:
    members: set[str] = set()
    box = KeptBox(tmp_path)
    async with at_home(box.config(), lambda owner: is_household(owner) or owner in members) as house:
        await house.desk.write(HOUSEHOLD, "CREATE (:Ours)")
        await house.desk.write(ADA, "CREATE (:Mine)")
        members.add(ADA)
        assert await house.desk.names(ADA) == ["Ours"]
        members.remove(ADA)
        assert await house.desk.names(ADA) == ["Mine"]


async def test_a_vector_s_handle_means_nothing_to_another(tmp_path: Path) -> None:
    async with Guests(tmp_path, embedder=WordEmbedder()).received() as (_, desk):
        handle = json.loads(await desk.text(ADA, "embedding", text="a secret"))["handle"]
        look = {"name": "memory_query", "cypher": f"RETURN size(${handle}) AS n"}
        assert json.loads(await desk.text(ADA, **look))["records"] == [{"n": 5}]
        assert "not kept any more" in await desk.text(BEN, **look)


async def test_a_killed_store_is_started_again_with_all_that_was_written(tmp_path: Path) -> None:
    async with Guests(tmp_path).received() as (visitors, desk):
        await desk.write(ADA, "CREATE (:Kept)")
        async with visitors.of(ADA) as kept:
            assert kept.store is not None
            assert kept.store.pid is not None
            os.kill(kept.store.pid, signal.SIGKILL)
            await kept.store.until(State.DOWN)
            assert "not available now" in await desk.text(ADA, "memory_schema")
            await kept.store.until(State.READY)
        assert await desk.names(ADA) == ["Kept"]


async def test_a_damaged_store_is_made_again_at_its_first_use(tmp_path: Path) -> None:
    guests = Guests(tmp_path)
    async with guests.received() as (_, desk):
        await desk.write(ADA, "CREATE (:Kept)")
    schema_of(tmp_path / "owners" / ADA / "graph").write_text("torn")
    async with guests.received() as (_, desk):
        assert await desk.names(ADA) == ["Kept"]
    assert (tmp_path / "owners" / ADA / "graph.before").is_dir()


async def test_unused_it_stops_and_used_it_comes_back(tmp_path: Path) -> None:
    guests = Guests(tmp_path)
    async with guests.received() as (visitors, desk):
        await desk.write(ADA, "CREATE (:Kept)")
        guests.time.passes(UNUSED_SECONDS - 1)
        async with visitors.of(ADA) as kept:
            guests.time.passes(2 * UNUSED_SECONDS)  # while it is used
            assert kept.store is not None
            pid = kept.store.pid
            assert await desk.names(ADA) == ["Kept"]
            assert kept.store.pid == pid
        guests.time.passes(UNUSED_SECONDS)
        await until(lambda: not visitors.running())
        assert not await asyncio.to_thread(Path(f"/proc/{pid}").exists)
        assert await desk.names(ADA) == ["Kept"]
        assert visitors.running() == [ADA]


async def test_what_a_kill_left_of_who_wrote_nothing_takes_nobody_s_place(tmp_path: Path) -> None:
    for left in ("graph", "audit"):
        (tmp_path / "owners" / ADA / left).mkdir(parents=True)
    (tmp_path / "owners" / ADA / "graph" / "begun").write_text("half")
    async with Guests(tmp_path, most=1).received() as (visitors, desk):
        await until(lambda: not visitors.keys())
        await desk.write(BEN, "CREATE (:Kept)")
        assert visitors.keys() == [BEN]


async def test_a_folder_that_the_disk_does_not_show_ends_nothing(tmp_path: Path) -> None:
    audit = tmp_path / "owners" / ADA / "audit"
    audit.mkdir(parents=True)
    (audit / "gone").symlink_to("nowhere")
    async with Guests(tmp_path).received() as (visitors, desk):
        await desk.write(BEN, "CREATE (:Kept)")
        assert visitors.keys() == [ADA, BEN]


async def test_a_graph_whose_audit_log_the_disk_emptied_is_left_where_it_is(tmp_path: Path) -> None:
    guests = Guests(tmp_path)
    async with guests.received() as (_, desk):
        await desk.write(ADA, "CREATE (:Kept)")
    for file in (tmp_path / "owners" / ADA / "audit").iterdir():
        file.write_bytes(b"")
    async with guests.received() as (visitors, desk):
        await desk.write(BEN, "CREATE (:Other)")
        assert visitors.keys() == [ADA, BEN]
        assert await desk.names(ADA) == ["Kept"]


async def test_the_one_unused_for_longest_makes_room(tmp_path: Path) -> None:
    guests = Guests(tmp_path)
    async with guests.received() as (visitors, desk):
        for owner in (ADA, BEN):
            await desk.write(owner, f"CREATE (:Of_{owner[:2]})")
            guests.time.now += 1
        await desk.names(ADA)
        guests.time.now += 1
        assert await desk.names(CLEO) == []
        assert visitors.running() == [ADA, CLEO]
        async with asyncio.TaskGroup() as group, visitors.of(ADA), visitors.of(CLEO):
            ben = group.create_task(desk.names(BEN))
            await asyncio.sleep(0)
            assert visitors.running() == [ADA, CLEO]  # both are used: the third waits
        assert ben.result() == ["Of_be"]


async def test_past_the_cap_and_without_a_key_there_is_the_old_sentence(tmp_path: Path) -> None:
    guests = Guests(tmp_path, most=1)
    async with guests.received() as (visitors, desk):
        assert await desk.names(ADA) == []
        guests.time.passes(UNUSED_SECONDS)
        await until(lambda: not visitors.running())
        assert visitors.keys() == []  # who wrote nothing takes nobody's place
        await desk.write(BEN, "CREATE (:First)")
        assert await desk.text(ADA, "memory_schema") == REFUSED
        for nobody in ("", "somebody", f"../{ADA}", ADA.upper(), f"{ADA}\n"):
            assert await desk.text(nobody, "memory_schema") == REFUSED
        assert await desk.names(BEN) == ["First"]
    assert [one.name for one in (tmp_path / "owners").iterdir()] == [BEN]


async def test_without_a_memory_or_with_none_to_give_there_is_none(tmp_path: Path) -> None:
    async with at_home(KeptBox(tmp_path / "off", memory="enabled = false").config()) as house:
        assert house.desk.tools == {}
    async with at_home(KeptBox(tmp_path / "none", memory="visitors = 0").config()) as house:
        assert await house.desk.text(ADA, "memory_schema") == REFUSED
        assert await house.desk.names(HOUSEHOLD) == []


async def test_what_is_described_otherwise_is_told_with_each_answer(tmp_path: Path) -> None:
    async with Guests(tmp_path, described=NEO4J).received() as (_, desk):
        written = await desk.write(ADA, "CREATE (a:A {x: 1}) RETURN a.x AS x")
        assert written["records"] == [{"x": 1}]
        assert "memory_schema tells how" in written["dialect"]
        schema = json.loads(await desk.text(ADA, "memory_schema"))
        assert "from -1 to 1" in schema["dialect"]["reading"][0]
        assert schema["labels"] == {"A": 1}
        assert "openCypher" in await desk.text(ADA, "memory_query", cypher="RETURN nothing(")


async def test_a_household_s_own_server_is_none_of_a_visitor_s_business(tmp_path: Path) -> None:
    away = KeptBox(tmp_path, memory='uri = "bolt://127.0.0.1:9"')
    async with at_home(away.config()) as house:
        assert "error" in await house.desk.text(HOUSEHOLD, "memory_schema")
        await house.desk.write(ADA, "CREATE (:Mine)")
        assert await house.desk.names(ADA) == ["Mine"]
        assert "Neo4j 5 Cypher" in house.desk.tools["memory_query"].spec.description
        assert '"dialect":"openCypher' in await house.desk.text(ADA, "memory_query", cypher="RETURN 1 AS one")


@pytest.mark.shows("C12")
async def test_a_snapshot_that_is_due_is_taken_before_it_stops(tmp_path: Path) -> None:
    guests = Guests(tmp_path)
    async with guests.received() as (visitors, desk):
        for _ in range(INEXACT_WRITES):
            await desk.write(ADA, "CREATE (:A {x: rand()})")
        guests.time.passes(UNUSED_SECONDS)
        await until(lambda: not visitors.running())
    assert len([*(tmp_path / "owners" / ADA / "snapshots").iterdir()]) == 1
