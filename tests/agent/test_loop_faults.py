"""The loop under random faults: whatever models, tools, people and the disk do, each event ends, and she goes on."""

import asyncio
import gc
from pathlib import Path

import pytest

from tests.agent.chaos import chaos

EVENTS = 60
"""A sample; `benchmarks.events` drives ten thousand."""


@pytest.mark.shows("B1", "B24", "B10", "A14")
@pytest.mark.parametrize("seed", range(4))
async def test_every_event_ends_and_every_list_is_legal(tmp_path: Path, seed: int) -> None:
    async with chaos(tmp_path, seed) as everything:
        async with asyncio.timeout(50):
            await everything.go_through(EVENTS)
        everything.faulty = False
        assert await everything.complaints() == []
        assert everything.refused


@pytest.mark.shows("B24")
async def test_what_a_run_needed_is_given_back(tmp_path: Path) -> None:
    async with chaos(tmp_path, 7) as everything:
        looks = []
        async with asyncio.timeout(50):
            for _ in range(3):
                await everything.go_through(EVENTS)
                gc.collect()
                looks.append(len(gc.get_objects()))
    kept = (looks[2] - looks[1]) / EVENTS
    assert kept < 10, f"each event left {kept:.0f} objects behind"
