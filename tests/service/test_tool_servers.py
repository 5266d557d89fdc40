"""The whole box with a server of tools: a person's words, a call of its tool, the answer; nothing is left behind."""

import asyncio
from pathlib import Path

import pytest

from agent.tools.mcp.server import Server
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from tests.agent.mcp_house import a_tool, bare, gone, process_of
from tests.agent.openai_script import call, calls
from tests.agent.openai_server import OpenAiServer, reply
from tests.service.process import Household

pytestmark = [
    pytest.mark.shows("B13"),
]


def settings(server: Server) -> dict[str, dict[str, object]]:
    return {f"mcp.{server.name}": {"command": [*server.command]}}


async def test_a_persons_words_lead_to_a_call_of_a_servers_tool(tmp_path: Path) -> None:
    server = bare(tmp_path / "window", a_tool("look"), name="window")
    answer: list[str] = []

    async def ask(box: Box) -> None:
        async with asyncio.timeout(120):
            await box.agent.servers.owners["window"].until("connected")
            assert (await box.household.status())["mcp"] == {"window": {"state": "connected", "tools": 1, "losses": 0}}
            answer.extend([str(piece) async for piece in box.household.ask("What do you see?", "cli")])

    async with OpenAiServer() as model:
        model.enqueue(calls(call("window_look", {"at": "the sea"})), reply("A ship."))
        thinking: dict[str, object] = {"provider": "openai", "base_url": model.url, "name": "m", "api_key_env": "KEY"}
        home = Household(tmp_path, {"model": thinking, **settings(server)})
        config = load(home.write(), {"HOME": str(home.folder), "KEY": "sk-test", "PATH": "/usr/bin"})
        async with open_box(config, RunOptions(deaf=True)) as box:
            await serve(box, lambda: ask(box))
        first, second = model.requests
    assert "".join(answer).strip() == "A ship."
    assert "window_look" in {tool["function"]["name"] for tool in first.json["tools"]}
    assert 'look {"at": "the sea"}' in second.messages[-1]["content"]
    assert second.json["tools"] == first.json["tools"]
    await gone(process_of(tmp_path / "window"))


async def test_a_killed_service_leaves_no_server_behind(tmp_path: Path) -> None:
    server = bare(tmp_path / "window", a_tool("look"), kind="stubborn", name="window")
    home = Household(tmp_path, settings(server))
    with home.running("run") as service:
        connected = await asyncio.to_thread(service.until, "mcp_server_connected")
        assert (connected["server"], connected["tools"]) == ("window", 1)
        service.kill()
    await gone(process_of(tmp_path / "window"))
