"""`nakari events`: what waits, cancelled and moved by the code that the agent's own tool runs."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.event import Event
from appliance.api.register import BadRequest, parse
from appliance.api.requests.mailbox import MODELS, ChangeWaiting, ListWaiting, answer_of
from appliance.errors import Exit, Problem
from appliance.wiring.memory.state import open_state
from tests.agent.mailboxes import SqliteRig, filed, work
from tests.appliance.command import nakari, state_folder

FAR = datetime(2126, 11, 21, 10, 0, tzinfo=UTC)


@pytest.mark.shows("A15", "F12")
async def test_an_owner_lists_cancels_and_moves_what_is_their_own_and_nothing_else(tmp_path: Path) -> None:
    rig = SqliteRig(tmp_path / "nakari.db")
    await rig.start()
    theirs = work("theirs", id="theirs", owner_key="guest")
    await filed(rig, work("first", id="a"), work("later", id="b", not_before=rig.clock.after(60)), theirs)
    listed = await answer_of(rig.mailbox, ListWaiting(do="events"))
    assert listed == {
        "events": [
            {"id": "a", "type": "self_created", "words": "first", "when": "now", "priority": 0},
            {"id": "b", "type": "self_created", "words": "later", "when": "2026-11-21 10:01:00 UTC", "priority": 0},
        ]
    }
    seen = await answer_of(rig.mailbox, ListWaiting(do="events"), "guest")
    assert [each["id"] for each in json.loads(json.dumps(seen))["events"]] == ["theirs"]
    now = rig.clock()
    moved = ChangeWaiting(do="events.change", id="b", priority=4, not_before=now)
    assert await answer_of(rig.mailbox, moved) == {"done": "Moved: later."}
    assert (await rig.take_now()).event.id == "b"
    cancel = ChangeWaiting(do="events.change", id="a", cancel=True)
    for owner, request in (
        ("guest", cancel),
        ("household", ChangeWaiting(do="events.change", id="theirs", cancel=True)),
    ):
        with pytest.raises(Problem, match=f"no event '{request.id}' is waiting; `nakari events` lists what does"):
            await answer_of(rig.mailbox, request, owner)
    assert await answer_of(rig.mailbox, cancel) == {"done": "Cancelled: first."}
    found = await rig.mailbox.find("a")
    assert found is not None
    assert (found.state, found.reason) == ("withdrawn", "withdrawn by command")
    await rig.stop()


def test_the_door_takes_only_a_time_with_its_zone() -> None:
    with pytest.raises(BadRequest, match="not_before"):
        parse(b'{"do": "events.change", "id": "a", "not_before": "2026-11-21T10:00:00"}', MODELS)


@pytest.mark.shows("A15")
def test_from_a_shell_what_waits_is_listed_moved_and_cancelled(tmp_path: Path) -> None:
    async def file(*events: Event) -> None:
        async with open_state(state_folder(tmp_path)) as state:
            for event in events:
                await state.mailbox.enqueue(event)

    asyncio.run(file(work("tidy the graph", id="tidy", not_before=FAR), work("think of Ada", id="think")))
    moved = nakari(tmp_path, "events", "move", "tidy", "--priority", "5", "--at", "now")
    assert (moved.returncode, moved.stdout) == (Exit.OK, "Moved: tidy the graph.\n")
    listed = nakari(tmp_path, "events")
    lines = listed.stdout.splitlines()
    assert ["tidy" in line for line in lines[-2:]] == [True, False]
    assert "think of Ada" in lines[-1]
    assert nakari(tmp_path, "events", "cancel", "think").stdout == "Cancelled: think of Ada.\n"
    missing = nakari(tmp_path, "events", "cancel", "think")
    assert missing.returncode == Exit.FAULT
    assert missing.stderr == "nakari: no event 'think' is waiting; `nakari events` lists what does\n"
    assert nakari(tmp_path, "events", "cancel", "nosuch").returncode == Exit.NO_INPUT
    left = json.loads(nakari(tmp_path, "events", "--json").stdout)
    assert [each["id"] for each in left["events"]] == ["tidy"]
