"""The house without any model: real loop, real mailbox, real journal, and a server that speaks as Home Assistant."""

import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.event import HOME_WATCH, Event
from agent.home.watches import Watches, tell_of
from agent.intents.model import OfflineModel
from agent.loop import Loop
from agent.run.budget import RunLimits
from agent.tools.home import HomeTools, home_tools
from agent.tools.journal import recall_tool
from agent.tools.registry.registry import ToolRegistry
from memory.recall import Recall
from memory.vectors.embedding import NoEmbedder
from tests.agent.home.living import Living, living
from tests.agent.home_server import SmallHome, small_home
from tests.agent.mcp_house import shares
from tests.agent.mind import SYSTEM, OnePrompt, TestMind, a_mind, spoken

pytestmark = pytest.mark.shows("X10")

HONEST = "I heard you, but I need a model to answer that, and none can be reached right now."
NOT_FOUND = "I find nothing about that in what was said here"
TOLD = "All right, I will tell you."
AWAY = "I cannot reach Home Assistant right now, and for anything else I need a model."


@asynccontextmanager
async def a_home(folder: Path, server: SmallHome) -> AsyncIterator[tuple[TestMind, Living]]:
    async with living(server) as told, a_mind(folder, [OfflineModel()]) as house:
        own = HomeTools(told.home, told.sentences, Watches(house.mailbox))
        registry = ToolRegistry(
            [*house.mind.registry, recall_tool(Recall(house.journal, NoEmbedder())), *home_tools(own, shares)]
        )
        mind = replace(house.mind, registry=registry)
        loop = Loop(mind, house.attention, OnePrompt(SYSTEM), [], lambda: datetime.now(UTC), RunLimits())
        yield dataclasses.replace(house, mind=mind, loop=loop), told


async def hear(house: TestMind, words: str, confidence: str = "normal") -> str:
    before = len(house.outlet.said)
    heard = spoken(words, metadata={"evidence": {"confidence": confidence}})
    await house.handle(replace(heard, created_at=datetime.now(UTC)))
    return " ".join(house.outlet.said[before:])


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("words", "answer"),
    [("turn on the bed light", "Turned on the light"), ("打开床头灯", "床头灯已打开"), ("打開床頭燈", "床头灯已打开")],
)
async def test_a_light_goes_on_without_a_model_and_the_call_is_journaled(
    tmp_path: Path, words: str, answer: str
) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert await hear(house, words) == answer
        assert server.entities["light.bed_light"]["state"] == "on"
        requests = await house.journal.entries(topic="tools.requests")
        assert "home_say" in {str(each.body.get("tool_name")) for each in requests}
        assert words in json.dumps([each.body for each in requests], ensure_ascii=False)  # as it was heard


async def test_what_may_be_meant_for_timers_too_is_the_house_s(tmp_path: Path) -> None:
    """Without a house "cancel all timers" is asked back."""
    words = "turn off everything downstairs"
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert "Did you mean" not in await hear(house, words)
        requests = await house.journal.entries(topic="tools.requests")
        assert requests[0].body.get("tool_name") == "home_say"


async def test_a_question_about_the_house_is_answered_by_it(tmp_path: Path) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert await hear(house, "is the washing machine done") == "Washing Machine is running"


@pytest.mark.parametrize(("words", "answer"), [("tell me a joke", HONEST), ("where are my keys", NOT_FOUND)])
async def test_what_it_does_not_understand_either_gets_the_honest_sentence(
    tmp_path: Path, words: str, answer: str
) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert (await hear(house, words)).startswith(answer)
        assert server.called == []


async def test_what_nakari_understands_itself_is_not_asked_there(tmp_path: Path) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        server.asked.clear()
        assert (await hear(house, "hello")).startswith("Hello")
        assert "12" in await hear(house, "what is seven plus five")
        assert server.asked == []


async def test_what_was_hard_to_hear_is_asked_back_and_done_on_a_yes(tmp_path: Path) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert await hear(house, "turn on the bed light", "low") == "Did you say: turn on the bed light?"
        assert server.called == []
        assert await hear(house, "yes") == "Turned on the light"
        assert await hear(house, "打開床頭燈", "low") == "你说的是：打开床头灯，对吗？"
        assert await hear(house, "是的") == "床头灯已打开"
        assert await hear(house, "lock the front door", "low") == "Did you say: lock the front door?"
        assert await hear(house, "Lock the front door.", "low") == "Locked"
        assert (await hear(house, "", "low")).startswith("I did not catch that")


async def test_while_it_is_away_that_is_said(tmp_path: Path) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, told):
        await server.stop()
        await told.home.until("lost")
        assert await hear(house, "turn on the bed light") == AWAY


async def test_what_it_may_have_done_is_said_so_when_it_went_away_before_it_answered(tmp_path: Path) -> None:
    async with small_home(cuts={"conversation/process"}) as server, a_home(tmp_path, server) as (house, _):
        unanswered = "Home Assistant gave no answer. Please look whether it was done."
        assert await hear(house, "turn on the bed light") == unanswered


async def test_what_it_refuses_is_said_so(tmp_path: Path) -> None:
    async with small_home(lacks={"conversation/process"}) as server, a_home(tmp_path, server) as (house, _):
        refused = "Home Assistant could not do that, and for anything else I need a model."
        assert await hear(house, "turn on the bed light") == refused


async def test_a_device_that_cannot_be_reached_is_said(tmp_path: Path) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert await hear(house, "turn on the balcony light") == "Balcony Light cannot be reached."


@pytest.mark.parametrize(
    ("words", "answer", "tell", "state"),
    [
        ("Tell me when the washing machine is done.", TOLD, "The washing machine is done.", ""),
        ("let me know when the front door is unlocked", TOLD, "The front door is unlocked.", "unlocked"),
        ("前门打开了告诉我", "好的，到时候我告诉你。", "前门打开了。", ""),
        ("tell me when the rocket is ready", "I find nothing in the house that is called rocket.", "", ""),
        ("tell me when the front door is locked", "That did not work: Front Door is locked already.", "", ""),
    ],
)  # fmt: skip
async def test_to_be_told_is_asked_without_a_model(
    tmp_path: Path, words: str, answer: str, tell: str, state: str
) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        assert await hear(house, words) == answer
        watches = await Watches(house.mailbox).all()
        assert [(tell_of(event), watch.state) for event, watch in watches] == ([(tell, state)] if tell else [])


async def test_what_was_waited_for_is_said_without_a_model(tmp_path: Path) -> None:
    async with small_home() as server, a_home(tmp_path, server) as (house, _):
        mark = '<From_Outside source="home" note="n">\nWashing Machine: done\n</From_Outside>'
        before = len(house.outlet.said)
        await house.handle(Event(HOME_WATCH, f"The washing machine is done. {mark}", source="home"))
        await house.handle(Event(HOME_WATCH, f"{mark} They waited to hear: it is done", source="home"))
        assert house.outlet.said[before:] == ["The washing machine is done.", "Washing Machine: done"]
