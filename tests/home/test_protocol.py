"""What the recorded answers say of Home Assistant is what a real one says."""

import json
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
import pytest

from tests.home.conftest import Home
from tests.home.home_assistant import Running
from tests.home.onboarding import Socket
from tests.home.record import RECORDED, SAID

GUESSED: Final[str] = "tell me a joke"
"""Understood now as a question of the time, now as one about a device called a joke."""

BALCONY: Final = "light.balcony_light"
"""Unavailable in a new household."""


@pytest.fixture
async def http(home_assistant: Running) -> AsyncIterator[aiohttp.ClientSession]:
    async with session(home_assistant) as opened:
        yield opened


def session(home: Running) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(home.url, headers={"Authorization": f"Bearer {home.token}"})


async def said(http: aiohttp.ClientSession, text: str, language: str = "en") -> dict[str, Any]:
    async with http.post("/api/conversation/process", json={"text": text, "language": language}) as answer:
        response: dict[str, Any] = (await answer.json())["response"]
        return response


async def state(http: aiohttp.ClientSession, entity: str) -> str:
    async with http.get(f"/api/states/{entity}") as answer:
        return str((await answer.json())["state"])


def done(response: dict[str, Any]) -> list[str]:
    return [success["id"] for success in response["data"]["success"]]


@pytest.mark.parametrize(("language", "text"), [each for each in SAID if each[1] != GUESSED])
async def test_a_sentence_gets_the_answer_that_was_recorded(
    http: aiohttp.ClientSession, language: str, text: str
) -> None:
    asked = {"text": text, "language": language}
    recorded = next(
        one["answer"]["response"] for one in json.loads(RECORDED.read_text(encoding="utf-8")) if one["asked"] == asked
    )
    response = await said(http, text, language)
    assert response["response_type"] == recorded["response_type"]
    assert response["data"].get("code") == recorded["data"].get("code")
    assert response["data"].get("success") == recorded["data"].get("success")


@pytest.mark.parametrize(
    ("language", "on", "off"),
    [("en", "turn on the bed light", "turn off the bed light"), ("zh-CN", "打开床头灯", "关闭床头灯")],
)
async def test_a_light_changes_its_state(http: aiohttp.ClientSession, language: str, on: str, off: str) -> None:
    await said(http, off, language)
    assert await state(http, "light.bed_light") == "off"
    await said(http, on, language)
    assert await state(http, "light.bed_light") == "on"


async def test_of_an_unavailable_light_it_says_that_it_is_on(http: aiohttp.ClientSession) -> None:
    response = await said(http, "turn on the balcony light")
    assert (response["response_type"], done(response)) == ("action_done", [BALCONY])
    assert await state(http, BALCONY) == "unavailable"


async def test_it_unlocks_a_door_without_a_question(http: aiohttp.ClientSession) -> None:
    await said(http, "lock the cellar door")
    assert await state(http, "lock.cellar") == "locked"
    assert done(await said(http, "unlock the cellar door")) == ["lock.cellar"]
    assert await state(http, "lock.cellar") == "unlocked"


async def test_a_wrong_token_is_refused_at_both_doors(home_assistant: Running) -> None:
    async with aiohttp.ClientSession(home_assistant.url, headers={"Authorization": "Bearer wrong"}) as http:
        async with http.get("/api/") as answer:
            assert (answer.status, await answer.text()) == (401, "401: Unauthorized")
        async with http.ws_connect("/api/websocket") as connection:
            with pytest.raises(RuntimeError, match="auth_invalid"):
                await Socket(connection).log_in("wrong")


async def test_a_renamed_light_is_known_by_its_new_name(own_home_assistant: Home) -> None:
    home = own_home_assistant.start()
    async with session(home) as http, http.ws_connect("/api/websocket", max_msg_size=0) as connection:
        socket = Socket(connection)
        await socket.log_in(home.token)
        await socket.ask("config/entity_registry/update", entity_id="light.bed_light", name="Reading Lamp", aliases=[])
        assert (await said(http, "turn on the bed light"))["response_type"] == "error"
        assert done(await said(http, "turn on the reading lamp")) == ["light.bed_light"]


async def test_it_starts_again_with_its_household_at_its_address(own_home_assistant: Home) -> None:
    before = own_home_assistant.start()
    async with session(before) as http:
        await said(http, "add milk to my shopping list")
    own_home_assistant.stop()
    async with session(before) as http:
        with pytest.raises(aiohttp.ClientConnectionError):
            await http.get("/api/")
    again = own_home_assistant.start()
    assert (again.url, again.token) == (before.url, before.token)
    async with session(again) as http:
        assert await state(http, "todo.shopping_list") == "1"


async def test_it_can_have_five_thousand_entities_more(own_home_assistant: Home) -> None:
    home = own_home_assistant.start(5000)
    async with session(home) as http, http.ws_connect("/api/websocket", max_msg_size=0) as connection:
        socket = Socket(connection)
        await socket.log_in(home.token)
        exposed = (await socket.ask("homeassistant/expose_entity/list"))["exposed_entities"]
        assert sum(1 for of in exposed.values() if of.get("conversation")) > 5000
        assert done(await said(http, "turn on lamp 4711")) == ["input_boolean.more_4711"]
        assert await state(http, "input_boolean.more_4711") == "on"
