"""The agent's own query at the opening of an epoch: on the real store of the box, real settings and a real journal."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.context.block import parse
from agent.context.remembered import REMEMBERED, ROWS, SETTING, Remembered
from agent.context.tokens import TokenCounter
from agent.model.messages import Message
from agent.tools.memory import remember_tool
from memory.errors import GraphUnavailable, RegistrationNeeded, SettingRefused, TooLarge
from memory.graph.cypher import Statement
from memory.graph.graph import Graph
from memory.graph.results import Result
from memory.state import owner_settings
from memory.state.database import Database
from memory.state.owner_settings import Effective, Levels, OwnerSettings
from tests.agent.mind import Start, TestMind, a_mind, spoken, typed
from tests.fakes import ScriptedModel, calls
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]
pytestmark = [SESSION, pytest.mark.shows("G11", "D4", "X9")]

REPLY = ("reply", '{"text": "Yes."}')
LIKES = "MATCH (a:Who)-[r:LIKES]->(b:What) RETURN a.name + ' likes ' + b.name AS told ORDER BY told"
MANY = "UNWIND range(1, $n) AS i RETURN i, 'a row of some words' AS words"


def members_only(owner_key: str) -> None:
    if owner_key == "visitor":
        raise RegistrationNeeded("you are a visitor here")


@dataclass
class House:
    """Settings, a graph that can be away, and what the agent carries."""

    settings: OwnerSettings
    graph: Graph
    is_away: bool = False

    async def read(self, statement: Statement, params: Mapping[str, object]) -> Result:
        if self.is_away:
            raise GraphUnavailable("the memory is not available now: it is starting")
        return await self.graph.read(statement, params)

    def remembered(self, most_tokens: int = 400) -> Remembered:
        return Remembered(self.settings, self.read, TokenCounter(), most_tokens)


@asynccontextmanager
async def house(folder: Path, graph: Graph) -> AsyncIterator[House]:
    database = Database(folder / "settings.db")
    await database.open(owner_settings.SCHEMA)
    settings = OwnerSettings(database, Levels({}, {}, {}, {SETTING: ""}), members_only)
    await settings.load()
    try:
        yield House(settings, graph)
    finally:
        await database.close()


@asynccontextmanager
async def waking(folder: Path, model: ScriptedModel, remembered: Remembered) -> AsyncIterator[TestMind]:
    start = Start(at_opening=[remembered])
    async with a_mind(folder, [model], [remember_tool(remembered)], start=start) as mind:
        yield mind


def told(messages: list[Message]) -> str | None:
    """Return what the newest block carries, None where it has no such part."""
    newest = next(message for message in reversed(messages) if message.role == "user")
    seen = parse(newest.content)
    assert seen is not None
    return seen.situation.get(REMEMBERED)


def setting(cypher: str, params: str = "{}") -> tuple[str, str]:
    return "remember_at_start", f'{{"cypher": "{cypher}", "params": {params}}}'


async def test_what_it_sets_opens_each_new_epoch_with_what_the_graph_says_then(embedded: Graph, tmp_path: Path) -> None:
    await embedded.write("CREATE (:Who {name: 'Anna'})-[:LIKES]->(:What {name: 'tea'})")
    first = ScriptedModel(calls(setting(LIKES), prefix="a"), calls(REPLY, prefix="b"), calls(REPLY, prefix="c"))
    second = ScriptedModel(calls(REPLY, prefix="d"), calls(REPLY, prefix="e"), name="another")
    async with house(tmp_path, embedded) as home:
        async with waking(tmp_path, first, home.remembered()) as mind:
            await mind.handle(spoken("What will you carry?"))
            await mind.handle(spoken("And now?"))
        await embedded.write("CREATE (:Who {name: 'Ben'})-[:LIKES]->(:What {name: 'coffee'})")
        async with waking(tmp_path, second, home.remembered()) as mind:  # another model: a new epoch
            await mind.handle(spoken("Who likes what?"))
            await mind.handle(spoken("And again?"))
            blocks = [str(entry.body["message"]) for entry in await mind.journal.entries(topic="context.message")]
    opened, asked, after = (told(request) for request in first.requests)
    assert (opened, asked, after) == (None, None, None), "empty at the beginning, and only the first block has it"
    assert '{"Remembered":"Anna likes tea"}' in first.requests[1][-1].content, "it sees what it will see"
    assert told(second.requests[0]) == "Anna likes tea\nBen likes coffee"
    assert told(second.requests[1]) is None
    assert second.requests[1][: len(second.requests[0])] == second.requests[0], "byte for byte"
    assert sum("<Remembered>" in block for block in blocks) == 1, "what was read is in the journal, with the block"


async def test_it_is_the_owner_s_and_nobody_else_writes_it(embedded: Graph, tmp_path: Path) -> None:
    async with house(tmp_path, embedded) as home:
        carried = home.remembered()
        asked = Statement.parse("RETURN $who AS who")
        await carried.set(typed("x"), asked, {"who": "the household"})
        theirs = replace(typed("x"), owner_key="ada")
        assert await carried.lines(theirs, [], ()) == ""
        await carried.set(theirs, asked, {"who": "Ada"})
        assert await carried.lines(theirs, [], ()) == "Ada"
        visitor = replace(typed("x"), owner_key="visitor")
        with pytest.raises(RegistrationNeeded):
            await carried.set(visitor, asked, {"who": "me"})
        assert await carried.lines(visitor, [], ()) == ""
        with pytest.raises(SettingRefused, match=r"the agent's own to set; `nakari settings reset memory\.remember"):
            await home.settings.set("household", SETTING, "RETURN 1")
        shown = home.settings.of("household", SETTING)
        assert shown.level == "agent"
        assert "RETURN $who AS who" in str(shown.value)
        await home.settings.reset("household", SETTING)
        assert home.settings.of("household", SETTING) == Effective("", "agent")
        assert await carried.lines(typed("x"), [], ()) == ""
        await home.settings.forget("ada")
        assert await carried.lines(theirs, [], ()) == ""
    async with house(tmp_path, embedded) as home:
        assert await home.remembered().lines(theirs, [], ()) == "", "erased with the owner, for good"


async def test_a_refused_query_leaves_the_one_before(embedded: Graph, tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(setting("RETURN 'kept' AS told"), prefix="a"),
        calls(setting("CREATE (n:Mine) RETURN n"), prefix="b"),
        calls(setting("MATCH (n:Mine RETURN n"), prefix="c"),
        calls(REPLY, prefix="d"),
    )
    async with house(tmp_path, embedded) as home, waking(tmp_path, model, home.remembered()) as mind:
        await mind.handle(spoken("Choose."))
        results = [message.content for message in model.requests[-1] if message.role == "tool"]
        assert "kept" in results[0]
        assert "reads" in results[1] or "read" in results[1]
        assert "kept" in await home.remembered().lines(spoken("x"), [], ())
        cleared = ScriptedModel(calls(setting(""), prefix="e"), calls(REPLY, prefix="f"), name="another")
    async with house(tmp_path, embedded) as home, waking(tmp_path, cleared, home.remembered()) as mind:
        await mind.handle(spoken("Let it go."))
        assert await home.remembered().lines(spoken("x"), [], ()) == ""
    assert (await embedded.read("MATCH (n:Mine) RETURN n")).records == []


async def test_what_cannot_be_read_now_is_told_in_a_few_words(embedded: Graph, tmp_path: Path) -> None:
    model = ScriptedModel(calls(REPLY, prefix="a"))
    async with house(tmp_path, embedded) as home:
        carried = home.remembered()
        await carried.set(spoken("x"), Statement.parse("MATCH (n:Who) RETURN n.name"), {})
        home.is_away = True
        async with waking(tmp_path, model, carried) as mind:
            event = spoken("Are you there?")
            await mind.handle(event)
            assert await mind.state_of(event) == "completed"
        assert told(model.requests[0]) == "not read: the memory is not available now: it is starting"
        home.is_away = False
        await home.settings.keep("household", SETTING, '{"cypher": "MATCH (n RETURN n", "params": {}}')
        lines = await carried.lines(spoken("x"), [], ())
        assert lines.startswith("not read: ")
        assert lines.endswith("; set it anew with remember_at_start")


async def test_it_keeps_to_its_tokens_and_rows(embedded: Graph, tmp_path: Path) -> None:
    async with house(tmp_path, embedded) as home:
        carried, tokens = home.remembered(200), TokenCounter()
        lines = await carried.set(spoken("x"), Statement.parse(MANY), {"n": 100})
        assert tokens.count(lines.rpartition("\n")[0]) <= 200
        assert lines.splitlines()[0] == '{"i": 1, "words": "a row of some words"}'
        assert lines.splitlines()[-1] == f"… {100 - len(lines.splitlines()) + 1} more rows"
        whole = await home.remembered(9_000).set(spoken("x"), Statement.parse(MANY), {"n": 100})
        assert whole.splitlines()[-1] == f"… {100 - ROWS} more rows"
        vector = await carried.set(spoken("x"), Statement.parse("RETURN [i IN range(1, 400) | i / 3.0] AS v"), {})
        assert tokens.count(vector) < 20, "no vectors"
        long = await carried.set(spoken("x"), Statement.parse("RETURN $words AS words"), {"words": "so long " * 900})
        assert long.endswith("…")
        assert tokens.count(long) <= 202


async def test_a_query_that_takes_too_long_is_refused_and_holds_no_conversation_up(
    embedded: Graph, tmp_path: Path
) -> None:
    async def never(statement: Statement, params: Mapping[str, object]) -> Result:
        await asyncio.Event().wait()
        raise AssertionError

    async with house(tmp_path, embedded) as home:
        await home.remembered().set(spoken("x"), Statement.parse("RETURN 1"), {})
        slow = Remembered(home.settings, never, TokenCounter(), 400, seconds=0.0)
        assert await slow.lines(spoken("x"), [], ()) == (
            "not read: it took longer than 0 s; set it anew with remember_at_start"
        )
        with pytest.raises(TooLarge, match="takes longer than 0 s"):
            await slow.set(spoken("x"), Statement.parse("RETURN 2"), {})
        assert await home.remembered().lines(spoken("x"), [], ()) == "1"


async def test_it_is_cleared_with_the_event_it_was_set_for(embedded: Graph, tmp_path: Path) -> None:
    async with house(tmp_path, embedded) as home:
        carried, event = home.remembered(), spoken("My secret is the plum.")
        await carried.set(event, Statement.parse("RETURN $words AS words"), {"words": "the plum"})
        await carried.forget_event("another")
        assert await carried.lines(spoken("x"), [], ()) == "the plum"
        await carried.forget_event(event.id)
        assert await carried.lines(spoken("x"), [], ()) == ""
