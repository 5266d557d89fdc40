"""With everything on the list of tools stays under its bound: the largest groups are named in it, and found."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.context.tokens import TokenCounter
from agent.tools.registry.finding import CALL, FIND, USE, are_few, tokens_of
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Tool, tool
from tests.agent.mind import Start, a_mind, spoken
from tests.agent.tools.registry.house_of_tools import home_tools, own_tools
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("D17")

MOST = 6_000


async def look() -> str:
    """Look out of the window."""
    return "rain"


def everything(folder: Path) -> list[Tool]:
    return [tool(look), *home_tools(), *own_tools(folder / "tools", 50)]


def test_a_list_under_its_bound_is_whole() -> None:
    few = [tool(look), *home_tools()[:3]]
    assert ToolRegistry(few, most_tokens=lambda: MOST).specs_for("") == ToolRegistry(few).specs_for("")


def test_past_the_bound_the_largest_group_is_named_with_what_each_takes(tmp_path: Path) -> None:
    registry = ToolRegistry(everything(tmp_path), most_tokens=lambda: MOST)
    listed = {spec.name: spec for spec in registry.specs_for("")}
    assert {"look", "home__HassTurnOn", FIND, CALL} < listed.keys()
    assert "water_0" not in listed
    assert "own files: air_12(place, minutes?, note?), " in listed[CALL].description
    assert tokens_of(registry.specs_for("")) <= MOST < tokens_of(ToolRegistry(everything(tmp_path)).specs_for(""))
    assert TokenCounter().of_tools(registry.specs_for("")) <= MOST
    assert not are_few(registry.specs_for("")), "the prompt is the whole one"
    assert USE not in listed


@pytest.mark.parametrize("count", [0, 50, 200, 400])
@pytest.mark.parametrize("most", [2_000, 8_000])
def test_however_many_there_are_the_list_keeps_its_bound_and_stays_the_same(
    tmp_path: Path, count: int, most: int
) -> None:
    tools = [tool(look), *home_tools(), *own_tools(tmp_path / "tools", count)]
    first, second = (ToolRegistry(each, most_tokens=lambda: most) for each in (tools, tools[::-1]))
    assert tokens_of(first.specs_for("")) <= most
    assert first.specs_for("") == second.specs_for("")
    told = " ".join(spec.description for spec in first.specs_for(""))
    listed = {spec.name for spec in first.specs_for("")}
    for group in {each.group for each in tools if each.name not in listed}:
        assert f"{group}: " in told, "each group is named"


async def test_what_is_only_named_is_found_and_called(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls((FIND, '{"words": "feed"}'), prefix="a"),
        calls((CALL, '{"name": "feed_5", "arguments": {"place": "garden"}}'), prefix="b"),
        calls((CALL, '{"name": "nothing"}'), prefix="c"),
        calls(("reply", '{"text": "They are fed."}'), prefix="d"),
    )
    async with a_mind(tmp_path, [model], everything(tmp_path), start=Start(most_tokens=lambda: MOST)) as mind:
        await mind.handle(spoken("feed the birds"))
        found, called, unknown, _ = [m.content for m in mind.loop_epoch.messages if m.role == "tool"]
    assert json.loads(found)[0]["name"] == "feed_15"
    assert called == "done"
    assert unknown.startswith("error: there is no tool")


async def test_the_list_is_the_same_for_every_call_of_an_epoch(tmp_path: Path) -> None:
    said = [calls(("reply", '{"text": "Yes."}'), prefix=f"p{number}") for number in range(3)]
    model = ScriptedModel(*said)
    async with a_mind(tmp_path, [model], everything(tmp_path), start=Start(most_tokens=lambda: MOST)) as mind:
        for words in ("one", "two", "three"):
            await mind.handle(spoken(words))
        opened = await mind.journal.entries(topic="context.epoch")
    assert model.tools[0] == model.tools[1] == model.tools[2]
    assert len(opened) == 1


def test_what_a_server_lends_is_found_under_its_name(tmp_path: Path) -> None:
    registry = ToolRegistry([tool(look)], most_tokens=lambda: 2_000)
    registry.join("workshop", [replace(each, group="") for each in own_tools(tmp_path / "tools", 50)])
    (call,) = [spec for spec in registry.specs_for("") if spec.name == CALL]
    assert "\nworkshop: " in call.description
