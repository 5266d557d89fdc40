"""Long-lived loops, handed over by name and started together by the owner of the process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

import structlog

log = structlog.get_logger()

AGAIN_SECONDS: Final = 10.0
"""Until what broke off is begun anew."""

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


async def kept_up(name: str, loop: Loop, again: float = AGAIN_SECONDS) -> None:
    """Run a loop to its end; what breaks it off is logged, and after so many seconds it is begun anew."""
    while True:
        try:
            return await loop()
        except Exception:  # a mistake of ours, which one rude server may bring to light, ends this and nothing else
            log.exception("loop_broke_off", loop=name, again_in_seconds=again)
        await asyncio.sleep(again)


async def until_set(event: asyncio.Event, seconds: float | None) -> None:
    """Wait for an event, so many seconds at most; None waits as long as it takes."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def first_of(*waits: Awaitable[object]) -> None:
    """Return when the first of them has; the others are cancelled."""
    done = asyncio.Event()

    async def wait(one: Awaitable[object]) -> None:
        await one
        done.set()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(wait(one)) for one in waits]
        await done.wait()
        for task in tasks:
            task.cancel()
