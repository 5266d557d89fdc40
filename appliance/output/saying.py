"""Texts that somebody has it say in the room: each at most once by its id, without the agent."""

import asyncio

from msgspec import Struct, field

from agent.event import SYSTEM, Event
from agent.replies import SENTENCE_STARTED, Reply, ReplySink, ReplyStream
from appliance.output.text import TextReplySink
from memory.state.journal import Journal


class Sayings(Struct, frozen=True):
    """Speaks texts behind what is being said already; what of one was begun before is not begun again.

    The journal has the sentences that were begun, so that an id is good over a restart too.
    """

    voice: ReplySink
    journal: Journal
    _under_way: dict[str, ReplyStream] = {}
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held from the look for a first one of the same id until this one is under way."""

    async def say(self, text: str, name: str) -> bool:
        """Speak a text, and return once it is over; whether all of it was heard, now or before.

        A second one of the same id waits for the first. Raises `StateUnusable`.
        """
        event_id = f"say-{name}"
        async with self._one:
            first = self._under_way.get(event_id)
            stream = first or await self._opened(event_id, text)
        if first is None:
            try:
                await stream.feed(text)
                await stream.close()
                await stream.ended()
            finally:
                await stream.cut()  # whoever asked may have gone in the middle
                del self._under_way[event_id]
        return not (await stream.ended()).interrupted

    async def _opened(self, event_id: str, text: str) -> ReplyStream:
        begun = await self.journal.entries(topic=SENTENCE_STARTED, event_id=event_id)
        already = tuple(str(entry.body["words"]) for entry in begun if "words" in entry.body)
        event = Event(SYSTEM, text, id=event_id, source="door")
        stream = self._under_way[event_id] = self.voice.open(Reply(event, event_id, already))
        return stream


class DoorReplies(Struct, frozen=True):
    """What a door makes known: answers to who asks in writing, and texts that are to be said."""

    text: TextReplySink
    sayings: Sayings
