"""Wherever a run is cancelled, the context stays a list that every provider takes, and the journal says the same."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from typing import get_args

import pytest

from agent.event import new_id
from agent.loop import Loop
from agent.model.messages import Message
from agent.run.run import Why
from agent.tools.tool import Tool, tool
from memory.json_value import Json
from tests.agent.awaits import Counted, Points
from tests.agent.mind import a_mind, spoken
from tests.agent.wire_form import wire_form
from tests.fakes import ScriptedModel, calls

FIRST = (("reply", '{"text": "One moment. I am looking for it."}'), ("look", "{}"), ("ring", "{}"))
LAST = (("reply", '{"text": "It is in the kitchen. Go and see."}'), ("complete_event", "{}"))

Stopping = Callable[[Loop, "asyncio.Task[None]"], object]


def think(messages: Sequence[Message]) -> Message:
    """Look and ring while it speaks; once there are results, answer."""
    newest = next(message for message in reversed(messages) if message.role != "assistant")
    if newest.role == "tool":
        return calls(*LAST, prefix=new_id()[:8])
    return calls(*FIRST, text="Let me see.", prefix=new_id()[:8])


def tools_of(points: Points, done: list[str]) -> list[Tool]:
    async def look() -> Json:
        """Look."""
        for _ in range(3):
            await points.passed()
        return "seen"

    async def ring() -> Json:
        """Ring."""
        done.append("begun")
        for _ in range(3):
            await points.passed()
        done.append("rung")
        return "rung"

    return [tool(look, effect="pure"), tool(ring)]


def giving(why: Why) -> Stopping:
    """Return what ends a run for this reason."""

    def give(loop: Loop, life: "asyncio.Task[None]") -> None:
        if loop.run_in_hand is not None:
            loop.run_in_hand.superseded_by = "another"
            loop.run_in_hand.stop.give(why)

    return give


async def one_life(folder: Path, at: int, stop: Stopping) -> tuple[int, float]:
    """Handle one event and stop it at one of its awaits; return how many it has, and the seconds it took to end."""
    clock = asyncio.get_running_loop().time
    stopped_at: list[float] = []
    done: list[str] = []

    def act() -> None:
        stopped_at.append(clock())
        stop(mind.loop, life)

    points, model, event = Points(at, act), ScriptedModel(*[think] * 9), spoken("where is it")
    async with a_mind(folder, [model], tools_of(points, done)) as mind:
        await mind.mailbox.enqueue(event)
        hand = await mind.mailbox.take()

        async def handle() -> None:
            await Counted(mind.loop.handle(hand), points)

        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            life = group.create_task(handle())
        took = clock() - stopped_at[0] if stopped_at else 0.0
        if not life.cancelled():
            assert await mind.state_of(event) in {"completed", "withdrawn", "suspended", "dead"}
            assert done in ([], ["begun", "rung"]), "what cannot be broken off ends by itself"
            await mind.handle(spoken("and now"))
            wire_form(model.requests[-1])
    return points.count, took


async def next_life(folder: Path) -> None:
    """A new process finishes what is left, and goes on, on what it reads from the journal."""
    model = ScriptedModel(*[think] * 9)
    async with a_mind(folder, [model], tools_of(Points(0, lambda: None), [])) as mind:
        while (await mind.mailbox.counts())["pending"]:
            await mind.handle_next()
        await mind.handle(spoken("once more"))
        assert (await mind.mailbox.counts())["in_hand"] == 0
    for sent in model.requests:
        wire_form(sent)


@pytest.mark.shows("B10")
@pytest.mark.parametrize(
    ("stop", "stride"),
    [
        pytest.param(lambda loop, life: loop.interrupt(), 1, id="interrupted"),
        pytest.param(lambda loop, life: life.cancel(), 1, id="cancelled"),
        *(pytest.param(giving(why), 2, id=why) for why in get_args(Why)[1:]),
    ],
)
async def test_a_stop_at_every_await_ends_the_run_at_once_and_leaves_a_legal_list(
    tmp_path: Path, stop: Stopping, stride: int
) -> None:
    took: list[float] = []
    for at in count(1, stride):
        awaits, seconds = await one_life(tmp_path / str(at), at, stop)
        if awaits < at:
            break
        if at % 3 == 0:
            await next_life(tmp_path / str(at))
        took.append(seconds)
    assert len(took) > 20 // stride, "stream, tools, journal, mailbox: many points"
    assert median(took) < 0.2
    assert max(took) < 2.0, "also on a disk that stalls"
