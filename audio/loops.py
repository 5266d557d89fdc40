"""Long-lived loops, handed over by name and started together by the owner of the process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

Loop: TypeAlias = Callable[[], Coroutine[None, None, None]]
"""Started once, by `appliance/service.py` in the running box, and ended by cancelling."""


@asynccontextmanager
async def running(loops: Mapping[str, Loop]) -> AsyncIterator[None]:
    """Run loops for as long as the block lasts, where there is no box: for one command, for one test.

    What a loop raises ends the block, as a task group does it.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop(), name=name) for name, loop in loops.items()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def until_set(event: asyncio.Event, seconds: float | None) -> None:
    """Wait for an event, so many seconds at most; None waits as long as it takes."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
