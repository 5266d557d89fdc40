"""Long-lived loops, handed over by name and started together by the owner of the process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
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
