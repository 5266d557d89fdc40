"""Looking into the journal and at the box's health over HTTP, at a whole box in a scripted room."""

from pathlib import Path
from typing import cast

import pytest

from appliance.admin.reload import Reload
from appliance.api.caller import Caller
from appliance.api.register import Answer, Register
from appliance.api.requests.health import Health
from appliance.api.requests.health import entries as health_entries
from appliance.errors import Exit
from appliance.notify import HeartBeat
from tests.appliance.door_fakes import ScriptedHandler, visiting
from tests.appliance.wiring.test_box import Room, a_box
from tests.fakes import ScriptedModel, calls


@pytest.mark.shows("F25", "G5")
async def test_what_was_said_is_found_by_words_and_as_the_newest_and_read_whole(tmp_path: Path) -> None:
    room = Room(model=ScriptedModel(calls(("reply", '{"text": "The bike is red."}'))))
    async with a_box(tmp_path, room) as box, visiting(box.config.socket) as program:
        await program.ask({"do": "ask", "text": "which colour has my bicycle", "session": "desk", "stream": False})
        newest = (await program.client.get("/journal")).json()["entries"]
        assert [(each["who"], each["words"]) for each in newest] == [
            ("agent", "The bike is red."),
            ("cli", "which colour has my bicycle"),
        ]
        found = (await program.client.get("/journal", params={"words": "bicycle", "session": "desk"})).json()["entries"]
        assert found[0]["words"] == "which colour has my bicycle"
        assert (await program.client.get("/journal", params={"session": "elsewhere"})).json() == {"entries": []}
        whole = (await program.client.get(f"/journal/{newest[0]['id']}")).json()
        assert whole["body"]["words"] == "The bike is red."
        missing = await program.client.get("/journal/nothing")
        assert (missing.status_code, missing.json()["code"]) == (404, Exit.NO_INPUT)


async def test_a_box_that_lives_says_so(tmp_path: Path) -> None:
    async with a_box(tmp_path, Room()) as box, visiting(box.config.socket) as program:
        told = (await program.client.get("/health")).json()
    assert told["ok"] is True
    assert told["beats"]


async def test_what_is_stuck_is_told_by_name() -> None:
    now = [0.0]
    beat = HeartBeat("the agent's loop", 5.0, lambda: now[0])
    register = Register(health_entries([beat], None, cast("Reload", None)), ScriptedHandler().published)
    beat.stepped()
    now[0] = 6.0
    told = await register.answer(register.find("health"), Health(), Caller(), nobody)
    assert told == {"error": "the agent's loop has been stuck for 6 s", "code": Exit.UNAVAILABLE}


def nobody(answer: Answer) -> None:
    raise AssertionError
