"""Promises of a context and its envelopes that a change of one line would break, each pinned to its figure."""

import ast
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

import agent.context
import agent.run
from agent.bus import Observer
from agent.context.block import parse
from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.context.tokens import TokenCounter
from agent.event import DEFAULT_MAX_TOOL_CALLS, SELF_CREATED, TIMER, Event
from agent.model.messages import Message
from agent.model.window import Windows
from agent.record import step
from agent.replies import INTERRUPTED
from agent.run.budget import RunLimits
from agent.tools.tool import tool
from appliance.config.load import load
from appliance.wiring.agent.agent import context_limits
from tests.agent.mind import NOON, Start, a_mind, spoken, typed
from tests.fakes import ScriptedModel, calls

REPLY = ("reply", '{"text": "Yes."}')
DONE = ("complete_event", "{}")


def blocks(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages if message.content.startswith("<Context>")]


@pytest.mark.shows("D8")
@pytest.mark.parametrize(
    ("event", "at"),
    [
        (spoken("what time was it"), NOON - timedelta(seconds=37)),
        (typed("what time was it"), NOON - timedelta(seconds=37)),
        (Event(TIMER, "tea", source="timer"), NOON),
        (Event(SELF_CREATED, "think", source="self"), NOON),
    ],
)
async def test_the_block_has_the_time_at_which_a_person_began_and_else_the_present(
    tmp_path: Path, event: Event, at: object
) -> None:
    model = ScriptedModel(calls(REPLY, DONE))
    async with a_mind(tmp_path, [model]) as mind:  # whose clock stands at noon
        await mind.handle(replace(event, created_at=NOON - timedelta(seconds=37)))
    [handed] = blocks(model.requests[0])
    seen = parse(handed)
    assert seen is not None
    assert seen.time == at


WRITES = {"publish", "hold", "in_transaction"}
"""What may be asked of the bus where a context is built."""

BUILDERS = ("opening", "thinking/summarizer")
"""Modules of a run that put something into its context."""


def asked_of_bus(source: str) -> set[str]:
    """Return what a module asks of a bus, wherever it has it from, and what it imports of the module."""
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            found |= {node.attr} if name in {"bus", "_bus"} else set()
        elif isinstance(node, ast.ImportFrom) and node.module == "agent.bus":
            found |= {f"import {each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name == "agent.bus"}
    return found


@pytest.mark.shows("D19")
def test_a_context_writes_to_the_bus_and_reads_nothing_from_it() -> None:
    runs = Path(agent.run.__file__).parent
    files = [*Path(agent.context.__file__).parent.glob("*.py"), *(runs / f"{name}.py" for name in BUILDERS)]
    assert len(files) > len(BUILDERS)
    for file in files:
        assert asked_of_bus(file.read_text()) <= {*WRITES, "import Bus"}, file.name


@pytest.mark.shows("D19")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("for each in self._bus.recent: pass", {"recent"}),
        ("async def a(): return await self.bus.request(x)", {"request"}),
        ("from agent.bus import Observer, matches", {"import Observer", "import matches"}),
        ("import agent.bus", {"agent.bus"}),
        ("bus.hold(x)", {"hold"}),
        ("self.recent.lines(x)", set[str]()),
    ],
)
def test_the_rule_finds_whatever_is_read_from_a_bus(line: str, found: set[str]) -> None:
    assert asked_of_bus(line) == found


@pytest.mark.shows("D20")
async def test_after_a_restart_each_session_goes_on_with_its_own_words(tmp_path: Path) -> None:
    fruits = {"room": "plum", "one": "pear", "two": "fig"}
    first, again = (ScriptedModel(*(calls(REPLY, prefix=f"{n}") for n in range(3))) for _ in range(2))
    async with a_mind(tmp_path, [first]) as mind:
        for session, fruit in fruits.items():
            await mind.handle(typed(f"it is the {fruit}", session))
    async with a_mind(tmp_path, [again]) as mind:
        for session in fruits:
            await mind.handle(typed("what is it", session))
        assert len(await mind.journal.entries(topic=EPOCH)) == len(fruits), "each goes on with its own epoch"
    for before, after, fruit in zip(first.requests, again.requests, fruits.values(), strict=True):
        assert after[: len(before)] == before
        assert [each for each in fruits.values() if each in str(after)] == [fruit]


@pytest.mark.shows("D20", "B10")
async def test_what_one_session_left_unsaid_is_no_other_s(tmp_path: Path) -> None:
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(4)))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(typed("tell me", "one"))
        await mind.handle(typed("tell me", "two"))
        cut_off = step(INTERRUPTED, typed("tell me", "one"), "", {"heard": "Once", "unsaid": "upon a time"})
        await mind.mind.bus.publish(cut_off)
    async with a_mind(tmp_path, [model]) as mind:  # which looks it up
        await mind.handle(typed("go on", "two"))
        await mind.handle(typed("go on", "one"))
    two, one = (blocks(request)[-1] for request in model.requests[2:])
    assert "Unsaid" not in two
    assert "<Unsaid>upon a time</Unsaid>" in one


@pytest.mark.shows("E18")
async def test_every_envelope_of_a_run_has_the_session_and_owner_of_its_event(tmp_path: Path) -> None:
    async def look() -> str:
        """Look out of the window."""
        return "rain"

    child = ("create_event", '{"content": "look again"}')
    model = ScriptedModel(
        calls(("look", "{}"), child, prefix="a"),
        calls(("compress_context", '{"summary": "rain"}'), prefix="b"),
        calls(REPLY, ("complete_event", '{"summary": "s", "importance": 0.9, "reason": "r"}'), prefix="c"),
    )
    async with a_mind(tmp_path, [model], [tool(look, effect="pure")]) as mind:
        seen = mind.mind.bus.observe("*")
        event = replace(typed("is it dry", "client-7"), owner_key="their key")
        await mind.handle(event)
        await mind.mind.bus.publish(end := Event("the.end"))
        envelopes = [each async for each in until(seen, end)]
        entries = await mind.journal.entries(event_id=event.id)
        [made] = await mind.mailbox.children(event.id)
        filed = await mind.mailbox.find(made.id)
    assert len({each.type for each in envelopes}) >= 10
    assert {(each.session_id, each.owner_key) for each in envelopes} == {("client-7", "their key")}
    assert {(each.session_id, each.owner_key) for each in entries} == {("client-7", "their key")}
    assert filed is not None
    assert (filed.event.session_id, filed.event.owner_key) == ("client-7", "their key")


async def until(seen: Observer, end: Event) -> AsyncIterator[Event]:
    async for each in seen:
        if each.id == end.id:
            return
        yield each


def restless() -> list[Message]:
    return [calls(("create_event", f'{{"content": "{n}"}}'), prefix=f"c{n}") for n in range(30)]


@pytest.mark.shows("B8")
@pytest.mark.parametrize(
    ("cap", "wants", "most"), [(None, None, 10), (10, None, 10), (5, None, 5), (10, 50, 10), (10, 3, 3)]
)
async def test_an_event_may_use_ten_tool_calls_where_nobody_says_else_and_the_cap_at_most(
    tmp_path: Path, cap: int | None, wants: int | None, most: int
) -> None:
    model = ScriptedModel(*restless())
    event = spoken("count") if wants is None else spoken("count", max_tool_calls=wants)
    async with a_mind(tmp_path, [model], start=Start(limits=RunLimits(max_tool_calls=cap))) as mind:
        await mind.handle(event)
        made = await mind.mailbox.children(event.id)
    assert len(made) == most
    assert len(model.requests) == most + 2, "its calls, the refused one, and one turn to end"


@pytest.mark.shows("B8", "D13", "D21")
def test_what_holds_where_nobody_configures_anything(tmp_path: Path) -> None:
    config = load(None, {"HOME": str(tmp_path)})
    assert (DEFAULT_MAX_TOOL_CALLS, config.mind.max_tool_calls) == (10, 10)
    for limits in (ContextLimits(), context_limits(config, Windows())()):
        assert (limits.history_messages, limits.history_tokens) == (20, 4_000)


@pytest.mark.shows("D13")
@pytest.mark.parametrize(("turn", "taken"), [(2, 20), (3, 18)])
async def test_an_epoch_takes_the_newest_twenty_messages_along_in_whole_turns(
    tmp_path: Path, turn: int, taken: int
) -> None:
    answer = Message("assistant", "Yes.") if turn == 2 else None
    first = ScriptedModel(*(answer or calls(REPLY, prefix=f"c{n}") for n in range(14)), name="first")
    second = ScriptedModel(Message("assistant", "Yes."), Message("assistant", "Yes."), name="second")
    async with a_mind(tmp_path, [first]) as mind:
        for number in range(14):
            await mind.handle(spoken(f"question {number}"))
    async with a_mind(tmp_path, [second]) as mind:  # another model opens an epoch
        await mind.handle(spoken("and now?"))
        await mind.handle(spoken("and then?"))
    opened, next_one = second.requests
    carried = opened[2:-1]  # behind the prompt and the digest, before the event in hand
    assert len(carried) == taken
    assert "question 13" in carried[-turn].content
    assert next_one[: len(opened)] == opened, "counted at the opening only: then it grows"


@pytest.mark.shows("D13")
async def test_history_is_trimmed_in_steps(tmp_path: Path) -> None:
    limits = ContextLimits(history_messages=6, history_tokens=1_000, compress_above_tokens=1_500)
    model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(30)), name="offline")
    async with a_mind(tmp_path, [model], limits=limits) as mind:
        for number in range(30):
            await mind.handle(spoken(f"question number {number} " + "and more " * 20))
    grown = [later[: len(earlier)] == earlier for earlier, later in pairwise(model.requests)]
    stretches = "".join("+" if grows else "|" for grows in grown).split("|")
    assert len(stretches) > 3
    assert min(map(len, stretches[:-1])) >= 2, "several events an epoch, not a slide at each"


@pytest.mark.shows("D3")
async def test_a_model_s_summary_is_as_long_as_it_may_be_and_no_longer(tmp_path: Path) -> None:
    limits = ContextLimits(history_messages=4, history_tokens=300, compress_above_tokens=3_000, summary_tokens=100)
    turns = iter(calls(REPLY, prefix=f"c{n}") for n in range(40))

    def respond(messages: Sequence[Message]) -> Message:
        asked = messages[-1].content.startswith("Sum up")
        return Message("assistant", "word " * 2_000) if asked else next(turns)

    model = ScriptedModel(*[respond] * 40)
    async with a_mind(tmp_path, [model], limits=limits) as mind:
        for number in range(8):
            await mind.handle(spoken(f"question number {number} " + "and more " * 160))
    fronts = {request[1].content for request in model.requests if request[1].content.startswith("What came before")}
    told = [TokenCounter().count(" ".join(["word"] * front.count("word "))) for front in fronts]
    assert told
    assert all(80 <= tokens <= 100 for tokens in told)
    assert ContextLimits().summary_tokens == 1_000


@pytest.mark.shows("D3")
async def test_the_event_s_own_calls_stay_word_for_word_behind_its_compression(tmp_path: Path) -> None:
    async def look(where: str) -> str:
        """Look somewhere."""
        return f"rain in the {where}"

    model = ScriptedModel(
        calls(REPLY, prefix="old"),
        calls(("look", '{"where": "yard"}'), text="I look.", prefix="a"),
        calls(("look", '{"where": "street"}'), ("compress_context", '{"summary": "rain"}'), prefix="b"),
        calls(REPLY, DONE, prefix="c"),
    )
    async with a_mind(tmp_path, [model], [tool(look, effect="pure")]) as mind:
        await mind.handle(spoken("hello"))
        await mind.handle(spoken("where does it rain?"))
    before, after = model.requests[2], model.requests[3]
    own = before[4:]  # behind the prompt and the turn before: the event's block, its first call and the result
    assert [message.role for message in own] == ["user", "assistant", "tool"]
    assert after[2 : 2 + len(own)] == own
    assert [message.role for message in after[2 + len(own) :]] == ["assistant", "tool", "tool"]
    assert [message.tool_call_id for message in after if message.role == "tool"] == ["a_0", "b_0", "b_1"]
    assert "hello" not in "".join(message.content for message in after[2:])
