"""One spoken question that takes four kinds of hands: a search, a page, the house, and a program's tool."""

import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.web.pages import PageReader
from tests.agent.home_server import small_home
from tests.agent.web.engines import URL, searxng
from tests.agent.web.web_server import Answer, Asked, WebServer, page
from tests.fakes import ScriptedModel, calls
from tests.home.box import Place, heard_at_home
from tests.home.home_assistant import Running
from tests.home.test_nakari_at_home import state, switch_off
from tests.service.process import speak

pytestmark = pytest.mark.shows("E19", "F8", "F9", "X10", "G2")

ACTED = ["llm.requests", "llm.results", "tools.requests", "tools.results"]
TOPICS = ["runs.new", "context.build.request", "context.build.response", *ACTED, *ACTED, *ACTED]
"""Of one run with three answers of the model, neighbours of one topic once; what is for the screen is left out."""


async def answered(home: Place, folder: Path, lamp: str) -> tuple[ScriptedModel, str]:
    """Ask by voice; return the model that was asked, and the address of the page it had read."""
    async with WebServer({"/trends": page("Agents remember. " * 50)}) as web:
        trends = f"{web.url}/trends"

        def found(asked: Asked) -> Answer:
            told = searxng(asked)
            assert isinstance(told.pieces, bytes)
            return replace(told, pieces=told.pieces.replace(URL.encode(), trends.encode()))

        web.pages["/search"] = found
        model = ScriptedModel(
            calls(
                ("web_search", '{"query": "AI trends 2025"}'),
                ("home_HassTurnOn", json.dumps({"name": lamp})),
                ("tests_add", '{"a": 2, "b": 3}'),
                prefix="a",
            ),
            calls(("web_extract", json.dumps({"address": trends})), prefix="b"),
            calls(
                ("reply", '{"text": "Agents that remember. The light is on."}'),
                ("complete_event", '{"summary": "told"}'),
                prefix="c",
            ),
        )
        settings: dict[str, dict[str, object]] = {
            "web": {"search": "searxng", "searxng_url": web.url, "read_pages": True},
            "mcp.tests": {"command": [sys.executable, "-m", "tests.agent.mcp_program", "stdio", str(folder)]},
        }
        sound = speak("Turn on the kitchen light.", folder / "said.wav")
        reader = PageReader("nakari/test", web.guard())
        await heard_at_home(home, folder / "box", sound, model, settings, reader)
        return model, trends


def check(model: ScriptedModel, folder: Path, trends: str) -> None:
    """The trace of the run, what the model read, and what stands below the answer."""
    results = {each.tool_call_id: each.content for each in model.requests[-1] if each.role == "tool"}
    assert "agents that remember" in results["a_0"]
    assert "5" in results["a_2"]
    assert "Agents remember. Agents remember." in results["b_0"]
    assert all(results[each].startswith("<From_Outside") for each in ("a_0", "a_1", "a_2", "b_0"))
    with closing(sqlite3.connect(folder / "box" / "state" / "nakari.db")) as database:
        topics = [topic for (topic,) in database.execute("SELECT topic FROM journal ORDER BY rowid")]
        (sources,) = database.execute("SELECT body FROM journal WHERE topic = 'speech.sources'").fetchone()
    assert trends in sources
    assert once(topics)[: len(TOPICS)] == TOPICS


def once(topics: Sequence[str]) -> list[str]:
    """Return the topics of runs, neighbours of one topic once."""
    return [topic for topic, _ in groupby(each for each in topics if each in TOPICS)]


async def test_a_spoken_question_takes_search_page_house_and_a_program_in_one_turn(tmp_path: Path) -> None:
    async with small_home() as home:
        lamp = next(each for each in home.entities.values() if each["id"].startswith("light."))
        model, trends = await answered(home, tmp_path, lamp["name"])
        assert home.called
    check(model, tmp_path, trends)


async def test_it_does_so_at_a_real_home_assistant(home_assistant: Running, tmp_path: Path) -> None:
    await switch_off(home_assistant, "light.kitchen_lights")
    model, trends = await answered(home_assistant, tmp_path, "Kitchen Light")
    assert await state(home_assistant, "light.kitchen_lights") == "on"
    check(model, tmp_path, trends)
