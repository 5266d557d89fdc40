"""No owner's words reach another's model: whatever it looks up for them, in whatever words, with whatever ids."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ToolFailed
from agent.event import ASR_TRANSCRIPT, HOUSEHOLD, Event
from agent.mailbox import Lease, Mailbox
from agent.prompts import Prompts
from agent.tools.journal import journal_read_tool, recall_tool
from agent.tools.registry.sharing import NOT_SHARED, shared
from agent.tools.timers import timer_tools
from agent.tools.tool import Call, Tool, run_tool, tool
from agent.turns.stages import Stages
from memory.json_value import Json
from memory.recall import Recall
from memory.state.journal import Journal
from memory.state.tiers import Tiers
from tests.agent.mind import NOON, TestMind, a_mind
from tests.appliance.admin.boxes import KeptBox
from tests.appliance.visiting import at_home, spying_in
from tests.fakes import ScriptedModel, calls
from tests.memory.tier_fixtures import WordEmbedder

pytestmark = pytest.mark.shows("F12", "G4")

OWNERS = (HOUSEHOLD, "a" * 64, "b" * 64)
SECRETS = {HOUSEHOLD: "hedgehog", OWNERS[1]: "albatross", OWNERS[2]: "barracuda"}
EMBEDDER = WordEmbedder(words=tuple(SECRETS.values()))

ENDS = calls(("complete_event", "{}"), prefix="end")


def tools(journal: Journal, mailbox: Mailbox) -> list[Tool]:
    return [
        journal_read_tool(journal),
        recall_tool(Recall(journal, EMBEDDER)),
        *timer_tools(mailbox, lambda: NOON),
    ]


def said_by(owner: str, words: str, session: str) -> Event:
    return Event(ASR_TRANSCRIPT, words, owner_key=owner, session_id=session, source="mic", priority=10, created_at=NOON)


async def everybody_speaks(mind: TestMind, model: ScriptedModel) -> list[str]:
    """Let each owner tell a secret, in the same session, and set a timer of that name; return all ids there are."""
    ids = []
    for owner, secret in SECRETS.items():
        timer = ("set_timer", json.dumps({"seconds": 31_000_000, "label": secret}))
        reply = ("reply", json.dumps({"text": f"I keep {secret} to myself."}))
        judged = ("complete_event", json.dumps({"summary": f"Told of {secret}.", "importance": 0.9, "reason": secret}))
        model.script.append(calls(timer, reply, judged, prefix=f"told_{secret}"))
        event = said_by(owner, f"Remember the {secret}.", "room")
        await mind.handle(event)
        ids += [event.id, *(timer.id for timer in await mind.mailbox.waiting("timer", owner))]
    await Tiers(mind.journal.database, mind.journal, lambda: NOON).fill()
    await Recall(mind.journal, EMBEDDER).fill()
    ids += [entry.id for entry in await mind.journal.entries()]
    return ids + [str(entry.body["epoch"]) for entry in await mind.journal.entries(topic="context.epoch")]


async def test_a_context_that_is_read_back_from_the_journal_is_of_its_owner_alone(tmp_path: Path) -> None:
    """Although all speak in the same session; another model goes on with what was said to the first one."""
    answers = [calls(("reply", '{"text": "I will."}'), prefix=f"told{n}") for n in range(6)]
    first, another = ScriptedModel(*answers[:3]), ScriptedModel(*answers[3:], name="another")
    for model in (first, another):
        async with a_mind(tmp_path, [model]) as mind:
            for owner, secret in SECRETS.items():
                await mind.handle(said_by(owner, f"Remember the {secret}.", "room"))
    for request, own in zip(another.requests, SECRETS.values(), strict=True):
        assert {secret: str(request).count(secret) for secret in SECRETS.values()} == {
            secret: 2 if secret == own else 0 for secret in SECRETS.values()
        }


words = st.one_of(st.sampled_from([*SECRETS.values(), "Remember", "the", "*", '" OR 1=1 --', "%"]), st.text(max_size=9))
owners = st.sampled_from(OWNERS)


@st.composite
def looks(draw: st.DrawFn, ids: Sequence[str], spying: Sequence[str]) -> tuple[str, dict[str, Json]]:
    """Return one call of one tool with what it might be talked into asking."""
    said, one = draw(words) or "x", draw(st.sampled_from([*ids, *SECRETS.values()]))
    choices: list[tuple[str, dict[str, Json]]] = [
        ("recall", {"words": said, "limit": 50}),
        ("recall", {"limit": 50}),
        ("journal_read", {"id": one}),
        ("list_timers", {}),
        ("cancel_timer", {"which": one}),
        ("check_mailbox", {}),
        ("mailbox", {"action": draw(st.sampled_from(["list", "cancel"])), "id": one}),
        ("memory_query", {"cypher": draw(st.sampled_from([said, *spying]))}),
        ("memory_write", {"cypher": draw(st.sampled_from([said, *spying]))}),
        ("memory_schema", {}),
        ("embedding", {"text": said}),
    ]
    return draw(st.sampled_from(choices))


class Speaking:
    """One state in which everybody has spoken and written into their graph, and the tools over it.

    On an event loop that outlives the examples.
    """

    def __init__(self, folder: Path) -> None:
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.model = ScriptedModel()
        box = KeptBox(folder / "graphs")
        house = self.runner.run(self.stack.enter_async_context(at_home(box.config())))
        for owner, secret in SECRETS.items():
            self.runner.run(
                house.desk.write(owner, f"CREATE (:{secret} {{{secret}: $x}})-[:to_{secret}]->()", x=secret)
            )
        self.spying = [each for other in OWNERS for each in spying_in(box.state, other)]
        graph = house.desk.tools.values()
        a_whole = a_mind(folder, [self.model], lambda journal, mailbox: [*tools(journal, mailbox), *graph])
        self.mind = self.runner.run(self.stack.enter_async_context(a_whole))
        self.ids = self.runner.run(everybody_speaks(self.mind, self.model))
        self.tools = {each.name: each for each in self.mind.mind.registry}

    def look(self, owner: str, name: str, arguments: dict[str, Json]) -> str:
        call = Call("look", said_by(owner, "Tell me everything.", "room"))
        self.mind.mind.run_state.lay(Lease(call.event), "", (), Stages())
        return self.runner.run(run_tool(self.tools[name], json.dumps(arguments), call))

    def close(self) -> None:
        self.runner.run(self.stack.aclose())
        self.runner.close()


@pytest.fixture(scope="module")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Speaking]:
    speaking = Speaking(tmp_path_factory.mktemp("owners"))
    yield speaking
    speaking.close()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_tool_tells_an_owner_what_is_another_s(speaking: Speaking, data: st.DataObject) -> None:
    owner = data.draw(owners)
    name, arguments = data.draw(looks(speaking.ids, speaking.spying))
    answer = speaking.look(owner, name, arguments)
    for asked in arguments.values():  # an answer may name what was asked for
        answer = answer.replace(str(asked), "")
    assert [secret for other, secret in SECRETS.items() if other != owner and secret in answer] == []


def test_no_context_holds_what_is_another_s(speaking: Speaking) -> None:
    first = len(speaking.model.requests)
    for owner in OWNERS:
        for session in ("room", "elsewhere"):
            speaking.model.script.append(ENDS)
            speaking.runner.run(speaking.mind.handle(said_by(owner, "Tell me everything.", session)))
    asked = iter(speaking.model.requests[first:])
    for owner in OWNERS:
        for session in ("room", "elsewhere"):
            told = json.dumps([message.to_json() for message in next(asked)])
            assert [secret for other, secret in SECRETS.items() if other != owner and secret in told] == []
            assert (SECRETS[owner] in told) == (session == "room")


async def test_each_owner_finds_what_is_theirs(tmp_path: Path) -> None:
    model = ScriptedModel()
    async with a_mind(tmp_path, [model], tools) as mind:
        await everybody_speaks(mind, model)
        for owner, secret in SECRETS.items():
            own = tools(mind.journal, mind.mailbox)
            for name, arguments in (
                ("recall", {"words": secret}),
                ("list_timers", {}),
            ):
                [asked] = [each for each in own if each.name == name]
                call = Call("c", Event(ASR_TRANSCRIPT, owner_key=owner))
                answer = await run_tool(asked, json.dumps(arguments), call)
                assert secret in answer
                assert not [other for other in SECRETS.values() if other != secret and other in answer]
        tiers = Tiers(mind.journal.database, mind.journal, lambda: NOON)
        for owner, secret in SECRETS.items():
            views = await tiers.views(owner)
            for view in (views.recent, views.important):
                assert [each.words for each in view] == [f"Remember the {secret}."]


def graph_tool(holds: str) -> Tool:
    """Stand for a graph that gives whoever may ask all that it holds."""

    async def memory_query(event: Event, cypher: str) -> Json:
        """Look into the graph."""
        return f"{event.owner_key[0]} {cypher}: {holds}"

    return tool(memory_query)


async def test_who_does_not_share_the_graph_is_lent_their_own_or_told_so() -> None:
    @asynccontextmanager
    async def lend(owner: str) -> AsyncIterator[dict[str, Tool]]:
        if owner != OWNERS[1]:
            raise ToolFailed(NOT_SHARED)
        yield {"memory_query": graph_tool(SECRETS[owner])}

    household = graph_tool(SECRETS[HOUSEHOLD])
    [asked] = shared([household], lambda owner: owner == HOUSEHOLD, lend)
    assert asked.spec == household.spec
    events = [Event("user_text", owner_key=owner) for owner in OWNERS]
    told = [await run_tool(asked, '{"cypher": "x"}', Call("c", event)) for event in events]
    assert told == ["h x: hedgehog", "a x: albatross", f"error: {NOT_SHARED}"]


class Kept:
    """One owner's own persona."""

    async def of(self, owner_key: str) -> dict[str, str]:
        return {"persona": "You are a pirate."} if owner_key == OWNERS[1] else {}


@pytest.mark.shows("D15", "F14")
async def test_an_owner_s_own_persona_is_in_their_context_alone(tmp_path: Path) -> None:
    model = ScriptedModel(ENDS, ENDS)
    async with a_mind(tmp_path, [model], system=Prompts(Kept())) as mind:
        for owner in OWNERS[:2]:
            await mind.handle(said_by(owner, "Hello.", "room"))
    household, pirate = (request[0].content for request in model.requests)
    assert "pirate" not in household
    assert pirate.startswith("You are a pirate.")
    assert household.partition("# ")[2] != ""
    assert pirate.endswith(household[-200:])  # the other modules are as they were
