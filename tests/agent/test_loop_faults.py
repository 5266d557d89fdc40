"""The loop under random faults: whatever models, tools, people and the disk do, each event ends, and she goes on."""

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.errors import ModelUnavailable, StreamBroken
from agent.event import SELF_CREATED, Event, new_id
from agent.model.messages import Json, Message, ToolCall
from agent.model.validate import validate_openai
from agent.model.wire import to_openai
from agent.tools.tool import Tool, tool
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import Scripted, ScriptedModel, calls

EVENTS = 60
"""A sample; NAKARI's own benchmark drives ten thousand."""

ENDED = {"completed", "suspended", "dead", "withdrawn"}


class Chaos:
    """Everything that can go wrong, drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def think(self, messages: Sequence[Message]) -> Message:
        """Answer in any way a model may; raise in any way a server may."""
        validate_openai(to_openai(messages))
        return self.random.choice(
            (self.reply, self.bare, self.tools, self.tools, self.malformed, self.mute, self.broken, self.away, self.end)
        )()

    def reply(self) -> Message:
        return calls(("reply", '{"text": "So it is. And that is all."}'), prefix=new_id())

    def bare(self) -> Message:
        return Message("assistant", "So it is. And that is all.")

    def tools(self) -> Message:
        names = self.random.choices(
            ["fail", "fast", "look", "create_event", "check_mailbox"], k=self.random.randint(1, 4)
        )
        return calls(
            *((name, '{"content": "x"}' if name == "create_event" else "{}") for name in names), prefix=new_id()
        )

    def malformed(self) -> Message:
        return calls(("reply", '{"text": "Half a'), ("no_such_tool", "[]"), ("fast", "{]"), prefix=new_id())

    def mute(self) -> Message:
        return Message("assistant")

    def broken(self) -> Message:
        raise StreamBroken(
            "reset", Message("assistant", tool_calls=(ToolCall(new_id(), "reply", '{"text": "One. Tw'),))
        )

    def away(self) -> Message:
        raise ModelUnavailable("gone")

    def end(self) -> Message:
        note = '{"note": "later", "wake_on": "x"}'
        name, arguments = self.random.choice([("complete_event", "{}"), ("suspend_event", note)])
        return calls((name, arguments), prefix=new_id())

    def event(self, before: Event | None) -> Event:
        if self.random.random() < 0.3:
            return Event(type=SELF_CREATED, content="tidy", source="self", priority=self.random.choice([-5, 0]))
        goes_on = before is not None and self.random.random() < 0.4
        metadata: dict[str, Json] = {"continues": before.id} if before is not None and goes_on else {}
        return spoken("and so on", max_tool_calls=self.random.randint(1, 4), metadata=metadata)


def tools() -> list[Tool]:
    async def fail() -> Json:
        """Fail."""
        raise ZeroDivisionError

    async def fast() -> Json:
        """Be fast."""
        await asyncio.sleep(0)
        return "x" * 20_000

    async def look() -> Json:
        """Look for ever."""
        await asyncio.Event().wait()
        return None

    return [tool(fail), tool(fast), tool(look, timeout=0.01, effect="pure")]


async def disturb(mind: TestMind, chaos: Chaos) -> None:
    """File events while others are handled, and interrupt some."""
    before: Event | None = None
    for _ in range(EVENTS):
        before = chaos.event(before)
        await mind.mailbox.enqueue(before)
        for _ in range(chaos.random.randint(0, 12)):
            await asyncio.sleep(0)
        if chaos.random.random() < 0.3:
            mind.loop.interrupt()
        if chaos.random.random() < 0.05:
            mind.disk.full_at = chaos.random.choice(["llm.results", "tools.requests", "context.message"])


@pytest.mark.shows("B1", "B24", "B10", "A14")
@pytest.mark.parametrize("seed", range(4))
async def test_every_event_ends_in_the_mailbox_and_the_list_stays_legal(tmp_path: Path, seed: int) -> None:
    chaos = Chaos(seed)
    script: list[Scripted] = [chaos.think] * (EVENTS * 60)
    async with a_mind(tmp_path, [ScriptedModel(*script)], tools()) as mind:
        mind.loop.pause = 0.01
        async with asyncio.timeout(50), asyncio.TaskGroup() as group:
            loops = [group.create_task(loop) for loop in (mind.loop.run(), mind.loop.watch())]
            await disturb(mind, chaos)
            await mind.mailbox.until_idle()
            for loop in loops:
                loop.cancel()
        counts = await mind.mailbox.counts()
        assert {state for state, count in counts.items() if count} <= ENDED
        assert mind.loop.run_in_hand is None
        dead = await mind.mailbox.listed("dead", 1000)
        assert all(filed.reason and "an error inside" not in filed.reason for filed in dead), "no bug of ours showed"
        await mind.mailbox.enqueue(spoken("still there"))
        validate_openai(to_openai([*mind.loop_epoch.messages, Message("user", "x")]))
