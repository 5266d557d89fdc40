"""Remote places, and what each is: ears and mouth of one owner, in one session, for as long as somebody is there."""

import asyncio
from typing import Final

import structlog
from msgspec import Struct

from agent.event import Event, new_id
from agent.replies import ReplySink
from appliance.errors import Exit, Problem
from appliance.input.event import Origin
from appliance.output.text import REMOTE
from appliance.remote.ears import Mind, Recognizing, RemoteEars
from appliance.remote.mouth import RemoteMouth, Speaking
from appliance.remote.outbox import Outbox, Send
from audio.loops import running
from memory.json_value import Json

log = structlog.get_logger()

PLACE: Final = "place"
"""Key of an event's metadata: the id of the remote place at which it was said, or wants to be answered."""

MOST_PLACES: Final = 8
"""At a time; each costs a megabyte, and what it hears a share of the one recognizer."""


class House(Struct, frozen=True):
    """What every remote place shares with the room."""

    recognizing: Recognizing
    speaking: Speaking
    mind: Mind


class RemotePlace:
    """Hears and speaks until `leave`, and until what was said there is understood. On the event loop."""

    def __init__(
        self, house: House, owner_key: str, session_id: str, send: Send, *, is_paced: bool = True, speaks: bool = True
    ) -> None:
        """Join ears and mouth; `send` hands on what goes there.

        Where it is not `is_paced`, sound goes as fast as it is taken; where it does not `speaks`, answers are written.
        """
        self._speaks = speaks
        self.id = new_id()
        self.origin = Origin(REMOTE, owner_key, session_id, self.marks)
        self._outbox = Outbox(send)
        self.mouth = RemoteMouth(house.speaking, self._outbox, is_paced=is_paced)
        self.ears = RemoteEars(house.recognizing, house.mind, self.origin, self.mouth, self._outbox.put)
        self._is_left = asyncio.Event()

    @property
    def marks(self) -> dict[str, Json]:
        """What in an event's metadata has its answer sound here, if it is this owner's."""
        return {PLACE: self.id}

    @property
    def is_left(self) -> bool:
        """Whether nobody is there any more."""
        return self._is_left.is_set()

    def is_asked(self, event: Event) -> bool:
        """Whether the answer to an event belongs here: it was said here, or in this session before a restart."""
        if not self._speaks or event.owner_key != self.origin.owner_key:
            return False
        is_of_session = event.source == REMOTE and event.session_id == self.origin.session_id
        return is_of_session or event.metadata.get(PLACE) == self.id

    async def run(self) -> None:
        """Hear and speak, until nobody is there and all that was said is understood."""
        async with running({"remote: what goes there": self._hand_on, **self.ears.loops(), **self.mouth.loops()}):
            await self._hear()
            await self._is_left.wait()
            await self.mouth.speech.quiet()

    def leave(self) -> None:
        """Take that nobody is there any more; what is answered from now on is in writing."""
        if not self.is_left:
            self._is_left.set()
            self._outbox.give_up()
            self.ears.leave()
            self.mouth.leave()

    async def _hear(self) -> None:
        await self.ears.hear()

    async def _hand_on(self) -> None:
        await self._outbox.run()
        self.leave()


class Places:
    """All remote places; each lives in `run`, so that it outlives a connection."""

    def __init__(self) -> None:
        self._places: list[RemotePlace] = []
        self._new: asyncio.Queue[RemotePlace] = asyncio.Queue(MOST_PLACES)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def microphones(self) -> int:
        """How many are open."""
        return sum(place.ears.is_open for place in self._places)

    def add(self, place: RemotePlace) -> None:
        """Have a place live from now on, until it is left. Raises `Problem` where there are too many."""
        if len(self._places) >= MOST_PLACES:
            raise Problem(
                f"{MOST_PLACES} pages and programs speak with nakari already; close one of them", Exit.UNAVAILABLE
            )
        self._places.append(place)
        self._new.put_nowait(place)

    def mouth_for(self, event: Event) -> ReplySink | None:
        """Return the mouth where an event was said, or the newest one in its session; None where nobody is there."""
        there = [place for place in self._places if not place.is_left and place.is_asked(event)]
        said_at = [place for place in there if place.id == event.metadata.get(PLACE)]
        return (said_at or there)[-1].mouth if there else None

    def stop_speaking(self) -> bool:
        """Silence the replies under way at remote places; whether there was one."""
        answering = [place.mouth.voice for place in self._places if place.mouth.voice.is_replying]
        for voice in answering:
            voice.stop_speaking()
        return bool(answering)

    async def run(self) -> None:
        """Let places live, for ever."""
        async with asyncio.TaskGroup() as group:
            while True:
                place = await self._new.get()
                group.create_task(self._live(place), name=f"remote: a place of {place.origin.session_id}")

    async def _live(self, place: RemotePlace) -> None:
        try:
            await place.run()
        except Exception:  # a bug must cost one place, not the box
            log.exception("remote_place_failed", place=place.id)
            place.leave()
        finally:
            self._places.remove(place)
