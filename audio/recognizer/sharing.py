"""One recognizer for several ears: who is next, the rooms of the house before pages and programs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final

from audio.interfaces import TurnObserver
from audio.speech import RecognizedTurn, SpeechStarted

PATIENCE_SECONDS: Final = 2.0
"""How long others stand back for somebody who is speaking in the room; a television there talks all day."""


class RecognizerTurns(TurnObserver):
    """Lets one at a time recognize: rooms first, and all in the order in which they came. On the event loop.

    A `TurnObserver` of the box's own ears: while somebody speaks there, nobody else but another room begins for
    `PATIENCE_SECONDS`, so that it mostly finds the recognizer free. A recognition that has begun is never interrupted.
    """

    def __init__(self) -> None:
        self._is_busy = False
        self._room_waits = 0
        self._room_speaks = False
        self._changed = asyncio.Event()
        """Another one after each change: whoever waits looks again, in the order in which they came."""

    @property
    def is_wanted(self) -> bool:
        """Whether somebody's words are being recognized, or wait to be."""
        return self._is_busy or self._room_waits > 0

    @asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """Have the recognizer for the block, before all that are no room."""
        self._room_waits += 1
        try:
            await self._until(lambda: not self._is_busy)
        finally:
            self._room_waits -= 1
        with self._busy():
            yield

    @asynccontextmanager
    async def other(self) -> AsyncIterator[None]:
        """Have the recognizer for the block, when no room wants it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._until(lambda: not self._room_speaks)
        await self._until(lambda: not (self._is_busy or self._room_waits))
        with self._busy():
            yield

    def speech_started(self, started: SpeechStarted) -> None:
        """Take that somebody speaks in the room."""
        self._room_speaks = True

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Take that the room's turn is over, and recognized."""
        self._room_speaks = False
        self._wake()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False
            self._wake()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
