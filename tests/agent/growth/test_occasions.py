"""When it is looked for something to grow by: after silence, never within words, not at all while nothing is new."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.agent.growth.growing import Growing, growing, replied
from tests.agent.mind import spoken
from tests.fakes import ScriptedModel

TURNS = 400
"""Of the event loop, after which what was not done is taken as not to come; what has to come is waited for."""


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.to_thread(int)


async def until_last(g: Growing, moment: datetime) -> None:
    """Return when the last timer is set for this moment, however busy the disk is; the test's own limit ends it."""
    while g.clock.waits[-1] != moment:
        await asyncio.to_thread(int)


@pytest.mark.shows("G15", "A22")
async def test_the_loop_sets_no_timer_while_nothing_is_new_and_none_before_the_silence_is_over(tmp_path: Path) -> None:
    model = ScriptedModel(replied("Good.", "a"), replied("Yes.", "b"))
    async with growing(tmp_path, model) as g, asyncio.TaskGroup() as group:
        running = group.create_task(g.occasions.run())
        await turns()
        assert g.clock.waits == [None], "nothing was ever said"
        spoken_at = g.clock()
        await g.mind.handle(spoken("Good evening."))
        await until_last(g, spoken_at + timedelta(seconds=120))
        assert len(g.clock.waits) == 2
        g.clock.advance(100)
        await g.mind.handle(spoken("Are you there?"))
        await until_last(g, spoken_at + timedelta(seconds=220))  # the words began it anew
        assert await g.waiting() == []
        g.clock.advance(121)
        while not (filed := await g.waiting()):
            await asyncio.to_thread(int)
        assert len(filed) == 1
        running.cancel()


@pytest.mark.shows("G15")
async def test_whoever_waits_for_all_to_be_done_waits_for_a_look_that_may_file_something(tmp_path: Path) -> None:
    began, ends = asyncio.Event(), asyncio.Event()

    class Slow:
        async def look(self) -> None:
            began.set()
            await ends.wait()

    async with growing(tmp_path, ScriptedModel()) as g, asyncio.timeout(120), asyncio.TaskGroup() as group:
        loop = group.create_task(g.mind.loop.run())
        await g.mind.mailbox.until_idle()
        looks = replace(g.occasions, occasions=[Slow()])
        looking = group.create_task(looks.look())
        await began.wait()
        idle = group.create_task(g.mind.mailbox.until_idle())
        await turns()
        assert not idle.done()
        ends.set()
        await asyncio.gather(idle, looking)
        loop.cancel()
