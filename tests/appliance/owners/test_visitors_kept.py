"""Visitors' graphs are kept as the household's is: in the backup, out of reach of what was forgotten, after a crash."""

import json
import os
import signal
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD
from appliance.admin.archive import everything_of
from appliance.admin.graph_admin import GraphAdmin, graph_admin_of
from appliance.admin.restoring import restore_archive
from appliance.api.requests.memory import Backup
from memory.graph.embedded.store import State
from memory.history.audit import AuditLog
from memory.history.erasure import AFTER
from tests.appliance.admin.boxes import KeptBox, silent
from tests.appliance.visiting import ADA, BEN, House, at_home
from tests.memory.history.test_erasure import NAME, found_in


def admin_of(box: KeptBox, house: House) -> GraphAdmin:
    admin = graph_admin_of(everything_of(box.config()), house.graph)
    assert isinstance(admin, GraphAdmin)
    return admin


@pytest.mark.shows("F12", "H7", "C12")
async def test_a_backup_carries_every_graph_and_a_restored_box_starts_none_before_it_is_used(tmp_path: Path) -> None:
    one, other, file = KeptBox(tmp_path / "one"), KeptBox(tmp_path / "other"), tmp_path / "all.nakari"
    async with at_home(one.config()) as house:
        for owner, label in ((HOUSEHOLD, "Ours"), (ADA, "Hers"), (BEN, "His")):
            await house.desk.write(owner, f"CREATE (:{label} {{x: rand()}})")
        was = await house.desk.text(BEN, "memory_query", cypher="MATCH (n) RETURN n.x AS x")
        await admin_of(one, house).act(Backup(file=str(file)), silent)
        await house.desk.write(ADA, "CREATE (:Later)")
    async with at_home(other.config()) as house:
        await house.desk.write(ADA, "CREATE (:Old)")
    await restore_archive(other.config(), file, silent)
    async with at_home(other.config()) as house:
        assert house.visitors.describe() == {"graphs": 2, "most": 16, "running": 0}
        assert not (other.state / "owners" / BEN / "graph").exists()
        assert await house.desk.names(ADA) == ["Hers"]
        assert await house.desk.names(HOUSEHOLD) == ["Ours"]
        # what chance had a part in is as it was: the backup took a snapshot of it
        assert await house.desk.text(BEN, "memory_query", cypher="MATCH (n) RETURN n.x AS x") == was


@pytest.mark.shows("F12", "V29")
async def test_forgetting_reaches_the_graph_of_whose_event_it_was(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    async with at_home(box.config()) as house:
        admin = admin_of(box, house)
        await house.desk.write(HOUSEHOLD, "CREATE (:Ours)", event="another")
        await house.desk.write(ADA, "CREATE (:Before)", event="before")
        await house.desk.write(ADA, "CREATE (:Person {name: $name})", event="secret", name=NAME)
        assert found_in(box.state / "owners" / ADA, NAME)
        assert await admin.erase_event("secret") == 1
        assert await house.desk.names(ADA) == ["Before"]
        assert await admin.erase_event("nobody's") == 0
        assert await house.desk.names(HOUSEHOLD) == ["Ours"]
        assert house.visitors.running() == [ADA]
        torn = box.state / "owners" / BEN / "audit" / "00000000000000000001.jsonl"
        torn.parent.mkdir(parents=True)
        torn.write_text("no record\n")
        assert await admin.erase_event("another") == 1
        assert await admin.erase_event("nobody's") == 0
    assert found_in(box.state, NAME) == []


@pytest.mark.shows("F12", "V29", "C15")
async def test_what_a_crash_broke_off_is_settled_at_the_next_use_and_not_before(tmp_path: Path) -> None:
    box = KeptBox(tmp_path)
    async with at_home(box.config()) as house:
        await house.desk.write(ADA, "CREATE (:Before)")
        await house.desk.write(ADA, "CREATE (:Person {name: $name})", event="secret", name=NAME)
    folder = box.state / "owners" / ADA
    audit = AuditLog(folder / "audit")
    await audit.erase([record.seq for record in audit.records() if record.facts.get("event_id") == "secret"])
    await audit.append("attempt", {"event_id": "torn", "owner_key": ADA, "attempt": 1, "inexact": []}, {"cypher": "?"})
    audit.close()
    assert found_in(folder / "graph", NAME)
    async with at_home(box.config()) as house:
        assert house.visitors.running() == []
        assert found_in(folder / "graph", NAME)
        assert await house.desk.names(ADA) == ["Before"]
        assert found_in(folder, NAME) == []
        async with house.visitors.of(ADA) as kept:
            reasons = [snapshot.reason for snapshot in await kept.writer.snapshots.listed()]
            assert reasons == [AFTER]
            assert await kept.writer.audit.open() == []


@pytest.mark.shows("F12", "H7")
async def test_a_graph_that_does_not_come_up_costs_nobody_their_backup(tmp_path: Path) -> None:
    box, file = KeptBox(tmp_path / "box"), tmp_path / "all.nakari"
    async with at_home(box.config()) as house:
        await house.desk.write(ADA, "CREATE (:Hers)")
        async with house.visitors.of(ADA) as kept:
            assert kept.store is not None
            assert kept.store.pid is not None
            os.kill(kept.store.pid, signal.SIGKILL)
            await kept.store.until(State.DOWN)
            made = await admin_of(box, house).act(Backup(file=str(file)), silent)
    assert isinstance(made, dict)
    await restore_archive(box.config(), file, silent)
    async with at_home(box.config()) as house:
        assert json.loads(await house.desk.text(ADA, "memory_schema"))["labels"] == {"Hers": 1}
