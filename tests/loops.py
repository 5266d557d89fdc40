"""The loops of one part, run together as one coroutine, for tests that have no box."""

import asyncio
from collections.abc import Mapping

from audio.loops import Loop


async def together(*parts: Mapping[str, Loop]) -> None:
    """Run all loops until cancelled."""
    async with asyncio.TaskGroup() as group:
        for loops in parts:
            for name, loop in loops.items():
                group.create_task(loop(), name=name)
