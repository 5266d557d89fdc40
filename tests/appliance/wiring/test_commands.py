"""Commands in a whole box whose model does not answer, by every way that text comes in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import websockets

from agent.event import HOUSEHOLD
from appliance.api.caller import Caller
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.errors import Exit
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from memory.identity import HOW_TO_REGISTER
from tests.agent.openai_server import OpenAiServer, reply
from tests.service.process import Household

pytestmark = pytest.mark.shows("F18", "F19")

ADA = "ad" * 32

NO_MODEL: dict[str, object] = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "name": "m"}


async def said(box: Box, text: str, owner_key: str = HOUSEHOLD) -> str:
    caller = Caller(owner_key)
    return "".join([str(piece) async for piece in box.household.ask(text, caller.session("cli"), owner_key)])


@asynccontextmanager
async def door(home: Household) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.AsyncHTTPTransport(uds=str(home.folder / "door.sock"), verify=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://nakari", timeout=30) as client:
        yield client


async def test_all_of_them_answer_while_no_model_does(tmp_path: Path) -> None:
    home = Household(tmp_path, {"model": NO_MODEL, "voice": {"volume": 41}})
    config = load(home.write(), {"HOME": str(tmp_path), "OPENAI_API_KEY": "sk-0123456789abcdefghij"})
    async with open_box(config, RunOptions(deaf=True)) as box:

        async def visit() -> None:
            assert (await said(box, "/ping")).startswith("pong: nakari ")
            assert "nothing is in hand." in await said(box, "/status")
            assert len((await said(box, "/help")).splitlines()) == 12
            assert (await said(box, "/model")).endswith(" thinks. There are configured, offline.")
            assert await said(box, "/model offline") == "offline thinks from the next event on."
            assert "voice.volume = 41" in await said(box, "/config")
            assert "sk-0123" not in await said(box, "/config model")
            assert "You are the household." in await said(box, "/identity")
            assert HOW_TO_REGISTER in await said(box, "/identity", ADA)
            assert (await said(box, "/prompt")).startswith("persona: as shipped\nsystem: as shipped")
            assert "nakari" in (await said(box, "/prompt persona")).lower()
            assert await said(box, "/clear") == "There is nothing to clear."
            assert await said(box, "/history") == "Nothing was said here yet."
            assert await said(box, "/config", ADA) == "/config is for the household."
            assert await said(box, "/mute", ADA) == "/mute is for the household."
            assert await said(box, "/unasked") == "0 wait for a gap, 0 are unwanted."
            assert await said(box, "/播报 再说") == "这些事又会说了。"
            assert "Did you mean /status?" in await said(box, "/statsu")
            assert await box.household.mailbox.counts(None) == dict.fromkeys(
                await box.household.mailbox.counts(None), 0
            )
            async with door(home) as program:
                told = await program.post("/command", json={"text": "ping"})
                assert told.json()["done"].startswith("pong: nakari ")
                for no_command in ("/forget everything", "5", "/"):
                    refused = await program.post("/command", json={"text": no_command})
                    assert (refused.status_code, refused.json()["code"]) == (422, Exit.USAGE)
            path = str(home.folder / "door.sock")
            async with websockets.unix_connect(path, "ws://nakari/ws?levels=false") as page:
                await page.send('{"type": "user_message", "id": "1", "payload": {"content": "/ping"}}')
                while "pong: nakari" not in str(await page.recv()):
                    pass

        await serve(box, visit)
    told = home.rows(
        "SELECT topic, json_extract(body, '$.name') FROM journal WHERE topic LIKE '%command%' ORDER BY seq"
    )
    assert told[:2] == [("system.command", "ping"), ("command.result", "ping")]


async def test_clear_begins_anew_and_history_tells_what_was_said_to_its_owner(tmp_path: Path) -> None:
    async with OpenAiServer() as server:
        server.default = lambda _: reply("Yes.")
        home = Household(tmp_path, {"model": {"provider": "openai", "base_url": server.url, "name": "m"}})
        async with open_box(load(home.write(), {"HOME": str(tmp_path)}), RunOptions(deaf=True)) as box:

            async def visit() -> None:
                await said(box, "my word is rhubarb")
                await said(box, "my word is celery", ADA)
                lines = (await said(box, "/history")).splitlines()
                assert [line.split(" ", 1)[1] for line in lines] == ["cli: my word is rhubarb", "agent: Yes."]
                assert "rhubarb" not in await said(box, "/历史", ADA)
                assert (await said(box, "/clear")).startswith("We begin anew")
                await said(box, "what is my word")
                system, words = server.requests[-1].messages
                assert [system["role"], words["role"]] == ["system", "user"], "of before there is no message left"
                await said(box, "and mine", ADA)
                assert "celery" in str(server.requests[-1].messages), "another's talk goes on"

            await serve(box, visit)
