"""Opens the model's connection while a person still speaks: beside the recognition, the only thing that runs ahead."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from audio.interfaces import TurnObserver
from audio.speech import SpeechStarted

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
