"""The wall clock of this process, the machine's or a rehearsed life's own; moments as text; waits that end in time."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from msgspec import Meta

Clock: TypeAlias = "Callable[[], datetime]"
"""Returns the time, aware, in UTC; called from any thread."""

Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]
"""Aware; what is read without a zone is refused."""


_clocks: list[Clock] = [lambda: datetime.now(UTC)]
"""The last one counts; the first is the machine's."""


def utc_now() -> datetime:
    """Return the time, aware, in UTC."""
    return _clocks[-1]()


def utc_text(at: datetime) -> str:
    """Return a moment as ISO text in UTC with microseconds: as texts they sort as the moments do.

    Raises ValueError for a naive one, which would mean another moment on another machine.
    """
    if at.tzinfo is None:
        raise ValueError(f"the time {at.isoformat()} has no zone: give an aware one")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


@contextmanager
def wall_clock(clock: Clock) -> Iterator[None]:
    """Let everything in this process that asks for the time be told another one, until the block ends."""
    _clocks.append(clock)
    try:
        yield
    finally:
        _clocks.remove(clock)


async def within(seconds: float | None, event: asyncio.Event) -> bool:
    """Wait so long for an event, None for ever; say whether it came."""
    with suppress(TimeoutError):
        async with asyncio.timeout(None if seconds is None else max(0.0, seconds)):
            await event.wait()
            return True
    return False
