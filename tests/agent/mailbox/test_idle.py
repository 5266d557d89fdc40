"""When a mailbox counts as idle: the consumer waits, and nothing is due."""

import asyncio
from pathlib import Path

from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

HELLO = ("reply", '{"text": "Hello there."}')


async def test_idle_is_after_the_last_event_and_not_before_one_that_was_just_filed(tmp_path: Path) -> None:
    model = ScriptedModel(calls(HELLO, prefix="a"), calls(HELLO, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind, asyncio.timeout(120), asyncio.TaskGroup() as group:
        loop = group.create_task(mind.loop.run())
        await mind.mailbox.until_idle()
        for words in ("one", "two"):
            event = spoken(words)
            await mind.mailbox.enqueue(event)
            await mind.mailbox.until_idle()
            assert await mind.state_of(event) == "completed"
        loop.cancel()


async def test_it_is_not_idle_while_somebody_finds_out_what_to_file(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, asyncio.timeout(120), asyncio.TaskGroup() as group:
        loop = group.create_task(mind.loop.run())
        await mind.mailbox.until_idle()
        with mind.mailbox.filing():
            idle = group.create_task(mind.mailbox.until_idle())
            for _ in range(100):
                await asyncio.to_thread(int)
            assert not idle.done()
        await idle
        loop.cancel()
