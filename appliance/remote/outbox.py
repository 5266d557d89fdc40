"""What goes to one remote place, in order: sound, where it begins and ends, and what could not be done."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from msgspec import Struct

from appliance.errors import Exit

MOST_SOUND: Final = 40
"""Pieces of sound that may wait for a place that is slow; then whoever speaks waits."""

MOST_WAITING: Final = 200
"""Of anything; a place that is so far behind is given up."""


class SoundBegins(Struct, frozen=True):
    """Pieces of sound follow."""

    sample_rate: int
    """Hz."""
    event_id: str
    """What is answered; "" for what answers nothing."""


class SoundEnds(Struct, frozen=True):
    """No more pieces of this sound follow."""

    event_id: str
    is_cut: bool
    """Whether what was not heard yet is to be dropped, at once."""


class Heard(Struct, frozen=True):
    """What was understood there."""

    text: str
    event_id: str = ""
    """"" where it became no event."""
    held_back: str = ""
    """Why not."""


class Trouble(Struct, frozen=True):
    """What could not be done, in a sentence."""

    sentence: str
    code: Exit | None = None


Outgoing: TypeAlias = bytes | SoundBegins | SoundEnds | Heard | Trouble
"""Sound is int16, mono, little-endian."""

Send: TypeAlias = Callable[[Outgoing], Awaitable[None]]
"""Hands one thing to the place; waits while it is behind. Raises `PlaceGone`."""


class PlaceGone(Exception):
    """Nothing reaches a place any more."""


class Outbox:
    """Queues without waiting, hands on in order from `run`. Loss: sound that is dropped, and all once it is gone."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[Outgoing] = deque()
        self._arrived = asyncio.Event()
        self._left = asyncio.Event()
        self._is_sending = False
        self.gone = asyncio.Event()
        """Set once nothing reaches the place any more."""

    @property
    def sound_waiting(self) -> int:
        """Pieces of sound that were not handed on yet."""
        return sum(isinstance(each, bytes) for each in self._waiting)

    def put(self, item: Outgoing) -> None:
        """Queue something; a place that is hopelessly behind counts as gone."""
        if self.gone.is_set():
            return
        if len(self._waiting) >= MOST_WAITING:
            self.give_up()
            return
        self._waiting.append(item)
        self._arrived.set()

    def drop_sound(self) -> None:
        """Drop the sound that was not handed on yet."""
        self._waiting = deque(each for each in self._waiting if not isinstance(each, bytes))
        self._left.set()

    def give_up(self) -> None:
        """Take that nothing reaches the place any more."""
        self._waiting.clear()
        self.gone.set()
        self._left.set()
        self._arrived.set()

    async def until_sound_waits(self, most: int) -> None:
        """Return when no more than so many pieces of sound wait, or the place is gone."""
        while self.sound_waiting + self._is_sending > most:
            self._left.clear()
            await self._left.wait()

    async def until_handed_on(self) -> None:
        """Return when nothing waits any more."""
        while self._waiting or self._is_sending:
            self._left.clear()
            await self._left.wait()

    async def run(self) -> None:
        """Hand on what comes, until the place is gone."""
        while not self.gone.is_set():
            self._arrived.clear()
            while self._waiting:
                await self._hand_on(self._waiting.popleft())
            await self._arrived.wait()

    async def _hand_on(self, item: Outgoing) -> None:
        self._is_sending = True
        try:
            await self._send(item)
        except PlaceGone:
            self.give_up()
        finally:
            self._is_sending = False
            self._left.set()
