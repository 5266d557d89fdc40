"""The slot in the door: the house puts events into the mailbox without limit, a visitor only so many at a time."""

import asyncio
from collections import deque
from collections.abc import Callable
from math import ceil
from time import monotonic
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agent.event import SPEAKER, Event, speaker_of
from agent.mailbox import Mailbox
from appliance.errors import Exit, Problem

PERIOD_SECONDS: Final = 600.0
MOST_OF_ONE: Final = 20
"""Events of one visitor in any such period: a conversation has fewer."""
MOST_OF_ALL: Final = 60
"""Events of all visitors together in any such period: whoever makes a new key for each event gets no further."""

MOST_WAITING: Final = 5
"""Events of one visitor that wait for it: the house should not stand in their queue."""
MOST_LOOKED_AT: Final = 50
"""Newest events of one visitor that are looked at; their timers are among them, and wait for nothing of its own."""


class EventIntake(Struct):
    """Puts events into the mailbox. What it remembers is bounded by `MOST_OF_ALL`, and forgotten by a restart."""

    mailbox: Mailbox
    is_of_house: Callable[[str], bool]
    """Whether an owner is the household or a member of it."""
    name_of: Callable[[str], str]
    """Returns the name a member is registered by, "" of anybody else."""
    clock: Callable[[], float] = monotonic
    """Seconds."""
    _put: deque[tuple[float, str]] = field(default_factory=deque)
    """When, and whose, the events of visitors in the last period were; the oldest first."""
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by a visitor's event from the look to the end of putting it in."""

    async def put(self, event: Event) -> None:
        """File an event; durable on return. Raises `Problem` for one too many of a visitor, `StateUnusable`."""
        if self.is_of_house(event.owner_key):
            await self.mailbox.enqueue(self._named(event))
            return
        async with self._one:
            self._check_rate(event.owner_key)
            await self._check_waiting(event.owner_key)
            await self.mailbox.enqueue(event)
            self._put.append((self.clock(), event.owner_key))

    def _named(self, event: Event) -> Event:
        """Return the event of a member with the name of who says it, unless whoever sent it told another."""
        name = self.name_of(event.owner_key) if event.is_from_person and not speaker_of(event) else ""
        return replace(event, metadata={**event.metadata, SPEAKER: name}) if name else event

    def _check_rate(self, owner_key: str) -> None:
        now = self.clock()
        while self._put and self._put[0][0] <= now - PERIOD_SECONDS:
            self._put.popleft()
        own = [at for at, key in self._put if key == owner_key]
        if len(own) >= MOST_OF_ONE:
            raise _too_many("that is more than a visitor may ask at a time", own[0] + PERIOD_SECONDS - now)
        if len(self._put) >= MOST_OF_ALL:
            raise _too_many("too many visitors ask at the moment", self._put[0][0] + PERIOD_SECONDS - now)

    async def _check_waiting(self, owner_key: str) -> None:
        newest = await self.mailbox.listed("pending", MOST_LOOKED_AT, owner_key)
        if sum(filed.due_at is None for filed in newest) >= MOST_WAITING:
            raise Problem(
                f"{MOST_WAITING} things that you asked wait for an answer already: try again when one has come",
                Exit.UNAVAILABLE,
            )


def _too_many(what: str, seconds: float) -> Problem:
    """Return the refusal that says when there is room again."""
    minutes = ceil(seconds / 60)
    return Problem(f"{what}: try again in {minutes} minute{'s' if minutes > 1 else ''}", Exit.UNAVAILABLE)
