"""nakari at a real Home Assistant: what is said changes what is there, on its bad days one sentence says why not."""

import json
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from tests.fakes import ScriptedModel, calls
from tests.home.box import at_home, heard_at_home
from tests.home.conftest import Home
from tests.home.home_assistant import Running
from tests.home.onboarding import Socket
from tests.service.process import speak

pytestmark = pytest.mark.shows("X10")

KITCHEN = "light.kitchen_lights"
AWAY = "I cannot reach Home Assistant"


async def asked(home: Running, method: str, path: str, **body: object) -> dict[str, object]:
    headers = {"Authorization": f"Bearer {home.token}"}
    async with (
        aiohttp.ClientSession(home.url, headers=headers) as http,
        http.request(method, path, json=body or None) as answer,
    ):
        found = await answer.json()
        return found if isinstance(found, dict) else {}


async def state(home: Running, entity: str) -> object:
    return (await asked(home, "GET", f"/api/states/{entity}"))["state"]


async def switch_off(home: Running, entity: str) -> None:
    await asked(home, "POST", "/api/services/homeassistant/turn_off", entity_id=entity)
    assert await state(home, entity) == "off"


@pytest.mark.parametrize("thinks", ["a model", "no model"])
async def test_a_light_that_is_asked_for_by_voice_goes_on(home_assistant: Running, tmp_path: Path, thinks: str) -> None:
    """The tests' Whisper hears it, the house's own tool or its own sentences do it."""
    await switch_off(home_assistant, KITCHEN)
    sound = speak("Turn on the kitchen light.", tmp_path / "said.wav")
    model = ScriptedModel(
        calls(("home_HassTurnOn", json.dumps({"name": "Kitchen Light"})), prefix="on"),
        calls(("reply", '{"text": "It is on."}'), ("complete_event", '{"summary": "done"}'), prefix="told"),
    )
    await heard_at_home(home_assistant, tmp_path, sound, model if thinks == "a model" else None)
    assert await state(home_assistant, KITCHEN) == "on"


@pytest.mark.parametrize(("on", "answer"), [("turn on the bed light", "Turned on"), ("打开床头灯", "床头灯")])
async def test_a_light_goes_on_without_a_model(home_assistant: Running, tmp_path: Path, on: str, answer: str) -> None:
    await switch_off(home_assistant, "light.bed_light")
    async with at_home(home_assistant, tmp_path) as told:
        await told.connected()
        assert answer in await told.says(on)
    assert await state(home_assistant, "light.bed_light") == "on"


async def test_what_cannot_be_reached_is_said_to_be_so(home_assistant: Running, tmp_path: Path) -> None:
    """Home Assistant itself says that the light is on."""
    async with at_home(home_assistant, tmp_path) as told:
        await told.connected()
        assert await told.says("turn on the balcony light") == "Balcony Light cannot be reached."


async def test_a_door_is_unlocked_by_a_yes_and_not_before(home_assistant: Running, tmp_path: Path) -> None:
    await asked(home_assistant, "POST", "/api/services/lock/lock", entity_id="lock.entrance")
    async with at_home(home_assistant, tmp_path) as told:
        await told.connected()
        await told.says("unlock the front door")
        assert await state(home_assistant, "lock.entrance") == "locked"
        await told.says("yes")
        assert await state(home_assistant, "lock.entrance") == "unlocked"


async def test_a_wrong_token_is_said_in_one_sentence(home_assistant: Running, tmp_path: Path) -> None:
    async with at_home(replace(home_assistant, token="wrong"), tmp_path) as told:
        await told.side.home.until("lost")
        assert "token" in told.side.home.reason
        assert (await told.says("turn on the bed light")).startswith(AWAY)


async def test_it_is_found_again_when_it_starts_again(own_home_assistant: Home, tmp_path: Path) -> None:
    home = own_home_assistant.start()
    async with at_home(home, tmp_path / "box") as told:
        await told.connected()
        own_home_assistant.stop()
        await told.side.home.until("lost")
        assert (await told.says("turn on the bed light")).startswith(AWAY)
        assert own_home_assistant.start() == replace(home, pid=own_home_assistant.pid)
        await told.side.home.until("connected")
        assert "Turned on" in await told.says("turn on the bed light", "after")


async def test_a_new_name_is_known_at_once(own_home_assistant: Home, tmp_path: Path) -> None:
    home = own_home_assistant.start()
    async with at_home(home, tmp_path / "box") as told:
        await told.connected()
        async with aiohttp.ClientSession(home.url) as http, http.ws_connect("/api/websocket", max_msg_size=0) as opened:
            socket = Socket(opened)
            await socket.log_in(home.token)
            named = {"entity_id": "light.bed_light", "name": "Reading Lamp", "aliases": []}
            await socket.ask("config/entity_registry/update", **named)
        assert "Turned on" in await told.says("turn on the reading lamp")
    assert await state(home, "light.bed_light") == "on"


async def test_one_of_five_thousand_is_found(own_home_assistant: Home, tmp_path: Path) -> None:
    home = own_home_assistant.start(5000)
    async with at_home(home, tmp_path / "box") as told:
        await told.connected()
        assert (told.side.home.describe()["exposed"] or 0) > 5000  # type: ignore[operator]
        await told.says("turn on lamp 4711")
    assert await state(home, "input_boolean.more_4711") == "on"
