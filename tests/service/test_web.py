"""The whole box with a search engine: a question in writing, what it found, and where that is from below the answer."""

import asyncio
import json
from pathlib import Path

import pytest

from agent.replies import SOURCES
from agent.tools.weather import OPEN_METEO
from appliance.cli.talk.live import show_conversation
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from tests.agent.openai_script import call, calls
from tests.agent.openai_server import OpenAiServer, reply
from tests.agent.web import open_meteo
from tests.agent.web.engines import OTHER, URL, searxng
from tests.agent.web.web_server import WebServer
from tests.service.process import Household

pytestmark = [
    pytest.mark.shows("F8", "F9", "G2", "G8"),
]

DOOR = "http://127.0.0.1:7687/"


async def test_an_answer_from_the_web_is_marked_for_the_model_and_its_sources_stand_below_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer: list[str] = []

    async def ask(box: Box) -> None:
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            terminal = group.create_task(show_conversation(box))
            answer.extend([str(piece) async for piece in box.household.ask("AI trends? And the weather?", "cli")])
            await box.household.bus.publish()
            terminal.cancel()

    async with OpenAiServer() as model, WebServer({"/search": searxng, **open_meteo.PAGES}) as web:
        search, look = call("web_search", {"query": "AI trends 2025"}), call("web_extract", {"address": DOOR})
        model.enqueue(calls(search, call("weather", {}), look), reply("Agents that remember."))
        thinking: dict[str, object] = {"provider": "openai", "base_url": model.url, "name": "m", "api_key_env": "KEY"}
        home = Household(tmp_path, {"model": thinking, "web": searching(web.url), "weather": weather(web.url)})
        config = load(home.write(), {"HOME": str(home.folder), "KEY": "sk-test", "PATH": "/usr/bin"})
        async with open_box(config, RunOptions(deaf=True)) as box:
            await serve(box, lambda: ask(box))
        found, told, refused = (message["content"] for message in model.requests[1].messages[-3:])
    assert found.startswith('<From_Outside source="the web, by SearXNG"')
    assert json.loads(told)["place"] == "here"
    assert refused.startswith("error: refused: 127.0.0.1 is not on the public internet")
    lines = [str(OPEN_METEO), f"Agents that remember: {URL}", f"Graphs: {OTHER}"]
    assert "".join(answer) == "Agents that remember.\n\nSources:\n" + "".join(f"  {line}\n" for line in lines)
    assert "".join(f"        {line}\n" for line in lines) in capsys.readouterr().out, "a terminal of `nakari run` too"
    journaled = home.rows("SELECT json_extract(body, '$.words') FROM journal WHERE topic = ?", SOURCES)
    assert journaled == [("\n".join(lines),)]


def searching(url: str) -> dict[str, object]:
    return {"search": "searxng", "searxng_url": url, "read_pages": True}


def weather(url: str) -> dict[str, object]:
    return {"enabled": True, "latitude": 49.4, "longitude": 8.69, "url": url, "places_url": url}
