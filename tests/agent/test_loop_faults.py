"""The loop under random faults: whatever models, tools, people and the disk do, each event ends, and it goes on."""

import asyncio
import gc
from pathlib import Path

import pytest

from agent.context.carried import ContextLimits
from tests.agent.chaos import chaos
from tests.agent.mind import EachStep, a_mind, spoken
from tests.fakes import ScriptedModel, calls

EVENTS = 25
"""A sample; `benchmarks.agent.events` drives ten thousand."""

LOOKED_THROUGH = 60
"""Events between two looks at what is kept: in fewer one thing kept for good is a large share."""


@pytest.mark.shows("B1", "B24", "B10", "A14")
@pytest.mark.parametrize("seed", range(4))
async def test_every_event_ends_and_every_list_is_legal(tmp_path: Path, seed: int) -> None:
    async with chaos(tmp_path, seed) as everything:
        async with asyncio.timeout(120):
            await everything.go_through(EVENTS)
        everything.faulty = False
        assert await everything.complaints() == []
        assert everything.refused


@pytest.mark.shows("B24")
async def test_what_a_run_needed_is_given_back(tmp_path: Path) -> None:
    async with chaos(tmp_path, 7) as everything:
        looks = []
        async with asyncio.timeout(120):
            for _ in range(3):
                await everything.go_through(LOOKED_THROUGH)
                gc.collect()
                looks.append(len(gc.get_objects()))
    kept = (looks[2] - looks[1]) / LOOKED_THROUGH
    assert kept < 10, f"each event left {kept:.0f} objects behind"


async def test_a_bug_between_calls_and_results_in_a_full_context_costs_one_event(tmp_path: Path) -> None:
    steps = iter([None, ZeroDivisionError("a bug of ours")])

    def step() -> None:
        if (error := next(steps, None)) is not None:
            raise error

    model = ScriptedModel(calls(("nothing", "{}")), calls(("reply", '{"text": "Hello."}'), prefix="b"))
    limits = ContextLimits(compress_above_tokens=1)
    async with a_mind(tmp_path, [model], limits=limits) as mind:
        mind.loop.observe(EachStep(step))
        await mind.handle(long := spoken("word " * 5_000))
        assert await mind.state_of(long) == "dead"
        await mind.handle(after := spoken("hello"))
        assert await mind.state_of(after) == "completed"
