"""Tools that are offered when they are needed: a few always, the others found and called through one tool."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from agent.event import TIMER, utc_now
from agent.intents.model import OfflineModel
from agent.mailbox import Mailbox
from agent.model.messages import ToolCall
from agent.tools.journal import recall_tool
from agent.tools.registry.finding import FIND, USE, unwrapped
from agent.tools.registry.registry import ToolRegistry
from agent.tools.timers import timer_tools
from agent.tools.tool import Tool, tool
from memory.json_value import Json
from memory.recall import Recall
from memory.state.journal import Journal
from memory.vectors.embedding import NoEmbedder
from tests.agent.mind import Start, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("D2", "D17")

LITTLE = Start(has_little_room=lambda: True)
DONE = calls(("reply", '{"text": "Done."}'), ("complete_event", "{}"), prefix="z")


class Memory:
    """What was written, in place of a graph."""

    def __init__(self) -> None:
        self.written: list[tuple[str, dict[str, object]]] = []

    def tools(self, _: Journal, mailbox: Mailbox) -> Sequence[Tool]:
        async def memory_write(cypher: str, params: dict[str, object]) -> Json:
            """Change your memory."""
            self.written.append((cypher, params))
            return {"stats": {"nodesCreated": 1}}

        async def water(plant: Annotated[str, Field(description="Which.")], litres: float = 1.0) -> Json:
            """Water a plant that stands in the garden."""
            self.written.append((plant, {"litres": litres}))
            return "watered"

        return [*timer_tools(mailbox, utc_now), tool(memory_write, brief="Change your memory."), tool(water)]


def use(name: str, arguments: object) -> tuple[str, str]:
    return USE, json.dumps({"name": name, "arguments": arguments})


def results(mind: TestMind) -> list[str]:
    return [message.content for message in mind.loop_epoch.messages if message.role == "tool"]


async def test_few_are_offered_and_the_list_tells_how_the_others_are_called(tmp_path: Path) -> None:
    model = ScriptedModel(DONE)
    async with a_mind(tmp_path, [model], Memory().tools, start=LITTLE) as mind:
        await mind.handle(spoken("hello"))
    offered = {spec.name: spec for spec in model.tools[0]}
    assert list(offered) == sorted(offered)
    assert {"reply", "complete_event", "suspend_event", "set_timer", "memory_write", FIND, USE} <= set(offered)
    assert not {"water", "create_event", "list_timers"} & set(offered)
    assert "water(plant, litres?)" in offered[USE].description
    assert offered["set_timer"].parameters["properties"] == {
        "seconds": {"type": "number"},
        "label": {"type": "string"},
        "repeat": {"type": "boolean"},
        "reminder": {"type": "boolean"},
    }


async def test_with_room_for_all_nothing_need_be_found(tmp_path: Path) -> None:
    model = ScriptedModel(DONE)
    async with a_mind(tmp_path, [model], Memory().tools) as mind:
        await mind.handle(spoken("hello"))
    assert not {FIND, USE} & {spec.name for spec in model.tools[0]}
    assert "water" in {spec.name for spec in model.tools[0]}


async def test_a_timer_is_set_and_something_is_remembered(tmp_path: Path) -> None:
    memory = Memory()
    model = ScriptedModel(
        calls(("set_timer", '{"seconds": 300, "label": "tea"}'), prefix="a"),
        DONE,
        calls(("memory_write", '{"cypher": "CREATE (a:A {x: $x})", "params": {"x": "plums"}}'), prefix="c"),
        calls(("reply", '{"text": "I will."}'), ("complete_event", "{}"), prefix="d"),
    )
    async with a_mind(tmp_path, [model], memory.tools, start=LITTLE) as mind:
        await mind.handle(spoken("set a timer for tea, five minutes"))
        await mind.handle(spoken("remember that I like plums"))
        (timer,) = await mind.mailbox.waiting(TIMER, "household")
    assert timer.metadata["label"] == "tea"
    assert memory.written == [("CREATE (a:A {x: $x})", {"x": "plums"})]
    assert mind.outlet.said == ["Done.", "I will."]


async def test_another_tool_is_found_then_called_and_counts_as_itself(tmp_path: Path) -> None:
    memory = Memory()
    model = ScriptedModel(
        calls((FIND, '{"words": "water the garden"}'), prefix="a"),
        calls(use("water", {"plant": "fern", "litres": 2}), prefix="b"),
        DONE,
    )
    async with a_mind(tmp_path, [model], memory.tools, start=LITTLE) as mind:
        event = spoken("water the fern")
        await mind.handle(event)
        requests = await mind.journal.entries(topic="tools.requests", event_id=event.id)
    found, watered, *_ = results(mind)
    assert json.loads(found)[0]["name"] == "water"
    assert json.loads(found)[0]["parameters"]["properties"]["plant"]["description"] == "Which."
    assert watered == "watered"
    assert memory.written == [("fern", {"litres": 2.0})]
    assert [entry.body["tool_name"] for entry in requests] == [FIND, "water", "reply", "complete_event"]
    assert mind.loop_epoch.messages[4].tool_calls[0].name == USE, "the context keeps what the model wrote"


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (("water", '{"plant": "fern"}'), "watered"),
        (use("water", {"plant": "fern"}), "watered"),
        (use("water", '{"plant": "fern"}'), "watered"),
        ((USE, '{"name": "list_timers"}'), "no timer is set"),
        (use("water", {"litres": 2}), "error: water was called with wrong arguments"),
        (use("paint", {}), "error: there is no tool 'paint'"),
        ((USE, '{"arguments": {}}'), "error: use_tool was called with wrong arguments"),
        ((USE, '{"name": "wat'), "error: use_tool was called with wrong arguments"),
        (use(USE, {"name": "water"}), "error: there is no tool 'use_tool'; there are: "),
        ((FIND, '{"words": "zzz"}'), '["cancel_timer","check_mailbox"'),
    ],
)
async def test_however_it_is_called_it_is_done_or_told(tmp_path: Path, made: tuple[str, str], says: str) -> None:
    model = ScriptedModel(calls(made, prefix="a"), DONE)
    async with a_mind(tmp_path, [model], Memory().tools, start=LITTLE) as mind:
        await mind.handle(spoken("water the fern"))
    assert results(mind)[0].startswith(says)


async def test_a_tool_called_through_another_is_no_way_around_the_budget(tmp_path: Path) -> None:
    memory = Memory()
    model = ScriptedModel(
        calls(use("water", {"plant": "fern"}), use("water", {"plant": "ivy"}), prefix="a"),
        DONE,
    )
    async with a_mind(tmp_path, [model], memory.tools, start=LITTLE) as mind:
        await mind.handle(spoken("water all", max_tool_calls=1))
    assert len(memory.written) == 1
    assert results(mind)[1].startswith("refused: ")


@pytest.mark.shows("F6")
async def test_the_offline_model_reaches_what_it_needs_where_few_are_listed(tmp_path: Path) -> None:
    def tools(journal: Journal, mailbox: Mailbox) -> Sequence[Tool]:
        return [*timer_tools(mailbox, utc_now), recall_tool(Recall(journal, NoEmbedder()))]

    async with a_mind(tmp_path, [OfflineModel()], tools, start=LITTLE) as mind:
        for words in (
            "set a timer for ten minutes",
            "how much time is left",
            "remember that the key hangs at the door",
        ):
            await mind.handle(spoken(words))
        listed = {spec.name for spec in mind.loop_epoch.tools}
    assert "list_timers" not in listed
    assert "minute" in mind.outlet.said[1]
    assert "left on your" in mind.outlet.said[1]


async def test_a_window_that_turns_out_small_holds_from_the_next_event_on(tmp_path: Path) -> None:
    is_small, model = [False], ScriptedModel(*(calls(("reply", '{"text": "Yes."}'), prefix=f"c{n}") for n in range(3)))
    start = Start(has_little_room=lambda: is_small[0])
    async with a_mind(tmp_path, [model], Memory().tools, start=start) as mind:
        await mind.handle(spoken("one"))
        is_small[0] = True
        await mind.handle(spoken("two"))
        await mind.handle(spoken("three"))
        opened = await mind.journal.entries(topic="context.epoch")
    assert [USE in {spec.name for spec in tools} for tools in model.tools] == [False, True, True]
    assert len(opened) == 2


def test_what_is_called_is_the_tool_itself_under_the_same_id() -> None:
    made = unwrapped(ToolCall("c", USE, '{"name": "water", "arguments": {"plant": "fern"}}'))
    assert made == ToolCall("c", "water", '{"plant": "fern"}')
    other = ToolCall("c", "water", "{}")
    assert unwrapped(other) is other


def named(number: int) -> Tool:
    async def one(first: str, second: str = "") -> Json:
        """Do one thing."""
        return first + second

    one.__name__ = f"mcp__server__tool_{number}"
    return tool(one)


def test_a_house_full_of_servers_does_not_fill_the_window() -> None:
    registry = ToolRegistry([named(number) for number in range(200)], lambda: True)
    (use_spec,) = [spec for spec in registry.specs_for("") if spec.name == USE]
    assert len(use_spec.description) < 1000
    assert " more." in use_spec.description
    assert registry.specs_for("") == registry.specs_for("")


def test_what_an_older_context_lists_is_called_by_its_present_name() -> None:
    search = unwrapped(ToolCall("a", "journal_search", '{"words": "keys", "limit": 5}'))
    assert (search.id, search.name, search.arguments) == ("a", "recall", '{"words": "keys", "limit": 5}')
    meaning = unwrapped(ToolCall("b", "journal_recall", '{"about": "keys"}'))
    assert (meaning.id, meaning.name, meaning.arguments) == ("b", "recall", '{"words": "keys"}')
