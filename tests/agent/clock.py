"""A clock that only moves when a test says so."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MORNING = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
"""A Saturday."""


class Clock:
    """Pass it as `now`, and `clock.wait` as the mailbox's wait; nothing that uses it ever sleeps."""

    def __init__(self, start: datetime = MORNING) -> None:
        self._now = start
        self._sleepers: list[asyncio.Event] = []
        self._asleep = asyncio.Event()
        self.waits: list[datetime | None] = []
        """The moment of each wait that was begun."""

    def __call__(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the time, backwards too, and let everyone who waits look at it again."""
        self._now += timedelta(seconds=seconds)
        self._asleep.clear()
        for sleeper in self._sleepers:
            sleeper.set()

    def after(self, seconds: float) -> datetime:
        """Return the moment so many seconds from now."""
        return self._now + timedelta(seconds=seconds)

    async def wait(self, changed: asyncio.Event, until: datetime | None) -> None:
        """Wait until the event is set; moving the time sets it."""
        self.waits.append(until)
        self._sleepers.append(changed)
        self._asleep.set()
        try:
            await changed.wait()
        finally:
            self._sleepers.remove(changed)

    async def someone_sleeps(self) -> None:
        """Wait until someone waits on this clock, since it was last moved."""
        await self._asleep.wait()


@dataclass
class JumpingClock:
    """A clock that somebody sets; when nothing is due, it is at the next moment at once."""

    moment: datetime
    at_rest: bool = False
    """Whether nothing is due, and nothing ever will be by itself."""

    def now(self) -> datetime:
        """Return the time, aware."""
        return self.moment

    async def wait(self, changed: asyncio.Event, until: datetime | None) -> None:
        """Wait for mail, or go to the moment; a `Wait`."""
        if until is not None:
            self.moment = max(self.moment, until)
            await asyncio.sleep(0)
            return
        self.at_rest = True
        try:
            await changed.wait()
        finally:
            self.at_rest = False
