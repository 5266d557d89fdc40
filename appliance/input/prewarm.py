"""What runs ahead of a turn's end, beside the recognition: the model's connection, and what memory has of the words."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from audio.interfaces import TurnObserver
from audio.speech import RecognizedTurn, SpeechStarted

NOT_AGAIN_WITHIN: Final = 10.0
"""Seconds; a connection that was warm so recently still is."""


class Prewarm(TurnObserver):
    """A `TurnObserver`. An onset only sets a flag; `run` warms, so that nobody waits for the network."""

    def __init__(self, warm: Callable[[], Awaitable[None]], clock: Callable[[], float] = monotonic) -> None:
        self._warm = warm
        self._clock = clock
        self._last = -NOT_AGAIN_WITHIN
        self._wanted = asyncio.Event()

    def speech_started(self, started: SpeechStarted) -> None:
        """Somebody speaks: words may follow."""
        if self._clock() - self._last >= NOT_AGAIN_WITHIN:
            self._wanted.set()

    async def run(self) -> None:
        """Warm whenever it is wanted, for ever."""
        while True:
            await self._wanted.wait()
            self._last = self._clock()
            self._wanted.clear()
            await self._warm()


class LookAhead(TurnObserver):
    """A `TurnObserver`. Has what a turn's words so far bring back looked up in its pause: they may be all of it."""

    def __init__(self, look: Callable[[str], Awaitable[None]]) -> None:
        self._look = look
        self._words = ""
        self._wanted = asyncio.Event()

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Somebody paused, and this was said."""
        self._words = heard.transcript.text
        self._wanted.set()

    async def run(self) -> None:
        """Look up what was said last, for ever."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            await self._look(self._taken())  # in no local of this loop, which would hold them until the next

    def _taken(self) -> str:
        words, self._words = self._words, ""
        return words
