"""One utterance that a program sent as a file: what was understood, and what comes of it, as long as it listens."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from typing import Final, TypeAlias

from msgspec.structs import replace

from agent.event import Event
from agent.mailbox import MailboxRecord
from appliance.api.outcome import Outcome, outcome_of
from appliance.remote.outbox import Outgoing, PlaceGone
from appliance.remote.place import House, RemotePlace
from audio.pcm import SAMPLE_RATE, Samples

MOST_UNREAD: Final = 64
"""Of what comes of it; then whoever speaks waits for the reader."""

Answered: TypeAlias = Outgoing | str | Outcome
"""What was heard or went wrong, the reply's text in pieces or its sound, and how it ended where it was not answered."""


class Visit(RemotePlace):
    """A place that says one thing, and hears the answer as fast as it takes it."""

    def __init__(
        self,
        house: House,
        owner_key: str,
        session_id: str,
        samples: Samples,
        find: Callable[[str], Awaitable[MailboxRecord | None]],
        *,
        speaks: bool,
    ) -> None:
        """Take what was said: int16, shape (n,), 16 kHz; `find` looks an event up by its id."""
        own = replace(house, mind=replace(house.mind, filing=self))
        super().__init__(own, owner_key, session_id, self._send, is_paced=False, speaks=speaks)
        self._filing, self._text = house.mind.filing, house.speaking.text
        self._samples, self._began = samples, house.speaking.clock() - len(samples) / SAMPLE_RATE
        self._find = find
        self._answers: asyncio.Queue[Answered | None] = asyncio.Queue(MOST_UNREAD)
        self._listening = ExitStack()
        self._pieces: AsyncIterator[str] | None = None
        self._event_id = ""

    async def answers(self) -> AsyncGenerator[Answered]:
        """Yield what comes of it, in order, until its run is over; whoever stops to read has left."""
        try:
            while (answer := await self._answers.get()) is not None:
                yield answer
        finally:
            self.leave()

    async def file(self, event: Event) -> None:
        """Put what was said into the mailbox, as a `Filing`; its answer is listened to from before."""
        self._event_id = event.id
        self._pieces = self._listening.enter_context(self._text.listening(event.id))
        await self._filing.file(event)

    def leave(self) -> None:
        """Take that nobody reads any more: the answer is in writing."""
        super().leave()
        while not self._answers.empty():
            self._answers.get_nowait()
        if self._event_id:
            self._text.finish(self._event_id)

    async def _hear(self) -> None:
        with self._listening:
            await self.ears.understand(self._samples, self._began)
            await self._outbox.until_handed_on()
            if self._pieces is not None:
                async for piece in self._pieces:
                    await self._put(piece)
                if (outcome := outcome_of(await self._find(self._event_id))) is not None:
                    await self._put(outcome)
        await self._outbox.until_handed_on()
        await self._put(None)

    async def _send(self, item: Outgoing) -> None:
        if self.is_left:
            raise PlaceGone
        await self._put(item)

    async def _put(self, answer: Answered | None) -> None:
        if not self.is_left:
            await self._answers.put(answer)
