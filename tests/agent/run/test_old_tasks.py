"""An old question that used up its budget: it comes back where it was asked, after who speaks, and names itself."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest

from agent.event import USER_TEXT, Event
from agent.mailbox import Lease
from agent.model.messages import Message
from tests.agent.mind import NOON, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

SHEEP = "Count the sheep in all of New Zealand, and tell me how many of them are black, please."
TOLD = [
    "I have used up the steps I may take for: Count the sheep in all of New Zealand, and tell me how many.",
    "I kept a note of how far I got.",
]


def restless(name: str = "c") -> Callable[[Sequence[Message]], Message]:
    number = count()
    return lambda _: calls(("create_event", f'{{"content": "part {next(number)}"}}'), prefix=f"{name}{next(number)}")


def hello(prefix: str) -> Message:
    return calls(("reply", '{"text": "Ten."}'), ("complete_event", "{}"), prefix=prefix)


def typed_in(session: str, words: str = "what time is it") -> Event:
    return Event(USER_TEXT, words, source="cli", session_id=session, priority=10, created_at=NOON)


async def put_back(mind: TestMind, model: ScriptedModel) -> Event:
    """Ask in the room for what takes too long."""
    event = spoken(SHEEP, max_tool_calls=1)
    think = restless()
    model.script = [think] * 3
    await mind.handle(event)
    assert await mind.state_of(event) == "suspended"
    return event


async def due(mind: TestMind) -> Lease:
    """Take the next event that a person waits for, leaving out what it made itself."""
    while (hand := await mind.mailbox.take()).event.source == "self":
        await mind.mailbox.complete(hand.event.id, "", {})
    return hand


@pytest.mark.shows("A3", "B8")
async def test_words_in_another_session_do_not_wake_it_and_it_is_not_heard_there(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [model := ScriptedModel()]) as mind:
        old = await put_back(mind, model)
        assert mind.outlet.said == TOLD, "whoever asked is told which task it was"
        model.script = [hello("a")]
        await mind.mailbox.enqueue(asked := typed_in("phone"))
        await mind.loop.handle(await due(mind))
        assert await mind.state_of(asked) == "completed"
        assert await mind.state_of(old) == "suspended"
        assert mind.outlet.said == [*TOLD, "Ten."]


@pytest.mark.shows("A3", "B8", "A20")
async def test_words_where_it_was_asked_wake_it_after_who_speaks_and_it_says_nothing_again(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [model := ScriptedModel()]) as mind:
        old = await put_back(mind, model)
        think = restless("again")
        model.script = [hello("a"), hello("b"), *[think] * 3]
        for words in ("what time is it", "and now"):
            await mind.mailbox.enqueue(spoken(words))
        for words in ("what time is it", "and now", SHEEP):
            hand = await due(mind)
            assert hand.event.content == words, "both come before the old one"
            await mind.loop.handle(hand)
        assert await mind.state_of(old) == "suspended"
        assert mind.outlet.said == [*TOLD, "Ten.", "Ten."], "who asked about the time hears of no used up steps"


@pytest.mark.shows("A3", "A20")
async def test_who_speaks_while_it_is_back_comes_first(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [model := ScriptedModel()]) as mind:
        old = await put_back(mind, model)
        await mind.mailbox.wake("person in room")
        model.script = [restless("old"), hello("b")]
        model.hold[len(model.requests)] = asyncio.Event()  # its thought does not end by itself
        asked = aiter(mind.mind.bus.observe("llm.requests"))
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            watch = group.create_task(mind.loop.watch())
            life = group.create_task(mind.loop.handle(await due(mind)))
            await anext(asked)
            await mind.mailbox.enqueue(spoken("what time is it"))
            await life
            watch.cancel()
        filed = await mind.mailbox.find(old.id)
        assert filed is not None
        assert (filed.state, filed.progress.grants, filed.progress.model_calls) == ("suspended", 1, 0)
        await mind.loop.handle(await due(mind))
        assert mind.outlet.said == [*TOLD, "Ten."]
