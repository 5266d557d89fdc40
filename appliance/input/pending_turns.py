"""Turns that the disk refuses: they wait, in order, until it takes them, and whoever spoke is told so at once."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import structlog
from msgspec import Struct, field

from agent.event import Event
from agent.run.system_replies import of_outage, phrase
from audio.language import sentence_language
from audio.playback.speech_output import SpokenSentence
from memory.errors import StateUnusable

log = structlog.get_logger()

RETRY_SECONDS: Final = 1.0
"""Between two tries to write the oldest of them."""

MOST_WAITING: Final = 20
"""Turns; whoever speaks when so many wait is asked to say it again later."""


class TakesEvents(Protocol):
    """Where events go: a mailbox, or the way to one elsewhere (`appliance.machines.ears.courier.Courier`)."""

    async def enqueue(self, event: Event) -> bool:
        """File an event, durable on return; False when its id is known. Raises `StateUnusable`."""


class PendingTurns(Struct):
    """Files turns in the order in which they were said, whatever the disk does meanwhile.

    Loss: a turn that waits is in memory only, so that a stop of the process loses it; that is what the person was told.
    """

    mailbox: TakesEvents
    say: Callable[[SpokenSentence], Awaitable[None]]
    language: str
    """Of the house, ISO 639-1."""
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep
    none: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while nothing waits."""
    _waiting: deque[Event] = field(default_factory=deque)
    _has_some: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.none.set()

    def __len__(self) -> int:
        return len(self._waiting)

    async def file(self, event: Event) -> None:
        """Put a turn into the mailbox, at once where the disk lets it; else tell the person, and keep it for `run`."""
        if self._waiting:
            await self._keep(event, "disk_still")
            return
        try:
            await self.mailbox.enqueue(event)
        except StateUnusable as error:
            log.warning("event_refused", event_id=event.id, reason=str(error))
            await self._keep(event, of_outage(error))
        else:
            log.info("event_accepted", event_id=event.id, continues=event.metadata.get("continues"))

    async def run(self) -> None:
        """File what waits as soon as the disk takes it, until cancelled."""
        try:
            while True:
                await self._has_some.wait()
                await self.pause(RETRY_SECONDS)
                await self._file_waiting()
        finally:
            if self._waiting:
                log.error("turns_lost", turns=len(self._waiting), reason="the disk did not take them before the stop")

    async def _file_waiting(self) -> None:
        """File them all, the oldest first, or as many as the disk takes."""
        while self._waiting:
            event = self._waiting[0]
            try:
                await self.mailbox.enqueue(event)
            except StateUnusable as error:
                log.debug("event_refused_again", event_id=event.id, reason=str(error))
                return
            self._waiting.popleft()  # only now: what is said meanwhile goes behind it
            log.info("event_accepted", event_id=event.id, continues=event.metadata.get("continues"))
        self._has_some.clear()
        self.none.set()

    async def _keep(self, event: Event, name: str) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(event)
            self.none.clear()
            self._has_some.set()
        else:
            name = "disk_too_long"
            log.error("turn_lost", event_id=event.id, reason=f"{MOST_WAITING} turns wait for the disk already")
        words = phrase(name, event.content)
        await self.say(SpokenSentence("", 0, words, sentence_language(words, self.language)))
